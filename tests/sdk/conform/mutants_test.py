"""Each mutant is caught by the check named for it, and the plugin without a fault passes all of them.

    mutants_test.py GAINZ_CONFORM FOLDER_OF_MUTANTS
"""
import re
import subprocess
import sys
from pathlib import Path

# mutant: the check that must catch it, and what its sentence must say
CAUGHT_BY = {
    "exports_more": ("load.one_symbol", "gainz_something_else"),
    "slow_query": ("load.pure_query", "a query starts nothing"),
    "bad_name": ("load.pure_query", "Not A Name"),
    "any_version": ("load.versions", "instead of UNSUPPORTED"),
    "unnamed_versions": ("load.versions", "does not name both versions"),
    "writes_whole_table": ("load.struct_sizes", "crashed"),
    "opens_anything": ("load.nonsense", "can be opened"),
    "ignores_options": ("load.nonsense", "instead of INVALID"),
    "any_struct": ("load.device_table", "instead of UNSUPPORTED"),
    "no_rollback_function": ("load.device_table", "is NULL"),
    "null_with_success": ("programs.replay", ""),
    "leaks_host_memory": ("contract.leaks", "of the host's are not given back"),
    "leaks_heap": ("contract.leaks", "in the heap"),
    "leaks_descriptor": ("contract.leaks", "descriptors before"),
    "leaks_thread": ("contract.leaks", "threads before"),
    "ignores_cancel": ("contract.cancel", "made all the same"),
    "wrong_status": ("contract.failing_memory", "no want of memory"),
    "throws": ("contract.modes", "thrown across the border"),
    "changes_rounding": ("contract.modes", "floating-point mode"),
    "changes_environment": ("contract.modes", "environment"),
    "installs_handler": ("contract.modes", "signal handler"),
    "allocates_in_run": ("contract.run_allocates_nothing", "ask the host for memory"),
    "believes_positions": ("contract.bad_steps", "a position that does not follow"),
    "same_ticket": ("contract.tickets", "tickets rise"),
    "never_done": ("contract.tickets", "not done that was waited for"),
    "race": ("contract.workers", "row"),
    "prints": ("contract.tickets", "printed \"running"),
    "exits": ("contract.tickets", "ended the process"),
    "crashes": ("contract.tickets", "crashed: Segmentation fault"),
    "sleeps": ("contract.tickets", "not done after"),
    "claims_beyond": ("ops.add", "beyond the claims"),
    "lies_about_support": ("ops.rope", "no rope after all"),
    "off_by_one_column": ("ops.linear.q8_0", "off by"),
    "writes_past_end": ("ops.add", "outside of its rows"),
    "off_by_one_position": ("ops.rope", "off by"),
    "wrong_at_batch_3": ("programs.neighbours", "of 3"),
    "depends_on_chunk": ("programs.chunks", "in chunks of 7"),
    "drifts": ("programs.replay", "replay"),
    "ignores_slices": ("programs.slices", "one slice a run"),
    "copies_one_less": ("kv.copy", "row"),
    "exports_beyond": ("kv.travel", "beyond the page"),
    "exports_swapped": ("kv.layout", "on its pages"),
    "forgets_window": ("kv.windows", "window"),
}

SHORT = {"mutant_sleeps": ["--seconds", "2"]}


def run(program, plugin, *only):
    arguments = [program, plugin, *SHORT.get(Path(plugin).stem, [])] + [word for name in only for word in ("--only", name)]
    return subprocess.run(arguments, capture_output=True, text=True, check=False, timeout=300)


def main():
    program, folder = sys.argv[1:]
    problems = []
    checks = sorted({check for check, _ in CAUGHT_BY.values()})
    good = run(program, f"{folder}/mutant_none.so", *checks)
    if good.returncode != 0:
        problems.append(f"the plugin without a fault does not pass:\n{good.stdout}{good.stderr}")
    built = {path.stem.removeprefix("mutant_") for path in Path(folder).glob("mutant_*.so")} - {"none"}
    if built != set(CAUGHT_BY):
        problems.append(f"mutants without a check, or checks without a mutant: {sorted(built ^ set(CAUGHT_BY))}")
    for mutant, (check, sentence) in CAUGHT_BY.items():
        if mutant not in built:
            continue
        result = run(program, f"{folder}/mutant_{mutant}.so", check)
        line = next((line for line in result.stdout.splitlines() if re.search(rf"\s{re.escape(check)}\s", line)), "")
        if result.returncode != 1 or not line.startswith("FAIL") or sentence not in line:
            problems.append(f"{mutant}: {check} should fail with \"{sentence}\", exit status {result.returncode}: {line or result.stdout + result.stderr}")
    for problem in problems:
        print(problem)
    print(f"{len(CAUGHT_BY)} mutants, {len(problems)} problems")
    sys.exit(1 if problems else 0)


if __name__ == "__main__":
    main()

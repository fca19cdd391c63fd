"""clang-tidy 14, with the repository's .clang-tidy, on the C++ sources that changed: since the merge base with origin/main, or, on
origin/main itself, since the commit before; uncommitted changes count. At most MAX_FILES, because a file takes 3 to 30 seconds."""
import concurrent.futures
import json
import os
import re
import shutil
import subprocess

import tree

MAX_FILES = 16


def git(root, *words):
    run = subprocess.run(["git", "-C", str(root), *words], capture_output=True, text=True, check=False)
    return run.stdout.strip() if run.returncode == 0 else None


def base(root):
    head = git(root, "rev-parse", "HEAD")
    if not head:
        return tree.skip("no git history: what changed is not known")
    for upstream in ("origin/main", "main"):
        merge_base = git(root, "merge-base", "HEAD", upstream)
        if merge_base and merge_base != head:
            return merge_base
    return git(root, "rev-parse", "--verify", "-q", "HEAD~1") or tree.skip("the history has one commit: what changed is not known")


COROUTINE = re.compile(r"\bco_(await|return|yield)\b")


def checks(source):
    """The analyzer of clang 14 does not follow a coroutine's promise and finds Asio's uninitialised at every await."""
    return "--checks=-clang-analyzer-core.*" if COROUTINE.search(source) else "--checks="


def check(tool, root, build, path):
    source = (root / path).read_text(errors="replace")
    command = [tool, "--quiet", checks(source), "--extra-arg=-Wno-unknown-warning-option", "-p", str(build), str(root / path)]  # GCC's options
    run = subprocess.run(command, cwd=root, capture_output=True, text=True, check=False)
    return [] if run.returncode == 0 else [run.stdout.strip() or run.stderr.strip()]


if __name__ == "__main__":
    args = tree.arguments(__doc__)
    clang_tidy = next(filter(shutil.which, ("clang-tidy-14", "clang-tidy")), None) or tree.skip("clang-tidy is not installed")
    since = base(args.source)
    changed = (git(args.source, "diff", "--name-only", "--diff-filter=d", since) or "").splitlines()
    database = args.build / "compile_commands.json"
    compiled = {os.path.realpath(os.path.join(e["directory"], e["file"])) for e in json.loads(database.read_text())}
    todo = [name for name in changed if name.endswith(".cc") and os.path.realpath(args.source / name) in compiled]
    if len(todo) > MAX_FILES:
        print(f"{len(todo)} files changed since {since[:10]}; only the first {MAX_FILES} are checked, without: {' '.join(todo[MAX_FILES:])}")
        todo = todo[:MAX_FILES]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        results = pool.map(lambda name: check(clang_tidy, args.source, args.build, name), todo)
        tree.report([text for texts in results for text in texts], f"{len(todo)} files changed since {since[:10]}")

"""A real model's answers with speculation are those without, id for id: every kind of draft, depths 0 to 16, greedy and drawn, in
company, preempted, on each instruction set of this machine.

    speculation_test.py GAINZ_PROBE [COUNT [FIRST]]     COUNT: generations for each instruction set (10, and none on scalar); FIRST: of them
"""
import itertools
import json
import os
import subprocess
import sys
from pathlib import Path

SKIP = 77
MODEL = "SmolLM2-135M-Instruct.Q4_1.gguf"
CODE = "def area(width, height):\n    return width * height\n\ndef volume(width, height, depth):\n    return width * height * depth\n"
PROMPTS = [
    CODE + "\n# The same once more:\n" + CODE[:40],
    "The harbour was built in 1887. The wall held. The harbour was built in 1887. The wall",
    '[\n  {"id": 1, "name": "Anna", "active": true},\n  {"id": 2, "name": "Bruno", "active": true},\n  {"id": 3, "name": "',
    "One evening in late autumn the keeper of the lighthouse wrote in his diary that",
    "List of primes: 2, 3, 5, 7, 11, 13,",
]


class Probe:
    def __init__(self, program, isa):
        self.process = subprocess.Popen([program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                                        env={**os.environ, "GAINZ_CPU_ISA": isa})

    def ask(self, **request):
        self.process.stdin.write(json.dumps(request) + "\n")
        self.process.stdin.flush()
        answer = json.loads(self.process.stdout.readline())
        if "error" in answer:
            sys.exit(f"{request}: {answer['error']}")
        return answer

    def close(self):
        self.process.stdin.close()
        self.process.wait()


def cases(plain_ids):
    """Settings of speculation, without end."""
    wrong = [i if n % 7 else i ^ 1 for n, i in enumerate(plain_ids)]
    for depth in itertools.cycle([1, 3, 16, 2, 5, 8, 0, 11, 4, 7]):
        yield {"speculation": {"depth": depth}}
        yield {"speculation": "auto"}
        yield {"speculation": {"depth": depth, "kinds": ["prediction"]}, "prediction": wrong}
        yield {"speculation": {"depth": depth, "kinds": ["model"]}}
        yield {"speculation": {"kinds": ["noise"], "depth": depth}}


def run(program, model, isa, count, first):
    probe = Probe(program, isa)
    common = {"op": "generate", "model": model, "draft_model": model, "max_tokens": 40, "cache": False, "fill": 3}
    num_accepted = num_done = 0
    used = ""
    for n in range(first, first + count):
        sampling = {"temperature": [0, 0.3, 0.7, 1.0, 1.5][n // 2 % 5], "seed": n, "repetition_penalty": [1, 1, 1, 1.1][n % 4],
                    "logprobs": [None, 2][n % 2] if n % 2 else -1}
        ask = {**common, **sampling, "prompt": PROMPTS[n % len(PROMPTS)], "chunk": [512, 64, 7][n % 3]}
        plain = probe.ask(**ask, speculation="off")
        used = plain["isa"]
        extra = next(itertools.islice(cases(plain["ids"]), n, None))
        answer = probe.ask(**ask, **extra, preempt_after=13 if n % 5 == 4 else 0)
        for field in ("ids", "text", "finish_reason", "logprobs"):
            if plain.get(field) != answer.get(field):
                sys.exit(f"{isa}: {field} differs with {extra} and {ask}:\n{plain[field]}\n{answer[field]}")
        num_accepted += answer["accepted"]
        num_done += 1
    probe.close()
    print(f"{used}: {num_done} generations the same, {num_accepted} drafted tokens stood")
    if num_accepted == 0 and count >= 5:
        sys.exit(f"{isa}: no drafted token ever stood; the test tests nothing")
    return used


def main():
    program = sys.argv[1]
    count = int(sys.argv[2]) if len(sys.argv) > 2 else 10
    first = int(sys.argv[3]) if len(sys.argv) > 3 else 0
    folder = os.environ.get("GAINZ_MODELS") or os.path.join(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache", "gainz/models")
    model = os.path.join(folder, MODEL)
    if not os.path.exists(model):
        print(f"skipped: {model} is not there; `gainz pull` fetches it")
        sys.exit(SKIP)
    seen = set()
    for isa in ("amx", "avx512_vnni", "avx_vnni", "avx2", "scalar"):
        if isa in seen or (isa == "scalar" and len(sys.argv) < 3):
            continue
        used = run(program, model, isa, count if isa != "scalar" else max(1, count // 20), first)  # a hundred times slower
        if used in seen:
            print(f"{isa}: not on this machine, the same as {used}")
        seen.add(used)


if __name__ == "__main__":
    main()

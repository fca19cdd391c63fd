#!/usr/bin/env python3
"""gainz beside llama.cpp on the same file, threads, prompts and lengths, in turns; ratios of medians.

    tests/bench/peer.py build DIR [--without-amx | --avx2]        builds llama.cpp from the sources in its Python package (about 12 minutes
                                                                  on two cores); its programs end up in DIR/build/bin
    tests/bench/peer.py compare --gainz PROGRAM --peer DIR/build/bin --model FILE [--isa avx512_vnni] [--threads 2] [--rounds 3]
                                [--json FILE]

compare measures decode with 1 and 16 streams, prefill of 512 tokens, the time from start to the first token, peak memory, and decode
beside a busy process. --isa lowers gainz to what the peer was built for."""
import argparse
import json
import os
import re
import statistics
import subprocess
import sys
import tarfile
import time
from pathlib import Path

VERSION = "0.3.36"
FLAGS = {
    "native": ["-DGGML_NATIVE=ON"],
    "without-amx": ["-DGGML_NATIVE=OFF"] + [f"-DGGML_{name}=ON" for name in
                                            ("AVX2", "FMA", "F16C", "BMI2", "AVX512", "AVX512_VBMI", "AVX512_VNNI", "AVX512_BF16")],
    "avx2": ["-DGGML_NATIVE=OFF"] + [f"-DGGML_{name}=ON" for name in ("AVX2", "FMA", "F16C", "BMI2")],
}


def build(folder, kind):
    folder.mkdir(parents=True, exist_ok=True)
    name = f"llama_cpp_python-{VERSION}"
    if not (folder / name).is_dir():
        subprocess.run([sys.executable, "-m", "pip", "download", "--no-deps", "--no-binary", ":all:", "-d", str(folder), f"llama-cpp-python=={VERSION}"], check=True)
        with tarfile.open(folder / f"{name}.tar.gz") as archive:
            archive.extractall(folder)
    source = folder / name / "vendor/llama.cpp"
    # g++ 12 takes the tile configuration for 8 bytes instead of 64, drops the rest, and the program dies of SIGILL.
    tiles = source / "ggml/src/ggml-cpu/amx/mmq.cpp"
    text = tiles.read_text()
    if "asm volatile" not in text:
        tiles.write_text(re.sub(r"^(\s*)_tile_loadconfig\(&tc\);", r'\1asm volatile("" :: "r"(&tc) : "memory"); _tile_loadconfig(&tc);', text, flags=re.M))
    subprocess.run(["cmake", "-S", str(source), "-B", str(folder / "build"), "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release", "-DLLAMA_CURL=OFF",
                    "-DLLAMA_OPENSSL=OFF", "-DLLAMA_BUILD_UI=OFF", "-DLLAMA_BUILD_WEBUI=OFF", "-DLLAMA_BUILD_TESTS=OFF", *FLAGS[kind]], check=True)
    subprocess.run(["ninja", "-C", str(folder / "build"), "llama-bench", "llama-batched-bench", "llama-completion"], check=True)
    print(f"built: {folder / 'build/bin'}")


def run(command, env):
    """Output, seconds and peak bytes of one process."""
    begin = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=env, stdin=subprocess.DEVNULL)
    out, err = process.communicate()
    seconds = time.perf_counter() - begin
    if process.returncode != 0:
        sys.exit(f"{' '.join(command)} ended with {process.returncode}: {err[-500:]}")
    return out, err, seconds


def peak_bytes(command, env):
    """Of a child that is the first of a new process, so that no other child's peak counts."""
    code = ("import json,resource,subprocess,sys,time\n"
            "begin=time.perf_counter()\n"
            "done=subprocess.run(json.loads(sys.argv[1]),stdout=subprocess.DEVNULL,stderr=subprocess.DEVNULL,stdin=subprocess.DEVNULL)\n"
            "print(json.dumps([done.returncode,time.perf_counter()-begin,resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss*1024]))")
    out, _, _ = run([sys.executable, "-c", code, json.dumps(command)], env)
    status, seconds, peak = json.loads(out)
    if status != 0:
        sys.exit(f"{' '.join(command)} ended with {status}")
    return seconds, peak


class Gainz:
    name = "gainz"

    def __init__(self, options):
        self.program, self.model, self.threads = options.gainz, options.model, str(options.threads)
        self.env = dict(os.environ)
        if options.isa:
            self.env["GAINZ_CPU_ISA"] = options.isa

    def bench(self, *arguments):
        out, _, _ = run([self.program, "bench", "-m", self.model, "-t", self.threads, "-r", "1", "--json", *arguments], self.env)
        return {(row["phase"], row["streams"]): row["tokens_per_second"]["median"] for row in json.loads(out)["results"]}

    def prefill(self):
        return self.bench("-p", "512", "-n", "0", "--streams", "1")[("prefill", 1)]

    def decode(self, streams):
        return self.bench("-p", "0", "-n", "64", "--streams", str(streams))[("decode", streams)]

    def start(self):
        return peak_bytes([self.program, "run", "-m", self.model, "-t", self.threads, "--raw", "-p", "Hello", "-n", "1"], self.env)


class Peer:
    name = "llama.cpp"

    def __init__(self, options):
        self.folder, self.model, self.threads = options.peer, options.model, str(options.threads)
        self.env = {**os.environ, "LD_LIBRARY_PATH": options.peer}

    def bench(self, *arguments):
        out, _, _ = run([f"{self.folder}/llama-bench", "-m", self.model, "-t", self.threads, "-r", "1", "-o", "json", *arguments], self.env)
        return json.loads(out)[0]["avg_ts"]

    def prefill(self):
        return self.bench("-p", "512", "-n", "0")

    def decode(self, streams):
        if streams == 1:
            return self.bench("-p", "0", "-n", "64")
        out, err, _ = run([f"{self.folder}/llama-batched-bench", "-m", self.model, "-t", self.threads, "-c", "4096", "-npp", "16", "-ntg", "64", "-npl", str(streams)], self.env)
        row = [line for line in (out + err).splitlines() if re.match(r"\|\s+16\s+\|\s+64\s+\|", line)][-1]
        return float(row.split("|")[8])  # S_TG, total over the streams

    def start(self):
        return peak_bytes([f"{self.folder}/llama-completion", "-m", self.model, "-t", self.threads, "-p", "Hello", "-n", "1", "-no-cnv", "-c", "512"], self.env)


def with_busy_process(work):
    busy = subprocess.Popen([sys.executable, "-c", "while True: pass"])
    try:
        return work()
    finally:
        busy.kill()
        busy.wait()


def compare(options):
    # What, how, whether more is better.
    cases = [("prefill 512, tokens/s", lambda who: who.prefill(), True), ("decode, 1 stream, tokens/s", lambda who: who.decode(1), True),
             ("decode, 16 streams, tokens/s", lambda who: who.decode(16), True),
             ("decode beside a busy process, tokens/s", lambda who: with_busy_process(lambda: who.decode(1)), True)]
    both = (Gainz(options), Peer(options))
    measured = {}
    for turn in range(options.rounds):
        for what, how, _ in cases:
            for who in both:
                print(f"\rround {turn + 1} of {options.rounds}: {what}, {who.name}".ljust(90), end="", file=sys.stderr, flush=True)
                measured.setdefault((what, who.name), []).append(how(who))
        for who in both:
            seconds, peak = who.start()
            measured.setdefault(("start to first token, s", who.name), []).append(seconds)
            measured.setdefault(("peak memory, MiB", who.name), []).append(peak / 2**20)
    print("\r".ljust(91) + "\r", end="", file=sys.stderr)
    rows = []
    for what, better in [(what, better) for what, _, better in cases] + [("start to first token, s", False), ("peak memory, MiB", False)]:
        ours, theirs = (measured[(what, who.name)] for who in both)
        ratios = [a / b for a, b in zip(ours, theirs)]
        rows.append({"what": what, "gainz": ours, "llama.cpp": theirs, "ratio": statistics.median(ratios), "more_is_better": better})
    print(f"| {Path(options.model).name}, {options.isa or 'all there is'}, {options.threads} threads | gainz | llama.cpp | ratio |\n|---|---|---|---|")
    for row in rows:
        print(f"| {row['what']} | {statistics.median(row['gainz']):.4g} | {statistics.median(row['llama.cpp']):.4g} | {row['ratio']:.2f} |")
    if options.json:
        Path(options.json).write_text(json.dumps({"model": options.model, "isa": options.isa, "threads": options.threads, "rows": rows}, indent=1))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    builder = commands.add_parser("build")
    builder.add_argument("folder", type=Path)
    kind = builder.add_mutually_exclusive_group()
    kind.add_argument("--without-amx", dest="kind", action="store_const", const="without-amx", default="native")
    kind.add_argument("--avx2", dest="kind", action="store_const", const="avx2")
    comparer = commands.add_parser("compare")
    for name in ("--gainz", "--peer", "--model"):
        comparer.add_argument(name, required=True)
    comparer.add_argument("--isa")
    comparer.add_argument("--threads", type=int, default=2)
    comparer.add_argument("--rounds", type=int, default=3)
    comparer.add_argument("--json")
    options = parser.parse_args()
    if options.command == "build":
        build(options.folder, options.kind)
    else:
        compare(options)


if __name__ == "__main__":
    main()

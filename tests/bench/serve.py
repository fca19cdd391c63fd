#!/usr/bin/env python3
"""Concurrent chat clients against `gainz serve` and, beside it, another server with the OpenAI API: total tokens/s, time to the first
token and between tokens. The servers run one after the other, interleaved over the rounds; medians count.

    tests/bench/serve.py --model FILE [--peer PATH/llama-server] [--clients 16] [--requests 2] [--rounds 3]

Then, with --prefix WORDS, the time to the first token of a chat with a system prompt of so many words: cold, and warm for others who
share it.
"""
import argparse
import asyncio
import json
import os
import signal
import socket
import statistics
import subprocess
import sys
import time

WORDS = ("river stone lantern quiet market copper winter garden signal harbor velvet thunder paper mirror orchard candle "
         "bridge saddle meadow kettle ribbon anchor feather marble tunnel basket compass window ladder forest").split()


def prompt(seed, num_words):
    """Words in an order that depends on the seed alone, so that no two requests begin alike and every server gets the same."""
    state, out = seed * 2654435761 + 12345, []
    for _ in range(num_words):
        state = (state * 6364136223846793005 + 1442695040888963407) % 2**64
        out.append(WORDS[(state >> 33) % len(WORDS)])
    return "Write a story with these words: " + " ".join(out)


def percentile(values, share):
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


async def ask(port, body):
    """One streamed chat. Answers the time to the first token, the times between tokens, and their number by the server's usage."""
    begin = time.perf_counter()
    reader, writer = await asyncio.open_connection("127.0.0.1", port, limit=1 << 20)
    data = json.dumps(body).encode()
    writer.write(b"POST /v1/chat/completions HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nConnection: close\r\n"
                 b"Content-Length: %d\r\n\r\n" % len(data) + data)
    await writer.drain()
    status = await reader.readline()
    if b" 200 " not in status:
        raise RuntimeError(f"the server answered {status.decode().strip()}: {(await reader.read(2000)).decode(errors='replace')}")
    first, last, gaps, tokens, done = None, None, [], 0, False
    async for line in reader:  # parsed only where it must be: the client shares the machine with the server
        at = line.find(b"data: ")
        if at < 0:
            continue
        if line.startswith(b"[DONE]", at + 6):
            done = True
            break
        if b'"content":"' in line and b'"content":""' not in line:
            now = time.perf_counter()
            if first is None:
                first = now - begin
            else:
                gaps.append(now - last)
            last = now
        elif b'"usage":{' in line or b'"error"' in line:
            event = json.loads(line[at + 6:])
            if "error" in event:
                raise RuntimeError(event["error"])
            tokens = event["usage"]["completion_tokens"]
    writer.close()
    if not done or first is None:
        raise RuntimeError("the stream ended early")
    return first, gaps, tokens


async def load(port, args, offset):
    firsts, gaps, total = [], [], 0

    async def client(index):
        nonlocal total
        for number in range(args.requests):
            text = prompt(offset + index * args.requests + number, args.words)
            first, between, tokens = await ask(port, {
                "model": args.name, "messages": [{"role": "user", "content": text}], "max_tokens": args.tokens, "temperature": 0,
                "stream": True, "stream_options": {"include_usage": True}, "ignore_eos": True})
            firsts.append(first)
            gaps.extend(between)
            total += tokens

    begin = time.perf_counter()
    await asyncio.gather(*(client(i) for i in range(args.clients)))
    seconds = time.perf_counter() - begin
    return {"tokens_per_second": total / seconds, "ttft_p50": percentile(firsts, 0.5), "ttft_p95": percentile(firsts, 0.95),
            "gap_p50": percentile(gaps, 0.5), "gap_p95": percentile(gaps, 0.95), "tokens": total, "seconds": seconds}


async def prefix(port, args, offset):
    system = prompt(offset + 7, args.prefix)

    async def first_token(question):
        first, _, _ = await ask(port, {"model": args.name, "messages": [{"role": "system", "content": system}, {"role": "user", "content": question}],
                                       "max_tokens": 4, "temperature": 0, "stream": True, "stream_options": {"include_usage": True}})
        return first

    cold = await first_token("What is a river?")
    return {"cold": cold, "warm": statistics.median([await first_token(f"What is {word}?") for word in WORDS[:8]])}


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def is_ready(port):
    try:
        with socket.create_connection(("127.0.0.1", port), 1) as connection:
            connection.sendall(b"GET /health HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n")
            return b" 200 " in connection.recv(64)
    except OSError:
        return False


def measure(command, environment, args, offset):
    port = free_port()
    process = subprocess.Popen([*command, "--port", str(port)], env={**os.environ, **environment}, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        deadline = time.time() + 120
        while not is_ready(port):
            if process.poll() is not None or time.time() > deadline:
                sys.exit(f"{command[0]} does not answer")
            time.sleep(0.05)
        asyncio.run(ask(port, {"model": args.name, "messages": [{"role": "user", "content": "Hello"}], "max_tokens": 4, "stream": True}))
        result = asyncio.run(load(port, args, offset))
        return {**result, **(asyncio.run(prefix(port, args, offset)) if args.prefix else {})}
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(30)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--gainz", default="build/release/bin/gainz")
    parser.add_argument("--peer", help="llama-server")
    parser.add_argument("--model", required=True, help="GGUF file")
    parser.add_argument("--name", default="bench")
    parser.add_argument("--clients", type=int, default=16)
    parser.add_argument("--requests", type=int, default=2, help="of each client, one after the other")
    parser.add_argument("--words", type=int, default=70, help="of a prompt: 70 are about 150 tokens with the template")
    parser.add_argument("--tokens", type=int, default=64, help="of an answer")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--prefix", type=int, default=0, help="words of a shared system prompt: 470 are about 1,000 tokens")
    parser.add_argument("--json", action="store_true")
    args = parser.parse_args()

    threads, slots = str(args.threads), str(args.clients)
    servers = {"gainz": ([args.gainz, "serve", "-m", args.model, "--name", args.name, "-t", threads, "--parallel", slots], {})}
    if args.peer:
        servers["peer"] = ([args.peer, "-m", args.model, "-t", threads, "-tb", threads, "-np", slots, "-c", str(1024 * args.clients), "--alias", args.name],
                           {"LD_LIBRARY_PATH": os.path.dirname(args.peer)})
    results = {name: [] for name in servers}
    for round_number in range(args.rounds):
        for name, (command, environment) in servers.items():
            result = measure(command, environment, args, round_number * 1000)
            results[name].append(result)
            if not args.json:
                print(f"{name:6} {result['tokens_per_second']:8.1f} tokens/s   first token p50 {result['ttft_p50'] * 1e3:7.0f} ms, p95 "
                      f"{result['ttft_p95'] * 1e3:7.0f} ms   between tokens p50 {result['gap_p50'] * 1e3:6.1f} ms" +
                      (f"   prefix cold {result['cold'] * 1e3:.0f} ms, warm {result['warm'] * 1e3:.1f} ms" if args.prefix else ""), flush=True)
    medians = {name: {key: statistics.median(row[key] for row in rows) for key in rows[0]} for name, rows in results.items()}
    if args.json:
        print(json.dumps({"medians": medians, "rounds": results}))
    elif args.peer:
        ours, theirs = medians["gainz"], medians["peer"]
        print(f"ratio  {ours['tokens_per_second'] / theirs['tokens_per_second']:8.2f} x          first token p50 "
              f"{ours['ttft_p50'] / theirs['ttft_p50']:7.2f} x , p95 {ours['ttft_p95'] / theirs['ttft_p95']:7.2f} x")


if __name__ == "__main__":
    main()

"""Many mixed requests: good ones of every kind, a tenth cancelled, a tenth malformed, slow readers among them. No wrong answer, no
crash, nothing that grows, and /health within its bound throughout.

    soak_test.py GAINZ MAKE_TINY [--requests N] [--model FILE]"""
import json
import os
import random
import socket
import sys
import threading
import time

import served

WORKERS = 16
HEALTH_SECONDS = 0.2
SLOPE_BYTES = 1024  # of anonymous memory for each request
MOST_TOKENS = 24
SPARE_DESCRIPTORS = 2  # the question itself, and one before it that is not closed yet


def anonymous_bytes(pid):
    total = 0
    with open(f"/proc/{pid}/smaps_rollup") as file:
        for line in file:
            if line.startswith(("Anonymous:", "Swap:")):
                total += int(line.split()[1]) * 1024
    return total


def num_entries(pid, what):
    return len(os.listdir(f"/proc/{pid}/{what}"))


class Soak:
    def __init__(self, server, model_name):
        self.server, self.name, self.problems, self.lock = server, model_name, [], threading.Lock()
        self.expected, self.worst_health = {}, 0.0
        self.prompts = [f"Number {i}: tell me about {word}" for i, word in enumerate("rivers stones lanterns markets copper winter".split())]

    def problem(self, text):
        with self.lock:
            self.problems.append(text)

    def body(self, index, **fields):
        return {"model": self.name, "messages": [{"role": "user", "content": self.prompts[index]}], "max_tokens": MOST_TOKENS, "temperature": 0, **fields}

    def learn(self):
        for index in range(len(self.prompts)):
            self.expected[index] = self.server.post("/v1/chat/completions", self.body(index)).json["choices"][0]["message"]["content"]

    def whole(self, rng):
        index = rng.randrange(len(self.prompts))
        answer = self.server.post("/v1/chat/completions", self.body(index, logprobs=rng.random() < 0.2))
        if answer.status != 200 or answer.json["choices"][0]["message"]["content"] != self.expected[index]:
            self.problem(f"a wrong answer: {answer.status} {answer.body[:300]}")

    def streamed(self, rng):
        index = rng.randrange(len(self.prompts))
        events = self.server.events("/v1/chat/completions", self.body(index, stream=True))
        text = "".join(event["choices"][0]["delta"].get("content", "") for event in events)
        if text != self.expected[index]:
            self.problem(f"a wrong stream: {text!r}, not {self.expected[index]!r}")

    def other(self, rng):
        path, body = rng.choice([("/api/generate", {"model": self.name, "prompt": "Hi", "stream": False, "options": {"num_predict": 4}}),
                                 ("/v1/embeddings", {"input": ["a", "b"]}), ("/generate", {"prompt": "Hi", "max_tokens": 4}),
                                 ("/v1/responses", {"input": "Hi", "max_output_tokens": 4}), ("/tokenize", {"content": "Hello there"})])
        answer = self.server.post(path, body)
        if answer.status != 200:
            self.problem(f"{path}: {answer.status} {answer.body[:300]}")

    def malformed(self, rng):
        bad = rng.choice([b"GET / HTTP/9\r\n\r\n", b"POST /generate HTTP/1.1\r\nHost: t\r\nContent-Length: 5\r\n\r\n{bad}", b"\0\1\2\3\r\n\r\n",
                          b"POST /generate HTTP/1.1\r\nHost: t\r\nContent-Length: 3\r\nContent-Length: 4\r\n\r\n{}",
                          b"GET /health HTTP/1.1\r\nHost : t\r\n\r\n", b"POST /generate HTTP/1.1\r\nHost: t\r\nTransfer-Encoding: chunked\r\n\r\nZZ\r\n"])
        with socket.create_connection(("127.0.0.1", self.server.port), 30) as raw:
            raw.sendall(bad)
            answer = raw.recv(4096)
        if not answer.startswith((b"HTTP/1.1 4", b"HTTP/1.1 505")):
            self.problem(f"{bad!r} was answered {answer[:100]!r}")

    def cancelled(self, rng):
        raw = self.server.open_stream("/v1/chat/completions", self.body(0, stream=True, max_tokens=200, ignore_eos=True))
        time.sleep(rng.random() * 0.02)
        raw.close()

    def slow(self, rng):
        raw = self.server.open_stream("/v1/chat/completions", self.body(rng.randrange(len(self.prompts)), stream=True))
        text = raw.text
        while b"[DONE]" not in text:
            piece = raw.recv(256)
            if not piece:
                return self.problem("a slow reader was cut off")
            text += piece
            time.sleep(0.005)
        raw.close()

    def work(self, count, seed):
        rng = random.Random(seed)
        kinds = [self.cancelled, self.malformed, self.slow, self.other, self.other, *[self.whole] * 2, *[self.streamed] * 3]
        for _ in range(count):
            kind = rng.choice(kinds)
            try:
                kind(rng)
            except Exception as error:  # noqa: BLE001  each is a finding
                self.problem(f"{kind.__name__}: {type(error).__name__}: {error}")

    def run(self, count, seed):
        threads = [threading.Thread(target=self.work, args=(count // WORKERS, seed * 1000 + i)) for i in range(WORKERS)]
        done = threading.Event()

        def watch():
            while not done.is_set():
                begin = time.monotonic()
                try:
                    if self.server.get("/health").status != 200:
                        self.problem("/health is not well")
                except OSError as error:
                    self.problem(f"/health: {error}")
                self.worst_health = max(self.worst_health, time.monotonic() - begin)
                done.wait(0.05)

        watcher = threading.Thread(target=watch)
        for thread in (watcher, *threads):
            thread.start()
        for thread in threads:
            thread.join()
        done.set()
        watcher.join()

    def state(self):
        self.server.until(lambda: self.server.metric("gainz_requests_running", model=self.name) == 0)
        self.server.until(lambda: (self.server.metric("gainz_connections") or 0) <= 1)
        pid = self.server.process.pid
        return anonymous_bytes(pid), num_entries(pid, "task"), num_entries(pid, "fd")


def main():
    served.TOOLS["gainz"], served.TOOLS["make_tiny"] = sys.argv[1:3]
    options = dict(zip(sys.argv[3::2], sys.argv[4::2]))
    count = int(options.get("--requests", 480))
    server = served.Served(*(("-m", options["--model"], "--name", "tiny", "--backend", "auto") if "--model" in options else ()))
    soak = Soak(server, "tiny")
    soak.learn()
    soak.run(count // 2, 1)  # warm up: the pages, the buffers of the allocator, one connection for each worker
    before = soak.state()
    soak.run(count, 2)
    middle = soak.state()
    soak.run(count, 3)
    after = soak.state()
    slope = (after[0] - middle[0]) / count
    print(f"{2 * count} requests after {count // 2}: anonymous memory {before[0]} {middle[0]} {after[0]}, {slope:.0f} bytes a request in the second half; threads "
          f"{before[1]} {middle[1]} {after[1]}; descriptors {before[2]} {middle[2]} {after[2]}; /health at most {soak.worst_health * 1e3:.0f} ms")
    sanitized = "asan" in sys.argv[1] or "tsan" in sys.argv[1]  # their memory and time are their own
    if not sanitized and slope > SLOPE_BYTES:
        soak.problem(f"the memory grows by {slope:.0f} bytes a request")
    if after[1] > before[1] or after[2] > before[2] + SPARE_DESCRIPTORS:
        soak.problem("threads or descriptors grow")
    if not sanitized and soak.worst_health > HEALTH_SECONDS:
        soak.problem(f"/health took {soak.worst_health:.3f} s")
    if (code := server.close()) != 0:
        soak.problem(f"the server ended with {code}")
    for text in soak.problems[:20]:
        print("problem:", text)
    sys.exit(1 if soak.problems else 0)


if __name__ == "__main__":
    main()

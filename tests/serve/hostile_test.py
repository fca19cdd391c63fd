"""Hostile and unlucky clients of the real program: raw bytes, slow senders, crowds; and that none changes another's answer."""
import concurrent.futures
import json
import os
import socket
import ssl
import statistics
import subprocess
import tempfile
import threading
import time
import unittest

import served

CHAT = "/v1/chat/completions"


def chat(text, **fields):
    return {"messages": [{"role": "user", "content": text}], "max_tokens": 8, "temperature": 0, "ignore_eos": True, **fields}


def status_of(answer):
    return int(answer[9:12]) if answer.startswith(b"HTTP/1.1 ") else 0


class Raw:
    """A socket that sends what it is told."""

    def __init__(self, server, text=b""):
        self.socket = socket.create_connection(("127.0.0.1", server.port), 30)
        self.socket.sendall(text)

    def rest(self):
        """All until the server closes."""
        out = b""
        while piece := self.socket.recv(65536):
            out += piece
        self.socket.close()
        return out


def request(body, *fields, path=CHAT):
    lines = [f"POST {path} HTTP/1.1", "Host: t", "Connection: close", *fields]
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + body


def chunked(text, size, extension=b"", trailer=b""):
    pieces = [text[at:at + size] for at in range(0, len(text), size)]
    return b"".join(b"%x%s\r\n%s\r\n" % (len(piece), extension, piece) for piece in pieces) + b"0\r\n" + trailer + b"\r\n"


class Health:
    """The worst time of /health while the block runs, in seconds."""

    def __init__(self, server):
        self.server, self.worst, self.over = server, 0.0, threading.Event()
        self.thread = threading.Thread(target=self.run)

    def run(self):
        while not self.over.wait(0.02):
            begin = time.monotonic()
            assert self.server.get("/health").status == 200
            self.worst = max(self.worst, time.monotonic() - begin)

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.over.set()
        self.thread.join()


class Bodies(served.ServedTest):
    def content(self, answer):
        self.assertEqual(status_of(answer), 200, answer)
        return json.loads(answer.split(b"\r\n\r\n", 1)[1])["choices"][0]["message"]["content"]

    def test_pb28_chunks_give_what_a_plain_body_gives(self):
        text = json.dumps(chat("Hello \u00e4", max_tokens=4)).encode()
        plain = self.content(Raw(self.server, request(text, f"Content-Length: {len(text)}")).rest())
        for body in (chunked(text, 1), chunked(text, 7, b";name=\"a;b\""), chunked(text, 10**6, trailer=b"X-Last: 1\r\n")):
            self.assertEqual(self.content(Raw(self.server, request(body, "Transfer-Encoding: chunked")).rest()), plain)
        halves = Raw(self.server, request(b"", f"Content-Length: {len(text)}") + text[:9])
        time.sleep(0.05)
        halves.socket.sendall(text[9:])
        self.assertEqual(self.content(halves.rest()), plain)

    def test_pb28_bad_bodies(self):
        text = json.dumps(chat("x")).encode()
        for body, field, status in ((b"x\r\n", "Transfer-Encoding: chunked", 400),
                                    (chunked(text, 5, b";a=\"\n\""), "Transfer-Encoding: chunked", 400),
                                    (b"FFFFFFFFFFFFFFFF\r\n", "Transfer-Encoding: chunked", 413),
                                    (b"", "Content-Length: 40000000000", 413),
                                    (text, f"Content-Length: {len(text)}\r\nTransfer-Encoding: chunked", 400),
                                    (text, f"Content-Length: {len(text)}\r\nContent-Encoding: gzip", 415)):
            with self.subTest(field=field, body=body[:20]):
                answer = Raw(self.server, request(body, field)).rest()
                self.assertEqual(status_of(answer), status, answer)
                self.assertIn("message", json.loads(answer.split(b"\r\n\r\n", 1)[1])["error"])
        self.assertEqual(self.server.post(CHAT, chat("x")).status, 200)

    def test_pb29_continue(self):
        text = json.dumps(chat("x")).encode()
        raw = Raw(self.server, request(b"", "Expect: 100-continue", f"Content-Length: {len(text)}"))
        begin = time.monotonic()
        self.assertEqual(raw.socket.recv(25), b"HTTP/1.1 100 Continue\r\n\r\n")
        self.assertLess(time.monotonic() - begin, 1)
        raw.socket.sendall(text)
        self.content(raw.rest())
        refused = Raw(self.server, request(b"", "Expect: 100-continue", "Content-Length: 1000000000"))
        self.assertEqual(status_of(refused.rest()), 413)

    def test_pb03_long_words_and_many_turns(self):
        with Health(self.server) as health:
            for text in ("a" * 256 * 1024, "\u00e4" * 100000, " " * 200000):
                begin = time.monotonic()
                self.assertEqual(self.server.post(CHAT, chat(text)).error["code"], "context_length_exceeded")
                self.assertLess(time.monotonic() - begin, 2 * served.PATIENCE)
            turns = [{"role": ("user", "assistant")[i % 2], "content": "two words"} for i in range(1601)]
            self.assertEqual(self.server.post(CHAT, {"messages": turns}).error["code"], "context_length_exceeded")
        self.assertLess(health.worst, 0.2 * served.PATIENCE)


class Crowds(served.ServedTest):
    options = ("--context", "256", "--max-sequences", "8")

    def answers(self, prompts, at_once, **fields):
        def one(text):
            got = self.server.post(CHAT, chat(text, **fields))
            self.assertEqual(got.status, 200, got.body)
            return got.json["choices"][0]["message"]["content"]
        with concurrent.futures.ThreadPoolExecutor(at_once) as crowd:
            return list(crowd.map(one, prompts))

    def test_pb14_pb18_answers_do_not_depend_on_the_crowd(self):
        prompts = [f"word{i} " * (1 + i * 7 % 20) for i in range(24)]
        alone = self.answers(prompts, 1, cache_salt="alone")
        self.assertGreater(len(set(alone)), 1, "the prompts are too alike to tell a mix-up")
        for at_once in (2, 8, 16):
            self.assertEqual(self.answers(prompts, at_once), alone)
            self.assertEqual(self.answers(prompts[::-1], at_once), alone[::-1])  # now from the cache

    def test_pb19_long_prompts_from_the_cache(self):
        base = ["one"] * 60
        for at in (0, 30, 59):
            words = list(base)
            words[at] = "two"
            text = " ".join(words)
            fresh = self.answers([text], 1, cache_salt=f"salt {at}")
            self.assertEqual(self.answers([text] * 3, 1), fresh * 3)
            self.assertNotEqual(fresh[0], "")

    def test_show4_slow_senders_do_not_delay_a_good_client(self):
        def times(count):
            out = []
            for i in range(count):
                begin = time.monotonic()
                self.assertEqual(self.server.post(CHAT, chat(f"question {i}", max_tokens=2)).status, 200)
                out.append(time.monotonic() - begin)
            return out
        times(3)
        quiet = times(20)
        slow = [Raw(self.server) for _ in range(200)]
        crowded = []
        for byte in b"GET /health":
            for raw in slow:
                raw.socket.sendall(bytes([byte]))
            crowded += times(4)
        for raw in slow:
            raw.socket.close()
        self.assertLess(statistics.median(crowded), statistics.median(quiet) * 1.5 + 0.01)
        self.assertLess(max(crowded), max(quiet) * 3 + 0.2 * served.PATIENCE)

    def test_pb24_a_crowd_that_leaves_frees_its_places(self):
        for _ in range(3):
            crowd = [Raw(self.server, request(text, f"Content-Length: {len(text)}")) for text in
                     (json.dumps(chat(f"leave {i} " * 10, max_tokens=100, stream=i % 2 == 0)).encode() for i in range(30))]
            time.sleep(0.05)
            for raw in crowd:
                raw.socket.close()
            begin = time.monotonic()
            self.assertEqual(self.server.post(CHAT, chat("next", max_tokens=1)).status, 200)
            self.assertLess(time.monotonic() - begin, 2 * served.PATIENCE)
            self.server.until(lambda: self.server.metric("gainz_requests_running", model="tiny") in (0, None))


def make_certificate(folder, name):
    files = [os.path.join(folder, name + end) for end in (".crt", ".key")]
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "1", "-subj",
                    f"/CN={name}", "-out", files[0], "-keyout", files[1]], check=True, capture_output=True)
    return files


class Tls(unittest.TestCase):
    def ask(self, server, trusted):
        context = ssl.create_default_context(cafile=trusted)
        context.check_hostname = False
        with socket.create_connection(("127.0.0.1", server.port), 30) as plain:
            with context.wrap_socket(plain) as wrapped:
                wrapped.sendall(b"GET /health HTTP/1.1\r\nHost: t\r\nConnection: close\r\n\r\n")
                return status_of(wrapped.recv(65536))

    def test_certificates_are_read_again(self):
        try:
            subprocess.run(["openssl", "version"], check=True, capture_output=True)
        except OSError:
            self.skipTest("the program openssl, which makes the certificates, is not here")
        with tempfile.TemporaryDirectory() as folder:
            first, second = make_certificate(folder, "first"), make_certificate(folder, "second")
            used = [os.path.join(folder, "used.crt"), os.path.join(folder, "used.key")]
            for source, target in zip(first, used):
                os.symlink(source, target)
            server = served.Served("--tls-certificate", used[0], "--tls-key", used[1])
            try:
                self.assertIn("https://", server.announced)
                self.assertEqual(self.ask(server, first[0]), 200)
                self.assertEqual(Raw(server, b"GET /health HTTP/1.1\r\nHost: t\r\n\r\n").rest()[:5], b"")  # plain text gets no answer
                for source, target in zip(second, used):
                    os.remove(target)
                    os.symlink(source, target)
                server.process.send_signal(served.signal.SIGHUP)

                def is_second():
                    try:
                        return self.ask(server, second[0]) == 200
                    except ssl.SSLError:
                        return False
                server.until(is_second)
                with self.assertRaises(ssl.SSLError):
                    self.ask(server, first[0])
                os.remove(used[1])  # a bad file changes nothing
                server.process.send_signal(served.signal.SIGHUP)
                server.until(lambda: "TLS" in server.log())
                self.assertEqual(self.ask(server, second[0]), 200)
            finally:
                self.assertEqual(server.close(), 0)


if __name__ == "__main__":
    served.main()

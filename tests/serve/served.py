"""A real `gainz serve` with the tiny model, and ways to ask it. Every wait has an end."""
import http.client
import json
import os
import re
import signal
import socket
import subprocess
import sys
import tempfile
import time
import unittest

TOOLS = {}  # "gainz" and "make_tiny", set by main()
START_SECONDS = 120  # sanitizer builds are slow
PATIENCE = 1  # how many times longer than stated anything may take, set by main()


class Answer:
    def __init__(self, response):
        self.status = response.status
        self.headers = {name.lower(): value for name, value in response.getheaders()}
        self.body = response.read()

    @property
    def json(self):
        return json.loads(self.body)

    @property
    def error(self):
        return self.json["error"]


class Stream:
    """A socket in the middle of a streamed answer; `text` is what came before."""

    def __init__(self, raw):
        self.raw, self.text = raw, b""
        self.recv, self.close, self.setsockopt = raw.recv, raw.close, raw.setsockopt


class Served:
    """options: further flags; config: text of a TOML file; log lines are in `self.log()`."""

    def __init__(self, *options, config=None, model=True, environment=None, host="127.0.0.1", expect_failure=False, template=None):
        self.folder = tempfile.TemporaryDirectory(prefix="gainz-serve-")
        self.host = host
        self.model = os.path.join(self.folder.name, "tiny.gguf")
        subprocess.run([TOOLS["make_tiny"], self.model, *(("--template", template) if template else ())], check=True, stdout=subprocess.DEVNULL)
        command = [TOOLS["gainz"], "serve", "--log-format", "json", "-t", "2"]
        if "--backend" not in options:
            command += ["--backend", "reference"]
        if "--port" not in options:
            command += ["--port", "0"]
        if model and "-m" not in options:
            command += ["-m", self.model, "--name", "tiny"]
        if config is not None:
            self.config = os.path.join(self.folder.name, "gainz.toml")
            self.write_config(config)
            command += ["--config", self.config]
        self.log_path = os.path.join(self.folder.name, "log")
        self.log_file = open(self.log_path, "w")
        clean = {name: value for name, value in os.environ.items() if not name.startswith("GAINZ_")}
        self.process = subprocess.Popen([*command, *options], stdout=subprocess.PIPE, stderr=self.log_file, text=True,
                                        env={**clean, "HOME": self.folder.name, **(environment or {})})
        if expect_failure:
            self.output, _ = self.process.communicate(timeout=START_SECONDS)
            self.log_file.close()
            return
        line = self.process.stdout.readline()
        found = re.search(r"(https?)://(\S+):(\d+)", line)
        if not found:
            self.process.wait(10)
            raise RuntimeError(f"the server did not start: {line} {self.log()}")
        self.announced, self.port = line, int(found[3])

    def write_config(self, text):
        with open(self.config, "w") as file:
            file.write(text)

    def log(self):
        with open(self.log_path) as file:
            return file.read()

    def records(self, message=None):
        lines = [json.loads(line) for line in self.log().splitlines() if line.startswith("{")]
        return [line for line in lines if message is None or line["message"] == message]

    def connect(self, timeout=60):
        return http.client.HTTPConnection(self.host, self.port, timeout=timeout)

    def ask(self, method, path, body=None, headers=None):
        connection = self.connect()
        try:
            text = body if body is None or isinstance(body, (str, bytes)) else json.dumps(body)
            connection.request(method, path, text, {"content-type": "application/json", **(headers or {})})
            return Answer(connection.getresponse())
        finally:
            connection.close()

    def get(self, path, **headers):
        return self.ask("GET", path, headers=headers)

    def post(self, path, body, headers=None):
        return self.ask("POST", path, body, headers)

    def stream(self, path, body, headers=None):
        """The lines of a streamed answer, without their ends and without empty ones."""
        connection = self.connect()
        try:
            connection.request("POST", path, json.dumps(body), {"content-type": "application/json", **(headers or {})})
            response = connection.getresponse()
            if response.status != 200:
                raise AssertionError(f"{response.status}: {response.read()}")
            self.stream_type = response.getheader("content-type")
            return [line.decode().rstrip("\n") for line in response if line.strip()]
        finally:
            connection.close()

    def events(self, path, body):
        """The JSON of server-sent events; the last line must be [DONE]."""
        lines = [line[6:] for line in self.stream(path, body) if line.startswith("data: ")]
        assert lines[-1] == "[DONE]", lines[-1]
        return [json.loads(line) for line in lines[:-1]]

    def open_stream(self, path, body):
        """A Stream of which the first piece has come."""
        text = json.dumps(body).encode()
        raw = socket.create_connection((self.host, self.port), 30)
        raw.sendall(b"POST %s HTTP/1.1\r\nHost: t\r\nContent-Length: %d\r\n\r\n" % (path.encode(), len(text)) + text)
        stream = Stream(raw)
        stream.text = stream.recv(65536)
        assert b" 200 " in stream.text, stream.text
        return stream

    def metric(self, name, **labels):
        for line in self.get("/metrics").body.decode().splitlines():
            found = re.match(r"(\w+)(?:\{(.*)\})? (\S+)", line)
            if found and found[1] == name and all(f'{key}="{value}"' in (found[2] or "") for key, value in labels.items()):
                return float(found[3])
        return None

    def until(self, condition, seconds=20):
        deadline = time.monotonic() + seconds
        while not condition():
            if time.monotonic() > deadline:
                raise AssertionError(f"not within {seconds} s; the log: {self.log()[-2000:]}")
            time.sleep(0.01)

    def stop(self, number=signal.SIGTERM, seconds=60):
        if self.process.poll() is None:
            self.process.send_signal(number)
        try:
            code = self.process.wait(seconds)
        finally:
            self.process.kill()
            self.process.wait()
            self.process.stdout.close()
            self.log_file.close()
        return code

    def close(self):
        code = self.stop() if self.process.poll() is None else self.process.returncode
        self.folder.cleanup()
        return code


class ServedTest(unittest.TestCase):
    """One server for all tests of a class; `options` are its flags. It must end with 0."""
    options, config, template = (), None, None

    @classmethod
    def setUpClass(cls):
        cls.server = Served(*cls.options, config=cls.config, template=cls.template)

    @classmethod
    def tearDownClass(cls):
        code = cls.server.close()
        assert code == 0, f"the server ended with {code}"

    def refused(self, path, body, status, *texts, param=None, code=None):
        answer = self.server.post(path, body)
        self.assertEqual(answer.status, status, answer.body)
        for text in texts:
            self.assertIn(text, answer.error["message"])
        if param is not None:
            self.assertEqual(answer.error["param"], param)
        if code is not None:
            self.assertEqual(answer.error["code"], code)
        return answer


def main():
    """NAME_test.py GAINZ MAKE_TINY [unittest's arguments]"""
    global PATIENCE
    TOOLS["gainz"], TOOLS["make_tiny"] = sys.argv[1:3]
    with open(TOOLS["gainz"], "rb") as file:
        program = file.read()
    PATIENCE = 10 if b"__asan_init" in program or b"__tsan_init" in program else 1
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])

"""The life of a server: starts that fail, draining, cancelling, live changes, several models, idle unloading."""
import json
import os
import signal
import socket
import time
import unittest

import served

LONG = {"prompt": "Hello", "max_tokens": 400, "ignore_eos": True, "stream": True}


class Starts(unittest.TestCase):
    def failed(self, *options, **more):
        server = served.Served(*options, expect_failure=True, **more)
        code, log = server.process.returncode, server.log()
        server.folder.cleanup()
        self.assertEqual(server.output, "")
        self.assertNotIn("Traceback", log)
        return code, log

    def test_bad_starts_are_one_sentence(self):
        with socket.create_server(("127.0.0.1", 0)) as taken:
            port = str(taken.getsockname()[1])
            code, log = self.failed("--port", port)
            self.assertEqual(code, 1)
            self.assertIn(f"127.0.0.1:{port}", log)
        for options, config, text in (
                (("--host", "0.0.0.0"), None, "there are no keys"), (("--host", "no.such.host.invalid"), None, "no.such.host.invalid"),
                (("--tls-certificate", "/none"), None, "without server.tls_key"), ((), "[server]\nprot = 1\n", 'did you mean "port"?'),
                ((), "[server]\nport = 70000\n", "from 0 to 65535"), ((), '[server]\ncors_origins = "page.example"\n', "no origin"),
                ((), '[server]\napi_key_file = "none"\n', "api_key_file"), (("-m", "/no/such.gguf"), None, "/no/such.gguf")):
            with self.subTest(text):
                code, log = self.failed(*options, config=config)
                self.assertEqual(code, 1, log)
                self.assertIn(text, log)

    def test_pb31_the_second_server_on_an_address_fails(self):
        server = served.Served()
        code, log = self.failed("--port", str(server.port))
        self.assertEqual(code, 1)
        self.assertIn(str(server.port), log)
        self.assertEqual(server.get("/health").status, 200)
        self.assertEqual(server.close(), 0)

    def test_a_model_that_is_none(self):
        with open("/tmp/gainz-no-model.gguf", "w") as file:
            file.write("no model")
        try:
            code, log = self.failed("-m", "/tmp/gainz-no-model.gguf")
            self.assertEqual(code, 1)
            self.assertIn("gainz-no-model.gguf", log)
        finally:
            os.unlink("/tmp/gainz-no-model.gguf")


class Ends(unittest.TestCase):
    def test_pb33_running_requests_finish(self):
        server = served.Served()
        stream = server.open_stream("/generate", LONG)
        server.process.send_signal(signal.SIGTERM)
        text = stream.text
        while piece := stream.recv(65536):
            text += piece
        self.assertIn(b"[DONE]", text)
        self.assertEqual(server.stop(), 0)

    def test_pb33_the_grace_ends_with_an_error_event(self):
        server = served.Served(config="[server]\ngrace_seconds = 0\n")
        streams = [server.open_stream("/generate", {**LONG, "max_tokens": 500}) for _ in range(8)]
        server.process.send_signal(signal.SIGTERM)
        for stream in streams:
            text = stream.text
            while piece := stream.recv(65536):
                text += piece
            self.assertTrue(b"shutting_down" in text or b"[DONE]" in text, text[-300:])
        begin = time.monotonic()
        self.assertEqual(server.stop(), 0)
        self.assertLess(time.monotonic() - begin, 10)

    def test_new_work_is_refused_while_it_drains(self):
        server = served.Served()
        stream = server.open_stream("/generate", LONG)
        server.process.send_signal(signal.SIGTERM)
        server.until(lambda: "SIGTERM" in server.log() or server.process.poll() is not None or not self.connects(server.port))
        self.assertFalse(self.connects(server.port))
        stream.close()
        self.assertEqual(server.stop(), 0)

    def connects(self, port):
        try:
            socket.create_connection(("127.0.0.1", port), 5).close()
            return True
        except OSError:
            return False

    def test_a_second_signal_ends_now(self):
        server = served.Served(config="[server]\ngrace_seconds = 600\n")
        stream = server.open_stream("/generate", {**LONG, "max_tokens": 500})
        server.process.send_signal(signal.SIGTERM)
        time.sleep(0.05)
        self.assertEqual(server.stop(signal.SIGTERM, 20), 0)
        stream.close()


class Clients(served.ServedTest):
    def test_pb24_who_leaves_is_cancelled(self):
        before = self.server.metric("gainz_generations_total", outcome="cancelled") or 0
        for how in ("close", "reset"):
            stream = self.server.open_stream("/generate", {**LONG, "max_tokens": 500})
            if how == "reset":
                stream.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
            stream.close()
        body = json.dumps({"prompt": "Hello", "max_tokens": 500, "ignore_eos": True}).encode()
        unstreamed = socket.create_connection(("127.0.0.1", self.server.port))
        unstreamed.sendall(b"POST /generate HTTP/1.1\r\nHost: t\r\nContent-Length: %d\r\n\r\n" % len(body) + body)
        time.sleep(0.05)
        unstreamed.close()
        self.server.until(lambda: (self.server.metric("gainz_generations_total", outcome="cancelled") or 0) >= before + 2)
        self.server.until(lambda: self.server.metric("gainz_requests_running", model="tiny") == 0)
        self.server.until(lambda: self.server.metric("gainz_kv_pages_used", model="tiny") == 0)

    def test_timeouts(self):
        answer = self.server.post("/generate", {"prompt": "Hello", "max_tokens": 500, "ignore_eos": True, "timeout_ms": 1})
        self.assertEqual((answer.status, answer.error["code"]), (504, "timeout"))

    def test_unloading_ends_requests_with_an_error(self):
        stream = self.server.open_stream("/generate", {**LONG, "max_tokens": 500})
        self.server.post("/models/unload", {"model": "tiny"})
        text = stream.text
        while piece := stream.recv(65536):
            text += piece
            if b"\r\n0\r\n\r\n" in text:
                break
        self.assertTrue(b"unloaded" in text or b"[DONE]" in text, text[-300:])
        self.assertEqual(self.server.post("/generate", {"prompt": "Hello", "max_tokens": 1}).status, 200)


class Several(unittest.TestCase):
    def config(self, *names, more="", server=""):
        models = "".join(f'[[model]]\npath = "tiny.gguf"\nname = "{name}"\n{more}' for name in names)
        return f"[server]\n{server}\n{models}"

    def test_models_side_by_side(self):
        server = served.Served(model=False, config=self.config("one", "two"))
        self.assertEqual([model["id"] for model in server.get("/v1/models").json["data"]], ["one", "two"])
        texts = {server.post("/generate", {"model": name, "prompt": "Hello", "max_tokens": 4, "temperature": 0}).json["text"] for name in ("one", "two", "")}
        self.assertEqual(len(texts), 1)
        self.assertEqual(server.close(), 0)

    def test_room_is_made_within_the_budget(self):
        probe = served.Served()
        weights = probe.metric("gainz_model_memory_bytes", kind="weights") + probe.metric("gainz_model_memory_bytes", kind="kv")
        probe.close()
        budget = int(weights * 1.5)
        server = served.Served(model=False, config=self.config("one", "two", server=f'memory_bytes = {budget}\nload = "demand"'))
        for name in ("one", "two", "one"):
            self.assertEqual(server.post("/generate", {"model": name, "prompt": "Hello", "max_tokens": 1}).status, 200, server.log()[-1000:])
            states = {model["id"]: model["state"] for model in server.get("/health").json["models"]}
            self.assertEqual([states[name], sorted(states.values())], ["ready", ["ready", "unloaded"]])
        stream = server.open_stream("/generate", {**LONG, "model": "one", "max_tokens": 500})
        answer = server.post("/generate", {"model": "two", "prompt": "Hello", "max_tokens": 1})
        self.assertIn(answer.status, (200, 503))
        if answer.status == 503:
            self.assertIn("busy", answer.error["message"])
            self.assertIn("retry-after", answer.headers)
        stream.close()
        self.assertEqual(server.close(), 0)

    def test_idle_models_are_unloaded(self):
        server = served.Served(model=False, config=self.config("one", more="keep_alive_seconds = 1\n"))
        server.until(lambda: server.get("/health").json["models"][0]["state"] == "unloaded")
        self.assertEqual(server.post("/generate", {"prompt": "Hello", "max_tokens": 1}).status, 200)
        self.assertEqual(server.close(), 0)

    def test_one_bad_model_does_not_stop_the_others(self):
        server = served.Served(model=False, config=self.config("one") + '[[model]]\npath = "gainz.toml"\nname = "bad"\n')
        health = server.get("/health").json
        self.assertEqual(health["status"], "degraded")
        bad = next(model for model in health["models"] if model["id"] == "bad")
        self.assertIn("gainz.toml", bad["reason"])
        self.assertEqual(server.post("/generate", {"model": "one", "prompt": "Hello", "max_tokens": 1}).status, 200)
        answer = server.post("/generate", {"model": "bad", "prompt": "Hello", "max_tokens": 1})
        self.assertEqual((answer.status, answer.error["code"]), (503, "model_not_available"))
        self.assertEqual(server.close(), 0)


class Reload(unittest.TestCase):
    def test_sighup(self):
        model = '[[model]]\npath = "tiny.gguf"\nname = "one"\n'
        server = served.Served(model=False, config=f"[log]\nlevel = \"info\"\n[server]\nmax_choices = 2\n{model}")
        body = {"model": "one", "prompt": "Hello", "max_tokens": 1, "n": 3}
        self.assertEqual(server.post("/v1/completions", body).status, 400)

        server.write_config(f'[log]\nlevel = "info"\n[server]\nmax_choices = 4\nworker_threads = 5\napi_key = "k"\n{model}context = 64\n'
                            '[[model]]\npath = "tiny.gguf"\nname = "two"\n')
        server.process.send_signal(signal.SIGHUP)
        server.until(lambda: "read again" in server.log())
        self.assertEqual(server.post("/v1/completions", body).status, 401)
        key = {"authorization": "Bearer k"}
        self.assertEqual(server.post("/v1/completions", body, key).status, 200)
        self.assertEqual([entry["id"] for entry in server.get("/v1/models", **key).json["data"]], ["one", "two"])
        self.assertIn("server.worker_threads cannot change", server.log())
        self.assertIn("one counts from its next load", server.log())

        server.write_config("[server]\nmax_choices = 0\n")
        server.process.send_signal(signal.SIGHUP)
        server.until(lambda: "nothing was changed" in server.log())
        self.assertEqual(server.post("/v1/completions", body, key).status, 200)

        server.write_config(f"[server]\nmax_choices = 4\n{model}")
        server.process.send_signal(signal.SIGHUP)
        server.until(lambda: server.post("/v1/completions", body).status == 200)
        server.until(lambda: len(server.get("/v1/models").json["data"]) == 1)
        self.assertEqual(server.close(), 0)


class Limits(unittest.TestCase):
    def test_each_limit_has_its_own_error(self):
        server = served.Served("--parallel", "1", config="""[server]
max_queue = 1
max_output_tokens = 400
max_prompt_tokens = 40
max_stops = 2
max_json_depth = 8
max_priority = 3
max_body_bytes = 4096
max_uri_bytes = 256
max_header_bytes = 2048
""")
        def refused(status, code, text, **fields):
            answer = server.post("/generate", {"prompt": "Hello", "max_tokens": 1, **fields})
            self.assertEqual((answer.status, answer.error["code"]), (status, code), answer.body)
            self.assertIn(text, answer.error["message"])
            self.assertEqual(server.post("/generate", {"prompt": "Hello", "max_tokens": 1}).status, 200, "the next one works")
        refused(400, None, "limit of 400", max_tokens=401)
        refused(400, "context_length_exceeded", "limit of 40", prompt="a b c d e f g h " * 12)
        refused(400, None, "limit of 2", stop=["a", "b", "c"])
        refused(400, None, "limit of 3", priority=4)
        self.assertIn("deeper than the limit of 8", server.post("/generate", '{"a":' * 9 + "1" + "}" * 9).error["message"])
        self.assertEqual(server.post("/generate", "x" * 5000).status, 413)
        self.assertEqual(server.get("/" + "x" * 300).status, 414)
        self.assertEqual(server.get("/health", **{"x-long": "y" * 3000}).status, 431)

        streams = [server.open_stream("/generate", {**LONG, "max_tokens": 400})]
        body = json.dumps({**LONG, "max_tokens": 400}).encode()
        waiting = socket.create_connection(("127.0.0.1", server.port))
        waiting.sendall(b"POST /generate HTTP/1.1\r\nHost: t\r\nContent-Length: %d\r\n\r\n" % len(body) + body)
        server.until(lambda: server.metric("gainz_requests_waiting", model="tiny") == 1 or server.metric("gainz_requests_running", model="tiny") == 0)
        answer = server.post("/generate", {"prompt": "Hello", "max_tokens": 1})
        if answer.status != 200:  # the running one may have ended already on a fast machine
            self.assertEqual((answer.status, answer.error["code"]), (429, "queue_full"))
            self.assertGreaterEqual(int(answer.headers["retry-after"]), 1)
        for each in (*streams, waiting):
            each.close()
        server.until(lambda: server.post("/generate", {"prompt": "Hello", "max_tokens": 1}).status == 200)
        self.assertEqual(server.close(), 0)

    def test_rates_of_keys(self):
        server = served.Served(config="[server]\nkey_requests_per_minute = 3\n")
        statuses = [server.post("/generate", {"prompt": "Hello", "max_tokens": 1}).status for _ in range(4)]
        self.assertEqual(statuses, [200, 200, 200, 429])
        last = server.post("/generate", {"prompt": "Hello", "max_tokens": 1})
        self.assertEqual(last.error["code"], "rate_limit_exceeded")
        self.assertTrue(15 <= int(last.headers["retry-after"]) <= 20, last.headers)
        self.assertEqual(server.get("/health").status, 200)
        self.assertEqual(server.close(), 0)


if __name__ == "__main__":
    served.main()

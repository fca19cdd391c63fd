"""The plain routes, the metrics and the log."""
import json
import re
import unittest

import served


class Plain(served.ServedTest):
    def test_generate(self):
        body = self.server.post("/generate", {"prompt": "Hello", "max_tokens": 5, "ignore_eos": True, "seed": 1}).json
        self.assertEqual(body["completion_tokens"], 5)
        self.assertEqual(body["finish_reason"], "length")
        again = self.server.post("/generate", {"prompt": "Hello", "max_tokens": 5, "ignore_eos": True, "seed": body["seed"]}).json
        self.assertEqual(body["text"], again["text"])
        events = self.server.events("/generate", {"prompt": "Hello", "max_tokens": 5, "ignore_eos": True, "seed": 1, "stream": True})
        self.assertEqual("".join(event["text"] for event in events), body["text"])
        self.assertEqual(events[-1]["completion_tokens"], 5)
        self.refused("/generate", {}, 400, param="prompt")
        self.refused("/generate", {"prompt": "x", "extra": 1}, 400, param="extra")

    def test_text(self):
        text = "Hello <|im_end|> \U0001F600"
        tokens = self.server.post("/tokenize", {"content": text}).json
        self.assertEqual(tokens["count"], len(tokens["tokens"]))
        self.assertEqual(self.server.post("/detokenize", {"tokens": tokens["tokens"]}).json["content"], text)
        self.assertLess(self.server.post("/tokenize", {"content": text, "parse_special": True}).json["count"], tokens["count"])
        prompt = self.server.post("/apply-template", {"messages": [{"role": "user", "content": "Hi"}]}).json["prompt"]
        self.assertTrue(prompt.endswith("assistant\n"))
        bare = self.server.post("/apply-template", {"messages": [{"role": "user", "content": "Hi"}], "add_generation_prompt": False}).json["prompt"]
        self.assertTrue(prompt.startswith(bare))
        self.refused("/detokenize", {"tokens": [320]}, 400, "320")
        self.refused("/detokenize", {"tokens": [-1]}, 400, param="tokens[0]")
        self.refused("/detokenize", {}, 400, param="tokens")
        self.refused("/tokenize", {"content": 5}, 400, param="content")
        self.assertEqual(self.server.post("/detokenize", {"tokens": []}).json["content"], "")

    def test_health_and_version(self):
        health = self.server.get("/health").json
        self.assertEqual((health["status"], health["live"], health["ready"]), ("ok", True, True))
        self.assertEqual(health["models"], [{"id": "tiny", "state": "ready"}])
        self.assertRegex(self.server.get("/version").json["version"], r"^\d+\.\d+\.\d+$")

    def test_openapi(self):
        document = self.server.get("/openapi.json").json
        self.assertEqual(document["openapi"], "3.1.0")
        for path in ("/v1/chat/completions", "/v1/models/{id}", "/api/chat", "/generate", "/health"):
            self.assertIn(path, document["paths"])

    def test_metrics(self):
        before = {name: self.server.metric(name, model="tiny") or 0 for name in
                  ("gainz_tokens_generated_total", "gainz_time_to_first_token_seconds_count", "gainz_inter_token_seconds_count", "gainz_request_seconds_count")}
        self.server.post("/generate", {"prompt": "Hello", "max_tokens": 5, "ignore_eos": True})
        after = {name: self.server.metric(name, model="tiny") for name in before}
        self.assertEqual([after[name] - before[name] for name in before], [5, 1, 4, 1])
        for name in ("gainz_kv_pages_total", "gainz_kv_pages_used", "gainz_requests_running", "gainz_requests_waiting", "gainz_prefix_cache_hit_tokens_total",
                     "gainz_preemptions_total", "gainz_model_memory_bytes", "gainz_model_loaded"):
            self.assertIsNotNone(self.server.metric(name, model="tiny"), name)
        errors = self.server.metric("gainz_errors_total", kind="http_400") or 0
        self.server.post("/generate", {})
        self.assertEqual(self.server.metric("gainz_errors_total", kind="http_400"), errors + 1)
        self.assertTrue(self.server.get("/metrics").headers["content-type"].startswith("text/plain; version=0.0.4"))
        for line in self.server.get("/metrics").body.decode().splitlines():
            self.assertRegex(line, r'^(# (HELP|TYPE) \w+ .*|\w+(\{(\w+="[^"]*",?)*\})? \S+)$')

    def test_models_by_hand(self):
        self.assertEqual(self.server.post("/models/unload", {"model": "tiny"}).json["state"], "unloaded")
        self.assertEqual(self.server.get("/health").json["models"][0]["state"], "unloaded")
        self.assertEqual(self.server.metric("gainz_model_loaded", model="tiny"), 0)
        self.assertEqual(self.server.post("/models/load", {"model": "tiny"}).json["state"], "ready")
        self.refused("/models/load", {"model": "none"}, 404, "none")
        self.refused("/models/load", {}, 400, param="model")

    def test_a_request_loads_what_is_not_in_memory(self):
        self.server.post("/models/unload", {"model": "tiny"})
        self.assertEqual(self.server.post("/generate", {"prompt": "Hello", "max_tokens": 1}).status, 200)

    def test_log(self):
        sent = self.server.post("/generate", {"prompt": "a secret prompt", "max_tokens": 3}, {"x-request-id": "mine-1"})
        self.assertEqual(sent.headers["x-request-id"], "mine-1")
        self.server.until(lambda: any(record["id"] == "mine-1" for record in self.server.records("request")))
        record = next(record for record in self.server.records("request") if record["id"] == "mine-1")
        self.assertEqual((record["method"], record["path"], record["status"]), ("POST", "/generate", 200))
        done = next(record for record in self.server.records("generation") if record["id"] == "mine-1")
        self.assertEqual((done["tokens"], done["model"]), (3, "tiny"))
        self.assertNotIn("secret", self.server.log(), "no text of prompts unless it is asked for")

    def test_no_line_of_the_log_can_be_forged(self):
        self.server.get("/x%0A%7B%22message%22:%22forged%22%7D")
        self.server.get("/", **{"x-request-id": "a b"})
        self.server.until(lambda: any("forged" in record["path"] for record in self.server.records("request")))
        for line in self.server.log().splitlines():
            self.assertTrue(line.startswith('{"time":') or not line.startswith("{"), line)
        self.assertFalse(any(record["message"] == "forged" for record in self.server.records()))


class Content(served.ServedTest):
    config = "[log]\ncontent = true\n"

    def test_texts_are_logged_when_asked(self):
        answer = self.server.post("/generate", {"prompt": "a known prompt", "max_tokens": 3}).json
        self.server.until(lambda: self.server.records("generation"))
        record = self.server.records("generation")[0]
        self.assertEqual((record["prompt"], record["answer"]), ("a known prompt", answer["text"]))


class Keys(served.ServedTest):
    config = "[server]\napi_key_file = \"keys\"\ncors_origins = \"https://page.example\"\n"

    @classmethod
    def setUpClass(cls):
        import os
        import tempfile
        cls.folder = tempfile.TemporaryDirectory()
        path = os.path.join(cls.folder.name, "keys")
        with open(path, "w") as file:
            file.write("# two\nann secret-of-ann\nsecret-of-nobody\n")
        cls.server = served.Served("--api-key-file", path, config=cls.config)

    def test_every_route_but_health_and_the_page(self):
        open_paths = {"/health", "/"}
        for path, methods in self.document()["paths"].items():
            for method in methods:
                answer = self.server.ask(method.upper(), path.replace("{id}", "x"), {} if method == "post" else None)
                self.assertEqual(answer.status == 401, path not in open_paths, path)
        for header in ({"authorization": "Bearer secret-of-ann"}, {"authorization": "bearer secret-of-ann"}, {"x-api-key": "secret-of-nobody"}):
            self.assertEqual(self.server.ask("GET", "/v1/models", headers=header).status, 200, header)
        for header in ({"authorization": "Bearer secret-of-an"}, {"authorization": "Bearer secret-of-annx"}, {"authorization": "Bearer ann"}, {"x-api-key": ""}):
            answer = self.server.ask("GET", "/v1/models", headers=header)
            self.assertEqual((answer.status, answer.error["code"]), (401, "invalid_api_key"))
        self.server.until(lambda: any(record.get("key") == "ann" for record in self.server.records("request")))
        self.assertNotIn("secret-of", self.server.log())

    def document(self):
        return self.server.ask("GET", "/openapi.json", headers={"authorization": "Bearer secret-of-ann"}).json

    def test_origins(self):
        answer = self.server.ask("OPTIONS", "/v1/models", headers={"origin": "https://page.example", "access-control-request-method": "GET"})
        self.assertEqual(answer.headers.get("access-control-allow-origin"), "https://page.example")
        other = self.server.ask("OPTIONS", "/v1/models", headers={"origin": "https://other.example", "access-control-request-method": "GET"})
        self.assertNotIn("access-control-allow-origin", other.headers)


if __name__ == "__main__":
    served.main()

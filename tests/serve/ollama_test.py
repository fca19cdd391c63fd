"""Ollama's API on the wire."""
import datetime
import json
import math
import unittest

import served


def ask(**fields):
    return {"model": "tiny", "prompt": "Hello there", "options": {"num_predict": 6, "seed": 1}, **fields}


class Ollama(served.ServedTest):
    def lines(self, path, body):
        lines = [json.loads(line) for line in self.server.stream(path, body)]
        self.assertTrue(self.server.stream_type.startswith("application/x-ndjson"))
        return lines

    def check_end(self, last):
        self.assertTrue(last["done"])
        self.assertIn(last["done_reason"], ("stop", "length"))
        for name in ("total_duration", "load_duration", "prompt_eval_count", "prompt_eval_duration", "eval_count", "eval_duration"):
            self.assertIsInstance(last[name], int)
            self.assertGreaterEqual(last[name], 0)
        self.assertGreaterEqual(last["total_duration"], last["eval_duration"])

    def test_generate(self):
        lines = self.lines("/api/generate", ask())
        self.assertFalse(any(line["done"] for line in lines[:-1]))
        self.check_end(lines[-1])
        whole = self.server.post("/api/generate", ask(stream=False)).json
        self.check_end(whole)
        self.assertEqual("".join(line["response"] for line in lines), whole["response"])
        self.assertRegex(whole["created_at"], r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$")

    def test_chat(self):
        body = {"model": "tiny:latest", "messages": [{"role": "user", "content": "Hello there"}], "options": {"num_predict": 6, "seed": 1}}
        lines = self.lines("/api/chat", body)
        self.check_end(lines[-1])
        text = "".join(line["message"]["content"] for line in lines)
        self.assertEqual(text, "".join(line["response"] for line in self.lines("/api/generate", ask())), "a prompt is a chat of one message")
        self.assertTrue(all(line["message"]["role"] == "assistant" for line in lines))
        both = self.server.post("/api/chat", {**body, "stream": False, "think": False, "format": "", "tools": []})
        self.assertEqual(both.status, 200, both.body)

    def test_raw_and_system(self):
        raw = self.server.post("/api/generate", ask(raw=True, stream=False)).json
        self.assertLess(raw["prompt_eval_count"], self.server.post("/api/generate", ask(stream=False)).json["prompt_eval_count"])
        self.assertEqual(self.server.post("/api/generate", ask(system="Be brief", stream=False)).status, 200)

    def test_load_and_unload(self):
        self.assertEqual(self.server.post("/api/generate", {"model": "tiny"}).json["done_reason"], "load")
        self.assertEqual([model["name"] for model in self.server.get("/api/ps").json["models"]], ["tiny"])
        self.assertEqual(self.server.post("/api/generate", {"model": "tiny", "keep_alive": 0}).json["done_reason"], "unload")
        self.assertEqual(self.server.get("/api/ps").json["models"], [])
        self.assertEqual(self.server.post("/api/chat", {"model": "tiny", "messages": []}).json["done_reason"], "load")
        answer = self.server.post("/api/generate", ask(stream=False, keep_alive="10ms"))
        self.assertEqual(answer.status, 200)
        self.server.until(lambda: self.server.get("/api/ps").json["models"] == [])
        self.assertEqual(self.server.post("/api/generate", ask(stream=False, keep_alive=-1)).status, 200)
        self.assertEqual(self.server.post("/api/generate", {"model": "tiny", "keep_alive": "1h30m"}).json["done_reason"], "load")
        expires = self.server.get("/api/ps").json["models"][0]["expires_at"]
        self.assertLess(abs(datetime.datetime.fromisoformat(expires[:19]) - datetime.datetime.utcnow() - datetime.timedelta(minutes=90)), datetime.timedelta(minutes=1))
        self.assertEqual(self.server.post("/api/generate", {"model": "tiny", "keep_alive": -1}).json["done_reason"], "load")

    def test_embed(self):
        body = self.server.post("/api/embed", {"model": "tiny", "input": ["Hello", "there"]}).json
        self.assertEqual(len(body["embeddings"]), 2)
        self.assertAlmostEqual(math.sqrt(sum(value * value for value in body["embeddings"][0])), 1, 4)
        self.assertEqual(self.server.post("/v1/embeddings", {"input": "Hello"}).json["data"][0]["embedding"], body["embeddings"][0])
        old = self.server.post("/api/embeddings", {"model": "tiny", "prompt": "Hello"}).json["embedding"]
        scale = math.sqrt(sum(value * value for value in old))
        self.assertAlmostEqual(old[0] / scale, body["embeddings"][0][0], 5)

    def test_inputs_that_do_not_fit_are_cut(self):
        context = self.server.get("/api/ps").json["models"][0]["context_length"]
        long = self.server.post("/api/embed", {"model": "tiny", "input": ["word " * 2000, "short"]}).json
        self.assertEqual(len(long["embeddings"]), 2)
        self.assertLessEqual(long["prompt_eval_count"], context + 10)
        tokens = self.server.post("/tokenize", {"content": "word " * 2000, "add_special": True}).json["tokens"]
        first = self.server.post("/api/embed", {"model": "tiny", "input": [tokens[:context]]}).json
        self.assertEqual(first["embeddings"][0], long["embeddings"][0], "the beginning is what counts")
        bound = self.server.post("/api/embed", {"model": "tiny", "input": ["word " * 50, list(range(30, 60))], "options": {"num_ctx": 16, "temperature": 0.5}}).json
        self.assertEqual(bound["prompt_eval_count"], 32)
        refused = self.server.post("/api/embed", {"model": "tiny", "input": "word " * 50, "truncate": False, "options": {"num_ctx": 16}})
        self.assertEqual(refused.status, 400)
        self.assertIn("the limit of 16", refused.error)
        self.assertEqual(self.server.post("/api/embeddings", {"model": "tiny", "prompt": "word " * 2000}).status, 200)

    def test_models(self):
        tag = self.server.get("/api/tags").json["models"][0]
        self.assertEqual((tag["name"], tag["details"]["format"]), ("tiny", "gguf"))
        self.assertGreater(tag["size"], 1000)
        shown = self.server.post("/api/show", {"model": "tiny"}).json
        self.assertEqual(shown["model_info"]["general.architecture"], "llama")
        self.assertIn("im_start", shown["template"])
        self.assertEqual((shown["details"]["family"], shown["details"]["quantization_level"]), ("llama", "Q8_0"))
        self.server.post("/models/unload", {"model": "tiny"})
        self.assertEqual(self.server.post("/api/show", {"model": "tiny"}).json["details"], shown["details"], "read from the file")
        self.server.post("/models/load", {"model": "tiny"})
        self.assertNotIn("thinking", shown["capabilities"])
        self.assertTrue(self.server.get("/api/version").json["version"])
        self.assertEqual(self.server.ask("HEAD", "/").status, 200)

    def test_refused(self):
        for path, body, text in [
                ("/api/generate", {"prompt": "x"}, "model is missing"), ("/api/generate", ask(model="none"), "none"),
                ("/api/generate", ask(images=["x"]), "images"), ("/api/generate", ask(format="json"), "format"), ("/api/generate", ask(suffix="x"), "suffix"),
                ("/api/generate", ask(template="x"), "template"), ("/api/generate", ask(context=[1]), "context"), ("/api/generate", ask(extra=1), "extra"),
                ("/api/generate", ask(keep_alive="soon"), "keep_alive"), ("/api/generate", ask(options={"num_gpu": 1}), "options.num_gpu"),
                ("/api/generate", ask(options={"num_ctx": 100000}), "options.num_ctx"), ("/api/generate", ask(options={"mirostat": 1}), "options.mirostat"),
                ("/api/generate", ask(options={"repeat_last_n": 64, "repeat_penalty": 1.1}), "repeat_last_n"), ("/api/generate", ask(options={"nonsense": 1}), "options.nonsense"),
                ("/api/generate", ask(options={"temperature": -1}), "options.temperature"), ("/api/generate", ask(raw=True, system="x"), "system"),
                ("/api/chat", {"model": "tiny", "messages": [{"role": "user", "content": "x", "images": ["y"]}]}, "messages[0].images"),
                ("/api/chat", {"model": "tiny", "messages": [{"role": "user", "content": "x"}], "tools": [{}]}, "tools"),
                ("/api/embed", {"model": "tiny", "input": "word " * 2000, "truncate": False}, "maximum context length"),
                ("/api/embed", {"model": "tiny", "input": "x", "options": {"num_ctx": 100000}}, "options.num_ctx"), ("/api/embed", {"model": "tiny", "input": "x", "dimensions": 8}, "dimensions"),
                ("/api/generate", ask(think=True), "\"tiny\" does not support thinking"), ("/api/blobs/sha256:00", {}, "gainz pull"), ("/api/pull", {"model": "x"}, "gainz pull"), ("/api/create", {}, "gainz pull")]:
            with self.subTest(path=path, body=body):
                answer = self.server.post(path, body)
                self.assertIn(answer.status, (400, 404), answer.body)
                self.assertIsInstance(answer.error, str)
                self.assertIn(text, answer.error)
        self.assertEqual(self.server.post("/api/generate", ask(stream=False, options={"num_ctx": 512, "num_predict": -1, "stop": ["e"], "top_k": 40, "repeat_last_n": -1})).status, 200)


class Reasoning(served.ServedTest):
    """A model whose template opens <think> unless it is told not to: all it says, as it never closes it, is reasoning."""
    template = ("{% for message in messages %}<|im_start|>{{ message.role }}\n{{ message.content }}<|im_end|>\n{% endfor %}"
                "<|im_start|>assistant\n{% if enable_thinking is not defined or enable_thinking %}<think>\n{% endif %}")

    def parts(self, path, **fields):
        """What was thought and what was said, whole and streamed."""
        body = {"model": "tiny", "options": {"num_predict": 8, "seed": 1}, **fields}
        chat = path == "/api/chat"
        body["messages" if chat else "prompt"] = [{"role": "user", "content": "Hello"}] if chat else "Hello"
        told = []
        for answers in ([self.server.post(path, {**body, "stream": False}).json], [json.loads(line) for line in self.server.stream(path, body)]):
            answers = [answer["message"] if chat else answer for answer in answers]
            told.append(("".join(answer.get("thinking", "") for answer in answers), "".join(answer["content" if chat else "response"] for answer in answers)))
        self.assertEqual(told[0], told[1])
        return told[0]

    def test_thinking_apart(self):
        for path in ("/api/chat", "/api/generate"):
            for fields in ({}, {"think": True}, {"think": "high"}):
                with self.subTest(path=path, fields=fields):
                    thought, said = self.parts(path, **fields)
                    self.assertTrue(thought)
                    self.assertEqual(said, "")
            thought, said = self.parts(path, think=False)
            self.assertEqual(thought, "")
            self.assertTrue(said)
        self.assertEqual(self.parts("/api/generate", raw=True)[0], "")

    def test_told(self):
        self.assertIn("thinking", self.server.post("/api/show", {"model": "tiny"}).json["capabilities"])


class ReasoningOnDemand(Reasoning):
    """One that opens nothing itself, but is told how hard to think and leaves earlier reasoning out."""
    template = "{% for message in messages %}{{ message.content.split('</think>')[-1] }}\n{% endfor %}{% if reasoning_effort is defined %}{{ reasoning_effort }}{% endif %}"

    def test_thinking_apart(self):
        for fields in ({"think": True}, {"think": "low"}, {}):
            thought, said = self.parts("/api/chat", **fields)
            self.assertEqual(thought, "")
            self.assertTrue(said)


if __name__ == "__main__":
    served.main()

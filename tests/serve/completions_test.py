"""Completions, embeddings and models of the OpenAI API on the wire."""
import base64
import math
import struct

import served

PATH = "/v1/completions"


class Models(served.ServedTest):
    def test_list(self):
        for path in ("/v1/models", "/v1//models"):
            body = self.server.get(path).json
            self.assertEqual(body["object"], "list")
            self.assertEqual(set(body["data"][0]), {"id", "object", "created", "owned_by"})
            self.assertEqual(body["data"][0]["id"], "tiny")
        self.assertEqual(self.server.get("/v1/models/tiny").json["id"], "tiny")
        self.assertEqual(self.server.get("/v1/models/none").error["code"], "model_not_found")
        self.refused(PATH, {"model": "gpt-4o", "prompt": "a"}, 404, "gpt-4o", "tiny", code="model_not_found")

    def test_any_token_is_taken_without_keys(self):
        self.assertEqual(self.server.get("/v1/models", authorization="Bearer anything").status, 200)


class Completions(served.ServedTest):
    def test_answer(self):
        body = self.server.post(PATH, {"prompt": "Hello", "seed": 1, "ignore_eos": True}).json
        self.assertEqual(body["object"], "text_completion")
        self.assertEqual(body["usage"]["completion_tokens"], 16, "the contract's default")

    def test_prompts(self):
        ids = self.server.post("/tokenize", {"content": "Hello"}).json["tokens"]
        expected = self.server.post(PATH, {"prompt": "Hello", "temperature": 0}).json["choices"][0]["text"]
        for prompt in (["Hello"], ids, [ids], ["Hello", "Hello"], [ids, ids]):
            for choice in self.server.post(PATH, {"prompt": prompt, "temperature": 0}).json["choices"]:
                self.assertEqual(choice["text"], expected)
        several = self.server.post(PATH, {"prompt": ["a", "b"], "n": 2, "seed": 1}).json["choices"]
        self.assertEqual([choice["index"] for choice in several], [0, 1, 2, 3])

    def test_legacy_logprobs_and_echo(self):
        body = self.server.post(PATH, {"prompt": "Hello there", "max_tokens": 3, "logprobs": 2, "echo": True, "ignore_eos": True, "temperature": 0}).json
        choice = body["choices"][0]
        lists = choice["logprobs"]
        self.assertEqual(len({len(lists[name]) for name in ("tokens", "token_logprobs", "top_logprobs", "text_offset")}), 1)
        self.assertEqual(len(lists["tokens"]), body["usage"]["prompt_tokens"] + 3)
        self.assertIsNone(lists["token_logprobs"][0])
        self.assertIsNone(lists["top_logprobs"][0])
        self.assertTrue(choice["text"].startswith("Hello there"))
        self.assertEqual(lists["text_offset"][0], 0)
        self.assertTrue(all(isinstance(value, float) and value <= 0 for value in lists["token_logprobs"][1:]))
        self.assertEqual(lists["text_offset"], sorted(lists["text_offset"]))

    def test_legacy_logprobs_of_parts_of_characters(self):
        """Offsets count characters; what is no text by itself is written as bytes."""
        ask = {"prompt": "H\u00e9llo \u4f60\u597d", "max_tokens": 6, "logprobs": 3, "echo": True, "ignore_eos": True, "seed": 4}
        choice = self.server.post(PATH, ask).json["choices"][0]
        lists = choice["logprobs"]
        self.assertIn("bytes:\\xe4", lists["tokens"])
        for token, offset in zip(lists["tokens"], lists["text_offset"], strict=True):
            if not token.startswith("bytes:"):
                self.assertEqual(choice["text"][offset:offset + len(token)], token)
        self.assertTrue(all(len(top) == 3 for top in lists["top_logprobs"][1:]), "none is lost")
        chunks = self.server.events(PATH, {**ask, "stream": True})
        self.assertEqual("".join(chunk["choices"][0]["text"] for chunk in chunks), choice["text"])
        for name, whole in lists.items():
            self.assertEqual([item for chunk in chunks for item in chunk["choices"][0]["logprobs"][name]], whole, name)
        self.assertLessEqual(len(chunks), 8, "the prompt comes with the first token")

    def test_scores_of_a_prompt_alone(self):
        body = self.server.post(PATH, {"prompt": "Hello there", "max_tokens": 0, "logprobs": 0, "echo": True}).json
        self.assertEqual((body["choices"][0]["text"], body["usage"]["completion_tokens"]), ("Hello there", 0))
        self.assertEqual(len(body["choices"][0]["logprobs"]["token_logprobs"]), body["usage"]["prompt_tokens"])

    def test_refused(self):
        for fields, param in (({}, "prompt"), ({"prompt": []}, "prompt"), ({"prompt": 7}, "prompt"), ({"prompt": ["a", 7]}, "prompt[1]"), ({"prompt": [1, "a"]}, "prompt[1]"),
                              ({"prompt": "a", "suffix": "b"}, "suffix"), ({"prompt": "a", "best_of": 2}, "best_of"), ({"prompt": ["a"] * 17}, "prompt"),
                              ({"prompt": ["a"] * 9, "n": 2}, "n"), ({"prompt": [[]]}, "prompt[0]")):
            with self.subTest(fields):
                self.refused(PATH, fields, 400, param=param)


class Embeddings(served.ServedTest):
    def test_forms(self):
        one = self.server.post("/v1/embeddings", {"input": "Hello"}).json
        vector = one["data"][0]["embedding"]
        self.assertAlmostEqual(math.sqrt(sum(value * value for value in vector)), 1, 4)
        coded = self.server.post("/v1/embeddings", {"input": ["Hello", "there"], "encoding_format": "base64"}).json
        self.assertEqual([item["index"] for item in coded["data"]], [0, 1])
        raw = base64.b64decode(coded["data"][0]["embedding"])
        for a, b in zip(struct.unpack(f"<{len(raw) // 4}f", raw), vector, strict=True):
            self.assertAlmostEqual(a, b, 5)
        ids = self.server.post("/tokenize", {"content": "Hello"}).json["tokens"]
        self.assertEqual(self.server.post("/v1/embeddings", {"input": ids}).json["data"][0]["embedding"], vector)
        self.assertEqual(one["usage"]["prompt_tokens"], len(ids))
        self.assertNotEqual(self.server.post("/v1/embeddings", {"input": "Hello there", "pooling": "last"}).json["data"][0]["embedding"],
                            self.server.post("/v1/embeddings", {"input": "Hello there"}).json["data"][0]["embedding"])
        self.assertEqual(len(self.server.post("/v1/embeddings", {"input": ["x"] * 40}).json["data"]), 40)

    def test_refused(self):
        for fields, param in (({}, "input"), ({"input": ""}, "input"), ({"input": ["a", ""]}, "input[1]"), ({"input": "a", "dimensions": 3}, "dimensions"),
                              ({"input": "a", "encoding_format": "hex"}, "encoding_format"), ({"input": "a", "extra": 1}, "extra"), ({"input": ["x"] * 2049}, "input")):
            with self.subTest(fields):
                self.refused("/v1/embeddings", fields, 400, param=param)


if __name__ == "__main__":
    served.main()

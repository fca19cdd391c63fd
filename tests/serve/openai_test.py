"""Chats of the OpenAI API on the wire: what clients depend on, field by field."""
import json
import socket

import served

CHAT = "/v1/chat/completions"


def chat(text="Hello there", **fields):
    return {"model": "tiny", "messages": [{"role": "user", "content": text}], "max_tokens": 8, **fields}


class Chat(served.ServedTest):
    def test_answer(self):
        answer = self.server.post(CHAT, chat(seed=1))
        self.assertEqual(answer.status, 200, answer.body)
        body = answer.json
        self.assertEqual(set(body), {"id", "object", "created", "model", "system_fingerprint", "choices", "usage"})
        self.assertEqual((body["object"], body["model"]), ("chat.completion", "tiny"))
        self.assertTrue(body["id"].startswith("chatcmpl-"))
        choice = body["choices"][0]
        self.assertEqual((choice["index"], choice["message"]["role"], choice["message"]["refusal"]), (0, "assistant", None))
        self.assertIn(choice["finish_reason"], ("stop", "length"))
        usage = body["usage"]
        self.assertEqual(usage["total_tokens"], usage["prompt_tokens"] + usage["completion_tokens"])
        self.assertIn("cached_tokens", usage["prompt_tokens_details"])
        self.assertIn("reasoning_tokens", usage["completion_tokens_details"])
        self.assertEqual(answer.headers["content-type"], "application/json")

    def test_stream_is_the_answer_in_pieces(self):
        whole = self.server.post(CHAT, chat(seed=5, ignore_eos=True)).json
        chunks = self.server.events(CHAT, chat(seed=5, ignore_eos=True, stream=True))
        self.assertTrue(self.server.stream_type.startswith("text/event-stream"))
        for name in ("id", "created", "model", "object"):
            self.assertEqual(len({chunk[name] for chunk in chunks}), 1, name)
        self.assertEqual(chunks[0]["object"], "chat.completion.chunk")
        self.assertEqual(chunks[0]["choices"][0]["delta"]["role"], "assistant")
        self.assertFalse(any("role" in chunk["choices"][0]["delta"] for chunk in chunks[1:]))
        text = "".join(chunk["choices"][0]["delta"].get("content", "") for chunk in chunks)
        self.assertEqual(text, whole["choices"][0]["message"]["content"])
        self.assertTrue(all(chunk["choices"][0]["finish_reason"] is None for chunk in chunks[:-1]))
        self.assertEqual((chunks[-1]["choices"][0]["finish_reason"], chunks[-1]["choices"][0]["delta"]), ("length", {}))
        self.assertFalse(any("usage" in chunk for chunk in chunks), "never unasked")

    def test_usage_of_a_stream_when_asked(self):
        chunks = self.server.events(CHAT, chat(stream=True, stream_options={"include_usage": True}, ignore_eos=True))
        self.assertTrue(all(chunk["usage"] is None for chunk in chunks[:-1]))
        self.assertEqual(chunks[-1]["choices"], [])
        self.assertEqual(chunks[-1]["usage"]["completion_tokens"], 8)

    def test_a_prediction_changes_when_and_never_what(self):
        ask = chat(seed=3, temperature=0, ignore_eos=True, max_tokens=120, cache_salt="prediction")
        plain = self.server.post(CHAT, {**ask, "speculation": "off"}).json
        text = plain["choices"][0]["message"]["content"]
        self.assertEqual(plain["usage"]["completion_tokens_details"]["accepted_prediction_tokens"], 0)
        for content in (text, [{"type": "text", "text": text[:20]}, {"type": "text", "text": text[20:]}], "nothing like it", ""):
            answer = self.server.post(CHAT, {**ask, "prediction": {"type": "content", "content": content},
                                             "speculation": {"kinds": ["prediction"]}}).json
            self.assertEqual(answer["choices"], plain["choices"], content)
            details = answer["usage"]["completion_tokens_details"]
            self.assertLessEqual(details["accepted_prediction_tokens"] + 1, answer["usage"]["completion_tokens"])
            if content == "":
                self.assertEqual((details["accepted_prediction_tokens"], details["rejected_prediction_tokens"]), (0, 0))
        self.assertIn('gainz_drafted_tokens_total{kind="', self.server.get("/metrics").body.decode())

    def test_stream_false_is_one_object(self):
        self.assertEqual(self.server.post(CHAT, chat(stream=False)).headers["content-type"], "application/json")

    def test_choices(self):
        body = self.server.post(CHAT, chat(n=3, seed=7, ignore_eos=True, temperature=2)).json
        self.assertEqual([choice["index"] for choice in body["choices"]], [0, 1, 2])
        self.assertEqual(len({choice["message"]["content"] for choice in body["choices"]}), 3)
        self.assertEqual(body["usage"]["completion_tokens"], 24)
        one = self.server.post(CHAT, chat(seed=7, ignore_eos=True, temperature=2)).json
        self.assertEqual(body["choices"][0]["message"]["content"], one["choices"][0]["message"]["content"])
        self.assertEqual(body["usage"]["prompt_tokens"], one["usage"]["prompt_tokens"], "the prompt counts once")
        chunks = self.server.events(CHAT, chat(n=2, seed=7, ignore_eos=True, temperature=2, stream=True))
        for index in range(2):
            deltas = [c["choices"][0]["delta"] for c in chunks if c["choices"][0]["index"] == index]
            self.assertEqual("".join(delta.get("content", "") for delta in deltas), body["choices"][index]["message"]["content"])

    def test_seed(self):
        texts = {self.server.post(CHAT, chat(seed=11)).json["choices"][0]["message"]["content"] for _ in range(3)}
        self.assertEqual(len(texts), 1)

    def test_max_completion_tokens_wins(self):
        for limit, name in ((3, "max_completion_tokens"), (5, "max_tokens")):
            fields = {"max_tokens": 5, "ignore_eos": True, name: limit}
            self.assertEqual(self.server.post(CHAT, chat(**fields)).json["usage"]["completion_tokens"], limit)
        none = self.server.post(CHAT, chat(max_tokens=0)).json
        self.assertEqual((none["usage"]["completion_tokens"], none["choices"][0]["message"]["content"]), (0, ""))
        self.assertEqual(none["choices"][0]["finish_reason"], "length")

    def test_logprobs(self):
        body = self.server.post(CHAT, chat(logprobs=True, top_logprobs=3, ignore_eos=True, temperature=0)).json
        entries = body["choices"][0]["logprobs"]["content"]
        self.assertIsNone(body["choices"][0]["logprobs"]["refusal"])
        self.assertEqual(len(entries), 8)
        for entry in entries:
            self.assertEqual(set(entry), {"token", "logprob", "bytes", "top_logprobs"})
            self.assertEqual(len(entry["top_logprobs"]), 3)
            self.assertEqual(entry["top_logprobs"][0]["logprob"], entry["logprob"], "greedy takes the best")
            self.assertEqual(bytes(entry["bytes"]).decode(errors="replace"), entry["token"])
        raw = b"".join(bytes(entry["bytes"]) for entry in entries)
        self.assertEqual(raw.decode(errors="replace").rstrip("\ufffd"), body["choices"][0]["message"]["content"].rstrip("\ufffd"))
        none = self.server.post(CHAT, chat(logprobs=True)).json["choices"][0]["logprobs"]["content"]
        self.assertEqual(none[0]["top_logprobs"], [])
        streamed = self.server.events(CHAT, chat(logprobs=True, top_logprobs=3, ignore_eos=True, temperature=0, stream=True))
        pieces = [e for chunk in streamed for e in (chunk["choices"][0]["logprobs"] or {}).get("content", [])]
        self.assertEqual(pieces, entries)

    def test_stop(self):
        whole = self.server.post(CHAT, chat(seed=3, max_tokens=24, ignore_eos=True)).json["choices"][0]["message"]["content"]
        needle = whole[8:11]
        for stop in (needle, [needle], ["never to be seen", needle]):
            for stream in (False, True):
                body = chat(seed=3, max_tokens=24, ignore_eos=True, stop=stop, stream=stream)
                if stream:
                    chunks = self.server.events(CHAT, body)
                    text = "".join(c["choices"][0]["delta"].get("content", "") for c in chunks)
                    reason = chunks[-1]["choices"][0]["finish_reason"]
                else:
                    choice = self.server.post(CHAT, body).json["choices"][0]
                    text, reason = choice["message"]["content"], choice["finish_reason"]
                self.assertEqual((text, reason), (whole[:whole.index(needle)], "stop"))

    def test_logit_bias(self):
        forced = self.server.post(CHAT, chat(logit_bias={"70": 1e6}, temperature=1)).json
        self.assertEqual(len(set(forced["choices"][0]["message"]["content"])), 1)

    def test_message_forms(self):
        plain = self.server.post(CHAT, chat("a\nb", temperature=0)).json
        parts = {"role": "user", "content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]}
        self.assertEqual(self.server.post(CHAT, chat(messages=[parts], temperature=0)).json["choices"], plain["choices"])
        system = self.server.post(CHAT, chat(messages=[{"role": "system", "content": "s"}, {"role": "user", "content": "u"}], temperature=0)).json
        developer = self.server.post(CHAT, chat(messages=[{"role": "developer", "content": "s"}, {"role": "user", "content": "u"}], temperature=0)).json
        self.assertEqual(system["choices"], developer["choices"])
        history = [{"role": "user", "content": "u"}, {"role": "assistant", "content": None, "tool_calls": [], "refusal": None, "audio": None},
                   {"role": "user", "content": "v", "name": "ann"}]
        self.assertEqual(self.server.post(CHAT, chat(messages=history)).status, 200)

    def test_fields_without_effect(self):
        fields = {"user": "me", "metadata": {"a": "b"}, "store": True, "service_tier": "auto"}
        self.assertEqual(self.server.post(CHAT, chat(**fields, temperature=0)).json["choices"], self.server.post(CHAT, chat(temperature=0)).json["choices"])

    def test_fields_that_are_off(self):
        fields = {"response_format": {"type": "text"}, "tools": [], "tool_choice": "none", "modalities": ["text"], "n": None, "stop": None, "seed": None,
                  "logit_bias": {}, "stream_options": None}
        self.assertEqual(self.server.post(CHAT, chat(**fields)).status, 200)

    def test_refused_by_name(self):
        tool = {"type": "function", "function": {"name": "f", "parameters": {}}}
        for fields, param in [
                ({"response_format": {"type": "json_object"}}, "response_format.type"), ({"tools": [tool]}, "tools"), ({"tool_choice": "required"}, "tool_choice"),
                ({"functions": [{}]}, "functions"), ({"audio": {}}, "audio"), ({"prediction": {}}, "prediction.content"), ({"prediction": {"type": "x", "content": ""}}, "prediction.type"), ({"prediction": {"type": "content", "content": 5}}, "prediction.content"), ({"speculation": "fast"}, "speculation"), ({"speculation": {"kinds": ["noise"]}}, "speculation"), ({"speculation": {"depth": 4}}, "speculation.depth"), ({"speculation": {"max_depth": 17}}, "speculation.max_depth"), ({"frobnicate": 1}, "frobnicate"),
                ({"stream_options": {"include_usage": True}}, "stream_options"), ({"top_logprobs": 2}, "top_logprobs"),
                ({"logprobs": True, "top_logprobs": 21}, "top_logprobs"), ({"guided_json": {}}, "guided_json")]:
            with self.subTest(fields):
                self.refused(CHAT, chat(**fields), 400, param=param)
        for content in ([{"type": "image_url", "image_url": {"url": "data:image/png;base64,"}}], [{"type": "input_audio"}], 7, None, [{"text": "x"}]):
            with self.subTest(content):
                self.refused(CHAT, chat(messages=[{"role": "user", "content": content}]), 400, "messages[0].content")
        for message in ({"role": "tool", "content": "x"}, {"role": "wizard", "content": "x"}, {"content": "x"}, "x", {"role": "user", "content": "x", "extra": 1},
                        {"role": "assistant", "content": "x", "tool_calls": [tool]}):
            with self.subTest(message):
                self.refused(CHAT, chat(messages=[message]), 400, "messages[0]")
        self.refused(CHAT, {"max_tokens": 1}, 400, "messages is missing", param="messages")
        self.refused(CHAT, chat(messages=[]), 400, "at least one", param="messages")
        self.assertEqual(self.server.post(CHAT, chat()).status, 200)

    def test_pb22_values(self):
        good = {"temperature": (0, 1e6), "top_p": (0, 1), "min_p": (0, 1), "top_k": (0, 1), "repetition_penalty": (0.001, 1000), "n": (1,),
                "presence_penalty": (-2, 2), "frequency_penalty": (-2, 2), "min_tokens": (0, 2), "seed": (0, -1, 2**63), "max_tokens": (1,)}
        bad = {"temperature": (-1, 1e400, "1", True), "top_p": (-0.1, 1.1, "x"), "min_p": (2, -1), "top_k": (-2, 2**31, 1.5), "repetition_penalty": (0, -1, 1e6),
               "n": (0, 17, "2"), "presence_penalty": (1e7,), "frequency_penalty": ("x",), "min_tokens": (-1,), "seed": (1.5, "x", 2**64),
               "max_tokens": (-1, 2**31, "8", 1.5, True), "stop": ([""], 5, ["a", 1]), "stream": ("yes", 1), "logprobs": (1,), "priority": (1, 1.5),
               "ignore_eos": (1,), "logit_bias": ({"x": 1}, {"1": "a"}, [1], {"-1": 1}), "stop_token_ids": ([-1], ["a"], [2**31]), "timeout_ms": (0, -5)}
        for name, values in good.items():
            for value in values:
                with self.subTest(name=name, value=value):
                    self.assertEqual(self.server.post(CHAT, chat(**{name: value})).status, 200)
        for name, values in bad.items():
            for value in values:
                with self.subTest(name=name, value=value):
                    text = json.dumps(chat(**{name: value})).replace("Infinity", "1e400")
                    answer = self.server.post(CHAT, text)
                    self.assertEqual(answer.status, 400, answer.body)
                    self.assertIn(name, answer.error["message"])
        for field in ({"logit_bias": {"320": 1}}, {"stop_token_ids": [320]}):  # beyond the vocabulary
            self.refused(CHAT, chat(**field), 400, "320", param=list(field)[0])
        self.assertEqual(self.server.post("/v1/completions", {"prompt": [1, 320]}).status, 400)
        greedy = self.server.post(CHAT, chat(temperature=0)).json["choices"]
        for field in ({"top_p": 0}, {"top_k": 1}):
            self.assertEqual(self.server.post(CHAT, chat(**field)).json["choices"], greedy)

    def test_pb12_context(self):
        for stream in (False, True):
            self.refused(CHAT, chat("word " * 2000, stream=stream), 400, "maximum context length", "512", param="messages", code="context_length_exceeded")
        for path, name in (("/v1/completions", "prompt"), ("/v1/embeddings", "input"), ("/v1/responses", "input")):
            self.refused(path, {name: "word " * 2000}, 400, "maximum context length", param=name, code="context_length_exceeded")
        self.refused("/v1/completions", {"prompt": ""}, 400, "empty", param="prompt")

    def test_pb02_bytes_that_are_no_utf8(self):
        for piece in (b"\x80", b"\xe2\x82", b"\xf0\x9f\x98", b"\xc0\xaf", b"\xed\xa0\x80"):
            answer = self.server.post(CHAT, b'{"messages":[{"role":"user","content":"' + piece + b'"}]}')
            self.assertEqual(answer.status, 400)
            answer.body.decode("utf-8", errors="strict")
        self.assertEqual(self.server.post(CHAT, chat("a\0b")).status, 200)

    def test_pb07_streams_hold_whole_characters(self):
        for limit in range(1, 9):
            chunks = self.server.events("/v1/completions", {"prompt": "x", "max_tokens": limit, "seed": 2, "stream": True, "ignore_eos": True})
            streamed = "".join(chunk["choices"][0]["text"] for chunk in chunks)
            whole = self.server.post("/v1/completions", {"prompt": "x", "max_tokens": limit, "seed": 2, "ignore_eos": True}).json
            self.assertEqual(streamed, whole["choices"][0]["text"])

    def test_names_that_come_twice(self):
        self.refused(CHAT, '{"messages":[{"role":"user","content":"a","content":"b"}]}', 400, "twice", param="messages[0].content")
        self.refused(CHAT, '{"messages":[{"role":"user","content":"a"}],"max_tokens":1,"max_tokens":2}', 400, "twice", param="max_tokens")

    def test_content_types(self):
        text = json.dumps(chat(max_tokens=1))
        for kind, status in (("application/json", 200), ("application/json; charset=utf-8", 200), ("application/x-www-form-urlencoded", 200), ("text/plain", 200),
                             ("multipart/form-data; boundary=x", 415), ("application/xml", 415), ("application/json; charset=latin1", 415)):
            with self.subTest(kind):
                answer = self.server.post(CHAT, text, {"content-type": kind})
                self.assertEqual(answer.status, status, answer.body)
                if status == 415:
                    self.assertEqual(answer.error["code"], "unsupported_media_type")
        with socket.create_connection((self.server.host, self.server.port), 30) as raw:  # as without any
            raw.sendall(b"POST %s HTTP/1.1\r\nHost: t\r\nConnection: close\r\nContent-Length: %d\r\n\r\n%s" % (CHAT.encode(), len(text), text.encode()))
            self.assertIn(b" 200 ", raw.recv(65536))

    def test_long_texts_are_not_sent_back(self):
        for fields in ({"messages": [{"role": "r" * 100000, "content": "x"}]}, {"model": "m" * 100000}, {"logit_bias": {"x" * 100000: 1}}, {"f" * 100000: 1},
                       {"response_format": {"type": "t" * 100000}}):
            answer = self.server.post(CHAT, chat(**fields))
            self.assertIn(answer.status, (400, 404))
            self.assertLess(len(answer.body), 1000)

    def test_pb27_depth(self):
        for depth in (100, 10000, 1000000):
            for body in ('{"messages":' + "[" * depth + "]" * depth + "}", '{"x":' + '{"a":' * depth + "1" + "}" * depth + "}", "[" * depth):
                answer = self.server.post(CHAT, body)
                self.assertEqual(answer.status, 400)
                self.assertIn("deeper than the limit of 64", answer.error["message"])

    def test_bodies_that_are_no_request(self):
        for body in ("", "{", "[]", "7", '"x"', "null", '{"a":1}}', "{'a':1}", '{"messages":1e999}'):
            with self.subTest(body):
                self.assertEqual(self.server.post(CHAT, body).status, 400)

    def test_text_of_users_never_becomes_control_tokens(self):
        plain = self.server.post("/apply-template", {"messages": [{"role": "user", "content": "x"}]}).json["prompt"]
        self.assertIn("<|im_start|>", plain)
        short = self.server.post(CHAT, chat("ab", max_tokens=1)).json["usage"]["prompt_tokens"]
        spelled = self.server.post(CHAT, chat("ab<|im_end|>", max_tokens=1)).json["usage"]["prompt_tokens"]
        self.assertGreater(spelled, short + 1)

    def test_cached_tokens_and_salt(self):
        text = "the same long beginning " * 6
        first = self.server.post(CHAT, chat(text, max_tokens=1)).json["usage"]["prompt_tokens_details"]["cached_tokens"]
        second = self.server.post(CHAT, chat(text, max_tokens=1)).json["usage"]["prompt_tokens_details"]["cached_tokens"]
        salted = self.server.post(CHAT, chat(text, max_tokens=1, cache_salt="other")).json["usage"]["prompt_tokens_details"]["cached_tokens"]
        self.assertGreater(second, first)
        self.assertEqual(salted, 0)


class Exact(served.ServedTest):
    options = ("--prefill", "exact")

    def test_fingerprint(self):
        """What computes prompts otherwise may say something else."""
        self.assertTrue(self.server.post(CHAT, chat(max_tokens=1)).json["system_fingerprint"].endswith("-exact"))


if __name__ == "__main__":
    served.main()

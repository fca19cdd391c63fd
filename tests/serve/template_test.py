"""What chat templates and end tokens do on the wire: refusals, empty forms, runaways, several ends."""
import time
import unittest

import served

CHAT = "/v1/chat/completions"
ALTERNATING = ("{% for message in messages %}{% if (message.role == 'user') != (loop.index0 % 2 == 0) %}{{ raise_exception('roles must alternate') }}"
               "{% endif %}[{{ message.role }}]{{ message.content }}{% endfor %}")


def chat(*messages, **fields):
    return {"messages": [{"role": role, "content": content} for role, content in messages], "max_tokens": 2, **fields}


class Refusing(served.ServedTest):
    template = ALTERNATING

    def test_pb11_a_templates_refusal_is_a_400_with_its_sentence(self):
        for stream in (False, True):
            self.refused(CHAT, chat(("user", "a"), ("user", "b"), stream=stream), 400, "roles must alternate")
        self.assertEqual(self.server.post(CHAT, chat(("user", "a"), ("assistant", "b"), ("user", "c"))).status, 200)

    def test_pb11_null_and_empty_forms(self):
        body = chat(("user", "a"), ("assistant", None), ("user", "c"))
        body["messages"][1]["tool_calls"] = []
        self.assertEqual(self.server.post(CHAT, body).status, 200)
        rendered = self.server.post("/apply-template", {"messages": body["messages"]}).json["prompt"]
        self.assertEqual(rendered, "[user]a[assistant][user]c")
        parts = {"messages": [{"role": "user", "content": [{"type": "text", "text": "x"}]}]}
        self.assertEqual(self.server.post("/apply-template", parts).json["prompt"], "[user]x")


class Runaway(served.ServedTest):
    template = "{% for i in range(90000) %}{% for j in range(90000) %}x{% endfor %}{% endfor %}"

    def test_pb11_a_runaway_template_is_cut_off(self):
        begin = time.monotonic()
        answer = self.server.post(CHAT, chat(("user", "a")))
        self.assertEqual(answer.status, 400, answer.body)
        self.assertIn("more than", answer.error["message"])  # names the limit that was crossed
        self.assertLess(time.monotonic() - begin, 30)
        self.assertEqual(self.server.get("/health").status, 200)


class Missing(served.ServedTest):
    template = "{{ messages[0].nothing.at.all }}"

    def test_pb11_a_missing_key_is_a_400(self):
        self.refused(CHAT, chat(("user", "a")), 400)
        self.assertEqual(self.server.post("/generate", {"prompt": "x", "max_tokens": 1}).status, 200)


class Ends(served.ServedTest):
    """The tiny model has two end tokens: end of text (0) and end of turn (2)."""

    def test_pb09_each_end_token_stops_and_never_shows(self):
        for end in ("0", "2"):
            for path, body in ((CHAT, chat(("user", "a"))), ("/v1/completions", {"prompt": "a"})):
                answer = self.server.post(path, {**body, "max_tokens": 8, "logit_bias": {end: 1000}}).json
                choice = answer["choices"][0]
                text = choice["text"] if "text" in choice else choice["message"]["content"]
                self.assertEqual((choice["finish_reason"], text), ("stop", ""), (end, path))

    def test_pb09_ignore_eos_goes_on(self):
        answer = self.server.post(CHAT, chat(("user", "a"), **{"max_tokens": 32, "ignore_eos": True, "logit_bias": {"0": 50, "2": 50}})).json
        self.assertEqual((answer["usage"]["completion_tokens"], answer["choices"][0]["finish_reason"]), (32, "length"))
        least = self.server.post(CHAT, chat(("user", "a"), **{"max_tokens": 8, "min_tokens": 5, "logit_bias": {"0": 1000}})).json
        self.assertEqual(least["usage"]["completion_tokens"], 6)


if __name__ == "__main__":
    served.main()

"""Reasoning in chats, on the wire: apart from the answer, by the name that the configuration gives it."""
import served

CHAT = "/v1/chat/completions"


def chat(text="Hello there", **fields):
    return {"model": "tiny", "messages": [{"role": "user", "content": text}], "max_tokens": 8, **fields}


class Reasoning(served.ServedTest):
    """A template that opens <think> unless told not to. The model does not close it, so all it says is reasoning."""
    template = ("{% for message in messages %}{{ message.content }}\n{% if message.reasoning_content %}({{ message.reasoning_content }}){% endif %}{% endfor %}"
                "{% if enable_thinking is not defined or enable_thinking %}<think>\n{% endif %}")

    def test_apart(self):
        ask = chat(ignore_eos=True, seed=1)
        body = self.server.post(CHAT, ask).json
        message = body["choices"][0]["message"]
        self.assertTrue(message["reasoning_content"])
        self.assertEqual((message["content"], body["usage"]["completion_tokens_details"]["reasoning_tokens"]), ("", 8))
        chunks = self.server.events(CHAT, {**ask, "stream": True})
        deltas = [chunk["choices"][0]["delta"] for chunk in chunks]
        self.assertEqual("".join(delta.get("reasoning_content", "") for delta in deltas), message["reasoning_content"])
        self.assertFalse(any(delta.get("content") for delta in deltas))
        self.assertEqual(deltas[0]["role"], "assistant")

    def test_told_not_to(self):
        for fields in ({"chat_template_kwargs": {"enable_thinking": False}}, {"reasoning_effort": "none"}):
            message = self.server.post(CHAT, chat(ignore_eos=True, seed=1, **fields)).json["choices"][0]["message"]
            self.assertNotIn("reasoning_content", message)
            self.assertTrue(message["content"])

    def test_earlier_reasoning_reaches_the_template(self):
        def num_tokens(**fields):
            history = [{"role": "user", "content": "a"}, {"role": "assistant", "content": "b", **fields}, {"role": "user", "content": "c"}]
            return self.server.post(CHAT, chat(messages=history, max_tokens=1)).json["usage"]["prompt_tokens"]
        self.assertGreater(num_tokens(reasoning_content="because"), num_tokens())
        self.assertEqual(num_tokens(reasoning_content="because"), num_tokens(reasoning="because"))


class ReasoningByAnotherName(served.ServedTest):
    template, config = "<think>", "[server]\nreasoning_field = \"reasoning\"\n"

    def test_name(self):
        ask = chat(ignore_eos=True, seed=1)
        message = self.server.post(CHAT, ask).json["choices"][0]["message"]
        self.assertTrue(message["reasoning"])
        self.assertNotIn("reasoning_content", message)
        deltas = [chunk["choices"][0]["delta"] for chunk in self.server.events(CHAT, {**ask, "stream": True})]
        self.assertEqual("".join(delta.get("reasoning", "") for delta in deltas), message["reasoning"])


if __name__ == "__main__":
    served.main()

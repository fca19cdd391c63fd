"""/v1/responses on the wire: the object, its events in their order, reasoning, failures, refusals."""
import json
import unittest

import served

PATH = "/v1/responses"


def events_of(lines):
    """The events; their names are those of their types, and their numbers count up."""
    names = [line[7:] for line in lines if line.startswith("event: ")]
    events = [json.loads(line[6:]) for line in lines if line.startswith("data: ")]
    assert names == [event["type"] for event in events], names
    assert [event["sequence_number"] for event in events] == list(range(len(events)))
    return events


class Responses(served.ServedTest):
    def test_answer(self):
        body = self.server.post(PATH, {"input": "Hello", "max_output_tokens": 4, "ignore_eos": True, "seed": 1}).json
        self.assertEqual((body["object"], body["status"]), ("response", "incomplete"))
        self.assertEqual(body["incomplete_details"], {"reason": "max_output_tokens"})
        message = body["output"][0]
        self.assertEqual((message["type"], message["role"]), ("message", "assistant"))
        self.assertEqual(body["usage"]["output_tokens"], 4)
        chat = self.server.post("/v1/chat/completions", {"messages": [{"role": "user", "content": "Hello"}], "max_tokens": 4, "ignore_eos": True, "seed": 1}).json
        chat_text = chat["choices"][0]["message"]["content"]
        self.assertEqual(message["content"][0]["text"], chat_text)

    def test_stream(self):
        lines = self.server.stream(PATH, {"input": [{"role": "user", "content": [{"type": "input_text", "text": "Hello"}]}], "instructions": "Be brief",
                                                     "max_output_tokens": 4, "ignore_eos": True, "seed": 1, "stream": True})
        names = [line[7:] for line in lines if line.startswith("event: ")]
        events = [json.loads(line[6:]) for line in lines if line.startswith("data: ")]
        self.assertEqual(names, [event["type"] for event in events])
        self.assertEqual([event["sequence_number"] for event in events], list(range(len(events))))
        self.assertEqual(names[:4], ["response.created", "response.in_progress", "response.output_item.added", "response.content_part.added"])
        self.assertEqual(names[-4:], ["response.output_text.done", "response.content_part.done", "response.output_item.done", "response.incomplete"])
        text = "".join(event["delta"] for event in events if event["type"] == "response.output_text.delta")
        self.assertEqual(events[-1]["response"]["output"][0]["content"][0]["text"], text)

    def test_refused(self):
        for fields, param in (({}, "input"), ({"input": "a", "previous_response_id": "x"}, "previous_response_id"), ({"input": "a", "tools": [{}]}, "tools"),
                              ({"input": "a", "background": True}, "background"), ({"input": [{"type": "function_call"}]}, "input[0].type"),
                              ({"input": "a", "text": {"format": {"type": "json_schema"}}}, "text.format.type"), ({"input": "a", "extra": 1}, "extra")):
            with self.subTest(fields):
                self.refused(PATH, fields, 400, param=param)


    def test_a_short_answer_begins_like_any(self):
        for limit in (0, 1):
            events = events_of(self.server.stream(PATH, {"input": "x", "max_output_tokens": limit, "ignore_eos": True, "stream": True}))
            for event in events[:2]:
                self.assertEqual((event["response"]["status"], event["response"]["output"], event["response"]["usage"]), ("in_progress", [], None))
            self.assertEqual((events[-1]["type"], events[-1]["response"]["usage"]["output_tokens"]), ("response.incomplete", limit))

    def timed_out(self):
        """The events of a response that ran out of time after it had begun. How much time that takes depends on the machine."""
        for timeout in (10, 20, 40, 80, 160, 320):
            answer = self.server.post(PATH, {"input": "x", "max_output_tokens": 480, "ignore_eos": True, "timeout_ms": timeout, "stream": True})
            if answer.status == 200:
                return events_of(answer.body.decode().splitlines())
            self.assertEqual((answer.status, answer.error["code"]), (504, "timeout"))
        raise AssertionError("no response began")

    def test_a_failure_is_the_last_event(self):
        self.refused(PATH, {"input": "x", "max_output_tokens": 480, "ignore_eos": True, "timeout_ms": 10}, 504, "time limit", code="timeout")
        events = self.timed_out()
        last = events[-1]
        self.assertEqual((last["type"], last["response"]["status"], last["response"]["error"]["code"]), ("response.failed", "failed", "timeout"))
        told = "".join(event["delta"] for event in events if event["type"] == "response.output_text.delta")
        self.assertEqual("".join(part["text"] for item in last["response"]["output"] for part in item["content"]), told)

    def test_an_answer_is_sent_back(self):
        first = self.server.post(PATH, {"input": "Hello", "max_output_tokens": 4, "temperature": 0, "ignore_eos": True}).json
        text = first["output"][0]["content"][0]["text"]
        items = [{"role": "user", "content": "Hello"}, *first["output"], {"role": "user", "content": "And?"}]
        again = self.server.post(PATH, {"input": items, "max_output_tokens": 4, "temperature": 0, "ignore_eos": True}).json
        chat = self.server.post("/v1/chat/completions", {"messages": [{"role": "user", "content": "Hello"}, {"role": "assistant", "content": text}, {"role": "user", "content": "And?"}],
                                                         "max_tokens": 4, "temperature": 0, "ignore_eos": True}).json
        self.assertEqual(again["output"][0]["content"][0]["text"], chat["choices"][0]["message"]["content"])
        self.assertEqual(again["usage"]["input_tokens"], chat["usage"]["prompt_tokens"])


class Reasoning(served.ServedTest):
    """A template that opens <think>, and a model that cannot close it, or must at once."""
    template = "{% for message in messages %}{{ message.content }}\n{% endfor %}{% if enable_thinking is not defined or enable_thinking %}<think>\n{% endif %}"

    def ask(self, **fields):
        return {"input": "x", "max_output_tokens": 6, "ignore_eos": True, "seed": 1, **fields}

    def test_reasoning_that_is_cut(self):
        body = self.server.post(PATH, self.ask()).json
        self.assertEqual([(item["type"], item["status"]) for item in body["output"]], [("reasoning", "incomplete")])
        self.assertEqual(body["usage"]["output_tokens_details"]["reasoning_tokens"], 6)
        events = events_of(self.server.stream(PATH, self.ask(stream=True)))
        kinds = [event["type"].removeprefix("response.") for event in events]
        self.assertEqual(kinds[:4], ["created", "in_progress", "output_item.added", "content_part.added"])
        self.assertEqual(kinds[-4:], ["reasoning_text.done", "content_part.done", "output_item.done", "incomplete"])
        self.assertEqual(set(kinds[4:-4]), {"reasoning_text.delta"})
        self.assertEqual("".join(event["delta"] for event in events if "delta" in event), body["output"][0]["content"][0]["text"])

    def test_told_not_to(self):
        for fields in ({"reasoning": {"effort": "none"}}, {"chat_template_kwargs": {"enable_thinking": False}}):
            body = self.server.post(PATH, self.ask(**fields)).json
            self.assertEqual([item["type"] for item in body["output"]], ["message"])


if __name__ == "__main__":
    served.main()

"""The clients people have, unchanged, against the real server: the official OpenAI client, LangChain's OpenAI chat model and the
Ollama client, from the package registry in a throw-away environment. Skips where there is no registry. The real model answers where it
is in the models folder, else the tiny one."""
import json
import os
import subprocess
import sys
import tempfile
import textwrap
import unittest

import served

PACKAGES = ["openai", "langchain-openai", "ollama"]
REAL = "SmolLM2-135M-Instruct.Q4_1.gguf"
ENVIRONMENT = {}


def real_model():
    folder = os.environ.get("GAINZ_MODELS") or os.path.join(os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"), "gainz/models")
    path = os.path.join(folder, REAL)
    return path if os.path.exists(path) else None


class Clients(served.ServedTest):
    @classmethod
    def setUpClass(cls):
        model = real_model()
        print("model:", REAL if model else "tiny")
        cls.is_real = model is not None
        cls.server = served.Served(*(("-m", model, "--name", "tiny", "--backend", "auto") if model else ()), "--api-key", "client-key")

    def run_client(self, code):
        """Runs a script in the environment; answers what it printed, as JSON."""
        clean = {name: value for name, value in os.environ.items() if not name.lower().endswith("_proxy")}
        run = subprocess.run([ENVIRONMENT["python"], "-c", textwrap.dedent(code)], capture_output=True, text=True, timeout=120,
                             env={**clean, "URL": f"http://127.0.0.1:{self.server.port}"})
        self.assertEqual(run.returncode, 0, run.stderr)
        return json.loads(run.stdout)

    def test_openai(self):
        told = self.run_client("""
            import json, os, openai
            client = openai.OpenAI(base_url=os.environ["URL"] + "/v1", api_key="client-key", max_retries=0)
            ask = dict(model="tiny", messages=[{"role": "user", "content": "What is the capital of France?"}], max_tokens=24, temperature=0, seed=1)
            whole = client.chat.completions.create(**ask, logprobs=True, top_logprobs=2)
            parts, usage = [], None
            for chunk in client.chat.completions.create(**ask, stream=True, stream_options={"include_usage": True}):
                usage = chunk.usage or usage
                parts += [choice.delta.content or "" for choice in chunk.choices]
            legacy = client.completions.create(model="tiny", prompt="The capital of France is", max_tokens=6, temperature=0, logprobs=1)
            vector = client.embeddings.create(model="tiny", input=["a", "b"])
            response = client.responses.create(model="tiny", input="What is the capital of France?", max_output_tokens=24, temperature=0)
            with client.responses.stream(model="tiny", input="Hi", max_output_tokens=8, temperature=0) as stream:
                kinds = [event.type for event in stream]
            errors = []
            for make in (lambda: client.chat.completions.create(**{**ask, "model": "none"}), lambda: client.chat.completions.create(**{**ask, "temperature": -1}),
                         lambda: openai.OpenAI(base_url=os.environ["URL"] + "/v1", api_key="x", max_retries=0).models.list()):
                try:
                    make()
                except openai.APIStatusError as error:
                    errors.append([type(error).__name__, error.code])
            several = client.chat.completions.create(**{**ask, "temperature": 1}, n=2)
            print(json.dumps({"whole": whole.choices[0].message.content, "stream": "".join(parts), "usage": usage.completion_tokens, "tokens": whole.usage.completion_tokens,
                "legacy": legacy.choices[0].text, "vectors": [len(vector.data), len(vector.data[0].embedding) > 8], "response": response.output_text, "kinds": kinds, "errors": errors, "several": len(several.choices), "models": [model.id for model in client.models.list()],
                "one": client.models.retrieve("tiny").id, "top": len(whole.choices[0].logprobs.content[0].top_logprobs)}))
        """)
        self.assertEqual(told["stream"], told["whole"])
        self.assertEqual(told["response"], told["whole"])
        self.assertEqual(told["usage"], told["tokens"])
        self.assertEqual((told["vectors"], told["several"], told["models"], told["one"], told["top"]), ([2, True], 2, ["tiny"], "tiny", 2))
        self.assertEqual(told["errors"], [["NotFoundError", "model_not_found"], ["BadRequestError", "invalid_value"], ["AuthenticationError", "invalid_api_key"]])
        self.assertEqual(told["kinds"][0], "response.created")
        self.assertIn(told["kinds"][-1], ("response.completed", "response.incomplete"))
        if self.is_real:
            self.assertIn("Paris", told["legacy"])

    def test_openai_in_depth(self):
        """Answers go back as they came, streams have their helpers and failures, the asynchronous client asks at once."""
        told = self.run_client("""
            import asyncio, json, os, openai, pydantic
            client = openai.OpenAI(base_url=os.environ["URL"] + "/v1", api_key="client-key", max_retries=0)
            asked = [{"role": "user", "content": "Hi"}]
            ask = dict(model="tiny", messages=asked, max_tokens=6, temperature=0)
            raw = client.chat.completions.with_raw_response.create(**ask, extra_headers={"x-request-id": "mine-1"})
            message = raw.parse().choices[0].message
            again = [client.chat.completions.create(**{**ask, "messages": [*asked, sent, {"role": "user", "content": "And?"}]}).choices[0].message.content
                     for sent in (message, message.model_dump())]
            first = client.responses.create(model="tiny", input="Hi", max_output_tokens=6, temperature=0)
            chained = [client.responses.create(model="tiny", input=[*asked, *sent, {"role": "user", "content": "And?"}], max_output_tokens=6, temperature=0).output_text
                       for sent in (first.output, [item.model_dump() for item in first.output])]
            with client.chat.completions.stream(**ask, logprobs=True, top_logprobs=2, stream_options={"include_usage": True}) as stream:
                kinds = {event.type for event in stream}
                final = stream.current_completion_snapshot  # the whole is refused to those whose answer was cut
            coded = client.embeddings.create(model="tiny", input="Hello").data[0].embedding
            plain = client.embeddings.create(model="tiny", input="Hello", encoding_format="float").data[0].embedding
            class Form(pydantic.BaseModel):
                x: int
            def out_of_time():  # within the stream: how long that takes to begin depends on the machine
                for timeout in (10, 20, 40, 80, 160, 320, 640):
                    try:
                        for chunk in client.chat.completions.create(model="tiny", messages=asked, max_tokens=400, stream=True, extra_body={"ignore_eos": True, "timeout_ms": timeout}): pass
                    except openai.APIStatusError:
                        continue
            errors = []
            for make in (lambda: client.chat.completions.parse(**ask, response_format=Form), lambda: client.responses.parse(model="tiny", input="x", text_format=Form),
                         lambda: client.chat.completions.create(**ask, tools=[{"type": "function", "function": {"name": "f"}}]),
                         lambda: client.completions.create(model="tiny", prompt="word " * 20000), out_of_time):
                try:
                    make()
                    errors.append(None)
                except openai.APIError as error:
                    errors.append([type(error).__name__, error.code, error.param])
            async def together():
                later = openai.AsyncOpenAI(base_url=os.environ["URL"] + "/v1", api_key="client-key", max_retries=0)
                answers = await asyncio.gather(*[later.chat.completions.create(**ask) for _ in range(6)])
                left = await later.chat.completions.create(model="tiny", messages=asked, max_tokens=400, stream=True, extra_body={"ignore_eos": True})
                async for chunk in left:
                    break
                await left.close()
                return [answer.choices[0].message.content for answer in answers]
            print(json.dumps({"id": raw.headers["x-request-id"], "text": message.content, "again": again, "chained": chained, "kinds": sorted(kinds), "final": final.choices[0].message.content,
                "scores": len(final.choices[0].logprobs.content), "count": final.usage.completion_tokens, "apart": max(abs(a - b) for a, b in zip(coded, plain)), "errors": errors,
                "together": asyncio.run(together())}))
        """)
        self.assertEqual(told["id"], "mine-1")
        self.assertEqual(len(set(told["again"])), 1)
        self.assertEqual(set(told["chained"]), set(told["again"]))
        self.assertLessEqual({"chunk", "content.delta", "content.done", "logprobs.content.delta"}, set(told["kinds"]))
        self.assertEqual((told["final"], told["scores"]), (told["text"], told["count"]))
        self.assertLess(told["apart"], 1e-6)
        self.assertEqual(told["errors"], [["BadRequestError", "unsupported_value", "response_format.type"], ["BadRequestError", "unsupported_value", "text.format.type"],
                                          ["BadRequestError", "unsupported_parameter", "tools"], ["BadRequestError", "context_length_exceeded", "prompt"],
                                          ["APIError", "timeout", None]])
        self.assertEqual(set(told["together"]), {told["text"]})

    def test_langchain(self):
        told = self.run_client("""
            import asyncio, json, os
            from langchain_openai import ChatOpenAI, OpenAI, OpenAIEmbeddings
            model = ChatOpenAI(model="tiny", base_url=os.environ["URL"] + "/v1", api_key="client-key", max_tokens=16, temperature=0, max_retries=0)
            messages = [("system", "Answer in one sentence."), ("human", "What is the capital of France?")]
            whole = model.invoke(messages)
            pieces = [chunk.content for chunk in model.stream(messages)]
            batch = model.batch(["one", "two", "three"])
            later = asyncio.run(model.ainvoke(messages))
            at = dict(model="tiny", base_url=os.environ["URL"] + "/v1", api_key="client-key", max_retries=0)
            by_responses = ChatOpenAI(**at, max_tokens=16, temperature=0, use_responses_api=True)
            texts = [by_responses.invoke(messages).text, "".join(chunk.text for chunk in by_responses.stream(messages))]
            several = ChatOpenAI(**at, max_tokens=4, n=2, seed=1, stop=["never"], logprobs=True, top_logprobs=2, presence_penalty=0.1, frequency_penalty=0.1, top_p=0.9, logit_bias={5: 1})
            vector = OpenAIEmbeddings(**at, check_embedding_ctx_length=False).embed_query("hi")
            legacy = OpenAI(**at, max_tokens=6, temperature=0)
            plain = [legacy.invoke("The capital of France is"), "".join(legacy.stream("The capital of France is"))]
            print(json.dumps({"whole": whole.content, "stream": "".join(pieces), "later": later.content, "usage": whole.usage_metadata["output_tokens"], "batch": len(batch),
                "reason": whole.response_metadata["finish_reason"], "texts": texts, "plain": plain, "vector": len(vector),
                "several": len(several.generate([[__import__("langchain_core.messages").messages.HumanMessage("hi")]]).generations[0])}))
        """)
        self.assertEqual(told["stream"], told["whole"])
        self.assertEqual(told["later"], told["whole"])
        self.assertEqual(told["texts"], [told["whole"]] * 2)
        self.assertEqual(told["plain"][0], told["plain"][1])
        self.assertEqual((told["batch"], told["several"]), (3, 2))
        self.assertGreater(told["vector"], 8)
        self.assertIn(told["reason"], ("stop", "length"))
        self.assertGreater(told["usage"], 0)

    def test_ollama(self):
        told = self.run_client("""
            import json, os, ollama
            client = ollama.Client(host=os.environ["URL"], headers={"authorization": "Bearer client-key"})
            options = {"num_predict": 16, "temperature": 0, "seed": 1}
            messages = [{"role": "user", "content": "What is the capital of France?"}]
            whole = client.chat(model="tiny", messages=messages, options=options)
            pieces = [part.message.content for part in client.chat(model="tiny", messages=messages, options=options, stream=True)]
            text = client.generate(model="tiny", prompt="The capital of France is", raw=True, options=options)
            vectors = client.embed(model="tiny", input=["a", "word " * 20000], truncate=True, options={"num_ctx": 64, "temperature": None}, keep_alive="1h30m").embeddings
            typed = client.chat(model="tiny:latest", messages=[ollama.Message(role="user", content=messages[0]["content"])], options=ollama.Options(**options, num_ctx=256), think=False)
            loaded = client.generate(model="tiny", keep_alive=-1).done_reason
            status = []
            for make in (lambda: client.chat(model="none", messages=messages), lambda: client.chat(model="tiny", messages=messages, think=True), lambda: client.pull("tiny"),
                         lambda: client.chat(model="tiny", messages=messages, format="json"), lambda: client.delete("tiny"), lambda: client.generate(model="tiny", prompt="x", suffix="y"),
                         lambda: ollama.Client(host=os.environ["URL"]).list()):
                try:
                    make()
                    status.append(200)
                except ollama.ResponseError as error:
                    status.append(error.status_code)
            print(json.dumps({"whole": whole.message.content, "stream": "".join(pieces), "typed": typed.message.content, "loaded": loaded, "done": whole.done_reason, "count": whole.eval_count, "text": text.response,
                "vectors": len(vectors), "list": [model.model for model in client.list().models], "ps": [model.model for model in client.ps().models],
                "show": client.show("tiny").details.format, "status": status}))
        """)
        self.assertEqual((told["stream"], told["typed"]), (told["whole"], told["whole"]))
        self.assertEqual((told["list"], told["ps"], told["show"], told["vectors"], told["loaded"]), (["tiny"], ["tiny"], "gguf", 2, "load"))
        self.assertEqual(told["status"], [404, 400, 400, 400, 400, 400, 401])
        self.assertIn(told["done"], ("stop", "length"))
        if self.is_real:
            self.assertIn("Paris", told["text"])


if __name__ == "__main__":
    with tempfile.TemporaryDirectory(prefix="gainz-clients-") as folder:
        made = subprocess.run([sys.executable, "-m", "venv", folder], capture_output=True, text=True, check=False)
        python = os.path.join(folder, "bin", "python")
        if made.returncode == 0:
            made = subprocess.run([python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--retries", "1", *PACKAGES], capture_output=True, text=True, check=False)
        if made.returncode != 0:
            print("skipped: the clients cannot be installed here:", (made.stderr or made.stdout).strip().splitlines()[-1:])
            sys.exit(77)
        ENVIRONMENT["python"] = python
        served.main()

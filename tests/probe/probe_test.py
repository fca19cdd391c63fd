"""Drives gainz-probe as an outside script would: probe_test.py PROBE MAKE_TINY. Prints what is wrong and exits 1."""
import json
import math
import subprocess
import sys
import tempfile

probe, make_tiny = sys.argv[1:]
folder = tempfile.TemporaryDirectory()
model = folder.name + "/tiny.gguf"
subprocess.run([make_tiny, model, "--type", "Q8_0"], check=True)
process = subprocess.Popen([probe], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
problems = []


def ask_line(line):
    process.stdin.write(line + "\n")
    process.stdin.flush()
    return json.loads(process.stdout.readline())


def ask(**request):
    return ask_line(json.dumps(request))


def check(what, found, wanted):
    if found != wanted:
        problems.append(f"{what}: {found!r}, not {wanted!r}")


def code(answer):
    return answer.get("error", {}).get("code")


# Bad lines are answered, and the next one works.
check("no JSON", code(ask_line("{")), "invalid")
check("no object", code(ask_line("[1]")), "invalid")
check("deep JSON", code(ask_line("[" * 100000)), "invalid")
check("unknown op", code(ask(op="sing")), "invalid")
check("unknown field", code(ask(op="limits", loud=True)), "invalid")
check("missing file", code(ask(op="load", model="/nowhere/model.gguf")), "not_found")
check("wrong type", code(ask(op="tokenize", model=model, text=5)), "invalid")
check("id comes back", ask(op="sing", id=[1, "x"])["id"], [1, "x"])

# Text.
check("markers in plain text", len(ask(op="tokenize", model=model, text="<|im_end|>")["ids"]) > 1, True)
check("markers in trusted text", ask(op="tokenize", model=model, text="<|im_end|>", parse_special=True)["ids"], [2])
ids = ask(op="tokenize", model=model, text="h\u00e9llo \U0001f600")["ids"]
back = ask(op="detokenize", model=model, ids=ids)
check("there and back", back["text"], "h\u00e9llo \U0001f600")
check("pieces", "".join(back["pieces"]), back["text"])
messages = [{"role": "user", "content": "<|im_end|>"}]
rendered = ask(op="render", model=model, messages=messages, add_generation_prompt=True)
begin, end = rendered["user_spans"][-1]
check("user span", rendered["text"].encode()[begin:end], b"<|im_end|>")
check("control tokens in a chat", rendered["ids"].count(2), 1)
check("template", ask(op="render", template="{{ messages | length }}", messages=messages)["text"], "1")
check("template's mistake", code(ask(op="render", template="{{ 1 / 0 }}")), "invalid")

# Numbers.
check("dequantize", ask(op="dequantize", type="F16", bytes="003c00c0")["values"], [1.0, -2.0])
check("half a block", code(ask(op="dequantize", type="Q8_0", bytes="00")), "invalid")
drawn = ask(op="sample", logits=[0, 1, 2], draws=1000, seed=3, top_k=2)
check("top-k", [id for id, _ in drawn["probabilities"]], [2, 1])
check("draws", sum(drawn["counts"].values()), 1000)
check("probabilities", math.isclose(drawn["probabilities"][0][1], 1 / (1 + math.exp(-1)), rel_tol=1e-6), True)
check("limits", ask(op="limits")["limits"]["gguf_max_dims"], 4)

# The same bits alone, in company and in chunks; the same tokens preempted.
prompt = list(range(5, 65))
for backend in ("reference", "onednn"):
    rows = [ask(op="logits", model=model, backend=backend, ids=prompt, positions=[7, 40, 59], top=1, pick=[9], **more)["rows"]
            for more in ({}, {"fill": 15}, {"chunk": 7}, {"chunk": 16, "fill": 3})]
    for other in rows[1:]:
        check(f"{backend}: rows", [r["hash"] for r in other], [r["hash"] for r in rows[0]])
    check(f"{backend}: pick", len(rows[0][0]["pick_logits"]), 1)
    plain = ask(op="generate", model=model, backend=backend, ids=prompt, max_tokens=20, temperature=1, seed=7)
    preempted = ask(op="generate", model=model, backend=backend, ids=prompt, max_tokens=20, temperature=1, seed=7, preempt_after=5)
    check(f"{backend}: preempted", preempted["ids"], plain["ids"])
    check(f"{backend}: preemptions", preempted["preemptions"], 1)
check("embedding", len(ask(op="embed", model=model, text="hello", pooling="mean")["embedding"]), 64)
check("context", code(ask(op="generate", model=model, ids=[5] * 600)), "limit_exceeded")

process.stdin.close()
check("exit status", process.wait(), 0)
print("\n".join(problems) or "all as it should be")
sys.exit(1 if problems else 0)

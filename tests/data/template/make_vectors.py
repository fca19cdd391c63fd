#!/usr/bin/env python3
"""Writes expressions.jsonl, statements.jsonl and styles.jsonl of tests/data/template from Jinja2 set up as transformers does.

Needs jinja2 (3.1). Usage: make_vectors.py [tests/data/template]. The tests read the files and need no Python.
"""
import datetime
import json
import pathlib
import sys

import jinja2
import jinja2.ext
import jinja2.sandbox
from vector_sources import CONVERSATIONS, EXPRESSIONS, STATEMENTS, STYLE_RUNS, VARS


class Generation(jinja2.ext.Extension):
    """{% generation %}: the body, in a scope of its own, as transformers' tracker renders it."""

    tags = {"generation"}

    def parse(self, parser):
        line = next(parser.stream).lineno
        body = parser.parse_statements(["name:endgeneration"], drop_needle=True)
        return jinja2.nodes.CallBlock(self.call_method("pass_through"), [], [], body).set_lineno(line)

    def pass_through(self, caller):
        return caller()


class Refused(jinja2.TemplateError):
    pass


def environment():
    env = jinja2.sandbox.ImmutableSandboxedEnvironment(
        trim_blocks=True, lstrip_blocks=True, extensions=[Generation, jinja2.ext.loopcontrols]
    )

    def raise_exception(message):
        raise Refused(message)

    def tojson(x, ensure_ascii=False, indent=None, separators=None, sort_keys=False):
        return json.dumps(x, ensure_ascii=ensure_ascii, indent=indent, separators=separators, sort_keys=sort_keys)

    def strftime_now(form):
        return datetime.datetime(2026, 1, 2, 3, 4, 5).strftime(form)

    env.filters["tojson"] = tojson
    env.globals["raise_exception"] = raise_exception
    env.globals["strftime_now"] = strftime_now
    return env


ENV = environment()


def render(vector, source):
    values = dict(vector.get("vars", {}))
    values.update(messages=vector.get("messages", []), tools=vector.get("tools"), documents=values.get("documents"))
    values.update(add_generation_prompt=vector.get("add_generation_prompt", False), bos_token="<s>", eos_token="</s>")
    try:
        vector["expected"] = ENV.from_string(source).render(**values)
    except Refused as error:
        vector["error"] = True
        vector["sentence"] = str(error)
    except Exception as error:
        vector["error"] = f"{type(error).__name__}: {error}"[:120]
    return vector


def write(path, vectors):
    with open(path, "w", encoding="utf-8") as out:
        for vector in vectors:
            out.write(json.dumps(vector, ensure_ascii=False) + "\n")
    errors = sum("error" in v for v in vectors)
    print(f"{path.name}: {len(vectors)} vectors, {errors} errors, {path.stat().st_size} bytes")


def main():
    folder = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else "tests/data/template")
    (folder / "vars.json").write_text(json.dumps(VARS, ensure_ascii=False) + "\n", encoding="utf-8")
    for name, sources in (("expressions", EXPRESSIONS), ("statements", STATEMENTS)):
        vectors = []
        for source in dict.fromkeys(sources):
            text = "{{ " + source + " }}" if name == "expressions" else source
            vector = render({"template": text, "vars": VARS}, text)
            del vector["vars"]  # vars.json has them, once
            expected = vector.get("expected", "")
            if " at 0x" in expected:  # the address of an object
                continue
            if not any("\ud800" <= c <= "\udfff" for c in expected):  # JSON lines cannot hold a lone surrogate
                vectors.append(vector)
        write(folder / f"{name}.jsonl", vectors)
    vectors = []
    for style, variables, tools in STYLE_RUNS:
        source = (folder / "styles" / style).read_text(encoding="utf-8")
        for label, messages in CONVERSATIONS.items():
            for add in (False, True):
                vector = {"style": style, "name": label, "messages": messages, "add_generation_prompt": add}
                if variables:
                    vector["vars"] = variables
                if tools is not None:
                    vector["tools"] = tools
                vectors.append(render(vector, source))
    write(folder / "styles.jsonl", vectors)


if __name__ == "__main__":
    main()

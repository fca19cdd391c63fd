"""The countable rules of style: lengths of files and lines, includes, and texts that do not belong into a source tree."""
import re

import tree

MAX_FILE_LINES = 600
MAX_SDK_HEADER_LINES = 200
MAX_COLUMNS = 128
LONG_ENOUGH = {"LICENSE", "CHANGELOG.md"}  # texts that only grow

# Each is written so that it does not match itself.
FORBIDDEN = (
    (re.compile(r"/wor[k]/|/roo[t]/|/hom[e]/[a-z]|/tm[p]/b-"), "a path of one machine"),
    (re.compile(r"pythonhoste[d]\.org|pypi\.or[g]|deb\.debian\.or[g]"), "a registry's host name"),
    (re.compile(r"<<<<<<[<] |>>>>>>[>] "), "a conflict marker"),
)
CPP_FORBIDDEN = (
    (re.compile(r"\bstd::(ranges::)?view[s]\b"), "std::views, which clang-tidy 14 cannot read"),
    (re.compile(r"-ffast-mat[h]"), "fast-math"),
)
RELATIVE = re.compile(r'^\s*#\s*include\s*[<"]((?:[^">]*/)?\.\.?/[^">]*|/[^">]*)[>"]')


def lengths(path, lines):
    name = str(path)
    if path.parts[:2] == ("tests", "data") or name in LONG_ENOUGH:
        return
    if len(lines) > MAX_FILE_LINES:
        yield f"{name}: {len(lines)} lines, the limit is {MAX_FILE_LINES}"
    if path.parts[:2] == ("sdk", "include") and len(lines) > MAX_SDK_HEADER_LINES:
        yield f"{name}: {len(lines)} lines, the limit for a header of the SDK is {MAX_SDK_HEADER_LINES}"


def cpp_lines(path, lines):
    for number, line in enumerate(lines, 1):
        where = f"{path}:{number}"
        if len(line) > MAX_COLUMNS:
            yield f"{where}: {len(line)} columns, the limit is {MAX_COLUMNS}"
        if found := RELATIVE.match(line):
            yield f"{where}: includes {found[1]}; name it from its layer's root"
        for pattern, what in CPP_FORBIDDEN:
            if pattern.search(line):
                yield f"{where}: {what}"


def texts(path, content):
    for pattern, what in FORBIDDEN:
        for found in pattern.finditer(content):
            yield f"{path}:{content.count(chr(10), 0, found.start()) + 1}: {what}: {found[0]}"


def problems(root):
    for path in tree.files(root):
        content = tree.text(root, path)
        if content is None:
            continue
        lines = content.splitlines()
        yield from lengths(path, lines)
        yield from texts(path, content)
        if path.suffix in tree.CPP:
            yield from cpp_lines(path, lines)


if __name__ == "__main__":
    source = tree.arguments(__doc__).source
    tree.report(list(problems(source)), f"{len(tree.files(source))} files")

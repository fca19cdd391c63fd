"""The documents keep their word: a snippet is text of a file that is compiled or tested, a link leads to a file, and README's first
block holds the two set-up commands. A path in backticks that begins with a folder of the tree exists, unless it holds a NAME to fill in.

A snippet is a fenced block right after the line <!-- snippet: PATH --> (the whole file) or <!-- snippet: PATH#NAME -->: the lines of
the file between one that holds [NAME] and the next that holds [/NAME]."""
import os
import re

import tree

SNIPPET = re.compile(r"^<!-- snippet: (\S+?)(?:#(\S+))? -->\n+```\w*\n(.*?)^```", re.MULTILINE | re.DOTALL)
MARKED = re.compile(r"^<!-- snippet:", re.MULTILINE)
LINK = re.compile(r"\[[^\]]*\]\(([^)#\s]+)(?:#[^)]*)?\)")
PATH = re.compile(r"`((?:sdk|plugins|runtime|host|tests|configs|docs|cmake)/[a-z0-9_./-]+)`")
FENCE = re.compile(r"^```\w*\n(.*?)^```", re.MULTILINE | re.DOTALL)


def section(content, name):
    """The lines of a named part; None if it is not there."""
    if name is None:
        return content
    lines = content.splitlines(keepends=True)
    begin = [i for i, line in enumerate(lines) if f"[{name}]" in line]
    end = [i for i, line in enumerate(lines) if f"[/{name}]" in line]
    return "".join(lines[begin[0] + 1:end[0]]) if begin and end else None


def snippet_problems(root, path, content):
    found = list(SNIPPET.finditer(content))
    if len(found) != len(MARKED.findall(content)):
        yield f"{path}: a snippet's mark has no fenced block right after it"
    for match in found:
        source, name, block = match.groups()
        file = root / source
        wanted = section(file.read_text(), name) if file.is_file() else None
        if wanted is None:
            yield f"{path}: {source}{'#' + name if name else ''} is not there"
        elif wanted.strip("\n") != block.strip("\n"):
            yield f"{path}: the snippet differs from {source}{'#' + name if name else ''}"


def link_problems(root, path, content):
    for target in LINK.findall(FENCE.sub("", content)):
        if "://" not in target and not target.startswith("mailto:") and not (root / path.parent / target).exists():
            yield f"{path}: the link to {target} leads nowhere"


def path_problems(root, path, content):
    for name in PATH.findall(FENCE.sub("", content)):
        if not (root / name).exists():
            yield f"{path}: {name} does not exist"


def readme_problems(root):
    block = FENCE.search((root / "README.md").read_text())
    lines = block[1].splitlines() if block else []
    if len(lines) != 2:
        yield f"README.md: the first fenced block has {len(lines)} lines; it holds the two set-up commands and nothing else"
    for line in lines:
        if not re.fullmatch(r"\./[a-z]+", line) or not os.access(root / line, os.X_OK):
            yield f"README.md: {line!r} in the first fenced block is no script that can be run"
    ci = (root / ".ci" / "run").read_text()
    if lines and not re.search(rf"^exec {re.escape(lines[-1])}$", ci, re.MULTILINE):
        yield f".ci/run does not run {lines[-1]}"


def problems(root):
    for path in tree.files(root):
        if path.suffix == ".md" and path.parts[:2] != ("tests", "data"):
            content = (root / path).read_text()
            yield from snippet_problems(root, path, content)
            yield from link_problems(root, path, content)
            yield from path_problems(root, path, content)
    yield from readme_problems(root)


if __name__ == "__main__":
    source = tree.arguments(__doc__).source
    tree.report(list(problems(source)), f"{sum(path.suffix == '.md' for path in tree.files(source))} documents")

"""The rule of the layers: host -> runtime -> sdk <- plugins. Three ways to break it are closed:

- a compiler's include path that reaches a header of a forbidden layer: the flags of every source file in compile_commands.json are
  compared with every header of the tree;
- the compiler itself: with the flags of a real source file, a file that includes a forbidden header must not compile, and one that
  includes an allowed header must;
- an include of a library that the layer may not use: every #include line is compared with the layer's list."""
import json
import pathlib
import re
import shlex
import subprocess
import tempfile

import tree

C_STANDARD = set("assert ctype errno fenv float inttypes limits locale math setjmp signal stdalign stdarg stdatomic stdbool stddef "
                 "stdint stdio stdlib string tgmath threads time uchar wchar wctype".split())
POSIX = re.compile(r"(dirent|dlfcn|fcntl|netdb|poll|pthread|pwd|sched|semaphore|spawn|strings|syscall|termios|unistd)\.h$|sys/|linux/|"
                   r"asm/|arpa/|netinet/|malloc\.h$|link\.h$|elf\.h$")
INTRINSICS = re.compile(r"(immintrin|x86intrin|cpuid)\.h$")  # the compiler's own
RUNTIME_LIBRARIES = re.compile(r"boost/(dll|json|describe|lockfree)|pcre2\.h$|fmt/|utf8proc\.h$|cxxabi\.h$")
HOST_LIBRARIES = re.compile(r"boost/|toml\+\+/|CLI/|spdlog/|prometheus/|fmt/|openssl/")
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^">]+)[>"]', re.MULTILINE)


def layer(path):
    """sdk, runtime, host, or plugins/NAME; None for what belongs to no layer."""
    top = path.parts[0]
    if top == "plugins":
        return "/".join(path.parts[:2]) if len(path.parts) > 2 else None
    return top if top in tree.LAYERS else None


def may_include(user, header):
    """Whether a source file of the layer `user` may include `header`, both of the tree."""
    if layer(header) == user:
        return True
    if user == "host":
        return header.parts[:2] == ("runtime", "include")
    return layer(header) == "sdk" and (user == "runtime" or user.startswith("plugins/"))


def library_allowed(path, name):
    """Whether the file at `path` may include <name>, which is not of the tree."""
    if re.fullmatch(r"[a-z_0-9]+", name) or (name.endswith(".h") and name[:-2] in C_STANDARD):
        return True
    user = layer(path)
    if user == "sdk":  # headers and kernels: the standard alone; the kit may use POSIX
        return path.parts[1] not in {"include", "reference"} and bool(POSIX.match(name))
    if user == "runtime":
        return bool(POSIX.match(name) or INTRINSICS.match(name) or RUNTIME_LIBRARIES.match(name))
    if user == "host":
        return bool(POSIX.match(name) or INTRINSICS.match(name) or HOST_LIBRARIES.match(name))
    return True  # a plugin: its vendor's libraries


def headers(root):
    return [path for path in tree.cpp_files(root) if path.suffix in {".h", ".hpp"} and layer(path)]


def spelling(header):
    """How a header is named by its friends."""
    parts = header.parts
    for prefix in (("sdk", "include"), ("runtime", "include")):
        if parts[:2] == prefix:
            return "/".join(parts[2:])
    return "/".join(parts[2:] if parts[0] == "plugins" else parts[1:])


class Unit:
    """One source file with its compiler and flags."""

    def __init__(self, root, entry):
        self.folder = pathlib.Path(entry["directory"])
        source = (self.folder / entry["file"]).resolve()
        self.path = pathlib.PurePosixPath(source.relative_to(root)) if source.is_relative_to(root) else None
        arguments = entry.get("arguments") or shlex.split(entry["command"])
        while arguments and re.search(r"ccache$|^env$|=", arguments[0]):
            arguments = arguments[1:]
        self.flags, self.include_dirs = [arguments[0]], []
        at = 1
        while at < len(arguments):
            word = arguments[at]
            if word in {"-I", "-iquote", "-isystem", "-idirafter"}:
                at += 1
                self._include(word, arguments[at])
            elif found := re.match(r"(-I|-iquote|-isystem|-idirafter)(.+)", word):
                self._include(found[1], found[2])
            elif word == "-o":
                at += 1
            elif word != "-c" and (self.folder / word).resolve() != source:
                self.flags.append(word)
            at += 1

    def _include(self, kind, folder):
        path = (self.folder / folder).resolve()
        self.include_dirs.append(path)
        self.flags += [kind, str(path)]

    def compiles(self, name, folder):
        """(whether a file that includes "name" compiles, what the compiler said)"""
        probe = pathlib.Path(folder) / ("probe" + self.path.suffix)
        probe.write_text(f'#include "{name}"\n')
        result = subprocess.run(self.flags + ["-fsyntax-only", str(probe)], cwd=self.folder, capture_output=True, text=True, check=False)
        return result.returncode == 0, result.stderr


def units(root, build):
    entries = json.loads((build / "compile_commands.json").read_text())
    return [unit for unit in (Unit(root, entry) for entry in entries) if unit.path and layer(unit.path)]


def reach_problems(root, all_units):
    """Include paths that reach what they may not."""
    known = headers(root)
    for unit in all_units:
        for folder in unit.include_dirs:
            if not folder.is_relative_to(root):
                continue
            inside = folder.relative_to(root).parts
            for header in known:
                if header.parts[:len(inside)] == inside and not may_include(layer(unit.path), header):
                    yield f"{unit.path}: the include path {'/'.join(inside) or '.'} reaches {header}"


def scan_problems(root):
    """#include lines that name what they may not."""
    known = {}
    for header in headers(root):
        known.setdefault(spelling(header), []).append(header)
        known.setdefault(str(header), []).append(header)
        if header.parts[0] == "sdk":  # as the plugin to copy names it, which sees the installed SDK only
            known.setdefault("gainz/sdk/" + "/".join(header.parts[1:]), []).append(header)
    for path in tree.cpp_files(root):
        user = layer(path)
        if not user:
            continue
        for quote, name in INCLUDE.findall(tree.text(root, path) or ""):
            beside = pathlib.PurePosixPath(path.parent / name)
            if quote == '"' and (root / beside).is_file():
                continue
            owners = known.get(name, [])
            if owners:
                if not any(may_include(user, header) for header in owners):
                    yield f"{path}: includes {name}, which belongs to {layer(owners[0])}"
            elif (quote == "<" or layer(path) == "sdk") and not library_allowed(path, name):
                yield f"{path}: includes <{name}>, which {user} may not use"


def compile_problems(root, all_units, log):
    """One real compilation for each pair of layers: a forbidden header fails, an allowed one does not."""
    known = headers(root)
    users = sorted({layer(unit.path) for unit in all_units})
    with tempfile.TemporaryDirectory() as folder:
        for user in users:
            mine = [unit for unit in all_units if layer(unit.path) == user]
            own = {spelling(header) for header in known if may_include(user, header)}
            targets = sorted({(layer(header), header.parts[:2] == ("runtime", "include")) for header in known})
            for target in targets:
                group = [h for h in known if (layer(h), h.parts[:2] == ("runtime", "include")) == target]
                allowed = may_include(user, group[0])
                for header in group if allowed else [h for h in group if spelling(h) not in own][:1]:
                    # An allowed header need not be on every path of the layer: one file that can include it is enough.
                    candidates = {tuple(map(str, unit.include_dirs)): unit for unit in mine}.values() if allowed else mine[:1]
                    tried = [unit.compiles(spelling(header), folder) for unit in candidates]
                    works, message = any(ok for ok, _ in tried), tried[-1][1]
                    if allowed and works:
                        log(f"{user} -> {header}: compiles, as it must")
                        break
                    if not allowed and not works and "No such file" in message:
                        log(f"{user} -> {header}: does not compile, as it must")
                    elif not allowed:
                        yield f"{user} -> {header}: must not compile for want of the file, but: {message.strip() or 'it compiles'}"
                else:
                    if allowed:
                        yield f"{user} -> {group[0]}: must compile, but: {message.strip()}"


def missing_layers(all_units):
    have = {layer(unit.path).split("/")[0] for unit in all_units}
    return [f"no source file of {name} is in compile_commands.json" for name in tree.LAYERS if name not in have]


if __name__ == "__main__":
    args = tree.arguments(__doc__)
    found_units = units(args.source, args.build)
    found = missing_layers(found_units) + list(reach_problems(args.source, found_units)) + list(scan_problems(args.source))
    found += list(compile_problems(args.source, found_units, print))
    tree.report(found, f"{len(found_units)} source files, {len(headers(args.source))} headers")

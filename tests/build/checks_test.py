"""Tests of the checks: each is given a small tree with one fault planted and must name it; and the same tree without it."""
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

import documents
import exports
import layers
import style

COUNTS = pathlib.Path(__file__).resolve().parents[2] / "cmake" / "test_counts.py"

GOOD = {
    "sdk/include/gainz/sdk/sdk.h": "#include <stdint.h>\n",
    "sdk/src/simple.cc": '#include "gainz/sdk/sdk.h"\n',
    "plugins/one/kernel.h": "",
    "plugins/one/plugin.cc": '#include "kernel.h"\n#include "gainz/sdk/sdk.h"\n#include <vendor/vendor.h>\n',
    "plugins/two/other.h": "",
    "plugins/two/plugin.cc": '#include "other.h"\n',
    "runtime/include/gainz/gainz.h": "",
    "runtime/engine/engine.h": "",
    "runtime/engine/engine.cc": '#include "engine/engine.h"\n#include "gainz/sdk/sdk.h"\n#include <vector>\n#include <fmt/format.h>\n',
    "host/main.cc": "#include <gainz/gainz.h>\n#include <boost/asio.hpp>\n",
    "host/args.h": "",
}
FLAGS = {
    "sdk/src/simple.cc": ["sdk/include"],
    "plugins/one/plugin.cc": ["plugins/one", "sdk/include"],
    "plugins/two/plugin.cc": ["plugins/two", "sdk/include"],
    "runtime/engine/engine.cc": ["runtime", "runtime/include", "sdk/include"],
    "host/main.cc": ["host", "runtime/include"],
}


class Tree:
    """A source tree in a temporary folder, with compile_commands.json in its root."""

    def __init__(self, test, changes=None, flags=None):
        folder = tempfile.TemporaryDirectory()
        test.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name).resolve()
        for name, content in {**GOOD, **(changes or {})}.items():
            path = self.root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(content)
        commands = [{"directory": str(self.root), "file": name,
                     "command": "ccache g++ " + " ".join(f"-I{self.root / d}" for d in dirs) + f" -o x.o -c {self.root / name}"}
                    for name, dirs in {**FLAGS, **(flags or {})}.items()]
        (self.root / "compile_commands.json").write_text(json.dumps(commands))

    def reach(self):
        return list(layers.reach_problems(self.root, layers.units(self.root, self.root)))

    def scan(self):
        return list(layers.scan_problems(self.root))

    def compile(self):
        return list(layers.compile_problems(self.root, layers.units(self.root, self.root), lambda line: None))


class Layers(unittest.TestCase):
    def test_a_good_tree_has_no_problem(self):
        good = Tree(self)
        self.assertEqual((good.reach(), good.scan(), good.compile()), ([], [], []))

    def test_wrong_include_paths_are_found_by_flags_and_by_compiler(self):
        for user, folder, header in (("host/main.cc", "sdk/include", "sdk/include/gainz/sdk/sdk.h"),
                                     ("host/main.cc", "runtime", "runtime/engine/engine.h"),
                                     ("plugins/one/plugin.cc", "runtime", "runtime/engine/engine.h"),
                                     ("plugins/one/plugin.cc", "plugins/two", "plugins/two/other.h"),
                                     ("sdk/src/simple.cc", "runtime", "runtime/engine/engine.h"),
                                     ("sdk/src/simple.cc", "plugins/one", "plugins/one/kernel.h"),
                                     ("runtime/engine/engine.cc", "host", "host/args.h"),
                                     ("runtime/engine/engine.cc", "plugins/one", "plugins/one/kernel.h")):
            with self.subTest(user=user, header=header):
                bad = Tree(self, flags={user: FLAGS[user] + [folder]})
                self.assertTrue(any(user in line and header in line for line in bad.reach()), bad.reach())
                self.assertTrue(any(header in line and "must not compile" in line for line in bad.compile()), bad.compile())

    def test_the_root_on_a_path_is_found(self):
        bad = Tree(self, flags={"host/main.cc": ["runtime/include", "."]})
        self.assertTrue(any("include path . reaches" in line for line in bad.reach()))

    def test_a_missing_right_is_found(self):
        bad = Tree(self, flags={"host/main.cc": ["host"]})
        self.assertTrue(any("host -> runtime/include/gainz/gainz.h: must compile" in line for line in bad.compile()))

    def test_wrong_include_lines_are_found(self):
        for user, include in (("host/main.cc", '"gainz/sdk/sdk.h"'), ("host/main.cc", '"runtime/engine/engine.h"'),
                              ("sdk/include/gainz/sdk/sdk.h", "<boost/dll.hpp>"), ("sdk/include/gainz/sdk/sdk.h", "<unistd.h>"),
                              ("sdk/src/simple.cc", '"engine/engine.h"'), ("runtime/engine/engine.cc", "<boost/asio.hpp>"),
                              ("runtime/engine/engine.cc", '"args.h"'), ("host/main.cc", "<dnnl.h>")):
            with self.subTest(user=user, include=include):
                problems = Tree(self, {user: f"#include {include}\n"}).scan()
                self.assertEqual(len(problems), 1, problems)

    def test_a_layer_without_sources_is_found(self):
        tree_without = Tree(self)
        units = [unit for unit in layers.units(tree_without.root, tree_without.root) if unit.path.parts[0] != "host"]
        self.assertEqual(layers.missing_layers(units), ["no source file of host is in compile_commands.json"])


class Style(unittest.TestCase):
    def problems(self, name, content):
        return list(style.problems(Tree(self, {name: content}).root))

    def test_a_good_tree_has_no_problem(self):
        self.assertEqual(list(style.problems(Tree(self).root)), [])

    def test_limits(self):
        for name, content in (("host/long.cc", "\n" * 601), ("sdk/include/gainz/sdk/long.h", "\n" * 201), ("host/wide.cc", "x" * 129)):
            with self.subTest(name=name):
                self.assertEqual(len(self.problems(name, content)), 1)
        for name, content in (("host/long.cc", "\n" * 600), ("sdk/include/gainz/sdk/long.h", "\n" * 200), ("host/wide.cc", "x" * 128),
                              ("tests/data/table.txt", "\n" * 1000)):
            with self.subTest(name=name):
                self.assertEqual(self.problems(name, content), [])

    def test_texts(self):
        for content in ('#include "../runtime/engine.h"', '#include "a/../b.h"', "#include </usr/x.h>", "for (x : std::" + "views::iota(1))",
                        "// see /wor" + "k/main", "// see /roo" + "t/.cache", "pypi." + "org"):
            with self.subTest(content=content):
                self.assertEqual(len(self.problems("host/bad.cc", content + "\n")), 1)


class Documents(unittest.TestCase):
    def test_snippets(self):
        source = "int a;\n/* [part] */\nint b;\n/* [/part] */\n"
        good = "<!-- snippet: x.c#part -->\n```c\nint b;\n```\n"
        for document, expected in ((good, 0), (good.replace("int b", "int c"), 1), (good.replace("#part", "#none"), 1),
                                   (good.replace("x.c", "y.c"), 1), (good.replace("```c\n", "text\n```c\n"), 1)):
            with self.subTest(document=document):
                root = Tree(self, {"x.c": source}).root
                found = list(documents.snippet_problems(root, pathlib.PurePosixPath("docs/a.md"), document))
                self.assertEqual(len(found), expected, found)

    def test_links(self):
        root = Tree(self, {"docs/b.md": ""}).root
        here = pathlib.PurePosixPath("docs/a.md")
        self.assertEqual(list(documents.link_problems(root, here, "[b](b.md#part) [web](https://example.org) [main](../host/main.cc)")), [])
        self.assertEqual(len(list(documents.link_problems(root, here, "[c](c.md)"))), 1)

    def test_paths(self):
        root = Tree(self).root
        here = pathlib.PurePosixPath("docs/a.md")
        self.assertEqual(list(documents.path_problems(root, here, "`host/main.cc` `runtime/engine/` `tests/data/NAME` `host/*.cc`")), [])
        self.assertEqual(len(list(documents.path_problems(root, here, "`host/none.cc`"))), 1)

    def test_the_two_commands(self):
        good = {"README.md": "# x\n\n```sh\n./first\n./second\n```\n", ".ci/run": "exec ./second\n"}
        for changes, expected in (({}, 0), ({"README.md": "```sh\n./first\n```\n"}, 2), ({".ci/run": "exec ./other\n"}, 1),
                                  ({"README.md": "```sh\ncd x\n./second\n```\n"}, 1)):
            with self.subTest(changes=changes):
                root = Tree(self, {**good, "first": "", "second": "", **changes}).root
                for name in ("first", "second"):
                    (root / name).chmod(0o755)
                self.assertEqual(len(list(documents.readme_problems(root))), expected)


class Exports(unittest.TestCase):
    def test_declared_functions(self):
        header = "GAINZ_API void gainz_a(int);\nGAINZ_API const char*\ngainz_b(void);\nvoid gainz_c(void);\n#define GAINZ_API\n"
        self.assertEqual(exports.declared(header), {"gainz_a", "gainz_b"})
        self.assertEqual(len(list(exports.difference("x", {"gainz_a"}, {"gainz_b"}))), 2)


class Counts(unittest.TestCase):
    CASES = {
        "pass": '<testcase name="a" status="run"/>',
        "fail": '<testcase name="b" status="fail"><failure message=""/></testcase>',
        "skip": '<testcase name="c" status="notrun"><skipped message=""/><system-out>SKIPPED: no model</system-out></testcase>',
        "absent": '<testcase name="d" status="notrun"/>',
    }

    def count(self, *names):
        root = Tree(self, {"release/r.xml": "<testsuite>" + "".join(self.CASES[name] for name in names) + "</testsuite>"}).root
        run = subprocess.run([sys.executable, "-B", COUNTS, root / "release/r.xml"], capture_output=True, text=True, check=False)
        return run.stdout.splitlines(), run.returncode

    def test_counts(self):
        self.assertEqual(self.count("pass", "pass"), (["2 passed, 0 failed, 0 skipped"], 0))
        lines, status = self.count("pass", "fail", "skip", "absent")
        self.assertEqual((lines[-1], status), ("1 passed, 2 failed, 1 skipped", 1))
        self.assertIn("skipped 1: no model (release: c)", lines)
        self.assertIn("failed: release: b", lines)
        self.assertEqual(self.count()[1], 1)  # nothing ran


if __name__ == "__main__":
    unittest.main()

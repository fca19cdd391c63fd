#!/usr/bin/env python3
"""Sums ctest's JUnit files: names what failed, gives the reason of each skip, and ends with 'N passed, N failed, N skipped'.

Exit 1 if a test failed, none ran, or a file is missing."""
import collections
import pathlib
import re
import sys
import xml.etree.ElementTree as xml

# What GoogleTest and the scripts under tests/build write for a skip: the line after "Skipped", or the text after "SKIPPED:".
REASONS = (re.compile(r"Skipped\n(.+)"), re.compile(r"SKIPPED: (.+)"))


def skip_reason(case):
    output = case.findtext("system-out") or ""
    for pattern in REASONS:
        found = pattern.search(output)
        if found and not found[1].startswith("["):
            return found[1].strip()
    return "no reason given"


def main(paths):
    passed, failed, reasons = 0, [], collections.defaultdict(list)
    for path in paths:
        preset = pathlib.Path(path).parent.name
        try:
            suite = xml.parse(path).getroot()
        except (OSError, xml.ParseError) as error:
            print(f"{path}: no results ({error})")
            failed.append(f"{preset}: the test run itself")
            continue
        for case in suite.iter("testcase"):
            name = f"{preset}: {case.get('name')}"
            if case.get("status") == "run":
                passed += 1
            elif case.find("skipped") is not None and case.get("status") != "fail":
                reasons[skip_reason(case)].append(name)
            else:
                failed.append(name)
    num_skipped = sum(len(names) for names in reasons.values())
    for reason, names in sorted(reasons.items()):
        print(f"skipped {len(names)}: {reason} ({', '.join(names[:3])}{', ...' if len(names) > 3 else ''})")
    for name in failed:
        print(f"failed: {name}")
    print(f"{passed} passed, {len(failed)} failed, {num_skipped} skipped")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

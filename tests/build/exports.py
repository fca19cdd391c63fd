"""What the shared objects export: libgainz the functions of gainz.h and nothing else, a plugin its one entry point."""
import re
import subprocess

import tree

PLUGIN_ENTRY = "gainz_plugin_query_v0"


def exported(library):
    run = subprocess.run(["nm", "-D", "--defined-only", str(library)], capture_output=True, text=True, check=True)
    return {line.split()[-1].split("@")[0] for line in run.stdout.splitlines()}


def declared(header):
    """Names of the functions that a header marks GAINZ_API."""
    return set(re.findall(r"^GAINZ_API\b[^;(]*?\b(gainz_\w+)\s*\(", header, re.MULTILINE))


def difference(where, expected, found):
    for name in sorted(expected - found):
        yield f"{where}: does not export {name}"
    for name in sorted(found - expected):
        yield f"{where}: exports {name}"


if __name__ == "__main__":
    args = tree.arguments(__doc__)
    problems = []
    library = args.build / "lib" / "libgainz.so"
    api = set()
    for path in sorted((args.source / "runtime" / "include" / "gainz").glob("*.h")):
        api |= declared(path.read_text())
    if library.exists():
        problems += difference("libgainz.so", api, exported(library))
    else:
        problems.append(f"{library} is missing")
    plugins = sorted((args.build / "lib" / "gainz" / "plugins").glob("*.so"))
    if not plugins:
        problems.append("no plugin is built")
    for plugin in plugins:
        problems += difference(plugin.name, {PLUGIN_ENTRY}, exported(plugin))
    tree.report(problems, f"{len(api)} functions, {len(plugins)} plugins")

"""Every C and C++ file is as clang-format 14 writes it. Versions differ in details, so another version does not count."""
import shutil
import subprocess

import tree


def clang_format():
    for name in ("clang-format-14", "clang-format"):
        if shutil.which(name) and " 14." in subprocess.run([name, "--version"], capture_output=True, text=True, check=False).stdout:
            return name
    return tree.skip("clang-format 14 is not installed")


if __name__ == "__main__":
    source = tree.arguments(__doc__).source
    names = [str(path) for path in tree.cpp_files(source)]
    run = subprocess.run([clang_format(), "--dry-run", "--Werror", *names], cwd=source, capture_output=True, text=True, check=False)
    bad = sorted({line.split(":")[0] for line in run.stderr.splitlines() if ": error: " in line})
    if run.returncode and not bad:
        bad = [run.stderr]
    tree.report([f"{name}: not formatted (clang-format-14 -i {name})" for name in bad], f"{len(names)} files")

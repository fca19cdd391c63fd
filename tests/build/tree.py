"""What the checks share: the files of the source tree, and the way a check reports."""
import argparse
import os
import pathlib
import subprocess
import sys

SKIP = 77  # ctest's SKIP_RETURN_CODE
CPP = {".h", ".hpp", ".c", ".cc"}
LAYERS = ("sdk", "plugins", "runtime", "host")


def arguments(description):
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--source", type=pathlib.Path, required=True, help="root of the source tree")
    parser.add_argument("--build", type=pathlib.Path, required=True, help="build folder")
    args = parser.parse_args()
    args.source = args.source.resolve()
    return args


def files(root):
    """Relative paths of the tree's files: tracked ones and new ones that git does not ignore; without git, every file."""
    command = ["git", "-C", str(root), "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    listing = subprocess.run(command, capture_output=True, text=True, check=False)
    if listing.returncode == 0:
        names = sorted(set(listing.stdout.split("\0")) - {""})
    else:
        names = []
        for folder, folders, leaves in os.walk(root):
            folders[:] = [name for name in folders if name not in {".git", "build", ".cache"}]
            names += [os.path.relpath(os.path.join(folder, leaf), root) for leaf in leaves]
    return [pathlib.PurePosixPath(name) for name in sorted(names) if (root / name).is_file()]


def cpp_files(root):
    return [path for path in files(root) if path.suffix in CPP and path.parts[:2] != ("tests", "data")]


def text(root, path):
    """A file's text; None if it is binary."""
    data = (root / path).read_bytes()
    if b"\0" in data:
        return None
    try:
        return data.decode()
    except UnicodeDecodeError:
        return None


def skip(reason):
    print(f"SKIPPED: {reason}")
    sys.exit(SKIP)


def report(problems, checked):
    """Prints every problem and leaves: exit 1 if there is one."""
    for problem in problems:
        print(problem)
    print(f"{len(problems)} problems, {checked}")
    sys.exit(1 if problems else 0)

"""The installed package: each component is installed alone into a folder, moved, and used by a project that knows only find_package,
and by a C compiler that knows only pkg-config."""
import os
import pathlib
import shutil
import subprocess
import tempfile

import tree

HERE = pathlib.Path(__file__).resolve().parent


def run(*words, **extra):
    """(exit status, output); what cannot be started counts as 127, as in a shell"""
    try:
        result = subprocess.run([str(word) for word in words], capture_output=True, text=True, check=False, **extra)
    except OSError as error:
        return 127, str(error)
    return result.returncode, result.stdout + result.stderr


class Package:
    def __init__(self, build, folder):
        self.build, self.folder, self.problems = build, folder, []

    def need(self, what, *words, **extra):
        code, output = run(*words, **extra)
        if code != 0:
            self.problems.append(f"{what}: exit {code}\n{output.strip()}")
        else:
            print(f"{what}: done")
        return code == 0

    def install(self, component):
        """Installs a component and moves it: an installed tree knows no absolute path."""
        first, moved = self.folder / f"{component}-first", self.folder / component
        if self.need(f"install {component}", "cmake", "--install", self.build, "--prefix", first, "--component", component):
            first.rename(moved)
        return moved

    def configure(self, prefix, component):
        """(exit status, output) of a project that asks for the component in this prefix"""
        project = self.folder / f"project-{component}-{prefix.name}"
        return run("cmake", "-G", "Ninja", "-S", HERE / "consumer", "-B", project, f"-DCMAKE_PREFIX_PATH={prefix}",
                   f"-DGAINZ_COMPONENT={component}", "-DCMAKE_FIND_USE_PACKAGE_REGISTRY=OFF"), project

    def contents(self, prefix):
        """The runtime's files, and none of the tests'."""
        names = {path.name for path in prefix.rglob("*") if path.is_file()}
        for name in ("gainz", "gainz.h", "libgainz.so.0", "gainz-config.cmake", "gainz.pc", "gainz_reference.so", "LICENSE"):
            if name not in {path.name for path in prefix.rglob("*")}:
                self.problems.append(f"runtime: {name} is not installed")
        self.problems += [f"runtime: {name} is installed" for name in sorted(names) if "probe" in name or "test" in name or name == "abi.h"]

    def runtime(self):
        prefix = self.install("runtime")
        self.contents(prefix)
        (code, output), project = self.configure(prefix, "runtime")
        if code != 0:
            self.problems.append(f"find_package(gainz COMPONENTS runtime): exit {code}\n{output}")
        elif self.need("build the consumer", "cmake", "--build", project):
            self.need("run the consumer", project / "consumer")
        self.need("run the installed program", prefix / "bin" / "gainz", "devices", cwd=self.folder)
        self.pkg_config(prefix)
        return prefix

    def pkg_config(self, prefix):
        if not shutil.which("pkg-config"):
            return
        found = next(prefix.rglob("gainz.pc"), None)
        if not found:
            return
        code, flags = run("pkg-config", "--cflags", "--libs", "gainz", env={**os.environ, "PKG_CONFIG_PATH": str(found.parent)})
        program = self.folder / "plain"
        rpath = f"-Wl,-rpath,{found.parent.parent}"
        if code != 0:
            self.problems.append(f"pkg-config: {flags}")
        elif self.need("build by pkg-config", "cc", "-std=c11", HERE / "consumer" / "main.c", "-o", program, rpath, *flags.split()):
            self.need("run what pkg-config built", program)

    def sdk(self):
        prefix = self.install("sdk")
        (code, output), _ = self.configure(prefix, "sdk")
        if code != 0:
            self.problems.append(f"find_package(gainz COMPONENTS sdk): exit {code}\n{output}")
        (code, output), _ = self.configure(prefix, "runtime")
        if code == 0 or "runtime" not in output:
            self.problems.append(f"find_package of a component that is not installed must fail and name it, but: {output}")
        self.problems += [f"sdk: {path.name} is installed" for path in prefix.rglob("libgainz.so*")]


if __name__ == "__main__":
    args = tree.arguments(__doc__)
    with tempfile.TemporaryDirectory() as name:
        package = Package(args.build, pathlib.Path(name))
        package.runtime()
        package.sdk()
        tree.report(package.problems, "2 components")

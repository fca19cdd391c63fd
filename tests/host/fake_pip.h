// A pip for tests without a network: a Python module on PYTHONPATH that answers `python3 -m pip download ... -d FOLDER
// NAME==VERSION` with NAME.whl out of the folder in FAKE_PIP_WHEELS, or fails as pip does. Writes a line to
// FAKE_PIP_WHEELS/calls for each call.
#pragma once

#include <string>

#include "host/temp_folder.h"

namespace gainz::test {

inline std::string make_fake_pip(const TempFolder& folder) {
  folder.write("python/pip/__init__.py", "");
  folder.write("python/pip/__main__.py", R"(import os, shutil, sys
wheels = os.environ["FAKE_PIP_WHEELS"]
with open(os.path.join(wheels, "calls"), "a") as calls:
    print(" ".join(sys.argv[1:]), file=calls)
name = sys.argv[-1].split("==")[0]
source = os.path.join(wheels, name + ".whl")
if not os.path.exists(source):
    print("WARNING: Retrying", file=sys.stderr)
    print("ERROR: No matching distribution found for " + sys.argv[-1], file=sys.stderr)
    sys.exit(1)
shutil.copy(source, sys.argv[sys.argv.index("-d") + 1])
)");
  return folder.file("python");
}

// A wheel (a zip) that holds one file.
inline void make_wheel(const TempFolder& folder, const std::string& name, const std::string& member,
                       const std::string& content) {
  const std::string file = folder.write("content", content);
  const std::string script =
      "import zipfile; zipfile.ZipFile('" + folder.file(name + ".whl") + "', 'w').write('" + file + "', '" + member + "')";
  ASSERT_EQ(std::system(("python3 -c \"" + script + "\"").c_str()), 0);
}

}  // namespace gainz::test

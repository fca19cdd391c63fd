#!/bin/bash
# template_test.sh BUILD CXX: installs the SDK into an empty folder, copies the template out of it, builds it with the command in its own
# comment and again with CMake, and loads both. Nothing but the installed files and a compiler is used.
set -euo pipefail
build=$1
cxx=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

cmake --install "$build" --component sdk --prefix "$work/sdk" >/dev/null
cp -r "$work/sdk/share/gainz/template" "$work/plugin"
cd "$work/plugin"
lines=$(wc -l <my_plugin.cc)
[ "$lines" -le 150 ] || { echo "the template has $lines lines, more than 150"; exit 1; }

command=$(sed -n '/^\/\/ *g++ /,/[^\\]$/{s/^\/\/ *//;s/\\$//;p}' my_plugin.cc | tr '\n' ' ')
[ -n "$command" ] || { echo "my_plugin.cc names no command"; exit 1; }
P="$work/sdk" bash -euc "${command/#g++/$cxx}"

cmake -G Ninja -S . -B build -DCMAKE_PREFIX_PATH="$work/sdk" -DCMAKE_CXX_COMPILER="$cxx" -DCMAKE_BUILD_TYPE=Release >/dev/null
cmake --build build >/dev/null

for plugin in my_plugin.so build/my_plugin.so "$build/lib/gainz/plugins/gainz_reference.so"; do
  symbols=$(nm -D --defined-only "$plugin" | awk '{print $NF}')
  [ "$symbols" = gainz_plugin_query_v0 ] || { echo "$plugin exports: $symbols"; exit 1; }
  "$build/bin/sdk_load_plugin" "$(realpath "$plugin")" "$build/lib/gainz/plugins/gainz_reference.so"
done
"$work/sdk/bin/gainz-conform" ./my_plugin.so --report report.txt >conform.txt || { cat conform.txt; exit 1; }  # the installed kit, with its toys
grep -q "models.llama " conform.txt && ! grep -q "models.*not there" conform.txt || { cat conform.txt; exit 1; }
for name in $(sed -n 's/^library = "\(.*\)"/\1/p' my_plugin.plugin.toml); do [ -e "$name" ]; done

#!/usr/bin/env bash
# tutorial_test.sh BUILD CXX: the commands of docs/writing-a-plugin.md, in order, against an installed SDK.
set -euo pipefail
build=$1
cxx=$2
source=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cmake --install "$build" --component sdk --prefix "$work/sdk" >/dev/null
cp "$source"/first.cc "$source"/first.plugin.toml "$work"
cd "$work"

# The page's commands: what stands between the two lines that mark them, with P as the reader has set it.
commands=$(sed -n '/^<!-- commands -->$/,/^<!-- \/commands -->$/p' "$source/../../../docs/writing-a-plugin.md" | sed -n '/^```sh$/,/^```$/p' | grep -v '^```')
[ -n "$commands" ] || { echo "the page has no commands"; exit 1; }
P="$work/sdk" bash -euc "g++() { $cxx \"\$@\"; }
$commands" >out.txt || { cat out.txt; exit 1; }
grep -q "^pass  *ops.scale " out.txt
grep -q "^unsupported  *ops.linear.f32 .*not claimed" out.txt
grep -q " 0 failed, " out.txt

# One wrong operator, and the judge says where.
sed 's/factor \* x\[i\]/factor + x[i]/' first.cc >wrong.cc
"$cxx" -std=c++20 -O2 -fPIC -shared -fvisibility=hidden -I"$work/sdk/include" wrong.cc -o wrong.so -L"$work/sdk/lib" -lgainz_simple_backend -lgainz_sdk_reference -Wl,--exclude-libs,ALL
if "$work/sdk/bin/gainz-conform" ./wrong.so --only 'ops.*' >wrong.txt; then echo "a wrong kernel passes"; exit 1; fi
grep -q "^FAIL  *ops.scale .*is off by" wrong.txt

#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# CPU time of the names of a shared library's functions: bench/names/run.sh [BUILD] [LIBRARY]
set -eu
build=${1:-build}
library=${2:-$(ls /usr/lib/x86_64-linux-gnu/libLLVM-*.so* /usr/lib/x86_64-linux-gnu/libstdc++.so.6 | head -1)}
ninja -C "$build" bench/names/bench_names >/dev/null
list=$(mktemp)
trap 'rm -f "$list"' EXIT
nm -D --defined-only "$library" | awk '{ sub(/@.*/, "", $3); print $3 }' | sort -u >"$list"
"$build/bench/names/bench_names" "$list"

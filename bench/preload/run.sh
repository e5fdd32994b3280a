#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# What recording costs programs that were not built for it: bench/preload/run.sh [BUILD [OPTION...]];
# run.py --help lists the options. heaptrack is compared with where it is installed.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
build=${1:-build}
[ $# -gt 0 ] && shift
ninja -C "$build" >/dev/null
exec python3 "$here/run.py" "$build" "$@"

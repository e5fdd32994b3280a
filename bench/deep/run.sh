#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Loading profiles of 10^5 to 10^7 nodes, reading against md5sum, the real file's clique page:
# bench/deep/run.sh [BUILD [ROUNDS]]
set -eu
build=${1:-build}
ninja -C "$build" tests/tools/generate-profile bench/deep/bench_load src/cli/fathom >/dev/null
python3 "$(dirname "$0")/measure.py" "$build" ${2:+"$2"}

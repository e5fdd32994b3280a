#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# CPU time of every kind of page of a made-up profile: bench/report/run.sh [BUILD [NODES [PROCS]]]
set -eu
build=${1:-build}
nodes=${2:-10000000}
procs=${3:-20000}
ninja -C "$build" tests/tools/generate-profile bench/report/bench_pages >/dev/null
folder=$(mktemp -d)
trap 'rm -r "$folder"' EXIT
"$build/tests/tools/generate-profile" -n "$nodes" -p "$procs" "$folder/made-up.data"
"$build/bench/report/bench_pages" "$folder/made-up.data" 200

#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# What filters cost: bench/trace/run_filter.sh [BUILD]
set -eu
cd "$(dirname "$0")/../.."
build=${1:-build}
ninja -C "$build" bench/trace/bench_filter tests/tools/generate-eventlog >/dev/null
log=$(mktemp)
trap 'rm -f "$log"' EXIT
"$build/tests/tools/generate-eventlog" --events 100000 --caps 4 "$log"
"$build/bench/trace/bench_filter" "$log"

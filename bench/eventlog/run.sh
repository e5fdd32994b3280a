#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Event logs: bench/eventlog/run.sh [BUILD [EVENTS]]
set -eu
build=${1:-build}
events=${2:-20000000}
ninja -C "$build" tests/tools/generate-eventlog bench/eventlog/read_bench >/dev/null
python3 bench/eventlog/read_run.py "$build" "$events"

echo "-- the runtime: cost of an event"
"$(dirname "$0")/run_runtime.sh" "$build"

#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Traces through the engine: bench/trace/run.sh [BUILD [EVENTS...]] (default 11,000,000 events, which
# take 280 MB). FOLDER for the logs: $TMPDIR or /var/tmp; they are removed.
set -eu
build=${1:-build}
[ $# -gt 0 ] && shift
[ $# -gt 0 ] || set -- 11000000
ninja -C "$build" bench/trace/make_log bench/trace/bench_trace bench/trace/bench_segments >/dev/null
folder=$(mktemp -d "${TMPDIR:-/var/tmp}/fathom-bench-XXXXXX")
trap 'rm -rf "$folder"' EXIT
for events in "$@"; do
    for kind in c haskell; do
        echo "-- $events events, $kind"
        "$build/bench/trace/make_log" "$folder/log.eventlog" "$events" "$kind" >/dev/null
        "$build/bench/trace/bench_trace" "$folder/log.eventlog"
        "$build/bench/trace/bench_segments" "$folder/log.eventlog"
        rm "$folder/log.eventlog"
    done
done

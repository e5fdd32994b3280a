#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Cost of an event of the live log. Usage: bench/eventlog/run_runtime.sh [BUILD]. With lttng-ust and
# lttng-tools installed, its tracepoint runs in the same rounds, in a session of its own.
set -e
here=$(dirname "$0")
build=${1:-build}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
flags="-std=gnu17 -O2 -D_GNU_SOURCE -I$here/../../include -I$here"
lib="$build/runtime/eventlog/libfathom-eventlog.a"
if command -v lttng >/dev/null && pkg-config --exists lttng-ust; then
    cc $flags -DHAVE_LTTNG "$here/bench_log.c" "$here/bench_tp.c" "$lib" -llttng-ust -ldl -pthread \
        -o "$work/bench"
    export LTTNG_HOME="$work"
    lttng-sessiond --daemonize --no-kernel --pidfile="$work/pid"
    trap 'lttng destroy fathom-bench >/dev/null 2>&1; kill "$(cat "$work/pid")"; rm -rf "$work"' EXIT
    lttng create fathom-bench --output="$work/trace" >/dev/null
    lttng enable-channel --userspace --subbuf-size=4M --num-subbuf=4 --overwrite c >/dev/null
    lttng enable-event --userspace --channel=c 'fathom_bench:*' >/dev/null
    lttng start >/dev/null
else
    echo "lttng-ust is not installed: left out"
    cc $flags "$here/bench_log.c" "$lib" -pthread -o "$work/bench"
fi
"$work/bench"

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
    session=fathom-bench-$$
    # A session daemon that runs already is used, and left as it is; it has room for our session.
    if lttng --no-sessiond list >/dev/null 2>&1; then
        trap 'lttng destroy "$session" >/dev/null 2>&1; rm -rf "$work"' EXIT
    else
        export LTTNG_HOME="$work"
        lttng-sessiond --daemonize --no-kernel --pidfile="$work/pid"
        trap 'lttng destroy "$session" >/dev/null 2>&1; kill "$(cat "$work/pid")"; rm -rf "$work"' EXIT
    fi
    lttng create "$session" --output="$work/trace" >/dev/null
    lttng enable-channel --session="$session" --userspace --subbuf-size=4M --num-subbuf=4 --overwrite c >/dev/null
    lttng enable-event --session="$session" --userspace --channel=c 'fathom_bench:*' >/dev/null
    lttng start "$session" >/dev/null
else
    echo "lttng-ust is not installed: left out"
    cc $flags "$here/bench_log.c" "$lib" -pthread -o "$work/bench"
fi
"$work/bench"

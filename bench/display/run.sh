#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# CPU time of building and writing pages: bench/display/run.sh [BUILD]
set -eu
build=${1:-build}
ninja -C "$build" bench/display/bench_display >/dev/null
exec "$build/bench/display/bench_display"

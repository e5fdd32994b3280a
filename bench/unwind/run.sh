#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Nanoseconds a frame of the runtime's unwinder and of libgcc's: bench/unwind/run.sh [BUILD]
set -eu
cd "$(dirname "$0")/../.."
build=${1:-build}
ninja -C "$build" bench/unwind/bench_unwind >/dev/null
"$build/bench/unwind/bench_unwind"

#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# What is computed on the bodies of the real file: bench/bodies/run.sh [BUILD]
set -eu
build=${1:-build}
data=${FATHOM_SAMPLE_DATA:-}/mercury/Deep.data
[ -f "$data" ] || { echo "no mercury/Deep.data in the folder FATHOM_SAMPLE_DATA"; exit 0; }
ninja -C "$build" bench/bodies/bench_bodies >/dev/null
"$build/bench/bodies/bench_bodies" "$data"

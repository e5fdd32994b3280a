#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Builds the fuzz targets with clang and runs each: fuzz/run.sh [SECONDS [TARGET...]]
# The corpus grows in build-fuzz/corpus/TARGET; an input that fails is left in build-fuzz.
set -eu
cd "$(dirname "$0")/.."
seconds=${1:-120}
[ $# -gt 0 ] && shift
if [ ! -f build-fuzz/build.ninja ]; then
    CC=clang meson setup build-fuzz -Dfuzzers=true -Dman=disabled \
        -Db_sanitize=address,undefined -Db_lundef=false \
        -Dc_args='-fsanitize=fuzzer-no-link -fno-omit-frame-pointer' >/dev/null
fi
targets=${*:-$(ls fuzz/fuzz_*.c | sed 's|.*/fuzz_\(.*\)\.c|\1|')}
for target in $targets; do
    ninja -C build-fuzz "fuzz/fuzz_$target" >build-fuzz/ninja.log || { cat build-fuzz/ninja.log; exit 1; }
    mkdir -p "build-fuzz/corpus/$target"
    echo "== $target: $seconds s"
    UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1 \
        "build-fuzz/fuzz/fuzz_$target" -max_total_time="$seconds" -timeout=10 -rss_limit_mb=1024 \
        -print_final_stats=1 -verbosity=1 -artifact_prefix="build-fuzz/$target-" \
        "build-fuzz/corpus/$target" "fuzz/seeds/$target" 2>build-fuzz/"$target".log ||
        { tail -60 build-fuzz/"$target".log; exit 1; }
    grep -E 'stat::number_of_executed_units|stat::average_exec|Done' build-fuzz/"$target".log
done

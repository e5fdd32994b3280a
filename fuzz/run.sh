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
targets=${*:-$(ls fuzz/fuzz_*.c fuzz/*/fuzz_*.c | sed "s|.*/fuzz_\(.*\)\.c|\1|")}
found=

# A finding, or a target that does not build, keeps nobody from the others.
for target in $targets; do
    log=build-fuzz/$target.log
    if ! ninja -C build-fuzz "fuzz/fuzz_$target" >"$log"; then
        tail -60 "$log"
        found="$found $target"
        continue
    fi
    mkdir -p "build-fuzz/corpus/$target"
    echo "== $target: $seconds s"
    if UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1 \
        "build-fuzz/fuzz/fuzz_$target" -max_total_time="$seconds" -timeout=10 -rss_limit_mb=1024 \
        -print_final_stats=1 -verbosity=1 -artifact_prefix="build-fuzz/$target-" \
        "build-fuzz/corpus/$target" "fuzz/seeds/$target" 2>"$log"; then
        grep -E 'stat::number_of_executed_units|stat::average_exec|Done' "$log" || true
    else
        tail -60 "$log"
        found="$found $target"
    fi
done
[ -z "$found" ] && exit 0
echo "== found, in:"
for target in $found; do
    echo "$target: $(grep -m 1 -E 'ERROR: |runtime error: |FAILED' "build-fuzz/$target.log" || echo "see build-fuzz/$target.log")"
    sed -n 's/.*Test unit written to /    /p' "build-fuzz/$target.log"
done
exit 1

#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Runs every benchmark, or those named: bench/run.sh [BUILD [TOPIC...]]. Each topic is a folder with
# its own run.sh, which takes the build folder and prints its figures.
set -eu
cd "$(dirname "$0")/.."
build=${1:-build}
[ $# -gt 0 ] && shift
for script in bench/*/run.sh; do
    topic=$(basename "$(dirname "$script")")
    [ $# -eq 0 ] || case " $* " in *" $topic "*) ;; *) continue ;; esac
    echo "== $topic"
    "$script" "$build"
done

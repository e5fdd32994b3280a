#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Pages as a reader waits for them: bench/pages/run.sh [BUILD [NODES]].
set -eu
here=$(cd "$(dirname "$0")" && pwd)
build=${1:-build}
[ $# -gt 0 ] && shift
ninja -C "$build" src/cli/fathom tests/tools/generate-profile bench/pages/bench_steps \
  >/dev/null
exec python3 "$here/run.py" "$build" "$@"

#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Comparing and exporting profiles of 10^6 contexts: bench/compare/run.sh [BUILD [ROUNDS [OTHER]]].
# OTHER, a second fathom, is run in turn with the build's.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
build=${1:-build}
[ $# -gt 0 ] && shift
ninja -C "$build" src/cli/fathom tests/tools/generate-profile >/dev/null
exec python3 "$here/measure.py" "$build" "$@"

#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# What recording costs: bench/record/run.sh [BUILD [OPTION...]]; overhead.py --help lists the options.
# The programs (Lua, bzip2, SQLite: from Debian's source packages) and the recordings stay in
# BUILD/bench-record, so a second run builds only what fathom's changes make necessary.
set -eu
here=$(dirname "$0")
build=${1:-build}
[ $# -gt 0 ] && shift
ninja -C "$build" >/dev/null
exec python3 "$here/overhead.py" "$build/src/cli/fathom" "$build/bench-record" "$@"

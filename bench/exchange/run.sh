#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Other tools' files of 100 MB, imported: bench/exchange/run.sh [BUILD [MEGABYTES [ROUNDS]]]
set -eu
build=${1:-build}
ninja -C "$build" src/cli/fathom >/dev/null
exec "$(dirname "$0")/import.py" "$build" "${2:-100}" "${3:-3}"

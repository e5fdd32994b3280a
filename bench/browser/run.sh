#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Pages in a browser: bench/browser/run.sh BUILD
set -eu
exec python3 "$(dirname "$0")/run.py" "${1:-build}"

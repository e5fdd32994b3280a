#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Pages in a browser, and the first picture of a long log: bench/browser/run.sh BUILD
set -eu
python3 "$(dirname "$0")/run.py" "${1:-build}"
exec python3 "$(dirname "$0")/first_picture.py" "${1:-build}"

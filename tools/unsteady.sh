#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Which tests fail on a busy machine: tools/unsteady.sh [N [COMMAND...]] runs all of .ci/run (or the
# command) N times beside 16 busy loops, and prints each failure. LOOPS=n: so many loops.
set -euo pipefail
cd "$(dirname "$0")/.."
runs=${1:-10}
[ $# -eq 0 ] || shift
[ $# -gt 0 ] || set -- bash .ci/run
export CI_MINUTES=${CI_MINUTES:-600}
loops=()
for ((i = 0; i < ${LOOPS:-16}; i++)); do
    while :; do :; done &
    loops+=($!)
done
log=$(mktemp)
trap 'kill "${loops[@]}" 2>/dev/null; rm -f "$log"' EXIT
red=0
for ((run = 1; run <= runs; run++)); do
    if "$@" >"$log" 2>&1 </dev/null; then
        echo "run $run: passed: $(tail -n 1 "$log")"
    else
        red=$((red + 1))
        echo "run $run: failed"
        tail -n 60 "$log"
    fi
done
echo "$runs runs, $red failed"
[ "$red" -eq 0 ]

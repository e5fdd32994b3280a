#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Checks the model with Spin: `run.sh small` (under two minutes) or `run.sh all`. Every run is
# exhaustive. The two mutations must be caught. Prints TAP.
set -uo pipefail
cd "$(dirname "$0")"
which=${1:-small}
command -v spin >/dev/null || { echo "1..0 # SKIP spin is not installed"; exit 0; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
number=0
failed=0

# run NAME EXPECTED(holds|fails) KIND(safety|liveness) DEFINES...
run() {
    local name=$1 expected=$2 kind=$3 folder options cflags found states
    shift 3
    number=$((number + 1))
    folder=$work/$number
    mkdir "$folder"
    options=("$@")
    cflags=(-O2 -DVECTORSZ=4096 -DCOLLAPSE -DMEMLIM=8000)
    if [ "$kind" = liveness ]; then
        options+=(-DLIVENESS)
        cflags+=(-DNFAIR=8)
    else
        cflags+=(-DSAFETY)
    fi
    if ! (cd "$folder" && spin "${options[@]}" -a "$model") >"$folder/spin.log" 2>&1; then
        cat "$folder/spin.log" | sed 's/^/# /'
    fi
    gcc "${cflags[@]}" -w -o "$folder/pan" "$folder/pan.c"
    if [ "$kind" = liveness ]; then
        (cd "$folder" && ./pan -a -f -m2000000 -w24) >"$folder/pan.log" 2>&1
    else
        (cd "$folder" && ./pan -m2000000 -w24) >"$folder/pan.log" 2>&1
    fi
    states=$(awk '/states, stored/ { print $1; exit }' "$folder/pan.log")
    if grep -q 'errors: 0' "$folder/pan.log" && ! grep -q 'Search not completed' "$folder/pan.log"; then
        found=holds
    elif grep -q 'errors: [1-9]' "$folder/pan.log"; then
        found=fails
    else
        found=broken
    fi
    if [ "$found" = "$expected" ]; then
        echo "ok $number - $name: $found, $states states"
    else
        failed=1
        echo "not ok $number - $name: $found, expected $expected"
        sed 's/^/# /' "$folder/pan.log" | head -30
    fi
}

model=$PWD/cgi.pml
run "two clients, no kill, two timeouts" holds safety -DN=2 -DKILLS=0 -DTIMEOUTS=2
run "two clients, one kill" holds safety -DN=2 -DKILLS=1 -DTIMEOUTS=1
run "two clients and a server, no kill" holds safety -DN=2 -DPRE=1 -DKILLS=0 -DTIMEOUTS=1
run "two clients and a server, one kill" holds safety -DN=2 -DPRE=1 -DKILLS=1 -DTIMEOUTS=1
run "two clients, two kills" holds safety -DN=2 -DKILLS=2 -DTIMEOUTS=1
run "two clients, one kill, quit" holds safety -DN=2 -DKILLS=1 -DTIMEOUTS=1 -DQUIT=1
run "two clients, one kill: everyone ends" holds liveness -DN=2 -DKILLS=1 -DTIMEOUTS=1
run "mutation: waits while locked by anyone" fails safety -DN=2 -DPRE=1 -DKILLS=1 -DTIMEOUTS=1 -DMUTATION_LOCKED
run "mutation: no check of the inode" fails safety -DN=3 -DKILLS=1 -DTIMEOUTS=1 -DMUTATION_INODE
if [ "$which" = all ]; then
    run "two clients and a server, two timeouts" holds safety -DN=2 -DPRE=1 -DKILLS=0 -DTIMEOUTS=2
    run "two clients and a server, two kills" holds safety -DN=2 -DPRE=1 -DKILLS=2 -DTIMEOUTS=1
    run "two clients, three kills, two timeouts" holds safety -DN=2 -DKILLS=3 -DTIMEOUTS=2
    run "two clients and a server, quit" holds safety -DN=2 -DPRE=1 -DKILLS=0 -DTIMEOUTS=1 -DQUIT=1
    run "two clients and a server, one kill, quit" holds safety -DN=2 -DPRE=1 -DKILLS=1 -DTIMEOUTS=0 -DQUIT=1
    run "three clients, no kill" holds safety -DN=3 -DKILLS=0 -DTIMEOUTS=1
    run "three clients, one kill" holds safety -DN=3 -DKILLS=1 -DTIMEOUTS=1
    run "three clients and a server" holds safety -DN=3 -DPRE=1 -DKILLS=0 -DTIMEOUTS=1
    run "two clients: everyone ends" holds liveness -DN=2 -DKILLS=0 -DTIMEOUTS=1
    run "two clients and a server, one kill: everyone ends" holds liveness -DN=2 -DPRE=1 -DKILLS=1 -DTIMEOUTS=1
fi
echo "1..$number"
exit $failed

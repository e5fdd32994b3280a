#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Checks the model with Spin: `run.sh small` (under two minutes) or `run.sh all`. Every run is
# exhaustive. Mutations must be caught, but for those that are harmless. Prints TAP.
set -uo pipefail
cd "$(dirname "$0")" || exit 1
which=${1:-small}
command -v spin >/dev/null || { echo "1..0 # SKIP spin is not installed"; exit 0; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
number=0
failed=0

# run NAME EXPECTED(holds|fails) KIND(safety|liveness|ending) DEFINES...
run() {
    local name=$1 expected=$2 kind=$3 folder options cflags found states
    shift 3
    number=$((number + 1))
    folder=$work/$number
    mkdir "$folder"
    options=("$@")
    cflags=(-O1 -DVECTORSZ=4096 -DCOLLAPSE -DMEMLIM=8000)
    case $kind in
    liveness) options+=(-DLIVENESS); cflags+=(-DNFAIR=8) ;;
    ending) options+=(-DENDING); cflags+=(-DNFAIR=8) ;;
    *) cflags+=(-DSAFETY) ;;
    esac
    if ! (cd "$folder" && spin "${options[@]}" -a "$model") >"$folder/spin.log" 2>&1; then
        cat "$folder/spin.log" | sed 's/^/# /'
    fi
    gcc "${cflags[@]}" -w -o "$folder/pan" "$folder/pan.c"
    if [ "$kind" != safety ]; then
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
run "two clients and a server, one kill" holds safety -DN=2 -DPRE=1 -DKILLS=1 -DTIMEOUTS=1
run "two clients, two kills" holds safety -DN=2 -DKILLS=2 -DTIMEOUTS=1
run "two clients, one signal" holds safety -DN=2 -DKILLS=1 -DTIMEOUTS=1 -DTOLD=1
run "two clients, one kill or failure, quit" holds safety -DN=2 -DKILLS=1 -DTIMEOUTS=1 -DFAULTS=1 -DQUIT=1
run "two clients, two failures" holds safety -DN=2 -DKILLS=0 -DTIMEOUTS=1 -DFAULTS=2
run "two clients, one kill, a sweeper" holds safety -DN=2 -DKILLS=1 -DTIMEOUTS=1 -DSWEEP=1
run "two clients, one kill: everyone ends" holds liveness -DN=2 -DKILLS=1 -DTIMEOUTS=1
run "two clients and a server, quit: the server ends" holds ending -DN=2 -DPRE=1 -DKILLS=0 -DTIMEOUTS=0 -DQUIT=1

# mutation NAME EXPECTED DEFINES...: those that hold are harmless, README.md says why
mutation() {
    local name=$1 expected=$2
    shift 2
    run "mutation ${name,,}" "$expected" safety "$@" "-DMUTATION_$name"
}

mutation INODE fails -DN=3 -DKILLS=1 -DTIMEOUTS=1
mutation LOCKED fails -DN=2 -DPRE=1 -DKILLS=1 -DTIMEOUTS=1
mutation NO_LIFE_LOCK fails -DN=2 -DKILLS=1 -DTIMEOUTS=1
mutation RELEASE_EARLY fails -DN=2 -DKILLS=0 -DTIMEOUTS=1
mutation UNLINK_UNHELD fails -DN=3 -DKILLS=0 -DTIMEOUTS=1 -DFAULTS=1
mutation ABORT_KEEPS_MUTEX fails -DN=2 -DPRE=1 -DKILLS=0 -DTIMEOUTS=2
mutation RELEASE_FIRST fails -DN=2 -DPRE=1 -DKILLS=0 -DTIMEOUTS=2
mutation SWEEP_LIVING fails -DN=2 -DPRE=1 -DKILLS=0 -DTIMEOUTS=2
mutation SWEEP_PROBES fails -DN=2 -DKILLS=1 -DTIMEOUTS=1 -DSWEEP=1
mutation NO_QUEUE_CHECK holds -DN=2 -DPRE=1 -DKILLS=0 -DTIMEOUTS=2
mutation NO_WANT_CHECK holds -DN=2 -DPRE=1 -DKILLS=0 -DTIMEOUTS=2
if [ "$which" = all ]; then
    mutation LOSER_UNLINKS fails -DN=3 -DKILLS=1 -DTIMEOUTS=1
    mutation MUTEX_FIRST fails -DN=2 -DPRE=1 -DKILLS=1 -DTIMEOUTS=2
    mutation SWEEP_NO_MUTEX holds -DN=2 -DKILLS=1 -DTIMEOUTS=1 -DSWEEP=1
    run "two clients and a server, two timeouts" holds safety -DN=2 -DPRE=1 -DKILLS=0 -DTIMEOUTS=2
    run "two clients and a server, two kills" holds safety -DN=2 -DPRE=1 -DKILLS=2 -DTIMEOUTS=1
    run "two clients and a server, two signals" holds safety -DN=2 -DPRE=1 -DKILLS=2 -DTIMEOUTS=0 -DTOLD=1
    run "two clients and a server, one signal, a failure, quit" holds safety -DN=2 -DPRE=1 -DKILLS=1 -DTIMEOUTS=0 -DTOLD=1 -DFAULTS=1 -DQUIT=1
    run "two clients and a server, one kill, a sweeper" holds safety -DN=2 -DPRE=1 -DKILLS=1 -DTIMEOUTS=1 -DSWEEP=1
    run "two clients, two kills, a sweeper" holds safety -DN=2 -DKILLS=2 -DTIMEOUTS=0 -DSWEEP=1
    run "two clients, three kills, two timeouts" holds safety -DN=2 -DKILLS=3 -DTIMEOUTS=2
    run "three clients, no kill" holds safety -DN=3 -DKILLS=0 -DTIMEOUTS=1
    run "three clients, one kill" holds safety -DN=3 -DKILLS=1 -DTIMEOUTS=1
    run "three clients and a server" holds safety -DN=3 -DPRE=1 -DKILLS=0 -DTIMEOUTS=1
    run "two clients, one signal, quit: everyone ends" holds liveness -DN=2 -DKILLS=1 -DTIMEOUTS=1 -DTOLD=1 -DQUIT=1
    run "two clients and a server, one kill: everyone ends" holds liveness -DN=2 -DPRE=1 -DKILLS=1 -DTIMEOUTS=1
    run "two clients and a server, one signal: the server ends" holds ending -DN=2 -DPRE=1 -DKILLS=1 -DTIMEOUTS=0 -DTOLD=1
fi
echo "1..$number"
exit $failed

#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# A debug build with sanitizers, and the quick tests of the folders that differ from the branch
# `main` (or from the last commit, on it): tools/dev.sh [BUILD].
set -eu
cd "$(dirname "$0")/.."
build=${1:-build-dev}
[ -f "$build/build.ninja" ] ||
    meson setup "$build" --buildtype=debug -Db_sanitize=address,undefined -Db_lundef=false
ninja -C "$build"
base=HEAD
[ "$(git rev-parse --abbrev-ref HEAD)" = main ] || base=$(git merge-base HEAD main 2>/dev/null || echo HEAD)
suites=$({ git diff --name-only "$base"; git ls-files --others --exclude-standard; } | awk -F/ '
    BEGIN { # folders whose tests are in the suite of another
        suite["body"] = suite["feedback"] = "analysis"; suite["procrep"] = suite["merge"] = "deep"
        suite["recording"] = suite["viewers"] = suite["pages"] = "serve"; suite["import-ctf"] = "trace"
    }
    $1 == "src" { print $2 in suite ? suite[$2] : $2; if ($2 == "pages") print "report" }
    $1 == "fuzz" { print "fuzz" }
    $1 == "web" { print "serve" }
    $1 == "runtime" && $2 == "eventlog" { print "runtime-eventlog"; next }
    $1 == "runtime" { print "runtime"; print "record" }
    $1 == "include" { print "runtime"; print "runtime-eventlog" }
    $1 == "tests" && $2 == "unit" && NF > 3 { print $3; next }
    $1 == "tests" && NF > 2 { print $2 }' | sort -u)
known=$(meson introspect --tests "$build" | python3 -c '
import json, sys
print("\n".join(sorted({s.split(":")[-1] for t in json.load(sys.stdin) for s in t["suite"]})))')
for suite in $suites; do
    if echo "$known" | grep -qx "$suite"; then
        set -- "$@" --suite "$suite"
    fi
done
[ $# -gt 0 ] && [ "$1" = "$build" ] && shift
meson test -C "$build" --no-rebuild --print-errorlogs --setup quick layers circles
[ $# -eq 0 ] || meson test -C "$build" --no-rebuild --print-errorlogs --setup quick "$@"

#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The tests of the event log's runtime, and of work that is done in a thread beside, under
# ThreadSanitizer: tools/threads.sh [BUILD]. Builds only what they need; about two minutes on two
# cores.
set -eu
cd "$(dirname "$0")/.."
build=${1:-build-threads}
[ -f "$build/build.ninja" ] ||
    meson setup "$build" -Db_sanitize=thread -Db_lundef=false -Dman=disabled >/dev/null
targets=$(ninja -C "$build" -t targets all | sed -n 's/^\(tests\/unit\/runtime-eventlog\/[a-z_]*\(\.so\)\{0,1\}\): .*/\1/p')
beside="tests/unit/base/test_base_worker tests/unit/base/test_base_prefault tests/unit/deep/test_deep_beside
    tests/unit/trace/test_tape tests/unit/schedule/test_trace_modules"
ninja -C "$build" src/cli/fathom $targets $beside >"$build/ninja.log" || { tail -40 "$build/ninja.log"; exit 1; }
meson test -C "$build" --no-rebuild --suite runtime-eventlog --suite beside --no-suite soak \
    --no-suite slow --print-errorlogs

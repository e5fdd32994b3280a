#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Looks for mistakes: layout (clang-format), shell scripts (shellcheck), scripts of the pages
# (eslint), C (clang-tidy). tools/lint.sh BUILD [FILE...] checks with clang-tidy only the C files
# named, or, with --changed, those that differ from the last commit.
set -eu
cd "$(dirname "$0")/.."
build=$1
shift
if [ "${1:-}" = --changed ]; then
    shift
    # shellcheck disable=SC2046
    set -- $({ git diff --name-only HEAD; git ls-files --others --exclude-standard; } |
        grep -E '^(src|runtime)/.*\.c$' | sort -u)
    [ $# -gt 0 ] || set -- none
fi
failed=0

tools/format.sh --check || failed=1

# shellcheck disable=SC2046
shellcheck -S warning $(git ls-files '*.sh') .ci/run || failed=1

lint=$build/lint
if ! cmp -s tools/lint/package-lock.json "$lint/package-lock.json"; then
    rm -rf "$lint"
    mkdir -p "$lint"
    cp tools/lint/package.json tools/lint/package-lock.json "$lint"
    npm --prefix "$lint" ci --ignore-scripts --no-audit --no-fund --silent
fi
"$lint/node_modules/.bin/eslint" -c tools/lint/eslint.config.mjs web tests || failed=1

[ "${1:-}" = none ] || python3 tools/lint/tidy.py "$build" "$@" || failed=1
exit $failed

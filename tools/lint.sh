#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Looks for mistakes. tools/lint.sh style: the layout of C files (clang-format), shell scripts
# (shellcheck), manuals (scdoc), scripts of the pages (eslint). tools/lint.sh tidy BUILD [--all | --changed | FILE...]:
# C (clang-tidy), what changed since the branch forked; all of src/ and runtime/; what differs from the
# last commit; or these files.
set -eu
cd "$(dirname "$0")/.."

style() {
    failed=0
    tools/format.sh --check || failed=1
    # shellcheck disable=SC2046
    shellcheck -S warning $(git ls-files '*.sh') .ci/run || failed=1
    lint="build-lint"
    if ! cmp -s tools/lint/package-lock.json "$lint/installed.json"; then
        rm -rf "$lint"
        mkdir -p "$lint"
        cp tools/lint/package.json tools/lint/package-lock.json "$lint"
        npm --prefix "$lint" ci --ignore-scripts --no-audit --no-fund --silent
        cp tools/lint/package-lock.json "$lint/installed.json"
    fi
    for manual in docs/man/*.scd; do
        scdoc <"$manual" >/dev/null || {
            echo "$manual: scdoc does not take it" >&2
            failed=1
        }
    done
    "$lint/node_modules/.bin/eslint" -c tools/lint/eslint.config.mjs web tests || failed=1
    return $failed
}

tidy() {
    build=$1
    shift
    if [ "${1:-}" = --changed ]; then
        # shellcheck disable=SC2046
        set -- $({ git diff --name-only HEAD; git ls-files --others --exclude-standard; } |
            grep -E '^(src|runtime)/.*\.c$' | sort -u)
        [ $# -gt 0 ] || return 0
    fi
    python3 tools/lint/tidy.py "$build" "$@"
}

case ${1:-} in
style) style ;;
tidy)
    shift
    tidy "$@"
    ;;
*)
    echo "usage: tools/lint.sh style, or tools/lint.sh tidy BUILD [--all | --changed | FILE...]" >&2
    exit 2
    ;;
esac

#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Lays the C files out as .clang-format says; with --check only tells which are not. Left out: the
# recorded test programs, whose line numbers and odd lines are what is tested.
set -eu
cd "$(dirname "$0")/.."
files=$(git ls-files --cached --others --exclude-standard '*.c' '*.h' | grep -v -E \
    '^tests/record/[a-z_]+_programs/|^web/vendor/|^runtime/(inline|fast)_hooks\.h$')
if [ "${1:-}" = --check ]; then
    # shellcheck disable=SC2086
    wrong=$(clang-format --dry-run --Werror $files 2>&1 |
        sed -n 's/^\([^:]*\.[ch]\):[0-9].*error:.*/\1/p' | sort -u)
    [ -z "$wrong" ] || {
        echo "$wrong"
        echo "these files are not laid out as .clang-format says; run: make format" >&2
        exit 1
    }
else
    # shellcheck disable=SC2086
    clang-format -i $files
fi

#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What bash's completion offers.
set -eu
fathom_path=$1
fathom() { "$fathom_path" "$@"; }
compopt() { :; }
# shellcheck source=/dev/null
. "$2"
failed=0

offers() { # WANTED WORD...
    local wanted=$1
    shift
    COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)) COMPREPLY=()
    _fathom
    for reply in "${COMPREPLY[@]}"; do
        [ "$reply" != "$wanted" ] || return 0
    done
    echo "'$*' does not offer '$wanted', but: ${COMPREPLY[*]}"
    failed=1
}

for command in $("$fathom_path" commands | cut -f1); do
    offers "$command" fathom "${command:0:1}"
done
offers --version fathom --
offers --json fathom report --j
offers --no-open fathom view --n
offers --sample fathom check --
offers root/no fathom report r
offers --grade fathom cc --g
offers coverage fathom cc --grade = c
offers deep fathom cc --grade =
cd "$(dirname "$2")"
offers fathom.bash fathom dump fathom.b
exit $failed

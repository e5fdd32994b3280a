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
offers -V fathom -V
offers bytes fathom tree --by = b
offers never fathom report --color n
offers folded fathom export --to = f
offers cat fathom log c
offers snapshot fathom ctl x.rec sn
offers --filter fathom log cat --f
offers tree fathom help t
offers stat fathom help log s

# Each option of each --help is offered, and nothing else.
same() { # WORD...: a command
    local wanted
    wanted=$("$fathom_path" "$@" --help | sed -nE 's/^ +(-[a-zA-Z], )?(--[a-z][a-z-]*).*/\2/p' | sort)
    COMP_WORDS=(fathom "$@" --) COMP_CWORD=$(($# + 1)) COMPREPLY=()
    _fathom
    [ "$(printf '%s\n' "${COMPREPLY[@]}" | sort)" = "$wanted" ] || {
        echo "'$*' offers other options than its --help tells: ${COMPREPLY[*]}"
        failed=1
    }
    [ -n "$wanted" ] || { echo "'$*' has no options"; failed=1; }
}
for command in $("$fathom_path" commands | cut -f1); do
    sub_commands=$("$fathom_path" "$command" --help | sed -n '/^Commands:/,/^$/s/^  \([a-z+-]*\) .*/\1/p')
    [ "$command" != feedback ] || sub_commands=create
    if [ -z "$sub_commands" ]; then
        same "$command"
    else
        for sub in $sub_commands; do same "$command" "$sub"; done
    fi
done
cd "$(dirname "$2")"
offers fathom.bash fathom dump fathom.b
exit $failed

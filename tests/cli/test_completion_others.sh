#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What the completion of zsh and of fish offers: test_completion_others.sh FATHOM FOLDER. Skips what is
# not installed.
set -eu
bin=$(mktemp -d)
trap 'rm -rf "$bin"' EXIT
ln -s "$(realpath "$1")" "$bin/fathom"
export PATH=$bin:$PATH HOME=$bin XDG_CONFIG_HOME=$bin XDG_DATA_HOME=$bin
folder=$(realpath "$2")
failed=0
tested=0

in_zsh() { # WORD...: what is offered for the last one
    # shellcheck disable=SC2016
    zsh -f -c '
        compadd() { while [[ $1 != -- ]]; do [[ $1 == -P ]] && { shift; local before=$1; }; shift; done; shift; print -l -- ${^@/#/$before} }
        _describe() { print -l -- ${commands%%:*} }
        _files() { }
        file=$1; shift
        words=("$@") CURRENT=$# PREFIX=${@[-1]}
        . $file' zsh "$folder/fathom.zsh" "$@"
}

in_fish() {
    # shellcheck disable=SC2016
    fish --no-config -c 'source $argv[1]; complete -C "$argv[2]"' "$folder/fathom.fish" "$*" | cut -f1
}

offers() { # SHELL WANTED WORD...
    local shell=$1 wanted=$2 told
    shift 2
    told=$("in_$shell" "$@")
    if ! grep -qxF -e "$wanted" <<<"$told"; then
        echo "$shell: '$*' does not offer '$wanted', but: $(tr '\n' ' ' <<<"$told")"
        failed=1
    fi
}

for shell in zsh fish; do
    if ! command -v $shell >/dev/null; then
        echo "there is no $shell"
        continue
    fi
    tested=1
    offers $shell report fathom re
    offers $shell export fathom e
    offers $shell help fathom he
    offers $shell tree fathom help tr
    offers $shell cat fathom log c
    offers $shell --json fathom report --j
    offers $shell --static fathom export --s
    offers $shell --filter fathom log cat --f
    offers $shell --grade=coverage fathom cc --grade=c
    offers $shell --by=bytes fathom tree --by=b
    offers $shell --to=folded fathom export --to=f
    offers $shell root/no fathom report ro
done
[ $tested = 1 ] || exit 77
exit $failed

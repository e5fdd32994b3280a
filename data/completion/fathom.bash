# SPDX-License-Identifier: Apache-2.0
# Completion of fathom for bash: commands and options are asked of the program itself.
_fathom()
{
    local word=${COMP_WORDS[COMP_CWORD]} command=${COMP_WORDS[1]}
    if [ "$COMP_CWORD" -eq 1 ]; then
        mapfile -t COMPREPLY < <(compgen -W "$(fathom commands 2>/dev/null | cut -f1) --help --version" -- "$word")
        return
    fi
    # "--grade=de" is three words here: '=' divides them.
    if [[ " ${COMP_WORDS[*]:COMP_CWORD-2:3} " == *" --grade = "* ]]; then
        mapfile -t COMPREPLY < <(compgen -W "deep full fast coverage" -- "${word#=}")
        return
    fi
    if [[ $word == -* ]]; then
        mapfile -t COMPREPLY < <(compgen -W "$(fathom "$command" --help 2>/dev/null |
            sed -nE 's/^ +(-[a-zA-Z], )?(--[a-z-]+).*/\2/p')" -- "$word")
        return
    fi
    if [ "$command" = report ] && [ "$COMP_CWORD" -eq 2 ]; then
        mapfile -t COMPREPLY < <(compgen -W "menu root/no root/90 program_modules \
            top_procs/1-20/callseqs/self/oa top_procs/1-20/time/self/oa clique/ proc/ module/ find/ tree/auto/down/3/all" -- "$word")
        return
    fi
    compopt -o filenames 2>/dev/null
    mapfile -t COMPREPLY < <(compgen -f -- "$word")
}
complete -F _fathom fathom

# SPDX-License-Identifier: Apache-2.0
# Completion of fathom for bash: commands, sub-commands and options are asked of the program itself.
_fathom_commands() # of the help on the standard input: the names of its list "Commands:"
{
    sed -nE -e '/^Commands:/,/^$/s/^  ([a-z+-]+) .*/\1/p' -e 's/^  fathom (log|feedback) ([a-z]+) .*/\2/p'
}

_fathom_options()
{
    sed -nE 's/^ +(-[a-zA-Z], )?(--[a-z][a-z-]*).*/\2/p'
}

_fathom_values() # OPTION COMMAND
{
    case $1 in
        --grade) echo deep full coverage ;;
        --join) echo program all none ;;
        --color) echo always never auto ;;
        --format) echo text json csv ;;
        --sort) echo self total calls rate waiting allocs bytes name ;;
        --method) echo hull regression ;;
        --only) if [ "$2" = dump ]; then echo csd pd css ps facts all; fi ;;
        --by)
            case $2 in
                tree) echo time calls bytes allocs waiting ;;
                functions) echo time total calls bytes allocs ;;
                memory) echo allocated freed held peak ;;
                recursion) echo auto time calls bytes allocs ;;
                log) echo state type tree thread lock counter name lane kind ;;
            esac ;;
        --from) if [ "$2" = import ]; then fathom import --help 2>/dev/null | sed -nE 's/^  ([a-z.]+)  +[^-].*/\1/p'; fi ;;
        --to)
            case $2 in
                convert) echo mercury fathom ;;
                export) fathom export --help 2>/dev/null | sed -nE 's/^  ([a-z.]+)  +[^-].*/\1/p' ;;
            esac ;;
    esac
}

_fathom()
{
    local word=${COMP_WORDS[COMP_CWORD]} command=${COMP_WORDS[1]} option values asked
    if [ "$COMP_CWORD" -eq 1 ]; then
        mapfile -t COMPREPLY < <(compgen -W "$(fathom commands 2>/dev/null | cut -f1) help --help --version -h -V" -- "$word")
        return
    fi
    # "--grade=de" is three words here: '=' divides them.
    option=${COMP_WORDS[COMP_CWORD - 1]}
    if [ "$option" = = ]; then option=${COMP_WORDS[COMP_CWORD - 2]}; fi
    if [ "$word" = = ]; then word=; fi
    if [[ $option == --* ]]; then
        values=$(_fathom_values "$option" "$command")
        if [ -n "$values" ]; then
            mapfile -t COMPREPLY < <(compgen -W "$values" -- "$word")
            return
        fi
    fi
    if [ "$command" = help ]; then
        if [ "$COMP_CWORD" -gt 2 ]; then
            mapfile -t COMPREPLY < <(compgen -W "$(fathom "${COMP_WORDS[2]}" --help 2>/dev/null | _fathom_commands)" -- "$word")
        else
            mapfile -t COMPREPLY < <(compgen -W "$(fathom commands 2>/dev/null | cut -f1)" -- "$word")
        fi
        return
    fi
    # Commands that have commands of their own.
    asked=("$command")
    if [ "$command" = log ] || [ "$command" = feedback ]; then
        if [ "$COMP_CWORD" -eq 2 ]; then
            mapfile -t COMPREPLY < <(compgen -W "$(fathom "$command" --help 2>/dev/null | _fathom_commands) --help" -- "$word")
            return
        fi
        asked+=("${COMP_WORDS[2]}")
    fi
    if [[ $word == -* ]]; then
        mapfile -t COMPREPLY < <(compgen -W "$(fathom "${asked[@]}" --help 2>/dev/null | _fathom_options)" -- "$word")
        return
    fi
    if [ "$command" = ctl ] && [ "$COMP_CWORD" -eq 3 ]; then
        mapfile -t COMPREPLY < <(compgen -W "start stop mark snapshot status" -- "$word")
        return
    fi
    if [ "$command" = report ] && [ "$COMP_CWORD" -eq 2 ]; then
        mapfile -t COMPREPLY < <(compgen -W "menu root/no root/90 program_modules about \
            top_procs/1-20/callseqs/self/oa top_procs/1-20/time/self/oa clique/ proc/ module/ find/ \
            tree/auto/down/3/all flame/auto/down/_/all" -- "$word")
        if [ "${#COMPREPLY[@]}" -gt 0 ]; then return; fi
    fi
    compopt -o filenames 2>/dev/null
    mapfile -t COMPREPLY < <(compgen -f -- "$word")
}
complete -F _fathom fathom

# SPDX-License-Identifier: Apache-2.0
# Completion of fathom for fish: commands, sub-commands and options are asked of the program itself.
function __fathom_count
    count (commandline -opc)
end
function __fathom_is
    set -l words (commandline -opc)
    test (count $words) -ge 2; and contains -- $words[2] $argv
end
function __fathom_sub # the commands of one that has some
    set -l words (commandline -opc)
    set -l asked
    if test $words[2] = help
        fathom commands 2>/dev/null | cut -f1
        return
    end
    set asked $words[2]
    fathom $asked --help 2>/dev/null | sed -nE -e '/^Commands:/,/^$/s/^  ([a-z+-]+) .*/\1/p' -e 's/^  fathom (log|feedback) ([a-z]+) .*/\2/p'
end
function __fathom_options
    set -l words (commandline -opc)
    set -l asked $words[2]
    if contains -- $asked log feedback; and test (count $words) -ge 3
        set asked $asked $words[3]
    end
    fathom $asked --help 2>/dev/null | sed -nE 's/^ +(-[a-zA-Z], )?(--[a-z][a-z-]*).*/\2/p'
end
function __fathom_values # OPTION VALUE...: as --OPTION=VALUE
    printf "$argv[1]=%s\n" $argv[2..-1]
end
function __fathom_typing
    string match -q -- "$argv[1]=*" (commandline -ct)
end
complete -c fathom -n 'test (__fathom_count) -eq 1' -f -a '(fathom commands 2>/dev/null) help'
complete -c fathom -n 'test (__fathom_count) -eq 2; and __fathom_is log feedback help' -f -a '(__fathom_sub)'
complete -c fathom -n 'test (__fathom_count) -ge 2; and string match -q -- "-*" (commandline -ct); and not string match -q -- "*=*" (commandline -ct)' -f -a '(__fathom_options)'
complete -c fathom -n '__fathom_typing --grade' -f -a '(__fathom_values --grade deep full coverage)'
complete -c fathom -n '__fathom_typing --color' -f -a '(__fathom_values --color always never auto)'
complete -c fathom -n '__fathom_typing --join' -f -a '(__fathom_values --join program all none)'
complete -c fathom -n '__fathom_typing --sort' -f -a '(__fathom_values --sort self total calls rate waiting allocs bytes name)'
complete -c fathom -n '__fathom_typing --by; and __fathom_is tree' -f -a '(__fathom_values --by time calls bytes allocs waiting)'
complete -c fathom -n '__fathom_typing --by; and __fathom_is functions' -f -a '(__fathom_values --by time total calls bytes allocs)'
complete -c fathom -n '__fathom_typing --by; and __fathom_is memory' -f -a '(__fathom_values --by allocated freed held peak)'
complete -c fathom -n '__fathom_typing --by; and __fathom_is recursion' -f -a '(__fathom_values --by auto time calls bytes allocs)'
complete -c fathom -n '__fathom_typing --by; and __fathom_is log' -f -a '(__fathom_values --by state type tree thread lock counter)'
complete -c fathom -n '__fathom_typing --to; and __fathom_is convert' -f -a '(__fathom_values --to mercury fathom)'
complete -c fathom -n '__fathom_typing --to; and __fathom_is export' -f -a '(__fathom_values --to (fathom export --help 2>/dev/null | sed -nE "s/^  ([a-z]+)  +[^-].*/\1/p"))'
complete -c fathom -n 'test (__fathom_count) -eq 2; and __fathom_is report' -f -a 'menu root/no root/90 program_modules top_procs/1-20/callseqs/self/oa find/ tree/auto/down/3/all flame/auto/down/_/all'
complete -c fathom -n 'test (__fathom_count) -eq 3; and __fathom_is ctl' -f -a 'start stop mark snapshot status'

# SPDX-License-Identifier: Apache-2.0
# Completion of fathom for fish: commands and options are asked of the program itself.
function __fathom_options
    set -l words (commandline -opc)
    fathom $words[2] --help 2>/dev/null | sed -nE 's/^ +(-[a-zA-Z], )?(--[a-z-]+).*/\2/p'
end
complete -c fathom -n 'test (count (commandline -opc)) -eq 1' -f -a '(fathom commands 2>/dev/null)'
complete -c fathom -n 'test (count (commandline -opc)) -ge 2; and string match -q -- "-*" (commandline -ct)' -f -a '(__fathom_options)'
complete -c fathom -n 'string match -q -- "--grade=*" (commandline -ct)' -f -a '--grade=deep --grade=full --grade=coverage'
complete -c fathom -n 'test (count (commandline -opc)) -eq 2; and test (commandline -opc)[2] = report' -f -a 'menu root/no root/90 program_modules top_procs/1-20/callseqs/self/oa find/ tree/auto/down/3/all'

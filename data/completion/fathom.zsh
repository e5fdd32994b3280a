#compdef fathom
# SPDX-License-Identifier: Apache-2.0
# Completion of fathom for zsh: commands and options are asked of the program itself.
_fathom() {
  local -a commands options
  if (( CURRENT == 2 )); then
    commands=(${${(f)"$(fathom commands 2>/dev/null)"}/$'\t'/:})
    _describe -t commands command commands
    return
  fi
  if [[ $PREFIX == --grade=* ]]; then
    compadd -P --grade= -- deep full coverage
    return
  fi
  if [[ $PREFIX == -* ]]; then
    options=(${(f)"$(fathom ${words[2]} --help 2>/dev/null |
      sed -nE 's/^ +(-[a-zA-Z], )?(--[a-z-]+).*/\2/p')"})
    compadd -- $options
    return
  fi
  if [[ ${words[2]} == report ]] && (( CURRENT == 3 )); then
    compadd -- menu root/no root/90 program_modules top_procs/1-20/callseqs/self/oa \
      top_procs/1-20/time/self/oa find/ tree/auto/down/3/all
    return
  fi
  _files
}
_fathom "$@"

#compdef fathom
# SPDX-License-Identifier: Apache-2.0
# Completion of fathom for zsh: commands, sub-commands and options are asked of the program itself.
_fathom_values() { # OPTION COMMAND
  case $1 in
    --grade) print deep full coverage ;;
    --color) print always never auto ;;
    --join) print program all none ;;
    --format) print text json csv ;;
    --sort) print self total calls rate waiting allocs bytes name ;;
    --method) print hull regression ;;
    --only) if [[ $2 == dump ]]; then print csd pd css ps facts all; fi ;;
    --by)
      case $2 in
        tree) print time calls bytes allocs waiting ;;
        functions) print time total calls bytes allocs ;;
        memory) print allocated freed held peak ;;
        recursion) print auto time calls bytes allocs ;;
        log) print state type tree thread lock counter name lane kind ;;
      esac ;;
    --to)
      case $2 in
        convert) print mercury fathom ;;
        export) fathom export --help 2>/dev/null | sed -nE 's/^  ([a-z]+)  +[^-].*/\1/p' | tr '\n' ' ' ;;
      esac ;;
  esac
}

_fathom() {
  local -a commands options asked values
  local option=${PREFIX%%=*}
  if (( CURRENT == 2 )); then
    commands=(${${(f)"$(fathom commands 2>/dev/null)"}/$'\t'/:} help:'what a command does')
    _describe -t commands command commands
    return
  fi
  asked=(${words[2]})
  if [[ ${words[2]} == (log|feedback|help) ]]; then
    if (( CURRENT == 3 )); then
      if [[ ${words[2]} == help ]]; then
        compadd -- ${(f)"$(fathom commands 2>/dev/null | cut -f1)"}
        return
      fi
      commands=(${(f)"$(fathom $asked --help 2>/dev/null |
        sed -nE -e '/^Commands:/,/^$/s/^  ([a-z+-]+) .*/\1/p' -e 's/^  fathom (log|feedback) ([a-z]+) .*/\2/p')"})
      compadd -- $commands
      return
    fi
    asked+=(${words[3]})
  fi
  if [[ $PREFIX == --*=* ]]; then
    values=(${=$(_fathom_values $option ${words[2]})})
    compadd -P "$option=" -- $values
    return
  fi
  if [[ ${words[CURRENT-1]} == --* ]]; then
    values=(${=$(_fathom_values ${words[CURRENT-1]} ${words[2]})})
    if (( $#values )); then
      compadd -- $values
      return
    fi
  fi
  if [[ ${words[2]} == ctl && $CURRENT -eq 4 ]]; then
    compadd -- start stop mark snapshot status
    return
  fi
  if [[ $PREFIX == -* ]]; then
    options=(${(f)"$(fathom $asked --help 2>/dev/null |
      sed -nE 's/^ +(-[a-zA-Z], )?(--[a-z][a-z-]*).*/\2/p')"})
    compadd -- $options
    return
  fi
  if [[ ${words[2]} == report ]] && (( CURRENT == 3 )); then
    compadd -- menu root/no root/90 program_modules about top_procs/1-20/callseqs/self/oa \
      top_procs/1-20/time/self/oa find/ tree/auto/down/3/all flame/auto/down/_/all
  fi
  _files
}
_fathom "$@"

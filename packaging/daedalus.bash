# Completion of `daedalus` for bash. Commands, options and names are asked from the program itself.

_daedalus() {
  local program=${COMP_WORDS[0]} command=${COMP_WORDS[1]} current=${COMP_WORDS[COMP_CWORD]}
  local previous=${COMP_WORDS[COMP_CWORD - 1]} words=
  COMPREPLY=()
  if [ "$COMP_CWORD" -eq 1 ]; then
    words="$("$program" --help 2>/dev/null | sed -n '/^Subcommands:/,$s/^  \([a-z][a-z-]*\) .*/\1/p') --help --version"
  elif [ "$previous" = --method ] || [ "$command $COMP_CWORD" = "methods 2" ]; then
    words=$("$program" methods --json --quiet 2>/dev/null | _daedalus_names)
  elif [ "$previous" = --formulation ] || [ "$command $COMP_CWORD" = "formulations 2" ]; then
    words=$("$program" formulations --json --quiet 2>/dev/null | _daedalus_names)
  elif [ "$command" = reproduce ] && [ "$previous" != --output ] && [[ $current != -* ]]; then
    words=$("$program" reproduce --list --json --quiet 2>/dev/null | _daedalus_names)
  elif [[ $current == -* ]]; then
    words=$("$program" "$command" --help 2>/dev/null | sed -n 's/^  \(-h,\)\{0,1\}\(--[a-z][a-z-]*\).*/\2/p')
  elif [[ $previous == --* ]]; then
    # The values an option takes, where its help lists them: --format TEXT:{text,latex,json}
    words=$("$program" "$command" --help 2>/dev/null | sed -n "s/^  $previous [A-Z]*:{\([^}]*\)}.*/\1/p" | tr , ' ')
  fi
  if [ -n "$words" ]; then
    mapfile -t COMPREPLY < <(compgen -W "$words" -- "$current")
  elif [[ $current != -* ]]; then
    # A model file, or any file after an option that names one.
    compopt -o filenames 2>/dev/null
    local filter='!*.toml'
    [[ $previous == --* ]] && filter=
    mapfile -t COMPREPLY < <(compgen -f ${filter:+-X "$filter"} -- "$current"; [ -z "$filter" ] || compgen -d -- "$current")
  fi
}

_daedalus_names() { grep -o '^ \{0,8\}"name": *"[^"]*"' | sed 's/.*"\([^"]*\)"$/\1/'; }

complete -F _daedalus daedalus

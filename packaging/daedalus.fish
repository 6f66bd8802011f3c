# Completion of `daedalus` for fish. Commands, options and names are asked from the program itself.

function __daedalus_commands
    daedalus --help 2>/dev/null | sed -n '/^Subcommands:/,$s/^  \([a-z][a-z-]*\) *\(.*\)/\1\t\2/p'
end

function __daedalus_options
    set -l words (commandline -opc)
    daedalus $words[2] --help 2>/dev/null | sed -n 's/^  \(-h,\)\{0,1\}\(--[a-z][a-z-]*\).*/\2/p'
end

function __daedalus_names
    daedalus $argv --json --quiet 2>/dev/null | grep -o '^ \{0,8\}"name": *"[^"]*"' | sed 's/.*"\([^"]*\)"$/\1/'
end

complete -c daedalus -n __fish_use_subcommand -f -a '(__daedalus_commands)'
complete -c daedalus -n 'not __fish_use_subcommand; and string match -q -- "-*" (commandline -ct)' -f -a '(__daedalus_options)'
complete -c daedalus -l method -x -a '(__daedalus_names methods)'
complete -c daedalus -l formulation -x -a '(__daedalus_names formulations)'
complete -c daedalus -n '__fish_seen_subcommand_from reproduce' -f -a '(__daedalus_names reproduce --list)'

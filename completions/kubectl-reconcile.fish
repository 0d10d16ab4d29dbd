# Completion of `kubectl-reconcile` for fish: put this file into ~/.config/fish/completions/.
# The program itself says what can follow. For `kubectl reconcile <TAB>` see `kubectl reconcile completion --help`.

function __kubectl_reconcile_complete
    set -l words (commandline -opc)
    set -l word (commandline -ct)
    set -l words (string replace -r '^~/' "$HOME/" -- $words)
    # The program from PATH, whatever path was typed: TAB runs nothing from the working directory.
    set -l lines (command kubectl-reconcile __complete $words[2..-1] "$word" 2>/dev/null)
    or return
    set -l directive $lines[-1]
    # Of a value behind `--flag=`, the flag is not part of the candidates.
    set -l flag (string match -r -- '^-[^=]*=' "$word")
    set -l rest (string replace -r -- '^-[^=]*=' '' "$word")
    for line in $lines[1..-2]
        printf '%s%s\n' "$flag" "$line"
    end
    if test (count $lines) -eq 1
        switch $directive
            case ':0'
                set -l files (__fish_complete_path "$rest")
                for file in $files
                    printf '%s%s\n' "$flag" "$file"
                end
            case ':16'
                set -l folders (__fish_complete_directories "$rest" '')
                for folder in $folders
                    printf '%s%s\n' "$flag" "$folder"
                end
        end
    end
end

complete -c kubectl-reconcile -f -a '(__kubectl_reconcile_complete)'

# Completion of `kubectl-reconcile` for Bash: source <(kubectl reconcile completion bash)
# The program itself says what can follow. For `kubectl reconcile <TAB>` see `kubectl reconcile completion --help`.

_kubectl_reconcile() {
    local line=${COMP_LINE:0:COMP_POINT} words=() word part i out directive value prefix
    COMPREPLY=()
    # Bash takes words apart at `=` and `:`; only blanks separate them here.
    for ((i = 0; i < COMP_CWORD; i++)); do
        part=${COMP_WORDS[i]}
        word=${line#"${line%%[![:space:]]*}"}
        if ((i == 0)) || [[ $word != "$line" ]]; then
            words+=("$part")
        else
            words[${#words[@]} - 1]+=$part
        fi
        line=${word#"$part"}
    done
    word=${line#"${line%%[![:space:]]*}"}
    if [[ $word != "$line" || ${#words[@]} -eq 0 ]]; then
        words+=("$word")
    else
        words[${#words[@]} - 1]+=$word
    fi
    for ((i = 0; i < ${#words[@]}; i++)); do
        [[ ${words[i]} == \~/* ]] && words[i]=$HOME/${words[i]:2}
    done
    word=${words[${#words[@]} - 1]}

    # The program from PATH, whatever path was typed: TAB runs nothing from the working directory.
    out=$(command kubectl-reconcile __complete "${words[@]:1}" 2>/dev/null) || return 0
    directive=${out##*:}
    out=${out%:*}
    # Of a value behind `--flag=`, the flag is not part of the candidates; of others, Bash keeps what is before the last `=` or `:`.
    [[ $word == -*=* ]] && word=${word#*=}
    prefix=
    if [[ $word == *[=:]* ]]; then
        part=${word##*[=:]}
        prefix=${word%"$part"}
    fi
    while IFS= read -r line; do
        value=${line%%$'\t'*}
        [[ -n $value && $value == "$word"* ]] || continue
        value=${value#"$prefix"}
        # A name may hold characters that the shell would act on.
        [[ $value == *[!A-Za-z0-9_./:=,@%+-]* ]] && printf -v value '%q' "$value"
        COMPREPLY+=("$value")
    done <<<"$out"
    if ((${#COMPREPLY[@]} == 0)) && type compopt >/dev/null 2>&1; then
        case $directive in
            0) compopt -o default ;;
            16) compopt -o dirnames ;;
        esac
    fi
}

complete -F _kubectl_reconcile kubectl-reconcile

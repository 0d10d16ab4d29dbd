#!/usr/bin/env bash
# The net for refactorings: whether two builds say the same, byte for byte, without a cluster.
#
#   tests/freeze.sh record PROGRAM FOLDER    writes all output and exit codes of PROGRAM over testdata into FOLDER
#   tests/freeze.sh compare OLD NEW          compares two such folders, or two programs; exits with 1 if they differ
#
# Recorded are every format over every input against several live states, help, manual pages, completion scripts, the configuration and its schema, wrong
# command lines, and the checked-in files that are made from the code: `docs/cli.md`, `completions` and `schemas`.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

formats=(text unified json yaml jsonl name markdown junit sarif github gitlab prometheus html)
commands=(diff apply status blame pull resolve snapshot access report 'report merge' config 'config view' 'config schema' completion man version)

# Runs the program and keeps what it prints and its exit code: run NAME ARGUMENT…
run() {
  local name=$1 code=0
  shift
  "$program" "$@" >"$out/$name.stdout" 2>"$out/$name.stderr" </dev/null || code=$?
  echo "$code" >"$out/$name.code"
}

# Records an input against the live objects of a file in all formats: over NAME INPUT LIVE
over() {
  local name=$1 input=$2 live=$3 format width
  for format in "${formats[@]}"; do
    run "$name.$format" diff -f "$input" -R --live "$live" -o "$format"
  done
  for width in 60 200; do
    COLUMNS=$width run "$name.text-$width" diff -f "$input" -R --live "$live"
  done
  run "$name.text-full" diff -f "$input" -R --live "$live" --full --color always
  run "$name.text-objects" diff -f "$input" -R --live "$live" --sort object --show-unmanaged
  run "$name.markdown-full" diff -f "$input" -R --live "$live" --full -o markdown
  run "$name.summary" diff -f "$input" -R --live "$live" --summary --exit-zero
  run "$name.suggested" diff -f "$input" -R --live "$live" --suggest-ignores
  run "$name.explained" diff -f "$input" -R --live "$live" --explain-ignores --strict-ownership
  run "$name.gated" diff -f "$input" -R --live "$live" --quiet --fail-on cluster,either
}

record() {
  program=$(realpath "$1")
  mkdir -p "$2"
  out=$(cd "$2" && pwd)
  home=$(mktemp -d)
  trap 'rm -rf "$home"' EXIT
  # The scenarios fill in names of their own.
  cp -R "$root/testdata" "$home/"
  find "$home/testdata" -name '*.yaml' -print0 | xargs -0 sed -i 's/\$NAME/one/g; s/\$NS/shop/g'
  cd "$home"
  # Nothing of the user's, and the same time in each run.
  export HOME=$home KUBECONFIG=/dev/null SOURCE_DATE_EPOCH=1700000000 COLUMNS=100 TZ=UTC CI=true
  unset NO_COLOR CLICOLOR_FORCE PAGER KUBECTL_EXTERNAL_DIFF KUBECTL_RECONCILE_PLAN_KEY

  local inputs=(testdata/shop testdata/docs/deploy testdata/kinds testdata/helm/*.yaml testdata/installs/*) input name live
  : >"$home/none.yaml"
  for input in "${inputs[@]}"; do
    name=$(basename "$input" .yaml)
    live=$home/$name.yaml
    find "$input" -name '*.yaml' -print0 | sort -z | xargs -0 -I{} sh -c 'cat "$1"; echo; echo ---' _ {} >"$live"
    # Numbers, images and endings of words that moved, and a field in ten that is gone.
    sed -E 's/: ([0-9])$/: 7\1/; s/:([0-9]+\.[0-9]+)/:9\1/; s/(ing|er)$/\1x/' "$live" >"$home/$name-moved.yaml"
    over "$name-new" "$input" "$home/none.yaml"
    over "$name-same" "$input" "$live"
    over "$name-moved" "$input" "$home/$name-moved.yaml"
  done
  over shop-live testdata/shop testdata/shop.live.yaml
  over helm-upgrade testdata/helm/pay-2.4.1.yaml testdata/helm/pay-2.4.0.yaml

  for input in testdata/mistakes/*.yaml; do
    name=mistake-$(basename "$input" .yaml)
    run "$name" diff -f "$input" --live "$home/none.yaml"
    run "$name-json" diff -f "$input" --live "$home/none.yaml" -o json
    run "$name-sarif" diff -f "$input" --live "$home/none.yaml" -o sarif
  done

  local report=shop-live.json other=helm-upgrade.json
  cp "$out/$report.stdout" "$report"
  cp "$out/$other.stdout" "$other"
  for format in "${formats[@]}"; do
    run "merged.$format" report merge "$report" "$other" -o "$format"
  done
  run baseline diff -f testdata/shop --live testdata/shop.live.yaml --baseline "$report"
  run baseline-known diff -f testdata/shop --live testdata/shop.live.yaml --baseline "$report" --show-known -o json
  run baseline-other diff -f testdata/helm/pay-2.4.1.yaml --live testdata/helm/pay-2.4.0.yaml --baseline "$report"

  local command words
  run help --help
  run help-short -h
  for command in "${commands[@]}"; do
    read -r -a words <<<"$command"
    run "help-${command// /-}" "${words[@]}" --help
    run "help-short-${command// /-}" "${words[@]}" -h
    run "alone-${command// /-}" "${words[@]}"
    run "wrong-${command// /-}" "${words[@]}" --no-such-flag
    run "man-${command// /-}" man "${words[@]}"
  done
  for command in bash zsh fish powershell elvish kubectl; do
    run "completion-$command" completion "$command"
  done
  run man-pages man --dir "$out/man"
  run config-schema config schema
  run config-view config view -f testdata/shop
  run config-view-json config view -f testdata/shop -o json
  run offline-unreachable diff -f testdata/shop --server https://127.0.0.1:1 -o json
  run no-such-file diff -f testdata/no-such-file.yaml
  run twice diff -f testdata/shop/web.yaml -f testdata/shop/web.yaml --live "$home/none.yaml"
  run plan plan
  run mistyped diff testdata/shop
  mkdir -p "$out/made"
  cp -R "$root/docs/cli.md" "$root/completions" "$root/schemas" "$out/made/"

  # Folders and times of this run.
  find "$out" -type f -print0 | xargs -0 sed -i "s#$home#HOME#g; s#$out#OUT#g; s#$root#ROOT#g"
  find "$out" -name '*.jsonl.stdout' -print0 | xargs -0 sed -i -E 's/"time":"[^"]+"\}$/"time":"TIME"}/'
}

case ${1:-} in
  record) record "$2" "$3" ;;
  compare)
    if [[ -f $2 ]]; then
      work=$(mktemp -d)
      trap 'rm -rf "$work"' EXIT
      "${BASH_SOURCE[0]}" record "$2" "$work/old"
      "${BASH_SOURCE[0]}" record "$3" "$work/new"
      set -- compare "$work/old" "$work/new"
    fi
    diff -rq "$2" "$3" || { echo "different: $2 $3" >&2; exit 1; }
    echo "byte-equal: $(find "$3" -type f | wc -l) files"
    ;;
  *)
    sed -n '2,9s/^# \{0,1\}//p' "${BASH_SOURCE[0]}" >&2
    exit 2
    ;;
esac

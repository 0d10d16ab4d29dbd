#!/usr/bin/env bash
# Runs kubectl reconcile and writes its reports for the next steps. The exit code is an output, so that they run in any case.
set -euo pipefail

folder="$RUNNER_TEMP/kubectl-reconcile"
mkdir -p "$folder"
# A step that ends without a report must not show the one of an earlier step.
rm -f "$folder"/{report.md,report.json,report.sarif,annotations.txt}
if [[ -n "${KUBECONFIG_CONTENT:-}" ]]; then
  export KUBECONFIG="$folder/kubeconfig"
  trap 'rm -f "$KUBECONFIG"' EXIT
  (umask 077 && printf '%s\n' "$KUBECONFIG_CONTENT" >"$KUBECONFIG")
fi
# Credential plugins run in its environment.
unset KUBECONFIG_CONTENT
# The input may have several lines. There is always an end of the text before the delimiter.
read -r -d '' -a flags <<<"$MORE_FLAGS" || true
code=0
# An empty list of flags is an error in the bash of macOS.
kubectl-reconcile "$COMMAND" --filename="$MANIFESTS" ${flags[@]+"${flags[@]}"} \
  --output=text --output=markdown="$folder/report.md" --output=json="$folder/report.json" \
  --output=sarif="$folder/report.sarif" --output=github="$folder/annotations.txt" || code=$?
if [[ -s "$folder/annotations.txt" ]]; then cat "$folder/annotations.txt"; fi
if [[ -s "$folder/report.md" ]]; then cat "$folder/report.md" >>"$GITHUB_STEP_SUMMARY"; fi
echo "exit-code=$code" >>"$GITHUB_OUTPUT"

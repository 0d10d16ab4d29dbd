#!/usr/bin/env bash
# Runs kubectl reconcile and writes its report for the next steps. The exit code is an output, so that they run in any case.
set -euo pipefail

report="$RUNNER_TEMP/kubectl-reconcile"
mkdir -p "$report"
read -r -a flags <<<"$MORE_FLAGS"
code=0
kubectl-reconcile "$COMMAND" --filename="$MANIFESTS" "${flags[@]}" \
  --output=text --output=markdown="$report/report.md" --output=json="$report/report.json" \
  --output=github="$report/annotations.txt" || code=$?
if [[ -s "$report/annotations.txt" ]]; then cat "$report/annotations.txt"; fi
if [[ -s "$report/report.md" ]]; then cat "$report/report.md" >>"$GITHUB_STEP_SUMMARY"; fi
echo "exit-code=$code" >>"$GITHUB_OUTPUT"

#!/usr/bin/env bash
# Keeps one issue about drift: opened or updated while there is some, closed once there is none.
set -euo pipefail

label=drift
report="$RUNNER_TEMP/kubectl-reconcile/report.md"
export title="Drift in $MANIFESTS"
number=$(gh issue list --repo "$GITHUB_REPOSITORY" --state open --label "$label" --json number,title \
  --jq "map(select(.title == env.title)) | .[0].number // empty")
case "$EXIT_CODE" in
  0)
    if [[ -n "$number" ]]; then
      gh issue close "$number" --repo "$GITHUB_REPOSITORY" --comment "The cluster is as the manifests say again."
    fi
    ;;
  *)
    if [[ -n "$number" ]]; then
      gh issue edit "$number" --repo "$GITHUB_REPOSITORY" --body-file "$report"
    else
      gh issue create --repo "$GITHUB_REPOSITORY" --label "$label" --title "$title" --body-file "$report"
    fi
    ;;
esac

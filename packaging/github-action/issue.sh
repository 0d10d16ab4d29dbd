#!/usr/bin/env bash
# Keeps one issue about drift: opened or updated while there is some, closed once there is none. A run with
# errors may not have seen everything: it fails the job, and the issue stays as it is.
set -euo pipefail

permission='issues: write'
# shellcheck source-path=SCRIPTDIR source=github.sh
source "$(dirname "${BASH_SOURCE[0]}")/github.sh"

if [[ "$EXIT_CODE" != 0 && "$EXIT_CODE" != 1 ]]; then exit 0; fi
label=drift
title="Drift in $MANIFESTS"
issues="repos/$GITHUB_REPOSITORY/issues"
api GET "$issues?state=open&labels=$label&per_page=100" || exit 0
number=$(jq -r --arg title "$title" 'map(select(.title == $title and (has("pull_request") | not))) | .[0].number // empty' "$folder/answer.json")
if [[ "$EXIT_CODE" == 0 ]]; then
  if [[ -z "$number" ]]; then exit 0; fi
  echo '{"body": "The cluster matches the manifests again."}' >"$folder/body.json"
  api POST "$issues/$number/comments" "$folder/body.json" || exit 0
  echo '{"state": "closed"}' >"$folder/body.json"
  api PATCH "$issues/$number" "$folder/body.json" || exit 0
  exit 0
fi
if [[ ! -s "$folder/report.md" ]]; then exit 0; fi
jq --raw-input --slurp --arg title "$title" --arg name "$label" '{title: $title, labels: [$name], body: .}' "$folder/report.md" >"$folder/body.json"
if [[ -n "$number" ]]; then
  api PATCH "$issues/$number" "$folder/body.json" || exit 0
else
  api POST "$issues" "$folder/body.json" || exit 0
fi

#!/usr/bin/env bash
# Puts the report into one comment of the pull request: the one of an earlier run is replaced.
set -euo pipefail

permission='pull-requests: write'
# shellcheck source-path=SCRIPTDIR source=github.sh
source "$(dirname "${BASH_SOURCE[0]}")/github.sh"
if [[ ! -s "$folder/report.md" ]]; then exit 0; fi

# Names the comment: other manifests have another one.
mark="<!-- kubectl-reconcile $(printf '%s\n%s' "$MANIFESTS" "$NAME" | cksum | cut -d ' ' -f 1) -->"
# A report in Markdown is no longer than a comment may be, with room for this line.
{ echo "$mark"; cat "$folder/report.md"; } >"$folder/comment.md"
jq --raw-input --slurp '{body: .}' "$folder/comment.md" >"$folder/body.json"

comments="repos/$GITHUB_REPOSITORY/issues/$PULL_REQUEST/comments"
id=
for page in {1..30}; do
  api GET "$comments?per_page=100&page=$page" || exit 0
  # A person can write a comment with the same mark, and would decide over what is replaced.
  id=$(jq -r --arg mark "$mark" 'map(select(.user.type == "Bot" and (.body | startswith($mark)))) | .[0].id // empty' "$folder/answer.json")
  if [[ -n "$id" || $(jq length "$folder/answer.json") -lt 100 ]]; then break; fi
done
if [[ -n "$id" ]]; then
  api PATCH "repos/$GITHUB_REPOSITORY/issues/comments/$id" "$folder/body.json" || exit 0
else
  api POST "$comments" "$folder/body.json" || exit 0
fi

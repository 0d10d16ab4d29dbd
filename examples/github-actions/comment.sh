#!/usr/bin/env bash
# Puts the report into one comment of the pull request: the one of an earlier run is replaced.
set -euo pipefail

report="$RUNNER_TEMP/kubectl-reconcile/report.md"
# Names the comment; other manifests have another one.
mark="<!-- kubectl-reconcile $(printf %s "$MANIFESTS" | sha256sum | cut -c-16) -->"
body="$RUNNER_TEMP/kubectl-reconcile/comment.md"
# GitHub takes 65,536 characters, and this line takes some of them.
text=$(<"$report")
printf '%s\n%s\n' "$mark" "${text:0:65000}" >"$body"
comments="repos/$GITHUB_REPOSITORY/issues/$PULL_REQUEST/comments"
id=$(gh api --paginate "$comments" --jq ".[] | select(.user.type == \"Bot\") | select(.body | startswith(\"$mark\")) | .id" | head -n 1)
if [[ -n "$id" ]]; then
  gh api --method PATCH "repos/$GITHUB_REPOSITORY/issues/comments/$id" --field body=@"$body" >/dev/null
else
  gh api --method POST "$comments" --field body=@"$body" >/dev/null
fi

#!/usr/bin/env bash
# Decides whether this run may have credentials: not if it is about a commit of another repository. With `pull_request_target`,
# `issue_comment` and `workflow_run`, GitHub gives secrets to runs for pull requests from forks, so the event is looked at, not the name.
set -euo pipefail

# A repository that has been deleted is another one, and so is one that a comment on a pull request does not name.
heads=$(jq -r '
  (.pull_request // empty | .head.repo.full_name // "deleted"),
  (.workflow_run // empty | .head_repository.full_name // "deleted"),
  (.issue.pull_request // empty | "unknown")
' "$GITHUB_EVENT_PATH")
trusted=true
while read -r head; do
  if [[ -n "$head" && "$head" != "$GITHUB_REPOSITORY" ]]; then trusted=false; fi
done <<<"$heads"
echo "trusted=$trusted" >>"$GITHUB_OUTPUT"
if [[ "$trusted" == false ]]; then
  sentence="Not compared: the commit is from a fork, and credentials are not given to forks."
  echo "::notice::$sentence"
  echo "$sentence" >>"$GITHUB_STEP_SUMMARY"
fi

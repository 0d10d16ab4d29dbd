#!/usr/bin/env bash
# Uploads the differences to code scanning, which shows them at the lines of the manifests.
set -euo pipefail

permission='security-events: write, in a repository with code scanning'
# shellcheck source-path=SCRIPTDIR source=github.sh
source "$(dirname "${BASH_SOURCE[0]}")/github.sh"
if [[ ! -s "$folder/report.sarif" ]]; then exit 0; fi

gzip -c "$folder/report.sarif" | base64 | tr -d '\n' >"$folder/report.sarif.gz.base64"
jq --raw-input --arg commit "$GITHUB_SHA" --arg ref "$GITHUB_REF" '{commit_sha: $commit, ref: $ref, sarif: .}' \
  "$folder/report.sarif.gz.base64" >"$folder/body.json"
api POST "repos/$GITHUB_REPOSITORY/code-scanning/sarifs" "$folder/body.json" || exit 0

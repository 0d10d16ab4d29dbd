#!/usr/bin/env bash
# Puts the program on the PATH of the next steps: the release with this version, or the program that is there already.
set -euo pipefail

if [[ -z "$VERSION" ]]; then
  if command -v kubectl-reconcile >/dev/null; then exit 0; fi
  echo "::error::kubectl-reconcile is not on PATH: set the inputs version and releases to install it"
  exit 1
fi
if [[ -z "$RELEASES" ]]; then
  echo "::error::the input version needs the input releases: the URL that is followed by /v$VERSION"
  exit 1
fi
folder="$RUNNER_TEMP/kubectl-reconcile"
mkdir -p "$folder"
if [[ -n "$CHECKSUMS" ]]; then
  printf '%s\n' "$CHECKSUMS" >"$folder/SHA256SUMS"
  export KUBECTL_RECONCILE_SHA256SUMS="$folder/SHA256SUMS"
fi
export KUBECTL_RECONCILE_RELEASE="${RELEASES%/}/v$VERSION" KUBECTL_RECONCILE_VERSION="$VERSION" KUBECTL_RECONCILE_DIR="$folder/bin"
sh "$(dirname "${BASH_SOURCE[0]}")/../install.sh"
echo "$folder/bin" >>"$GITHUB_PATH"

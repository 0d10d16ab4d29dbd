#!/usr/bin/env bash
# Shows that a release can be built again: two builds of HEAD in two folders are one program. reproduce.sh [ARGUMENTS OF CARGO BUILD]
set -euo pipefail
here=$(git -C "$(dirname "${BASH_SOURCE[0]}")" rev-parse --show-toplevel)
commit=$(git -C "$here" rev-parse HEAD)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

for folder in "$scratch/one" "$scratch/another/deeper"; do
  git clone -q "$here" "$folder"
  # HEAD may move during the first build.
  git -C "$folder" checkout -q --detach "$commit"
  "$folder/packaging/build.sh" "$@"
  find "$folder/target" -name kubectl-reconcile -type f -path '*/dist/*' -exec cp {} "$folder.built" \;
  rm -rf "$folder/target"
done
(cd "$scratch" && sha256sum one.built another/deeper.built)
cmp "$scratch/one.built" "$scratch/another/deeper.built"

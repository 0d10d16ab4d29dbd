#!/usr/bin/env bash
# Builds the program as it is shipped, byte for byte the same in every folder: build.sh [ARGUMENTS OF CARGO BUILD]
# Otherwise the paths of this machine would be in messages of panics and in the assertions of C code, and the time of the build in the
# allocator's (`__TIME__`).
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

source=$(pwd -P)
cargo=$(cd "${CARGO_HOME:-$HOME/.cargo}" && pwd -P)
CARGO_ENCODED_RUSTFLAGS=$(printf -- '--remap-path-prefix=%s=/source\x1f--remap-path-prefix=%s=/cargo' "$source" "$cargo")
export CARGO_ENCODED_RUSTFLAGS
export CFLAGS="${CFLAGS:-} -ffile-prefix-map=$source=/source -ffile-prefix-map=$cargo=/cargo"
export SOURCE_DATE_EPOCH="${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct)}"
export KUBECTL_RECONCILE_COMMIT="${KUBECTL_RECONCILE_COMMIT:-$(git rev-parse HEAD)}"

exec cargo build --locked --profile dist --bin kubectl-reconcile --target-dir target "$@"

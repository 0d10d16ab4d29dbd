#!/usr/bin/env bash
# Makes the archive of one target, the same bytes each time: packaging/archive.sh VERSION TARGET PROGRAM FOLDER
# PROGRAM is the program of the target; MAN_PROGRAM is one that runs here and writes the manual pages (default: PROGRAM).
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
version=$1 target=$2 program=$(realpath "$3") folder=$4

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
install -m 755 "$program" "$work/kubectl-reconcile"
install -m 755 "$root/completions/kubectl_complete-reconcile" "$work/"
install -m 644 "$root/LICENSE" "$root/README.md" "$work/"
cp -R "$root/completions" "$work/completions"
"$(realpath "${MAN_PROGRAM:-$program}")" man --dir "$work/man1"
find "$work" -type d -exec chmod 755 {} +
find "$work" -type f -exec chmod 644 {} +
chmod 755 "$work/kubectl-reconcile" "$work/kubectl_complete-reconcile"

# Names without `./`, as install.sh and krew ask for them.
mkdir -p "$folder"
folder=$(cd "$folder" && pwd)
cd "$work"
tar --sort=name --owner=0 --group=0 --numeric-owner --mtime="@${SOURCE_DATE_EPOCH:-0}" --format=ustar -cf - ./* --transform='s,^\./,,' |
    gzip -n -9 > "$folder/kubectl-reconcile-v$version-$target.tar.gz"

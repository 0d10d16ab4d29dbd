#!/usr/bin/env bash
# Fills in what a release knows: packaging/fill.sh TEMPLATE VERSION RELEASES HOMEPAGE SHA256SUMS > FILE
# RELEASES is the URL of the folder with the files of this release. A checksum that is missing is an error.
set -euo pipefail
template=$1 version=$2 releases=$3 homepage=$4 sums=$5

text=$(cat "$template"; echo x)
text=${text%x}
text=${text//@VERSION@/"$version"}
text=${text//@RELEASES@/"$releases"}
text=${text//@HOMEPAGE@/"$homepage"}
while [[ $text =~ @SHA256:([a-z0-9_-]+)@ ]]; do
    target=${BASH_REMATCH[1]}
    name=kubectl-reconcile-v$version-$target.tar.gz
    sum=$(awk -v name="$name" '$2 == name { print $1 }' "$sums")
    [[ $sum =~ ^[0-9a-f]{64}$ ]] || { echo "error: $sums has no checksum of $name" >&2; exit 1; }
    text=${text//"@SHA256:$target@"/$sum}
done
printf '%s' "$text"

#!/bin/sh
# Installs the kubectl plugin `reconcile` from a release:
#
#   curl -fsSL @RELEASES@/install.sh | sh
#
# The archive is unpacked only if its SHA-256 is the one in the file SHA256SUMS of the release. Nothing is run as another user.
#
#   KUBECTL_RECONCILE_DIR       where to install (default: ~/.local/bin)
#   KUBECTL_RECONCILE_RELEASE   URL of the folder with the files of the release (default: @RELEASES@)
#   KUBECTL_RECONCILE_VERSION   its version (default: @VERSION@)
#   KUBECTL_RECONCILE_SHA256SUMS
#                               file with the checksums to expect, instead of the SHA256SUMS of the release
set -eu

main() {
    release=${KUBECTL_RECONCILE_RELEASE:-@RELEASES@}
    version=${KUBECTL_RECONCILE_VERSION:-@VERSION@}
    folder=${KUBECTL_RECONCILE_DIR:-${HOME:?}/.local/bin}
    case $release$version in
        *@*) fail "this copy of the script belongs to no release: set KUBECTL_RECONCILE_RELEASE and KUBECTL_RECONCILE_VERSION" ;;
    esac
    case $release in
        https://* | http://127.0.0.1:* | http://localhost:*) ;;
        *) fail "$release does not begin with https://" ;;
    esac

    archive=kubectl-reconcile-v$version-$(target).tar.gz
    work=$(mktemp -d)
    trap 'rm -rf "$work"' EXIT
    trap 'exit 1' HUP INT TERM

    if [ -n "${KUBECTL_RECONCILE_SHA256SUMS:-}" ]; then
        cp "$KUBECTL_RECONCILE_SHA256SUMS" "$work/SHA256SUMS" || fail "cannot read $KUBECTL_RECONCILE_SHA256SUMS"
    else
        download "$release/SHA256SUMS" "$work/SHA256SUMS"
    fi
    expected=$(awk -v name="$archive" '$2 == name || $2 == "*" name { print $1 }' "$work/SHA256SUMS")
    case $expected in
        *[!0-9a-f]* | "") fail "SHA256SUMS has no checksum of $archive" ;;
    esac
    [ ${#expected} -eq 64 ] || fail "SHA256SUMS has no checksum of $archive"

    download "$release/$archive" "$work/archive.tar.gz"
    actual=$(checksum "$work/archive.tar.gz")
    [ "$actual" = "$expected" ] || fail "$archive is not what was released: its SHA-256 is $actual, expected $expected"

    mkdir -p "$folder" || fail "cannot create $folder: choose another folder with KUBECTL_RECONCILE_DIR"
    [ -w "$folder" ] || fail "cannot write to $folder: choose another folder with KUBECTL_RECONCILE_DIR"
    for file in kubectl-reconcile kubectl_complete-reconcile; do
        tar -xzf "$work/archive.tar.gz" -C "$work" "$file" || fail "$archive has no $file"
        chmod 755 "$work/$file"
        # Moved into place at once, so that nobody runs half a file.
        cp "$work/$file" "$folder/.$file.$$"
        mv -f "$folder/.$file.$$" "$folder/$file"
    done

    echo "kubectl reconcile $version is installed in $folder"
    case :$PATH: in
        *":$folder:"*) ;;
        *) echo "add $folder to PATH, so that kubectl finds the plugin" ;;
    esac
}

fail() {
    echo "error: $*" >&2
    exit 1
}

target() {
    case $(uname -m) in
        x86_64 | amd64) machine=x86_64 ;;
        aarch64 | arm64) machine=aarch64 ;;
        *) fail "there is no release for $(uname -m): build it with cargo install" ;;
    esac
    case $(uname -s) in
        Linux) echo "$machine-unknown-linux-musl" ;;
        Darwin) echo "$machine-apple-darwin" ;;
        *) fail "there is no release for $(uname -s): build it with cargo install" ;;
    esac
}

download() {
    if command -v curl >/dev/null 2>&1; then
        case $1 in
            https://*) curl --proto '=https' --tlsv1.2 -fsSL --retry 3 -o "$2" "$1" || fail "cannot download $1" ;;
            *) curl -fsS -o "$2" "$1" || fail "cannot download $1" ;;
        esac
    elif command -v wget >/dev/null 2>&1; then
        wget -q -O "$2" "$1" || fail "cannot download $1"
    else
        fail "neither curl nor wget is installed"
    fi
}

checksum() {
    if command -v sha256sum >/dev/null 2>&1; then
        sha256sum "$1" | cut -d ' ' -f 1
    elif command -v shasum >/dev/null 2>&1; then
        shasum -a 256 "$1" | cut -d ' ' -f 1
    else
        fail "neither sha256sum nor shasum is installed: the download cannot be verified"
    fi
}

# Behind everything else: half a script does nothing.
main

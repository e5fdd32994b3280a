#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Unpacks the upstream source of a Debian source package into FOLDER/PACKAGE, with apt's own
# checks of signature and checksum. Does nothing when it is there already, so it works offline then.
# What cannot be had is named at the end; the others are fetched all the same.
set -eu
folder=${1:?usage: tools/fetch-source.sh FOLDER PACKAGE...}
shift
mkdir -p "$folder"
folder=$(cd "$folder" && pwd)
suite=$(. /etc/os-release && echo "${VERSION_CODENAME:-bookworm}")
keyring=/usr/share/keyrings/debian-archive-keyring.gpg

fetch() {
    if ! command -v apt-get >/dev/null 2>&1 || [ ! -r "$keyring" ]; then
        echo "fetch-source: needs apt-get and Debian's keyring to fetch $1" >&2
        return 1
    fi
    work=$folder/.apt
    mkdir -p "$work/lists/partial" "$work/new"
    # The machine's own lists need no source entries: these are ours.
    echo "deb-src [signed-by=$keyring] http://deb.debian.org/debian $suite main" >"$work/sources.list"
    set -- "$1" -qq -o "Dir::Etc::sourcelist=$work/sources.list" -o Dir::Etc::sourceparts=/dev/null \
        -o "Dir::State::lists=$work/lists" -o APT::Sandbox::User=root -o Acquire::Retries=2
    name=$1
    shift
    if [ ! -e "$work/updated" ]; then
        apt-get "$@" update >&2 && touch "$work/updated" || return 1
    fi
    (cd "$work/new" && apt-get "$@" source --download-only "$name" >&2) || return 1
    rm -rf "$folder/$name.new"
    mkdir -p "$folder/$name.new" || return 1
    unpacked=
    for archive in "$work/new/${name}_"*.orig.tar.*; do
        case $archive in
        *.asc | *.sig) continue ;; # the upstream author's signature beside it
        esac
        # Most archives have one folder around all, some none.
        tops=$(tar tf "$archive" | sed 's,^\./,,; /^$/d; s,/.*,,' | sort -u | wc -l)
        tar xf "$archive" -C "$folder/$name.new" --strip-components=$((tops == 1)) || return 1
        unpacked=yes
    done
    if [ -z "$unpacked" ]; then
        echo "fetch-source: $name has no upstream archive" >&2
        return 1
    fi
    mv "$folder/$name.new" "$folder/$name" || return 1
    rm -f "$work/new/${name}_"*
}

failed=
for package in "$@"; do
    [ -d "$folder/$package" ] || fetch "$package" || failed="$failed $package"
done
if [ -n "$failed" ]; then
    echo "fetch-source: not fetched:$failed" >&2
    exit 1
fi

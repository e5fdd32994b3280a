#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Installs those Debian packages of the named groups (build, test, lint, bench, dev) that are missing.
# Does nothing, and asks for nothing, when all are there.
set -eu
list=$(dirname "$0")/packages.txt
missing=
for group in "$@"; do
    for package in $(awk -v g="$group" '!/^#/ && $2 == g { print $1 }' "$list"); do
        case "$package" in
        nodejs) if command -v node >/dev/null 2>&1; then continue; fi ;;
        npm) if command -v npm >/dev/null 2>&1; then continue; fi ;;
        python3) if command -v python3 >/dev/null 2>&1; then continue; fi ;;
        esac
        if ! dpkg-query -W -f '${Status}' "$package" 2>/dev/null | grep -q 'install ok installed'; then
            missing="$missing $package"
        fi
    done
done
[ -n "$missing" ] || exit 0
if ! command -v apt-get >/dev/null 2>&1; then
    echo "fathom needs these Debian packages, and apt-get is not here to install them:$missing" >&2
    exit 1
fi
if [ "$(id -u)" = 0 ]; then
    as_root=
elif command -v sudo >/dev/null 2>&1; then
    as_root=sudo
else
    echo "fathom needs these Debian packages; run as root: apt-get install$missing" >&2
    exit 1
fi
echo "installing:$missing"
$as_root apt-get update -qq
# shellcheck disable=SC2086
DEBIAN_FRONTEND=noninteractive $as_root apt-get install -y -qq --no-install-recommends $missing

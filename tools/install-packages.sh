#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Looks for the commands and libraries of the named groups (build, test, lint, bench, dev) and offers to install the
# Debian packages of those that are missing. Does nothing, and asks for nothing, when all are there. Without apt it
# names the packages.
set -eu
list=$(dirname "$0")/packages.txt

# is_there PACKAGE PROBE
is_there() {
    case "$2" in
    command:*) command -v "${2#*:}" >/dev/null 2>&1 ;;
    library:*) pkg-config --exists "${2#*:}" 2>/dev/null ;;
    header:*) printf '#include <%s>\n' "${2#*:}" | cc -E - >/dev/null 2>&1 ;;
    *) dpkg-query -W -f '${Status}' "$1" 2>/dev/null | grep -q 'install ok installed' ;;
    esac
}

explain() {
    case "$1" in
    build) echo "  build: compilers and libraries that fathom is made of" ;;
    test) echo "  test: what tests run against: a browser, web servers, MPI, Go, Haskell, LTTng, other shells and build systems" ;;
    lint) echo "  lint: layout and mistakes in C and scripts" ;;
    bench) echo "  bench: other profilers, to compare with" ;;
    dev) echo "  dev: a debugger" ;;
    esac
}

missing=''
fedora=''
arch=''
groups=''
for group in "$@"; do
    before=$missing
    while read -r package of probe in_fedora in_arch; do
        [ "$of" = "$group" ] || continue
        is_there "$package" "$probe" && continue
        missing="$missing $package"
        fedora="$fedora ${in_fedora:-$package}"
        arch="$arch ${in_arch:-$package}"
    done <<PACKAGES
$(sed '/^#/d; /^$/d' "$list")
PACKAGES
    [ "$missing" = "$before" ] || groups="$groups $group"
done
[ -n "$missing" ] || exit 0

echo "fathom needs packages for:" >&2
for group in $groups; do explain "$group" >&2; done
if ! command -v apt-get >/dev/null 2>&1; then
    echo "Install these, and call make again:" >&2
    echo "  Fedora: sudo dnf install$fedora" >&2
    echo "  Arch:   sudo pacman -S --needed$arch" >&2
    echo "  Debian: sudo apt-get install$missing" >&2
    exit 1
fi
if [ "$(id -u)" = 0 ]; then
    as_root=
elif command -v sudo >/dev/null 2>&1; then
    as_root=sudo
else
    echo "Run as root: apt-get install --no-install-recommends$missing" >&2
    exit 1
fi
echo "installing:$missing"
$as_root apt-get update -qq
# On a terminal apt-get says how much it will install, and asks.
# shellcheck disable=SC2086
if [ -t 0 ] && [ -t 1 ]; then
    $as_root apt-get install --no-install-recommends $missing
else
    DEBIAN_FRONTEND=noninteractive $as_root apt-get install -y -qq --no-install-recommends $missing
fi

#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# configure.sh BUILD [OPTION...]: configures a build folder, and again when packages of packages.txt have come
# or gone since. Parts of fathom are built where their libraries are (MPI, the screen of `fathom top`), and tests
# run where their tools are; ninja by itself configures anew only when a meson.build has changed.
set -eu
build=$1
shift
list=$(dirname "$0")/packages.txt
# shellcheck disable=SC2046
found=$(dpkg-query -W -f '${Package} ${Status}\n' $(awk '!/^#/ && NF { print $1 }' "$list") 2>/dev/null |
    grep ' install ok installed$' | sort) || true
if [ ! -e "$build/build.ninja" ]; then
    meson setup "$build" "$@"
elif [ "$found" != "$(cat "$build/packages-found" 2>/dev/null)" ]; then
    meson setup --reconfigure "$build" "$@"
fi
printf '%s\n' "$found" >"$build/packages-found"

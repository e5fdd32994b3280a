#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Builds the Lua interpreter from Debian's source with `fathom cc` and records it at work
# (demo.lua). Where the source cannot be fetched (the first time needs the network), it builds and
# records market.c instead. The profile is FOLDER/demo.data.
set -eu
fathom=$(realpath "$(command -v "${1:?usage: examples/record-demo.sh FATHOM FOLDER}")")
folder=${2:?usage: examples/record-demo.sh FATHOM FOLDER}
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$folder"
folder=$(cd "$folder" && pwd)

if "$here/../tools/fetch-source.sh" "$folder/sources" lua5.4; then
    cd "$folder/sources/lua5.4/src"
    if [ ! -x lua ] || [ -n "$(find -L "$fathom" -newer lua)" ]; then
        echo "building Lua: make CC=\"fathom cc\""
        make -s clean
        make -s -j"$(nproc)" CC="$fathom cc" MYCFLAGS=-DLUA_USE_LINUX MYLIBS=-ldl MYLDFLAGS=-Wl,-E lua
    fi
    set -- ./lua "$here/demo.lua" 12
else
    echo "no source of Lua to be had: the example program is examples/market.c"
    cd "$folder"
    "$fathom" cc -O2 "$here/market.c" -o market -lpthread
    set -- ./market 40
fi
echo "fathom record -o demo -- $*"
exec "$fathom" record -o "$folder/demo" -- "$@"

#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Installs the npm packages of tests (tests/browser/package-lock.json) into BUILD/tests/browser/node_modules:
# tools/browser-packages.sh BUILD. Does nothing when they are there already; calls at the same time wait for
# each other. Tests only read the folder, and skip when it is not there.
set -eu
from=$(cd "$(dirname "$0")/../tests/browser" && pwd)
to=$1/tests/browser
command -v npm >/dev/null 2>&1 || {
    echo "browser-packages.sh: there is no npm" >&2
    exit 1
}
mkdir -p "$to"
exec 9>"$to/npm.lock"
flock 9
if cmp -s "$from/package-lock.json" "$to/node_modules/installed-lock.json"; then
    exit 0
fi
# A folder is complete when it gets its name.
new=$to/npm-new
rm -rf "$new"
mkdir "$new"
cp "$from/package.json" "$from/package-lock.json" "$new"
npm --prefix "$new" ci --ignore-scripts --no-audit --no-fund --prefer-offline --loglevel=error 9>&-
cp "$from/package-lock.json" "$new/node_modules/installed-lock.json"
rm -rf "$to/node_modules"
mv "$new/node_modules" "$to/node_modules"
rm -rf "$new"

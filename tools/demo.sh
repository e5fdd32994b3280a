#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Records the example program, prints what the commands say of it, and serves its pages.
# FATHOM_DEMO_ONCE=1 ends after the tables (for tests).
set -eu
build=$(cd "${1:?usage: tools/demo.sh BUILD-FOLDER}" && pwd)
source=$(cd "$(dirname "$0")/.." && pwd)
fathom=$build/src/cli/fathom
demo=$build/demo
mkdir -p "$demo"

echo "== recording the example program (fathom cc, fathom record)"
"$source/examples/record-demo.sh" "$fathom" "$demo"

cd "$demo"
show() {
    echo
    echo "== fathom $*"
    "$fathom" "$@" --no-pager
}
show functions --limit=10 demo.data
show lines --limit=10 demo.data
show tree --depth=1 --min=10% demo.data
show memory --width=100 demo.data
[ -z "${FATHOM_DEMO_ONCE:-}" ] || exit 0
echo
echo "== its pages (fathom view demo.data); interrupt with Ctrl-C"
exec "$fathom" view demo.data

#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Records the example program, prints where its time went, and serves the pages, together with a
# profile of a Mercury program: a real one where there is one at hand, else a generated sample.
# FATHOM_DEMO_ONCE=1 ends after the tables (for tests).
set -eu
build=$(cd "${1:?usage: tools/demo.sh BUILD-FOLDER}" && pwd)
source=$(cd "$(dirname "$0")/.." && pwd)
fathom=$build/src/cli/fathom
demo=$build/demo
mkdir -p "$demo"

echo "== recording the example program (fathom cc, fathom record)"
"$source/examples/record-demo.sh" "$fathom" "$demo"

mercury=${FATHOM_SAMPLE_DATA:-$source/../shared/data}/mercury/Deep.data
if [ ! -r "$mercury" ]; then
    mercury=$demo/mercury-sample.data
    "$build/tests/tools/generate-profile" --nodes=20000 "$mercury"
fi

echo
echo "== its most expensive procedures (fathom report top_procs/1-10/callseqs/self/oa)"
"$fathom" report --text "top_procs/1-10/callseqs/self/oa" "$demo/demo.data"
echo
echo "== a Mercury program's profile (fathom report menu)"
"$fathom" report --text menu "$mercury"
[ -z "${FATHOM_DEMO_ONCE:-}" ] || exit 0
echo
echo "== the pages; interrupt with Ctrl-C"
exec "$fathom" view "$demo/demo.data" "$mercury"

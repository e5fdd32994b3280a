#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# 64 runs of one program, of 10^5 contexts each, merged, with and without statistics over them; then, where OpenMPI is,
# MPI_PROFILES of them (1,024) by 2 and 8 processes: [MPI_PROFILES=N] bench/merge/run.sh [BUILD [ROUNDS]]
set -eu
build=${1:-build}
rounds=${2:-3}
ninja -C "$build" tests/tools/generate-profile src/cli/fathom >/dev/null
folder=$(mktemp -d "${TMPDIR:-/tmp}/fathom-merge-XXXXXX")
trap 'rm -rf "$folder"' EXIT
files=
for i in $(seq 64); do
    "$build/tests/tools/generate-profile" --c -n 200000 -p 2000 --run "$i" "$folder/$i.data" >/dev/null
    files="$files $folder/$i.data"
done
for _ in $(seq "$rounds"); do
    for option in --no-ranks --ranks; do
        # shellcheck disable=SC2086 # names without blanks
        python3 - "$build/src/cli/fathom" merge $option -o "$folder/all.data" $files <<'PY'
import resource, subprocess, sys, time
begin = time.monotonic()
subprocess.run(sys.argv[1:], check=True)
used = resource.getrusage(resource.RUSAGE_CHILDREN)
print(f"64 profiles, {sys.argv[3]}: {time.monotonic() - begin:.2f} s, "
      f"{used.ru_utime + used.ru_stime:.2f} s of CPU time, "
      f"{used.ru_maxrss / 1024:.0f} MiB at most")
PY
    done
done
if command -v mpirun >/dev/null && [ -x "$build/src/runs/mpi/fathom-merge-mpi" ]; then
    python3 "$(dirname "$0")/mpi.py" "$build" "${MPI_PROFILES:-1024}" 200000 2 8
fi

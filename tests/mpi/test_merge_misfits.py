#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`fathom merge --mpi` of files that do not all go together: what is left out, why, and what is made of the others is
what one process says and makes of the same list, whatever share a file is in."""
import os
import pathlib
import random
import sys
import tempfile

import record_lib as lib
import mpi_lib as mpi

RANKS = 6
ALL = (1, 2, 3, 5, 8)
PROGRAM = r"""
#include <stdlib.h>
__attribute__((noinline)) int leaf(int n) { volatile int s = 0; while (n > 0) s += n--; return s; }
__attribute__((noinline)) int work(int n) { return n == 0 ? leaf(2) : leaf(n) + work(n - 1); }
int main(void)
{
    int rank = atoi(getenv("OMPI_COMM_WORLD_RANK"));
    return work(rank + 2) + (rank % 2 ? leaf(rank) : 0) == 12345;
}
"""


def record(folder, program, rank):
    """Its file is PROGRAM.rankN.data."""
    lib.must([lib.FATHOM, "record", "-q", "-o", program, "--", f"./{program}"], folder,
             env={**os.environ, "OMPI_COMM_WORLD_RANK": str(rank), "OMPI_COMM_WORLD_SIZE": str(RANKS)})
    return f"{program}.rank{rank}.data"


def beside(folder, stem):
    """Bytes of the sum and of what is beside it."""
    return {path.suffix: path.read_bytes() for path in folder.glob(f"{stem}.*")}


def merge_one(folder, files, *options):
    for path in folder.glob("one.*"):
        path.unlink()
    done = lib.run([lib.FATHOM, "merge", "--keep-going", *options, "-o", "one.data", *files], folder)
    return done.returncode, done.stderr, beside(folder, "one")


def merge_many(folder, count, files, *options):
    for path in folder.glob("many.*"):
        path.unlink()
    done = mpi.run(count, lib.FATHOM, "merge", "--mpi", *options, "-o", "many.data", *files, folder=folder)
    # mpirun has words of its own where the status is not 0.
    said = "".join(line for line in done.stderr.splitlines(True) if line.startswith("fathom merge: "))
    return done.returncode, said, beside(folder, "many")


def same(tap, folder, what, files, *options, counts=(2, 3)):
    status, said, made = merge_one(folder, files, *options)
    for count in counts:
        found_status, found_said, found = merge_many(folder, count, files, *options)
        tap.same((found_status, found_said), (status, said), f"{what}: {count} processes say what one says")
        tap.check(found == made, f"{what}: {count} processes make what one makes",
                  f"{ {k: len(v) for k, v in found.items()} } { {k: len(v) for k, v in made.items()} }")
    return said


def make(folder):
    (folder / "prog.c").write_text(PROGRAM)
    for name in ("prog", "other"):
        lib.must([lib.FATHOM, "cc", "-O1", "-g", "prog.c", "-o", name], folder)
    ranks = [record(folder, "prog", rank) for rank in range(RANKS)]
    others = [record(folder, "other", rank) for rank in range(2)]
    whole = (folder / ranks[0]).read_bytes()
    (folder / "cut.data").write_bytes(whole[:len(whole) // 2])
    (folder / "copy.data").write_bytes(whole)
    os.link(folder / ranks[1], folder / "link.data")
    # Of another run, with another measure: `quanta` is there in all, so the name of one that is not has to go.
    for number, name in enumerate(ranks[:2]):
        bytes_ = (folder / name).read_bytes()
        assert bytes_.count(b"callseqs") == 1
        (folder / f"unit{number}.data").write_bytes(bytes_.replace(b"callseqs", b"callseqz"))
    lib.must([lib.FATHOM, "merge", "--no-ranks", "-o", "sum.data", *ranks[2:4]], folder)
    lib.must([lib.FATHOM, "merge", "--no-ranks", "-o", "own.data", ranks[5]], folder)
    return ranks, others


def misfits(tap, folder):
    ranks, others = make(folder)
    said = same(tap, folder, "one other program, in the last share", [*ranks, others[0]], counts=ALL)
    tap.check(f"{others[0]}: a profile of" in said and "1 of 7 files" in said, "and it is named", said)
    said = same(tap, folder, "the other program comes first", [others[0], *ranks, others[1]])
    tap.check("6 of 8 files are left out" in said, "so its files stay", said)
    said = same(tap, folder, "a sum and what is in it", [ranks[2], "sum.data", *ranks[3:], ranks[0], ranks[1]])
    tap.check("sum.data: a profile that is in it was added before" in said and "1 of 7" in said,
              "the sum alone is left out", said)
    said = same(tap, folder, "a sum before what is in it", ["sum.data", *ranks])
    tap.check(f"{ranks[2]}: a profile" in said and f"{ranks[3]}: a profile" in said and "2 of 7" in said,
              "what is in the sum is left out", said)
    same(tap, folder, "a sum of one", [ranks[0], "own.data", ranks[1], ranks[5]])
    same(tap, folder, "copies and damage", ["cut.data", ranks[0], "cut.data", "copy.data", ranks[1], "link.data",
                                            "missing.data", ranks[1], ranks[2], "missing.data"])
    same(tap, folder, "other measures", [ranks[2], "unit0.data", ranks[3], "unit1.data", ranks[4]])
    same(tap, folder, "other measures first", ["cut.data", "unit0.data", ranks[2], "unit1.data", ranks[3]])
    same(tap, folder, "nothing fits", ["cut.data", "missing.data"])
    same(tap, folder, "programs apart", [others[0], *ranks[:3], others[1], "copy.data", "sum.data"], "--union")
    same(tap, folder, "repeats wanted", [ranks[0], "copy.data", ranks[0], others[0], "sum.data", ranks[2]],
         "--allow-repeats")
    rng = random.Random(1018)
    every = [*ranks, *others, "cut.data", "copy.data", "link.data", "missing.data", "unit0.data", "unit1.data", "sum.data",
             "own.data"]
    for number in range(3):
        same(tap, folder, f"all in disorder, {number}", rng.sample(every, len(every)),
             *(["--common"] if number == 2 else []), counts=ALL)


def main():
    tap = lib.Tap()
    if not mpi.is_installed() or sys.argv[1] != "built":
        tap.skip("files that do not fit, on MPI", mpi.MISSING)
        sys.exit(tap.done())
    with tempfile.TemporaryDirectory() as name:
        misfits(tap, pathlib.Path(name))
    sys.exit(tap.done())


if __name__ == "__main__":
    main()

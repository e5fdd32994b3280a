#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""MPI programs: one profile a rank, named by it, of programs built by `OMPI_CC="fathom cc" mpicc` and
started by mpirun; without OpenMPI with the variables that launchers set."""
import json
import os
import pathlib
import platform
import subprocess
import sys
import tempfile

import record_lib as lib
import mpi_lib as mpi
from patience import PATIENCE

RANKS = 3
PLAIN = r"""
#include <stdlib.h>
__attribute__((noinline)) int work(int n) { volatile int sum = 0; while (n > 0) sum += n--; return sum; }
int main(void)
{
    const char *rank = getenv("OMPI_COMM_WORLD_RANK");
    for (int i = 0; rank != NULL && i <= atoi(rank); i++) work(10);
    return 0;
}
"""
MPI = r"""
#include <mpi.h>
#include <stdio.h>
__attribute__((noinline)) int work(int n) { volatile int sum = 0; while (n > 0) sum += n--; return sum; }
int main(int count, char **words)
{
    int rank, sum = 0;
    MPI_Init(&count, &words);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i <= rank; i++) work(10);
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Finalize();
    return sum == 3 ? 0 : 3;
}
"""


def works(folder):
    """How often each rank's profile says that it worked."""
    return {path.name: lib.Profile(path).calls()["work"] for path in sorted(folder.glob("*.data"))}


EXPECTED = {f"prof.rank{rank}.data": rank + 1 for rank in range(RANKS)}


def by_variables(tap, folder):
    (folder / "prog.c").write_text(PLAIN)
    lib.must([lib.FATHOM, "cc", "-O1", "prog.c", "-o", "prog"], folder)
    plain = {name: value for name, value in os.environ.items()
             if not name.startswith(("OMPI_", "PMI", "MV2_"))}
    ranks = [subprocess.Popen([lib.FATHOM, "record", "-q", "-o", "prof.data", "--", "./prog"],
                              cwd=folder, env={**plain, "OMPI_COMM_WORLD_RANK": str(rank)})
             for rank in range(RANKS)]
    tap.same([rank.wait(PATIENCE) for rank in ranks], [0] * RANKS, "ranks at once do not meet")
    tap.same(works(folder), EXPECTED, "one profile a rank, named by it")
    lib.must([lib.FATHOM, "record", "-q", "-o", "sized", "--", "./prog"], folder,
             env={**plain, "OMPI_COMM_WORLD_RANK": "1", "OMPI_COMM_WORLD_SIZE": "2"})
    done = lib.must([lib.FATHOM, "merge", "-o", "sizes.data", "sized.rank1.data", "prof.rank0.data"], folder)
    tap.check("ranks of 2 processes are in it, and of a number that is not known" in done.stderr,
              "a number of ranks that nobody said is not 0", done.stderr)
    for name in ("sized.rank1.data", "sizes.data"):
        (folder / name).unlink()
    for name in ("PMI_RANK", "PMIX_RANK"):
        lib.must([lib.FATHOM, "record", "-q", "-o", name, "--", "./prog"], folder,
                 env={**plain, name: "12"})
        tap.check((folder / f"{name}.rank12.data").exists(), f"{name} is known")
    lib.must([lib.FATHOM, "record", "-q", "-o", "none", "--", "./prog"], folder,
             env={**plain, "PMI_RANK": "../1"})
    tap.check((folder / "none.data").exists(), "what is no number is no rank")


def facts_of(folder, name):
    return json.loads(lib.must([lib.FATHOM, "dump", "--json", "--only", "facts", name],
                               folder).stdout)["facts"]


def by_mpirun(tap, folder):
    (folder / "prog.c").write_text(MPI)
    environment = {**os.environ, "OMPI_CC": f"{lib.FATHOM} cc"}
    lib.must(["mpicc", "-O1", "prog.c", "-o", "prog"], folder, env=environment)
    done = mpi.run(RANKS, lib.FATHOM, "record", "-q", "-o", "prof", "--", "./prog", folder=folder)
    tap.check(done.returncode == 0, "mpirun ends well", done.stderr)
    tap.same(works(folder), EXPECTED, "a profile of each rank of an MPI program")
    lib.must([lib.FATHOM, "merge", "-o", "all.data", *sorted(EXPECTED)], folder)
    facts = facts_of(folder, "all.data")
    tap.same(len(facts["parts"]), RANKS, "added up, the ranks are its parts")
    tap.same(lib.Profile(folder / "all.data").calls()["work"], 6, "and their counts its counts")
    expected = {(rank, RANKS, platform.node()) for rank in range(RANKS)}
    tap.same({(part["rank"], part["ranks"], part["host"]) for part in facts["parts"]}, expected,
             "each part has its rank, their number, its host")
    one = facts_of(folder, "prof.rank1.data")["process"]
    tap.same((one["rank"], one["ranks"], one["host"]), (1, RANKS, platform.node()),
             "and so has each rank's profile")
    menu = lib.must([lib.FATHOM, "report", "--json", "menu", "prof.rank2.data"], folder).stdout
    tap.same(json.loads(menu)["facts"]["rank"], 2, "its first page says so")
    if (pathlib.Path(lib.FATHOM).parents[1] / "runs" / "mpi" / "fathom-merge-mpi").exists():
        done = mpi.run(3, lib.FATHOM, "merge", "--mpi", "-o", "many.data", *sorted(EXPECTED), folder=folder)
        tap.check(done.returncode == 0 and (folder / "many.data").read_bytes() == (folder / "all.data").read_bytes(),
                  "--mpi gives the same", done.stderr)
    # Without `fathom record`: recordings are named by the rank, too, and are finished later.
    done = mpi.run(RANKS, "./prog", folder=folder)
    tap.check(done.returncode == 0, "mpirun of the program alone", done.stderr)
    raw = sorted(folder.glob("Deep.rank*.rec"))
    tap.same([path.name.split(".")[1] for path in raw], [f"rank{rank}" for rank in range(RANKS)],
             "recordings are named by rank")
    lib.must([lib.FATHOM, "finish", "-q", raw[2].name], folder)
    found = [facts_of(folder, path.name)["process"]["rank"] for path in folder.glob("Deep.rank2*.data")]
    tap.same(found, [2], "and keep it")


def imbalance(tap, folder):
    """The example whose last rank has three times the work of the others."""
    (folder / "stencil.c").write_bytes(pathlib.Path(sys.argv[1]).read_bytes())
    lib.must(["mpicc", "-O1", "stencil.c", "-o", "stencil"], folder,
             env={**os.environ, "OMPI_CC": f"{lib.FATHOM} cc"})
    done = mpi.run(4, lib.FATHOM, "record", "-q", "-o", "prof", "--", "./stencil", folder=folder)
    tap.check(done.returncode == 0, "the stencil runs", done.stderr)
    calls = [lib.Profile(folder / f"prof.rank{rank}.data").calls()["relaxed"] for rank in range(4)]
    tap.same(calls, [80000, 80000, 80000, 240000], "the last rank works three times as much")
    text = lib.must([lib.FATHOM, "diff", "--json", "prof.rank0.data", "prof.rank3.data"], folder).stdout
    causes = next(table for table in json.loads(text)["tables"] if table["name"] == "causes")
    first = causes["rows"][0]["cells"]
    tap.same((first["what"], first["difference"]), ("relax calls relaxed more often", 160000),
             "and the first row of its difference from another says so")
    lib.must([lib.FATHOM, "merge", "-o", "all.data", *(f"prof.rank{rank}.data" for rank in range(4))], folder)
    page = json.loads(lib.must([lib.FATHOM, "report", "--json", "ranks/calls/all", "all.data"], folder).stdout)
    row = next(table for table in page["tables"] if table["name"] == "ranks")["rows"][0]["cells"]
    tap.same((row["greatest_rank"], row["greatest_ratio"], row["calls_lost_count"], row["calls_mean_count"],
              row["path"][0]["name"].split(" › ")[-1]), (3, 2.0, 480000, 120000, "relaxed"),
             "the first row of its ranks is what the last rank does too much")
    menu = lib.must([lib.FATHOM, "report", "menu", "all.data"], folder).stdout
    tap.check("of 4 in " in menu and "How the ranks differ" in menu, "and the first page leads there", menu[:2000])
    facts = facts_of(folder, "all.data")["ranks"]
    tap.same(facts["count"], 4, "it has statistics over its ranks")


def main():
    tap = lib.Tap()
    with tempfile.TemporaryDirectory() as name:
        by_variables(tap, pathlib.Path(name))
    if not mpi.is_installed():
        tap.skip("programs under mpirun", mpi.MISSING)
    else:
        with tempfile.TemporaryDirectory() as name:
            by_mpirun(tap, pathlib.Path(name))
        with tempfile.TemporaryDirectory() as name:
            imbalance(tap, pathlib.Path(name))
    sys.exit(tap.done())


if __name__ == "__main__":
    main()

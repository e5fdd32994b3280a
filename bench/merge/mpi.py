#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What merging on MPI costs: CPU time of everything that mpirun starts, on one machine, whose processors the
processes share. mpi.py BUILD [PROFILES [NODES [PROCESSES...]]]: PROFILES runs of one program; NODES as for
generate-profile: about half as many contexts."""
import os
import pathlib
import resource
import subprocess
import sys
import tempfile

DIFFERENT = 64  # runs; more are the same again


def cpu(*words, **options):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(words, check=True, **options)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main(build, profiles=1024, nodes=20000, *processes):
    build = pathlib.Path(build).absolute()
    fathom, generate = build / "src/cli/fathom", build / "tests/tools/generate-profile"
    environment = {**os.environ, "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    with tempfile.TemporaryDirectory(prefix="fathom-mpi-") as name:
        folder = pathlib.Path(name)
        for run in range(min(int(profiles), DIFFERENT)):
            subprocess.run([generate, "--c", "-n", str(nodes), "-p", str(int(nodes) // 100), "--run", str(run),
                            folder / f"{run}.data"], check=True, stdout=subprocess.DEVNULL)
        (folder / "list").write_text("".join(f"{folder}/{i % DIFFERENT}.data\n" for i in range(int(profiles))))
        words = ["merge", "--allow-repeats"]
        one = cpu(fathom, *words, "-o", folder / "one.data", f"@{folder}/list")
        memory = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
        print(f"{profiles} profiles of {nodes} nodes: one process {one:.2f} s of CPU time, "
              f"{memory / 1024:.0f} MiB at most")
        for count in map(int, processes or (1, 2, 4, 8, 16, 32, 64)):
            start = ["mpirun", "--oversubscribe", "-n", str(count)]
            nothing = cpu(*start, fathom, "merge", "--mpi", "-o", folder / "few.data", folder / "0.data",
                          env=environment, stderr=subprocess.DEVNULL)
            many = cpu(*start, fathom, *words, "--mpi", "-o", folder / "many.data", f"@{folder}/list",
                       env=environment)
            same = (folder / "one.data").read_bytes() == (folder / "many.data").read_bytes()
            print(f"{count} processes: {many:.2f} s, of which {nothing:.2f} s to start and end them; without that "
                  f"{100 * one / max(many - nothing, 1e-9):.0f} % of the CPU efficiency of one"
                  f"{'' if same else '; OTHER BYTES'}")
        print(f"no process had more than {resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024:.0f} MiB")


main(*sys.argv[1:])

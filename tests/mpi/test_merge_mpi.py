#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`fathom merge --mpi`: the bytes of one process whatever the number of processes and the order of
files; what cannot be added is said and the rest goes on; killed, the result is absent or whole."""
import os
import pathlib
import random
import signal
import subprocess
import sys
import tempfile
import time

import finish_lib as lib
import mpi_lib as mpi

GENERATE, BUILT = os.path.abspath(sys.argv[1]), sys.argv[2] == "built"
FILES = 11
KILLS = int(os.environ.get("FATHOM_KILL_ROUNDS", "3"))  # 50 of each are 100


def merge_one(folder, name, files, *options):
    done = lib.run([lib.FATHOM, "merge", *options, "-o", name, *files], folder)
    assert done.returncode == 0, done.stderr
    return (folder / name).read_bytes()


def merge_many(folder, count, files, *options):
    out = folder / "out.data"
    out.unlink(missing_ok=True)
    done = mpi.run(count, lib.FATHOM, "merge", "--mpi", *options, "-o", out, *files, folder=folder)
    return done, out.read_bytes() if out.exists() else None


def equal_bytes(tap, folder, files):
    expected = merge_one(folder, "one.data", files)
    rng = random.Random(18)
    for count in (1, 2, 3, 5, 8):
        shuffled = rng.sample(files, len(files))
        (folder / "list").write_text("\n".join(shuffled[3:]) + "\n")
        done, found = merge_many(folder, count, shuffled[:3] + ["@list"])
        tap.check(done.returncode == 0 and found == expected,
                  f"{count} processes give the bytes of one", done.stderr[-500:])
    with_ranks = merge_one(folder, "ranks.data", files, "--ranks")
    tap.check(len(with_ranks) > len(expected), "statistics over ranks are kept where they are asked for")
    for count in (2, 5):
        done, found = merge_many(folder, count, rng.sample(files, len(files)), "--ranks")
        tap.check(done.returncode == 0 and found == with_ranks,
                  f"{count} processes give the statistics of one", done.stderr[-500:])
    done, found = merge_many(folder, 8, files[:3])
    tap.check(done.returncode == 0 and found == merge_one(folder, "three.data", files[:3]),
              "more processes than files", done.stderr[-500:])


def bad_files(tap, folder, files):
    whole = (folder / files[1]).read_bytes()
    (folder / "cut.data").write_bytes(whole[:len(whole) // 2])
    lib.must([GENERATE, "-n", "500", folder / "mercury.data"], folder)
    expected = merge_one(folder, "good.data", files[:6])
    given = files[:2] + ["cut.data", files[2], "missing.data", "mercury.data"] + files[3:6] + [files[0]]
    for count in (2, 3):
        done, found = merge_many(folder, count, given)
        tap.same(done.returncode, 1, f"{count} processes, bad files among others: status")
        tap.same(found, expected, f"{count} processes: the others are added up")
        for text in ("cut.data: ", "missing.data: ", "mercury.data: ",
                     f"{files[0]}: given twice", "4 of 10 files are left out"):
            tap.check(text in done.stderr, f"{count} processes: it says '{text}'", done.stderr)
    done, found = merge_many(folder, 3, ["missing.data", "cut.data"])
    tap.check(done.returncode == 1 and found is None, "nothing to add gives no file", done.stderr)
    done, found = merge_many(folder, 2, [files[0], files[1], files[0]], "--allow-repeats")
    tap.check(found == merge_one(folder, "twice.data", [files[0], files[1], files[0]],
                                 "--allow-repeats"), "repeats where they are wanted", done.stderr)
    done, found = merge_many(folder, 3, [files[0], "mercury.data", files[1]], "--union")
    tap.check(done.returncode == 1 and "mercury.data" in done.stderr
              and found == merge_one(folder, "union.data", [files[0], files[1]], "--union"),
              "options are those of each process", done.stderr)


def failing_process(tap, folder, files):
    """One of two cannot write anything."""
    out = folder / "half.data"
    words = [lib.FATHOM, "merge", "--mpi", "-o", out, *files]
    done = mpi.run(1, *words, ":", "-n", "1", "env", "TMPDIR=/nonexistent/folder", *words, folder=folder)
    tap.check(done.returncode == 1 and "process 1 has no folder" in done.stderr
              and f"{len(files) // 2} of {len(files)} files are left out" in done.stderr,
              "a process that cannot work is reported", done.stderr)
    tap.same(out.read_bytes() if out.exists() else done.stderr,
             merge_one(folder, "even.data", files[::2]), "and the others' files are added up")


def processes_with(text):
    found = []
    for entry in pathlib.Path("/proc").iterdir():
        try:
            if entry.name.isdigit() and text in (entry / "cmdline").read_bytes():
                found.append(int(entry.name))
        except OSError:
            pass
    return found


def killed(tap, folder, files, rounds, *options):
    """With statistics over ranks the files are read twice, and the sum is not the result yet."""
    out = folder / "killed.data"
    expected = merge_one(folder, "whole.data", files, *options)
    whole = 0
    rng = random.Random(5)
    for number in range(rounds):
        out.unlink(missing_ok=True)
        begin = time.monotonic()
        with subprocess.Popen(mpi.command(3, lib.FATHOM, "merge", "--mpi", *options, "-o", out, *files),
                              cwd=folder, env=mpi.ENVIRONMENT, stdout=subprocess.DEVNULL,
                              stderr=subprocess.DEVNULL) as started:
            while number > 0 and started.poll() is None and time.monotonic() - begin < moment:
                time.sleep(0.01)
            if number > 0:
                started.send_signal(signal.SIGKILL)
            for process in processes_with(os.fsencode(out)) if number % 2 == 1 else []:
                try:  # those that would go on without mpirun
                    os.kill(process, signal.SIGKILL)
                except ProcessLookupError:
                    pass
        if number == 0:
            longest = time.monotonic() - begin
        moment = rng.uniform(0, longest)
        deadline = time.monotonic() + 60
        while processes_with(os.fsencode(out)) and time.monotonic() < deadline:
            time.sleep(0.05)
        for process in processes_with(os.fsencode(out)):
            os.kill(process, signal.SIGKILL)
        if out.exists():
            whole += 1
            tap.same(out.read_bytes(), expected, "killed: what is there is whole")
    # Killed, a process cannot remove its own files: the next merge does.
    thesis = folder / "t" / "fathom-mpi-thesis" # by its name it might be ours
    thesis.mkdir(exist_ok=True)
    (thesis / "chapter.tex").write_text("of somebody else")
    # Those that were killed while they removed their files: the mark is there yet, or nothing.
    for name, files_left in (("Marked", (".fathom-merge-mpi",)), ("Nobody", ())):
        (folder / "t" / f"fathom-mpi-{name}").mkdir()
        for file in files_left:
            (folder / "t" / f"fathom-mpi-{name}" / file).write_text("")
    done, found = merge_many(folder, 3, files, *options)
    tap.check((thesis / "chapter.tex").exists(), "others' folders stay", done.stderr)
    left = [path for path in (folder / "t").glob("fathom-mpi-*") if path != thesis]
    tap.check(found == expected and not left, "nothing stays of those that were killed", f"{left} {done.stderr}")
    tap.check(whole >= 1, f"whole {whole} times of {rounds}, at least when nobody killed it")


def main():
    tap = lib.Tap()
    if not mpi.is_installed() or not BUILT:
        tap.skip("merging on MPI", mpi.MISSING if BUILT else "fathom-merge-mpi was not built: no OpenMPI")
        sys.exit(tap.done())
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        mpi.ENVIRONMENT["TMPDIR"] = str(folder / "t")  # what is killed leaves files there
        (folder / "t").mkdir()
        files = [f"{number}.data" for number in range(FILES)]
        for number, file in enumerate(files):
            lib.must([GENERATE, "--c", "-n", "1500", "-p", "60", "--run", str(number), file], folder)
        equal_bytes(tap, folder, files)
        bad_files(tap, folder, files)
        failing_process(tap, folder, files[:10])
        killed(tap, folder, files, KILLS)
        killed(tap, folder, files, KILLS, "--ranks")
    sys.exit(tap.done())


if __name__ == "__main__":
    main()

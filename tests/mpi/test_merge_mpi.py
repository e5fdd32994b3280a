#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`fathom merge --mpi`: the bytes of one process whatever the number of processes and the order of
files; what cannot be added is said and the rest goes on; killed, the result is absent or whole."""
import contextlib
import os
import pathlib
import random
import signal
import subprocess
import sys
import tempfile

import record_lib as lib
import mpi_lib as mpi
from patience import wait_until

GENERATE, BUILT = os.path.abspath(sys.argv[1]), sys.argv[2] == "built"
FILES = 11
KILLS = int(os.environ.get("FATHOM_KILL_ROUNDS", "3"))  # beside the two around its renaming
SOURCE = pathlib.Path(__file__).resolve().parent / "stop_points.c"
RESULT = "killed.data"


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


def points_library(folder):
    library = folder / "points.so"
    lib.must(["mpicc", "-shared", "-fPIC", "-O1", SOURCE, "-o", library, "-ldl"], folder)
    return library


def merge_by_points(folder, library, files, options, **points):
    """Three processes that pass named points, see stop_points.c."""
    sanitizer = os.environ.get("ASAN_OPTIONS", "") + ":verify_asan_link_order=0"
    return subprocess.Popen(
        mpi.command(3, lib.FATHOM, "merge", "--mpi", *options, "-o", folder / RESULT, *files), cwd=folder,
        env={**mpi.ENVIRONMENT, "LD_PRELOAD": str(library), "ASAN_OPTIONS": sanitizer, "POINTS_RESULT": RESULT,
             **{name: str(value) for name, value in points.items()}},
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def kill(processes):
    for process in processes:
        with contextlib.suppress(ProcessLookupError):
            os.kill(process, signal.SIGKILL)


def kill_at(folder, start, point, everybody):
    """Kills mpirun when a process has come to that point, and with everybody those that would go on."""
    stopped, out = folder / "stopped", os.fsencode(folder / RESULT)
    with start(POINTS_STOP=point, POINTS_STOPPED=stopped) as started:
        wait_until(lambda: stopped.exists() or started.poll() is not None, f"a process comes to {point}")
        came = stopped.exists()
        started.send_signal(signal.SIGKILL)
        started.wait()
        if everybody:
            kill(processes_with(out))
        stopped.unlink(missing_ok=True)
    wait_until(lambda: not processes_with(out), "those that went on have ended")
    return came


def killed(tap, folder, files, rounds, *options):
    """With statistics over ranks the files are read twice, and the sum is not the result yet."""
    out, passed = folder / RESULT, folder / "passed"
    expected = merge_one(folder, "whole.data", files, *options)
    library = points_library(folder)

    def start(**points):
        out.unlink(missing_ok=True)
        return merge_by_points(folder, library, files, options, **points)

    passed.unlink(missing_ok=True)
    tap.same(start(POINTS_PASSED=passed).wait(), 0, "nobody kills it")
    tap.same(out.read_bytes(), expected, "not killed: it is whole")
    points = sorted(set(passed.read_text().splitlines()))
    named = [f"0.rename.{RESULT}", f"0.renamed.{RESULT}"]
    tap.check(set(named) < set(points) and {f"{rank}.send.1" for rank in range(3)} < set(points),
              "it sends, receives and renames", points)
    drawn = random.Random(5).sample([point for point in points if point not in named], rounds)
    for number, point in enumerate(named + drawn):
        tap.check(kill_at(folder, start, point, everybody=number < 2 or number % 2 == 1), f"killed at {point}")
        if out.exists():
            tap.same(out.read_bytes(), expected, f"killed at {point}: what is there is whole")
        if point in named:
            tap.same(out.exists(), point == named[1], f"killed at {point}: it is there when it has its name")
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

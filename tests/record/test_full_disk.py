#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A disk that is full, really (a small tmpfs), while a program is recorded with everything on, and while its profile is
written: the program's results are as plain, one message says what is wrong, and what was recorded before is there."""
import os
import pathlib
import subprocess
import sys
import tempfile

import record_lib as lib
from tap import skip_all

SOURCE = pathlib.Path(__file__).parent / "full_disk.c"
LOST = "not recorded (the recording was full)"
DISK_BYTES = 2 << 20
EVERYTHING = ["--lifetimes", "--trace=early", "--join=none"]


def again_on_small_disk(folder):
    """Runs this test with a small file system of its own; None: there can be none."""
    script = 'mount -t tmpfs -o size="$1",mode=0700 tmpfs "$2" && shift 2 && exec "$@"'
    for flags in ["-m"], ["-rm"]:
        try:
            tried = subprocess.run(["unshare", *flags, "sh", "-c", script, "-", str(DISK_BYTES), folder, "true"],
                                   capture_output=True)
        except FileNotFoundError:
            return None
        if tried.returncode == 0:
            return subprocess.run(["unshare", *flags, "sh", "-c", script, "-", str(DISK_BYTES), folder, sys.executable,
                                   __file__, folder]).returncode
    return None


def fill(disk, left):
    """Leaves so many bytes."""
    stat = os.statvfs(disk)
    with open(disk / "filler", "wb") as file:
        os.posix_fallocate(file.fileno(), 0, stat.f_bavail * stat.f_frsize - left)


def record(disk, *arguments, name="out", more=()):
    return lib.run([lib.FATHOM, "record", *EVERYTHING, *more, "-o", disk / name, "--", *arguments], "/")


def while_recording(tap, work, disk, plain):
    """The recording takes all that there is."""
    recorded = record(disk, work / "prog", "20000")
    tap.same((recorded.returncode, recorded.stdout), (plain.returncode, plain.stdout),
             "the recording is full: results and status are as plain")
    tap.check(recorded.stderr.count("No space left on device") == 1 and "out." in recorded.stderr,
              "one message says that the profile had no room", recorded.stderr)
    tap.check(not list(disk.glob("*.data")), "and there is no half of it", list(disk.iterdir()))
    rec, = disk.glob("out.rec")
    (work / "moved.rec").write_bytes(rec.read_bytes())
    finished = lib.run([lib.FATHOM, "finish", "moved.rec"], work)
    tap.same(finished.returncode, 0, "elsewhere the profile is made of what there is")
    tap.check("the recording was full" in finished.stderr, "which says that it was full", finished.stderr)
    calls = lib.Profile(work / "moved.data").calls()
    tap.same((calls["early"], calls["main"]), (2, 1), "what was recorded before is there")
    tap.same(sum(calls.values()), sum(lib.Profile(work / "whole.data").calls().values()), "and no call is missing")
    checked = lib.run([lib.FATHOM, "check", "--sample=5", "moved.data"], work)
    tap.same(checked.returncode, 0, "its figures agree")
    for path in disk.iterdir():
        path.unlink()


def while_writing(tap, work, disk, plain_short):
    """There is room for the recording, and not for the profile."""
    record(work, work / "prog", "400", name="size", more=["-k"])
    fill(disk, (work / "size.rec").stat().st_blocks * 512 + (16 << 10))
    recorded = record(disk, work / "prog", "400")
    tap.same((recorded.returncode, recorded.stdout), (plain_short.returncode, plain_short.stdout),
             "no room for the profile: results and status are as plain")
    tap.check(recorded.stderr.count("No space left on device") == 1, "which is told once", recorded.stderr)
    (disk / "filler").unlink()
    finished = lib.run([lib.FATHOM, "finish", "-k", disk / "out.rec"], work)
    tap.same(finished.returncode, 0, "later there is room")
    calls = lib.Profile(disk / "out.data").calls()
    tap.same((calls["early"], calls["leaf"], calls[LOST]), (2, 2400, 0), "and nothing was lost")


def no_room_at_all(tap, work, disk, plain_short):
    for path in disk.iterdir():
        path.unlink()
    fill(disk, 0)
    recorded = record(disk, work / "prog", "400", name="none")
    tap.same((recorded.returncode, recorded.stdout), (plain_short.returncode, plain_short.stdout),
             "no room for anything: results and status are as plain")
    tap.check(recorded.stderr != "" and len(recorded.stderr.splitlines()) <= 3, "which is told", recorded.stderr)


def main():
    tap = lib.Tap()
    if len(sys.argv) > 1:
        disk = pathlib.Path(sys.argv[1])
        work = disk.parent
        plain, plain_short = (subprocess.run([work / "plain", count], capture_output=True, text=True)
                              for count in ("20000", "400"))
        while_recording(tap, work, disk, plain)
        while_writing(tap, work, disk, plain_short)
        no_room_at_all(tap, work, disk, plain_short)
        return tap.done()
    with tempfile.TemporaryDirectory() as name:
        work = pathlib.Path(name)
        (work / "disk").mkdir()
        lib.must(["gcc", "-O1", SOURCE, "-o", "plain", "-pthread"], work)
        lib.must([lib.FATHOM, "cc", "gcc", "-O1", SOURCE, "-o", "prog", "-pthread"], work)
        lib.run([lib.FATHOM, "record", "-q", "--join=none", "-o", "whole", "--", "./prog", "20000"], work)
        status = again_on_small_disk(str(work / "disk"))
    if status is None:
        skip_all("no small file system can be mounted here")
    return status


sys.exit(main())

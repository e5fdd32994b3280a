#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Folders of commands that were killed go when the next one makes its own; nothing else does."""
import os
import pathlib
import signal
import subprocess
import sys
import tempfile

import record_lib as lib
from patience import PATIENCE
from view_lib import View

HERE = pathlib.Path(__file__).resolve().parent


def main():
    tap = lib.Tap()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        lib.must([lib.FATHOM, "cc", "--grade=deep", "-O1", "-g", HERE / "steps.c", "-o", "steps", "-lpthread"],
                 folder)
        subprocess.run([lib.FATHOM, "record", "-q", "-k", "-o", "out", "--", "./steps"], cwd=folder, check=True,
                       input=b"q", stdout=subprocess.DEVNULL)
        temporary = folder / "t"
        temporary.mkdir()
        os.environ["TMPDIR"] = str(temporary)

        def folders(pattern="fathom-*"):
            return sorted(path.name for path in temporary.glob(pattern))

        killed = View(folder, "out.rec")
        left = folders()
        killed.process.kill()
        tap.same(killed.process.wait(PATIENCE), -signal.SIGKILL, "one is killed")
        killed.process.stdout.close()
        tap.same((folders("fathom-live-*"), len(left)), (left, 1), "and leaves its folder")
        lives = View(folder, "out.rec")
        of_living = folders()
        tap.check(len(of_living) == 1 and of_living != left, "which goes when the next one begins",
                  (left, of_living))
        # By their names they might be ours; by a mark that is none; by a link to ours; a file.
        for name in ("fathom-live-thesis", "fathom-live-linked"):
            (temporary / name).mkdir()
            (temporary / name / "chapter").write_text("one")
        (temporary / "fathom-live-linked" / ".fathom-own").symlink_to("chapter")
        (temporary / "fathom-live-aimed1").symlink_to(temporary / of_living[0])
        (temporary / "fathom-live-afile1").write_text("")
        before = folders()
        report = lib.run([lib.FATHOM, "report", "out.rec"], folder)
        tap.check(report.returncode == 0, "a page of it", report.stderr)
        tap.same(folders(), before, "neither that of one that lives nor what is somebody's goes")
        tap.same((temporary / "fathom-live-linked" / "chapter").read_text(), "one", "with what is in it")
        tap.check(lives.get(f"/deep?menu&{lives.file}")[0] == 200, "it is served still", before)
        tap.same(lives.end(), 0, "the server ends")
        tap.same(folders(), sorted(set(before) - set(of_living)), "and takes its folder along")
    return tap.done()


sys.exit(main())

#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Programs in a container, seen from outside: another pid namespace, and a file system that only they see. And
recordings whose program lies elsewhere by now: `finish --root` and `--debug-path`."""
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile

import record_lib as lib
from patience import PATIENCE, wait_until
from tap import Tap

HERE = pathlib.Path(__file__).resolve().parent
# The program lies in a file system of the container's own.
SCRIPT = 'mount -t tmpfs tmpfs "$1" && cp "$2" "$1/inner" && shift 2 && exec "$@"'
NAMED = {"main", "work", "leaf"}


def namespaces():
    """Options of unshare(1) by which this user may make a container; None: by none."""
    for flags in (["-m", "-p", "-f", "--mount-proc"], ["-r", "-m", "-p", "-f", "--mount-proc"]):
        try:
            tried = subprocess.run(["unshare", *flags, "sh", "-c", "mount -t tmpfs tmpfs /tmp"], capture_output=True)
        except FileNotFoundError:
            return None
        if tried.returncode == 0:
            return flags
    return None


class Inside:
    """phases.c in a container, in lock step with the test."""

    def __init__(self, folder, flags, recording):
        place = folder / "place"
        place.mkdir(exist_ok=True)
        self.program = place / "inner"
        self.process = subprocess.Popen(
            ["unshare", *flags, "sh", "-c", SCRIPT, "-", place, folder / "prog", self.program], cwd=folder,
            env=dict(os.environ, FATHOM_OUTPUT=str(recording)), stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL)  # unshare(1) complains when its child is killed

    def step(self, order):
        self.process.stdin.write(order.encode())
        self.process.stdin.flush()
        assert self.process.stdout.read(1) == b"k"

    def pid(self):
        """Its number outside: unshare(1) is its parent."""
        def found():
            path = f"/proc/{self.process.pid}/task/{self.process.pid}/children"
            child = int(pathlib.Path(path).read_text().split()[0])
            return child if os.readlink(f"/proc/{child}/exe") == str(self.program) else 0
        return wait_until(found, "the program in the container runs")

    def kill(self):
        os.kill(self.pid(), signal.SIGKILL)
        self.process.stdin.close()
        self.process.stdout.close()
        self.process.wait(PATIENCE)


def status_of(folder, name):
    done = lib.run([lib.FATHOM, "ctl", name, "status"], folder)
    return done, dict(line.split("\t", 1) for line in done.stdout.splitlines() if "\t" in line)


def names_in_top(folder, name):
    done = lib.must([lib.FATHOM, "top", "--batch", "--count", "1", name], folder)
    return done.stdout, {line.split("\t")[-1] for line in done.stdout.splitlines()[2:]}


def ask(tap, folder, name, pid):
    """All that is asked of a program that runs, by the name of its recording or of its process."""
    done, status = status_of(folder, name)
    tap.check(done.returncode == 0 and status["state"] == "recording", f"{name}: it is recorded", done)
    tap.check(status.get("process", "").split()[:1] == [str(pid)], f"{name}: its number out here", status)
    table, names = names_in_top(folder, name)
    tap.check(f"process {pid}\t" in table and NAMED <= names, f"{name}: top has its names", table)


def from_outside(tap, folder, flags):
    inside = Inside(folder, flags, folder / "out.rec")
    inside.step("w 100")
    pid = inside.pid()
    ask(tap, folder, "out.rec", pid)
    ask(tap, folder, f"pid:{pid}", pid)
    done = lib.must([lib.FATHOM, "finish", "-o", "now", "out.rec"], folder)
    tap.check(f"still runs (process {pid})" in done.stderr, "finish: it still runs", done.stderr)
    profile = lib.Profile(folder / "now.data")
    tap.same({name: profile.calls()[name] for name in NAMED}, {"main": 1, "work": 1, "leaf": 100},
             "the profile of now has names and counts")
    tap.same(profile.procs["leaf"][0]["file"].split("/")[-1], "phases.c", "and places in the source")
    page = lib.must([lib.FATHOM, "report", "proc/leaf", f"pid:{pid}"], folder)
    tap.check("leaf" in page.stdout and "phases.c:" in page.stdout, "a page of pid:N", page.stdout[:300])
    lib.must([lib.FATHOM, "finish", "-q", "-o", "again", "out.rec"], folder)
    inside.kill()
    done, status = status_of(folder, "out.rec")
    tap.same((done.returncode, status["state"], status["process"]), (0, "ended", "1"), "after its end it is told as that")


def own_recording(tap, folder, flags):
    """The recording, too, is in the container's file system."""
    inside = Inside(folder, flags, folder / "place" / "own.rec")
    inside.step("w 7")
    pid = inside.pid()
    tap.check(not (folder / "place" / "own.rec").exists(), "the recording is not to be seen from here")
    ask(tap, folder, f"pid:{pid}", pid)
    done = lib.run([lib.FATHOM, "ctl", f"pid:{pid}", "mark", "here"], folder)
    inside.step("w 1")
    wait_until(lambda: status_of(folder, f"pid:{pid}")[1].get("marks") == "1", "a mark arrives there")
    tap.check(done.returncode in (0, 3), "and its request was taken", done)
    inside.kill()


def sleeping(tap, folder):
    """Sleeps of a child in a pid namespace are found by its number out here."""
    lib.must([lib.FATHOM, "cc", "--grade=deep", "gcc", "-O1", "-g", HERE / "nested.c", "-o", "nested"], folder)
    done = lib.run([lib.FATHOM, "record", "--join=none", "-o", "out", "--", "./nested"], folder)
    if done.returncode == 77:
        return "this user may make no namespaces"
    tap.same(done.returncode, 0, "somebody found it asleep")
    profile = next(folder.glob("out.1.*.data"))
    page = json.loads(lib.must([lib.FATHOM, "report", "--json", "waits", profile], folder).stdout)
    rows = [row["cells"] for table in page["tables"] if table["name"] == "other_sleep" for row in table["rows"]]
    samples = {row["path"][-1]["name"]: row["samples_count"] for row in rows}
    tap.check(sum(samples.values()) > 0, "the profile has that", (samples, done.stderr))
    return None


def record_here(folder):
    lib.must(["./prog"], folder, env=dict(os.environ, FATHOM_OUTPUT=str(folder / "home.rec")), input="w 9")


def finish(tap, folder, what, *options, known=True):
    done = lib.run([lib.FATHOM, "finish", "-k", "-o", "home", *options, "home.rec"], folder,
                   env=dict(os.environ, FATHOM_CACHE="off"))
    calls = lib.Profile(folder / "home.data").calls()
    found = {name: calls[name] for name in NAMED}
    tap.same((done.returncode, found), (0, {"main": 1, "work": 1, "leaf": 9} if known else dict.fromkeys(NAMED, 0)), what)
    return done.stderr


def elsewhere(tap, folder):
    record_here(folder)
    program = folder / "prog"
    root = folder / "root"
    below = root / str(program)[1:]
    below.parent.mkdir(parents=True)
    program.rename(below)
    (folder / "phases.c").rename(below.parent / "phases.c")
    said = finish(tap, folder, "the program is gone: its functions have no names", known=False)
    tap.check("--root" in said and "--debug-path" in said, "the note says what helps", said)
    said = finish(tap, folder, "--root: a copy of the file system", f"--root={root}", "--keep-sources")
    tap.check("could not be read" not in said, "and its sources", said)
    said = finish(tap, folder, "without --root", f"--debug-path={below.parent}", "--keep-sources")
    tap.check("1 could not be read" in said, "there is no source", said)
    finish(tap, folder, "--debug-path: a folder with the program", f"--debug-path=nowhere:{below.parent}")
    ids = folder / "ids"
    lines = lib.must(["readelf", "-n", below], folder).stdout.splitlines()
    digits = [line.split()[-1] for line in lines if "Build ID:" in line][0]
    (ids / ".build-id" / digits[:2]).mkdir(parents=True)
    shutil.copy(below, ids / ".build-id" / digits[:2] / digits[2:])
    finish(tap, folder, "--debug-path: by its build-id", f"--debug-path={ids}")
    top = lib.must([lib.FATHOM, "top", "--batch", "--count", "1", f"--root={root}", "home.rec"], folder).stdout
    tap.check("\tleaf\n" in top, "top --root", top)
    lib.must(["gcc", "-g", HERE / "phases.c", "-o", below, "-lpthread"], folder)
    said = finish(tap, folder, "another program of that name is not taken", f"--root={root}", known=False)
    tap.check("its build-id differs" in said, "and the note says so", said)
    finish(tap, folder, "but the right one in another folder", f"--root={root}", f"--debug-path={ids}")


def main():
    tap = Tap()
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder).resolve()
        shutil.copy(HERE / "phases.c", folder)
        lib.must([lib.FATHOM, "cc", "gcc", "-g", "-O1", "phases.c", "-o", "prog", "-lpthread"], folder)
        flags = namespaces()
        for case in (from_outside, own_recording):
            if flags is None:
                tap.skip(case.__name__, "this user may make no namespaces")
            else:
                tap.case(case, tap, folder, flags)
        tap.case(sleeping, tap, folder)
        tap.case(elsewhere, tap, folder)
    return tap.done()


if __name__ == "__main__":
    sys.exit(main())

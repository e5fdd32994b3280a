#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""fathom record --keep=N: a service that is started again and again keeps its last runs."""
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import time
import urllib.request

import record_lib as lib
from patience import PATIENCE, wait_until

PROGRAM = r"""
#include <stdlib.h>
#include <fcntl.h>
#include <unistd.h>
__attribute__((noinline)) static int step(int n) { return n * 3; }
int main(int count, char **words)
{
    int sum = 0;
    for (int i = 0; i < abs(atoi(words[1])); i++) sum += step(i);
    if (atoi(words[1]) < 0) return 3;
    if (count > 2) close(creat("begun", 0600));
    while (count > 2 && access(words[2], F_OK) != 0) usleep(10000);
    return sum == 1;
}
"""
STEM = r"web\.\d{8}-\d{6}Z(-\d+)?"


def build(folder):
    (folder / "service.c").write_text(PROGRAM)
    lib.must([lib.FATHOM, "cc", "-O1", "service.c", "-o", "service"], folder)


def words(keep, *arguments):
    return [lib.FATHOM, "record", "-q", f"--keep={keep}", "-o", "web", "--", "./service", *map(str, arguments)]


def profiles(folder):
    return sorted(path.name for path in folder.glob("web.*.data"))


def steps(folder):
    return sorted(lib.Profile(folder / name).calls()["step"] for name in profiles(folder))


def newest_stay(tap, folder):
    others = ["web.data", "web.20260101-000000Z", "web.2026-1.data", "web2.20260101-000000Z.data", "web.20260101-000000Zx.data",
              "web.20990101-000000Z.log", "web.20990101-000001Z.tar.gz", "web.20250101-000000Z.data",
              "web.20250101-000000Z.data.bak"]
    for name in others:
        (folder / name).write_text("of somebody else")
    for run in range(1, 5):
        lib.must(words(2, run), folder)
    mine = [name for name in profiles(folder) if name not in others]
    notes = folder / (mine[-1] + ".notes.md")
    notes.write_text("what a reader wrote")
    lib.must(words(1, 4), folder)
    tap.check(notes.exists(), "what was written beside a run stays", notes)
    notes.unlink()
    lib.must(words(2, 3), folder)
    mine = [name for name in profiles(folder) if name not in others]
    tap.check(len(mine) == 2 and all(re.fullmatch(STEM + r"\.data", name) for name in mine),
              "two runs of four are kept, by the time of their start", mine)
    for name in others:
        tap.same((folder / name).read_text(), "of somebody else", f"{name} is none")
        (folder / name).unlink()
    tap.same(steps(folder), [3, 4], "the newest")
    stems = {name[:-len(".data")] for name in mine}
    left = [path.name for path in folder.glob("web*") if not any(path.name.startswith(stem + ".") for stem in stems)]
    tap.same(left + [path.name for path in folder.glob("*.lock")] + [path.name for path in folder.glob("*.rec")], [],
             "what stood beside the others is gone, too")


def seen(folder, *what):
    """The list of recordings that fathom view serves, and the address that it tells."""
    with subprocess.Popen([lib.FATHOM, "view", "-n", *what], cwd=folder, text=True, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT) as view:
        try:
            line = view.stdout.readline()
            url = re.search(r"http://[^/\s]*/", line)
            asked = urllib.request.Request(url.group(), headers={"Accept": "application/json"})
            with urllib.request.urlopen(asked, timeout=PATIENCE) as answer:
                return json.load(answer), line
        finally:
            view.send_signal(signal.SIGTERM)


def cells_of(page, name):
    return [row["cells"] for table in page["tables"] if table["name"] == name for row in table["rows"]]


def is_one_set(tap, folder):
    def ended(name):
        return (folder / name).stat().st_mtime_ns
    sorted_names = sorted(profiles(folder), key=ended, reverse=True)
    try:
        page, line = seen(folder, "web")
        below = seen(folder, ".")[0]
    except (AttributeError, OSError) as error:
        tap.check(False, "the page of all runs", error)
        return
    names = [pathlib.Path(cells["recording"]).name for cells in cells_of(page, "recordings")]
    tap.same(names, sorted_names[:1], "fathom view NAME opens the newest run")
    tap.check("deep?menu" in line and sorted_names[0] in line, "at its first page", line)
    rows = cells_of(below, "services")
    tap.same([(cells["service"], cells["runs_count"], [run["name"] for run in cells["runs"]]) for cells in rows],
             [("web", len(sorted_names), sorted_names)], "fathom view FOLDER has all runs in one row, the newest first")
    tap.same(cells_of(below, "profiles"), [], "and nowhere else")


def running_stays(tap, folder):
    """A run that is recorded while others begin and end."""
    until = folder / "end"
    with subprocess.Popen(words(1, 7, until), cwd=folder) as started:
        tap.check(wait_until(lambda: list(folder.glob("web.*.rec")), "a service runs"), "a service runs")
        recording = next(folder.glob("web.*.rec"))
        tap.check(recording.stat().st_blocks * 512 <= 512 << 10, "and takes little of the disk",
                  recording.stat().st_blocks)
        for run in range(2):
            lib.must(words(1, 11 + run), folder)
        tap.check(recording.exists() and recording.with_suffix(".lock").exists(), "its recording stays while others end")
        until.touch()
        tap.same(started.wait(PATIENCE), 0, "it ends")
    tap.same(steps(folder), [7], "what has ended last is kept, whenever it began")


def killed(tap, folder):
    with subprocess.Popen(words(2, 5, folder / "never"), cwd=folder) as started:
        child = lib.program_of(started.pid, "service")
        wait_until(lambda: list(folder.glob("web.*.rec")), "it is recorded")
        recording = next(folder.glob("web.*.rec"))
        wait_until(lambda: recording.stat().st_size > 0, "the recording has begun")
        started.kill()
    lib.must(words(1, 8), folder)
    tap.check(recording.exists(), "of a killed recorder what its program still writes stays")
    os.kill(child, signal.SIGKILL)

    def rotated():
        lib.must(words(1, 9), folder)
        return not recording.exists()
    tap.check(wait_until(rotated, "its recording is a run like another"), "and is a run like another when that has ended")
    tap.same((steps(folder), list(folder.glob("*.lock"))), ([9], []), "one is left, and no lock")


def clock_set_back(tap, folder):
    """What has ended is newer than what had ended before, whatever the files' times were."""
    for path in folder.glob("web.*"):
        path.unlink()
    for run in (21, 22):
        lib.must(words(9, run), folder)
    later = time.time_ns() + 3600 * 10 ** 9
    for path in folder.glob("web.*"):
        os.utime(path, ns=(later, later))
    lib.must(words(2, 23), folder)
    left = steps(folder)
    tap.check(23 in left and len(left) == 2, "a run that ended by a clock that was set back is the newest", left)
    lib.must(words(2, 24), folder)
    tap.same(steps(folder), [23, 24], "and older than the next")
    time_of = {name: (folder / name).stat().st_mtime_ns for name in profiles(folder)}
    tap.check(min(time_of.values()) >= later and len(set(time_of.values())) == 2, "by its files' times", time_of)
    # Of equal times the second that began within a second is newer than the first, the tenth than the ninth.
    first = profiles(folder)[0]
    stem = "web.20260101-000000Z"
    for number, name in enumerate(["", "-2", "-9", "-10"]):
        (folder / f"{stem}{name}.data").write_bytes((folder / first).read_bytes())
        os.utime(folder / f"{stem}{name}.data", ns=(later, later))
    for name in profiles(folder):
        if not name.startswith(stem):
            (folder / name).unlink()
    lib.must(words(3, 25), folder)
    tap.same(profiles(folder)[:2], [f"{stem}-10.data", f"{stem}-9.data"], "equal times: those that began last stay")
    for path in folder.glob("web.*"):
        path.unlink()


def crash_loop(tap, folder):
    """A service that does not come up leaves the runs that did."""
    for run in (31, 32):
        lib.must(words(2, run), folder)
    for run in range(1, 6):
        done = lib.run(words(2, -run), folder)
        tap.same(done.returncode, 3, "its status is the program's")
    tap.same(steps(folder), [4, 5, 31, 32], "of runs that failed at once as many stay, apart from the others")
    failed = sorted(folder.glob("web.*.failed"))
    tap.check(len(failed) == 2 and all(re.fullmatch(r"ended with status 3 after [0-9.]+ s\n", path.read_text())
                                       and path.with_suffix(".data").exists() for path in failed),
              "and say how they failed", [path.read_text() for path in failed])
    lib.must(words(2, 33), folder)
    tap.same(steps(folder), [4, 5, 32, 33], "a run that works takes the place of one that did")
    lib.must(words(1, 34), folder)
    tap.same((steps(folder), len(list(folder.glob("web.*.failed")))), ([5, 34], 1), "fewer stay of both")
    (folder / "begun").unlink(missing_ok=True)
    with subprocess.Popen(words(1, 35, folder / "never"), cwd=folder) as started:
        wait_until((folder / "begun").exists, "the service has begun")
        started.send_signal(signal.SIGTERM)
        started.wait(PATIENCE)
    tap.same(steps(folder), [5, 35], "to be asked to end is no failure")
    for path in folder.glob("web.*"):
        path.unlink()


def refused(tap, folder):
    for bad in ("0", "-1", "x", "", "1.5"):
        done = lib.run(words(bad, 1), folder)
        tap.check(done.returncode == 2 and "expected the number of runs to keep" in done.stderr, f"--keep={bad}", done.stderr)
    lib.must([lib.FATHOM, "record", "-q", "--keep", "-o", "raw", "--", "./service", "2"], folder)
    tap.check((folder / "raw.rec").exists() and (folder / "raw.data").exists(), "--keep alone is of recordings")


def main():
    tap = lib.Tap()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name).resolve()
        build(folder)
        for test in (newest_stay, is_one_set, running_stays, killed, clock_set_back, crash_loop, refused):
            test(tap, folder)
    sys.exit(tap.done())


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`fathom ctl`: what is asked of a program that runs is done exactly between two of its steps."""
import os
import pathlib
import struct
import subprocess
import sys
import tempfile
import time

import record_lib as lib
from patience import PATIENCE, wait_until
from runtime_rec import Rec

HERE = pathlib.Path(__file__).resolve().parent
CONTROL_AT = 300  # of the header
STATE_AT = 20


class Steps:
    """The program, in lock step with the test."""

    def __init__(self, folder, name, *options):
        self.folder, self.name = folder, name
        self.rec = pathlib.Path(folder) / f"{name}.rec"
        self.process = subprocess.Popen(
            [lib.FATHOM, "record", "-k", "-o", name, *options, "--", "./steps"], cwd=folder,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def tell(self, order):
        self.process.stdin.write(order.encode())
        self.process.stdin.flush()

    def heard(self):
        assert self.process.stdout.read(1) == b"k"

    def step(self, order):
        self.tell(order)
        self.heard()

    def pid(self):
        """The program's, a child of the recorder's."""
        return lib.program_of(self.process.pid, "steps")

    def is_recorded(self):
        return ctl(self.folder, f"{self.name}.rec", "status").returncode == 0

    def end(self):
        self.process.stdin.close()
        status = self.process.wait(PATIENCE)
        self.errors = self.process.stderr.read().decode()
        self.process.stdout.close()
        self.process.stderr.close()
        return status

    def calls(self, name=None):
        path = pathlib.Path(self.folder) / f"{name or self.name}.data"
        calls = lib.Profile(path).calls()
        return {key: calls[key] for key in ("leaf", "work", "phase")}


def ctl(folder, *words, wait="0.05"):
    return lib.run([lib.FATHOM, "ctl", "--wait", wait, *words], folder)


def phases(tap, folder):
    program = Steps(folder, "phases")
    program.step("w 10")
    asked = ctl(folder, "phases.rec", "stop")
    tap.check(asked.returncode == 0 and "has not run within 0.05 s" in asked.stderr,
              "of a program that sleeps it is said that it has not run since", asked.stderr)
    program.step("w 100")
    ctl(folder, "phases.rec", "mark", "stopped \u00e4")
    ctl(folder, "phases.rec", "start")
    program.step("w 1000")
    copied = ctl(folder, "phases.rec", "snapshot", "half")
    tap.same(copied.stdout, "phases.snap1.rec\n", "a snapshot is there at once")
    program.step("w 10000")
    status = ctl(folder, f"pid:{program.pid()}", "status").stdout
    tap.check("state\trecording\n" in status and "snapshots\t1\n" in status
              and "requests not looked at yet\t0\n" in status, "the status tells", status)
    tap.same(program.end(), 0, "the program ends as without")
    tap.same(program.calls(), dict(leaf=11010, work=3, phase=0),
             "calls of the phases that were recorded, exactly")
    lib.must([lib.FATHOM, "finish", "-q", "phases.snap1.rec"], folder)
    tap.same(program.calls("phases.snap1"), dict(leaf=1010, work=2, phase=0),
             "the snapshot has those until then")
    marks = [(mark["name"], mark["snapshot"]) for mark in Rec(program.rec).marks]
    tap.same(marks, [("stopped \u00e4", 0), ("half", 1)], "both are marked, by their names")
    ended = ctl(folder, "phases.rec", "stop")
    tap.check(ended.returncode == 1 and "has ended" in ended.stderr, "an ended program is told of",
              ended.stderr)


def busy(tap, folder):
    """A program that neither sleeps nor meets anything new looks at its ticks."""
    program = Steps(folder, "busy")
    program.tell("s")
    # The recording may not be there in the first moments.
    wait_until(program.is_recorded, "the program is recorded")
    for word in ("stop", "start"):
        answer = ctl(folder, f"pid:{program.pid()}", word, wait=str(PATIENCE))
        tap.check(answer.returncode == 0 and answer.stderr == "", "one that runs answers",
                  answer.stderr)
    asked = [subprocess.Popen([lib.FATHOM, "ctl", "--wait", str(PATIENCE), "busy.rec", "mark", f"m{i}"],
                              cwd=folder, stderr=subprocess.PIPE) for i in range(12)]
    tap.same([one.wait(PATIENCE) for one in asked], [0] * 12, "many that ask at once all succeed")
    for one in asked:
        one.stderr.close()
    names = sorted(mark["name"] for mark in Rec(program.rec).marks)
    tap.same(names, sorted(f"m{i}" for i in range(12)), "and each is done once")
    (pathlib.Path(folder) / "go").touch()
    program.heard()
    program.end()
    (pathlib.Path(folder) / "go").unlink()
    tap.check(program.calls()["leaf"] > 0, "its calls were counted")


def threads(tap, folder):
    program = Steps(folder, "threads")
    program.step("t 10")
    ctl(folder, "threads.rec", "stop")
    program.step("t 100")
    ctl(folder, "threads.rec", "start")
    program.step("t 1000")
    program.end()
    tap.same(program.calls()["leaf"], 3030, "threads of stopped phases are not counted")


def forked(tap, folder):
    program = Steps(folder, "forked", "--join=none")
    program.tell("f 10")
    program.heard()  # the child
    with open(f"/proc/{program.pid()}/task/{program.pid()}/children", encoding="ascii") as f:
        child = int(f.read().split()[0])
    stopped = ctl(folder, f"pid:{child}", "stop")
    tap.same(stopped.returncode, 0, "a forked child is asked by its own number")
    program.step("w 100")
    ctl(folder, f"forked.{child}.0.rec", "start")
    program.step("w 1000")
    program.tell("q")
    program.heard()  # the parent
    program.step("w 7")
    program.end()
    tap.same(program.calls()["leaf"], 7, "its parent is not stopped")
    tap.same(program.calls(f"forked.{child}.0")["leaf"], 1010, "the child was")


def write_requests(program, asked, label_bytes):
    """As nobody does who keeps the rules: all eight places are marks, and so many are asked for."""
    request = struct.pack("<IiIIQ", 3, 0, 0, label_bytes, 0) + b"x" * 232
    with open(program.rec, "r+b") as file:
        file.seek(CONTROL_AT)
        at = struct.unpack("<I", file.read(4))[0] * 8
        file.seek(at + 8)
        file.write(request * 8)
        file.flush()
        file.seek(at)
        file.write(struct.pack("<I", asked))


def answered(program):
    with open(program.rec, "rb") as file:
        file.seek(CONTROL_AT)
        file.seek(struct.unpack("<I", file.read(4))[0] * 8 + 4)
        return struct.unpack("<I", file.read(4))[0]


def against_the_rules(tap, folder):
    program = Steps(folder, "rules")
    program.step("w 1")
    write_requests(program, 9, 1)
    program.step("w 1")
    tap.same((answered(program), Rec(program.rec).marks), (9, []), "nine requests in eight places: none is done")
    write_requests(program, 17, 0xffffffff)
    program.step("w 1")
    tap.same((answered(program), [mark["name"] for mark in Rec(program.rec).marks]), (17, ["x" * 232] * 8),
             "eight are, and of a label that is too long what there is place for")
    program.end()


def without_ticks(tap, folder):
    """It computes and has no reason to look: whoever asks is told why, and what to do."""
    os.environ["FATHOM_TICKS"] = "none"
    program = Steps(folder, "tickless")
    del os.environ["FATHOM_TICKS"]
    program.step("w 10")
    done = ctl(folder, "tickless.rec", "mark", "asleep")
    tap.check(done.returncode == 0 and "without ticks" in done.stderr and "waits" in done.stderr,
              "without ticks it sees requests only", done.stderr)
    program.step("w 10")  # it looks when it has waited for the order
    done = ctl(folder, "tickless.rec", "status")
    tap.check("marks\t1" in done.stdout, "and looks when it has waited", done.stdout)
    program.end()


def begun(tap, folder):
    """A file whose program has not written its header yet."""
    program = Steps(folder, "begun")
    program.step("w 1")
    whole = program.rec.read_bytes()
    early = pathlib.Path(folder) / "early.rec"
    for what, content in (("no byte", b""), ("zeros", bytes(1 << 16)),
                          ("no state", whole[:STATE_AT] + bytes(4) + whole[STATE_AT + 4:])):
        for command in (["finish", "early.rec"], ["ctl", "early.rec", "status"],
                        ["top", "--batch", "--count=1", "early.rec"],
                        ["view", "--no-open", "early.rec"])[:4 if content == b"" else 1]:
            early.write_bytes(content)
            done = lib.run([lib.FATHOM, *command], folder)
            tap.check(done.returncode == 1 and "only beginning to record" in done.stderr,
                      f"{command[0]}: {what} of the header", done.stderr)
    early.write_bytes(b"")
    reader = subprocess.Popen([lib.FATHOM, "ctl", "early.rec", "status"], cwd=folder,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    with open(early, "r+b") as file:
        file.write(whole[:STATE_AT] + bytes(4) + whole[STATE_AT + 4:])
        file.flush()
        file.seek(STATE_AT)
        file.write(whole[STATE_AT:STATE_AT + 4])
    told = reader.communicate(timeout=PATIENCE)[0]
    tap.check(reader.returncode == 0 and "steps" in told, "it is waited for", told)
    program.end()
    early.write_bytes(b"")
    os.utime(early, (1, 1))
    done = lib.run([lib.FATHOM, "finish", "early.rec"], folder)
    tap.check(done.returncode == 1 and "ends inside the header" in done.stderr,
              "an old file is not being begun", done.stderr)


def refused(tap, folder):
    program = Steps(folder, "refused")
    program.step("w 1")
    (pathlib.Path(folder) / "junk").write_bytes(b"junk" * 100)
    cases = [
        (["refused.rec", "mark", "x" * 233], 2, "233 bytes, expected at most 232"),
        (["refused.rec", "mark", b"a\xff"], 2, "not UTF-8 at byte 1"),
        (["refused.rec", "mark", "a\nb"], 2, "control character at byte 1"),
        (["refused.rec", "mark", ""], 2, "the label is empty"),
        (["refused.rec", "snapshot", ""], 2, "the label is empty"),
        (["refused.rec", "mark"], 2, "one LABEL"),
        (["refused.rec", "stop", "it"], 2, "expected no further argument"),
        (["refused.rec", "halt"], 2, "expected start, stop"),
        (["missing.rec", "stop"], 1, "No such file"),
        (["pid:x", "stop"], 2, "expected pid: and a process's number"),
        (["pid:4194305", "stop"], 1, "there is no process 4194305"),
        ([f"pid:{os.getpid()}", "stop"], 1, "is not recorded"),
        (["junk", "stop"], 1, "offset 0: this is not a recording"),
        ([".", "stop"], 1, ""),
    ]
    for words, status, message in cases:
        done = subprocess.run([lib.FATHOM, "ctl", "--wait", "0"] + words, cwd=folder,
                              capture_output=True, check=False)
        error = done.stderr.decode()
        tap.check(done.returncode == status and message in error and error.count("\n") == 1,
                  f"refused: {message}", f"{done.returncode} {error}")
    os.symlink("refused.rec", pathlib.Path(folder) / "link.rec")
    tap.check("symbolic link" in ctl(folder, "link.rec", "stop").stderr, "no link is followed")
    label = "\u20ac" * 77
    marked = ctl(folder, "refused.rec", "mark", label)
    tap.same(marked.returncode, 0, "a label of 231 bytes goes")
    damaged(tap, folder, program)
    if os.geteuid() == 0:
        os.chown(program.rec, 65534, -1)
        found = ctl(folder, "refused.rec", "stop")
        os.chown(program.rec, 0, -1)
        tap.check(found.returncode == 1 and "belongs to user 65534" in found.stderr,
                  "another user's recording is left alone", found.stderr)
    full = [ctl(folder, "refused.rec", "mark", str(i), wait="0") for i in range(9)]
    tap.same([one.returncode for one in full], [0] * 8 + [1], "eight requests wait, not more")
    tap.check("8 requests are already pending" in full[8].stderr, "which is said", full[8].stderr)
    program.step("w 1")
    program.end()
    tap.same([mark["name"] for mark in Rec(program.rec).marks],
             [label] + [str(i) for i in range(8)], "those that waited are done in their order")
    tap.check("is a snapshot" in snapshot_of(folder), "a snapshot's program writes another file")


def named(tap, folder):
    """A name that would begin a line of its own, or steer the terminal."""
    name = "a\nstate\tended\x1b[31m"
    program = Steps(folder, "named")
    program.step("w 1")
    program.end()
    (pathlib.Path(folder) / "named.rec").rename(pathlib.Path(folder) / f"{name}.rec")
    told = ctl(folder, f"{name}.rec", "status").stdout
    tap.check("\nstate\tended\\033" not in told and "\x1b" not in told and
              "recording\ta\\nstate\\tended\\033[31m.rec\n" in told, "a name stays in its line", told)
    done = subprocess.run([lib.FATHOM, "finish", "-k", f"{name}.rec"], cwd=folder, capture_output=True,
                          text=True, check=False)
    opening = [line for line in done.stderr.splitlines() if line.startswith("open the pages:")]
    tap.check(done.returncode == 0 and "\x1b" not in done.stderr and len(opening) == 1,
              "so does that of the profile", done.stderr)
    word = opening[0].split("fathom view ", 1)[1]
    tap.same(lib.must(["bash", "-c", f"printf %s {word}"], folder).stdout, f"{name}.data",
             "and a shell takes it as it stands there")


def snapshot_of(folder):
    program = Steps(folder, "snap")
    program.step("w 1")
    ctl(folder, "snap.rec", "snapshot", "a")
    found = ctl(folder, "snap.snap1.rec", "stop").stderr
    program.step("w 1")
    program.end()
    return found


def numbered(tap, folder):
    """Whoever takes the files away, no two snapshots of a run have one number."""
    program = Steps(folder, "numbered")
    program.step("w 1")
    taken = []

    def take(label):
        made = ctl(folder, "numbered.rec", "snapshot", label).stdout.strip()
        taken.append(made)
        (pathlib.Path(folder) / made).unlink()

    take("a")
    take("b")  # the program has not seen the first yet
    program.step("w 1")
    take("c")
    program.step("c 0")
    own = sorted(path.name for path in pathlib.Path(folder).glob("numbered.snap*.rec"))
    tap.same(own, ["numbered.snap4.rec"], "the program's own has the next number")
    (pathlib.Path(folder) / own[0]).unlink()
    take("d")
    program.end()
    tap.same(taken, [f"numbered.snap{number}.rec" for number in (1, 2, 3, 5)],
             "numbers of snapshots only grow, though the files are gone")
    marks = [(mark["name"], mark["snapshot"]) for mark in Rec(program.rec).marks]
    tap.same(marks, [("a", 1), ("b", 2), ("c", 3), ("own", 4), ("d", 5)], "and no two marks share one")


def damaged(tap, folder, program):
    """Copies of a recording whose program runs."""
    whole = bytearray(program.rec.read_bytes())
    copy = pathlib.Path(folder) / "copy.rec"
    for at, value, message in ((CONTROL_AT, 0, "older libfathom"), (8, 2, "older libfathom"),
                               (8, 99, "offset 8: version 99"),
                               (CONTROL_AT, 0xfffffff0, "offset 300: the mailbox"),
                               (CONTROL_AT, 1, "offset 300: the mailbox")):
        changed = bytearray(whole)
        struct.pack_into("<I", changed, at, value)
        copy.write_bytes(changed)
        found = ctl(folder, "copy.rec", "stop")
        tap.check(found.returncode == 1 and message in found.stderr, f"damaged: {message}",
                  found.stderr)
    copy.write_bytes(whole[:100])
    found = ctl(folder, "copy.rec", "stop")
    tap.check("offset 100: the file ends inside the header" in found.stderr, "cut off",
              found.stderr)
    # What a program finds in its requests may be anything.
    control, = struct.unpack_from("<I", whole, CONTROL_AT)
    with open(program.rec, "r+b") as f:
        done, = struct.unpack_from("<I", whole, control * 8 + 4)
        f.seek(control * 8 + 8 + 256 * (done % 8 + 1))  # behind the mark that waits
        f.write(struct.pack("<IiII", 77, 0, 0, 0xffffffff))
        f.seek(control * 8)
        f.write(struct.pack("<I", done + 2))
    program.step("w 1")
    with open(program.rec, "rb") as f:
        f.seek(control * 8)
        asked, answered = struct.unpack("<II", f.read(8))
    tap.same(answered, asked, "what it does not know it refuses, and goes on")


def begun_later(tap, folder):
    """What is done before --after's moment is not recorded. On a busy machine the moment may come before the first
    step: then another one is tried, which is later."""
    for seconds in (1, 4, 16, 64):
        name = f"timed{seconds}"
        program = Steps(folder, name, f"--after={seconds}s", "--for=100000s")
        program.step("w 10")
        if "state\tstopped\n" in ctl(folder, f"{name}.rec", "status").stdout:
            break
        program.end()
    time.sleep(seconds)  # counted from before the program's start
    program.step("w 100")
    program.end()
    tap.same(program.calls()["leaf"], 100, "--after")


def by_options(tap, folder):
    program = Steps(folder, "stopped", "--begin-stopped")
    program.step("w 10")
    ctl(folder, "stopped.rec", "start")
    program.step("w 100")
    program.end()
    tap.same(program.calls()["leaf"], 100, "--begin-stopped")
    begun_later(tap, folder)
    program = Steps(folder, "short", "--for", "1ms")
    wait_until(program.is_recorded, "the program has begun")
    time.sleep(0.002)  # what it was to be recorded for is counted from before its start
    program.step("w 10")
    program.end()
    tap.check("not one call was recorded: recording was stopped while " in program.errors, "--for",
              program.errors)
    program = Steps(folder, "never", "--begin-stopped")
    program.step("w 10")
    program.end()
    tap.check("not one call was recorded: recording was stopped while " in program.errors,
              "--begin-stopped, and never started", program.errors)
    held = lib.must([lib.FATHOM, "report", "leaks", "never.data"], folder).stdout
    tap.check("Nothing was allocated by functions that were recorded." in held and
              "freed" not in held.split("By path")[0].replace("Never freed", ""),
              "what was not recorded was not freed", held)
    program = Steps(folder, "below", "--when", "phase")
    program.step("w 10")
    program.step("p 100")
    program.step("w 1000")
    program.end()
    tap.same(program.calls(), dict(leaf=100, work=1, phase=1), "--when")
    for option, message in (("--after=x", "expected a time"), ("--for=0s", "expected a time"),
                            ("--for=-1s", "expected a time")):
        done = lib.run([lib.FATHOM, "record", option, "--", "./steps"], folder)
        tap.check(done.returncode == 2 and message in done.stderr, option, done.stderr)
    done = lib.run([lib.FATHOM, "record", "-o", "no", "--when=nobody", "--", "./steps"], folder,
                   stdin=subprocess.DEVNULL)
    tap.check('no call of the function "nobody"' in done.stderr, "--when of what is not called",
              done.stderr)


def main():
    tap = lib.Tap()
    with tempfile.TemporaryDirectory() as folder:
        lib.must([lib.FATHOM, "cc", "--grade=deep", "-O1", "-g", HERE / "steps.c", "-o", "steps",
                  "-lpthread"], folder)
        for part in (phases, busy, threads, forked, against_the_rules, without_ticks, begun, refused, named, numbered, by_options):
            part(tap, folder)
    return tap.done()


sys.exit(main())

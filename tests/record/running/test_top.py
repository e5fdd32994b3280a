#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`fathom top`: what its tables and its screen say of a program in lock step with the test."""
import fcntl
import os
import pathlib
import pty
import re
import select
import signal
import struct
import subprocess
import sys
import tempfile
import termios
import time

import record_lib as lib
from patience import PATIENCE, wait_until

HERE = pathlib.Path(__file__).resolve().parent


class Terminal:
    """As much of a terminal as `TERM=vt100` asks for: characters at places."""

    def __init__(self, lines, columns):
        self.resize(lines, columns)
        self.rest = ""

    def resize(self, lines, columns):
        self.lines, self.columns = lines, columns
        self.screen = [[" "] * columns for _ in range(lines)]
        self.y = self.x = 0
        self.low, self.high = 0, lines - 1

    def clear(self, y, begin, end):
        for x in range(max(begin, 0), min(end, self.columns)):
            self.screen[y][x] = " "

    def feed(self, text):
        text = self.rest + text
        self.rest = ""
        at = 0
        while at < len(text):
            if text[at] != "\x1b":
                self.plain(text[at])
                at += 1
                continue
            found = re.match(r"\x1b(?:\[([?]?)([0-9;]*)([A-Za-z])|([()][0-9A-Za-z])|([=>78DM]))",
                             text[at:])
            if found is None:
                self.rest = text[at:]
                return
            if found[3] and not found[1]:
                self.sequence(found[3], [int(n or 0) for n in found[2].split(";")])
            elif found[5] == "M":
                self.up()
            at += found.end()

    def up(self):
        if self.y > self.low:
            self.y -= 1
            return
        del self.screen[self.high]
        self.screen.insert(self.low, [" "] * self.columns)

    def plain(self, character):
        if character == "\r":
            self.x = 0
        elif character == "\n":
            if self.y < self.high:
                self.y += 1
            else:
                del self.screen[self.low]
                self.screen.insert(self.high, [" "] * self.columns)
        elif character == "\b":
            self.x = max(self.x - 1, 0)
        elif character >= " " and self.y < self.lines:
            self.x = min(self.x, self.columns - 1)
            self.screen[self.y][self.x] = character
            self.x += 1

    def sequence(self, name, numbers):
        first = numbers[0] or 1
        if name == "H":
            self.y = min(first - 1, self.lines - 1)
            self.x = min((numbers[1] if len(numbers) > 1 and numbers[1] else 1) - 1,
                         self.columns - 1)
        elif name == "J":
            self.clear(self.y, self.x, self.columns)
            for y in range(self.y + 1, self.lines):
                self.clear(y, 0, self.columns)
        elif name == "K":
            if numbers[0] == 1:
                self.clear(self.y, 0, self.x + 1)
            else:
                self.clear(self.y, self.x, self.columns)
        elif name == "A":
            self.y = max(self.y - first, 0)
        elif name == "B":
            self.y = min(self.y + first, self.lines - 1)
        elif name == "C":
            self.x = min(self.x + first, self.columns - 1)
        elif name == "D":
            self.x = max(self.x - first, 0)
        elif name == "r":
            self.low = first - 1
            self.high = (numbers[1] if len(numbers) > 1 else self.lines) - 1
            self.y = self.x = 0

    def text(self):
        return "\n".join("".join(line).rstrip() for line in self.screen)


class Top:
    def __init__(self, folder, name):
        self.terminal = Terminal(24, 100)
        self.master, self.slave = pty.openpty()
        self.resize(24, 100)
        self.before = termios.tcgetattr(self.slave)
        environment = dict(os.environ, TERM="vt100", LC_ALL="C.UTF-8")
        environment.pop("LINES", None)
        environment.pop("COLUMNS", None)
        self.process = subprocess.Popen([lib.FATHOM, "top", name], cwd=folder, env=environment,
                                        stdin=self.slave, stdout=self.slave,
                                        stderr=subprocess.PIPE, preexec_fn=os.setpgrp)

    def resize(self, lines, columns):
        self.terminal.resize(lines, columns)
        fcntl.ioctl(self.master, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))

    def type(self, keys):
        os.write(self.master, keys.encode())

    def until(self, pattern, absent=None):
        """The screen, when it shows the pattern and nothing more comes."""
        def shown():
            while select.select([self.master], [], [], 0.1)[0]:
                self.terminal.feed(os.read(self.master, 65536).decode("utf-8", "replace"))
            text = self.terminal.text()
            assert re.search(pattern, text) and not (absent and re.search(absent, text)), text
            return text
        return wait_until(shown, f"the screen shows {pattern}")

    def end(self):
        status = self.process.wait(PATIENCE)
        after = termios.tcgetattr(self.slave)
        self.process.stderr.close()
        os.close(self.master)
        os.close(self.slave)
        return status, after == self.before


class Steps:
    def __init__(self, folder):
        self.process = subprocess.Popen([lib.FATHOM, "record", "-q", "-k", "-o", "out", "--",
                                         "./steps"], cwd=folder, stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE)

    def step(self, order):
        self.process.stdin.write(order.encode())
        self.process.stdin.flush()
        assert self.process.stdout.read(1) == b"k"

    def end(self):
        self.process.stdin.close()
        self.process.wait(PATIENCE)
        self.process.stdout.close()


def tables(text):
    """[{function: row}] of what --batch printed."""
    found = []
    for part in text.split("\n\n"):
        lines = [line.split("\t") for line in part.splitlines()
                 if line and not line.startswith("#")]
        if len(lines) > 1:
            found.append({row[-1]: dict(zip(lines[0], row)) for row in lines[1:]})
    return found


def batch(tap, folder, program):
    program.step("w 1000")
    first = lib.run([lib.FATHOM, "top", "--batch", "--count", "1", "--sort=calls", "out.rec"], folder)
    rows = tables(first.stdout)[0]
    tap.same({name: rows[name]["calls"] for name in ("leaf", "work", "main")},
             {"leaf": "1000", "work": "1", "main": "1"}, "calls until now")
    tap.same(list(rows)[0], "leaf", "sorted by calls")
    tap.check(rows["leaf"]["calls_per_s"] == "", "a rate needs two readings", first.stdout)
    tap.check("\trecording\t" in first.stdout.splitlines()[0], "the program runs", first.stdout)
    running = subprocess.Popen([lib.FATHOM, "top", "--batch", "--delay", "0.05", "--rows", "3",
                                "out.rec"], cwd=folder, stdout=subprocess.PIPE, text=True)
    line = ""
    while not line.startswith("self_s"):
        line = next(running.stdout)
    program.step("w 500")
    program.end()
    rest, _ = running.communicate(timeout=PATIENCE)
    tap.same(running.returncode, 0, "it ends with the program")
    last = tables(rest)[-1]
    tap.check("\tended\t" in rest.strip().split("\n\n")[-1], "which the last table says", rest[-500:])
    tap.same(len(last), 3, "with as many rows as were asked for: " + ", ".join(last))
    after = tables(lib.run([lib.FATHOM, "top", "--batch", "out.rec"], folder).stdout)
    tap.same((len(after), after[0]["leaf"]["calls"]), (1, "1500"), "one that ended has one table")


def seconds(head):
    return float(re.match(r"# process \d+\t\w+\t([0-9.]+) s\t", head)[1])


def killed(tap, folder):
    """What a program that was killed, or became another one, did not say is how long it ran."""
    program = Steps(folder)
    program.step("w 1")
    running = subprocess.Popen([lib.FATHOM, "top", "--batch", "--delay", "0.05", "--rows", "1", "out.rec"],
                               cwd=folder, stdout=subprocess.PIPE, text=True)
    heads = []
    while len(heads) < 4:
        heads += [line for line in [next(running.stdout)] if line.startswith("#")]
    child = lib.program_of(program.process.pid, "steps")
    time.sleep(0.005)
    program.step("w 1")  # behind a wait, which tells the latest moment
    os.kill(child, signal.SIGKILL)
    heads += [line for line in running.communicate(timeout=PATIENCE)[0].splitlines() if line.startswith("#")]
    program.process.wait(PATIENCE)
    tap.check("\tended\t" in heads[-1] and seconds(heads[-1]) >= max(map(seconds, heads[:-1])),
              "killed: it ran as long as it was seen to", heads)
    later = lib.must([lib.FATHOM, "top", "--batch", "out.rec"], folder).stdout.splitlines()[0]
    tap.check("\tended\t" in later and seconds(later) > 0, "and later until the latest moment that is known", later)
    (pathlib.Path(folder) / "out.rec").unlink()


def stopped(tap, folder):
    """SIGTSTP gives the terminal back, SIGCONT takes it again, whatever size it has by then."""
    top = Top(folder, "out.rec")
    top.until(r"leaf")
    own = termios.tcgetattr(top.slave)
    top.process.send_signal(signal.SIGTSTP)


    def change():
        if select.select([top.master], [], [], 0.05)[0]:  # it may have something to write first
            os.read(top.master, 65536)
        pid, seen = os.waitpid(top.process.pid, os.WNOHANG | os.WUNTRACED)
        return (seen,) if pid != 0 else None
    status, = wait_until(change, "the stopped top tells its parent")
    tap.check(os.WIFSTOPPED(status) and own != top.before and
              termios.tcgetattr(top.slave) == top.before,
              "stopped: the terminal is as before", status)
    top.resize(12, 80)
    top.process.send_signal(signal.SIGCONT)
    tap.check(top.until(r"leaf") is not None and termios.tcgetattr(top.slave) == own,
              "and it goes on where it was")
    top.type("q")
    tap.same(top.end(), (0, True), "and ends")


def screen(tap, folder):
    program = Steps(folder)
    program.step("p 100")
    top = Top(folder, "out.rec")
    shown = top.until(r"\b100\b.*\bleaf")
    tap.check(shown is not None and "process" in shown and "running" in shown, "calls are shown")
    top.type("c")
    shown = top.until(r"by calls")
    tap.check(shown is not None and re.search(r"function\n.*leaf\n", shown), "sorted by calls", shown)
    program.step("p 50")
    tap.check(top.until(r"\b150\b.*\bleaf") is not None, "what is new is shown")
    top.type("z")
    tap.check(top.until(r"since the mark", r"\b150\b") is not None, "since now: nothing yet")
    program.step("w 7")
    shown = top.until(r" 7 .*leaf")
    tap.check(shown is not None and "phase" not in shown, "then what was done since", shown)
    top.type("Z")
    tap.check(top.until(r"\b157\b.*\bleaf") is not None, "and since the beginning")
    top.type("/ph")
    shown = top.until(r"search: ph", r"leaf")
    tap.check(shown is not None and "phase" in shown, "searched", shown)
    top.type("\r\r")
    shown = top.until(r"called by\n.*main\n.*phase\ncalls\n.*work")
    tap.check(shown is not None, "a function is opened: callers, itself, callees")
    top.type("\x7f")
    tap.check(top.until(r"leaf", r"called by") is not None, "and closed")
    top.type(" ")
    tap.check(top.until(r"PAUSED") is not None, "paused")
    program.step("w 1000")
    top.type("?")
    tap.check(top.until(r"since the beginning") is not None, "help")
    top.type("?")
    tap.check(top.until(r"leaf", r"since the beginning") is not None, "and no more of it")
    top.resize(10, 60)
    top.process.send_signal(signal.SIGWINCH)  # it has this terminal, but does not belong to it
    shown = top.until(r"leaf(.|\n)*Enter open[^\n]*$")
    tap.check(shown is not None, "a smaller terminal is used to its last line", shown)
    top.type("q")
    tap.same(top.end(), (0, True), "it ends, and the terminal is as before")
    numbers = (signal.SIGTERM, signal.SIGHUP, signal.SIGINT, signal.SIGQUIT, signal.SIGABRT)
    for number in numbers:
        signal.signal(number, signal.SIG_DFL)  # shells ignore some of them for what is in the background
    for number in numbers:
        top = Top(folder, "out.rec")
        top.until(r"leaf")
        top.process.send_signal(number)
        tap.same(top.end(), (-number, True), f"signal {number}: likewise")
    stopped(tap, folder)
    top = Top(folder, "out.rec")
    top.until(r"leaf")
    program.end()
    shown = top.until(r"ended")
    tap.check(shown is not None and re.search(r"\b1157\b.*leaf", shown),
              "of one that ended all is shown", shown)
    top.type("q")
    tap.same(top.end(), (0, True), "and it ends")


def refused(tap, folder):
    for words, status, message in (
            (["out.rec"], 2, "are no terminal"), (["--batch", "none.rec"], 1, "No such file"),
            (["--batch", "--sort=x", "out.rec"], 2, "expected self, total"), (["--batch"], 2, "expected one"),
            (["--batch", "--delay=0", "out.rec"], 2, "--delay"),
            (["--batch", "pid:4194305"], 1, "there is no process")):
        done = lib.run([lib.FATHOM, "top"] + words, folder, stdin=subprocess.DEVNULL)
        tap.check(done.returncode == status and message in done.stderr, f"refused: {message}",
                  done.stderr)


def main():
    tap = lib.Tap()
    with tempfile.TemporaryDirectory() as folder:
        lib.must([lib.FATHOM, "cc", "--grade=deep", "-O1", "-g", HERE / "steps.c", "-o", "steps",
                  "-lpthread"], folder)
        batch(tap, folder, Steps(folder))
        (pathlib.Path(folder) / "out.rec").unlink()
        killed(tap, folder)
        help_text = lib.run([lib.FATHOM, "top", "out.rec"], folder, stdin=subprocess.DEVNULL).stderr
        if "without ncurses" in help_text:
            tap.skip("the screen", "built without ncurses")
        else:
            screen(tap, folder)
        refused(tap, folder)
    return tap.done()


sys.exit(main())

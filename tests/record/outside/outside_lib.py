# SPDX-License-Identifier: Apache-2.0
"""Processes that are sampled from outside, and what does it."""
import os
import pathlib
import re
import signal
import subprocess

import record_lib as lib
from patience import PATIENCE, wait_until

WORK_NS = 400_000_000  # CPU time of the process while it is recorded, at least


class Target:
    def __init__(self, folder, *words):
        self.process = subprocess.Popen(words or [folder / "running"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        text=True, cwd=folder)
        assert self.process.stdout.readline() == "ready\n"
        self.pid = self.process.pid

    def ran(self):
        """Nanoseconds of CPU time of its threads that live."""
        total = 0
        for task in pathlib.Path(f"/proc/{self.pid}/task").iterdir():
            try:
                total += int((task / "schedstat").read_text().split()[0])
            except (FileNotFoundError, ProcessLookupError):
                pass  # it has ended
        return total

    def work(self):
        before = self.ran()
        wait_until(lambda: self.ran() - before > WORK_NS, "the process has worked")

    def status(self, field):
        return re.search(rf"^{field}:\s*(.*)$", pathlib.Path(f"/proc/{self.pid}/status").read_text(), re.M).group(1)

    def end(self):
        """What it says, and its status."""
        out, _ = self.process.communicate("\n", timeout=PATIENCE)
        return out, self.process.returncode


class Recorder:
    """`fathom record --pid`, once it samples."""

    def __init__(self, folder, target, way, *options, name="attached"):
        self.process = subprocess.Popen([lib.FATHOM, "record", "-o", name, "--pid", str(target.pid), *options],
                                        cwd=folder, env={**os.environ, "FATHOM_ATTACH": way},
                                        stderr=subprocess.PIPE, text=True)
        self.said = self.process.stderr.readline()

    def turns(self):
        """How often it has waited for samples, or for the next look."""
        status = pathlib.Path(f"/proc/{self.process.pid}/status").read_text()
        return int(re.search(r"^voluntary_ctxt_switches:\s*(\d+)", status, re.M).group(1))

    def end(self):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGINT)
        self.said += self.process.communicate(timeout=PATIENCE)[1]
        return self.process.returncode


def contexts(folder, data, measure):
    paths = {}
    text = lib.must([lib.FATHOM, "export", "--to=folded", f"--measure={measure}", "-o", "-", data], folder).stdout
    for line in text.splitlines():
        path, value = line.rsplit(" ", 1)
        paths[path] = paths.get(path, 0) + float(value)
    return paths


def below(paths, *names):
    """What contexts have in which these functions (patterns) follow one another, others between them."""
    pattern = re.compile(";.*".join(rf"(?<![\w]){name}(?![\w])" for name in names))
    return sum(value for path, value in paths.items() if pattern.search(path))


def ways(folder):
    """Those that the kernel allows here."""
    target = Target(folder)
    found, why = [], {}
    for way in ("perf", "ptrace"):
        done = subprocess.run([lib.FATHOM, "record", "-q", "-o", "way", "--for", "1ms", "--pid", str(target.pid)],
                              cwd=folder, text=True, stderr=subprocess.PIPE,
                              env={**os.environ, "FATHOM_ATTACH": way})
        if done.returncode == 0:
            found.append(way)
        else:
            why[way] = done.stderr.strip()
    target.end()
    return found, why

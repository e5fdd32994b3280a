# SPDX-License-Identifier: Apache-2.0
"""What the fault injections share: one data file, one runtime directory, and CGI programs.

The programs' clock is the test's: it stands still unless the test advances it, so that idle times and
deadlines are over when the test says so, however long the machine takes. All times are so long that
none ends by itself where the clock runs."""
import mmap
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time

from patience import PATIENCE, wait_until
from tap import Tap

PROGRAM = sys.argv[1]
IDLE_MS = 1_000_000_000
DEADLINE_MS = int(10_000 * PATIENCE)  # ten times what a test waits


class Answer:
    def __init__(self, raw, said=""):
        self.said = said  # on the standard error
        head, _, self.body = raw.partition(b"\r\n\r\n")
        self.headers = {}
        for line in head.decode("latin-1").split("\r\n"):
            name, _, value = line.partition(": ")
            self.headers[name.lower()] = value
        self.status = int(self.headers.get("status", "0 ").split(" ")[0] or 0)

    def field(self, name):
        text = self.body.split(b"\n", 1)[0].decode("latin-1")
        return dict(part.split("=", 1) for part in text.split(" ") if "=" in part).get(name)

    def marker(self):
        return self.field("marker")

    def data(self):
        return self.field("data")

    def is_whole(self):
        return self.field("whole") == "yes"

    def length_is_right(self):
        return int(self.headers.get("content-length", -1)) == len(self.body)


class Clock:
    """What src/serve/cgi/clock.c reads: milliseconds that were added, and when it stands."""

    def __init__(self, path, runs):
        path.write_bytes(bytes(16))
        with open(path, "r+b") as file:
            self.map = mmap.mmap(file.fileno(), 16)
        self.words = memoryview(self.map).cast("Q")
        self.words[1] = 0 if runs else time.monotonic_ns() // 1_000_000

    def advance(self, milliseconds):
        self.words[0] += milliseconds

    def now(self):
        """Where it stands."""
        return self.words[0] + self.words[1]

    def close(self):
        self.words.release()
        self.map.close()


class World:
    """A data file and a runtime directory of its own. runs: the clock does not stand still."""

    def __init__(self, idle_ms=IDLE_MS, runs=False, **environment):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="fathom-cgi-"))
        self.runtime = self.folder / "run"
        self.data = self.folder / "d.data"
        self.data.write_text("one")
        self.idle_ms = idle_ms
        self.clock = Clock(self.folder / "clock", runs)
        self.environment = {
            "PATH": os.environ["PATH"],
            "CGI_DATA": str(self.data),
            "CGI_RUNTIME": str(self.runtime),
            "CGI_IDLE_MS": str(idle_ms),
            "CGI_DEADLINE_MS": str(DEADLINE_MS),
            "CGI_REPLY_MS": str(DEADLINE_MS),
            "FATHOM_CLOCK": str(self.folder / "clock"),
            "CGI_LOG": str(self.folder / "log"),
            "CGI_BUILD": "build-1",
        }
        for name in ("ASAN_OPTIONS", "UBSAN_OPTIONS", "LSAN_OPTIONS"):
            if name in os.environ:
                self.environment[name] = os.environ[name]
        self.environment.update(environment)
        self.started = []

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def start(self, query, stop=None, once=True, stdout=subprocess.PIPE, popen=None, **environment):
        """Starts a CGI program. stop: what happens at which stop point, as "C5=kill"; popen: more
        arguments of Popen."""
        env = dict(self.environment, QUERY_STRING=query, **environment)
        if stop:
            env["FATHOM_STOP"] = stop
            if once:
                env["FATHOM_STOP_ONCE"] = str(self.folder / f"stop-{len(self.started)}")
        process = subprocess.Popen([PROGRAM], env=env, stdin=subprocess.DEVNULL, stdout=stdout,
                                   stderr=subprocess.PIPE, **(popen or {}))
        self.started.append(process)
        return process

    def advance(self, milliseconds):
        self.clock.advance(milliseconds)

    def wait_passing(self, condition, what, step_ms):
        """Waits while the clock goes on by step_ms a look."""
        def look():
            found = condition()
            if not found:
                self.advance(step_ms)
            return found
        return wait_until(look, what)

    def finish(self, process, step_ms=0, look_s=0.02):
        """step_ms: by how much the clock goes on when the answer is not there after look_s."""
        def answer():
            try:
                return process.communicate(timeout=look_s if step_ms else PATIENCE)
            except subprocess.TimeoutExpired:
                self.advance(step_ms)
                return None
        output, errors = wait_until(answer, "the answer is there")
        said = errors.decode(errors="replace")
        if any(not line.startswith("fathom cgi: ") for line in said.splitlines()):
            raise AssertionError(f"the program wrote on stderr: {errors[:2000]!r}")
        return Answer(output, said)

    def ask(self, query, step_ms=0, **more):
        return self.finish(self.start(query, **more), step_ms)

    def expect_fresh(self, marker="fresh", **more):
        """One more client gets its own right page, without waiting for any time to be over."""
        answer = self.ask(f"marker={marker}", **more)
        assert answer.status == 200, (answer.status, answer.body[:200])
        assert answer.marker() == marker, answer.body[:200]
        assert answer.length_is_right()
        return answer

    def names(self):
        return sorted(entry.name for entry in self.runtime.iterdir()) if self.runtime.exists() else []

    def server_pid(self):
        """Of the server that holds the life lock; None when there is none."""
        for name in self.names():
            if name.endswith(".server"):
                for line in (self.runtime / name).read_text().splitlines():
                    if line.startswith("pid "):
                        pid = int(line[4:])
                        return pid if is_running(pid) else None
        return None

    def wait_server(self):
        return wait_until(self.server_pid, "there is a server")

    def wait_end(self, pid, what, step_ms=0):
        self.wait_passing(lambda: not is_running(pid), f"{what} has ended", step_ms)

    def wait_wants(self, count):
        """Until so many clients have said what they want."""
        wait_until(lambda: sum(".want." in name for name in self.names()) >= count,
                   f"there are {count} want files")

    def loads(self):
        path = pathlib.Path(str(self.data) + ".loads")
        return len(path.read_text().splitlines()) if path.exists() else 0

    def processes(self):
        """Our programs on this data file that still run."""
        found = []
        for entry in pathlib.Path("/proc").iterdir():
            if not entry.name.isdigit() or not is_running(int(entry.name)):
                continue
            try:
                environment = (entry / "environ").read_bytes()
            except OSError:
                continue
            if f"CGI_RUNTIME={self.runtime}".encode() in environment.split(b"\0"):
                found.append(int(entry.name))
        return found

    def wait_idle(self, step_ms=None):
        """Until the idle times are over and no process is left."""
        self.wait_passing(lambda: not self.processes(), "all processes have ended",
                          self.idle_ms if step_ms is None else step_ms)

    def expect_quiet(self, files=True):
        """After the idle time no process and no file of ours is left."""
        self.wait_idle()
        if files:
            assert self.names() == [], self.names()

    def close(self):
        for process in self.started:
            if process.poll() is None:
                process.kill()
            process.wait()
            for stream in (process.stdout, process.stderr):
                if stream:
                    stream.close()
        for pid in self.processes():
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        wait_until(lambda: not self.processes(), "killed processes have ended")
        self.clock.close()
        if self.runtime.is_dir() and not self.runtime.is_symlink():
            self.runtime.chmod(0o700)
        shutil.rmtree(self.folder, ignore_errors=True)


def state_of(pid):
    """As in proc(5); X when there is no such process."""
    try:
        return pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0]
    except OSError:
        return "X"


def is_running(pid):
    return state_of(pid) not in "ZX"


def wait_until_stopped(pid):
    wait_until(lambda: state_of(pid) == "T", f"process {pid} has stopped")


def descriptors(pid):
    """{descriptor: what it means}"""
    found = {}
    for entry in pathlib.Path(f"/proc/{pid}/fd").iterdir():
        try:
            found[entry.name] = os.readlink(entry)
        except FileNotFoundError:  # closed meanwhile
            pass
    return found


def has_pending_reply(server):
    return any(".reply." in target for target in descriptors(server).values())


def run_tests(tests):
    """Runs them all, speaking TAP. tests: (name, function taking nothing)."""
    chosen = [word for word in sys.argv[2:] if not word.startswith("-")]
    tap = Tap()
    for name, function in tests:
        if chosen and not any(name.startswith(word) for word in chosen):
            tap.skip(name, "not chosen")
            continue
        tap.case(function, name=name)
    return tap.done()

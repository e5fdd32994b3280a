# SPDX-License-Identifier: Apache-2.0
"""What the fault injections share: one data file, one runtime directory, and CGI programs."""
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time

PROGRAM = sys.argv[1]


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


class World:
    """A data file and a runtime directory of its own."""

    def __init__(self, idle_ms=700, **environment):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="fathom-cgi-"))
        self.runtime = self.folder / "run"
        self.data = self.folder / "d.data"
        self.data.write_text("one")
        self.idle_ms = idle_ms
        self.environment = {
            "PATH": os.environ["PATH"],
            "CGI_DATA": str(self.data),
            "CGI_RUNTIME": str(self.runtime),
            "CGI_IDLE_MS": str(idle_ms),
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

    def finish(self, process, timeout=30):
        output, errors = process.communicate(timeout=timeout)
        said = errors.decode(errors="replace")
        if any(not line.startswith("fathom cgi: ") for line in said.splitlines()):
            raise AssertionError(f"the program wrote on stderr: {errors[:2000]!r}")
        return Answer(output, said)

    def ask(self, query, timeout=30, **more):
        return self.finish(self.start(query, **more), timeout)

    def expect_fresh(self, marker="fresh", within=None, **more):
        """One more client gets its own right page."""
        begun = time.monotonic()
        answer = self.ask(f"marker={marker}", **more)
        took = time.monotonic() - begun
        assert answer.status == 200, (answer.status, answer.body[:200])
        assert answer.marker() == marker, answer.body[:200]
        assert answer.length_is_right()
        if within is not None:
            assert took < within, f"took {took:.2f} s"
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

    def wait_server(self, timeout=10):
        return wait_for(self.server_pid, timeout, "a server")

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

    def expect_quiet(self, files=True):
        """After the idle time no process and no file of ours is left."""
        wait_for(lambda: not self.processes(), self.idle_ms / 1000 + 10, "the end of all processes")
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
        wait_for(lambda: not self.processes(), 10, "killed processes to end")
        if self.runtime.is_dir() and not self.runtime.is_symlink():
            self.runtime.chmod(0o700)
        shutil.rmtree(self.folder, ignore_errors=True)


def is_running(pid):
    try:
        state = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0]
    except OSError:
        return False
    return state not in "ZX"


def wait_for(condition, timeout, what):
    deadline = time.monotonic() + timeout
    while True:
        found = condition()
        if found:
            return found
        if time.monotonic() > deadline:
            raise AssertionError(f"waited {timeout} s for {what}")
        time.sleep(0.01)


class Skip(Exception):
    pass


def run_tests(tests):
    """Runs them all, speaking TAP. tests: (name, function taking nothing)."""
    chosen = [word for word in sys.argv[2:] if not word.startswith("-")]
    print(f"1..{len(tests)}")
    failed = 0
    for number, (name, function) in enumerate(tests, 1):
        if chosen and not any(name.startswith(word) for word in chosen):
            print(f"ok {number} - {name} # SKIP not chosen")
            continue
        try:
            function()
            print(f"ok {number} - {name}")
        except Skip as reason:
            print(f"ok {number} - {name} # SKIP {reason}")
        except Exception as error:  # a failed assertion, a time-out, anything
            failed += 1
            print(f"not ok {number} - {name}")
            import traceback
            for line in traceback.format_exc().splitlines():
                print(f"# {line}")
        sys.stdout.flush()
    return 1 if failed else 0

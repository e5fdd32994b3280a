#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What goes on around the CGI program: foreign files, folders and names that vanish or are
something else, descriptors that were inherited or are exhausted, signals. Arguments: the test
program, then names to run."""
import contextlib
import ctypes
import errno
import os
import pathlib
import platform
import resource
import shutil
import signal
import socket
import struct
import subprocess
import sys
import time

from harness import (DEADLINE_MS, World, descriptors, has_pending_reply, is_running, run_tests,
                     wait_until_stopped)
from patience import PATIENCE, wait_until

YESTERDAY = time.time() - 3 * 24 * 3600


@contextlib.contextmanager
def world(**options):
    made = World(**options)
    try:
        yield made
    finally:
        made.close()


def make_old(path):
    os.utime(path, (YESTERDAY, YESTERDAY), follow_symlinks=False)


def name_of(w, kind):
    return next(w.runtime / name for name in w.names() if name.endswith(kind))


def key_of(w):
    return name_of(w, ".server").name[:-len(".server")]


# --- files of others ---

# Near to our names, but not ours to the letter.
def foreign_names(key):
    other = "0" * 24 + "-" + "1" * 24
    return ["thesis.tex", "cgi.log", ".profile", "a.mutex", f"{key}.serverx", f"{key}.want.",
            f"{key}.want.123", f"{other}.tex", f"{other}.mutex.bak", f"{key.upper()}.mutex",
            f"{other}x.server", f"{other}.query.old", f"{other}.reply.{'g' * 40}"]


def case_sweeper_deletes_only_names_of_ours():
    with world() as w:
        first = w.start("marker=a", stop="S4.renamed=stop")  # a server before its first look round
        server = w.wait_server()
        wait_until_stopped(server)
        key = key_of(w)
        other = "0" * 24 + "-" + "1" * 24
        token = "2" * 40
        foreign = foreign_names(key)
        for name in foreign:
            (w.runtime / name).write_text("mine")
            make_old(w.runtime / name)
        (w.runtime / f"{other}.d.data").mkdir()
        ours = [f"{other}.mutex", f"{other}.server", f"{other}.want.{token}",
                f"{other}.tmp.{token}", f"{key}.want.{token}"]
        for name in ours:
            (w.runtime / name).write_text("old")
            make_old(w.runtime / name)
        for name in (f"{other}.query", f"{other}.reply.{token}", f"{other}.query.{'3' * 32}"):
            os.mkfifo(w.runtime / name, 0o600)
            make_old(w.runtime / name)
            ours.append(name)
        # One of them was used an hour ago: its process may only be slow, and nothing of that key goes.
        young = "4" * 24 + "-" + "5" * 24
        kept = [f"{young}.server", f"{young}.want.{token}"]
        for name in kept:
            (w.runtime / name).write_text("young")
            make_old(w.runtime / name)
        os.utime(w.runtime / kept[1], (time.time() - 3600, time.time() - 3600))
        os.kill(server, signal.SIGCONT)
        assert w.finish(first).marker() == "a"
        wait_until(lambda: not set(ours) & set(w.names()), "the sweep is done")
        assert set(foreign + kept) <= set(w.names()), set(foreign + kept) - set(w.names())
        for name in kept:
            (w.runtime / name).unlink()
        os.kill(server, signal.SIGTERM)
        w.wait_end(server, "the server")
        assert sorted(foreign + [f"{other}.d.data"]) == w.names()


def case_folder_with_files_of_others_is_refused():
    with world() as w:
        w.runtime.mkdir(mode=0o700)
        (w.runtime / "thesis.tex").write_text("mine")
        make_old(w.runtime / "thesis.tex")
        answer = w.ask("marker=a")
        assert answer.marker() == "a", "the page comes all the same"
        assert str(w.runtime) in answer.said and "'thesis.tex'" in answer.said, answer.said
        assert w.names() == ["thesis.tex"] and w.processes() == []
        assert "thesis.tex" in (w.folder / "log").read_text()
    with world() as w:  # the log may stand there, by whatever name
        w.runtime.mkdir(mode=0o700)
        answer = w.ask("marker=a", CGI_LOG=str(w.runtime / "pages.txt"))
        assert answer.marker() == "a" and answer.said == "", answer.said
        w.wait_idle()
        assert w.names() == ["pages.txt"]


# --- what vanishes ---

def case_folder_vanishes_below_a_server():
    for how in ("removed", "renamed", "replaced", "file"):
        with world() as w:
            w.expect_fresh("first")
            server = w.wait_server()
            if how == "removed":
                shutil.rmtree(w.runtime)
            else:
                w.runtime.rename(w.folder / "elsewhere")
            if how == "replaced":
                w.runtime.mkdir(mode=0o700)
            if how == "file":
                w.runtime.write_text("a file")
            w.wait_end(server, f"a server whose folder was {how}", 1000)
            log = (w.folder / "log").read_text()
            assert f"{w.runtime}: is gone, or another one" in log, log
            if how == "file":
                answer = w.ask("marker=b")
                assert answer.marker() == "b"
                assert "is a file, expected a directory" in answer.said, answer.said
                w.runtime.unlink()
            elif how != "removed":
                assert list((w.folder / "elsewhere").iterdir()) == []
            w.expect_fresh("second")
            assert w.wait_server() != server


def case_folder_vanishes_and_the_server_is_told_to_end():
    with world() as w:
        w.expect_fresh("first")
        server = w.wait_server()
        os.kill(server, signal.SIGSTOP)
        shutil.rmtree(w.runtime)
        os.kill(server, signal.SIGTERM)
        os.kill(server, signal.SIGCONT)
        w.wait_end(server, "the server")


def end_all(w):
    for pid in w.processes():
        os.kill(pid, signal.SIGTERM)
    w.wait_idle(step_ms=200)


def case_names_vanish_below_a_server():
    for kind in (".query", ".server", ".mutex"):
        for instead in (None, "file", "directory", "link", "fifo"):
            with world() as w:
                w.expect_fresh("first")
                server = w.wait_server()
                name = name_of(w, kind) if kind != ".mutex" else w.runtime / (key_of(w) + kind)
                name.unlink(missing_ok=True)
                target = w.folder / "target"
                target.write_text("untouched")
                if instead == "file":
                    name.write_text("another")
                elif instead == "directory":
                    name.mkdir()
                elif instead == "link":
                    name.symlink_to(target)
                elif instead == "fifo":
                    os.mkfifo(name, 0o600)
                w.expect_fresh("second", step_ms=1000)
                w.expect_fresh("third", step_ms=1000)
                assert target.read_text() == "untouched"
                if kind != ".mutex":
                    w.wait_end(server, f"a server without {kind} ({instead})", 1000)
                end_all(w)
                left = [entry for entry in w.names() if entry != name.name]
                assert left == [], (kind, instead, left)


def case_something_else_in_the_place_of_our_names():
    with world() as w:
        w.expect_fresh("first")
        server = w.wait_server()
        key = key_of(w)
        os.kill(server, signal.SIGTERM)
        w.wait_end(server, "the server")
        for suffix, expected in ((".mutex", "a file"), (".server", "a file"), (".query", "a FIFO")):
            for what in ("directory", "full directory", "symbolic link", "FIFO", "file"):
                if f"a {what}" == expected:
                    continue
                path = w.runtime / (key + suffix)
                if what == "symbolic link":
                    path.symlink_to("/nonexistent")
                elif what == "FIFO":
                    os.mkfifo(path, 0o600)
                elif what == "file":
                    path.write_text("")
                else:
                    path.mkdir()
                if what == "full directory":
                    (path / "thing").write_text("")
                answer = w.expect_fresh("second", step_ms=1000)
                kind = what.removeprefix("full ")
                said = f"{path.name}: is a {kind}, expected {expected}"
                assert said in answer.said, (said, answer.said)
                end_all(w)
                if path.is_dir() and not path.is_symlink():
                    shutil.rmtree(path)
                else:
                    path.unlink(missing_ok=True)
                assert w.names() == [], (suffix, what, w.names())


# --- descriptors ---

CLOSE_RANGE = 436


def refuse_close_range():
    """To run in a child: from now on it fails as in a kernel that does not have it."""
    libc = ctypes.CDLL(None, use_errno=True)
    code = b"".join(struct.pack("HBBI", *step) for step in (
        (0x20, 0, 0, 0),  # the number of the call
        (0x15, 0, 1, CLOSE_RANGE), (0x06, 0, 0, 0x50000 | errno.ENOSYS), (0x06, 0, 0, 0x7FFF0000)))
    text = ctypes.create_string_buffer(code, len(code))
    program = struct.pack("HxxxxxxP", len(code) // 8, ctypes.addressof(text))
    if libc.prctl(38, 1, 0, 0, 0) or libc.prctl(22, 2, program, 0, 0):  # no new privileges; a filter
        raise OSError(ctypes.get_errno(), "no filter of system calls")


def is_refused():
    pid = os.fork()
    if pid == 0:
        try:
            refuse_close_range()
            failed = ctypes.CDLL(None).syscall(CLOSE_RANGE, 1000, 1000, 0) < 0
            os._exit(0 if failed else 1)
        except OSError:
            os._exit(1)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0


def fill_descriptors():
    """All but one that the limit allows are inherited, and close_range fails."""
    refuse_close_range()
    for fd in range(3, 63):
        os.dup2(0, fd)
    resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64))


def case_server_keeps_nothing_where_the_kernel_has_no_close_range():
    if platform.machine() != "x86_64" or not is_refused():
        print("# not tested: system calls cannot be filtered here")
        return
    server_keeps_nothing(refuse_close_range)
    with world() as w:
        answer = w.ask("marker=a", popen={"close_fds": False, "preexec_fn": fill_descriptors})
        assert answer.status == 200 and answer.marker() == "a", (answer.status, answer.body[:300])
        assert len(descriptors(w.wait_server())) < 32


def case_server_keeps_nothing_that_was_inherited():
    server_keeps_nothing(None)


def server_keeps_nothing(before):
    with world() as w, socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
        os.set_inheritable(listener.fileno(), True)
        high = os.dup2(listener.fileno(), 700)
        os.set_inheritable(high, True)
        try:
            answer = w.ask("marker=a", popen={"pass_fds": (listener.fileno(), high),
                                                  "preexec_fn": before})
        finally:
            os.close(high)
        assert answer.marker() == "a"
        server = w.wait_server()
        open_ones = descriptors(server)
        assert not [target for target in open_ones.values() if target.startswith("socket:")], open_ones
        listener.close()
        with socket.socket() as again:
            again.bind(("127.0.0.1", port))  # nobody else has the address
            again.listen()


def limit_descriptors(count):
    return lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (count, count))


def case_client_without_descriptors():
    if "ASAN_OPTIONS" in os.environ and os.environ.get("FATHOM_SANITIZED") == "1":
        return  # the sanitizer opens files of its own
    statuses = []
    for running in (False, True):
        for count in range(4, 16):
            with world() as w:
                if running:
                    w.expect_fresh("first")
                    server = w.wait_server()
                answer = w.ask("marker=a", popen={"preexec_fn": limit_descriptors(count)})
                statuses.append(answer.status)
                assert answer.status in (200, 503), (count, answer.status, answer.body[:300])
                if answer.status == 503:
                    assert "retry-after" in answer.headers and b"descriptor" in answer.body
                    assert w.loads() == (1 if running else 0), "at once, without loading"
                else:
                    assert answer.marker() == "a"
                assert not [name for name in w.names() if ".want." in name or ".reply." in name]
                if running:
                    assert w.server_pid() == server
                w.expect_fresh("after")
    assert 503 in statuses and 200 in statuses, statuses


def case_server_without_descriptors():
    with world() as w:
        w.expect_fresh("first")
        server = w.wait_server()
        stuck = w.start("marker=stuck&size=3000000", stop="C7=stop")
        wait_until_stopped(stuck.pid)
        wait_until(lambda: has_pending_reply(server), "the reply is pending")
        unlimited = resource.prlimit(server, resource.RLIMIT_NOFILE)
        used = max(int(fd) for fd in descriptors(server)) + 1
        resource.prlimit(server, resource.RLIMIT_NOFILE, (used, unlimited[1]))
        for _ in range(3):  # the server looks round in between, and nothing can be opened
            answer = w.ask("marker=a")  # at once: the deadline would be waited for for ever
            assert answer.status == 503 and b"descriptor" in answer.body, (answer.status, answer.body[:99])
            w.advance(1000)
        assert w.ask("marker=a").status == 503
        assert any(".want." in name for name in w.names()), "a living client's want file"
        resource.prlimit(server, resource.RLIMIT_NOFILE, unlimited)
        stuck.send_signal(signal.SIGCONT)
        answer = w.finish(stuck)
        assert answer.marker() == "stuck" and answer.length_is_right()
        assert w.server_pid() == server and w.loads() == 1
        w.expect_fresh("second")


# --- no more servers than allowed ---

def served_files(w):
    """{name of a data file whose server lives: when it answered last, or began}"""
    found = {}
    for path in w.runtime.glob("*.server"):
        about = dict(line.split(" ", 1) for line in path.read_text().splitlines() if " " in line)
        if is_running(int(about["pid"])):
            found[pathlib.Path(about["data"]).name] = int(about.get("answered", 0))
    return found


def ask_for(w, name):
    """The answer, once its server, if it has one, has noted that it answered now."""
    answer = w.expect_fresh(name, CGI_DATA=str(w.folder / name))
    wait_until(lambda: served_files(w).get(name) in (None, w.clock.now()), f"{name} has noted it")
    return answer


def case_busy_servers_stay_and_the_idlest_goes():
    with world(CGI_SERVERS_MAX="2") as w:
        for name in ("a", "b", "c", "d"):
            (w.folder / name).write_text(name)
        ask_for(w, "a")
        w.advance(1000)
        ask_for(w, "b")
        w.advance(999)
        assert set(served_files(w)) == {"a", "b"}
        assert ask_for(w, "c").said == ""  # b answered within the last second
        assert set(served_files(w)) == {"b", "c"}
        # Both have just answered: neither goes, and the page comes without leaving a server.
        ask_for(w, "b")
        said = ask_for(w, "d").said
        assert "no room for a server: 2 of 2 live" in said, said
        assert set(served_files(w)) == {"b", "c"}
        w.advance(1000)
        ask_for(w, "c")
        ask_for(w, "d")
        assert set(served_files(w)) == {"c", "d"}
        w.expect_quiet()


# --- pages before all is known ---

@contextlib.contextmanager
def reading_world():
    """One whose file is read until a file named "until" is there, and whose clock runs: the loader
    waits for a moment."""
    with world(runs=True, CGI_PATIENCE_MS="100") as w:
        until = w.folder / "until"
        w.environment["CGI_WORK_UNTIL"] = str(until)
        yield w, until


def case_page_of_what_is_known():
    with reading_world() as (w, until):
        first = w.ask("marker=a")
        assert first.marker() == "a" and not first.is_whole()
        server = w.wait_server()
        asked = [(f"m{i}", w.start(f"marker=m{i}")) for i in range(10)]
        for marker, process in asked:  # others do not wait either
            answer = w.finish(process)
            assert answer.marker() == marker and not answer.is_whole()
        until.touch()
        wait_until(lambda: w.ask("marker=b").is_whole(), "there is the whole page")
        assert w.server_pid() == server and w.loads() == 1
    with world(CGI_WORK_MS="300", CGI_PATIENCE_MS="60000") as w:
        assert w.ask("marker=a").is_whole(), "patience enough"
        w.expect_quiet()


def case_whole_page_where_no_server_reads_on():
    for options in ({"stop": "C9.fork=fail:11"}, {"stop": "S3.write=fail:28"},
                    {"CGI_NO_SERVER": "1"}, {"CGI_RUNTIME": "/nonexistent/deep/run"},
                    {"CGI_WORK_FAILS": "1"}):
        with world(runs=True, CGI_WORK_MS="600", CGI_PATIENCE_MS="100") as w:
            answer = w.ask("marker=a", once=False, **options)
            if "CGI_WORK_FAILS" not in options:
                assert answer.marker() == "a" and answer.is_whole(), options
            # Also of a server that cannot read its file, long before the idle time.
            w.wait_idle(step_ms=5000)


def case_idle_time_begins_when_all_is_read():
    with reading_world() as (w, until):
        w.ask("marker=a")
        server = w.wait_server()
        for _ in range(3):
            w.advance(w.idle_ms + 1000)
            assert not w.ask("marker=b").is_whole()
        assert w.server_pid() == server and w.loads() == 1
        w.advance(w.idle_ms - 3_600_000)
        until.touch()
        wait_until(lambda: f"read {w.data}" in (w.folder / "log").read_text(), "reading ends")
        # Less than the idle time since all is read, but more than that since the last query.
        w.advance(w.idle_ms - 3_600_000)
        assert w.ask("marker=c").is_whole()
        assert w.server_pid() == server and w.loads() == 1
        w.expect_quiet()
        assert w.loads() == 1


# --- signals ---

def told_to_end(w, process, number, what):
    """It ends at once: what it would do otherwise takes far longer than a test waits."""
    process.send_signal(number)
    process.wait(timeout=PATIENCE)
    assert process.returncode == 1, (what, process.returncode)
    left = [name for name in w.names() if f".{process.pid:08x}" in name]
    assert left == [], (what, left)


def case_clients_told_to_end():
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        with world(CGI_LOAD_MS=str(DEADLINE_MS)) as w:
            loader = w.start("marker=a")
            wait_until(w.loads, "it loads")
            waiting = w.start("marker=b")
            w.wait_wants(2)
            told_to_end(w, waiting, number, "waiting for the mutex")
            assert b"Status: 503" in waiting.stdout.read()
            told_to_end(w, loader, number, "loading")
            assert b"Status: 503" in loader.stdout.read()
            assert w.names() == [], "the mutex went too"
        with world(CGI_WORK_MS=str(DEADLINE_MS), CGI_PATIENCE_MS=str(DEADLINE_MS)) as w:
            loader = w.start("marker=a")
            wait_until(w.loads, "it loads")
            told_to_end(w, loader, number, "reading on")
        with world() as w:
            w.ask("marker=first", stop="S7.read=stop")  # the server inherits its stop point
            server = w.wait_server()
            waiting = w.start("marker=b")
            wait_until_stopped(server)
            told_to_end(w, waiting, number, "waiting for the reply")
            os.kill(server, signal.SIGCONT)
            reader, writer = os.pipe()
            printing = w.start("marker=c&size=3000000", stdout=writer)
            os.close(writer)
            assert os.read(reader, 20).startswith(b"Status: 200")
            told_to_end(w, printing, number, "printing")
            os.close(reader)
            w.expect_fresh("second")


def case_server_told_to_end_while_it_reads_and_while_readers_are_slow():
    with reading_world() as (w, _):
        w.ask("marker=a")
        server = w.wait_server()
        os.kill(server, signal.SIGTERM)
        w.wait_end(server, "a server that reads", 200)
        assert w.names() == []
    with world() as w:
        w.expect_fresh("first")
        server = w.wait_server()
        slow = w.start("marker=b&size=3000000", stop="C7=stop")
        wait_until_stopped(slow.pid)
        wait_until(lambda: has_pending_reply(server), "the reply is pending")
        os.kill(server, signal.SIGTERM)
        w.wait_end(server, "a server with a slow reader, long before the reply's time,", 200)
        slow.send_signal(signal.SIGCONT)
        answer = w.finish(slow)  # loads anew
        assert answer.marker() == "b" and answer.length_is_right()
    with world() as w:  # somebody stopped holds the mutex
        w.expect_fresh("first")
        server = w.wait_server()
        holder = w.start("marker=c", stop="C5=stop")
        wait_until_stopped(holder.pid)
        os.kill(server, signal.SIGTERM)
        w.wait_end(server, "the server", 200)
        holder.send_signal(signal.SIGCONT)
        assert w.finish(holder).marker() == "c"


def main():
    found = [(name, function) for name, function in globals().items() if name.startswith("case_")]
    return run_tests([(name[5:].replace("_", " "), function) for name, function in found])


sys.exit(main())

#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The fault injections of the CGI protocol. Arguments: the test program, then names to run."""
import contextlib
import errno
import fcntl
import os
import random
import signal
import struct
import subprocess
import sys
import tempfile
import termios

from harness import World, has_pending_reply, is_running, run_tests, state_of, wait_until_stopped
from tap import Skipped
from patience import PATIENCE, wait_until


@contextlib.contextmanager
def world(**options):
    made = World(**options)
    try:
        yield made
    finally:
        made.close()


def killed(process):
    process.wait(timeout=PATIENCE)
    assert process.returncode == -signal.SIGKILL, process.returncode


def fault_01_client_killed_holding_the_mutex():
    with world() as w:
        killed(w.start("marker=a", stop="C4=kill"))
        w.expect_fresh()
        w.expect_quiet()


def fault_02_client_killed_around_the_send():
    for point in ("C6.opened", "C6.written"):
        with world() as w:
            w.expect_fresh("first")
            server = w.wait_server()
            killed(w.start("marker=a", stop=f"{point}=kill"))
            w.expect_fresh("second")
            assert w.server_pid() == server, "the server is unharmed"
            w.expect_quiet()
            assert w.loads() == 1


def fault_03_client_killed_while_waiting_and_reading():
    with world() as w:
        w.expect_fresh("first")
        server = w.wait_server()
        killed(w.start("marker=a&delay=500", stop="C7=kill"))
        w.expect_fresh("second")
        victim = w.start("marker=b&size=5000000", stop="C7=stop")
        wait_until_stopped(victim.pid)
        wait_until(lambda: has_pending_reply(server), "the server fills the pipe")
        victim.kill()
        victim.wait()
        w.expect_fresh("third")
        assert w.server_pid() == server
        w.expect_quiet()


def fault_04_loader_killed_while_loading():
    with world() as w:
        loader = w.start("marker=a", stop="C9.load=stop")
        wait_until_stopped(loader.pid)
        other = w.start("marker=b")
        w.wait_wants(2)
        loader.kill()
        killed(loader)
        assert w.finish(other).marker() == "b"
        w.expect_fresh()
        w.expect_quiet()


def fault_05_parent_killed_after_fork():
    with world() as w:
        killed(w.start("marker=a", stop="C9.forked=kill,S1=stop"))
        late = wait_until(w.processes, "the child is there")
        assert len(late) == 1, late
        wait_until_stopped(late[0])
        answer = w.ask("marker=b", step_ms=1000)  # who waits for the child's start, but not for ever
        assert answer.marker() == "b" and "others are just starting" in answer.said, answer.said
        os.kill(late[0], signal.SIGCONT)
        assert w.wait_server() == late[0]
        w.expect_fresh()
        assert w.loads() == 2 and w.processes() == late, (w.loads(), w.processes())
        w.expect_quiet()


def fault_06_child_killed_while_starting():
    for point in ("S2", "S3", "S4", "S4.renamed"):
        with world() as w:
            answer = w.ask("marker=a", stop=f"{point}=kill")
            assert answer.marker() == "a", point
            w.expect_fresh(f"after-{point}")
            assert w.wait_server()
            w.expect_fresh("again")
            w.expect_quiet()


def fault_07_idle_server_killed():
    with world() as w:
        w.expect_fresh("first")
        server = w.wait_server()
        os.kill(server, signal.SIGKILL)
        w.wait_end(server, "the server")
        w.expect_fresh("second")
        assert w.wait_server() != server
        w.expect_quiet()


def fault_08_server_killed_before_the_reply():
    with world() as w:
        w.ask("marker=first", stop="S7.computed=stop")  # the server inherits its stop point
        server = w.wait_server()
        first = w.start("marker=a")
        wait_until_stopped(server)
        second = w.start("marker=b", stop="C7=stop")
        wait_until_stopped(second.pid)  # it has asked, too, and waits for its reply
        os.kill(server, signal.SIGKILL)
        second.send_signal(signal.SIGCONT)
        assert w.finish(first).marker() == "a"
        assert w.finish(second).marker() == "b"
        assert not is_running(server)
        assert w.loads() == 2
        w.expect_fresh()
        w.expect_quiet()


def fault_09_server_killed_half_way_through_a_reply():
    with world() as w:
        w.ask("marker=first", stop="S7.written=kill")
        server = w.wait_server()
        answer = w.ask("marker=a&size=5000000")
        assert answer.marker() == "a" and answer.length_is_right() and len(answer.body) >= 5000000
        assert not is_running(server)
        w.expect_fresh()
        w.expect_quiet()


def fault_10_server_killed_while_ending():
    for point in ("T1", "T2", "T3", "T4", "T5"):
        with world() as w:
            w.ask("marker=first", stop=f"{point}=kill")
            server = w.wait_server()
            w.wait_end(server, f"the server, at {point},", w.idle_ms)
            w.expect_fresh(f"after-{point}")
            w.expect_quiet()


def start_many(w, queries):
    return [(marker, w.start(query)) for marker, query in queries]


def finish_many(w, processes):
    swapped = 0
    for marker, process in processes:
        answer = w.finish(process)
        assert answer.status == 200, answer.body[:200]
        assert answer.length_is_right()
        swapped += answer.marker() != marker
    assert swapped == 0


def fault_11_fifty_clients_and_no_server():
    with world() as w:
        loader = w.start("marker=loader", stop="C9.load=stop")
        wait_until_stopped(loader.pid)
        others = start_many(w, [(f"m{i}", f"marker=m{i}") for i in range(49)])
        w.wait_wants(50)
        loader.send_signal(signal.SIGCONT)
        finish_many(w, [("loader", loader), *others])
        assert w.loads() == 1, w.loads()
        assert len(w.processes()) == 1
        w.expect_quiet()


def rounds(count, largest):
    chance = random.Random(20)
    with world() as w:
        w.expect_fresh("first")
        for number in range(count):
            queries = []
            for i in range(50):
                size = int(10 ** chance.uniform(0, largest))
                marker = f"r{number}-{i}"
                queries.append((marker, f"marker={marker}&size={size}&delay={chance.choice((0, 0, 0, 1, 5))}"))
            finish_many(w, start_many(w, queries))
            for process in w.started:
                for stream in (process.stdout, process.stderr):
                    stream.close()
            w.started.clear()
            if (number + 1) % 500 == 0:
                print(f"# {number + 1} rounds of 50 clients: none swapped, lost or short", flush=True)
        assert w.loads() == 1, w.loads()
        assert w.ask("quit").status == 200
        w.expect_quiet()


def fault_12_rounds_of_fifty_clients():
    soak = int(os.environ.get("FATHOM_SOAK_ROUNDS", "0"))
    rounds(soak or 3, 7.3 if soak else 6.5)


def fault_13_client_around_the_idle_deadline():
    with world() as w:
        for slot in range(40):
            w.expect_fresh(f"s{slot}")
            # From before the deadline to after it; the server sees it while the client comes.
            w.advance(w.idle_ms - 20 + slot)
            w.expect_fresh(f"t{slot}")
            if slot == 0:
                assert w.loads() == 1, "it is not over yet"
        w.expect_quiet()


def fault_14_stopped_client_with_an_unread_reply():
    with world(CGI_REPLY_MS="1000") as w:
        w.expect_fresh("first")
        server = w.wait_server()
        slow = w.start("marker=a&size=5000000", stop="C7=stop")
        wait_until_stopped(slow.pid)
        wait_until(lambda: has_pending_reply(server), "the reply is pending")
        w.expect_fresh("second")
        w.wait_passing(lambda: not has_pending_reply(server), "that reply is dropped", 1000)
        slow.send_signal(signal.SIGCONT)
        answer = w.finish(slow)  # which asks again
        assert answer.marker() == "a" and answer.length_is_right(), answer.status
        w.expect_fresh("third")
        assert w.server_pid() == server and w.loads() == 1
        w.expect_quiet()


def fault_15_stopped_server():
    with world() as w:
        w.expect_fresh("first")
        server = w.wait_server()
        os.kill(server, signal.SIGSTOP)
        client = w.start("marker=a", stop="C7=stop", CGI_DEADLINE_MS="1500")
        wait_until_stopped(client.pid)
        w.advance(1500)
        client.send_signal(signal.SIGCONT)
        answer = w.finish(client)
        assert answer.status == 503, answer.status
        assert "retry-after" in answer.headers
        mutex = next(name for name in w.names() if name.endswith(".mutex"))
        with open(w.runtime / mutex, "r+b") as file:
            fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB)  # nobody holds it
        os.kill(server, signal.SIGCONT)
        w.expect_fresh("second")
        w.expect_quiet()


def fault_16_wall_clock_jumps():
    # The machine's clock is not ours to set: the code must read no wall clock to decide. The
    # preloaded library answers the realtime clock with a time that jumps a day to and fro.
    source = r"""
    #define _GNU_SOURCE
    #include <time.h>
    #include <sys/syscall.h>
    #include <unistd.h>
    static long shift(void) { static int calls; return (calls++ & 1) ? 86400 : -86400; }
    int clock_gettime(clockid_t id, struct timespec *t) {
        int r = (int)syscall(SYS_clock_gettime, id, t);
        if (id == CLOCK_REALTIME || id == CLOCK_REALTIME_COARSE) t->tv_sec += shift();
        return r;
    }
    time_t time(time_t *t) {
        struct timespec now; clock_gettime(CLOCK_REALTIME, &now);
        if (t) *t = now.tv_sec;
        return now.tv_sec;
    }
    """
    if "ASAN_OPTIONS" in os.environ and os.environ.get("FATHOM_SANITIZED") == "1":
        raise Skipped("a preloaded library does not go with AddressSanitizer")
    with tempfile.TemporaryDirectory() as folder:
        library = os.path.join(folder, "jump.so")
        built = subprocess.run(["cc", "-shared", "-fPIC", "-x", "c", "-o", library, "-"],
                               input=source.encode(), capture_output=True)
        assert built.returncode == 0, built.stderr
        with world(idle_ms=3_600_000, runs=True, LD_PRELOAD=library) as w:
            w.expect_fresh("first")
            server = w.wait_server()
            for i in range(20):  # for each the server looks at the time
                w.expect_fresh(f"m{i}")
            assert w.server_pid() == server and w.loads() == 1, "it ended early"
            w.expect_quiet()


def fault_17_full_disk():
    for point in ("C2.write=fail:28", "S3.write=fail:28", "S4.rename=fail:28"):
        with world() as w:
            answer = w.ask("marker=a", stop=point, once=False)
            assert answer.marker() == "a", point
            wait_until(lambda: not w.processes(), "the child has ended")
            left = [name for name in w.names() if not name.endswith(".mutex")]
            assert left == [], (point, left)
            w.expect_fresh()
            w.expect_quiet()
    if os.geteuid() != 0:
        raise Skipped("a small tmpfs needs root; failing system calls were injected")
    with world() as w:
        w.runtime.mkdir(mode=0o700)
        if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=4k,nr_inodes=2,mode=0700", "tmpfs",
                           str(w.runtime)], capture_output=True).returncode != 0:
            raise Skipped("tmpfs cannot be mounted here; failing system calls were injected")
        try:
            assert w.ask("marker=b").marker() == "b"
            wait_until(lambda: not w.processes(), "the child has ended")
        finally:
            subprocess.run(["umount", "-l", str(w.runtime)], check=True)


def fault_18_runtime_directory_that_cannot_be_trusted():
    with world() as w:  # a link
        elsewhere = w.folder / "elsewhere"
        elsewhere.mkdir(mode=0o700)
        w.runtime.symlink_to(elsewhere)
        assert w.ask("marker=a").marker() == "a"
        assert list(elsewhere.iterdir()) == [] and w.processes() == []
        w.runtime.unlink()
    with world() as w:  # others may enter
        w.runtime.mkdir()
        w.runtime.chmod(0o777)
        assert w.ask("marker=a").marker() == "a"
        assert w.names() == [] and w.processes() == []
    with world(CGI_RUNTIME="/nonexistent/deep/run") as w:  # cannot be made
        assert w.ask("marker=a").marker() == "a"
        assert w.processes() == []
    if os.geteuid() != 0:
        raise Skipped("a directory of another user needs root; links and modes were checked")
    with world() as w:
        w.runtime.mkdir(mode=0o700)
        os.chown(w.runtime, 12345, 12345)
        assert w.ask("marker=a").marker() == "a"
        assert w.names() == [] and w.processes() == []


def fault_19_stale_files():
    with world() as w:
        w.expect_fresh("first")
        server = w.wait_server()
        key = next(name for name in w.names() if name.endswith(".server"))[:-len(".server")]
        w.expect_quiet()
        for kind in ("fifo", "regular", "link"):
            token = "0" * 40
            for name in (".mutex", ".server", f".want.{token}"):
                (w.runtime / (key + name)).write_text("yesterday")
                os.utime(w.runtime / (key + name), (1, 1))
            os.mkfifo(w.runtime / f"{key}.reply.{token}", 0o600)
            target = w.folder / "target"
            target.write_text("untouched")
            query = w.runtime / (key + ".query")
            if kind == "fifo":
                os.mkfifo(query, 0o600)
            elif kind == "regular":
                query.write_text("not a FIFO")
            else:
                query.symlink_to(target)
            w.expect_fresh(f"after-{kind}")
            assert w.wait_server() != server
            w.expect_fresh("again")
            assert target.read_text() == "untouched"
            w.expect_quiet()


def fault_20_data_file_changes():
    with world() as w:
        assert w.expect_fresh("first").data() == "one"
        server = w.wait_server()
        times = os.stat(w.data)
        w.data.write_text("two")  # same size, and then the same times
        os.utime(w.data, ns=(times.st_atime_ns, times.st_mtime_ns))
        assert w.expect_fresh("second").data() == "two"
        w.wait_end(server, "the old server, long before the idle time,", 5000)
        replacement = w.folder / "new"
        replacement.write_text("six")
        replacement.rename(w.data)
        assert w.expect_fresh("third").data() == "six"
    with world() as w:  # changed while it is loaded
        loader = w.start("marker=a", stop="C9.load=stop")
        wait_until_stopped(loader.pid)
        w.data.write_text("")
        loader.send_signal(signal.SIGCONT)
        w.finish(loader)
        assert w.processes() == [], "no server from a half-read file"
        w.data.write_text("new")
        assert w.expect_fresh().data() == "new"
        w.expect_quiet(files=False)


def fault_21_program_replaced():
    with world() as w:
        w.expect_fresh("first")
        old = w.wait_server()
        w.expect_fresh("second", CGI_BUILD="build-2")
        assert w.loads() == 2 and len(w.processes()) == 2
        assert is_running(old)
        w.expect_quiet()


def fault_22_quit():
    with world() as w:
        w.expect_fresh("first")
        flight = start_many(w, [(f"q{i}", f"marker=q{i}&delay=20") for i in range(10)])
        quits = [w.start("quit") for _ in range(2)]
        for marker, process in flight:
            assert w.finish(process).marker() == marker
        for process in quits:
            assert w.finish(process).status == 200
        # A client may have made a new one when the first had gone.
        wait_until(lambda: not w.processes() or (w.ask("quit") and not w.processes()),
                   "all servers have ended")
        loads = w.loads()
        assert w.ask("quit").status == 200  # no server: none is started
        assert w.processes() == [] and w.loads() == loads
        w.expect_quiet()
    with world() as w:
        for slot in range(10):  # racing the time-out
            w.expect_fresh(f"s{slot}")
            w.advance(w.idle_ms - 10 + 3 * slot)
            assert w.ask("quit").status == 200
        w.expect_quiet()


def fault_23_system_calls_fail():
    for stop in (f"C9.fork=fail:{errno.EAGAIN}", f"C9.fork=fail:{errno.ENOMEM}",
                 f"C9.pipe=fail:{errno.EMFILE}"):
        with world() as w:
            answer = w.ask("marker=a", stop=stop, once=False)
            assert answer.marker() == "a", stop
            assert w.processes() == []
            w.expect_fresh()
            w.expect_quiet()


def start_unanswered(w):
    """A client whose query the server has read, but not answered: it has stopped itself."""
    w.ask("marker=first", stop="S7.read=stop")  # the server inherits its stop point
    server = w.wait_server()
    client = w.start("marker=a")
    wait_until_stopped(server)
    return server, client


def fault_24_told_to_end():
    with world() as w:
        server, client = start_unanswered(w)
        os.kill(server, signal.SIGTERM)
        os.kill(server, signal.SIGCONT)
        assert w.finish(client).marker() == "a"  # the answer is completed
        w.wait_end(server, "the server")
        assert w.names() == [] and w.loads() == 1
    with world() as w:
        server, client = start_unanswered(w)
        client.terminate()
        client.wait(timeout=PATIENCE)
        assert not [name for name in w.names() if ".want." in name or ".reply." in name]
        os.kill(server, signal.SIGCONT)
        w.expect_fresh("second")
        assert w.server_pid() == server
        w.expect_quiet()


def fault_25_hostile_queries():
    with world() as w:
        w.expect_fresh("first")
        server = w.wait_server()
        long_query = w.folder / "long"
        long_query.write_text("marker=long&x=" + "y" * 1_000_000)
        answer = w.ask(f"@{long_query}")
        assert answer.marker() == "long" and b"query-bytes=1000014" in answer.body
        fifo = next(w.runtime / name for name in w.names() if name.endswith(".query"))
        chance = random.Random(5)
        for noise in (b"\0\n\0", b"x" * 63, bytes(64), chance.randbytes(60_000),
                      b"FMCQ" + bytes(60)):
            descriptor = os.open(fifo, os.O_WRONLY | os.O_NONBLOCK)
            os.write(descriptor, noise)
            os.close(descriptor)
            w.expect_fresh("after-noise")
        assert w.server_pid() == server
        assert w.loads() == 1
        w.expect_quiet()


def bytes_in(pipe):
    return struct.unpack("i", fcntl.ioctl(pipe, termios.FIONREAD, bytes(4)))[0]


def fault_26_browser_stops_reading():
    with world() as w:
        w.expect_fresh("first")
        server = w.wait_server()
        reader, writer = os.pipe()
        room = fcntl.fcntl(writer, fcntl.F_GETPIPE_SZ)
        stuck = w.start("marker=a&size=3000000", stdout=writer)
        os.close(writer)
        # All of it begins to be printed when the whole reply is there.
        wait_until(lambda: bytes_in(reader) > room // 2 and state_of(stuck.pid) == "S",
                   "the client waits for its browser")
        w.expect_fresh("second")
        assert w.server_pid() == server
        assert stuck.poll() is None
        os.close(reader)
        stuck.wait(timeout=PATIENCE)
        w.expect_quiet()


def fault_27_names_of_data_files():
    with world() as w:
        (w.folder / "a").mkdir()
        for path, content in (("a/b.data", "slash"), ("a:b.data", "colon"), ("a:.b.data", "dot")):
            (w.folder / path).write_text(content)
            path = str(w.folder / path)
            assert w.expect_fresh("x", CGI_DATA=path).data() == content
        assert len(w.processes()) == 3
        assert w.expect_fresh("y", CGI_DATA=str(w.folder / "a/b.data")).data() == "slash"
        assert len(w.processes()) == 3
        w.expect_quiet()


def main():
    found = sorted((name, function) for name, function in globals().items()
                   if name.startswith("fault_"))
    return run_tests([(name[6:].replace("_", " "), function) for name, function in found])


sys.exit(main())

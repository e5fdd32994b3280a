#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A C program that logs, and `fathom log` at the other end: test_log_live.py FATHOM PROGRAM."""
import concurrent.futures
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile

from patience import PATIENCE, wait_until
from tap import Tap

FATHOM, PROGRAM = sys.argv[1:3]
FOLDER = pathlib.Path(tempfile.mkdtemp(prefix="fathom-live-"))
THREADS, EVENTS = 3, 20000
WAIT = str(PATIENCE)


def run(*arguments, status=0):
    done = subprocess.run([FATHOM, "log", *map(str, arguments)], capture_output=True, timeout=PATIENCE)
    assert done.returncode == status, (arguments, done.returncode, done.stdout[-300:],
                                       done.stderr[-300:])
    return done


def program(*arguments):
    return subprocess.Popen([PROGRAM, *map(str, arguments)], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                            text=True, env={**os.environ, "LIVE_STAY": "1"})


def ends(process):
    """It stays until then: at its end it waits two seconds only for clients that have not read all."""
    process.communicate(timeout=PATIENCE)
    return process.returncode == 0


def listening(address, *arguments):
    """A program that listens already, and its address with the port that it got."""
    process = program(address, *arguments)
    return process, with_port(address, process.stdout.readline())


def with_port(address, line):
    assert line.startswith("listening on "), line
    return address.removesuffix(":0") + ":" + line.split()[-1] if address.endswith(":0") else address


def receiver(log, address, *options):
    log.unlink(missing_ok=True)
    return subprocess.Popen([FATHOM, "log", "recv", *options, "-o", log, address], stderr=subprocess.DEVNULL)


def has_all(log):
    wait_until(lambda: b"all done" in log.read_bytes(), "the last event has come")


def receive(process, log, address, *options):
    started = receiver(log, address, *options)
    has_all(log)
    assert ends(process) and started.wait(timeout=PATIENCE) == 0


def check(log, threads=THREADS, events=EVENTS):
    run("validate", log)
    got = json.loads(run("stat", "--json", log).stdout)
    assert got["types"]["Counter"] == threads * events, got["types"]
    assert got["types"]["SpanBegin"] == got["types"]["SpanEnd"] == threads
    assert got["types"]["UserMarker"] == 1 and got["gaps"] == []
    return got


def a_file():
    log = FOLDER / "file.eventlog"
    assert ends(program(log, THREADS, EVENTS))
    assert check(log)["finished"]
    text = run("cat", "--sort", "--type", "SpanBegin", log).stdout.decode()
    assert text.count('"work"') == THREADS


def plain_streams():
    for address in (f"unix:{FOLDER}/socket", "tcp:127.0.0.1:0"):
        log = FOLDER / "plain.eventlog"
        process, address = listening(address, THREADS, EVENTS)
        receive(process, log, address)
        assert check(log)["finished"]


def a_program_that_listens_later():
    address, log = f"unix:{FOLDER}/later", FOLDER / "later.eventlog"
    started = receiver(log, address, "--wait", WAIT)
    wait_until(lambda: asleep(started.pid), "it waits for the program")
    process = program(address, THREADS, EVENTS)
    has_all(log)
    assert ends(process) and started.wait(timeout=PATIENCE) == 0
    assert check(log)["finished"]


def asleep(pid):
    return pathlib.Path(f"/proc/{pid}/syscall").read_text().startswith("230 ")  # clock_nanosleep


def follow():
    process, address = listening(f"unix:{FOLDER}/followed", THREADS, EVENTS)
    with subprocess.Popen([FATHOM, "log", "follow", "--type", "SpanEnd", "--type", "UserMarker", address],
                          stdout=subprocess.PIPE, text=True) as following:
        lines = [following.stdout.readline() for _ in range(THREADS + 1)]
        assert ends(process) and following.wait(timeout=PATIENCE) == 0 and following.stdout.read() == ""
    assert sum("SpanEnd" in line for line in lines) == THREADS, lines
    assert sum('UserMarker text="all done"' in line for line in lines) == 1, lines


def monitor_frames():
    log = FOLDER / "monitor.eventlog"
    process, address = listening("monitor:127.0.0.1:0", THREADS, EVENTS)
    receive(process, log, address)
    check(log)


def monitor_datagrams():
    """They have no end of their own: what receives them is asked to end."""
    log = FOLDER / "datagrams.eventlog"
    process, address = listening("udp:127.0.0.1:0", 1, 50)
    started = receiver(log, address, "--idle", WAIT)
    has_all(log)
    assert ends(process)
    started.send_signal(signal.SIGINT)
    assert started.wait(timeout=PATIENCE) == 0
    check(log, 1, 50)


def control():
    for command, status, said in (("flush", 0, "fathom/1: 0 (done)"),
                                  ("program/1", 0, "program/1: 0"),
                                  ("program/2", 1, "program/2: 7"),
                                  ("program/3", 1, "program/3: 251 (unknown number)"),
                                  ("prog/1", 1, "prog/1: 250 (unknown name space)")):
        # The program waits for its first client; that one only sends the command.
        process, address = listening(f"unix:{FOLDER}/controlled", 1, EVENTS)
        out = run("control", "--timeout", WAIT, address, command, status=status).stdout.decode()
        assert said in out, out
        assert ends(process)


def token():
    log = FOLDER / "token.eventlog"
    process, address = listening("tcp:0.0.0.0:0", THREADS, EVENTS, "secret")
    receive(process, log, address.replace("0.0.0.0", "127.0.0.1"), "--token", "secret")
    check(log)


def refused_at(address):
    """Who sends no token is told after some seconds: these wait beside each other."""
    log = FOLDER / f"refused-{address.split(':')[0]}.eventlog"
    process, address = listening(address, 1, 10, "secret")
    wrong = run("recv", "--token", "wrong", "-o", log, address, status=1)
    assert b"token is wrong" in wrong.stderr, wrong
    followed = run("follow", "--idle", WAIT, "--token", "x", address, status=1)
    assert b"token is wrong" in followed.stderr, followed
    with concurrent.futures.ThreadPoolExecutor() as waiting:
        missing = [waiting.submit(run, "recv", "--idle", WAIT, "-o", log, address, status=1)]
        if address[:4] in ("unix", "tcp:"):
            missing.append(waiting.submit(run, "control", address, "flush", status=1))
        for told in missing:
            assert b"requires a token" in told.result().stderr, told.result()
    started = receiver(log, address, "--token", "secret", "--idle", WAIT)
    has_all(log)
    assert ends(process)
    if address.startswith("udp:"):
        started.send_signal(signal.SIGINT)
    assert started.wait(timeout=PATIENCE) == 0


def refusals():
    """Every transport says why it serves no log, and the exit status is 1."""
    with concurrent.futures.ThreadPoolExecutor() as beside:
        for done in [beside.submit(refused_at, address) for address in (
                f"unix:{FOLDER}/refusing", "tcp:127.0.0.1:0", "monitor:127.0.0.1:0", "udp:127.0.0.1:0")]:
            done.result()


def refusals_of_send():
    source, log = FOLDER / "sent.eventlog", FOLDER / "refused.eventlog"
    assert ends(program(source, 1, 10))
    for address in ("tcp:127.0.0.1:0", "monitor:127.0.0.1:0"):
        server = subprocess.Popen([FATHOM, "log", "send", "--listen", "--clients", "2", "--token",
                                   "secret", source, address], stdout=subprocess.PIPE,
                                  stderr=subprocess.DEVNULL, text=True)
        address = with_port(address, server.stdout.readline())
        wrong = run("recv", "--token", "wrong", "-o", log, address, status=1)
        assert b"token is wrong" in wrong.stderr, wrong
        run("recv", "--token", "secret", "-o", log, address)
        assert server.wait(timeout=PATIENCE) == 0


TESTS = [refusals, refusals_of_send, a_file, plain_streams, a_program_that_listens_later, follow, monitor_frames,
         monitor_datagrams, control, token]


def main():
    tap = Tap()
    for test in TESTS:
        tap.case(test)
    subprocess.run(["rm", "-rf", FOLDER], check=True)
    return tap.done()


sys.exit(main())

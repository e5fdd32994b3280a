#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A C program that logs, and `fathom log` at the other end: log_live_test.py FATHOM PROGRAM."""
import json
import pathlib
import socket
import subprocess
import sys
import tempfile
import time
import traceback

FATHOM, PROGRAM = sys.argv[1:3]
FOLDER = pathlib.Path(tempfile.mkdtemp(prefix="fathom-live-"))
THREADS, EVENTS = 3, 20000


def run(*arguments, status=0):
    done = subprocess.run([FATHOM, "log", *map(str, arguments)], capture_output=True, timeout=60)
    assert done.returncode == status, (arguments, done.returncode, done.stdout[-300:],
                                       done.stderr[-300:])
    return done


def program(*arguments):
    return subprocess.Popen([PROGRAM, *map(str, arguments)])


def free_port(kind=socket.SOCK_STREAM):
    with socket.socket(type=kind) as chosen:
        chosen.bind(("127.0.0.1", 0))
        return chosen.getsockname()[1]


def check(log, threads=THREADS, events=EVENTS):
    run("validate", log)
    got = json.loads(run("stat", "--json", log).stdout)
    assert got["types"]["Counter"] == threads * events, got["types"]
    assert got["types"]["SpanBegin"] == got["types"]["SpanEnd"] == threads
    assert got["types"]["UserMarker"] == 1 and got["gaps"] == []
    return got


def a_file():
    log = FOLDER / "file.eventlog"
    assert program(log, THREADS, EVENTS).wait(timeout=60) == 0
    assert check(log)["finished"]
    text = run("cat", "--sort", "--type", "SpanBegin", log).stdout.decode()
    assert text.count('"work"') == THREADS


def plain_streams():
    for address in (f"unix:{FOLDER}/socket", f"tcp:127.0.0.1:{free_port()}"):
        log = FOLDER / "plain.eventlog"
        process = program(address, THREADS, EVENTS)
        run("recv", "--wait", "60", "-o", log, address)
        assert process.wait(timeout=60) == 0
        assert check(log)["finished"]


def follow():
    address = f"unix:{FOLDER}/followed"
    process = program(address, THREADS, EVENTS)
    text = run("follow", "--wait", "60", "--type", "SpanEnd", "--type", "UserMarker",
               address).stdout.decode()
    assert process.wait(timeout=60) == 0
    assert text.count("SpanEnd") == THREADS and 'UserMarker text="all done"' in text


def monitor_frames():
    address = f"monitor:127.0.0.1:{free_port()}"
    log = FOLDER / "monitor.eventlog"
    process = program(address, THREADS, EVENTS)
    run("recv", "--wait", "60", "-o", log, address)
    assert process.wait(timeout=60) == 0
    check(log)


def monitor_datagrams():
    address = f"udp:127.0.0.1:{free_port(socket.SOCK_DGRAM)}"
    log = FOLDER / "datagrams.eventlog"
    process = program(address, 1, 50)
    time.sleep(0.3)
    run("recv", "--idle", "2", "-o", log, address)
    assert process.wait(timeout=60) == 0
    check(log, 1, 50)


def control():
    address = f"unix:{FOLDER}/controlled"
    for command, status, said in (("flush", 0, "fathom/1: 0 (done)"),
                                  ("program/1", 0, "program/1: 0"),
                                  ("program/2", 1, "program/2: 7"),
                                  ("program/3", 1, "program/3: 251 (unknown number)"),
                                  ("prog/1", 1, "prog/1: 250 (unknown name space)")):
        # The program waits for its first client; that one only sends the command.
        process = program(address, 1, 3000000)
        for _ in range(200):
            if (FOLDER / "controlled").exists():
                break
            time.sleep(0.02)
        out = run("control", "--timeout", "20", address, command, status=status).stdout.decode()
        assert said in out, out
        assert process.wait(timeout=60) == 0


def token():
    port = free_port()
    process = program(f"tcp:0.0.0.0:{port}", THREADS, EVENTS, "secret")
    log = FOLDER / "token.eventlog"
    run("recv", "--wait", "60", "--token", "secret", "-o", log, f"tcp:127.0.0.1:{port}")
    assert process.wait(timeout=60) == 0
    check(log)


def refusals():
    """Every transport says why it serves no log, and the exit status is 1."""
    log = FOLDER / "refused.eventlog"
    addresses = [f"unix:{FOLDER}/refusing", f"tcp:127.0.0.1:{free_port()}",
                 f"monitor:127.0.0.1:{free_port()}", f"udp:127.0.0.1:{free_port(socket.SOCK_DGRAM)}"]
    for address in addresses:
        process = program(address, 1, 10, "secret")
        for _ in range(200):  # until it listens
            wrong = subprocess.run([FATHOM, "log", "recv", "--wait", "5", "--token", "wrong", "-o",
                                    log, address], capture_output=True, timeout=60)
            if b"token is wrong" in wrong.stderr:
                break
            time.sleep(0.05)
        assert wrong.returncode == 1 and b"token is wrong" in wrong.stderr, wrong
        missing = run("recv", "--wait", "5", "--idle", "30", "-o", log, address, status=1)
        assert b"wants a token" in missing.stderr, missing
        followed = run("follow", "--wait", "5", "--idle", "30", "--token", "x", address, status=1)
        assert b"token is wrong" in followed.stderr, followed
        if address[:4] in ("unix", "tcp:"):
            told = run("control", address, "flush", status=1)
            assert b"wants a token" in told.stderr, told
        run("recv", "--wait", "5", "--token", "secret", "-o", log, address)
        assert process.wait(timeout=60) == 0


def refusals_of_send():
    source, log = FOLDER / "sent.eventlog", FOLDER / "refused.eventlog"
    assert program(source, 1, 10).wait(timeout=60) == 0
    for address in (f"tcp:127.0.0.1:{free_port()}", f"monitor:127.0.0.1:{free_port()}"):
        server = subprocess.Popen([FATHOM, "log", "send", "--listen", "--clients", "2", "--token",
                                   "secret", source, address], stdout=subprocess.DEVNULL,
                                  stderr=subprocess.DEVNULL)
        wrong = run("recv", "--wait", "60", "--token", "wrong", "-o", log, address, status=1)
        assert b"token is wrong" in wrong.stderr, wrong
        run("recv", "--wait", "60", "--token", "secret", "-o", log, address)
        server.wait(timeout=60)


TESTS = [refusals, refusals_of_send, a_file, plain_streams, follow, monitor_frames, monitor_datagrams, control, token]


def main():
    print(f"1..{len(TESTS)}")
    failures = 0
    for number, test in enumerate(TESTS, 1):
        name = test.__name__.replace("_", " ")
        try:
            test()
            print(f"ok {number} {name}")
        except Exception:  # a test that raises anything has failed
            failures += 1
            print("# " + traceback.format_exc().replace("\n", "\n# "))
            print(f"not ok {number} {name}")
    subprocess.run(["rm", "-rf", FOLDER], check=True)
    return 1 if failures else 0


sys.exit(main())

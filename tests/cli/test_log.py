#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The commands of `fathom log`, from outside: test_log.py FATHOM GENERATOR. Speaks TAP."""
import csv
import io
import json
import os
import pathlib
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time

from patience import PATIENCE, wait_until
from tap import Tap

FATHOM, GENERATOR = sys.argv[1:3]
SAMPLES = pathlib.Path(os.environ.get("FATHOM_SAMPLE_DATA", "/nonexistent")) / "eventlog"
FOLDER = pathlib.Path(tempfile.mkdtemp(prefix="fathom-log-"))
LOG = FOLDER / "made.eventlog"


def run(*arguments, status=0, **options):
    done = subprocess.run([FATHOM, "log", *map(str, arguments)], capture_output=True, timeout=PATIENCE,
                          **options)
    assert done.returncode == status, (arguments, done.returncode, done.stderr)
    return done


def start(*arguments, **options):
    return subprocess.Popen([FATHOM, "log", *map(str, arguments)], stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE, **options)


def finish(process, status=0):
    out, err = process.communicate(timeout=PATIENCE)
    assert process.returncode == status, (process.args, process.returncode, err)
    return out, err


def stat(path, status=0, **options):
    return json.loads(run("stat", "--json", path, status=status, **options).stdout)


def events_of(path, *arguments):
    text = run("cat", "--csv", path, *arguments).stdout.decode()
    return list(csv.reader(io.StringIO(text, newline="")))[1:]


def listening(*arguments, said_on="stdout"):
    """A command with --listen whose last argument is an address, and that with the port that it got."""
    process, address = start(*arguments), arguments[-1]
    line = getattr(process, said_on).readline().decode()
    if address.startswith("unix:"):
        assert line == f"listening on {address[5:]}\n", line
        return process, address
    assert line.startswith("listening on port "), line
    return process, address.removesuffix(":0") + ":" + line.split()[-1]


def expected_of(path):
    wanted = {"types": {}, "capabilities": {}}
    for line in path.read_text().splitlines():
        words = line.split()
        if words[0] == "type":
            wanted["types"][words[1]] = int(words[2])
        elif words[0] == "cap":
            wanted["capabilities"][words[1]] = int(words[2])
        elif words[0] != "stderr:":
            wanted[words[0]] = int(words[1])
    return wanted


def stat_equals_the_expected_counts():
    files = sorted(SAMPLES.glob("*.expected.txt"))
    if not files:
        return "the real recordings are not there"
    assert len(files) >= 7
    for path in files:
        log = SAMPLES / path.name.replace(".expected.txt", ".eventlog")
        if path.read_text().startswith("stderr:"):
            refused = run("stat", log, status=1)
            assert b"not enough bytes" in refused.stderr and refused.stdout == b""
            refused = run("stat", "--json", log, status=1)
            assert refused.stdout == b""
            continue
        got = stat(log)
        for key, value in expected_of(path).items():
            assert got[key] == value, (log, key, got[key], value)
        lines = run("stat", log).stdout.decode().splitlines()
        assert path.read_text().splitlines() == lines[:len(path.read_text().splitlines())]
        told = [json.loads(line) for line in run("cat", "--json", "--type", "WallClockTime", log).stdout.splitlines()]
        begun = told[0]["fields"]["seconds"] * 10**9 + told[0]["fields"]["nanoseconds"] - told[0]["time_ns"] if told else 0
        day = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(begun // 10**9))
        utc = f"{day}.{begun % 10**9:09}Z" if told else None
        assert got.get("time_0_utc") == utc and (f"time_0_utc {utc}" in lines) == bool(told), (log, utc)
        with open(log, "rb") as source:
            piped = subprocess.Popen(["cat"], stdin=source, stdout=subprocess.PIPE)
            assert stat("-", stdin=piped.stdout)["types"] == got["types"]
            piped.stdout.close()
            piped.wait()
    return None


def stat_of_a_made_log():
    got = stat(LOG)
    assert got["events"] == 20000 and sum(got["types"].values()) == 20000
    assert got["capabilities"] == {"0": 6667, "1": 6667, "2": 6666}
    assert got["finished"] is True and got["gaps"] == [] and got["trailing_error"] is None
    assert got["span_ns"] == got["max_ns"] - got["min_ns"]
    cells = stat_cells = json.loads(run("stat", "--json", "--by-capability", LOG).stdout)
    for capability, types in cells["types_by_capability"].items():
        assert sum(types.values()) == stat_cells["capabilities"][capability]


def csv_of_one_type():
    """A column for each field; with several types the fields are one."""
    events = [json.loads(line) for line in run("cat", "--json", "--type", "StopThread", LOG).stdout.splitlines()]
    text = run("cat", "--csv", "--type", "StopThread", LOG).stdout.decode()
    rows = list(csv.DictReader(io.StringIO(text, newline="")))
    assert len(events) > 0 and [
        {"time_ns": int(row["time_ns"]), "type": row["type"], "fields": {
            name: int(row[name]) for name in row if name not in ("time_ns", "capability", "type")}} for row in rows] == [
        {name: event[name] for name in ("time_ns", "type", "fields")} for event in events], text[:500]
    both = run("cat", "--csv", "--type", "StopThread", "--type", "RunThread", LOG).stdout
    assert both.startswith(b"time_ns,capability,type,fields\r\n")


def stat_by(path, word, *arguments, **options):
    page = json.loads(run("stat", "--json", "--by", word, *arguments, path, **options).stdout)
    return page["facts"], [row["cells"] for row in page["tables"][0]["rows"]]


def statistics_of_a_made_log():
    facts, types = stat_by(LOG, "type")
    counted = stat(LOG)
    assert facts["events"] == 20000
    assert {row["type"]: row["events"] for row in types} == counted["types"]
    assert (facts["start_ns"], facts["end_ns"]) == (counted["min_ns"], counted["max_ns"])
    middle = (counted["min_ns"] + counted["max_ns"]) // 2
    first = stat_by(LOG, "type", "--to", f"{middle}ns")[0]["events"]
    second = stat_by(LOG, "type", "--from", f"{middle}ns")[0]["events"]
    assert 0 < first < 20000 and first + second == 20000
    # The parts of an interval add up to the whole, state by state.
    def times(*arguments):
        return {(row["lanes"], row["state"]): round(row["own_time_seconds"] * 1e9)
                for row in stat_by(LOG, "state", *arguments)[1]}
    # The last event itself is in the second half only: its time is the end of both.
    whole, parts = times(), [times("--to", f"{middle}ns"), times("--from", f"{middle}ns")]
    assert whole
    for key, time in whole.items():
        assert sum(part.get(key, 0) for part in parts) == time, key
    for line in csv.DictReader(io.StringIO(run("stat", "--by", "state", "--csv", LOG)
                                           .stdout.decode())):
        key = (line["lanes"], line["state"])
        assert round(float(line["own_time_seconds"]) * 1e9) == whole[key]
    assert run("stat", "--by", "tree", LOG).stdout.startswith(b"Depth | Name")
    for arguments in (("--by", "nonsense"), ("--from", "1s"), ("--csv",),
                      ("--by", "state", "--json", "--csv"), ("--by", "state", "--from", "x"),
                      ("--by", "state", "--from", "0x10"), ("--by", "type", "--to", "-1s"),
                      ("--by", "state", "--from", "9223372036.854775806s"),
                      ("--by", "tree", "--json", "--from", "1000s", "--to", "2000s"),
                      ("--by", "thread", "--csv", "--from", f"{middle}ns", "--to", f"{middle - 1}ns")):
        done = run("stat", *arguments, LOG, status=2)
        assert not done.stdout and b"CRITICAL" not in done.stderr, (arguments, done)
    run("stat", "--by", "state", FOLDER / "missing", status=1)


def statistics_of_the_real_logs():
    if not SAMPLES.exists():
        return "the real recordings are not there"
    for name in ("conc-state", "sparks-state", "marks-state", "profhc-state", "conc-type",
                 "sparks-capability", "sparks-sparks", "profhc-heap", "marks-collector",
                 "conc-task"):
        log, word = name.split("-")
        text = run("stat", "--by", word, SAMPLES / f"{log}.eventlog").stdout.decode()
        golden = pathlib.Path(__file__).parent / "golden" / "log" / f"{name}.txt"
        if "FATHOM_UPDATE_GOLDEN" in os.environ:
            golden.parent.mkdir(exist_ok=True)
            golden.write_text(text)
        assert golden.read_text() == text, name
    damaged = run("stat", "--by", "type", SAMPLES / "trunc_mid.eventlog", status=1)
    assert b"499996" in damaged.stderr and b"RunThread" in damaged.stdout
    return None


def cat_filters():
    everything = events_of(LOG)
    assert len(everything) == 20000
    some = events_of(LOG, "--type", "RunThread", "--type", "2", "--cap", "1")
    assert some == [e for e in everything if e[2] in ("RunThread", "StopThread") and e[1] == "1"]
    first, last = 300000, 500000
    part = events_of(LOG, "--from", f"{first}ns", "--to", "500us")
    assert part == [e for e in everything if first <= int(e[0]) <= last] and part
    ordered = events_of(LOG, "--sort")
    assert ordered == sorted(everything, key=lambda e: (int(e[0]), int(e[1])))
    assert events_of(LOG, "--sort", "--from", f"{first}ns", "--to", f"{last}ns") == [
        e for e in ordered if first <= int(e[0]) <= last]
    lines = run("cat", "--json", LOG).stdout.decode().splitlines()
    assert [json.loads(line)["time_ns"] for line in lines] == [int(e[0]) for e in everything]
    run("cat", "--type", "Nonsense", LOG, status=2)
    run("cat", "--from", "soon", LOG, status=2)
    run("cat", "--format", "xml", LOG, status=2)
    run("cat", FOLDER / "missing", status=1)


def cut_gives_a_valid_log():
    out = FOLDER / "cut.eventlog"
    run("cut", "--from", "300us", "--to", "500us", "-o", out, LOG)
    run("validate", out)
    assert events_of(out) == events_of(LOG, "--from", "300us", "--to", "500us")
    assert stat(out)["finished"] is True
    run("cut", "-o", out, LOG)
    assert events_of(out) == events_of(LOG)
    run("cut", "-o", LOG, LOG, status=2)
    assert stat(LOG)["events"] == 20000


def a_range_ends_where_it_begins_or_later():
    out = FOLDER / "never.eventlog"
    for command in (["cut", "-o", out], ["cat"], ["stat", "--by", "state"]):
        done = run(*command, "--from", "2", "--to", "1ms", LOG, status=2)
        assert b"--from 2 is after --to 1ms" in done.stderr, (command, done.stderr)
    assert not out.exists()
    run("cut", "--from", "300us", "--to", "300us", "-o", out, LOG)
    assert stat(out)["events"] < stat(LOG)["events"]


def validate_finds_what_is_broken():
    assert b"0 problems, 0 notes" in run("validate", LOG).stdout
    good = LOG.read_bytes()
    begin = good.index(b"datb") + 4
    size = struct.unpack(">I", good[begin + 10:begin + 14])[0]
    begin_ns = struct.unpack(">Q", good[begin + 2:begin + 10])[0]

    def broken(change, expected, status=1):
        data = bytearray(good)
        change(data)
        path = FOLDER / "broken.eventlog"
        path.write_bytes(data)
        out = run("validate", path, status=status).stdout.decode()
        assert expected in out, (expected, out[:400])

    def poke(at, data):
        return lambda log: log.__setitem__(slice(at, at + len(data)), data)

    broken(poke(begin + 24, b"\x77\x77"), f"offset {begin + 24}: event number 30583 is not decl")
    broken(poke(begin + 14, bytes(8)), f"offset {begin}: the block ends at 0 ns, before its begin "
           f"at {begin_ns} ns")
    broken(poke(begin + 10, bytes(12)), "note: a block that was never closed", status=0)
    broken(poke(begin + 10, struct.pack(">I", size + 5)), f"expected it at {begin + size + 5}")
    broken(poke(begin + 10, struct.pack(">I", 24)), "stands in no block")
    again = begin + size  # the next block of the same capability
    while good[again + 22:again + 24] != good[begin + 22:begin + 24]:
        again += struct.unpack(">I", good[again + 10:again + 14])[0]
    broken(poke(again + 2, bytes(8)), "expected not before the end of the block before")
    broken(lambda log: log.extend(b"more"), f"offset {len(good)}: 4 bytes follow the end mark")
    broken(lambda log: log.__delitem__(slice(-2, None)), "note: not finished", status=0)
    broken(lambda log: log.__delitem__(slice(-9, None)), "bytes of an incomplete event")
    run("validate", "/dev/null", status=1)
    run("validate", FOLDER, status=1)
    odd = FOLDER / "odd\x1b[31m\nname.eventlog"
    odd.write_bytes(good + b"more")
    told = run("validate", odd, status=1).stdout.decode().splitlines()
    shown = f"{FOLDER}/odd\\033[31m\\nname.eventlog: "
    assert len(told) == 2 and all(line.startswith(shown) for line in told), told


def damage_is_reported_and_survived():
    data = bytearray(LOG.read_bytes())
    begin = data.index(b"datb") + 4
    size = struct.unpack(">I", data[begin + 10:begin + 14])[0]
    data[begin + 24:begin + 26] = b"\x77\x77"
    path = FOLDER / "damaged.eventlog"
    path.write_bytes(data)
    got = stat(path, status=1)
    assert got["gaps"] == [{"offset": begin + 24, "bytes": size - 24,
                            "reason": "event number 30583 is not declared in the header"}]
    assert 0 < got["events"] < 20000 and got["finished"]
    done = run("cat", path, status=1)
    assert len(done.stdout.splitlines()) == got["events"]
    assert f"offset {begin + 24}".encode() in done.stderr


def follow_a_file_that_grows():
    path = FOLDER / "growing.eventlog"
    data = LOG.read_bytes()
    process = start("follow", "--csv", "--wait", str(PATIENCE), path)
    wait_until(lambda: pathlib.Path(f"/proc/{process.pid}/syscall").read_text().startswith("230 "),
               "it sleeps (clock_nanosleep) until there is a file")
    with open(path, "wb", buffering=0) as out:
        for at in range(0, len(data), 40001):
            out.write(data[at:at + 40001])
            time.sleep(0.02)
    got, err = finish(process)
    assert got == run("cat", "--sort", "--csv", LOG).stdout and err == b""


def follow_in_the_order_of_arrival():
    assert run("follow", "--hold", "0", "--csv", LOG).stdout == run("cat", "--csv", LOG).stdout


def follow_begins_again_when_the_file_is_replaced():
    path = FOLDER / "replaced.eventlog"
    data = LOG.read_bytes()
    path.write_bytes(data[:-2])
    process = start("follow", "--csv", path)
    lines = [process.stdout.readline() for _ in range(20001)]
    other = FOLDER / "other"
    other.write_bytes(data)
    os.rename(other, path)
    rest, err = finish(process)
    assert b"replaced" in err
    assert rest.splitlines(keepends=True) == lines[1:]


def follow_a_pipe_byte_by_byte():
    out = FOLDER / "short.eventlog"
    subprocess.run([GENERATOR, "--events", "300", "--caps", "2", "--block", "1000", out],
                   check=True)
    data = out.read_bytes()
    process = start("follow", "--json", "-", stdin=subprocess.PIPE)
    for at in range(len(data)):
        os.write(process.stdin.fileno(), data[at:at + 1])
    got, _ = finish(process)
    assert got == run("cat", "--sort", "--json", out).stdout


def follow_stops_cleanly_when_asked():
    path = FOLDER / "unfinished.eventlog"
    path.write_bytes(LOG.read_bytes()[:-2])
    process = start("follow", "--csv", path)
    for _ in range(20001):
        process.stdout.readline()
    process.send_signal(signal.SIGINT)
    assert finish(process) == (b"", b"")
    out, _ = finish(start("follow", "--csv", "--idle", "0.2", path))
    assert len(out.splitlines()) == 20001
    fifo = FOLDER / "fifo"
    os.mkfifo(fifo)
    process = start("follow", "--csv", fifo)
    with open(fifo, "wb") as end:
        end.write(path.read_bytes()[:-3])
    out, err = finish(process)
    assert b"incomplete event" in err and len(out.splitlines()) == 20000


def plain_streams():
    for address in (f"unix:{FOLDER}/socket", "tcp:127.0.0.1:0"):
        server, address = listening("send", "--listen", "--clients", "3", LOG, address)
        if address.startswith("unix:"):
            assert os.stat(address[5:]).st_mode & 0o777 == 0o600
        received = FOLDER / "received.eventlog"
        clients = [start("recv", "-o", f"{received}.{n}", address) for n in range(2)]
        followed, _ = finish(start("follow", "--csv", address))
        for n, client in enumerate(clients):
            finish(client)
            assert pathlib.Path(f"{received}.{n}").read_bytes() == LOG.read_bytes()
        finish(server)
        assert followed == run("cat", "--sort", "--csv", LOG).stdout
    for address in (f"unix:{FOLDER}/socket", "tcp:127.0.0.1:0"):
        receiver, address = listening("recv", "--listen", "-o", received, address, said_on="stderr")
        run("send", LOG, address)
        finish(receiver)
        assert received.read_bytes() == LOG.read_bytes()


def monitor_streams():
    for options in ([], ["--payload-max", "16"], ["--payload-max", "64", "--single-events"]):
        server, address = listening("send", "--listen", *options, LOG, "monitor:127.0.0.1:0")
        received = FOLDER / "monitored.eventlog"
        run("recv", "-o", received, address)
        finish(server)
        assert received.read_bytes() == LOG.read_bytes()
    short = FOLDER / "short.eventlog"
    subprocess.run([GENERATOR, "--events", "300", "--caps", "2", "--block", "1000", short],
                   check=True)
    server, address = listening("send", "--listen", "--payload-max", "30", short, "udp:127.0.0.1:0")
    receiver = start("recv", "--idle", str(PATIENCE), "-o", received, address)
    finish(server)
    expected = short.read_bytes()[:-2]  # datagrams have no end
    wait_until(lambda: received.read_bytes() == expected, "all datagrams have come")
    receiver.send_signal(signal.SIGINT)
    finish(receiver)
    run("validate", received)


def recv_ends_when_nothing_comes():
    received = FOLDER / "idle.eventlog"
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        server.listen(1)
        done = run("recv", "--idle", "0.2", "-o", received, f"tcp:127.0.0.1:{server.getsockname()[1]}")
    assert b"0 events received" in done.stderr and received.read_bytes() == b""


def write_log(path, blocks):
    """blocks: (begin, end, events) of capability 0, events: (time, number, payload)."""
    sizes = {0: 4, 1: 4, 18: 14, 44: -1}
    types = b"".join(b"etb\0" + struct.pack(">HhII", number, size, 0, 0) + b"ete\0"
                     for number, size in sizes.items())
    log = b"hdrbhetb" + types + b"hetehdredatb"
    for begin, end, events in blocks:
        data = b"".join(struct.pack(">HQ", number, at) + payload for at, number, payload in events)
        log += struct.pack(">HQIQH", 18, begin, 24 + len(data), end, 0) + data
    path.write_bytes(log + b"\xff\xff")


def messages_from(address):
    """The monitor's messages."""
    host, port = address.split(":")[1:]
    with socket.create_connection((host, int(port)), timeout=PATIENCE) as peer, peer.makefile("rb") as stream:
        while head := stream.read(4):
            yield stream.read(struct.unpack(">I", head)[0])


def a_late_client_is_told_the_state():
    label = b"a thread with a name"
    log = FOLDER / "late.eventlog"
    write_log(log, [(1000, 2000, [(1000, 0, struct.pack(">I", 7)),
                                  (1500, 44, struct.pack(">HI", len(label) + 4, 7) + label)]),
                    (5000, 6000, [(5000, 1, struct.pack(">I", 7))])])
    for options, told, events in (([], False, 3), (["--from", "2000ns"], False, 3),
                                  (["--from", "2001ns"], True, 1), (["--from", "9s"], True, 0)):
        server, address = listening("send", "--listen", "--clients", "2", *options, log, "monitor:127.0.0.1:0")
        received = FOLDER / "late-received.eventlog"
        run("recv", "-o", received, address)
        assert stat(received)["events"] == events, options
        first = next(messages_from(address))
        assert first[1] == 3 and (label in first) == told, (options, first)
        finish(server)
    told = run("send", "--from", "1s", LOG, "tcp:127.0.0.1:9", status=2).stderr
    assert b"--from needs" in told, told


def a_bad_frame_closes_the_connection():
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        server.listen(1)
        address = f"monitor:127.0.0.1:{server.getsockname()[1]}"
        process = start("follow", address)
        peer, _ = server.accept()
        peer.sendall(b"\xff\xff\xff\xff")
        _, err = finish(process, status=1)
        assert b"16 MiB" in err
        peer.close()


def tokens_are_asked_for():
    run("send", "--listen", LOG, "tcp:0.0.0.0:0", status=2)
    server, address = listening("send", "--listen", "--clients", "2", "--token", "secret", LOG, "tcp:0.0.0.0:0")
    address = address.replace("0.0.0.0", "127.0.0.1")
    received = FOLDER / "token.eventlog"
    run("recv", "--token", "wrong", "-o", received, address, status=1)
    secret = FOLDER / "secret"
    secret.write_text("secret\n")
    run("recv", "--token-file", secret, "-o", received, address)
    assert received.read_bytes() == LOG.read_bytes()
    finish(server)


def control_messages_and_answers():
    magic = b"\xF0\x9E\x97\x8C"
    data = LOG.read_bytes()
    begin = data.index(b"datb") + 4
    seen = []

    def program(server, status):
        peer, _ = server.accept()
        message = peer.recv(4 + 2 + 6 + 1)
        seen.append(message)
        peer.sendall(data[:begin])
        peer.sendall(message[:6] + message[6:] + bytes([status]))
        peer.sendall(data[begin:])
        peer.close()

    for status in (0, 251):
        with socket.socket() as server:
            server.bind(("127.0.0.1", 0))
            server.listen(1)
            thread = threading.Thread(target=program, args=(server, status))
            thread.start()
            out = run("control", f"tcp:127.0.0.1:{server.getsockname()[1]}", "flush",
                      status=1 if status else 0).stdout
            thread.join()
            assert out.startswith(f"fathom/1: {status} (".encode()), out
    assert seen == [magic + b"\x01\x06fathom\x01"] * 2
    run("control", "tcp:127.0.0.1:1", "nonsense", status=2)


def types_are_listed():
    types = json.loads(run("types", "--json").stdout)
    assert {t["number"] for t in types} >= {0, 18, 53, 163, 212, 512, 528}
    stop = next(t for t in types if t["name"] == "StopThread")
    assert [f["name"] for f in stop["fields"]] == ["thread", "status", "info"]
    assert stop["fields"][2]["optional"] and stop["size"] == 6


def usage_errors_have_status_2():
    run(status=2)
    run("nonsense", status=2)
    for command in ("stat", "cat", "follow", "cut", "send", "recv", "control", "recover", "validate"):
        run(command, status=2)
        run(command, "--nonsense", status=2)
        help_text = run(command, "--help").stdout.decode()
        assert "Example:" in help_text and f"fathom log {command}" in help_text


TESTS = [stat_equals_the_expected_counts, stat_of_a_made_log, csv_of_one_type, statistics_of_a_made_log,
         statistics_of_the_real_logs, cat_filters, cut_gives_a_valid_log, a_range_ends_where_it_begins_or_later,
         validate_finds_what_is_broken, damage_is_reported_and_survived, follow_a_file_that_grows,
         follow_in_the_order_of_arrival,
         follow_begins_again_when_the_file_is_replaced, follow_a_pipe_byte_by_byte,
         follow_stops_cleanly_when_asked, plain_streams, monitor_streams,
         recv_ends_when_nothing_comes, a_late_client_is_told_the_state,
         a_bad_frame_closes_the_connection, tokens_are_asked_for, control_messages_and_answers,
         types_are_listed, usage_errors_have_status_2]


def main():
    subprocess.run([GENERATOR, "--events", "20000", "--caps", "3", "--block", "60000", LOG],
                   check=True)
    tap = Tap()
    for test in TESTS:
        tap.case(test)
    subprocess.run(["rm", "-rf", FOLDER], check=True)
    return tap.done()


sys.exit(main())

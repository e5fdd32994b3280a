#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Connections in numbers, idle ones, ones that say nothing: the program goes on answering, and no
descriptor stays behind."""
import contextlib
import fcntl
import http.client
import os
import re
import resource
import select
import socket
import struct
import subprocess
import sys
import time
import unittest
import urllib.parse

from patience import PATIENCE, wait_until
from test_http import FATHOM, GENERATE, PROFILE, ask, page, serving

GENERATE_LOG = sys.argv[3]
LOG = os.path.join(os.path.dirname(PROFILE), "a.eventlog")
QUIET = []
DESCRIPTORS = 256
CONNECTIONS = DESCRIPTORS // 4  # of which the door keeps so many
REQUESTS = 3000


def limit_descriptors():
    resource.setrlimit(resource.RLIMIT_NOFILE, (DESCRIPTORS, DESCRIPTORS))


def descriptors(process):
    return len(os.listdir(f"/proc/{process.pid}/fd"))


def sockets_at(port):
    """(state, queue, inode) of the system's TCP sockets of that port here; LISTEN's queue counts the
    connections that are not accepted yet."""
    for name in ("tcp", "tcp6"):
        with open(f"/proc/net/{name}", encoding="ascii") as lines:
            for line in list(lines)[1:]:
                fields = line.split()
                if int(fields[1].rsplit(":", 1)[1], 16) == port:
                    yield fields[3], int(fields[4].split(":")[1], 16), fields[9]


LISTEN = "0A"


def connections(process, port):
    """How many the server has open; None while some are not accepted yet."""
    known = list(sockets_at(port))
    if any(state == LISTEN and queue > 0 for state, queue, _ in known):
        return None
    inodes = {f"socket:[{inode}]" for state, _, inode in known if state != LISTEN}
    count = 0
    for name in os.listdir(f"/proc/{process.pid}/fd"):
        with contextlib.suppress(FileNotFoundError):  # closed meanwhile
            count += os.readlink(f"/proc/{process.pid}/fd/{name}") in inodes
    return count


def settled_descriptors(process, port):
    """The count once no connection is open."""
    wait_until(lambda: connections(process, port) == 0, "no connection is open")
    return descriptors(process)


def wait_for_descriptors(process, port, most):
    """Until all connections are accepted, and the server has no more descriptors than that."""
    def look():
        open_ones, count = connections(process, port), descriptors(process)
        assert open_ones is not None and count <= most, (open_ones, count, most)
        return True
    wait_until(look, f"there are at most {most} descriptors")


def connect(port):
    return socket.create_connection(("127.0.0.1", port), timeout=PATIENCE)


def read_answer(connection):
    """What the server sends until it closes or has sent all of a body of known length."""
    answer = http.client.HTTPResponse(connection)
    answer.begin()
    return answer.status, answer.read()


class Connections(unittest.TestCase):
    def setUp(self):
        self.context = serving(PROFILE, preexec_fn=limit_descriptors)
        self.process, self.port, _ = self.context.__enter__()
        ask(self.port, page("menu").replace("/deep", "/events"))  # until the profile is read
        self.assertEqual(ask(self.port, "/")[0].status, 200)
        self.before = settled_descriptors(self.process, self.port)

    def tearDown(self):
        self.process.terminate()
        said = self.process.stderr.read()
        self.assertEqual(said, "", "what clients do is nothing to tell")
        self.context.__exit__(None, None, None)

    def assert_nothing_stays(self):
        wait_for_descriptors(self.process, self.port, self.before)
        self.assertEqual(connections(self.process, self.port), 0)
        self.assertEqual(ask(self.port, "/")[0].status, 200)

    def request(self, line="GET / HTTP/1.1", *headers):
        lines = [line, f"Host: localhost:{self.port}", *headers, "", ""]
        return "\r\n".join(lines).encode()

    def test_clients_close_what_they_could_have_kept(self):
        for i in range(REQUESTS):
            with connect(self.port) as connection:
                connection.sendall(self.request())
                self.assertEqual(read_answer(connection)[0], 200, i)
            if i % 100 == 99:
                self.assert_nothing_stays()

    def test_several_requests_by_one_client(self):
        """A client that keeps its connections asks again, on the same one or on a new one."""
        for _ in range(60):
            client = http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE)
            for _ in range(5):
                client.request("GET", "/")
                answer = client.getresponse()
                answer.read()
                self.assertEqual(answer.status, 200)
            client.close()
        self.assert_nothing_stays()

    def test_all_kinds_of_requests(self):
        requests = (
            self.request("OPTIONS * HTTP/1.1"),
            self.request("GET / HTTP/1.0", "Connection: keep-alive"),
            self.request("POST / HTTP/1.1", "Expect: 100-continue", "Content-Length: 2") + b"ab",
            self.request("POST / HTTP/1.1", "Content-Length: 2") + b"ab",
            self.request("HEAD / HTTP/1.1"),
            self.request("GET /not/there HTTP/1.1"),
            self.request("GET /%zz HTTP/1.1"),
            self.request("GET / HTTP/1.1") + self.request("GET / HTTP/1.1"),
            b"GET / HTTP/1.1\r\n\r\n",
            b"nonsense\r\n\r\n",
        )
        for request in requests:
            for _ in range(20):
                with connect(self.port) as connection:
                    connection.sendall(request)
                    self.assertTrue(connection.recv(1 << 16).startswith(b"HTTP/1."), request)
            self.assert_nothing_stays()

    def test_connections_that_are_broken_off(self):
        for _ in range(100):
            with connect(self.port) as connection:
                connection.sendall(self.request())
                connection.recv(16)
                connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER,
                                      struct.pack("ii", 1, 0))
        self.assert_nothing_stays()

    def test_connections_that_say_nothing(self):
        """More than the door's bound on connections; browsers open such ones in advance."""
        for _ in range(700):
            connect(self.port).close()
        self.assert_nothing_stays()

    def test_connections_that_stay(self):
        """More at once than there are descriptors, asking nothing, or never to the end. Those who
        ask are served: who has waited longest gives way."""
        for begun in (b"", b"GET / HT", self.request("POST / HTTP/1.1", "Content-Length: 2")):
            held = []
            for _ in range(2 * DESCRIPTORS):
                held.append(connect(self.port))
                with contextlib.suppress(OSError):  # it has given way already
                    held[-1].sendall(begun)
            for _ in range(20):
                self.assertEqual(ask(self.port, "/")[0].status, 200, begun)
            wait_for_descriptors(self.process, self.port, self.before + CONNECTIONS)
            for connection in held:
                connection.close()
            self.assert_nothing_stays()

    def test_connections_that_come_one_by_one(self):
        """Each is there before the next comes: the bound stays what it is however many have given
        way, and no time-out is waited for. Who gives way is closed in one of the next turns of the
        server's loop, of which each answer takes some."""
        turns = 16
        held = []
        for i in range(2 * DESCRIPTORS):
            held.append(connect(self.port))
            self.assertEqual(ask(self.port, "/")[0].status, 200, i)
            self.assertLessEqual(descriptors(self.process), self.before + CONNECTIONS + turns, i)
        for connection in held:
            connection.close()
        self.assert_nothing_stays()

    def test_streams_whose_readers_leave(self):
        for _ in range(100):
            with connect(self.port) as connection:
                connection.sendall(self.request("GET " + page("menu").replace("/deep", "/events") +
                                                " HTTP/1.1"))
                connection.recv(16)
        self.assert_nothing_stays()


    def test_one_that_is_being_answered_stays(self):
        """However many come after it that ask nothing: those give way."""
        self.process.terminate()  # a larger profile: the system takes megabytes for a slow reader
        big = os.path.join(os.path.dirname(PROFILE), "big.data")
        subprocess.run([GENERATE, "--nodes=300000", "--seed=1", big], check=True,
                       stdout=subprocess.DEVNULL)
        self.context.__exit__(None, None, None)
        self.context = serving(big, preexec_fn=limit_descriptors)
        self.process, self.port, _ = self.context.__enter__()
        ask(self.port, page("menu", big).replace("/deep", "/events"))
        self.before = settled_descriptors(self.process, self.port)
        target = page("top_procs/1-100000/callseqs/both/oa", big, ending=".json")
        whole = ask(self.port, target)[1]
        self.assertGreater(len(whole), 3 << 20)
        with socket.socket() as reader:
            reader.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            reader.settimeout(PATIENCE)
            reader.connect(("127.0.0.1", self.port))
            reader.sendall(self.request(f"GET {target} HTTP/1.1"))
            got = reader.recv(64)
            held = [connect(self.port) for _ in range(2 * DESCRIPTORS)]
            self.assertEqual(ask(self.port, "/")[0].status, 200)
            while data := reader.recv(1 << 16):
                got += data
            for connection in held:
                connection.close()
        self.assertTrue(got.startswith(b"HTTP/1.1 200 "), got[:20])
        self.assertEqual(got[-len(whole):], whole)
        self.assert_nothing_stays()

    def send_until_refused(self, connection, data, most):
        """Sends it again and again; returns how much when the server has ended the connection, else
        most or more."""
        sent, connection_ended = 0, False
        connection.setblocking(False)
        while sent < most and not connection_ended:
            readable, writable, _ = select.select([connection], [connection], [], PATIENCE)
            self.assertTrue(readable or writable, "neither takes nor ends")
            try:
                connection_ended = bool(readable) and connection.recv(1 << 16) == b""
                if writable and not connection_ended:
                    sent += connection.send(data[sent % len(data):])
            except (BrokenPipeError, ConnectionResetError):
                connection_ended = True
        return sent

    def test_chunks_without_end(self):
        """A body of chunks has a bound as well: whoever sends more is not listened to."""
        chunk = b"1000\r\n" + 4096 * b"x" + b"\r\n"
        for _ in range(5):
            with connect(self.port) as connection:
                connection.sendall(self.request("POST / HTTP/1.1", "Transfer-Encoding: chunked"))
                self.assertLess(self.send_until_refused(connection, chunk, 1 << 26), 1 << 25)
        self.assert_nothing_stays()
        with connect(self.port) as connection:  # within the bound it is an ordinary request
            connection.sendall(self.request("POST / HTTP/1.1", "Transfer-Encoding: chunked") +
                               4 * chunk + b"0\r\n\r\n")
            self.assertEqual(read_answer(connection)[0], 200)


class Streams(unittest.TestCase):
    """Pages of a trace, each with a stream of events that stays open."""

    def serve(self, limit):
        def set_limit():
            resource.setrlimit(resource.RLIMIT_NOFILE, (limit, limit))

        context = serving(LOG, preexec_fn=set_limit)
        self.process, self.port, _ = context.__enter__()
        self.addCleanup(context.__exit__, None, None, None)

    def open_stream(self, **how):
        connection = connect(self.port)
        target = "/trace/stream?file=" + urllib.parse.quote(LOG)
        connection.sendall(f"GET {target} HTTP/1.1\r\nHost: localhost:{self.port}\r\n\r\n".encode())
        return connection

    def test_more_than_there_are_places(self):
        """Those beyond are told so; pages are served all the time."""
        for limit in (48, 64, 256):
            self.serve(limit)
            ask(self.port, "/trace.json?view=set&file=" + urllib.parse.quote(LOG))
            before = settled_descriptors(self.process, self.port)
            held, answers = [], []
            for _ in range(100):
                held.append(self.open_stream())
                answers.append(held[-1].recv(12).decode())
                self.assertEqual(ask(self.port, "/")[0].status, 200, (limit, len(held)))
            self.assertEqual(set(answers), {"HTTP/1.1 200", "HTTP/1.1 503"}, limit)
            self.assertGreaterEqual(answers.count("HTTP/1.1 200"), 8)
            self.assertLess(descriptors(self.process), limit)
            for connection in held:
                connection.close()
            wait_for_descriptors(self.process, self.port, before)
            with self.open_stream() as again:
                self.assertEqual(again.recv(12), b"HTTP/1.1 200")

    def test_a_reader_that_does_not_read(self):
        """What would wait for it is left out, but for the last answer, so little waits."""
        self.serve(256)
        file = urllib.parse.quote(LOG)
        view = f"file={file}&view=timeline&width=1000"
        size = len(ask(self.port, f"/trace.json?{view}")[1])
        self.assertGreater(size, 1 << 16)
        asked = (8 << 20) // size
        with socket.socket() as reader:
            reader.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            reader.settimeout(PATIENCE)
            reader.connect(("127.0.0.1", self.port))
            reader.sendall(f"GET /trace/stream?file={file} HTTP/1.1\r\n"
                           f"Host: localhost:{self.port}\r\n\r\n".encode())
            got = b""
            while not (name := re.search(rb'"stream": "(\w+)"', got)):
                got += reader.recv(4096)
            for serial in range(1, asked + 1):
                answer, _ = ask(self.port, f"/trace/ask?{view}&_stream={name[1].decode()}"
                                f"&_owner=timeline&_serial={serial}")
                self.assertEqual(answer.status, 204)
                time.sleep(0.01)
            while f'"owner": "timeline", "serial": {asked},'.encode() not in got:
                got += reader.recv(1 << 16)
        # What the system's own buffers hold beside ours, and far from the 8 MiB that were asked for.
        self.assertLess(len(got), 6 << 20)

    def test_a_sign_of_life(self):
        """Nothing happens on the page; something comes all the same."""
        reader = QUIET[0]
        reader.settimeout(PATIENCE)
        got = b""
        while b"\n:\n\n" not in got:
            data = reader.recv(4096)
            self.assertNotEqual(data, b"", got)
            got += data


class Begin(unittest.TestCase):
    def test_a_signal_while_the_address_is_told(self):
        """Who reads the address may end the server at once: it ends as it does later."""
        reader, writer = os.pipe()
        fcntl.fcntl(writer, fcntl.F_SETPIPE_SZ, 4096)
        os.write(writer, b"x" * fcntl.fcntl(writer, fcntl.F_GETPIPE_SZ))
        process = subprocess.Popen([FATHOM, "view", "--no-open", PROFILE], stdout=writer, stderr=subprocess.PIPE)
        os.close(writer)

        def waits_to_tell():
            with open(f"/proc/{process.pid}/syscall", encoding="ascii") as now:
                return now.read().split()[:2] == ["1", "0x1"]  # write to its standard output

        wait_until(waits_to_tell, "the server waits until its address can be told")
        process.terminate()
        with open(reader, "rb") as told:
            self.assertIn(b"serving http", told.read())
        self.assertEqual(process.communicate(timeout=PATIENCE), (None, b""))
        self.assertEqual(process.returncode, 0)


def open_quiet_stream(port):
    reader = connect(port)
    target = "/trace/stream?file=" + urllib.parse.quote(LOG)
    reader.sendall(f"GET {target} HTTP/1.1\r\nHost: localhost:{port}\r\n\r\n".encode())
    return reader


if __name__ == "__main__":
    subprocess.run([GENERATE, "--nodes=30000", "--seed=1", PROFILE], check=True,
                   stdout=subprocess.DEVNULL)
    subprocess.run([GENERATE_LOG, "--events=20000", LOG], check=True, stdout=subprocess.DEVNULL)
    with serving(LOG) as (_, quiet_port, _):  # asked for now, looked at when the others are done
        QUIET.append(open_quiet_stream(quiet_port))
        unittest.main(argv=sys.argv[:1], verbosity=2)

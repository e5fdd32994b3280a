#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Connections in numbers, idle ones, ones that say nothing: the program goes on answering, and no
descriptor stays behind."""
import contextlib
import http.client
import os
import resource
import socket
import struct
import subprocess
import sys
import time
import unittest

from test_http import GENERATE, PROFILE, ask, page, serving

DESCRIPTORS = 256
CONNECTIONS = DESCRIPTORS // 4  # of which the door keeps so many
REQUESTS = 3000


def limit_descriptors():
    resource.setrlimit(resource.RLIMIT_NOFILE, (DESCRIPTORS, DESCRIPTORS))


def descriptors(process):
    return len(os.listdir(f"/proc/{process.pid}/fd"))


def settled_descriptors(process):
    """The count once it has stayed the same for a while."""
    counts = [descriptors(process)]
    while len(counts) < 10 or len(set(counts[-10:])) > 1:
        time.sleep(0.03)
        counts.append(descriptors(process))
    return counts[-1]


def wait_for_descriptors(process, most):
    """The count as soon as it is at most that; else what it stays at."""
    end = time.monotonic() + 30
    while descriptors(process) > most and time.monotonic() < end:
        time.sleep(0.05)
    return descriptors(process)


def connect(port):
    return socket.create_connection(("127.0.0.1", port), timeout=30)


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
        self.before = settled_descriptors(self.process)

    def tearDown(self):
        self.process.terminate()
        said = self.process.stderr.read()
        self.assertEqual(said, "", "what clients do is nothing to tell")
        self.context.__exit__(None, None, None)

    def assert_nothing_stays(self):
        self.assertEqual(wait_for_descriptors(self.process, self.before), self.before)
        self.assertEqual(ask(self.port, "/")[0].status, 200)

    def request(self, line="GET / HTTP/1.1", *headers):
        lines = [line, f"Host: localhost:{self.port}", *headers, "", ""]
        return "\r\n".join(lines).encode()

    def test_clients_close_what_they_could_have_kept(self):
        most = self.before
        for i in range(REQUESTS):
            with connect(self.port) as connection:
                connection.sendall(self.request())
                self.assertEqual(read_answer(connection)[0], 200, i)
            if i % 100 == 99:
                most = max(most, wait_for_descriptors(self.process, self.before))
        self.assertEqual(most, self.before)
        self.assert_nothing_stays()

    def test_several_requests_by_one_client(self):
        """A client that keeps its connections asks again, on the same one or on a new one."""
        for _ in range(60):
            client = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
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
            most = self.before + CONNECTIONS
            self.assertLessEqual(wait_for_descriptors(self.process, most), most, begun)
            for connection in held:
                connection.close()
            self.assert_nothing_stays()

    def test_answered_connections_that_stay(self):
        """One after the other, each answered before the next comes: the bound stays what it is
        however many have given way, and is not waited for."""
        held = []
        for i in range(2 * DESCRIPTORS):
            held.append(connect(self.port))
            held[-1].sendall(self.request())
            self.assertEqual(read_answer(held[-1])[0], 200, i)
            self.assertLessEqual(descriptors(self.process), self.before + CONNECTIONS + 4, i)
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


if __name__ == "__main__":
    subprocess.run([GENERATE, "--nodes=3000", "--seed=1", PROFILE], check=True,
                   stdout=subprocess.DEVNULL)
    unittest.main(argv=sys.argv[:1], verbosity=2)

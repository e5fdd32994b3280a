#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The running program through its HTTP door, on a free port."""
import contextlib
import fcntl
import gzip
import http.client
import json
import os
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import unittest
import unittest.mock
import urllib.parse

from patience import PATIENCE, wait_until

FATHOM, GENERATE, HELD = sys.argv[1:4]
FOLDER = tempfile.TemporaryDirectory(prefix="fathom-http-")
PROFILE = os.path.join(FOLDER.name, "a profile.data")
F_SETPIPE_SZ = 1031 # Python 3.10 has it in fcntl
TOKEN = "a token of 24 characters"


@contextlib.contextmanager
def serving(*arguments, program=FATHOM, **how):
    process = subprocess.Popen([program, "view", "--no-open", *arguments], text=True,
                               stdout=subprocess.PIPE, **{"stderr": subprocess.PIPE, **how})
    try:
        line = process.stdout.readline()
        found = re.search(r"serving (http://(\S+?):(\d+)/\S*)", line)
        if not found:
            raise AssertionError(f"no address in {line!r}: {process.stderr and process.stderr.read()}")
        yield process, int(found[3]), found[1]
    finally:
        if process.poll() is None:
            process.terminate()
        process.wait(PATIENCE)
        process.stdout.close()
        if process.stderr:
            process.stderr.close()


def ask(port, target, method="GET", address="127.0.0.1", body=None, **headers):
    connection = http.client.HTTPConnection(address, port, timeout=PATIENCE)
    try:
        headers = {name.replace("_", "-"): value for name, value in headers.items()}
        connection.request(method, target, body=body, headers=headers)
        answer = connection.getresponse()
        return answer, answer.read()
    finally:
        connection.close()


def page(command, path=PROFILE, ending=""):
    return f"/deep{ending}?{command}&{urllib.parse.quote(path)}"


class Loopback(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.context = serving(PROFILE)
        cls.process, cls.port, cls.url = cls.context.__enter__()
        ask(cls.port, page("menu").replace("/deep", "/events")) # until the profile is read

    @classmethod
    def tearDownClass(cls):
        cls.context.__exit__(None, None, None)

    def test_the_printed_address_is_the_menu(self):
        parts = urllib.parse.urlsplit(self.url)
        answer, body = ask(self.port, parts.path + "?" + parts.query)
        self.assertEqual(answer.status, 200)
        self.assertIn(b"Deep profiler menu", body)

    def test_front_page(self):
        answer, body = ask(self.port, "/")
        self.assertEqual(answer.status, 200)
        self.assertIn(b"a%20profile.data", body)

    def test_security_headers(self):
        answer, _ = ask(self.port, page("menu"))
        policy = answer.getheader("Content-Security-Policy")
        self.assertIn("default-src 'none'", policy)
        self.assertIn("frame-ancestors 'none'", policy)
        self.assertNotIn("unsafe", policy)
        self.assertEqual(answer.getheader("X-Content-Type-Options"), "nosniff")
        self.assertEqual(answer.getheader("Referrer-Policy"), "same-origin")
        self.assertEqual(answer.getheader("Cache-Control"), "no-cache")
        self.assertEqual(answer.getheader("Content-Type"), "text/html; charset=utf-8")

    def test_json_is_the_same_as_report(self):
        answer, body = ask(self.port, page("clique/1", ending=".json"))
        self.assertEqual(answer.status, 200)
        printed = subprocess.run([FATHOM, "report", "--json", "clique/1", PROFILE], check=True,
                                 capture_output=True).stdout
        self.assertEqual(body, printed)
        self.assertEqual(json.loads(body)["page"], "clique")

    def test_gzip(self):
        plain, body = ask(self.port, page("menu"))
        self.assertIsNone(plain.getheader("Content-Encoding"))
        packed, packed_body = ask(self.port, page("menu"), Accept_Encoding="gzip")
        self.assertEqual(packed.getheader("Content-Encoding"), "gzip")
        self.assertEqual(gzip.decompress(packed_body), body)
        self.assertLess(len(packed_body), len(body))
        self.assertIn("Accept-Encoding", packed.getheader("Vary"))
        self.assertNotEqual(packed.getheader("ETag"), plain.getheader("ETag"))
        refused, refused_body = ask(self.port, page("menu"), Accept_Encoding="gzip;q=0")
        self.assertIsNone(refused.getheader("Content-Encoding"))
        self.assertEqual(refused_body, body)

    def test_if_none_match(self):
        for encoding in ("identity", "gzip"):
            first, _ = ask(self.port, page("menu"), Accept_Encoding=encoding)
            tag = first.getheader("ETag")
            again, body = ask(self.port, page("menu"), Accept_Encoding=encoding, If_None_Match=tag)
            self.assertEqual(again.status, 304)
            self.assertEqual(body, b"")
            self.assertEqual(again.getheader("ETag"), tag)
        other, _ = ask(self.port, page("menu"), If_None_Match='"something else"')
        self.assertEqual(other.status, 200)

    def test_head(self):
        _, body = ask(self.port, page("menu"))
        answer, nothing = ask(self.port, page("menu"), method="HEAD")
        self.assertEqual(answer.status, 200)
        self.assertEqual(nothing, b"")
        self.assertEqual(int(answer.getheader("Content-Length")), len(body))

    def test_other_methods(self):
        for method in ("PUT", "DELETE", "OPTIONS", "PATCH"):
            answer, _ = ask(self.port, page("menu"), method=method)
            self.assertEqual(answer.status, 405, method)

    def test_host_header(self):
        for host in ("localhost", "127.0.0.1", "[::1]", "LOCALHOST"):
            answer, _ = ask(self.port, page("menu"), Host=f"{host}:{self.port}")
            self.assertEqual(answer.status, 200, host)
        for host in ("evil.example", f"evil.example:{self.port}", "localhost", "127.0.0.1:1",
                     f"localhost:{self.port}.evil.example", f"127.0.0.1:{self.port}, evil.example"):
            answer, body = ask(self.port, page("menu"), Host=host)
            self.assertIn(answer.status, (400, 421), host)
            self.assertNotIn(b"menu", body)

    def test_only_the_given_file(self):
        for path in ("/etc/passwd", PROFILE + "/../a profile.data.data", "../" * 20 + "etc/passwd"):
            answer, body = ask(self.port, page("menu", path))
            self.assertEqual(answer.status, 404, path)
            self.assertNotIn(b"root:", body)
        answer, _ = ask(self.port, "/deep?menu&a%00b")
        self.assertEqual(answer.status, 400)
        answer, _ = ask(self.port, "/assets/%2e%2e/%2e%2e/etc/passwd")
        self.assertEqual(answer.status, 404)

    def test_long_addresses(self):
        answer, _ = ask(self.port, "/deep?" + "x" * 17000)
        self.assertEqual(answer.status, 400)
        answer, _ = ask(self.port, "/deep?" + "x" * 30000)
        self.assertEqual(answer.status, 414)

    def test_long_bodies(self):
        answer, _ = ask(self.port, page("menu"), method="POST", body=b"x" * 1000)
        self.assertEqual(answer.status, 200)
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            answer, _ = ask(self.port, page("menu"), method="POST", body=b"x" * 1000000)
            self.assertEqual(answer.status, 413)
        answer, _ = ask(self.port, page("menu"))
        self.assertEqual(answer.status, 200)

    def talk(self, data):
        """What comes back until the server closes; None when it resets."""
        answer = b""
        with socket.create_connection(("127.0.0.1", self.port), PATIENCE) as connection:
            try:
                connection.sendall(data)
                while piece := connection.recv(65536):
                    answer += piece
            except (BrokenPipeError, ConnectionResetError):
                return answer or None
        return answer

    def test_a_long_body_that_never_comes(self):
        answer = self.talk(f"POST /deep?menu HTTP/1.1\r\n"
                           f"Host: localhost:{self.port}\r\n"
                           "Content-Length: 99999999\r\n\r\n".encode())
        head, body = answer.split(b"\r\n\r\n", 1)
        self.assertTrue(head.startswith(b"HTTP/1.1 413 "), head)
        self.assertIn(b"\r\nConnection: close", head)
        self.assertIn(b"the request is too long", body)
        self.assertTrue(body.endswith(b"</html>\n"))
        self.assertIn(b"\r\nContent-Length: %d\r\n" % len(body), head)
        self.assertEqual(ask(self.port, page("menu"))[0].status, 200)

    def test_a_bad_escape_is_refused_by_libsoup(self):
        """docs/decisions.md: its own answer, which has no page."""
        answer, body = ask(self.port, "/deep?menu&%zz")
        self.assertEqual((answer.status, body), (400, b""))

    def test_accept(self):
        for accept, ending in (("application/json", ".json"), ("text/csv", ".csv"),
                               ("text/plain", ".txt"), ("text/plain; charset=utf-8", ".txt"),
                               ("text/html,text/csv", ".html"), ("*/*", ".html"),
                               ("text/plainer", ".html")):
            query = "top_procs/1-5/callseqs/self/oa"
            named, wanted = ask(self.port, page(query, ending=ending))
            answer, body = ask(self.port, page(query), Accept=accept)
            self.assertEqual((answer.status, named.status), (200, 200), accept)
            self.assertEqual(answer.getheader("Content-Type"), named.getheader("Content-Type"))
            self.assertEqual(body, wanted, accept)
            self.assertIn("Accept", answer.getheader("Vary"))
        answer, body = ask(self.port, page("clique/999999999"), Accept="text/plain")
        self.assertEqual(answer.status, 404)
        self.assertNotIn(b"<", body)

    def test_libsoup_refuses_what_is_far_too_long(self):
        """docs/decisions.md: its own bound on the head of a request, before we are asked. From 3.6 on it answers."""
        host = f"Host: localhost:{self.port}\r\n"
        many = f"A: {'b' * 87}\r\n" * 1000
        for head, status in ((f"/deep?{'x' * 100000} HTTP/1.1\r\n{host}\r\n", b"414"), (f"/ HTTP/1.1\r\n{host}{many}\r\n", b"200")):
            self.assertIn((self.talk(b"GET " + head.encode()) or b"")[:12], (b"", b"HTTP/1.1 " + status))
        self.assertEqual(ask(self.port, page("menu"))[0].status, 200)

    def test_noise_does_no_harm(self):
        for noise in (b"\r\n\r\n", b"\x00\xff" * 500, b"GET\r\n\r\n", b"GET / HTTP/9.9\r\n\r\n",
                      b"GET /deep?menu HTTP/1.1\r\nHost: x\r\n" + b"A: b\r\n" * 3000):
            with socket.create_connection(("127.0.0.1", self.port), 10) as connection:
                connection.sendall(noise)
        answer, _ = ask(self.port, page("menu"))
        self.assertEqual(answer.status, 200)

    def test_errors_have_the_same_text_as_the_command(self):
        answer, body = ask(self.port, page("clique/999999999", ending=".txt"))
        self.assertEqual(answer.status, 404)
        told = subprocess.run([FATHOM, "report", "clique/999999999", PROFILE], text=True,
                              capture_output=True)
        self.assertEqual(told.returncode, 1)
        self.assertEqual(told.stderr, "fathom report: " + body.decode())

    def test_a_foreign_page_cannot_quit(self):
        for headers in ({"Sec_Fetch_Site": "cross-site"}, {"Origin": "http://evil.example"},
                        {"User_Agent": "Mozilla/5.0"}, {"Sec_Purpose": "prefetch"}):
            answer, _ = ask(self.port, page("quit"), **headers)
            self.assertEqual(answer.status, 403, headers)
        answer, _ = ask(self.port, page("menu"))
        self.assertEqual(answer.status, 200)

    def test_only_loopback_is_bound(self):
        ports = []
        for name in ("tcp", "tcp6"):
            table = pathlib.Path("/proc/net", name)
            for line in table.read_text().splitlines()[1:] if table.exists() else []:
                local, state = line.split()[1], line.split()[3]
                address, port = local.rsplit(":", 1)
                if state == "0A" and int(port, 16) == self.port:
                    ports.append(address)
        self.assertIn("0100007F", ports)
        for address in ports:
            self.assertIn(address, ("0100007F", "00000000000000000000000001000000"))


    def test_events(self):
        """docs of serve/stream.h: one connection, text/event-stream, closed when all is said."""
        answer, body = ask(self.port, page("menu").replace("/deep", "/events"))
        self.assertEqual(answer.status, 200)
        self.assertEqual(answer.getheader("Content-Type"), "text/event-stream")
        self.assertEqual(answer.getheader("Cache-Control"), "no-store")
        self.assertEqual(answer.getheader("X-Content-Type-Options"), "nosniff")
        self.assertIsNone(answer.getheader("Content-Length"))
        self.assertIn(b"event: ready\n", body)
        self.assertTrue(body.endswith(b"\n\n"))

    def test_events_are_refused(self):
        events = page("menu").replace("/deep", "/events")
        for headers in ({"Sec_Fetch_Site": "cross-site"}, {"Origin": "http://evil.example"}):
            self.assertEqual(ask(self.port, events, **headers)[0].status, 403)
        self.assertEqual(ask(self.port, events, method="HEAD")[0].status, 405)
        self.assertEqual(ask(self.port, "/events?menu&/etc/passwd")[0].status, 404)

    def test_many_streams_leave_no_connection_behind(self):
        """More than the door's bound on connections, one after the other."""
        for _ in range(300):
            answer, _ = ask(self.port, page("menu").replace("/deep", "/events"))
            self.assertEqual(answer.status, 200)


class Hold:
    """Parts of reading that are not done before they are let go (src/engine/hold.h)."""

    def __init__(self, *parts):
        self.folder = tempfile.mkdtemp(prefix="hold-", dir=FOLDER.name)
        self.environment = {**os.environ, "FATHOM_HOLD": self.folder}
        for part in parts:
            pathlib.Path(self.folder, part).touch()

    def let_go(self, part):
        os.unlink(os.path.join(self.folder, part))


def events_in(body):
    """(name, data) of each event."""
    found = []
    for block in body.decode().split("\n\n"):
        lines = dict(line.split(": ", 1) for line in block.splitlines() if ": " in line)
        if "event" in lines:
            found.append((lines["event"], json.loads(lines["data"])))
    return found


class Reading(unittest.TestCase):
    """Pages while their profile is still being read."""

    def events(self, port, command, file):
        """The events of a page, until the server ends them."""
        answer, body = ask(port, page(command, file).replace("/deep", "/events"))
        self.assertEqual(answer.status, 200, body)
        return events_in(body)

    def unfinished(self, port, command, file, ending):
        answer, body = ask(port, page(command, file, ending))
        self.assertIn(b"Not all is known yet", body)
        return answer, body

    def look_while_reading(self, port, file):
        command = "top_procs/1-5/callseqs/self/oa"
        answer, body = self.unfinished(port, command, file, ".json")
        self.assertEqual(answer.status, 200)
        self.assertIsNone(answer.getheader("ETag"))
        self.assertEqual(answer.getheader("Cache-Control"), "no-store")
        self.assertGreater(json.loads(body)["facts"]["pd_count"], 0)
        self.assertIn("Not all is known yet", json.loads(body)["incomplete"])
        _, body = self.unfinished(port, "menu", file, "")
        self.assertIn(b'<p class="incomplete" role="status" data-events="events?menu&amp;', body)
        self.assertIn(b'<noscript><meta http-equiv="refresh"', body)
        _, body = self.unfinished(port, "menu", file, ".txt")
        self.assertIn(b"Incomplete: Not all is known yet", body)
        answer, _ = self.unfinished(port, command, file, ".csv")
        self.assertEqual(answer.status, 503)
        self.assertEqual(answer.getheader("Retry-After"), "1")

    def watch_the_rest(self, port, file, hold):
        """The events from the held part on."""
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE)
        connection.request("GET", page("menu", file).replace("/deep", "/events"))
        answer = connection.getresponse()
        body = answer.readline()
        while not body.endswith(b"\n\n") or b"event: state" not in body:
            body += answer.readline()
        hold.let_go("cliques")
        events = events_in(body + answer.read())
        connection.close()
        self.assertEqual(events[-1], ("ready", {}))
        self.assertEqual({name for name, _ in events[:-1]}, {"state"})
        states = [state for _, state in events[:-1]]
        self.assertTrue(states[-1]["complete"])
        for what in ("stage", "whole"):
            values = [state[what] for state in states]
            self.assertEqual(sorted(values), values)
        modules = [state["module"] for state in states]
        self.assertEqual(modules[0], "cliques")
        for module in ("callers", "costs", "summaries", "checks"):
            self.assertIn(module, modules)

    def wait_until_loaded(self, port, file):
        def loaded():
            _, body = ask(port, page("menu", file, ".txt"))
            return b"cliques are being found" in body
        wait_until(loaded, "all but what is held has been read")

    def test_pages_come_before_the_profile_is_read(self):
        large = os.path.join(FOLDER.name, "large.data")
        command = "top_procs/1-5/callseqs/self/oa"
        subprocess.run([GENERATE, "--nodes=200000", "--seed=2", large], check=True,
                       stdout=subprocess.DEVNULL)
        hold = Hold("cliques")
        with serving(large, program=HELD, env=hold.environment) as (process, port, _):
            self.wait_until_loaded(port, large)
            self.look_while_reading(port, large)
            self.watch_the_rest(port, large, hold)
            answer, body = ask(port, page(command, large, ".json"))
            told = subprocess.run([FATHOM, "report", "--json", command, large], check=True,
                                  capture_output=True)
            self.assertEqual((answer.status, body), (200, told.stdout))
            self.assertIsNone(json.loads(body)["incomplete"])
            # Reading again begins; the page that is shown again is another one.
            answer, _ = ask(port, page("restart", large), Sec_Fetch_Site="same-origin")
            self.assertEqual(answer.status, 303)
            self.assertEqual(answer.getheader("Location"), page("menu", large)[len("/deep"):])
            self.assertEqual(self.events(port, "menu", large)[-1], ("ready", {}))
            process.send_signal(signal.SIGTERM)
            self.assertEqual(process.wait(PATIENCE), 0)

    def test_a_bad_end_is_told_by_the_page(self):
        short = os.path.join(FOLDER.name, "short.data")
        with open(PROFILE, "rb") as whole, open(short, "wb") as part:
            part.write(whole.read()[:-30])
        with serving(short, PROFILE) as (process, port, _):
            while True:
                answer, body = ask(port, page("menu", short, ".txt"))
                if answer.status != 200:
                    break
                self.assertIn(b"Incomplete", body)
            told = subprocess.run([FATHOM, "report", "menu", short], text=True, capture_output=True)
            self.assertEqual(answer.status, 422)
            self.assertEqual("fathom report: " + body.decode(), told.stderr)
            answer, body = ask(port, page("menu", short).replace("/deep", "/events"))
            self.assertEqual(answer.status, 422)
            _, body = ask(port, "/")
            self.assertIn(b"could not be read", body)
            self.assertEqual(self.events(port, "menu", PROFILE)[-1], ("ready", {}))
            self.assertEqual(ask(port, page("menu"))[0].status, 200) # the others go on
            shutil.copyfile(PROFILE, short) # mended
            self.assertEqual(self.events(port, "menu", short)[-1], ("ready", {}))
            answer, body = ask(port, page("menu", short, ".json"))
            self.assertIsNone(json.loads(body)["incomplete"])
            process.send_signal(signal.SIGTERM)
            self.assertEqual(process.wait(PATIENCE), 0)
            self.assertEqual(process.stderr.read(), told.stderr.replace("report:", "view:"))

    def test_readers_may_leave_at_any_time(self):
        large = os.path.join(FOLDER.name, "leave.data")
        subprocess.run([GENERATE, "--nodes=200000", "--seed=4", large], check=True,
                       stdout=subprocess.DEVNULL)
        request = (f"GET /events?menu&{urllib.parse.quote(large)} HTTP/1.1\r\n"
                   "Host: localhost:%d\r\n\r\n")
        with serving(large) as (process, port, _):
            for _ in range(100): # more than there may be at a time
                with socket.create_connection(("127.0.0.1", port), PATIENCE) as connection:
                    connection.sendall((request % port).encode())
                    self.assertIn(b"HTTP/1.1", connection.recv(100))
            self.assertEqual(self.events(port, "menu", large)[-1], ("ready", {}))
            process.send_signal(signal.SIGTERM)
            self.assertEqual(process.wait(PATIENCE), 0)
            self.assertEqual(process.stderr.read(), "")

    def test_the_end_of_the_server_ends_streams(self):
        large = os.path.join(FOLDER.name, "end.data")
        subprocess.run([GENERATE, "--nodes=20000", "--seed=5", large], check=True,
                       stdout=subprocess.DEVNULL)
        with serving(large, program=HELD, env=Hold("cliques").environment) as (process, port, _):
            connection = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE)
            connection.request("GET", page("menu", large).replace("/deep", "/events"))
            answer = connection.getresponse()
            self.assertIn(b"retry", answer.readline())
            process.send_signal(signal.SIGTERM) # in mid-pass
            answer.read()
            self.assertEqual(process.wait(PATIENCE), 0)
            connection.close()


class Life(unittest.TestCase):
    def test_signals_end_it_cleanly(self):
        for number in (signal.SIGINT, signal.SIGTERM):
            with serving(PROFILE) as (process, port, _):
                tag = ask(port, "/")[0].getheader("ETag")
                self.assertEqual(ask(port, "/", If_None_Match=tag)[0].status, 304)
                self.assertEqual(ask(port, "/favicon.ico")[0].status, 204)
                process.send_signal(number)
                self.assertEqual(process.wait(PATIENCE), 0)
                self.assertEqual(process.stderr.read(), "")

    def test_quit_answers_and_ends(self):
        with serving(PROFILE) as (process, port, _):
            answer, body = ask(port, page("quit"), Sec_Fetch_Site="same-origin")
            self.assertEqual(answer.status, 200)
            self.assertIn(b"Shutting down", body)
            self.assertEqual(process.wait(PATIENCE), 0)

    def check_unread_errors(self, **how):
        """A file that turns bad again and again, each time with a line on standard error."""
        with tempfile.TemporaryDirectory(prefix="fathom-unread-") as folder:
            path = os.path.join(folder, "bad.data")
            whole = pathlib.Path(PROFILE).read_bytes()
            shutil.copy(PROFILE, path)
            with serving(path, **how) as (process, port, _):
                for i in range(300):
                    pathlib.Path(path).write_bytes(whole[:len(whole) - 100 - i])
                    answer = ask(port, page("menu", path, ".txt"))[0]
                    self.assertIn(answer.status, (200, 422))
                    ask(port, page("menu", path).replace("/deep", "/events"))
                    self.assertEqual(ask(port, page("menu", path, ".txt"))[0].status, 422)
                self.assertEqual(ask(port, "/")[0].status, 200)
                process.terminate()
                self.assertEqual(process.wait(PATIENCE), 0)

    def test_a_pipe_of_errors_that_nobody_reads(self):
        reading, writing = os.pipe()
        try:
            fcntl.fcntl(writing, F_SETPIPE_SZ, 4096)
            self.check_unread_errors(stderr=writing)
            told = os.read(reading, 1 << 16).decode()
            self.assertRegex(told, r"^(fathom view: .*bad\.data.*\n)+$")
            self.assertGreater(told.count("\n"), 5)
            self.assertLess(told.count("\n"), 100)
            self.assertEqual(fcntl.fcntl(writing, fcntl.F_GETFL) & os.O_NONBLOCK, 0)
        finally:
            os.close(reading)
            os.close(writing)

    def test_a_socket_of_errors_that_nobody_reads(self):
        reading, writing = socket.socketpair()
        writing.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 4096)
        with reading, writing:
            self.check_unread_errors(stderr=writing)
            self.assertRegex(reading.recv(1 << 16).decode(), r"^fathom view: .*bad\.data")

    def test_errors_after_their_reader_has_gone(self):
        reading, writing = os.pipe()
        os.close(reading)
        try:
            self.check_unread_errors(stderr=writing)
        finally:
            os.close(writing)

    def test_each_change_is_told_once(self):
        with tempfile.TemporaryDirectory(prefix="fathom-told-") as folder:
            path = os.path.join(folder, "bad.data")
            shutil.copy(PROFILE, path)
            with serving(path) as (process, port, _):
                events = page("menu", path).replace("/deep", "/events")
                for left_out in (100, 200):
                    ask(port, events)
                    pathlib.Path(path).write_bytes(pathlib.Path(PROFILE).read_bytes()[:-left_out])
                    for _ in range(5):
                        ask(port, page("menu", path, ".txt"))
                        ask(port, events)
                        ask(port, page("restart", path), Sec_Fetch_Site="same-origin")
                process.terminate()
                self.assertEqual(process.wait(PATIENCE), 0)
                lines = process.stderr.read().splitlines()
                self.assertEqual(len(lines), 2, lines)
                for line in lines:
                    self.assertRegex(line, r"^fathom view: .*bad\.data")

    def test_a_taken_port_is_refused(self):
        with serving(PROFILE) as (_, port, _url):
            told = subprocess.run([FATHOM, "view", "--no-open", "--port", str(port), PROFILE],
                                  capture_output=True, text=True, timeout=PATIENCE)
            self.assertEqual(told.returncode, 1)
            self.assertRegex(told.stderr, rf"^fathom view: cannot listen at port {port}: .*\n$")

    def test_folders(self):
        with serving(FOLDER.name) as (_, port, _url):
            _, body = ask(port, "/")
            self.assertIn(b"a profile.data", body)
            answer, body = ask(port, page("menu", "a profile.data", ".json"))
            self.assertEqual(answer.status, 200)
            self.assertEqual(json.loads(body)["page"], "menu")

    def test_remote_needs_a_token(self):
        told = subprocess.run([FATHOM, "view", "--no-open", "--listen", "127.0.0.1", PROFILE],
                              capture_output=True, text=True, timeout=PATIENCE)
        self.assertEqual(told.returncode, 2)
        self.assertIn("needs a token", told.stderr)
        told = subprocess.run([FATHOM, "view", "--no-open", "--token", "short", PROFILE],
                              capture_output=True, text=True, timeout=PATIENCE)
        self.assertEqual(told.returncode, 2)

    def test_token(self):
        with serving("--listen", "127.0.0.1", "--token", TOKEN, PROFILE) as (_, port, url):
            self.assertEqual(ask(port, "/")[0].status, 403)
            self.assertEqual(ask(port, "/", Authorization="Bearer wrong")[0].status, 403)
            self.assertEqual(ask(port, "/", Authorization=f"Bearer {TOKEN}")[0].status, 200)
            self.assertEqual(ask(port, "/login?wrong")[0].status, 403)
            parts = urllib.parse.urlsplit(url)
            answer, _ = ask(port, parts.path + "?" + parts.query)
            self.assertEqual(answer.status, 303)
            self.assertEqual(answer.getheader("Location"), "/")
            cookie = answer.getheader("Set-Cookie")
            self.assertIn("HttpOnly", cookie)
            self.assertIn("SameSite=Strict", cookie)
            self.assertEqual(ask(port, "/", Cookie=cookie.split(";")[0])[0].status, 200)

    def test_token_that_nobody_sees(self):
        with tempfile.TemporaryDirectory() as folder:
            path, empty = pathlib.Path(folder, "token"), pathlib.Path(folder, "empty")
            path.write_text(TOKEN + "\nnot the token\n")
            empty.touch()
            with serving("--token-file", path, PROFILE) as (_, port, _):
                self.assertEqual(ask(port, "/")[0].status, 403)
                self.assertEqual(ask(port, "/", Authorization=f"Bearer {TOKEN}")[0].status, 200)
            for options, text in ((["--token-file", empty], "line 1: expected the token"),
                                  (["--token-file", path, "--token", TOKEN], "not both")):
                told = subprocess.run([FATHOM, "view", *options, PROFILE], capture_output=True, timeout=PATIENCE)
                self.assertNotEqual(told.returncode, 0)
                self.assertIn(text, told.stderr.decode())
        with unittest.mock.patch.dict(os.environ, FATHOM_TOKEN=TOKEN), serving(PROFILE) as (_, port, _):
            self.assertEqual(ask(port, "/")[0].status, 403)
            self.assertEqual(ask(port, "/", Authorization=f"Bearer {TOKEN}")[0].status, 200)


if __name__ == "__main__":
    subprocess.run([GENERATE, "--nodes=3000", "--seed=1", PROFILE], check=True, stdout=subprocess.DEVNULL)
    unittest.main(argv=sys.argv[:1], verbosity=2)

#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The same requests through each web server's CGI and through the HTTP door: equal bodies.

Arguments: the fathom binary (fathom.cgi stands beside it), the generator of sample profiles. Servers that are not installed are
skipped; busybox and lighttpd are expected."""
import contextlib
import difflib
import http.client
import os
import pathlib
import random
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import traceback
import urllib.parse

from patience import PATIENCE, wait_until
from tap import Tap

FATHOM, GENERATOR = (os.path.abspath(name) for name in sys.argv[1:3])
SERVERS = pathlib.Path(__file__).parent / "servers"
MODULES = "/usr/lib/apache2/modules"

QUERIES = [
    ("/deep", "menu"), ("/deep", "root/no"), ("/deep", "root/90"), ("/deep", "clique/1"),
    ("/deep", "clique/2"), ("/deep", "proc/2"), ("/deep", "proc/3"), ("/deep", "program_modules"),
    ("/deep", "proc_callers/3/pr/1/20/nc"), ("/deep", "proc_callers/3/cs/1/20/nc"),
    ("/deep", "proc_callers/3/mo/1/20/nc"), ("/deep", "proc_callers/3/cl/1/20/nc"),
    ("/deep", "top_procs/1-10/callseqs/self/oa"), ("/deep", "top_procs/p1/words/both/oa"),
    ("/deep", "dump_proc_static/2"), ("/deep", "dump_proc_dynamic/2"),
    ("/deep", "dump_call_site_static/2"), ("/deep", "dump_call_site_dynamic/2"),
    ("/deep", "dump_raw_clique/2"), ("/deep", "clique/999999"), ("/deep", "proc/0"),
    ("/deep", "clique_rc/1"), ("/deep", "no_such_command"),
    ("/deep", "menu&p-qtp-S-a-w/box/cols/5/20/nosum/context/nc/th/mqwd/sss/dev"),
    ("/deep.json", "menu"), ("/deep.json", "clique/2"), ("/deep.txt", "proc/2"),
    ("/deep.csv", "top_procs/1-10/callseqs/self/oa"),
]


def free_port():
    """Below those that the system gives to whoever asks for any."""
    while True:
        port = random.randrange(20000, 32000)
        with socket.socket() as probe, contextlib.suppress(OSError):
            probe.bind(("127.0.0.1", port))
            return port


def is_listening(port):
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def begin(begin_at):
    """Begins a server at a free port, at another one when somebody has taken that in between.
    begin_at(port) returns its processes, the one that listens first. Returns the port, too."""
    for _ in range(10):
        port = free_port()
        processes = begin_at(port)
        wait_until(lambda: processes[0].poll() is not None or is_listening(port),
                   f"{processes[0].args} listens")
        if processes[0].poll() is None:
            return port, processes
        stop(processes)
    raise AssertionError(f"{processes[0].args} ended with {processes[0].returncode}")


def fetch(port, prefix, path, query, method="GET", headers=None):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE)
    target = prefix + path + ("?" + query if query else "")
    connection.request(method, target, headers=headers or {})
    response = connection.getresponse()
    body = response.read()
    connection.close()
    return response.status, response.getheader("Content-Type"), body, response


class Place:
    """A folder with cgi-bin, a data file below the root, and one outside."""

    def __init__(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="fathom-web-"))
        self.root = self.folder / "profiles"
        for name in ("profiles", "cgi-bin", "htdocs"):
            (self.folder / name).mkdir()
        self.data = self.root / "sample profile.data"
        subprocess.run([GENERATOR, "--nodes=2000", str(self.data)], check=True,
                       stdout=subprocess.DEVNULL)
        shutil.copy(self.data, self.folder / "outside.data")
        (self.root / "link.data").symlink_to(self.folder / "outside.data")
        (self.folder / "cgi-bin" / "fathom.cgi").symlink_to(FATHOM + ".cgi")

    def fill(self, name, port):
        text = (SERVERS / name).read_text()
        for key, value in (("PORT", port), ("FOLDER", self.folder), ("ROOT", self.root),
                           ("MODULES", MODULES)):
            text = text.replace(f"@{key}@", str(value))
        path = self.folder / name
        path.write_text(text)
        return path

    def servers_left(self):
        run = self.folder / "run"
        return [name.name for name in run.iterdir()] if run.exists() else []

    def close(self):
        shutil.rmtree(self.folder, ignore_errors=True)


def apache_runs_programs(place, process):
    """Its workers listen before they can reach the process that runs programs: that makes its socket as root, and gives
    it to their user afterwards."""
    return any(os.geteuid() != 0 or socket_file.owner() == "www-data"
               for socket_file in place.folder.glob(f"cgid.sock.{process.pid}"))


def start(place, name, port):
    """Returns the processes of one web server."""
    os.chmod(place.folder, 0o755)
    quiet = dict(stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                 start_new_session=True)
    if name == "busybox":
        return [subprocess.Popen(["sh", str(place.fill("busybox.sh", port))], **quiet)]
    if name == "lighttpd":
        return [subprocess.Popen(["/usr/sbin/lighttpd", "-D", "-f",
                                  str(place.fill("lighttpd.conf", port))], **quiet)]
    if name == "apache2":
        if os.geteuid() == 0:  # it gives root up, so the runtime directory is its user's
            shutil.rmtree(place.folder / "run", ignore_errors=True)
            (place.folder / "run").mkdir(mode=0o700)
            shutil.chown(place.folder / "run", "www-data", "www-data")
        process = subprocess.Popen(["/usr/sbin/apache2", "-DFOREGROUND", "-f", str(place.fill("apache2.conf", port))],
                                   env=dict(os.environ, APACHE_RUN_DIR=str(place.folder)), **quiet)
        wait_until(lambda: process.poll() is not None or apache_runs_programs(place, process), "apache2 can run programs")
        return [process]
    (place.folder / "fcgiwrap.sock").unlink(missing_ok=True)
    wrap = subprocess.Popen(["/usr/sbin/fcgiwrap", "-c", "4", "-s",
                             f"unix:{place.folder}/fcgiwrap.sock"], **quiet)
    wait_until((place.folder / "fcgiwrap.sock").exists, "fcgiwrap listens")
    os.chmod(place.folder / "fcgiwrap.sock", 0o666)
    if os.geteuid() == 0:
        shutil.rmtree(place.folder / "run", ignore_errors=True)
    return [subprocess.Popen(["/usr/sbin/nginx", "-p", str(place.folder), "-c",
                              str(place.fill("nginx.conf", port))], **quiet), wrap]


def stop(processes):
    for process in processes:
        try:
            os.killpg(process.pid, signal.SIGTERM)
        except ProcessLookupError:
            pass
    for process in processes:
        try:
            process.wait(timeout=PATIENCE)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            raise


def fetch_whole(port, *address_and_data):
    """The page once its profile is read."""
    answer = fetch(port, "", *address_and_data)
    while b"Not all is known yet" in answer[2]:
        answer = fetch(port, "", *address_and_data)
    return answer[:3]


def reference(place):
    """The answers of the HTTP door."""
    process = subprocess.Popen([FATHOM, "view", "--no-open", "--root", str(place.root),
                                str(place.data)], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                               text=True)
    try:
        port = int(re.search(r"serving http://\S+?:(\d+)/", process.stdout.readline())[1])
        return {key: fetch_whole(port, *address(place, *key)) for key in QUERIES}
    finally:
        process.terminate()
        process.communicate(timeout=PATIENCE)


def address(place, path, query, data=None):
    return path, query + "&" + urllib.parse.quote(str(data or place.data), safe="/")


def first_difference(expected, found):
    lines = difflib.unified_diff(expected.decode(errors="replace").splitlines(),
                                 found.decode(errors="replace").splitlines(), lineterm="")
    return "\n".join(list(lines)[:12])


def check(place, name, expected):
    port, processes = begin(lambda at: start(place, name, at))
    try:
        prefix = "/cgi-bin/fathom.cgi"
        for key in QUERIES:
            status, kind, body, _ = fetch(port, prefix, *address(place, *key))
            assert (status, kind) == expected[key][:2], (key, status, kind, expected[key][:2],
                                                         body[:300])
            assert body == expected[key][2], (f"{name}: another body for {key}: "
                                              + first_difference(expected[key][2], body))
        # no PATH_INFO: sent on to where the links are right
        status, _, _, response = fetch(port, prefix, "", "menu&" + urllib.parse.quote(str(place.data)))
        assert status in (302, 303) and "fathom.cgi/deep?menu&" in response.getheader("Location")
        # only below the root, whatever the spelling
        for outside in (place.folder / "outside.data", place.root / "../outside.data",
                        place.root / "link.data", "/etc/passwd", "/" + "x" * 5000 + ".data"):
            status, _, body, _ = fetch(port, prefix, *address(place, "/deep", "menu", outside))
            assert 400 <= status < 500, (outside, status)
        status, _, _, response = fetch(port, prefix, "/deep", "menu&%0d%0aX-Injected:%20yes.data")
        assert 400 <= status < 500 and response.getheader("X-Injected") is None
        # nothing of a query is ever an option
        status, _, body, _ = fetch(port, prefix, "/deep", "--help")
        assert status == 400 and b"--no-server-process" not in body
        assert place.servers_left(), "a server lives and is named in the runtime directory"
        fetch(port, prefix, *address(place, "/deep", "quit"), method="POST")
        wait_until(lambda: place.servers_left() == [], "the server has ended and left nothing")
    finally:
        stop(processes)


def missing(name):
    programs = {"busybox": ["busybox"], "lighttpd": ["/usr/sbin/lighttpd"],
                "apache2": ["/usr/sbin/apache2"], "nginx": ["/usr/sbin/nginx", "/usr/sbin/fcgiwrap"]}
    return [program for program in programs[name] if shutil.which(program) is None]


def settings(path):
    """Of a configuration, what is to be documented: not what a lint program is told."""
    lines = path.read_text().splitlines()
    return "\n".join(line for line in lines if not line.startswith("# shellcheck ")).strip()


def main():
    place = Place()
    tap = Tap()
    try:
        expected = reference(place)
        for name in ("busybox", "lighttpd", "apache2", "nginx"):
            if missing(name):
                tap.skip(name, f"{' and '.join(missing(name))} not installed")
                continue
            try:
                check(place, name, expected)
                tap.check(True, f"{name}: {len(QUERIES)} bodies equal the HTTP door's")
            except Exception:
                logs = [f"{log.name}: {line}" for log in place.folder.glob("*.log")
                        for line in log.read_text(errors="replace").splitlines()[-10:]]
                tap.check(False, name, "\n".join([traceback.format_exc(), *logs]))
    finally:
        place.close()
    documented = (pathlib.Path(sys.argv[3]) / "docs" / "cgi.md").read_text()
    absent = [path.name for path in sorted(SERVERS.iterdir()) if settings(path) not in documented]
    tap.check(not absent, "docs/cgi.md holds the configurations of these tests", f"{', '.join(absent)} differ")
    return tap.done()


if __name__ == "__main__":
    sys.exit(main())

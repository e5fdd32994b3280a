#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The CGI program itself, with real profiles: commands to the server, options, the list of servers,
the caps, the log. Arguments: fathom.cgi, fathom, the generator of sample profiles, fathom.cgi in which tests
can hold reading up, then names to run."""
import contextlib
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import urllib.parse

CGI, FATHOM, GENERATOR, HELD_CGI = (os.path.abspath(name) for name in sys.argv[1:5])
sys.argv[1:5] = [CGI]

from harness import Answer, is_running, run_tests  # noqa: E402  (looks at sys.argv)
from patience import PATIENCE, wait_until  # noqa: E402


NOBODY = 65534
AS_NOBODY = (f"setpriv --reuid={NOBODY} --regid={NOBODY} --clear-groups".split() if os.geteuid() == 0 else [])


class Place:
    def __init__(self, configuration=""):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="fathom-cgi-"))
        self.root = self.folder / "profiles"
        self.root.mkdir()
        self.runtime = self.folder / "run"
        self.data = self.make("a.data")
        self.configuration = self.folder / "cgi.conf"
        self.configuration.write_text(f"[cgi]\nroots = {self.root}\nruntime = {self.runtime}\n"
                                      + configuration)
        self.environment = {name: os.environ[name] for name in
                            ("PATH", "LC_ALL", "ASAN_OPTIONS", "UBSAN_OPTIONS", "LSAN_OPTIONS")
                            if name in os.environ}
        self.environment["FATHOM_CGI_CONFIG"] = str(self.configuration)

    def make(self, name, nodes=500, *more):
        path = self.root / name
        subprocess.run([GENERATOR, f"--nodes={nodes}", *more, str(path)], check=True,
                       stdout=subprocess.DEVNULL)
        return path

    def ask(self, command, data=None, path="/deep", program=(CGI,), name=None, **more):
        """As a web server would."""
        query = command + "&" + urllib.parse.quote(str(name or data or self.data), safe="/")
        environment = dict(self.environment, GATEWAY_INTERFACE="CGI/1.1", REQUEST_METHOD="GET",
                           PATH_INFO=path, QUERY_STRING=query, **more)
        run = subprocess.run(program, env=environment, stdin=subprocess.DEVNULL,
                             capture_output=True, timeout=PATIENCE)
        answer = Answer(run.stdout, run.stderr.decode())
        answer.exit_status = run.returncode
        return answer

    def by_hand(self, *arguments, program=(FATHOM, "cgi")):
        return subprocess.run([*program, *arguments], env=self.environment, text=True,
                              stdin=subprocess.DEVNULL, capture_output=True, timeout=PATIENCE)

    def names(self):
        return sorted(entry.name for entry in self.runtime.iterdir()) if self.runtime.exists() else []

    def servers(self):
        """{data file's name: process} of those that live."""
        found = {}
        for name in self.names():
            if name.endswith(".server"):
                text = (self.runtime / name).read_text()
                pid = int(re.search(r"^pid (\d+)$", text, re.M)[1])
                if is_running(pid):
                    found[pathlib.Path(re.search(r"^data (.*)$", text, re.M)[1]).name] = pid
        return found

    def close(self):
        for pid in self.servers().values():
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        shutil.rmtree(self.folder, ignore_errors=True)


@contextlib.contextmanager
def place(configuration=""):
    made = Place(configuration)
    try:
        yield made
    finally:
        made.close()


def case_commands_without_a_server_load_nothing():
    with place() as p:
        answer = p.ask("timeout/7")
        assert answer.status == 404 and b"no time-out was set" in answer.body, answer.body
        answer = p.ask("quit")
        assert answer.status == 200 and b"No server was running" in answer.body, answer.body
        assert p.names() == [], "no server, and nothing left"
        assert p.ask("menu").status == 200
        server = p.servers()["a.data"]
        answer = p.ask("timeout/7")
        assert answer.status == 200 and b"Timeout set to 7 minutes" in answer.body
        answer = p.ask("timeout/7", HTTP_SEC_FETCH_SITE="cross-site", HTTP_HOST="a.example")
        assert answer.status == 403, "the server refuses what another site asks for"
        assert p.servers()["a.data"] == server
        answer = p.ask("quit")
        assert answer.status == 200 and b"Shutting down" in answer.body
        wait_until(lambda: p.names() == [], "the server has ended")


def case_no_hooks_of_tests_are_in_it():
    for program in (CGI, FATHOM):
        content = pathlib.Path(program).read_bytes()
        assert b"FATHOM_CGI_CONFIG" in content, "names of variables are found"
        assert not any(name in content for name in (b"FATHOM_STOP_ONCE", b"FATHOM_CLOCK", b"FATHOM_HOLD"))


def case_another_program_gets_another_server():
    with place() as p:
        p.ask("menu")
        p.ask("menu", program=(FATHOM, "cgi"))  # another program, though built at the same time
        assert len([name for name in p.names() if name.endswith(".server")]) == 2, p.names()
        builds = {re.search(r"^build (.*)$", (p.runtime / name).read_text(), re.M)[1]
                  for name in p.names() if name.endswith(".server")}
        assert len(builds) == 2 and all(re.fullmatch("[0-9a-fx]{16,}", build) for build in builds)
        copy = p.folder / "copy.cgi"
        shutil.copy(CGI, copy)  # the same program, wherever it stands
        p.ask("menu", program=(str(copy),))
        assert len([name for name in p.names() if name.endswith(".server")]) == 2, p.names()
        out = p.by_hand("--quit", str(p.data))
        assert (out.returncode, out.stdout) == (0, f"2 servers of {p.data} ended.\n"), out
        assert p.names() == [], "both have ended"
        again = p.by_hand("--quit", str(p.data))
        assert (again.returncode, again.stdout) == (0, f"No server of {p.data} is running.\n"), again


def case_quit_says_what_it_did_and_nothing_else():
    with place() as p:
        p.configuration.write_text(f"[cgi]\nruntime = {p.runtime}\n")  # roots are for pages
        p.by_hand(str(p.data))
        out = p.by_hand("--quit", str(p.data))
        assert (out.returncode, out.stdout, out.stderr) == (0, f"1 server of {p.data} ended.\n", ""), out
        p.folder.chmod(0o755)
        p.runtime.chmod(0)
        if p.by_hand("--version", program=(*AS_NOBODY, FATHOM)).returncode == 0:  # where that can be run
            closed = p.by_hand("--quit", str(p.data), program=(*AS_NOBODY, FATHOM, "cgi"))
            assert (closed.returncode, closed.stdout) == (1, ""), closed
            assert closed.stderr == (f"fathom cgi: runtime directory {p.runtime}: Permission denied, "
                                     "so its servers are not known\n"), closed
        p.runtime.chmod(0o700)
        if os.geteuid() == 0:  # the web server's
            os.chown(p.runtime, NOBODY, NOBODY)
            out = p.by_hand("--quit", str(p.data))
            assert (out.returncode, out.stdout, out.stderr) == (0, f"No server of {p.data} is running.\n", ""), out


def case_old_suffix_and_options_of_the_original():
    with place() as p:
        plain = p.ask("menu")
        suffixed = p.ask("menu", name=f"{p.data}.localhost")
        assert suffixed.status == 200 and suffixed.body == plain.body
        assert p.ask("menu", name=f"{p.data}.localhost.localhost").status == 400
        by_hand = p.by_hand("--no-server-process", f"menu&{p.data}")
        named = p.by_hand("--no-server-process", f"menu&{p.data}.localhost")
        assert named.returncode == 0 and named.stdout == by_hand.stdout, named
        assert p.by_hand("--quit", f"{p.data}.localhost").stdout == f"1 server of {p.data} ended.\n"
        missing = p.by_hand(f"{p.data}.local")
        assert missing.returncode == 1 and f"{p.data}.local: no such file" in missing.stderr, missing
        help_of = [p.by_hand("--help", program=program).stdout
                   for program in ((FATHOM, "cgi"), (CGI,))]
        assert help_of[0] == help_of[1] and help_of[0].startswith("Usage:\n  fathom cgi ["), help_of
        version = p.by_hand("--version")
        assert re.fullmatch(r"fathom \S+ \(build [0-9a-fx]+\)\n", version.stdout), version
        pages = {"--root": "root/no", "--modules": "program_modules", "--clique=1": "clique/1",
                 "--proc=2": "proc/2"}
        for option, command in pages.items():
            one = p.by_hand("--no-server-process", option, str(p.data))
            other = p.by_hand("--no-server-process", f"{command}&{p.data}")
            assert one.returncode == 0 and one.stdout == other.stdout != "", (option, one)
            assert one.stdout.startswith("Status: 200"), one.stdout[:99]
        quiet = p.by_hand("--no-server-process", "--localhost", "--canonical-clique", str(p.data))
        assert quiet.returncode == 0 and quiet.stderr == "", quiet
        told = p.by_hand("--no-server-process", "--write-query-string", f"menu&{p.data}")
        assert told.stderr == f"fathom cgi: query: menu&{p.data}\n", told.stderr
        told = p.by_hand("--no-server-process", "--debug", f"menu&{p.data}")
        assert f"fathom cgi: loading {p.data}\n" in told.stderr, told.stderr
        assert p.by_hand("--no-such-option").returncode == 2


def case_log_goes_to_a_file_when_it_is_asked_for():
    with place() as p:
        p.by_hand("--record-loop", f"menu&{p.data}")
        log = (p.runtime / "cgi.log").read_text()
        assert "loading" in log and "serving" in log and "query menu" in log, log
        assert p.ask("menu").said == "", "the log is no foreign file"
        p.by_hand("--quit", str(p.data))
        wait_until(lambda: p.names() == ["cgi.log"], "the server has ended")
    with place("log-level = startup\n") as p:
        p.ask("menu")
        assert "serving" in (p.runtime / "cgi.log").read_text()
    with place() as p:
        p.ask("menu")
        assert "cgi.log" not in p.names(), "nobody asked"
        out = p.by_hand("--record-startup", f"--log={p.folder}/other.log", "--no-server-process",
                        f"menu&{p.data}")
        assert out.returncode == 0 and "loading" in (p.folder / "other.log").read_text()


def case_something_else_in_the_place_of_the_log():
    for what in ("FIFO", "directory", "symbolic link"):
        with place("log-level = all\n") as p:
            p.runtime.mkdir(mode=0o700)
            log = p.runtime / "cgi.log"
            if what == "FIFO":
                os.mkfifo(log)
            elif what == "directory":
                log.mkdir()
            else:
                log.symlink_to(p.folder / "elsewhere")
            answer = p.ask("menu")
            assert answer.status == 200, answer.status
            assert f"cgi.log: is a {what}, expected a file" in answer.said, answer.said
            assert len(p.servers()) == 1 and not (p.folder / "elsewhere").exists()


def case_long_log_is_begun_anew_but_no_other_file():
    line = "2026-01-02T03:04:05Z 678 serving\n"
    with place("log-level = all\n") as p:
        p.runtime.mkdir(mode=0o700)
        log = p.runtime / "cgi.log"
        for text, kept in ((line * 200000, False), ("My thesis.\n" * 500000, True)):
            log.write_text(text)
            assert p.ask("menu").status == 200
            assert (log.stat().st_size > len(text)) == kept, (text[:20], log.stat().st_size)
            assert "query menu" in log.read_text()[-5000:]


def case_standard_streams_that_are_closed():
    for closed in ("0<&-", "2>&-", "0<&- 2>&-", "0<&- 1>&- 2>&-"):
        with place() as p:
            answer = p.ask("menu", program=("sh", "-c", f'exec "$0" {closed}', CGI))
            assert answer.said == "", (closed, answer.said)
            if "1>&-" in closed:
                assert answer.exit_status == 1, "nobody can have the page"
            else:
                assert answer.status == 200, (closed, answer.status)
            assert len(p.servers()) == 1, closed
            assert p.ask("menu").status == 200


def case_list_knows_files_of_long_names():
    with place() as p:
        folder = p.root
        for _ in range(12):
            folder /= "\u9577" * 80
        folder.mkdir(parents=True)
        data = folder / "a.data"
        shutil.copy(p.data, data)
        p.ask("menu", data)
        text = next(p.runtime.glob("*.server")).read_text()
        assert len(text) > 9000, "a path that is long when it is escaped"

        def idle_row():
            row = p.by_hand("--list").stdout.splitlines()[1]
            assert row.endswith("a.data"), row[-60:]
            return int(row.split()[3]) >= 1
        wait_until(idle_row, "it has been idle for a second")
        for pid in map(int, re.findall(r"^pid (\d+)$", text, re.M)):
            os.kill(pid, signal.SIGKILL)


def case_errors_are_on_the_standard_error():
    with place() as p:
        (p.root / "bad.data").write_text("no profile")
        answer = p.ask("menu", p.root / "bad.data")
        assert answer.status == 422 and answer.said.startswith("fathom cgi: "), answer.said
        assert "bad.data" in answer.said
        assert p.names() == []
        p.configuration.write_text("[cgi]\nservers = many\n")
        answer = p.ask("menu")
        assert answer.status == 500 and b"configured" in answer.body
        assert "servers is 'many', expected 1 to 10000" in answer.said, answer.said


def rows(text):
    head, *lines = text.splitlines()
    assert head.split() == ["pid", "memory", "idle", "owner", "file"], head
    return [line.split(None, 6) for line in lines]


def case_list_of_servers():
    with place() as p:
        assert rows(p.by_hand("--list").stdout) == []
        strange = p.make("b c\n\x1b.data")
        p.ask("menu")
        p.ask("menu", strange)
        found = {row[6]: row for row in rows(p.by_hand("--list").stdout)}
        assert set(found) == {str(p.data), str(strange).replace("\n", "\\n").replace("\x1b", "\\033")}
        pid, memory, unit, idle, seconds, owner, _ = found[str(p.data)]
        assert int(pid) == p.servers()["a.data"] and (unit, seconds) == ("MB", "s")
        assert float(memory) > 0.5 and float(idle) < 60
        import pwd
        assert owner == pwd.getpwuid(os.geteuid()).pw_name
        os.kill(int(pid), signal.SIGKILL)
        wait_until(lambda: not is_running(int(pid)), "the server has ended")
        assert len(rows(p.by_hand("--list").stdout)) == 1, "the dead are not listed"


def case_no_more_servers_than_allowed():
    """Which of them goes, and that busy ones stay, surroundings.py shows, whose clock stands."""
    with place("servers = 2\n") as p:
        files = [p.data, *(p.make(f"{name}.data") for name in "bcd")]
        for path in files:
            assert p.ask("menu", path).status == 200
            assert 1 <= len(p.servers()) <= 2, p.servers()
        crowd = [subprocess.Popen([CGI], env=dict(
            p.environment, GATEWAY_INTERFACE="CGI/1.1", REQUEST_METHOD="GET", PATH_INFO="/deep",
            QUERY_STRING=f"menu&{path}"), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE) for path in files for _ in range(3)]
        for process in crowd:
            output, _ = process.communicate(timeout=PATIENCE)
            assert output.startswith(b"Status: 200"), output[:99]
        assert len(p.servers()) <= 2, p.servers()


def case_no_more_memory_than_allowed():
    with place("memory-mb = 1\n") as p:
        answer = p.ask("menu")
        assert answer.status == 200 and b"Not all is known" not in answer.body
        assert "no room for a server: 0 of 32 live" in answer.said, answer.said
        assert p.servers() == {} and p.names() == []


def case_page_before_all_is_known():
    with place("patience-ms = 1\n") as p:
        big = p.make("big.data", 20000)
        held = p.folder / "cliques"  # src/engine/hold.h
        held.touch()

        def ask(*asked, **how):
            return p.ask(*asked, program=(HELD_CGI,), FATHOM_HOLD=str(p.folder), **how)
        whole = p.by_hand("--no-server-process", f"menu&{big}", program=(CGI,)).stdout
        body = whole.partition("\n\n")[2].encode()
        first = ask("menu", big)
        assert first.status == 200 and b"Not all is known yet" in first.body
        assert b"data-events" not in first.body, "this door has no events"
        assert first.headers["cache-control"] == "no-store" and "etag" not in first.headers
        table = ask("top_procs/1-10/callseqs/self/oa", big, path="/deep.csv")
        assert table.status == 503, table.body
        held.unlink()

        def settled():
            answer = ask("menu", big)
            return answer if b"Not all is known" not in answer.body else None
        last = wait_until(settled, "there is the whole page")
        assert last.body == body, "the page that was waited for"
        assert "etag" in last.headers and len(p.servers()) == 1


def case_link_that_is_put_in_between():
    """Somebody who may write below the root exchanges a profile for a link that leads out of it."""
    with place("servers = 1\n") as p:
        outside = p.folder / "outside.data"
        p.make("../outside.data", 900, "--seed=9")
        name = p.root / "changing.data"
        shutil.copy(p.data, name)
        inside = figures(p.ask("menu", name).body)
        other = p.by_hand("--no-server-process", f"menu&{outside}").stdout.encode()
        assert figures(other) != inside and len(inside) > 5
        p.by_hand("--quit", str(name))
        stop = threading.Event()

        def exchange():
            link, copy = p.folder / "link", p.folder / "copy"
            while not stop.is_set():
                link.symlink_to(outside)
                link.rename(name)
                shutil.copy(p.data, copy)
                copy.rename(name)
                time.sleep(0.002) # else there is a link nearly always, and nothing to serve
        changer = threading.Thread(target=exchange)
        changer.start()
        try:
            answers = [p.ask("menu", name) for _ in range(150)]

            def is_served():
                answers.append(p.ask("menu", name))
                return any(a.status == 200 for a in answers)
            wait_until(is_served, "a page is served")
        finally:
            stop.set()
            changer.join()
        whole, begun = [], [] # what each page shows; the latter say that not all is known yet
        for answer in answers:
            if answer.status == 200:
                part = b"Not all is known yet" in answer.body
                (begun if part else whole).append(figures(answer.body))
        assert whole + begun and all(found == inside for found in whole) and \
            all(found == inside[:len(found)] for found in begun), {
                "inside": inside, "outside": figures(other),
                "whole": [found for found in whole if found != inside][:3], "begun": begun[:3]}


def figures(body):
    """What tells profiles apart: the figures in the menu's tables."""
    return re.findall(rb"<td[^>]*>([0-9][0-9,.]*)", body)


def main():
    found = [(name, function) for name, function in globals().items() if name.startswith("case_")]
    return run_tests([(name[5:].replace("_", " "), function) for name, function in found])


sys.exit(main())

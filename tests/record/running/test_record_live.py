#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`fathom record --live`: pages while the program runs, which lead on to its whole profile when it has
ended; signals and the exit status are those of plain `fathom record`."""
import os
import pathlib
import re
import select
import signal
import socket
import subprocess
import sys
import tempfile

import record_lib as lib
from patience import PATIENCE, wait_until
from view_lib import Pages, calls_of, reaches

HERE = pathlib.Path(__file__).resolve().parent


class Live:
    def __init__(self, folder, *command, options=()):
        self.process = subprocess.Popen(
            [lib.FATHOM, "record", "--live", "--no-open", *options, "-o", "out", "--", *command],
            cwd=folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.address = self.line(r"serving (http://([^/]+)/)")

    def line(self, pattern):
        """Standard error as far as that."""
        self.said = ""
        for line in self.process.stderr:
            self.said += line.decode()
            if re.search(pattern, line.decode()):
                return re.search(pattern, line.decode())
        return None

    def step(self, order):
        self.process.stdin.write(order.encode())
        self.process.stdin.flush()
        return self.process.stdout.read(1)

    def pages(self):
        """As soon as there is a profile: "/" leads to its menu."""
        pages = Pages(self.address[2], None)

        def leads_on():
            status, text = pages.get("/")
            assert status == 303 or "has recorded nothing yet" in text, text[:3000]
            return status == 303
        wait_until(leads_on, "the first page leads to the profile's menu")
        pages.file = pages.location.split("&")[-1]
        return pages

    def end(self, number):
        """After that signal, when the whole profile is served."""
        self.process.send_signal(number)
        rest = self.process.communicate(timeout=PATIENCE)
        return self.process.returncode, rest[1].decode()


def whole_run(tap, folder):
    live = Live(folder, "./steps")
    tap.same(live.step("w 1234"), b"k", "the program's input and output are its own")
    pages = live.pages()
    tap.check(1234 in reaches(pages, 1234), "its calls until then", calls_of(pages))
    page = pages.page("menu")
    tap.check("still runs" in page and "data-live=" in page, "pages say that it runs", page[:2000])
    pages.listen()
    pages.event()
    live.step("w 4321")
    tap.check(5555 in reaches(pages, 5555), "more of them", calls_of(pages))
    phase = pages.moment()
    live.step("w 66")
    live.process.stdin.write(b"e 7")
    live.process.stdin.close()
    live.process.stdin = None
    state = pages.event()
    while state["running"]:
        state = pages.event()
    tap.check(state["finished"], "the end is told", state)
    status, _ = pages.get(f"/deep?menu&{pages.file}")
    where = pages.location
    tap.check(status == 303 and where.endswith("out.data"), "pages lead on to the whole profile",
              (status, where))
    pages.file = where.split("&")[-1]
    page = pages.page("menu")
    tap.check("still runs" not in page and "data-live=" not in page, "which is as any other",
              page[:2000])
    tap.check(5621 in calls_of(pages), "all of its calls", calls_of(pages))
    tap.check(66 in calls_of(phase), "a phase is there to its end", calls_of(phase))
    page = phase.page("menu")
    tap.check("to the end" in page and "data-live=" not in page, "and says so", page[:2000])
    status, page = pages.get("/")
    tap.check(status == 200 and page.count("out.data") > 0 and "since" in page,
              "the first page lists it and the phase", page[:2000])
    live.line("still serving")
    tap.check("out.data" in live.said, "the summary is printed when the program has ended", live.said)
    pages.close()
    tap.same(live.end(signal.SIGINT)[0], 7, "the exit status is the program's")


def processes(tap, folder):
    """Two of them, which are one profile in the end."""
    live = Live(folder, "./steps")
    live.step("w 10")
    live.step("f 20")  # from here on the child is told what to do
    pages = Pages(live.address[2], None)

    def listed(*names):
        """The links of each name on the first page, when both processes have all of them."""
        def both():
            front = pages.get("/")[1]
            found = [re.findall(rf'href="deep\?{name}&amp;([^"]*)"', front) for name in names]
            assert all(len(links) == 2 for links in found), found
            return found
        return wait_until(both, f"both processes have links to {names}")

    files, = listed("menu")
    tap.same(len(files), 2, "both processes are listed")
    waits, leaks = listed("waits", "leaks")
    tap.same((sorted(waits), sorted(leaks)), (sorted(files), sorted(files)),
             "one click from what each of them waits for and holds")
    tap.check("Waits and locks" in Pages(pages.host, waits[0]).page("menu") and
              "Still live at that moment" in Pages(pages.host, leaks[0]).page("leaks"), "which lead there")
    files.sort(key=lambda name: not name.endswith("/out.data"))
    of_child = Pages(pages.host, files[1])
    tap.check(20 in reaches(of_child, 20), "the child has its own calls", calls_of(of_child))
    of_child.listen()
    state = of_child.event()
    tap.check(state["running"], "the child runs", state)
    live.step("e 0")  # answered by the parent, which goes on
    while state["running"]:
        state = of_child.event()
    tap.check("has ended" in state["text"] and not state["finished"], "the child's end is told", state)
    of_child.close()
    parent = Pages(pages.host, files[0])
    tap.check("still runs" in parent.page("menu"), "the parent goes on", parent.page("menu")[:2000])
    rest = live.process.stdin
    live.process.stdin = None
    rest.write(b"e 0")
    rest.close()
    live.line("still serving")
    for file in files:
        status, page = pages.get(f"/deep?menu&{file}")
        tap.check(status == 303 and pages.location.endswith("out.data"),
                  "pages of both lead on to the profile of both", (status, pages.location, page[:300]))
    links = re.findall(r'href="deep\?menu&amp;([^"]*)"', pages.get("/")[1])
    whole = Pages(pages.host, (pages.location or "").split("&")[-1])
    tap.check(30 in calls_of(whole), "which has the calls of both", (calls_of(whole), links))
    tap.same(live.end(signal.SIGTERM)[0], 0, "and is served until the end")


def signals(tap, folder):
    live = Live(folder, "./steps")
    live.step("w 10")
    live.process.send_signal(signal.SIGTERM)
    live.line("still serving")
    tap.check("signal 15" in live.said, "a signal goes to the program", live.said)
    tap.same(live.end(signal.SIGTERM)[0], -signal.SIGTERM, "and is its end")


def state_of(pid):
    return pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]


def asked_when_gone(tap, folder):
    """A signal that finds the program gone is for us: nobody else is there to end. Its parent may not
    have waited for it by then."""
    ended = 0
    for unreaped in (True, False) * 4:
        live = Live(folder, "./steps")
        live.step("w 10")
        task = pathlib.Path(f"/proc/{live.process.pid}/task/{live.process.pid}/children")
        program = os.pidfd_open(int(task.read_text()))
        if unreaped:
            live.process.send_signal(signal.SIGSTOP)
            wait_until(lambda: state_of(live.process.pid) == "T", "the command is stopped")
        live.process.stdin.write(b"e 0")
        live.process.stdin.flush()
        select.select([program], [], [])
        os.close(program)
        live.process.send_signal(signal.SIGTERM)
        live.process.send_signal(signal.SIGCONT)
        try:
            live.process.communicate(timeout=PATIENCE)
            ended += 1
        except subprocess.TimeoutExpired:
            live.process.kill()
            live.process.communicate()
    tap.same(ended, 8, "who asks when the program has just gone ends what is shown")


def errors(tap, folder):
    pathlib.Path(folder, "static.c").write_text("int main(void) { return 0; }")
    lib.must(["gcc", "-static", "static.c", "-o", "static"], folder)
    plain = Live(folder, "./static")
    said = plain.process.communicate(timeout=PATIENCE)[1].decode()
    tap.check(plain.process.returncode == 1 and "is fully static" in plain.said + said,
              "nothing to show: it ends", said)
    missing = Live(folder, "./no-such-program")
    tap.check(missing.address is None and "no-such-program" in missing.said, "no such program",
              missing.said)
    missing.process.communicate(timeout=PATIENCE)
    tap.same(missing.process.returncode, 127, "as the shell says it")
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = str(taken.getsockname()[1])
        busy = Live(folder, "/usr/bin/touch", "ran", options=("--port", port))
        busy.process.communicate(timeout=PATIENCE)
    tap.check(busy.process.returncode == 1 and port in busy.said, "a port that is taken", busy.said)
    tap.check(not (pathlib.Path(folder) / "ran").exists(), "and the program is not started")
    wrong = lib.run([lib.FATHOM, "record", "--port", "1", "--", "true"], folder)
    tap.check(wrong.returncode == 2 and "--live" in wrong.stderr, "a port without pages", wrong.stderr)


def quit_by_page(tap, folder):
    live = Live(folder, "./steps")
    live.step("w 10")
    pages = live.pages()
    pages.get(f"/deep?quit&{pages.file}")
    rest = live.process.communicate(b"e 3", timeout=PATIENCE)[1].decode()
    tap.same(live.process.returncode, 3, "a server that was told to quit lets the program go on")
    tap.check("out.data" in rest, "and its profile is made", rest)


def main():
    tap = lib.Tap()
    with tempfile.TemporaryDirectory() as folder:
        lib.must([lib.FATHOM, "cc", "--grade=deep", "-O1", "-g", HERE / "steps.c", "-o", "steps",
                  "-lpthread"], folder)
        whole_run(tap, folder)
        processes(tap, folder)
        signals(tap, folder)
        asked_when_gone(tap, folder)
        errors(tap, folder)
        quit_by_page(tap, folder)
    return tap.done()


sys.exit(main())

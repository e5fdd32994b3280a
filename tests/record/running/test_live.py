#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`fathom view` of a program that runs: its pages are those of now, say so, and their streams tell when
there is more; of one that has ended all is there."""
import csv
import io
import pathlib
import re
import subprocess
import sys
import tempfile
import time
import urllib.parse

import record_lib as lib
from patience import PATIENCE, wait_until
from view_lib import Pages, View, calls_of, reaches

HERE = pathlib.Path(__file__).resolve().parent


def until(view, wanted):
    """Another generation that has this number of calls."""
    while True:
        state = view.event()
        if wanted in calls_of(view) or not state["running"]:
            return state


def listed(view):
    return [urllib.parse.unquote(name) for name in
            re.findall(r'href="deep\?menu&amp;([^"]*)"', view.get("/")[1])]


def phases(tap, view, step):
    tap.same(view.get(f"/moment?menu&{view.file}")[0], 405, "a moment is not set by looking")
    phase = view.moment("top_procs/1-20/callseqs/self/oa")
    tap.check(view.page_of_moment.startswith("deep?top_procs"), "the same page of the phase",
              view.page_of_moment)
    step("w 77")
    tap.check(77 in reaches(phase, 77), "what came since the moment, and nothing else",
              calls_of(phase))
    page = phase.page("menu")
    tap.check("This phase began at" in page and "data-live=" in page, "it goes on", page[:2000])
    step("p 3")
    tap.check(80 in reaches(phase, 80), "with the program", calls_of(phase))
    second = phase.moment("proc/3")
    tap.check(view.page_of_moment != phase.page_of_moment and "menu" in phase.page_of_moment,
              "numbers of one profile are not those of another", phase.page_of_moment)
    step("w 5")
    tap.check(5 in reaches(second, 5), "another phase", calls_of(second))
    names = wait_until(lambda: [names for names in [listed(view)] if len(names) >= 5],
                       "the whole and its phases are listed")[0]
    between = [name for name in names if name.endswith(" s.data") and " to " in name]
    tap.same((len(names), len(between)), (5, 2), "all of them are listed")
    first = Pages(view.host, urllib.parse.quote(between[0]))
    tap.check(5555 in calls_of(first), "what came before the first moment", calls_of(first))
    middle = Pages(view.host, urllib.parse.quote(between[1]))
    tap.check(80 in calls_of(middle), "what came between the two", calls_of(middle))
    page = middle.page("menu")
    tap.check("recorded from" in page and "data-live=" not in page, "which is over", page[:2000])


def subject(view, query):
    """What a page is about: its heading, without markup."""
    heading = re.search(r"<h1[^>]*>(.*?)</h1>", view.page(query), re.S)
    return re.sub(r"<[^>]*>|\s+", " ", heading[1]).strip()


def addresses_last(tap, view, step):
    """Another function, and threads with one, shift the numbers: pages that are open stay what they are."""
    by_number, subjects = {}, {}
    for kind in ("proc/", "clique/", "tree/calls/down/3/clique/", "flame/calls/down/_/proc/"):
        for number in range(1, 5):
            view.page("menu")
            status, _ = view.get(f"/deep?{kind}{number}&{view.file}")
            if status != 303:
                continue
            query = view.location.lstrip("?").split("&")[0]
            by_number[f"{kind}{number}"] = query
            subjects[query] = subject(view, query)
    tap.check(len(subjects) >= 12 and all("@" in urllib.parse.unquote(query) for query in subjects),
              "numbers lead on to what lasts", subjects)
    tap.check(all(re.search(r'href="\?(proc|clique)/%40[0-9a-f]{16}&', view.page(query))
                  for query in subjects if query.startswith("clique/")), "as links do", subjects)
    before = 5555 + 77 + 3 + 5  # of main() and of the phases, which the whole may hear of later
    tap.check(before in reaches(view, before), "the whole has what the phases have", calls_of(view))
    step("p 6")
    step("t 11")
    tap.check(before + 39 in reaches(view, before + 39), "another function and threads", calls_of(view))
    tap.same({query: subject(view, query) for query in subjects}, subjects, "each is about the same")
    shifted = 0
    for text, query in by_number.items():
        view.get(f"/deep?{text}&{view.file}")
        shifted += (view.location or "").lstrip("?").split("&")[0] != query
    tap.check(shifted > 0, "which the numbers are not", by_number)


def versions(tap, view, step):
    """What the stream sends, the page and then what differs, is at each moment the page."""
    reader = Pages(view.host, view.file)
    reader.listen()
    text, met = None, 0

    def met_often():
        nonlocal text, met
        text = reader.version(text)
        step("w 0")
        met += text == view.get(f"/deep?menu&{view.file}")[1]  # which may be the next one by now
        return met == 3
    tap.check(wait_until(met_often, "page and differences have added up to the page three times"),
              "page and differences add up to the page")
    reader.close()
    again = Pages(view.host, view.file)
    again.listen()
    tap.check("<html" in again.version(None), "who comes again begins with the whole page")
    again.close()


def figures(tap, view, step):
    """Of a flame graph whose boxes are as they were, their figures alone are sent."""
    query, reader, text, met, sizes = "flame/calls/down/_/all", Pages(view.host, view.file), None, 0, []
    reader.listen(query)

    def least():
        """Not all are small: a box may come or go."""
        return min((sent / size for sent, size in sizes), default=1)

    def met_often():
        nonlocal text, met
        before, text = text, reader.version(text)
        if before is not None and "<svg" in text:
            sizes.append((reader.sent, len(text)))
        step("w 0")
        met += text == view.get(f"/deep?{query}&{view.file}")[1]
        return met >= 3 and (least() < 0.25 or len(sizes) >= 10)
    tap.check(wait_until(met_often, "figures have added up to the flame graph's page three times"),
              "figures that are sent add up to the flame graph's page")
    reader.close()
    tap.check(least() < 0.25, "and are less than a quarter of it", sizes)


def timeless(text):
    """The program waits for the test meanwhile: without what it waited. The rows of all tables."""
    return [{name: value for name, value in row.items() if not name.startswith("wait")}
            for table in re.split(r"\r?\n\r?\n", text.rstrip()) for row in csv.DictReader(io.StringIO(table))]


def at_each_moment(tap, view, folder, step):
    """Pages of one moment agree with each other, and with a profile that is made of the same recording by
    another command; who asks now and then without hearing of generations gets whole pages, too."""
    wanted, unfinished = calls_of(view)[1] + 25, 0
    other = View(folder, "out.rec")
    other.page("waits", ".json")  # what comes later is handed over whole
    for _ in range(8):
        step("w 3")
        status, text = other.get(f"/deep.json?waits&{other.file}")
        unfinished += status != 200 or '"page":"unfinished"' in text.replace(" ", "")
        time.sleep(0.7)
    other.end()
    tap.same(unfinished, 0, "a page that is asked for now and then is there")
    step("w 1")
    tap.check(wanted in reaches(view, wanted), "all that was done is shown", (wanted, calls_of(view)))
    for query in ("top_procs/1-20/callseqs/self/oa", "tree/calls/down/9/all", "program_modules", "memory/allocated"):
        own = lib.must([lib.FATHOM, "report", "--csv", query, "out.rec"], folder).stdout
        tap.same(timeless(view.page(query, ".csv")), timeless(own), query + ": as of the recording")


def main():
    tap = lib.Tap()
    with tempfile.TemporaryDirectory() as folder:
        lib.must([lib.FATHOM, "cc", "--grade=deep", "-O1", "-g", HERE / "steps.c", "-o", "steps",
                  "-lpthread"], folder)
        program = subprocess.Popen([lib.FATHOM, "record", "-q", "-k", "-o", "out", "--", "./steps"],
                                   cwd=folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE)

        def step(order):
            program.stdin.write(order.encode())
            program.stdin.flush()
            assert program.stdout.read(1) == b"k"

        step("w 1234")
        view = View(folder, "out.rec")
        page = view.page("menu")
        tap.check("still runs" in page and "data-live=" in page, "the page says that it runs",
                  page[:2000])
        tap.check(1234 in calls_of(view), "its calls until then", calls_of(view))
        status, kind = view.listen()
        tap.same((status, kind.split(";")[0]), (200, "text/event-stream"), "it has a stream")
        first = view.event()
        tap.check(first["running"] and "still runs" in first["text"], "which says what there is",
                  first)
        step("w 4321")
        state = until(view, 5555)
        tap.check(state["running"] and state["generation"] > first["generation"],
                  "more calls, another generation", state)
        versions(tap, view, step)
        figures(tap, view, step)
        phases(tap, view, step)
        addresses_last(tap, view, step)
        at_each_moment(tap, view, folder, step)
        program.stdin.close()
        program.wait(PATIENCE)
        program.stdout.close()
        while state["running"]:
            state = view.event()
        tap.check("has ended" in state["text"], "the end is told", state)
        page = view.page("menu")
        tap.check("has ended" in page and "data-live=" not in page, "also by the page", page[:2000])
        status, _ = view.get(f"/live?menu&{urllib.parse.quote('nothing.data')}")
        tap.same(status, 404, "other files have no such stream")
        tap.same(view.end(), 0, "the server ends")
        missing = lib.run([lib.FATHOM, "view", "--no-open", "pid:4194305"], folder)
        tap.check(missing.returncode == 1 and "there is no process 4194305" in missing.stderr,
                  "no such process", missing.stderr)
    return tap.done()


sys.exit(main())

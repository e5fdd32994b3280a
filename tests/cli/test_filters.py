#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Each filter that a page, a manual, a help text or a document shows is run on a sample, and accepts
some of its events, not all: test_filters.py FATHOM SOURCE. Speaks TAP."""
import os
import pathlib
import re
import struct
import subprocess
import sys
import tempfile

from patience import PATIENCE
from tap import Tap

FATHOM, SOURCE = sys.argv[1], pathlib.Path(sys.argv[2])
FOLDER = pathlib.Path(tempfile.mkdtemp(prefix="fathom-filters-"))
CREATE, RUN, STOP, MARKER, MESSAGE, RTS, ARGS, PID, NAME, LABEL, BEGIN, END = 0, 1, 2, 18, 19, 29, 30, 32, 42, 44, 512, 513
SIZES = {CREATE: 4, RUN: 4, STOP: 10, MARKER: 14, MESSAGE: -1, RTS: -1, ARGS: -1, PID: 8, NAME: -1, LABEL: -1,
         BEGIN: 4, END: 4}
SECOND = 10**9


def event(number, time, payload):
    return struct.pack(">HQ", number, time) + (struct.pack(">H", len(payload)) if SIZES[number] < 0 else b"") + payload


def block(lane, events):
    times = [struct.unpack_from(">Q", one, 2)[0] for one in events]
    body = b"".join(events)
    return event(MARKER, min(times), struct.pack(">IQH", 24 + len(body), max(times), lane)) + body


def sample(path):
    """The process make: threads 1 to 5, of which 1 and 4 are workers and 3 and 5 run on theirs."""
    types = b"".join(b"etb\0" + struct.pack(">Hh", number, size) + struct.pack(">I", 4) + b"type" +
                     struct.pack(">I", 0) + b"ete\0" for number, size in SIZES.items())
    blocks = [block(0xFFFF, [event(RTS, 0, b"\0\0\0\0fathom-0.1.0 C event log"), event(ARGS, 0, b"\0\0\0\0make\0"),
                             event(PID, 0, struct.pack(">II", 0, 77)), event(NAME, 0, b"parse" + struct.pack(">I", 1))])]
    for lane, (thread, label) in enumerate([(1, b"worker 1"), (2, b"main"), (4, b"worker 2")]):
        ident = struct.pack(">I", thread)
        events = [event(CREATE, 10, ident), event(RUN, 10, ident), event(LABEL, 11, ident + label)]
        for time in (SECOND, 2 * SECOND):
            events += [event(BEGIN, time, struct.pack(">I", 1)), event(MESSAGE, time + 1, b"halfway"),
                       event(END, time + 2, struct.pack(">I", 1))]
        if label == b"main":
            for of_its_own, status in ((3, 8), (5, 5)):
                number = struct.pack(">I", of_its_own)
                events += [event(CREATE, 2 * SECOND + 3, number), event(RUN, 2 * SECOND + 4, number),
                           event(STOP, 2 * SECOND + 5, number + struct.pack(">HI", status, 0))]
        blocks.append(block(lane, events))
    path.write_bytes(b"hdrbhetb" + types + b"hetehdredatb" + b"".join(blocks) + b"\xff\xff")


def cat(*arguments):
    done = subprocess.run([FATHOM, "log", "cat", *map(str, arguments)], capture_output=True, text=True, timeout=PATIENCE)
    assert done.returncode == 0, (arguments, done.stderr)
    return done.stdout.splitlines(), done.stderr


def shown():
    """Filter -> where it is shown."""
    def read(*path):
        return SOURCE.joinpath(*path).read_text()
    found = {}
    section = read("docs", "traces.md").split("## Filters", 1)[1]
    places = {
        "docs/traces.md": section.split("```")[1].strip().splitlines(),
        "fathom-log(1)": re.findall(r"--filter '([^']+)'", read("docs", "man", "fathom-log.1.scd")),
        "web/trace/main.js": [one.replace('\\"', '"') for one in
                              re.findall(r'"Filter events: +((?:[^"\\]|\\.)+)"', read("web", "trace", "main.js"))],
        "src/pages/trace/page.c": re.findall(r'"(event\.[^"]+)"', read("src", "pages", "trace", "page.c")),
        "src/cli/log/cmd_log_cat.c": re.findall(r"'(event\.[^']+)'", read("src", "cli", "log", "cmd_log_cat.c")),
        "src/trace/filter/filter.h": [one.replace('\\"', '"') for one in re.findall(
            r"^ \*   (!?\(?(?:event|state|lane)\..*[^ ])$", read("src", "trace", "filter", "filter.h"), re.M)],
    }
    for place, filters in places.items():
        assert filters, place
        for one in filters:
            found[one] = place
    return found


def every_shown_filter_accepts_something():
    log = FOLDER / "sample.eventlog"
    sample(log)
    all_events, _ = cat("--sort", log)
    filters = shown()
    assert len(filters) >= 8, filters
    for one, place in filters.items():
        lines, told = cat("--filter", one, log)
        assert 0 < len(lines) < len(all_events), (place, one, len(lines), told)
        assert told == "", (one, told)


def quotes_change_nothing_but_what_may_stand_in_them():
    log = FOLDER / "sample.eventlog"
    for bare, quoted in (("lane.name = worker*", 'lane.name = "worker*"'), ("lane.name = *", 'lane.name = "*"'),
                         ("lane.name = w*1", 'lane.name="w*1"')):
        assert cat("--filter", bare, log) == cat("--filter", quoted, log), bare
        assert cat("--filter", bare, log)[0], bare


def a_filter_that_accepts_nothing_says_so():
    log = FOLDER / "sample.eventlog"
    lines, told = cat("--filter", 'lane.name = "wroker*" & event.name = SpanBegin', log)
    assert lines == [], lines
    assert told.startswith('fathom log cat: No event passes the filter. No lane is named wroker*; the nearest: '
                           'worker 1, worker 2, '), told
    _, told = cat("--filter", "event.name = SpnBegin", log)
    assert "No type of event is named SpnBegin; the nearest: SpanBegin," in told, told
    _, told = cat("--filter", "lane.name = worker* & event.time > 5", log)
    assert told == "fathom log cat: No event passes the filter.\n", told
    _, told = cat("--filter", "lane.name = \"worker\\*\"", log)
    assert 'No lane is named "worker\\*"; the nearest: worker 1' in told, told


TESTS = [every_shown_filter_accepts_something, quotes_change_nothing_but_what_may_stand_in_them,
         a_filter_that_accepts_nothing_says_so]


def main():
    tap = Tap()
    for test in TESTS:
        tap.case(test)
    for path in FOLDER.iterdir():
        os.unlink(path)
    FOLDER.rmdir()
    return tap.done()


if __name__ == "__main__":
    sys.exit(main())

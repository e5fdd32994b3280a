#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Behind a switch of stacks, with no call of a hooked function in between: waits, allocations, time and the holder of a
lock are those of the function that runs, whatever switched the stacks and wherever they are."""
import json
import pathlib
import re
import sys
import tempfile

import record_lib as lib
from patience import PATIENCE

# At the full grade its inlined parts are functions, too.
DRIVER = ("driver", "spin", "until_somebody_wants")
HERE = pathlib.Path(__file__).resolve().parent


def holders_of(folder):
    page = json.loads(lib.must([lib.FATHOM, "report", "--json", "waits", "out.data"], folder).stdout)
    rows = next(table["rows"] for table in page["tables"] if table["name"] == "lock_holders")
    return [re.findall(r"driver|until_somebody_wants|coroutine\w*", json.dumps(row["cells"]["holder"])) for row in rows]


def check(tap, folder, grade, switch, place):
    done = lib.must([lib.FATHOM, "record", "-q", "-o", "out", "./resumed", switch, place], folder, timeout=PATIENCE)
    looks = int(done.stdout)
    profile = lib.Profile(folder / "out.data")
    name = f"{grade}, {switch}, {place}: "
    heap = profile.heap
    tap.same({key: heap[key] for key in (("coroutine_waits", "waits"), ("coroutine", "waits"))},
             {("coroutine_waits", "waits"): 2, ("coroutine", "waits"): 0}, name + "waits of the coroutine")
    waits = sum(heap[function, "waits"] for function in DRIVER)
    # Beside the looks two polls, and the thread that is joined, unless it has ended before.
    tap.check(looks + 2 <= waits <= looks + 3, name + "and of who drives it", (waits, looks))
    tap.same({function: profile.bytes[function] for function in ("coroutine_waits", "coroutine")},
             {"coroutine_waits": 300, "coroutine": 777}, name + "bytes of the coroutine")
    # The thread that it makes has some, too.
    tap.check(3000 <= profile.bytes["driver"] < 4000, name + "and of who drives it", profile.bytes["driver"])
    # It spins for 300 ms. What a late tick charges may be anybody's, but not most of it.
    tap.check(2 * sum(profile.quanta[function] for function in DRIVER) > sum(profile.quanta.values()), name + "time",
              dict(profile.quanta))
    found = holders_of(folder)
    tap.check(len(found) == 1 and found[0] and set(found[0]) <= set(DRIVER), name + "who held the lock", found)


def check_coverage(tap, folder, switch):
    lib.must([lib.FATHOM, "cc", "--grade=coverage", "gcc", "-O0", "-g", HERE / "resumed.c", "-o", "covered", "-pthread"],
             folder)
    lib.must([lib.FATHOM, "record", "-q", "-o", "covered", "./covered", switch, "heap"], folder, timeout=PATIENCE)
    text = lib.must([lib.DUMP, folder / "covered.data"], folder).stdout
    lines = {int(row[2]): row[3] for row in (line.split("\t") for line in text.splitlines()) if row[0] == "line"}
    source = (HERE / "resumed.c").read_text().splitlines()
    wanted = {"poll(NULL, 0, 20);": "1", "kept[3] = malloc(2000);": "1", "poll(NULL, 0, 5);": "1"}
    numbers = {words: at for at, line in enumerate(source, 1) for words in [line.strip()] if words in wanted}
    tap.same({words: lines.get(number) for words, number in numbers.items()}, wanted,
             f"coverage, {switch}: lines behind a switch have run")


def main():
    tap = lib.Tap()
    with tempfile.TemporaryDirectory() as text:
        folder = pathlib.Path(text)
        for grade in ("deep", "full"):
            lib.must([lib.FATHOM, "cc", f"--grade={grade}", "gcc", "-O2", "-g", HERE / "resumed.c", "-o", "resumed",
                      "-pthread"], folder)
            for switch in ("context", "own"):
                for place in ("heap", "static"):
                    check(tap, folder, grade, switch, place)
        for switch in ("context", "own"):
            check_coverage(tap, folder, switch)
    return tap.done()


sys.exit(main())

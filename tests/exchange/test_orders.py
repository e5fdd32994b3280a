#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""An order or a measure that a profile does not know: one sentence that says so in each format, and no table in the
order of zeros. usage: test_orders.py FATHOM"""
import html
import json
import os
import re
import sys
import tempfile

from exchange_lib import check, end, must, run, said

fathom = sys.argv[1]

CALLS = "numbers of calls were not recorded"
ENDS = "how calls ended was not recorded"
TIMES = "allocations were not recorded"
BYTES = "allocated memory was not recorded"
TIME = "time was not recorded"
ORDERED = "&p-t-s-_-b/box/cols/5/20/nosum/{}/nc/th/mqwd/hhh/nodev"
OF_SAMPLES = {
    "top_procs/1-9/calls/self/oa": CALLS,
    "top_procs/1-9/callseqs/both/oa": CALLS,
    "top_procs/1-9/redos/self/oa": ENDS,
    "top_procs/1-9/allocs/self/oa": TIMES,
    "top_procs/1-9/words/both/oa": BYTES,
    "top_procs/1-9/time/self/pc": CALLS,
    "tree/calls/down/3/all": CALLS,
    "tree/bytes/up/3/all": BYTES,
    "tree/allocs/down/3/all": TIMES,
    "tree/waiting/down/3/all": "waits were not recorded",
    "tree/live/down/3/all": "live memory at the end was not recorded",
    "tree/peak/down/3/all": "peak memory was not recorded",
    "flame/calls/down/_/all": CALLS,
    "flame/bytes/down/_/all": BYTES,
    "graph/calls/proc/main": CALLS,
    "recursions/calls": CALLS,
    "proc/main" + ORDERED.format("cost-calls-self-oa"): CALLS,
    "proc/main" + ORDERED.format("cost-words-both-oa"): BYTES,
    "proc/main" + ORDERED.format("cost-time-self-pc"): CALLS,
    "clique/1" + ORDERED.format("cost-allocs-self-oa"): TIMES,
}
KNOWN_OF_SAMPLES = (
    "top_procs/1-9/time/self/oa", "tree/time/down/3/all", "flame/time/down/_/all", "proc/main", "clique/1",
    "proc/main" + ORDERED.format("cost-time-both-oa"), "proc/main" + ORDERED.format("name"))


def check_refused(data, query, why):
    wanted = f"fathom report: {os.path.basename(data)}: not available for this file: {why}\n"
    for form in ("text", "json", "csv", "html"):
        told = run(fathom, "report", "--" + form, query, data)
        check(f"{query} as {form} is not recorded", (told.returncode, told.stdout, told.stderr) == (1, "", wanted),
              told)


def check_links(data, query):
    """No page offers an order that it would then refuse."""
    refused = []
    for link in set(re.findall(r'href="\?([^"]*)"', said(fathom, "report", "--html", query, data))):
        to = html.unescape(link).rsplit("&", 1)[0]
        if "/cost-" in to or to.startswith(("top_procs/", "tree/", "flame/", "graph/", "recursions/")):
            told = run(fathom, "report", "--json", to, data)
            if told.returncode != 0:
                refused.append((to, told.stderr))
    check(f"{query} leads to no order that is not recorded", not refused, refused)


def main():
    with tempfile.TemporaryDirectory(prefix="fathom-orders-") as folder:
        given, data = os.path.join(folder, "s.folded"), os.path.join(folder, "s.data")
        with open(given, "w", encoding="utf-8") as file:
            file.write("main;work 40\nmain;idle;x 10\n")
        must(fathom, "import", "-o", data, given)
        for query, why in OF_SAMPLES.items():
            check_refused(data, query, why)
        for query in KNOWN_OF_SAMPLES:
            page = json.loads(said(fathom, "report", "--json", query, data))
            check(f"{query} has rows", any(table["rows"] for table in page["tables"]) or query.startswith("flame"), page)
        for query in ("menu", "proc/main", "clique/1", "root/no"):
            check_links(data, query)
        told = run(fathom, "tree", "--by=peak", data)
        check("fathom tree says so, too", told.returncode == 1 and
              "s.data: not available for this file: peak memory was" in told.stderr, told)
    end()


main()

#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A call site that calls very many procedures: test_many_callees.py FATHOM GENERATE [CALLEES]. Each page has
a thousand of them at most and says how many there are; all pages together have each once."""
import csv
import http.client
import io
import json
import os
import re
import subprocess
import sys
import tempfile
import urllib.parse

sys.path.insert(0, os.path.dirname(__file__))
from command_lib import FATHOM, GENERATE
from tap import Tap

CALLEES = int(sys.argv[3]) if len(sys.argv) > 3 else 5000
A_PAGE = 1000
BYTES_MAX = 2 << 20
tap = Tap()


def check(good, what):
    tap.check(good, what)


def page(profile, query, form):
    done = subprocess.run([FATHOM, "report", form, query, profile], capture_output=True, timeout=600,
                          check=False)
    if done.returncode != 0:
        raise SystemExit(f"{query}: {done.stderr.decode()}")
    return done.stdout.decode()


def callees(text, role):
    """Of the table of call sites."""
    for table in text.replace("\r\n", "\n").split("\n\n"):
        rows = csv.DictReader(io.StringIO(table))
        if ({"slot", "csd"} if role == "csd" else {"source", "proc"}) <= set(rows.fieldnames):
            return [row for row in rows if row["role"] == role]
    raise SystemExit(f"no table with {role}")


def check_pages(profile, query, role):
    """Pages one, two, the last, and one beyond it."""
    last = CALLEES // A_PAGE
    for at in (1, 2, last, last + 1):
        asked = query if at == 1 else f"{query}/{at}"
        rows = callees(page(profile, asked, "--csv"), role)
        check(len(rows) == (A_PAGE if at <= last else 0), f"{asked}: {len(rows)} rows")


def check_forms(profile, query):
    for form in ("--html", "--json", "--csv", "--text"):
        size = len(page(profile, query, form))
        check(size < BYTES_MAX, f"{query} {form}: {size} bytes")
    facts = json.loads(page(profile, query, "--json"))["facts"]
    check((facts["callee_count"], facts["callees_shown_count"]) == (CALLEES, A_PAGE),
          f"{query}: how many there are is told")
    text = page(profile, query, "--html")
    check(f"{query}/2" in text and "Next page" in text, f"{query}: leads to the next page")


def other_pages(profile, measure, c):
    """Where they are shown by cost, or their caller."""
    pages = ["menu", "proc_callers/3/pr/1/100/nc", f"tree/{measure}/down/3/all",
             f"tree/{measure}/down/3/proc/2", f"flame/{measure}/down/_/all", f"flame/{measure}/up/_/all",
             "dump_proc_static/2", "dump_call_site_static/2", f"graph/{measure}/all"]
    for query in pages + (["contexts/2"] if c else []):
        size = len(page(profile, query, "--html"))
        check(size < BYTES_MAX, f"{query}: {size} bytes")


def check_all(profile):
    """In each order all pages together have each callee once, as they stand on one another."""
    few = 2 * A_PAGE + 500
    subprocess.run([GENERATE, f"--fan={few}", profile], check=True, stdout=subprocess.DEVNULL)
    for query, role in (("proc/2", "callee"), (f"clique/{few + 1}", "callee"), ("dump_proc_dynamic/2", "csd")):
        for order in ("context", "name", "cost-callseqs-both-oa"):
            preferences = f"p-q-s-a-w/box/cols/5/20/nosum/{order}/nc/th/mqwd/hhh/nodev"
            pages = [callees(page(profile, f"{query}/{at}&{preferences}", "--csv"), role)
                     for at in (1, 2, 3)]
            check([len(rows) for rows in pages] == [A_PAGE, A_PAGE, 500], f"{query} {order}: pages' rows")
            names = [row["csd" if role == "csd" else "proc"] for rows in pages for row in rows]
            if role == "csd":
                check(len(set(names)) == few, f"{query}: each once")
            elif order == "name":
                check(names == sorted(names), f"{query}: by name")
            elif order != "context":
                costs = [int(row["callseqs_total_count"]) for rows in pages for row in rows]
                check(costs == sorted(costs, reverse=True), f"{query}: by cost")


def served_pages(profile):
    """A server keeps what all pages of a site need; they are those of a program that makes one page."""
    many = 12 * A_PAGE # enough to be kept
    subprocess.run([GENERATE, f"--fan={many}", profile], check=True, stdout=subprocess.DEVNULL)
    server = subprocess.Popen([FATHOM, "view", "--no-open", profile], stdout=subprocess.PIPE, text=True)
    try:
        port = int(re.search(r":(\d+)/", server.stdout.readline())[1])
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=600)
        connection.request("GET", f"/events?menu&{urllib.parse.quote(profile)}")
        connection.getresponse().read() # until all is known
        for order in ("context", "cost-callseqs-both-oa", "name", "cost-calls-self-oa", "cost-callseqs-both-oa"):
            preferences = f"p-q-s-a-w/box/cols/5/20/nosum/{order}/nc/th/mqwd/hhh/nodev"
            for at in (1, 2, 1, 12, 2):
                asked = f"proc/2/{at}&{preferences}"
                connection.request("GET", f"/deep.csv?{asked}&{urllib.parse.quote(profile)}")
                answer = connection.getresponse()
                text = answer.read().decode()
                check(answer.status == 200 and text == page(profile, asked, "--csv"),
                      f"{order}: served page {at} is the one reported")
    finally:
        server.terminate()
        server.wait()
        server.stdout.close()


def main():
    with tempfile.TemporaryDirectory() as folder:
        for c in (False, True):
            profile = os.path.join(folder, "fan.data")
            subprocess.run([GENERATE, f"--fan={CALLEES}", *(["--c"] if c else []), profile], check=True,
                           stdout=subprocess.DEVNULL)
            clique = CALLEES + 1 # of the caller, numbered after what it calls
            for query, role in (("proc/2", "callee"), (f"clique/{clique}", "callee"),
                                ("dump_proc_dynamic/2", "csd")):
                check_pages(profile, query, role)
                check_forms(profile, query)
            other_pages(profile, "calls" if c else "callseqs", c)
        check_all(os.path.join(folder, "few.data"))
        served_pages(os.path.join(folder, "many.data"))
    return tap.done()


if __name__ == "__main__":
    sys.exit(main())

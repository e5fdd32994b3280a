#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Chosen calls one by one: how many there were, how long they took, in which context; nested, recursive,
left by exceptions and jumps, in threads and children, and of a program that is killed."""
import html
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import urllib.error
import urllib.request

import record_lib as lib
from patience import PATIENCE, wait_until

SOURCE = r"""
#include <pthread.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#define PART __attribute__((noinline))
static jmp_buf place;
static volatile long sum;
static int tells;
namespace work {
struct Parser {
    PART int parse(int depth)
    {
        usleep(1000);
        if (depth > 0)
            sum += parse(depth - 1);
        return depth;
    }
};
} // namespace work
PART static void nap(int us)
{
    if (tells) {
        tells = 0;
        puts("ready");
        fflush(stdout);
    }
    usleep((unsigned)us);
    sum++;
}
PART static void outer(int count)
{
    for (int i = 0; i < count; i++)
        nap(1000);
    sum++;
}
PART static void thrower()
{
    nap(10);
    throw 1;
}
PART static void jumper()
{
    nap(10);
    longjmp(place, 1);
}
PART static void hot(int n)
{
    if (n < 0)
        nap(n);
    sum += n;
}
PART static int leaf(int n)
{
    return n * 3 + (int)sum;
}
PART static void untraced()
{
    nap(100);
    sum++;
}
static void *work_of(void *argument)
{
    outer(2);
    return argument;
}
int main(int argc, char **argv)
{
    if (argc > 1) { /* forever */
        for (int i = 0; i < 5; i++)
            outer(1);
        tells = 1;
        outer(1 << 30); /* which is open when it tells */
    }
    outer(3);
    outer(4);
    work::Parser().parse(4);
    for (int i = 0; i < 3; i++) {
        try {
            thrower();
        } catch (int) {
            sum++;
        }
    }
    if (setjmp(place) < 1)
        jumper();
    for (int i = 0; i < 2000000; i++)
        hot(i);
    sum += leaf(3);
    untraced();
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, work_of, NULL);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    pid_t child = fork();
    if (child == 0) {
        outer(6);
        exit(0);
    }
    waitpid(child, NULL, 0);
    return 0;
}
"""
NAMES = "outer,nap,work::Parser::parse,thrower,jumper,hot,leaf"


def durations(folder, name):
    """[(path, cells)] of the page."""
    page = json.loads(lib.must([lib.FATHOM, "report", "--json", "durations", name], folder).stdout)
    table, = [one for one in page["tables"] if one["name"] == "durations"]
    rows = []
    for row in table["rows"]:
        cells = row["cells"]
        path = cells["path"]
        rows.append(("".join(part["name"] for part in path), cells))
    return rows


def function(path):
    """At its end, without arguments and the mark of a recursion."""
    return path.split("›")[-1].split("(")[0].split("\u00a0")[0].strip()


def totals(rows, name):
    """Of all contexts of a function."""
    found = [cells for path, cells in rows if function(path) == name]
    return (sum(cells["calls_count"] for cells in found), sum(cells["timed_count"] for cells in found),
            sum(cells["left_count"] for cells in found))


def spans(folder, name):
    """{function: [nanoseconds]} by the event log, whose spans must nest; also by (the span around it, function)."""
    text = lib.must([lib.FATHOM, "log", "cat", "--json", name], folder).stdout
    names, open_spans, found = {}, {}, {}
    for line in text.splitlines():
        event = json.loads(line)
        fields = event["fields"]
        kind, lane = event["type"], event["cap"]
        if kind == "InternString":
            names[fields["id"]] = function(fields["text"])
        elif kind == "SpanBegin":
            open_spans.setdefault(lane, []).append((fields["name"], event["time_ns"]))
        elif kind == "SpanEnd":
            begun, at = open_spans[lane].pop()
            assert begun == fields["name"], (begun, event)
            key = names.get(begun, begun)
            around = names.get(open_spans[lane][-1][0]) if open_spans[lane] else None
            for of in (key, (around, key)):
                found.setdefault(of, []).append(event["time_ns"] - at)
    assert not any(open_spans.values()), open_spans
    return found


def check_run(tap, folder, grade):
    lib.must([lib.FATHOM, "c++", f"--grade={grade}", "g++", "-O1", "prog.cc", "-o", "prog", "-pthread"], folder)
    done = lib.must([lib.FATHOM, "record", f"--trace={NAMES}", "-o", "out", "./prog"], folder, timeout=PATIENCE)
    rows = durations(folder, "out.data")
    tap.same(totals(rows, "outer"), (4, 4, 0), f"{grade}: each call, also those of threads, is timed")
    tap.same(totals(rows, "nap"), (7 + 4 + 4 + 1, 7 + 4 + 4 + 1, 0), f"{grade}: those within, too")
    tap.same(totals(rows, "Parser::parse"), (5, 5, 0), f"{grade}: a recursion, of C++, chosen by its whole name")
    left = 0 if grade == "full" else 3  # gcc's own exit hooks run while frames are taken off
    tap.same(totals(rows, "thrower"), (3, 3, left), f"{grade}: left by exceptions")
    tap.same(totals(rows, "jumper"), (1, 1, 1), f"{grade}: left by longjmp")
    calls, timed, _ = totals(rows, "hot")
    tap.check(calls == 2000000 and 0 < timed < 1000000, f"{grade}: called often: counted, and sampled",
              (calls, timed))
    tap.check("a sample" in done.stderr, f"{grade}: which is said", done.stderr)
    tap.check(not any(function(path) == "untraced" for path, _ in rows), f"{grade}: others are not timed",
              [path for path, _ in rows])
    outer = next((cells for path, cells in rows if function(path) == "outer" and
                  cells["timed_count"] == 1 and cells["sum_seconds"] >= 0.003), None)
    tap.check(outer is not None and outer["p50_seconds"] == outer["longest_seconds"],
              f"{grade}: one call's percentiles are that call", outer)
    naps = [cells for path, cells in rows if function(path) == "nap"]
    tap.check(all(one["least_seconds"] <= one["p50_seconds"] <= one["p99_seconds"] <= one["longest_seconds"]
                  for one in naps), f"{grade}: percentiles are in order", naps)
    found = spans(folder, "out.calls.eventlog")
    tap.same({name: len(found.get(name, ())) for name in ("outer", "nap", "thrower", "jumper")},
             {"outer": 4, "nap": 16, "thrower": 3, "jumper": 1}, f"{grade}: the event log has each of them")
    tap.check(all(ns >= 2000000 for ns in found["outer"]), f"{grade}: as long as they slept", found["outer"])
    total = sum(cells["sum_seconds"] for path, cells in rows if function(path) == "outer")
    tap.check(abs(total * 1e9 - sum(found["outer"])) < 1000, f"{grade}: both say the same",
              (total, found["outer"]))
    child, = folder.glob("out.*.data")
    rows = durations(folder, child)
    tap.same((totals(rows, "outer"), totals(rows, "nap")), ((1, 1, 0), (6, 6, 0)),
             f"{grade}: a child has its own")
    return child


def check_killed(tap, folder):
    process = subprocess.Popen(["./prog", "forever"], cwd=folder, stdout=subprocess.PIPE,
                               env={**os.environ, "FATHOM_OUTPUT": str(folder / "k.rec"), "FATHOM_TRACE": NAMES})
    process.stdout.readline()
    process.send_signal(signal.SIGKILL)
    process.wait()
    process.stdout.close()
    lib.must([lib.FATHOM, "finish", "k.rec"], folder)
    rows = durations(folder, "k.data")
    calls, timed, _ = totals(rows, "outer")
    tap.same((calls, timed), (6, 5), "killed: the calls that had ended are timed, the open one is not")
    naps, timed, _ = totals(rows, "nap")
    tap.check(naps - 1 <= timed <= naps, "killed: and those within", (naps, timed))


class View:
    """`fathom view NAME`."""

    def __init__(self, folder, name):
        self.process = subprocess.Popen([lib.FATHOM, "view", "--no-open", name], cwd=folder,
                                        stdout=subprocess.PIPE, text=True)
        self.base = re.search(r"http://[^/]+/", self.process.stdout.readline())[0]

    def get(self, address):
        """What is shown when all has been read."""
        def whole():
            try:
                with urllib.request.urlopen(self.base + address, timeout=PATIENCE) as answer:
                    text = answer.read().decode()
            except urllib.error.HTTPError as error:
                return error
            return 'class="incomplete"' not in text and text
        answer = wait_until(whole, f"{address} is whole")
        if isinstance(answer, urllib.error.HTTPError):
            print("#", address, answer.read()[:2000])
            raise answer
        return answer

    def status(self, address):
        try:
            self.get(address)
            return 200
        except urllib.error.HTTPError as error:
            error.close()
            return error.code

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait(PATIENCE)
        self.process.stdout.close()


def check_links(tap, folder):
    """From a context's page to its spans in the timeline, and from a span to its context's page, whichever
    of the two was opened."""
    with View(folder, "out.data") as view:
        page = view.get("deep?durations&out.data")
        tables = json.loads(view.get("deep.json?durations&out.data"))["tables"]
        rows = [row["cells"] for row in tables[0]["rows"] if row["cells"]["timed_count"] > 0]
        links = [html.unescape(link) for link in re.findall(r'href="(trace\?file=[^"]*)"', page)]
        tap.same(len(links), len(tables[0]["rows"]), "each context has a way to the timeline")
        for cells in rows:
            number = cells["context_number"]
            link, = [one for one in links if one.split("&view=")[0].endswith(f"%20{number}")]
            if cells["timed_count"] > 400:
                continue
            events = json.loads(view.get(link.replace("trace?", "trace.json?") + "&rows=500&at=0"))["rows"]
            tap.same((len(events), {event["fields"]["value"] for event in events}),
                     (cells["timed_count"], {str(number)}), "which leads to its spans, all of them")
            back, = {event["context_url"] for event in events}
            name = "".join(part["name"] for part in cells["path"])
            shown = json.loads(view.get(back.replace("deep?", "deep.json?")))
            tap.check(function(name) in json.dumps(shown, ensure_ascii=False), "and they to the page of that context",
                      (name, back))
            tap.check(back in html.unescape(view.get(link)), "also without scripts", back)
        log_link = links[0]
    with View(folder, "out.calls.eventlog") as view:
        events = json.loads(view.get(log_link.replace("trace?", "trace.json?") + "&at=0"))["rows"]
        tap.check("<h1" in view.get(events[0]["context_url"]), "the profile opens from its log")
        number = re.search(r"csd:(\d+)", events[0]["context_url"])[1]
        tap.same([view.status(address) for address in (f"deep?clique/csd:{number}&other.data", "deep?menu&/etc/passwd",
                                                      "trace?file=plain.calls.eventlog", "deep?clique/csd:0&out.data",
                                                      "deep?clique/csd:99999999&out.data", "deep?clique/csd:x&out.data")],
                 [404] * 6, "but nothing else does, and what is no context is told")


def check_chosen_when_compiled(tap, folder):
    """What `fathom cc` was told the program keeps, and adds to it what it is told when it runs."""
    (folder / "one.c").write_text("#include <unistd.h>\n__attribute__((noinline)) void one(void) { usleep(100); }\n")
    (folder / "two.c").write_text("""#include <unistd.h>
void one(void);
__attribute__((noinline)) void two(void) { usleep(100); one(); usleep(1); }
__attribute__((noinline)) void three(void) { usleep(100); two(); usleep(1); }
int main(void) { three(); two(); one(); return 0; }
""")
    compiler = [lib.FATHOM, "cc", "--trace=one", "gcc", "-O1"]
    lib.must([*compiler, "-c", "one.c"], folder)
    lib.must([*compiler, "-c", "two.c"], folder)
    lib.must([*compiler, "one.o", "two.o", "-o", "kept"], folder)
    lib.must([lib.FATHOM, "record", "-q", "-o", "kept", "./kept"], folder)
    rows = durations(folder, "kept.data")
    tap.same((totals(rows, "one"), len(rows)), ((3, 3, 0), 3), "chosen when it was compiled: timed in each run")
    lib.must([lib.FATHOM, "record", "-q", "--trace=two", "-o", "both", "./kept"], folder)
    rows = durations(folder, "both.data")
    tap.same((totals(rows, "one"), totals(rows, "two"), totals(rows, "three")), ((3, 3, 0), (2, 2, 0), (0, 0, 0)),
             "and others when it runs")
    done = lib.run([lib.FATHOM, "cc", "--trace=a b", "gcc", "-c", "one.c"], folder)
    tap.check(done.returncode == 2 and "--trace: expected" in done.stderr, "no list of names to compile with", done.stderr)


NAMED = r"""
#include <string>
#define PART __attribute__((noinline))
static volatile long sum;
extern "C" PART void step(void) { sum++; }
namespace a {
enum class Kind { one, two };
PART static int fixed(int n) { step(); return n; }
struct Base { PART explicit Base(int n) { sum += fixed(n); } PART ~Base() { step(); sum++; } };
template <class T> struct Stack {
    PART void push(T value) { step(); sum += sizeof value; }
    struct Inner { PART int top() const { step(); return (int)sum; } };
};
template <int N, Kind K, class T> PART int deduced(T n) { step(); return N + (int)n + (int)K; }
namespace { struct Hidden { PART int at(int n) { step(); return n + (int)sum; } }; }
PART int text(const std::string &word) { step(); return (int)word.size() + (int)sum; }
PART std::string tagged(int n) { step(); return std::string((size_t)n, 'x'); }
struct Taker { PART int push(a::Stack<a::Base *> *stack) { stack->push(nullptr); return (int)sum; } };
} // namespace a
PART int push(int n) { step(); return n + 1; }
int main()
{
    a::Base one(1);
    a::Base *two = new a::Base(2);
    delete two;
    a::Stack<std::string> words;
    a::Stack<a::Stack<int>::Inner> inner;
    for (int i = 0; i < 3; i++)
        words.push("word");
    inner.push({});
    a::Stack<a::Base *> bases;
    sum += a::Stack<a::Base *>::Inner().top() + a::deduced<2, a::Kind::two>(3) + a::deduced<-1, a::Kind::one>(3.5);
    sum += a::Hidden().at(1) + a::text(a::tagged(3)) + a::Taker().push(&bases) + push(1);
    return 0;
}
"""


def check_names(tap, folder):
    """Functions of C++, by their names alone: in classes, templates, namespaces with and without a name."""
    (folder / "named.cc").write_text(NAMED)
    lib.must([lib.FATHOM, "c++", "--grade=deep", "g++", "-O1", "named.cc", "-o", "named"], folder)
    for name, calls in (("a::Base::Base", 2), ("Base::~Base", 2), ("~Base", 2), ("Stack::push", 5), ("push", 7),
                        ("a::Stack::push", 5), ("a::Taker::push", 1), ("a::push", 0), ("Inner::top", 1), ("deduced", 2),
                        ("a::Hidden::at", 1), ("Hidden::at", 1), ("at", 1), ("text", 1), ("a::tagged", 1), ("Base", 0),
                        ("a::fixed", 2), ("std::text", 0), ("::text", 0), ("_ZN1a4textERKNSt7__cxx1112basic_stringIcSt11"
                                                                          "char_traitsIcESaIcEEE", 1)):
        done = lib.must([lib.FATHOM, "record", "-q", f"--trace={name}", "-o", "named", "./named"], folder)
        found = durations(folder, "named.data") if calls > 0 else []
        tap.same((sum(cells["timed_count"] for _, cells in found), "was recorded: " + name in done.stderr),
                 (calls, calls == 0), f"chosen by its name: {name}")
    for name, said in (("a,operator<,b", "not 'operator<'; for an operator"), ("a,,b", "separated by commas"),
                       ("", "separated by commas"), ("f(int)", "not 'f(int)'"), (",".join("a" * 65), "at most 64")):
        done = lib.run([lib.FATHOM, "record", "-q", f"--trace={name}", "-o", "named", "./named"], folder)
        tap.check(done.returncode == 2 and said in done.stderr, f"no names: {name}", done.stderr)


def check_calls_that_wait(tap, folder):
    """Calls that come seldom by the wall are timed, each of them, however little CPU time they take; also
    behind many that came at once."""
    (folder / "rare.c").write_text("""#include <stdlib.h>
#include <unistd.h>
static volatile long sum;
__attribute__((noinline)) static void doze(int us) { usleep((unsigned)us); sum++; }
__attribute__((noinline)) static void rest(int us) { if (us > 0) doze(us); sum++; }
__attribute__((noinline)) static void call(int us) { rest(us); sum++; }
int main(int argc, char **argv)
{
    int fast = atoi(argv[1]), slow = atoi(argv[2]);
    (void)argc;
    for (int i = 0; i < fast + slow; i++)
        call(i < fast ? 0 : 5000);
    return 0;
}
""")
    lib.must([lib.FATHOM, "cc", "gcc", "-O1", "rare.c", "-o", "rare"], folder)
    lib.must([lib.FATHOM, "record", "-q", "--trace=call", "-o", "rare", "./rare", "0", "600"], folder)
    tap.same(totals(durations(folder, "rare.data"), "call"), (600, 600, 0), "calls that wait are all timed")
    lib.must([lib.FATHOM, "record", "-q", "--trace=call,doze", "-o", "rare", "./rare", "5000", "50"], folder)
    calls, timed, _ = totals(durations(folder, "rare.data"), "call")
    slow = len(spans(folder, "rare.calls.eventlog")["call", "doze"])
    tap.check(calls == 5050 and timed < 5000 and 49 <= slow <= 50,
              "and so they are behind many that were not, but for the first", (calls, timed, slow))


def main():
    tap = lib.Tap()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "prog.cc").write_text(SOURCE)
        for grade in ("full", "deep"):
            child = check_run(tap, folder, grade)
            child.unlink()
        check_links(tap, folder)
        check_calls_that_wait(tap, folder)
        check_names(tap, folder)
        done = lib.must([lib.FATHOM, "record", "--trace=leaf,nothing_of_that_name", "-o", "leaf", "./prog"], folder)
        tap.check("call nothing" in done.stderr, "a function that calls nothing is told of", done.stderr)
        tap.check("no call of these traced functions was recorded: nothing_of_that_name (" in done.stderr,
                  "and so is each name that was never met", done.stderr)
        done = lib.must([lib.FATHOM, "record", "--trace=napp,outer,Parser::parse,work::parse", "-o", "some", "./prog"],
                        folder)
        tap.check("no call of these traced functions was recorded: napp, work::parse (" in done.stderr,
                  "of several, those alone", done.stderr)
        tap.check("--trace keeps each process's profile apart" in done.stderr,
                  "that the processes are not joined is said", done.stderr)
        done = lib.must([lib.FATHOM, "record", "--trace=nothing_of_that_name", "-o", "none", "./prog"], folder)
        tap.check("no call of these traced functions" in done.stderr, "none of that name", done.stderr)
        check_chosen_when_compiled(tap, folder)
        done = lib.run([lib.FATHOM, "record", "--trace=a b", "./prog"], folder)
        tap.check(done.returncode == 2 and "--trace: expected" in done.stderr, "no list of names", done.stderr)
        lib.must([lib.FATHOM, "record", "-q", "-o", "plain", "./prog"], folder)
        tap.check(not (folder / "plain.calls.eventlog").exists(), "without the option there is no log",
                  list(folder.iterdir()))
        check_killed(tap, folder)
    return tap.done()


sys.exit(main())

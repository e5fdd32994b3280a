#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Programs that were not built for fathom, under `fathom record`: contexts by unwinding, and nothing of
the program's own changed."""
import json
import os
import pathlib
import re
import shutil
import signal
import socket
import stat
import sys
import tempfile

import record_lib as lib

HERE = pathlib.Path(__file__).parent
PLAIN = "int main(void) { return 4; }"
# Own and total quanta (1 ms) that each function has at the least; what a machine under load adds is
# charged to whatever runs.
OWN_MS = {"first": 100, "second": 200, "third": 300, "last": 400}


def tree(folder, data):
    """Rows (depth, name, total ms, self ms) of `fathom tree`, by time."""
    text = lib.must([lib.FATHOM, "tree", "--format=json", data], folder).stdout
    return json.loads(text)


def contexts(folder, data):
    """{path: quanta} of the dump: names of functions from the root on."""
    paths = {}
    for line in lib.must([lib.FATHOM, "export", "--to=folded", "-o", "-", data], folder).stdout.splitlines():
        path, value = line.rsplit(" ", 1)
        paths[path] = paths.get(path, 0) + int(value)
    return paths


def below(paths, *names):
    """What all contexts have that end in these names, one called by the other."""
    pattern = re.compile(r"(^|;)" + ";".join(rf"([^;]*[:`])?{re.escape(name)}" for name in names) + "(;|$)")
    return sum(value for path, value in paths.items() if pattern.search(path))


def chain(tap, folder, compiler, flags, part="2"):
    what = " ".join([compiler, *flags])
    lib.must([compiler, *flags, HERE / "chain.c", "-o", "chain", "-lpthread"], folder)
    plain = lib.run(["./chain", "3", "50"], folder)
    done = lib.run([lib.FATHOM, "record", "-o", "chain", "--", "./chain", "3", part], folder)
    tap.same((done.returncode, done.stdout), (3, plain.stdout), f"{what}: output and status are the program's")
    profile = lib.Profile(folder / "chain.data")
    tap.same(sum(profile.edges.values()), 0, f"{what}: no calls are told, as none were counted")
    paths = contexts(folder, "chain.data")
    found = {"first": below(paths, "main", "first"), "again": below(paths, "main", "again", "spin")}
    tap.check(below(paths, "main", "first", "second", "third", "last", "spin") > 0,
              f"{what}: the chain is there", "\n".join(paths))
    tap.check(found["again"] > 0 and below(paths, "again", "again") == 0,
              f"{what}: a recursion is folded", "\n".join(paths))
    tap.check(below(paths, "work", "spin") > 0 and below(paths, "main", "work") == 0,
              f"{what}: the thread's function is not below main", "\n".join(paths))
    page = lib.must([lib.FATHOM, "report", "menu", "chain.data"], folder).stdout
    tap.check("are exact, calls are not recorded, where it went is sampled" in " ".join(page.split()),
              f"{what}: the page says what is exact", page[:2000])
    dump = lib.must([lib.FATHOM, "dump", "chain.data"], folder).stdout
    tap.check(re.search(r"thread 2 \(work\)", dump), f"{what}: the thread is named by its function", dump[:3000])
    return paths


def shares(tap, paths):
    """Of what each function does itself; in all, since it is spin() that works."""
    names = ("first", "second", "third", "last")
    found = {}
    for n, name in enumerate(names):
        whole = below(paths, "main", *names[:n + 1])
        found[name] = whole - (below(paths, "main", *names[:n + 2]) if n + 1 < len(names) else 0)
    scale = sum(found.values()) / sum(OWN_MS.values())
    bad = {name: value for name, value in found.items() if not 0.6 < value / scale / OWN_MS[name] < 1.6}
    tap.same(bad, {}, "each function of the chain has its share of the time")


def stripped(tap, folder):
    """A name is a symbol's whose range holds the address, or there is none."""
    lib.must(["gcc", "-O1", "-rdynamic", "-s", HERE / "chain.c", "-o", "bare", "-lpthread"], folder)
    done = lib.run([lib.FATHOM, "record", "-o", "bare", "--", "./bare", "0", "4"], folder)
    paths = contexts(folder, "bare.data")
    tap.check(below(paths, "main", "first", "second", "third") > 0, "exported functions have names", "\n".join(paths))
    tap.same([below(paths, name) for name in ("spin", "last", "work")], [0, 0, 0], "static ones have none")
    tap.check(any(re.search(r"third;[^;]*bare\+0x[0-9a-f]+", path) for path in paths),
              "they are named by their address", "\n".join(paths))
    tap.check("bare (" in done.stderr and "-dbgsym" in done.stderr, "the summary says how to get names", done.stderr)


def asks_no_server(tap, folder):
    """Debug files are looked for on this machine alone; the program's environment is as it was."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.setblocking(False)
        os.environ["DEBUGINFOD_URLS"] = f"http://127.0.0.1:{server.getsockname()[1]}/"
        try:
            done = lib.run([lib.FATHOM, "record", "-o", "asked", "--", "sh", "-c",
                            "./bare 3 4; echo $DEBUGINFOD_URLS"], folder)
            asked = os.environ["DEBUGINFOD_URLS"] in done.stdout
        finally:
            del os.environ["DEBUGINFOD_URLS"]
        try:
            server.accept()[0].close()
            connected = True
        except BlockingIOError:
            connected = False
    tap.check(asked, "the program sees DEBUGINFOD_URLS", done.stdout + done.stderr)
    tap.check("bare (" in done.stderr and not connected, "fathom asks no such server", done.stderr)


def told(tap, folder):
    """Programs that no library can be loaded into."""
    (folder / "plain.c").write_text(PLAIN)
    lib.must(["gcc", "-static", "plain.c", "-o", "static"], folder)
    lib.must(["gcc", "-Wl,--dynamic-linker=/lib/ld-musl-x86_64.so.1", "plain.c", "-o", "musl"], folder)
    # The loader of an older glibc, which ends the program.
    (folder / "loader.c").write_text('void _start(void) { __asm__("movl $60, %eax; movl $5, %edi; syscall"); }\n')
    lib.must(["gcc", "-shared", "-nostdlib", "-Wl,-e,_start", "loader.c", "-o", "ld-linux-x86-64.so.2"], folder)
    lib.must(["gcc", f"-Wl,--dynamic-linker={folder}/ld-linux-x86-64.so.2", "plain.c", "-o", "old"], folder)
    lib.must(["gcc", "plain.c", "-o", "plain"], folder)
    elf = bytearray((folder / "plain").read_bytes())
    elf[18] = 3  # of i386
    (folder / "other").write_bytes(elf)
    (folder / "other").chmod(0o755)
    for name, words in (("static", "is fully static"), ("musl", "another C library"), ("other", "64 bits"),
                        ("old", "glibc before 2.35")):
        # Of a part of the run nothing is sampled from outside.
        done = lib.run([lib.FATHOM, "record", "-o", "told", "--for", "1m", "--", f"./{name}"], folder)
        plain = {"static": 4, "musl": 127, "other": None, "old": 5}[name]
        tap.check(f"{name} is not recorded: it " in done.stderr and words in done.stderr, f"{name}: it is told why",
                  done.stderr)
        tap.check(plain in (None, done.returncode), f"{name}: the status is the program's", done.returncode)
        tap.check(not (folder / "told.data").exists(), f"{name}: there is no profile")
    done = lib.run([lib.FATHOM, "record", "-o", "told", "--", "./plain"], folder, env={**os.environ, "FATHOM_PRELOAD": "off"})
    tap.check("FATHOM_PRELOAD=off keeps fathom" in done.stderr and "nothing to record" not in done.stderr,
              "FATHOM_PRELOAD=off: it is told why there is no profile", done.stderr)
    asan = lib.run(["gcc", "-print-file-name=libasan.so"], folder).stdout.strip()
    if asan.startswith("/"):
        done = lib.run([lib.FATHOM, "record", "-o", "told", "--for", "1m", "--", "./plain"], folder,
                       env={**os.environ, "LD_PRELOAD": os.path.realpath(asan), "ASAN_OPTIONS": "detect_leaks=0"})
        tap.check("started with a sanitizer in LD_PRELOAD" in done.stderr and "made no recording" not in done.stderr,
                  "a sanitizer that is preloaded: it is told why", done.stderr)
    done = lib.run([lib.FATHOM, "ctl", f"pid:{os.getpid()}", "status"], folder)
    tap.check(f"`fathom record --pid {os.getpid()}` samples it" in done.stderr, "a process beside: how to record it", done.stderr)
    sanitizer = lib.run(["gcc", "-fsanitize=address", "plain.c", "-o", "checked"], folder)
    if sanitizer.returncode == 0:
        for words in (["./checked"], ["sh", "-c", "./checked; exit $?"], [sys.executable, "-c",
                      "import subprocess, sys; sys.exit(subprocess.run(['./checked']).returncode)"]):
            done = lib.run([lib.FATHOM, "record", "-o", "checked", "--", *words], folder)
            tap.check(done.returncode == 4 and "should come first" not in done.stderr,
                      f"with a sanitizer, by {pathlib.Path(words[0]).name}: it runs", done.stderr)
    # Another user's program with the bit; as root the bit is of another user.
    shutil.copy("/bin/true", folder / "other_user")
    if os.geteuid() == 0:
        os.chown(folder / "other_user", 65534, 65534)
        (folder / "other_user").chmod(stat.S_ISUID | 0o755)
        done = lib.run([lib.FATHOM, "record", "-o", "told", "--", "./other_user"], folder)
        tap.check("other privileges" in done.stderr, "set-user-ID: it is told why", done.stderr)


def children(tap, folder):
    (folder / "script").write_text("#!/bin/sh\n./chain abort\n./chain 0 50\nenv | grep -c LD_PRELOAD\nexit 6\n")
    (folder / "script").chmod(0o755)
    done = lib.run([lib.FATHOM, "record", "-o", "all", "--", "./script"], folder)
    tap.same(done.returncode, 6, "a script's status")
    tap.check((folder / "all.chain.data").exists(), "what a script starts is recorded", done.stderr)
    done = lib.run([lib.FATHOM, "record", "--no-children", "-o", "alone", "--", "./script"], folder)
    tap.same((done.returncode, done.stdout.splitlines()[-1]), (6, "0"), "--no-children: no library is inherited")
    tap.same([path.name for path in folder.glob("alone*.data")], ["alone.data"], "--no-children: one profile")
    done = lib.run([lib.FATHOM, "record", "-q", "-o", "killed", "--", "./chain", "abort"], folder)
    tap.same(done.returncode, -signal.SIGABRT, "it ends by the program's signal")
    # With exact counts in the run, these are what is shown.
    (folder / "counted.c").write_text("static int f(int n) { return n + 1; } int main(void) { return f(1) - 2; }")
    lib.must([lib.FATHOM, "cc", "gcc", "-O0", "counted.c", "-o", "counted"], folder)
    lib.must([lib.FATHOM, "record", "-o", "exact", "--", "sh", "-c", "./counted; /bin/true"], folder)
    tap.same(sorted(path.name for path in folder.glob("exact*.data")), ["exact.data"],
             "a shell around a program with hooks has no profile")
    tap.same(lib.Profile(folder / "exact.data").calls()["f"], 1, "and the program's is as ever")


STARTED = """#include <stdlib.h>
#include <time.h>
int main(int argc, char **argv)
{
    for (int i = 0; i < atoi(argv[argc - 1]); i++)
        free(malloc((size_t)i + 1));
    while (clock() < CLOCKS_PER_SEC / 2)
        continue;
    return 0;
}
"""


def started_by_a_script(tap, folder):
    """The time is in the profile of what a script starts; notes that differ in figures are one."""
    (folder / "started.c").write_text(STARTED)
    lib.must(["gcc", "-O1", "-fno-builtin", "started.c", "-o", "started"], folder)
    done = lib.must([lib.FATHOM, "record", "-o", "script", "--", "sh", "-c", "./started 10; ./started 20; ./started 40; :"], folder)
    tap.check(re.search(r"% of the run's CPU time is in another profile: +fathom view \S*script\.started\.data\n", done.stderr),
              "the profile that has the time is told", done.stderr)
    notes = [line for line in done.stderr.splitlines() if "calls are not counted" in line and " of 3 processes" in line]
    tap.check(len(notes) == 1 and "(3 of 3 processes; figures of one of them)" in notes[0],
              "notes that differ in figures are one", done.stderr)


OWN_RUNTIME = """#include <stdio.h>
#include <stdlib.h>
__attribute__((noinline)) static int blocks(int n)
{
    for (int i = 0; i < n; i++)
        free(malloc((size_t)i + 1));
    return n;
}
int main(void) { printf("%d\\n", blocks(1000)); return 5; }
"""


def own_runtime(tap, folder):
    """The library stands between a program with hooks and libc, and leaves all to the program's runtime."""
    (folder / "own.c").write_text(OWN_RUNTIME)
    lib.must([lib.FATHOM, "cc", "gcc", "-O1", "-fno-builtin", "own.c", "-o", "own"], folder)
    library = pathlib.Path(os.environ["FATHOM_RUNTIME"]) / "libfathom-preload.so"
    found = []
    for preload in ("", str(library)):
        env = {**os.environ, "LD_PRELOAD": preload, "FATHOM_OUTPUT": str(folder / "own.rec")}
        done = lib.run(["./own"], folder, env=env)
        lib.must([lib.FATHOM, "finish", "-q", "own.rec"], folder)
        told = json.loads(lib.must([lib.FATHOM, "report", "--json", "top_procs/1-9/allocs/both/oa", "own.data"], folder).stdout)
        cells = {row["cells"]["proc"]: row["cells"] for row in told["tables"][0]["rows"]}
        found.append((done.returncode, done.stdout, lib.Profile(folder / "own.data").calls(),
                      cells["own.c:blocks"]["memory_self_bytes"]))
    tap.same(found[1], found[0], "a program with hooks that loads the library is recorded by its own runtime")
    tap.same((found[0][:2], found[0][3]), ((5, "1000\n"), 500500), "with all of its allocations")


def distribution(tap, folder):
    """Programs of the system, if they are there: the same output, whole stacks."""
    text = "".join(f"{n} {n * n % 977}\n" for n in range(60000))
    (folder / "numbers").write_text(text)
    script = "my %h; while (<>) { my ($a, $b) = split; $h{$b} += $a } print join(',', sort values %h)"
    cases = [[sys.executable, "-c", "import json; print(len(json.dumps([str(i) for i in range(200000)])))"],
             ["perl", "-e", script, "numbers"], ["xz", "-T2", "-1", "-c", "numbers"], ["sort", "-R", "--random-source=numbers", "numbers"],
             ["sqlite3", ":memory:", "with recursive c(x) as (select 1 union all select x+1 from c where x<200000) "
              "select sum(x * 7 % 1001) from c"], ["git", "--version"]]
    for command in cases:
        name = pathlib.Path(command[0]).name
        if shutil.which(command[0]) is None:
            tap.skip(f"{name}: the same output", "it is not installed")
            continue
        plain = lib.run(["env", *command], folder, encoding="latin-1")
        done = lib.run([lib.FATHOM, "record", "-o", "system", "--", *command], folder, encoding="latin-1")
        tap.check((done.returncode, done.stdout) == (plain.returncode, plain.stdout), f"{name}: the same output",
                  done.stderr)
        share = re.search(r"([0-9.]+) % of them complete", done.stderr)
        tap.check(share is None or float(share[1]) >= 99, f"{name}: stacks are complete", done.stderr)


def main():
    tap = lib.Tap()
    lib.need("gcc")
    os.environ.pop("LD_PRELOAD", None)
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name).resolve()
        paths = chain(tap, folder, "gcc", ["-O1", "-g"], "1")
        shares(tap, paths)
        chain(tap, folder, "gcc", ["-O0", "-no-pie"])
        chain(tap, folder, "gcc", ["-O1", "-fno-omit-frame-pointer"])
        if shutil.which("clang"):
            chain(tap, folder, "clang", ["-O1"])
        stripped(tap, folder)
        asks_no_server(tap, folder)
        told(tap, folder)
        children(tap, folder)
        started_by_a_script(tap, folder)
        own_runtime(tap, folder)
        distribution(tap, folder)
    return tap.done()


sys.exit(main())

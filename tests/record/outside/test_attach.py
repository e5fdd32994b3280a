#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`fathom record --pid`: where a running process spends its time, and that the process sees nothing of it."""
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

import record_lib as lib
from outside_lib import WORK_NS, Recorder, Target, below, contexts, ways
from patience import PATIENCE, wait_until

HERE = pathlib.Path(__file__).parent
SIGNALS = 300
KILLS = 5
LOOKS = 20  # as many take longer than from one look for children to the next
NOBODY = 65534


def attached(tap, folder, way):
    target = Target(folder)
    recorder = Recorder(folder, target, way)
    for _ in range(SIGNALS):
        os.kill(target.pid, signal.SIGRTMIN)
        time.sleep(0.001)
    target.work()
    status = recorder.end()
    tap.same(status, 0, f"{way}: SIGINT ends the recording")
    out, status = target.end()
    tap.same((out, status), (f"end 0 signals {SIGNALS} interrupted 0\n", 7),
             f"{way}: the process got each signal, no call of it was interrupted, and it ended as it does")
    words = {"perf": "by the kernel", "ptrace": "by stopping threads"}[way]
    tap.check(words in recorder.said, f"{way}: it is told how", recorder.said)
    tap.check(way == "perf" or "threads were stopped" in recorder.said, f"{way}: and what it cost", recorder.said)
    time_of, slept = contexts(folder, "attached.data", "cpu"), contexts(folder, "attached.data", "wait_ns")
    shown = "\n".join(f"{path} {value}" for path, value in [*time_of.items(), *slept.items()])
    whole, spun = sum(time_of.values()), below(time_of, "worker", "outer", "inner")
    tap.check(whole > WORK_NS / 1e9 * 0.5 and spun > 0, f"{way}: there is CPU time in the chain of calls", shown)
    tap.same(below(time_of, "main", "worker"), 0, f"{way}: a thread's function is not below main")
    if way == "perf":  # which is not as seldom as stops
        tap.check(below(time_of, "waiter", "inner") > 0, f"{way}: each caller has its own", shown)
    tap.check(below(slept, "sleeper", "nap") > 0 and below(slept, "main", r"\w*fgets") > 0,
              f"{way}: where threads sleep is known without stopping them", shown)
    source = (HERE / "running.c").read_text().splitlines()
    begin = next(i for i, line in enumerate(source, 1) if "void inner(" in line)
    hot = lib.must([lib.FATHOM, "report", "lines/50", "attached.data"], folder).stdout
    timed = {int(line) for line in re.findall(r"running\.c:(\d+)\s+inner", hot)}
    tap.check(timed and timed <= set(range(begin, begin + 5)), f"{way}: the lines of inner() that have time", hot)
    dump = lib.must([lib.FATHOM, "dump", "attached.data"], folder).stdout
    tap.check("measure not known = allocs" in dump and "measure not known = callseqs" in dump,
              f"{way}: calls and allocations are not known, rather than 0", dump[:2000])
    tap.check("perf record" not in dump and "--symfs" not in dump, f"{way}: notes name no options of perf", dump)
    page = lib.must([lib.FATHOM, "report", "menu", "attached.data"], folder).stdout
    tap.check("CPU time in" in page and "sampled from outside" in page and "imported" not in page and
              "one time" not in page,
              f"{way}: the first page says how it was made", page)
    lib.must([lib.FATHOM, "check", "attached.data"], folder)


def frame_pointers(tap, folder, way):
    """The kernel tells no frame pointer of a thread that sleeps: it is guessed where a function needs it."""
    target = Target(folder, folder / "running-O0")
    recorder = Recorder(folder, target, way, name="pointers")
    target.work()
    recorder.end()
    target.end()
    slept = contexts(folder, "pointers.data", "wait_ns")
    known = below(slept, "start_thread", "sleeper", "nap")
    tap.check(known > 0 and below(slept, "callers not known") < known, f"{way}: who called a sleep",
              "\n".join(slept))
    dump = lib.must([lib.FATHOM, "dump", "pointers.data"], folder).stdout
    tap.check("frame pointer is a guess" in dump, f"{way}: the guesses are told", dump)


def idle(tap, folder, way):
    """A process that only sleeps."""
    sleeper = subprocess.Popen(["sleep", "1000"])
    try:
        done = subprocess.run([lib.FATHOM, "record", "-o", "idle", "--for", "500ms", "--pid", str(sleeper.pid)],
                              cwd=folder, text=True, stderr=subprocess.PIPE, env={**os.environ, "FATHOM_ATTACH": way})
    finally:
        sleeper.kill()
        sleeper.wait()
    slept = contexts(folder, "idle.data", "wait_ns")
    tap.check(done.returncode == 0 and sum(slept.values()) > 0, f"{way}: a process that sleeps has a profile of that",
              f"{done.stderr}\n{slept}")
    tap.check("the process slept" in done.stderr, f"{way}: and it is said", done.stderr)


def killed(tap, folder, way):
    """Whatever is being done at the moment when fathom is killed."""
    target = Target(folder)
    for _ in range(KILLS):
        recorder = Recorder(folder, target, way)
        for _ in range(10):
            os.kill(target.pid, signal.SIGRTMIN)
            time.sleep(0.001)
        recorder.process.kill()
        recorder.process.communicate(timeout=PATIENCE)
        wait_until(lambda: target.status("TracerPid") == "0", "nobody traces it")
        target.work()
    tap.same(target.end(), (f"end 0 signals {KILLS * 10} interrupted 0\n", 7),
             f"{way}: fathom is killed, and the process goes on")


def stopped(tap, folder, way):
    target = Target(folder)
    recorder = Recorder(folder, target, way)
    os.kill(target.pid, signal.SIGSTOP)
    wait_until(lambda: target.status("State").startswith(("T", "t")), "it is stopped")
    for _ in range(20):
        time.sleep(0.01)
        if not target.status("State").startswith(("T", "t")):
            tap.check(False, f"{way}: a stopped process stays so", target.status("State"))
    os.kill(target.pid, signal.SIGCONT)
    target.work()
    recorder.end()
    tap.same(target.end()[1], 7, f"{way}: a process that was stopped goes on")


def ended(tap, folder, way):
    """The process ends while it is recorded; by itself, and by a signal."""
    for what, end in (("exit", lambda target: target.end()), ("SIGKILL", lambda target: target.process.kill())):
        target = Target(folder)
        recorder = Recorder(folder, target, way, name="ended")
        target.work()
        end(target)
        recorder.process.wait(timeout=PATIENCE)
        expected = 7 if what == "exit" else -signal.SIGKILL
        tap.same(target.process.wait(timeout=PATIENCE), expected, f"{way}, {what}: the parent learns of the end")
        tap.same(recorder.end(), 0, f"{way}, {what}: the recording ends with the process")
        tap.check(below(contexts(folder, "ended.data", "cpu"), "worker", "inner") > 0,
                  f"{way}, {what}: its profile is there")
    target = Target(folder)
    recorder = Recorder(folder, target, way, "--for", "200ms", name="ended")
    tap.same(recorder.process.wait(timeout=PATIENCE), 0, f"{way}: --for ends it")
    recorder.end()
    tap.same(target.end()[1], 7, f"{way}: the process goes on after that")


def refused(tap, folder):
    target = Target(folder)
    looks = []
    for _ in range(3):  # some threads live for a moment
        looks.append({int(task.name) for task in pathlib.Path(f"/proc/{target.pid}/task").iterdir()})
        time.sleep(0.1)
    thread = next(iter(set.intersection(*looks) - {target.pid}))
    gone = subprocess.Popen(["true"])
    gone.wait()
    zombie = subprocess.Popen(["true"])
    wait_until(lambda: pathlib.Path(f"/proc/{zombie.pid}/stat").read_text().split(") ")[1][0] == "Z", "it has ended")
    for words, pid, options, status in (
            ("there is no process", gone.pid, [], 1), ("expected the number", "0", [], 2),
            ("expected the number", "x", [], 2), (f"is a thread of process {target.pid}", thread, [], 2),
            ("has ended", zombie.pid, [], 1), ("expected a time", target.pid, ["--for", "x"], 2),
            ("only --output, --for, --quiet and --live", target.pid, ["--keep"], 2),
            ("need --live", target.pid, ["--port", "8000"], 2),
            ("no PROGRAM", target.pid, ["true"], 2)):
        done = lib.run([lib.FATHOM, "record", "-o", "refused", "--pid", str(pid), *options], folder)
        tap.check(done.returncode == status and words in done.stderr, f"told: {words}",
                  f"{done.returncode} {done.stderr}")
    zombie.wait()
    other, user = (target.pid, {"user": NOBODY, "group": NOBODY, "extra_groups": []}) if os.geteuid() == 0 else (1, {})
    with tempfile.TemporaryDirectory() as own:
        os.chmod(own, 0o777)
        done = subprocess.run([lib.FATHOM, "record", "-o", f"{own}/other", "--pid", str(other)], cwd=own, text=True,
                              stderr=subprocess.PIPE, **user)
    tap.check(done.returncode == 1 and "another user" in done.stderr, "another user's process", done.stderr)
    tap.same(target.end()[1], 7, "the process goes on")
    tap.check(not (folder / "refused.data").exists(), "there is no profile")


TRACER = r"""
#include <stdio.h>
#include <stdlib.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
int main(int words, char **word)
{
    int pid = words > 1 ? atoi(word[1]) : 0;
    if (ptrace(PTRACE_SEIZE, pid, 0, 0) != 0)
        return 1;
    puts("traced");
    fflush(stdout);
    getchar();
    return 0;
}
"""


def traced(tap, folder):
    (folder / "tracer.c").write_text(TRACER)
    lib.must(["gcc", "tracer.c", "-o", "tracer"], folder)
    target = Target(folder)
    tracer = subprocess.Popen([folder / "tracer", str(target.pid)], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                              text=True)
    if tracer.stdout.readline() != "traced\n":
        target.end()
        return "ptrace is refused"
    done = subprocess.run([lib.FATHOM, "record", "--pid", str(target.pid)], cwd=folder, text=True,
                          stderr=subprocess.PIPE, env={**os.environ, "FATHOM_ATTACH": "ptrace"})
    tap.check(done.returncode == 1 and f"process {tracer.pid} (tracer) traces it already" in done.stderr,
              "a process that is traced already", done.stderr)
    tracer.communicate("\n")
    tap.same(target.end()[1], 7, "it goes on")
    return None


def small(tap, folder):
    """A program of 32 bits."""
    (folder / "small.s").write_text(".globl _start\n_start: movl $29, %eax\n int $0x80\n jmp _start\n")
    built = [lib.run(words, folder).returncode for words in (["as", "--32", "small.s", "-o", "small.o"],
                                                             ["ld", "-m", "elf_i386", "small.o", "-o", "small"])]
    try:
        process = subprocess.Popen([folder / "small"]) if built == [0, 0] else None
    except OSError:
        process = None
    if process is None or process.poll() is not None:
        return "programs of 32 bits do not run here"
    done = lib.run([lib.FATHOM, "record", "--pid", str(process.pid)], folder)
    process.kill()
    process.wait()
    tap.check(done.returncode == 1 and "32 bits" in done.stderr, "a program of 32 bits is refused", done.stderr)
    return None


STATIC = """
#include <stdio.h>
#include <unistd.h>
volatile unsigned long work;
__attribute__((noinline)) static void inner(void) { for (int i = 0; i < 1000000; i++) work++; }
__attribute__((noinline)) static void outer(void) { for (int i = 0; i < 800; i++) inner(); work++; }
int main(void) { outer(); puts("done"); return 5; }
"""


def started(tap, folder, way):
    """Programs that no library can be loaded into are sampled from outside."""
    (folder / "static.c").write_text(STATIC)
    lib.must(["gcc", "-O1", "-static", "static.c", "-o", "static"], folder)
    done = subprocess.run([lib.FATHOM, "record", "-o", "static", "--", "./static"], cwd=folder, text=True,
                          capture_output=True, env={**os.environ, "FATHOM_ATTACH": way})
    tap.same((done.returncode, done.stdout), (5, "done\n"), f"{way}: output and status are the program's")
    tap.check("static is sampled from outside: it is fully static" in done.stderr, f"{way}: it is told why",
              done.stderr)
    paths = contexts(folder, "static.data", "cpu")
    tap.check(below(paths, "main", "outer", "inner") > 0, f"{way}: there is the chain of calls", "\n".join(paths))


def brief(tap, folder, way):
    """One that ends at once: either there is a profile, or it is said that it ended, not that some process has."""
    (folder / "brief.c").write_text("int main(void) { return 0; }")
    lib.must(["gcc", "-O1", "-static", "brief.c", "-o", "brief"], folder)
    for _ in range(10):
        done = subprocess.run([lib.FATHOM, "record", "-o", "brief", "--", "./brief"], cwd=folder, text=True,
                              capture_output=True, env={**os.environ, "FATHOM_ATTACH": way})
        last = done.stderr.splitlines()[-1]
        tap.check((done.returncode == 0 and "view" in last) or
                  (done.returncode == 1 and "it ended before it could be sampled, so there is no profile" in last),
                  f"{way}: a static program that ends at once", done)


def made(tap, folder, way):
    """Code that a program makes has the names that it writes down, and its callers."""
    for name, words in (("MadeOfMap", []), ("MadeOfDump", ["jit-1.dump"])):
        target = Target(folder, folder / "made", *words)
        try:
            recorder = Recorder(folder, target, way, name="made")
            target.work()
            recorder.end()
        finally:
            target.end()
            pathlib.Path(f"/tmp/perf-{target.pid}.map").unlink(missing_ok=True)
        paths = contexts(folder, "made.data", "cpu")
        tap.check(below(paths, "worker", "caller", name) > 0 and below(paths, "older") == 0,
                  f"{way}: the newest name of code that was made: {name}", "\n".join(paths))


ROOTED = r"""
#define _GNU_SOURCE
#include <poll.h>
#include <stdio.h>
#include <unistd.h>
static volatile unsigned long work;
__attribute__((noinline)) static void inner(void) { for (int i = 0; i < 100000; i++) work++; }
__attribute__((noinline)) static void outer(void) { inner(); work++; }
int main(int count, char **words)
{
    struct pollfd in = {.fd = 0, .events = POLLIN};
    if (count > 1 && chroot(words[1]) != 0)
        return 1;
    puts("ready");
    fflush(stdout);
    while (poll(&in, 1, 0) == 0)
        outer();
    return 0;
}
"""


def rooted(tap, folder, way):
    """Its root is a folder of ours: /proc tells its files by paths of ours, also those that it had before."""
    allowed = [] if os.geteuid() == 0 else ["unshare", "-r"]
    place = folder / "place"
    place.mkdir(exist_ok=True)
    (folder / "rooted.c").write_text(ROOTED)
    lib.must(["gcc", "-O1", "-fno-optimize-sibling-calls", "-static", "-Wl,--build-id=none", "rooted.c",
              "-o", place / "within"], folder)
    lib.must(["gcc", "-O1", "-fno-optimize-sibling-calls", "-Wl,--build-id", "rooted.c", "-o", "before"], folder)
    if lib.run([*allowed, "chroot", place, "/within"], folder, input="\n").returncode != 0:
        tap.skip(f"{way}: a process with a root of its own", "this user may not change the root")
        return
    for words in ["chroot", place, "/within"], [folder / "before", place]:
        target = Target(folder, *allowed, *words)
        try:
            recorder = Recorder(folder, target, way, name="rooted")
            target.work()
            recorder.end()
        finally:
            target.end()
        paths = contexts(folder, "rooted.data", "cpu")
        tap.check(below(paths, "main", "outer", "inner") > 0, f"{way}: names of a process with a root of its own",
                  "\n".join(paths))


def removed(tap, folder, way):
    """Its file is gone: what is missing is said without options of other recorders."""
    lib.must(["gcc", "-O1", "rooted.c", "-o", "removed"], folder)
    target = Target(folder, folder / "removed")
    try:
        (folder / "removed").unlink()
        recorder = Recorder(folder, target, way, name="removed")
        target.work()
        recorder.end()
    finally:
        target.end()
    page = lib.must([lib.FATHOM, "report", "--width=0", "menu", "removed.data"], folder).stdout
    tap.check("not known: files of the program were not found" in page and "perf record" not in page,
              f"{way}: the first page says why there are no names", page)


FORKS = r"""
#include <stdio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
static volatile unsigned long work;
__attribute__((noinline)) static void in_child(void)
{
    clock_t end = clock() + CLOCKS_PER_SEC / 2;
    while (clock() < end)
        work++;
}
int main(void)
{
    char line[8];
    puts("ready");
    fflush(stdout);
    for (int i = 0; i < 2 && read(0, line, sizeof line) > 0; i++) {
        pid_t child = fork();
        if (child == 0) {
            in_child();
            puts("child");
            fflush(stdout);
            _exit(read(0, line, sizeof line) <= 0);
        }
        waitpid(child, NULL, 0);
        puts("over");
        fflush(stdout);
    }
    return 0;
}
"""


def children(tap, folder, way):
    """Processes that it starts while it is recorded are counted, not sampled."""
    (folder / "forks.c").write_text(FORKS)
    lib.must(["gcc", "-O1", "-g", "forks.c", "-o", "forks"], folder)
    target = Target(folder, folder / "forks")
    recorder = Recorder(folder, target, way, name="forks")
    for _ in range(2):
        for line in ("child\n", "over\n"):
            target.process.stdin.write("go\n")
            target.process.stdin.flush()
            tap.same(target.process.stdout.readline(), line, f"{way}: a child: {line.strip()}")
            if line == "child\n":
                looks = recorder.turns()
                wait_until(lambda: recorder.turns() > looks + LOOKS, "the child was there for some looks")
    tap.same(target.process.wait(PATIENCE), 0, f"{way}: the process ends as it does")
    recorder.process.wait(PATIENCE)
    tap.same(recorder.end(), 0, f"{way}: the recording ends with it")
    words = "its child processes were not sampled, at least 2"
    tap.check(words in recorder.said, f"{way}: its children are told", recorder.said)
    dump = lib.must([lib.FATHOM, "dump", "forks.data"], folder).stdout
    tap.check(words in dump, f"{way}: and noted in the profile", dump[:2000])
    paths = contexts(folder, "forks.data", "cpu")
    tap.same(below(paths, "in_child"), 0, f"{way}: their time is not the process's")


LATE = r"""
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
static volatile unsigned long work;
static volatile int over;
static int spin(void) { for (int i = 0; i < 1000000; i++) work++; return over; }
static void *worker(void *run) { ((void (*)(int (*)(void)))run)(spin); return NULL; }
int main(void)
{
    char line[8];
    pthread_t thread;
    puts("ready");
    fflush(stdout);
    char *first = fgets(line, sizeof line, stdin);
    void *library = dlopen("./liblate.so", RTLD_NOW);
    void *run = library == NULL ? NULL : dlsym(library, "run_late");
    if (run == NULL)
        return 1;
    pthread_create(&thread, NULL, worker, run);
    char *second = fgets(line, sizeof line, stdin);
    over = 1;
    pthread_join(thread, NULL);
    return first == NULL || second == NULL;
}
"""
LIBRARY = "int run_late(int (*spin)(void)) { int n = 0; while (!spin()) n++; return n; }"


def late(tap, folder, way):
    """A library that is loaded while the process is recorded, and calls code that was there before."""
    (folder / "late.c").write_text(LATE)
    (folder / "liblate.c").write_text(LIBRARY)
    lib.must(["gcc", "-O1", "-g", "late.c", "-o", "late", "-ldl", "-lpthread"], folder)
    lib.must(["gcc", "-O1", "-g", "-shared", "-fPIC", "liblate.c", "-o", "liblate.so"], folder)
    target = Target(folder, folder / "late")
    recorder = Recorder(folder, target, way, name="late")
    target.process.stdin.write("go\n")
    target.process.stdin.flush()
    for _ in range(3):  # the process's libraries are looked at each second
        target.work()
    recorder.end()
    tap.same(target.end()[1], 0, f"{way}: the process ends as it does")
    paths = contexts(folder, "late.data", "cpu")
    tap.check(below(paths, "start_thread", "worker", "run_late", "spin") > 0, f"{way}: a library that was loaded later",
              "\n".join(paths))


SCRIPT = """
function inner(n) { let s = 0; for (let i = 0; i < n; i++) s += i * 3 % 7; return s; }
function outer() { for (let i = 0; i < 10; i++) inner(100000); setImmediate(outer); }
process.stdin.on("data", () => process.exit(0));
console.log("ready");
outer();
"""


def javascript(tap, folder, way):
    if shutil.which("node") is None:
        return "node is not installed"
    (folder / "script.js").write_text(SCRIPT)
    target = Target(folder, "node", "--perf-basic-prof", "--interpreted-frames-native-stack", "script.js")
    try:
        recorder = Recorder(folder, target, way, name="script")
        target.work()
        recorder.end()
    finally:
        target.end()
        pathlib.Path(f"/tmp/perf-{target.pid}.map").unlink(missing_ok=True)
    paths = contexts(folder, "script.data", "cpu")
    tap.check(below(paths, "uv_run", r"JS:\W(outer|inner)") > 0, f"{way}: functions of a script are in its calls",
              "\n".join(paths))
    return None


PYTHON = """
import sys, threading, time
def inner(n):
    s = 0
    for i in range(n):
        s += i * 3 % 7
    return s
def helper(x):
    return inner(3000)
def outer():
    inner(3000)
    return max([1, 2], key=lambda x: helper(x))
class Sleeper:
    def nap(self):
        time.sleep(0.02)
    def run(self):
        while True:
            self.nap()
def h\u00fctte(end):
    while not end:
        outer()
end = []
threading.Thread(target=Sleeper().run, daemon=True).start()
threading.Thread(target=h\u00fctte, args=[end]).start()
print("ready", flush=True)
sys.stdin.readline()
end.append(1)
"""


def interpreters(folder):
    """Those of known versions: {version: command}."""
    found = {}
    for command in (sys.executable, "python3.11", "python3.12", "python3.13"):
        try:
            version = lib.run([command, "-c", "import sys; print(*sys.version_info[:2], sys.implementation.name)"],
                              folder)
        except OSError:
            continue
        if version.returncode == 0 and version.stdout.split() in (["3", str(n), "cpython"] for n in (11, 12, 13)):
            found.setdefault(version.stdout.split()[1], command)
    return found


def python(tap, folder):
    """Functions of Python stand in place of the interpreter's, among those of C; also where a thread sleeps."""
    (folder / "script.py").write_text(PYTHON)
    found = interpreters(folder)
    for version, command in found.items():
        target = Target(folder, command, "script.py")
        recorder = Recorder(folder, target, "", name="python")
        for _ in range(4):  # enough samples for each line that has much of the time
            target.work()
        recorder.end()
        tap.same(target.end()[1], 0, f"3.{version}: it ends as it does")
        tap.check("functions of Python" in recorder.said, f"3.{version}: it is told why threads are stopped",
                  recorder.said)
        paths, slept = contexts(folder, "python.data", "cpu"), contexts(folder, "python.data", "wait_ns")
        shown = "\n".join([*paths, "asleep:", *slept])
        tap.check(below(paths, "Thread.run", "h\u00fctte", "outer") > sum(paths.values()) / 2,
                  f"3.{version}: functions of a thread", shown)
        tap.check(below(paths, "outer", "outer.<locals>.<lambda>", "helper", "inner") > 0 and
                  below(paths, "helper", "outer") == 0, f"3.{version}: a function that C calls is below its caller",
                  shown)
        tap.check(below(paths, "_PyEval_EvalFrameDefault") < sum(paths.values()) / 5,
                  f"3.{version}: they stand in place of the interpreter's", shown)
        tap.check(below(slept, "Sleeper.run", "Sleeper.nap") > 0, f"3.{version}: where a thread sleeps", shown)
        for caller, lines in (("outer", {"inner": 11, r"outer\.<locals>\.<lambda>": 12}), ("helper", {"inner": 9})):
            page = lib.must([lib.FATHOM, "report", f"proc/{caller}", "python.data"], folder).stdout
            for callee, line in lines.items():
                called = set(re.findall(rf"\s{callee}\s+script\.py:(\d+)", page))
                tap.same(called, {str(line)}, f"3.{version}: the line of {caller} that calls {callee}")
        hot = lib.must([lib.FATHOM, "report", "lines/50", "python.data"], folder).stdout
        timed = {int(line) for line in re.findall(r"script\.py:(\d+)\s+inner", hot)}
        tap.check(timed and timed <= {4, 5, 6, 7}, f"3.{version}: the lines of inner() that have time", hot)
    (folder / "short.py").write_text(PYTHON.replace("sys.stdin.readline()", "time.sleep(1)"))
    done = lib.run([lib.FATHOM, "record", "--outside", "-o", "short", "--", next(iter(found.values()), "true"),
                    "short.py"], folder)
    tap.check(not found or below(contexts(folder, "short.data", "cpu"), "h\u00fctte", "outer") > 0,
              "--outside: a program that is started", done.stderr)
    return None if found else "no CPython 3.11 to 3.13 is here"


def main():
    tap = lib.tap.Tap()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        lib.must(["gcc", "-O1", "-g", HERE / "running.c", "-o", "running", "-lpthread"], folder)
        lib.must(["gcc", "-O0", "-g", "-fno-omit-frame-pointer", HERE / "running.c", "-o", "running-O0", "-lpthread"],
                 folder)
        lib.must(["gcc", "-O1", "-g", "-fno-optimize-sibling-calls", HERE / "made.c", "-o", "made", "-lpthread"], folder)
        found, why = ways(folder)
        for way in why:
            tap.skip(way, f"the kernel refuses it: {why[way]}")
        for way in found:
            for case in (attached, frame_pointers, idle, killed, stopped, ended, started, brief, rooted, removed, late,
                         made, javascript, children):
                tap.case(case, tap, folder, way, name=f"{way}: {case.__name__}")
        if "ptrace" in found:
            tap.case(python, tap, folder)
        for case in (refused, traced, small):
            tap.case(case, tap, folder)
    return tap.done()


if __name__ == "__main__":
    sys.exit(main())

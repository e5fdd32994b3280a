#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Control, heap, ticks, fork, exec, exit, disk full. Speaks TAP.

usage: test_process.py LIBRARY_FOLDER SOURCE_FOLDER INCLUDE_FOLDER

SOURCE_FOLDER is tests/record.
"""
import glob
import os
import resource
import subprocess
import sys
import tempfile

sys.path.insert(0, sys.argv[2])
from patience import PATIENCE  # noqa: E402
from tap import Skipped, Tap
from runtime_rec import Rec  # noqa: E402

LIB, SRC, INCLUDE = sys.argv[1:4]
RUNTIME = os.path.join(INCLUDE, "..", "runtime")


def build(tmp, *more):
    exe = os.path.join(tmp, "process")
    subprocess.run(["gcc", "-O0", "-g", "-finstrument-functions", "-fno-builtin", "-I" + INCLUDE,
                    os.path.join(SRC, "runtime_programs", "process.c"), "-o", exe, *more],
                   check=True)
    return exe


def runtime():
    return ["-Wl,--whole-archive", os.path.join(LIB, "libfathom.a"),
            os.path.join(LIB, "libfathom_interpose.a"), os.path.join(LIB, "libfathom_heap.a"), "-Wl,--no-whole-archive"]


def run(tmp, what, **env):
    return run_and_read(tmp, what, **env)[0]


def run_and_read(tmp, what, **env):
    """The recording's path, and what the program printed."""
    exe = os.path.join(tmp, "process")
    for old in glob.glob(os.path.join(tmp, "*.rec")):
        os.unlink(old)
    path = os.path.join(tmp, "p.rec")
    done = subprocess.run([exe, what], env=dict(os.environ, FATHOM_OUTPUT=path, **env), cwd=tmp,
                          capture_output=True, text=True, timeout=PATIENCE)
    assert done.returncode == 0, (done.returncode, done.stderr)
    return path, done.stdout


def run_timed(tmp, what, **env):
    """The recording; whether it was charged what the program used, but for the last ticks, and no more than the
    process did."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    path, inside = run_and_read(tmp, what, **env)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    outside = after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime
    rec = Rec(path)
    t = rec.threads[0]
    charged = (t["user"] + t["instrumentation"]) * rec.quantum_ns / 1e9
    assert float(inside) - rec.quantum_ns / 1e9 <= charged <= outside, (env, inside, charged, outside)
    return rec


def symbols(exe):
    out = subprocess.run(["nm", exe], capture_output=True, text=True, check=True).stdout
    return {line.split()[2]: int(line.split()[0], 16) for line in out.splitlines()
            if len(line.split()) == 3}


def counts(rec, exe):
    """name of the callee -> (calls, exceptional, alloc) over all contexts."""
    base = [m for m in rec.modules if m["flags"] & 1][0]["bias"]
    names = {value + base: name for name, value in symbols(exe).items()}
    out = {}
    for t in rec.threads:
        for c in t["csds"].values():
            name = names[t["pds"][c["callee"]]["fn"]]
            a = out.get(name, (0, 0, (0,) * 5))
            out[name] = (a[0] + c["calls"], a[1] + c["excps"] + c["open"],
                         tuple(x + y for x, y in zip(a[2], c["alloc"])))
    return out


def test_control(tmp, exe):
    rec = Rec(run(tmp, "control"))
    c = counts(rec, exe)
    assert c["leaf"][0] == 60 and c["inner"][0] == 3 and c["main"][:2] == (1, 0), c
    assert [m["name"] for m in rec.marks] == ["half", "here"], rec.marks
    assert rec.state == 2 and rec.on == 1
    snap = Rec(os.path.join(tmp, "p.snap1.rec"))
    assert snap.snapshot == 1 and counts(snap, exe)["leaf"][0] == 30


def test_stopped_from_the_start(tmp, exe):
    rec = Rec(run(tmp, "control", FATHOM_RECORDING="off"))
    c = counts(rec, exe)
    assert c["leaf"][0] == 50 and c["inner"][0] == 2 and "main" not in c, c


def test_heap(tmp, exe):
    rec = Rec(run(tmp, "heap"))
    allocs, size, usable, frees, freed = counts(rec, exe)["heap"][2]
    # 10 malloc, 1 realloc, 1 calloc; 4 free and what realloc gave back.
    assert (allocs, size, frees) == (12, 10 * 100 + 5000 + 150, 5), (allocs, size, frees)
    assert usable >= size and freed == 5 * 100, (usable, freed)
    assert rec.peak >= rec.live == size - freed, (rec.peak, rec.live, size, freed)
    rec = Rec(run(tmp, "heap", FATHOM_HEAP="off"))
    assert rec.held is None and rec.live == usable - 5 * 104, (rec.held, rec.live, usable)
    assert rec.grade_flags & 4


def test_ticks(tmp, exe):
    for source in ("perf", "timer"):
        t = run_timed(tmp, "ticks", FATHOM_TICKS=source).threads[0]
        own = max(t["csds"].values(), key=lambda c: c["quanta"])
        assert own["quanta"] > 0.8 * t["user"]
        assert t["ticks"] > 50, t["ticks"]  # the slowest kernels' clock would tick 100 times
    rec = Rec(run(tmp, "ticks", FATHOM_TICKS="none"))
    assert rec.threads[0]["user"] == 0 and rec.tick_source == 0


def test_ticks_disturb_nothing(tmp, exe):
    """The default: a signal that comes while the kernel works would end the call that a thread is
    about to sleep in, and a timer that is set anew at each switch of threads costs more than they.
    Ticks come with the kernel's: seldom to a thread that sleeps a lot, but each charges all."""
    rec = run_timed(tmp, "calls")
    t = rec.threads[0]
    assert rec.tick_source == 1 and t["ticks"] > 10, t["ticks"]


def test_foreign_descriptors(tmp, exe):
    """A program that has closed all descriptors keeps those that it then opens, whatever numbers
    they have: when a thread ends, in a child, and when the recording grows."""
    for source in ("perf", "timer"):
        rec = Rec(run(tmp, "daemon", FATHOM_TICKS=source))
        assert counts(rec, exe)["inner"][0] == 2 and len(rec.threads) == 2
        child, = glob.glob(os.path.join(tmp, "p.*.rec"))
        assert counts(Rec(child), exe)["inner"][0] == 1
    build_wide(tmp, LOW_DESCRIPTORS)
    rec = Rec(run(tmp, ""))
    with open(os.path.join(tmp, "lowest")) as f:
        assert int(f.read()) == 0
    assert rec.dropped_nodes == 0 and rec.used > 20000000, rec.used
    build_wide(tmp, REPLACED_DESCRIPTORS)
    rec = Rec(run(tmp, ""))
    with open(os.path.join(tmp, "lowest")) as f:
        assert int(f.read()) == 0  # a recording that is opened again is out of the way, too
    with open(os.path.join(tmp, "mine")) as f:
        assert f.read() == "mine"
    assert rec.dropped_nodes == 0 and rec.used > 20000000, rec.used


def test_waits_for_locks(tmp, exe):
    """Who waits for a lock of the runtime sleeps: its holder may have a lower priority and need the
    processor."""
    subprocess.run(["gcc", "-O1", "-I" + INCLUDE, "-I" + RUNTIME,
                    os.path.join(SRC, "runtime_programs", "locks.c"), "-o",
                    os.path.join(tmp, "process"), "-pthread", *runtime()], check=True)
    run(tmp, "")


def test_waits_in_real_time(tmp, exe):
    """A thread of real time does not spin on the processor that the lock's holder needs."""
    subprocess.run(["gcc", "-O1", "-I" + INCLUDE, "-I" + RUNTIME,
                    os.path.join(SRC, "runtime_programs", "locks.c"), "-o",
                    os.path.join(tmp, "process"), "-pthread", *runtime()], check=True)
    done = subprocess.run([exe, "realtime"], cwd=tmp, capture_output=True, text=True, timeout=PATIENCE,
                          env=dict(os.environ, FATHOM_OUTPUT=os.path.join(tmp, "p.rec")))
    if done.returncode == 77:
        raise Skipped("threads of real time are not permitted here")
    assert done.returncode == 0, (done.returncode, done.stderr)
    assert int(done.stdout) < 40e6, done.stdout  # 20 waits of 20 ms of the holder's work


def test_fork(tmp, exe):
    parent = Rec(run(tmp, "fork"))
    assert counts(parent, exe)["leaf"][0] == 5 and counts(parent, exe)["forks"][:2] == (1, 0)
    files = [f for f in glob.glob(os.path.join(tmp, "p.*.rec"))]
    assert len(files) == 1, files
    child = Rec(files[0])
    assert child.ppid == parent.pid and child.grade_flags & 8
    c = counts(child, exe)
    assert c["leaf"][0] == 5 and c["inner"][0] == 1, c
    assert c["main"][0] == 0 and c["forks"][0] == 0, c
    assert [f[2] for f in child.threads[0]["open"]] == [False, False], child.threads[0]["open"]


def test_exec(tmp, exe):
    first = Rec(run(tmp, "exec"))
    assert first.state == 3 and counts(first, exe)["leaf"][0] == 4, first.state
    assert counts(first, exe)["main"][:2] == (1, 1)
    files = glob.glob(os.path.join(tmp, "p.*.rec"))
    assert len(files) == 1 and Rec(files[0]).pid == first.pid
    assert counts(Rec(files[0]), exe)["leaf"][0] == 6


def test_exit_below_main(tmp, exe):
    rec = Rec(run(tmp, "exit"))
    assert rec.state == 2 and counts(rec, exe)["main"][:2] == (1, 1), counts(rec, exe)
    assert counts(rec, exe)["inner"][:2] == (1, 0)


def build_wide(tmp, before="", walks=1):
    """540,001 calls in many contexts, as DIR/process."""
    small = os.path.join(tmp, "small.c")
    with open(small, "w") as f:
        f.write("#define _GNU_SOURCE\n#include <stdlib.h>\n" + before)
        for i in range(40):
            f.write(f"static void f{i}(int d);\n")
        f.write("static void (*const all[])(int) = {" + ",".join(f"f{i}" for i in range(40)) +
                "};\nstatic unsigned s = 1;\n")
        for i in range(40):
            f.write(f"static void f{i}(int d) {{ if (d > 0) {{ s = s * 1103515245u + 12345u;"
                    f" all[(s >> 16) % 40](d - 1); }} }}\n")
        f.write("int main(void)\n{\n    for (int w = 0; w < %d; w++) {\n        s = 1;\n"
                "        for (int i = 0; i < 60000; i++)\n            all[i %% 40](8);\n    }\n"
                "    return 0;\n}\n" % walks)
    exe = os.path.join(tmp, "process")
    subprocess.run(["gcc", "-O1", "-g", "-finstrument-functions", "-fno-omit-frame-pointer",
                    "-fno-optimize-sibling-calls", small, "-o", exe, *runtime()], check=True)


def test_full(tmp, exe):
    """A program whose file may not grow goes on; what is known is counted, losses are told."""
    build_wide(tmp)
    dropped = []
    for limit, walks in (1 << 20, 1), (400000, 1), (400000, 3):
        if walks > 1:
            build_wide(tmp, walks=walks)
        rec = Rec(run(tmp, "", FATHOM_LIMIT=str(limit)))
        t = rec.threads[0]
        calls = sum(c["calls"] for c in t["csds"].values())
        assert rec.dropped_nodes > 0 and lost(t)["calls"] > 100000 and rec.state == 2
        assert calls == walks * 60000 * 9 + 1 and t["dropped"] == 0, (calls, t["dropped"])
        assert limit * 0.95 < rec.used <= limit, (limit, rec.used)
        assert os.path.getsize(os.path.join(tmp, "p.rec")) <= limit
        assert t["unmatched"] == 0 and lost(t)["excps"] == lost(t)["open"] == 0
        dropped.append(rec.dropped_nodes)
    # What was met once is known: the hooks find it as they find what there was room for.
    assert dropped[1] == dropped[2], dropped
    build_wide(tmp)
    whole = Rec(run(tmp, ""))
    t = whole.threads[0]
    assert sum(c["calls"] for c in t["csds"].values()) == 60000 * 9 + 1
    assert whole.dropped_nodes == 0
    # As a plain simulation of the program and of the bound on recursion has them: none met another
    # in the index, though the functions lie at regular distances.
    assert (len(t["pds"]), len(t["csds"])) == (331738, 377403), (len(t["pds"]), len(t["csds"]))
    per_pair = whole.used / len(t["csds"])
    assert len(t["csds"]) < 20000 or per_pair <= 96, per_pair


def lost(thread):
    """What there was no room for."""
    found, = [c for c in thread["csds"].values() if thread["pds"][c["callee"]]["fn"] == 1]
    assert found["caller"] == thread["root_pd"], found
    return found


def test_limits(tmp, exe):
    """A limit that is none, or too low to hold anything, is told; nothing is recorded then."""
    for limit in ("1k", "", "0", "65535", "many"):
        for old in glob.glob(os.path.join(tmp, "*.rec")):
            os.unlink(old)
        done = subprocess.run([exe, "many"], cwd=tmp, capture_output=True, text=True,
                              env=dict(os.environ, FATHOM_LIMIT=limit))
        assert done.returncode == 0 and done.stderr.count("\n") == (limit != ""), done.stderr
        assert len(glob.glob(os.path.join(tmp, "*.rec"))) == (limit == ""), limit
        assert limit == "" or "FATHOM_LIMIT" in done.stderr, done.stderr


DEEP_IN_FULL = """
#include <stdlib.h>
static volatile int kept;
static int deep(int depth) { return depth == 0 ? 0 : 1 + deep(depth - 1); }
#define F(n) static void f##n(int bits) { kept++; if (bits) all[bits % 16](bits / 16); }
static void (*const all[16])(int);
F(0) F(1) F(2) F(3) F(4) F(5) F(6) F(7) F(8) F(9) F(10) F(11) F(12) F(13) F(14) F(15)
static void (*const all[16])(int) = {f0, f1, f2, f3, f4, f5, f6, f7, f8, f9, f10, f11, f12, f13, f14,
                                     f15};
static void *give(int size) { return malloc(size); }
int main(void)
{
    for (int i = 1; i < 60000; i++)
        f0(i);
    for (int i = 0; i < 100; i++)
        free(give(100));
    return deep(30000) == 30000 ? 0 : 1;
}
"""


def test_full_of_others(tmp, exe):
    """In a full file: deep stacks and allocations."""
    source = os.path.join(tmp, "deep.c")
    with open(source, "w") as f:
        f.write(DEEP_IN_FULL)
    subprocess.run(["gcc", "-O0", "-g", "-w", "-finstrument-functions", "-fno-omit-frame-pointer",
                    source, "-o", os.path.join(tmp, "process"), *runtime()], check=True)
    whole = Rec(run(tmp, "")).threads[0]["csds"].values()
    rec = Rec(run(tmp, "", FATHOM_LIMIT="80000"))
    t = rec.threads[0]
    assert sum(c["calls"] for c in t["csds"].values()) == sum(c["calls"] for c in whole)
    assert t["dropped"] == t["unmatched"] == 0, (t["dropped"], t["unmatched"])
    # give() allocates, main() gives back: neither has a record.
    assert lost(t)["alloc"][0] == lost(t)["alloc"][3] == 100, lost(t)["alloc"]


# Runs the program, whose file may not grow past a size, and says how often it asked for blocks.
FULL_DISK = """
#define _GNU_SOURCE
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>
static void begin(void)
{
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_fallocate, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRACE),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
    struct sock_fprog filter = {4, code};
    if (ptrace(PTRACE_TRACEME, 0, 0, 0) != 0)
        _exit(77);
    raise(SIGSTOP);
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) != 0)
        _exit(77);
    execl(PROGRAM, PROGRAM, "", (char *)NULL);
    _exit(127);
}
int main(void)
{
    unsigned asked = 0;
    int status;
    pid_t child = fork(), stopped;
    if (child == 0)
        begin();
    waitpid(child, &status, 0);
    if (WIFEXITED(status))
        return WEXITSTATUS(status);
    ptrace(PTRACE_SETOPTIONS, child, 0, PTRACE_O_TRACESECCOMP | PTRACE_O_TRACECLONE | PTRACE_O_EXITKILL);
    ptrace(PTRACE_CONT, child, 0, 0);
    while ((stopped = waitpid(-1, &status, __WALL)) > 0) {
        struct user_regs_struct regs;
        if (WIFEXITED(status) && stopped == child)
            break;
        if (!WIFSTOPPED(status))
            continue;
        int number = WSTOPSIG(status) == SIGTRAP || WSTOPSIG(status) == SIGSTOP ? 0 : WSTOPSIG(status);
        if (status >> 8 == (SIGTRAP | PTRACE_EVENT_SECCOMP << 8)) {
            asked++;
            ptrace(PTRACE_GETREGS, stopped, 0, &regs);
            if (regs.rdx + regs.r10 > 1500000) {
                regs.orig_rax = -1;
                regs.rax = -ENOSPC;
                ptrace(PTRACE_SETREGS, stopped, 0, &regs);
            }
        }
        ptrace(PTRACE_CONT, stopped, 0, number);
    }
    FILE *file = fopen("asked", "w");
    fprintf(file, "%u", asked);
    fclose(file);
    return WEXITSTATUS(status);
}
"""


LOW_DESCRIPTORS = """
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>
__attribute__((no_instrument_function, constructor)) static void close_all(void)
{
    for (int fd = 0; fd < 300; fd++)
        close(fd);
}
__attribute__((no_instrument_function, destructor)) static void tell(void)
{
    int lowest = open("/dev/null", O_RDONLY);
    FILE *file = fopen("lowest", "w");
    fprintf(file, "%d", lowest);
    fclose(file);
}
"""


# After the recording has begun, and before it grows.
REPLACED_DESCRIPTORS = """
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>
static int __attribute__((noinline)) first(int n) { return n + 1; }
__attribute__((no_instrument_function, constructor)) static void replace_all(void)
{
    int mine = open("mine", O_RDWR | O_CREAT | O_TRUNC, 0644);
    if (first(1) != 2 || write(mine, "mine", 4) != 4)
        _exit(2);
    for (int fd = 3; fd < 300; fd++)
        dup2(mine, fd);
    for (int fd = 0; fd < 3; fd++)
        close(fd);
}
""" + LOW_DESCRIPTORS[LOW_DESCRIPTORS.index("__attribute__((no_instrument_function, destructor))"):]


def test_disk_full(tmp, exe):
    """A disk that is full is used to the end, and not asked again for each new edge."""
    build_wide(tmp)
    program, launcher = os.path.join(tmp, "wide"), os.path.join(tmp, "launcher.c")
    os.rename(os.path.join(tmp, "process"), program)
    with open(launcher, "w") as f:
        f.write(FULL_DISK)
    subprocess.run(["gcc", f'-DPROGRAM="{program}"', launcher, "-o", os.path.join(tmp, "process")],
                   check=True)
    probe = subprocess.run([os.path.join(tmp, "process")], cwd=tmp, capture_output=True,
                           env=dict(os.environ, FATHOM_OUTPUT=os.path.join(tmp, "probe.rec")))
    if probe.returncode == 77:
        raise Skipped("ptrace or seccomp is not allowed")
    rec = Rec(run(tmp, ""))
    with open(os.path.join(tmp, "asked")) as f:
        asked = int(f.read())
    t = rec.threads[0]
    calls = sum(c["calls"] for c in t["csds"].values())
    assert calls == 60000 * 9 + 1 and lost(t)["calls"] > 0 and t["dropped"] == 0, calls
    assert rec.dropped_nodes > 10000 and rec.used > 1200000, (rec.dropped_nodes, rec.used)
    assert 2 < asked < 200, asked


MANY_THREADS = """
#include <pthread.h>
static volatile long count;
static void leaf(void) { count++; }
static void *begin(void *unused) { (void)unused; for (int i = 0; i < 5; i++) leaf(); return 0; }
static long deep(int depth) { return depth == 0 ? 0 : 1 + deep(depth - 1); }
int main(void)
{
    for (int i = 0; i < 300; i++) {
        pthread_t thread;
        pthread_create(&thread, 0, begin, 0);
        pthread_join(thread, 0);
    }
    return deep(5000) == 5000 && count == 1500 ? 0 : 1;
}
"""


def test_many_threads(tmp, exe):
    """Short threads take little of the file; deep stacks get the room that they need."""
    source = os.path.join(tmp, "threads.c")
    with open(source, "w") as f:
        f.write(MANY_THREADS)
    subprocess.run(["gcc", "-O0", "-g", "-finstrument-functions", "-fno-omit-frame-pointer", source,
                    "-o", os.path.join(tmp, "process"), "-pthread", *runtime()], check=True)
    rec = Rec(run(tmp, ""))
    assert len(rec.threads) == 301, len(rec.threads)
    assert sum(c["calls"] for t in rec.threads for c in t["csds"].values()) == 300 * 6 + 5002
    assert rec.used < 300 * 6000 + 1000000, rec.used


def test_without_runtime(tmp, exe):
    plain = build(tmp)
    done = subprocess.run([plain, "control"], capture_output=True)
    assert done.returncode == 1  # fathom_mark tells that nothing is recorded


TESTS = [test_control, test_stopped_from_the_start, test_heap, test_ticks,
         test_ticks_disturb_nothing, test_foreign_descriptors, test_waits_for_locks, test_waits_in_real_time,
         test_fork, test_exec,
         test_exit_below_main, test_full, test_limits, test_full_of_others, test_disk_full, test_many_threads, test_without_runtime]


def main():
    tap = Tap()
    with tempfile.TemporaryDirectory() as tmp:
        for test in TESTS:
            tap.case(test, tmp, build(tmp, *runtime()))
    return tap.done()


sys.exit(main())

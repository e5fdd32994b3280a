#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""States of a kernel trace's threads, against a walk of its events that shares nothing with fathom's
model: test_log_threads.py FATHOM CTF_WRITE [TRACE...]. Traces that are named are compared, too. Speaks
TAP."""
import bisect
import collections
import json
import pathlib
import random
import re
import shutil
import subprocess
import sys
import tempfile

from patience import PATIENCE
from tap import Tap

FATHOM, CTF_WRITE = sys.argv[1:3]
FOLDER = pathlib.Path(tempfile.mkdtemp(prefix="fathom-log-threads-"))
SOFT = ["HI", "TIMER", "NET_TX", "NET_RX", "BLOCK", "IRQ_POLL", "TASKLET", "SCHED", "HRTIMER", "RCU"]
UNKNOWN, USER, KERNEL, EXITING = "running", "user mode", "kernel thread", "exiting"


class Thread:
    """One life of a thread. `away` is None while it has a CPU."""

    def __init__(self, key):
        self.key = key
        self.kind = None       # "user", "kernel" or not known
        self.call = None       # the system call that it is in
        self.known = False     # whether it is known if it is in a system call
        self.exiting = False
        self.away = ""         # nothing known
        self.nested = []       # open traps and interrupts, outermost first
        self.releases = 0
        self.since = {}        # depth -> (time, name)
        self.segments = []

    def row(self):
        if self.away is not None:
            return self.away
        if self.key < 0:
            return "idle"
        if self.exiting:
            return EXITING
        if self.call:
            return self.call
        if self.kind == "kernel":
            return KERNEL
        return USER if self.known else UNKNOWN

    def note(self, time):
        """Keeps what has ended by now."""
        rows = [self.row()] + ([name for name, _ in self.nested] if self.away is None else [])
        for depth in range(max(len(rows), len(self.since))):
            name = rows[depth] if depth < len(rows) else ""
            since, before = self.since.get(depth, (time, ""))
            if name != before:
                if before and time > since:
                    self.segments.append((depth, since, time, before))
                self.since[depth] = (time, name)

    def lose_cpu(self, why):
        if self.away is None:
            traps = [entry for entry in self.nested[:1] if entry[1] == "trap"]
            self.nested = traps
        self.away = why

    def waiting(self):
        reason = self.nested[0][0] if self.nested else self.call
        return f"waiting in {reason}" if reason else "waiting"


class Walk:
    def __init__(self):
        self.living, self.all, self.on_cpu = {}, [], {}

    def thread(self, tid, cpu):
        key = tid if tid else -1 - cpu
        if key not in self.living:
            self.living[key] = Thread(key)
            self.all.append(self.living[key])
        return self.living[key]

    def release(self, thread, time):
        thread.releases += 1
        if thread.releases == 2:
            thread.away, thread.nested = "", []
            thread.note(time)
            del self.living[thread.key]

    def current(self, cpu):
        thread = self.on_cpu.get(cpu)
        return thread if thread and self.living.get(thread.key) is thread else None

    def switch(self, time, cpu, fields):
        out = self.thread(tid_of(fields, "prev"), cpu)
        state = fields.get("prev_state", 0)
        if out.key < 0:
            out.away = ""
        elif state in (16, 32) or (state in (64, 128) and out.exiting):
            out.away, out.nested = "dead", []
            out.note(time)
            self.release(out, time)
        else:
            preempted = state == 0 or (state >= 256 and state % 256 == 0)
            out.lose_cpu("")
            out.away = "ready (preempted)" if preempted else out.waiting()
        out.note(time)
        into = self.thread(tid_of(fields, "next"), cpu)
        if into.away in ("dead", "zombie"):
            into.exiting, into.call, into.releases, into.nested = False, None, 0, []
        if into.away is not None:
            into.away = None
        into.note(time)
        self.on_cpu[cpu] = into

    def fork(self, time, cpu, fields):
        tid = fields.get("child_tid", fields.get("child_pid"))
        parent = self.thread(fields.get("parent_tid", fields.get("parent_pid")), cpu)
        if tid in self.living:
            old = self.living.pop(tid)
            old.away = ""
            old.note(time)
        child = self.thread(tid, cpu)
        child.kind = "kernel" if parent.kind == "kernel" else "user"
        if child.kind == "user":
            child.call = parent.call if parent.away is None and parent.call else "fork"
        child.away = "created"
        child.note(time)

    def dump(self, time, cpu, fields):
        thread = self.thread(fields["tid"], cpu)
        if thread.key < 0:
            return
        if thread.kind is None:
            thread.kind = "kernel" if fields["type"] == 1 else "user"
        if thread.away == "":
            user = thread.kind == "user"
            states = {1: "ready", 2: "ready", 4: "zombie", 5: "waiting", 7: "dead"}
            if fields["status"] == 5 and user:
                thread.call = "system call"
            if fields["status"] in states:
                thread.away = states[fields["status"]]
        thread.note(time)

    def end_dump(self, time):
        for thread in self.living.values():
            if thread.away == "" and thread.key >= 0 and not thread.segments:
                if thread.kind == "user":
                    thread.call = "system call"
                thread.away = "waiting"
                thread.note(time)

    def see(self, time, cpu, name, fields):
        running = self.current(cpu)
        entry = re.fullmatch(r"(?:compat_)?(?:syscall_entry|sys)_(\w+)", name)
        if name == "sched_switch":
            self.switch(time, cpu, fields)
        elif name in ("sched_wakeup", "sched_waking", "sched_wakeup_new"):
            thread = self.thread(fields.get("tid", fields.get("pid")), cpu)
            if thread.key >= 0 and thread.away is not None and \
                    (thread.away in ("", "created") or thread.away.startswith("waiting")):
                thread.away = "ready (woken)"
                thread.note(time)
        elif name == "sched_process_fork":
            self.fork(time, cpu, fields)
        elif name == "sched_process_exit":
            thread = self.thread(fields.get("tid", fields.get("pid")), cpu)
            if thread.away == "":
                thread.away = None
            thread.exiting, thread.call, thread.nested = True, None, []
            thread.note(time)
        elif name == "sched_process_free":
            if fields.get("tid", fields.get("pid")) in self.living:
                self.release(self.living[fields.get("tid", fields.get("pid"))], time)
        elif name == "lttng_statedump_process_state":
            self.dump(time, cpu, fields)
        elif name == "lttng_statedump_end":
            self.end_dump(time)
        elif running is None:
            return
        elif entry and running.key >= 0:
            running.call = f"syscall {fields['id']}" if entry[1] == "unknown" else entry[1]
            running.kind, running.known, running.exiting, running.nested = "user", True, False, []
            running.note(time)
        elif (re.match(r"(compat_)?syscall_exit_", name) or name == "exit_syscall") and running.key >= 0:
            running.call, running.kind, running.known, running.nested = None, "user", True, []
            running.exiting = False
            running.note(time)
        else:
            self.interrupt(time, running, name, fields)

    def interrupt(self, time, running, name, fields):
        kinds = {"irq_handler": "interrupt", "irq_softirq": "soft interrupt",
                 "softirq": "soft interrupt"}
        shape = re.fullmatch(r"(irq_handler|irq_softirq|softirq)_(entry|exit)", name)
        if not shape or running.away is not None:
            return
        kind = kinds[shape[1]]
        if shape[2] == "entry":
            label = f"irq {fields['irq']} {fields['name']}" if kind == "interrupt" else \
                SOFT[fields["vec"]]
            running.nested.append((label, kind))
        elif running.nested and running.nested[-1][1] == kind:
            running.nested.pop()
        running.note(time)

    def ended(self, time):
        for thread in self.living.values():
            thread.away, thread.nested = "", []
            thread.note(time)


def tid_of(fields, side):
    return fields.get(side + "_tid", fields.get(side + "_pid"))


def run(*arguments):
    done = subprocess.run([FATHOM, *map(str, arguments)], capture_output=True, text=True,
                          timeout=PATIENCE)
    assert done.stdout, (arguments, done.returncode, done.stderr)
    return done.stdout


def walked(trace):
    """What the events say: thread -> segments, and the end."""
    walk, last = Walk(), 0
    for line in run("log", "cat", "--json", trace).splitlines():
        event = json.loads(line)
        last = event["time_ns"]
        name = re.sub(r"^(sched|irq):", "", event["type"])
        walk.see(last, event["cap"], name, event["fields"])
    walk.ended(last)
    found = collections.defaultdict(list)
    for thread in walk.all:
        found[thread.key].extend(thread.segments)
    return {key: joined(segments) for key, segments in found.items() if segments}


def joined(segments):
    """In order of depth and time; equal neighbours are one."""
    out = []
    for depth, start, end, name in sorted(segments):
        if out and out[-1][0] == depth and out[-1][2] == start and out[-1][3] == name:
            out[-1] = (depth, out[-1][1], end, name)
        elif end > start:
            out.append((depth, start, end, name))
    return out


def exported(trace):
    """What Chrome's format says: the same, with the class of each name."""
    whole = json.loads(run("export", "--to=chrome", "-o", "-", trace))
    base, keys, events = int(whole["otherData"]["start_ns"]), {}, []
    for event in whole["traceEvents"]:
        lane = (event["pid"], event["tid"])
        if event["ph"] == "M" and event["name"] == "thread_name" and event["pid"] == 2:
            label = event["args"]["name"]
            tid = re.search(r"\(tid (\d+)", label)
            keys[lane] = int(tid[1]) if tid else -1 - int(re.fullmatch(r"swapper/(\d+)", label)[1])
        elif event["ph"] == "X" and event["pid"] == 2:
            events.append((lane, event))
    found, classes, open_ends = collections.defaultdict(list), {}, {}
    events.sort(key=lambda entry: (entry[1]["ts"], -entry[1]["dur"]))
    for lane, event in events:
        start, length = (round(event[field] * 1000) for field in ("ts", "dur"))
        classes[event["name"]] = event["cat"]
        if length == 0:
            continue
        ends = open_ends.setdefault(lane, [])
        while ends and ends[-1] <= start:
            ends.pop()
        found[keys[lane]].append((len(ends), base + start, base + start + length, event["name"]))
        ends.append(start + length)
    return {key: joined(segments) for key, segments in found.items() if segments}, classes


def check(trace):
    expected = walked(trace)
    found, classes = exported(trace)
    assert expected, "no thread has a state"
    for key in sorted(set(expected) | set(found)):
        assert expected.get(key) == found.get(key), \
            (key, [pair for pair in zip(expected.get(key, []), found.get(key, []))
                   if pair[0] != pair[1]][:3], len(expected.get(key, [])), len(found.get(key, [])))
    for name, state_class in classes.items():
        assert (state_class == "waiting") == name.startswith("waiting"), (name, state_class)
        assert (state_class == "ready") == name.startswith("ready"), (name, state_class)
    check_statistics(trace, expected, classes)
    return expected


def add_own_time(segments, own):
    """Each segment without those that are nested in it."""
    starts = {depth: [entry[1] for entry in segments if entry[0] == depth]
              for depth in {entry[0] for entry in segments}}
    by_depth = {depth: [entry for entry in segments if entry[0] == depth] for depth in starts}
    for depth, start, end, name in segments:
        own[name] += end - start
        if depth > 0:
            around = bisect.bisect_right(starts[depth - 1], start) - 1
            own[by_depth[depth - 1][around][3]] -= end - start


def check_statistics(trace, expected, classes):
    """Sums by thread: what waits or is ready does not count as work."""
    columns = {"working_seconds": ("running", "system call", "trap", "interrupt", "soft interrupt"),
               "waiting_seconds": ("waiting",), "ready_seconds": ("ready", "created"),
               "idle_seconds": ("idle",)}
    rows = [row["cells"] for row in
            json.loads(run("log", "stat", "--by", "thread", "--json", trace))["tables"][0]["rows"]]
    own = collections.Counter()
    for segments in expected.values():
        add_own_time(segments, own)
    for column, names in columns.items():
        total = sum(time for name, time in own.items() if classes[name] in names)
        told = sum(round(row[column] * 1e9) for row in rows)
        assert told == total, (column, told, total)


def write(name, lines):
    folder = FOLDER / name
    subprocess.run([CTF_WRITE, folder], input="".join(lines), text=True, check=True,
                   timeout=PATIENCE)
    return folder


def switch(time, cpu, out, state, into):
    return (f'{time} {cpu} sched_switch prev_comm="p{out}" prev_tid={out} prev_state={state} '
            f'next_comm="n{into}" next_tid={into}\n')


def test_one_of_each():
    lines = [
        '1000 0 lttng_statedump_process_state tid=7 pid=7 ppid=1 name="a" type=0 status=5\n',
        '1001 0 lttng_statedump_process_state tid=2 pid=2 ppid=0 name="k" type=1 status=5\n',
        "1002 0 lttng_statedump_end\n",
        '1010 0 sched_wakeup comm="a" tid=7\n', switch(1020, 0, 0, 0, 7),
        "1030 0 syscall_exit_read ret=1\n", "1040 0 syscall_entry_futex uaddr=1\n",
        '1050 0 irq_handler_entry irq=3 name="disk"\n', '1055 0 sched_wakeup comm="k" tid=2\n',
        "1060 0 irq_handler_exit irq=3 ret=1\n", switch(1070, 0, 7, 1, 2),
        switch(1080, 0, 2, 128, 0), '1090 0 sched_wakeup comm="a" tid=7\n', switch(1100, 0, 0, 0, 7),
        "1110 0 syscall_exit_futex ret=0\n", switch(1120, 0, 7, 256, 0), switch(1130, 0, 0, 0, 7),
        "1140 0 syscall_entry_exit code=0\n", '1150 0 sched_process_exit comm="a" tid=7\n',
        switch(1160, 0, 7, 128, 0), '1170 0 sched_process_free comm="a" tid=7\n', "1180 0 tick n=1\n"]
    threads = check(write("each", lines))
    seven = [(start, end, name) for depth, start, end, name in threads[7] if depth == 0]
    assert seven == [
        (0, 10, "waiting"), (10, 20, "ready (woken)"), (20, 30, "system call"), (30, 40, "user mode"),
        (40, 70, "futex"), (70, 90, "waiting in futex"), (90, 100, "ready (woken)"),
        (100, 110, "futex"), (110, 120, "user mode"), (120, 130, "ready (preempted)"),
        (130, 140, "user mode"), (140, 150, "exit"), (150, 160, "exiting"), (160, 170, "dead")], seven
    assert threads[2] == [(0, 1, 55, "waiting"), (0, 55, 70, "ready (woken)"),
                          (0, 70, 80, "kernel thread"), (0, 80, 180, "waiting")], threads[2]


def random_kernel(chance, events):
    """A kernel that works: CPUs, threads that make system calls, fork, wait, are woken, interrupted,
    preempted, and end. Only what was recorded of it may be missing: it begins in the middle."""
    cpus, time, lines, next_tid = 3, 1000, [], 100
    threads = {tid: {"state": "sleeping", "call": None} for tid in range(10, 16)}
    running = [0] * cpus
    for _ in range(events):
        time += chance.randrange(1, 50)
        cpu = chance.randrange(cpus)
        tid, draw = running[cpu], chance.random()
        sleeping = [t for t, what in threads.items() if what["state"] == "sleeping"]
        ready = [t for t, what in threads.items() if what["state"] == "ready"]
        if draw < .15 and sleeping:
            woken = chance.choice(sleeping)
            threads[woken]["state"] = "ready"
            lines.append(f'{time} {cpu} sched_wakeup comm="w" tid={woken}\n')
        elif draw < .3:
            line = chance.randrange(3)
            lines.append(f'{time} {cpu} irq_handler_entry irq={line} name="dev{line}"\n')
            if chance.random() < .5:
                lines.append(f"{time + 1} {cpu} irq_softirq_entry vec={line}\n"
                             f"{time + 2} {cpu} irq_softirq_exit vec={line}\n")
            lines.append(f"{time + 3} {cpu} irq_handler_exit irq={line} ret=1\n")
            time += 3
        elif draw < .55 and tid:
            call = threads[tid]["call"]
            name = call or chance.choice(["read", "futex", "poll"])
            threads[tid]["call"] = None if call else name
            lines.append(f"{time} {cpu} syscall_{'exit' if call else 'entry'}_{name} x=1\n")
        elif draw < .6 and tid and threads[tid]["call"] is None:
            threads[next_tid] = {"state": "ready", "call": "clone"}
            lines.append(f"{time} {cpu} syscall_entry_clone x=1\n"
                         f'{time + 1} {cpu} sched_process_fork parent_comm="p" parent_tid={tid} '
                         f'parent_pid={tid} child_comm="c" child_tid={next_tid} child_pid={tid}\n'
                         f'{time + 2} {cpu} sched_wakeup_new comm="c" tid={next_tid}\n'
                         f"{time + 3} {cpu} syscall_exit_clone x=1\n")
            next_tid, time = next_tid + 1, time + 3
        elif draw < .63 and tid >= 100 and threads[tid]["call"] is None:
            into = chance.choice(ready) if ready else 0
            lines.append(f"{time} {cpu} syscall_entry_exit x=1\n"
                         f'{time + 1} {cpu} sched_process_exit comm="x" tid={tid}\n'
                         + switch(time + 2, cpu, tid, chance.choice([16, 32, 64, 128]), into)
                         + f'{time + 3} {cpu} sched_process_free comm="x" tid={tid}\n')
            del threads[tid]
            running[cpu], time = into, time + 3
            if into:
                threads[into]["state"] = "running"
        elif tid or ready:
            into = chance.choice(ready + [0]) if ready and tid else chance.choice(ready) if ready else 0
            state = 0
            if tid:
                state = chance.choice([0, 1, 2, 128, 256, 1024])
                threads[tid]["state"] = "ready" if state in (0, 256, 1024) else "sleeping"
            lines.append(switch(time, cpu, tid, state, into))
            running[cpu] = into
            if into:
                threads[into]["state"] = "running"
    return lines


def test_generated():
    for seed in range(4):
        threads = check(write(f"random-{seed}", random_kernel(random.Random(seed), 3000)))
        names = {entry[3] for segments in threads.values() for entry in segments}
        assert {"user mode", "waiting in read", "ready (preempted)", "ready (woken)", "created",
                "exiting", "NET_TX"} <= names, (seed, names)


def test_named():
    for trace in sys.argv[3:]:
        threads = check(trace)
        print(f"# {trace}: {len(threads)} threads, {sum(map(len, threads.values()))} segments")


tests = [test_one_of_each, test_generated, test_named]
tap = Tap()
for test in tests:
    tap.case(test)
shutil.rmtree(FOLDER)
sys.exit(tap.done())

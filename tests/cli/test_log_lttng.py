#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A trace recorded by LTTng of a program, read by `fathom log`: test_log_lttng.py FATHOM. Skips where
LTTng is not there. Speaks TAP."""
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile

from patience import PATIENCE, wait_until
from tap import Tap, skip_all

FATHOM = sys.argv[1]
PROGRAM = """
#include <lttng/tracef.h>
int main(void)
{
    for (int i = 0; i < 1000; i++)
        lttng_ust_tracef("step %d", i);
    return 0;
}
"""


LOCKER = """
#include <pthread.h>
#include <unistd.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int asks[2];
static void *second(void *data)
{
    (void)!write(asks[1], "x", 1);
    pthread_mutex_lock(&lock);
    pthread_mutex_unlock(&lock);
    return data;
}
int main(void)
{
    char byte;
    pthread_t thread;
    if (pipe(asks) != 0)
        return 1;
    pthread_mutex_lock(&lock);
    pthread_create(&thread, NULL, second, NULL);
    (void)!read(asks[0], &byte, 1);
    usleep(200000);
    pthread_mutex_unlock(&lock);
    return pthread_join(thread, NULL);
}
"""


def library_paths(name):
    places = [pathlib.Path("/usr/lib"), *pathlib.Path("/usr/lib").glob("*-linux-gnu")]
    return [str(place / name) for place in places if (place / name).exists()]


def run(*command, **options):
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, timeout=PATIENCE,
                          **options)
    assert done.returncode == 0, (command, done.returncode, done.stdout, done.stderr)
    return done.stdout


for tool in ("lttng", "lttng-sessiond", "cc"):
    if not shutil.which(tool):
        skip_all(f"{tool} is not installed")
folder = pathlib.Path(tempfile.mkdtemp(prefix="fathom-lttng-"))
source, program, trace = folder / "steps.c", folder / "steps", folder / "trace"
source.write_text(PROGRAM)
built = subprocess.run(["cc", "-o", program, source, "-llttng-ust", "-ldl"], capture_output=True)
if built.returncode != 0:
    shutil.rmtree(folder)
    skip_all("liblttng-ust-dev is not installed")
locker = folder / "locker"
(folder / "locker.c").write_text(LOCKER)
subprocess.run(["cc", "-o", locker, folder / "locker.c", "-lpthread"], check=True)
# A home of its own: a daemon of somebody else is left alone.
environment = dict(os.environ, LTTNG_HOME=str(folder), HOME=str(folder),
                   LTTNG_UST_REGISTER_TIMEOUT="-1")
pid_file = folder / "pid"
daemon = subprocess.Popen(["lttng-sessiond", "--no-kernel", "--pidfile", pid_file],
                          env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                          start_new_session=True)
try:
    def answers():
        asked = subprocess.run(["lttng", "--no-sessiond", "list"], env=environment, capture_output=True,
                               timeout=PATIENCE)
        return daemon.poll() is not None or (asked.returncode == 0 and pid_file.exists())

    wait_until(answers, "lttng-sessiond answers, or has ended")
    if daemon.poll() is not None:
        skip_all("lttng-sessiond does not start here")

    def lttng(*arguments):
        run("lttng", "--no-sessiond", *arguments, env=environment)

    def locks_are_known():
        """Two threads take one lock; the one that comes second waits until it is left."""
        wrapper = next((path for path in library_paths("liblttng-ust-pthread-wrapper.so")), None)
        if wrapper is None:
            return True # the package has none
        held = folder / "held"
        lttng("create", "locks", f"--output={held}")
        lttng("enable-event", "--userspace", "lttng_ust_pthread:*")
        lttng("add-context", "--userspace", "--type=vtid", "--type=vpid", "--type=procname")
        lttng("start")
        run(locker, env=dict(environment, LD_PRELOAD=wrapper))
        lttng("stop")
        lttng("destroy", "locks")
        page = json.loads(run(FATHOM, "log", "stat", "--by", "lock", "--json", held))
        rows = [row["cells"] for row in page["tables"][0]["rows"]]
        times = {row["name"]: row for row in rows if row["wait_longest_seconds"] > .04}
        print("#", rows[:4])
        # The holder sleeps for 200 ms when the other is about to ask.
        return any(row["held_longest_seconds"] >= .04 and row["held_count"] >= 2 for row in times.values())

    lttng("create", "steps", f"--output={trace}")
    lttng("enable-event", "--userspace", "lttng_ust_tracef:*")
    lttng("add-context", "--userspace", "--type=vtid", "--type=vpid", "--type=procname")
    lttng("start")
    run(program, env=environment)
    lttng("stop")
    lttng("destroy", "steps")
    tap = Tap()
    events = [json.loads(line) for line in run(FATHOM, "log", "cat", "--json", trace).splitlines()]
    steps = [event["fields"]["msg"] for event in events if event["type"] == "lttng_ust_tracef:event"]
    tap.check(steps == [f"step {i}" for i in range(1000)], "every event in order", f"{len(steps)} steps, {events[:2]}")
    fields = events[0]["fields"]
    tap.check(fields["vtid"] == fields["vpid"] > 0 and fields["procname"] == "steps", "contexts", fields)
    page = json.loads(run(FATHOM, "log", "stat", "--by", "tree", "--json", trace))
    rows = [row["cells"] for row in page["tables"][0]["rows"]]
    named, path = [], []
    for row in rows:
        path = path[:row["depth"]] + [row["name"].strip()]
        if len(path) == 2 and path[0] == "thread":
            named.append(path[1])
    tap.check(named == ["steps"], "the thread is known", named)
    page = json.loads(run(FATHOM, "log", "stat", "--by", "process", "--json", trace))
    rows = [row["cells"] for row in page["tables"][0]["rows"]]
    named = [(row["name"], row["threads"], row["events"] >= 1000) for row in rows]
    tap.check(named == [(f"steps (pid {fields['vpid']})", 1, True)], "the process is known", named)
    tap.check(locks_are_known(), "locks")
    sys.exit(tap.done())
finally:
    if daemon.poll() is None:
        os.kill(daemon.pid, signal.SIGTERM)
        daemon.wait(PATIENCE)
    shutil.rmtree(folder, ignore_errors=True)

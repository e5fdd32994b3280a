#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Continuous integration: builds, tests and linters as jobs, and a report that says what failed.

    run.py [--started=EPOCH] [JOB...]

first     layout of C, shell scripts, scripts of the pages, structure, commit messages: what needs no build
build     gcc with -Werror
check     `make check`, as the README has it
clang     clang with -Werror: everything compiles; the tests that meet the compiler
sanitize  AddressSanitizer and UBSan: the tests that read files and serve requests
threads   ThreadSanitizer: the event log's runtime and the work that is done in threads
lint      clang-tidy, at the lowest priority beside the jobs after `build`
platforms the bundle in a chroot of Debian 13, by name alone; skipped where none can be made. FATHOM_ROOTS is its folder

A failure is a failure, also of a test that passes when it is run again: that only stands in the
report, as a hint. CI_MINUTES (85) ends a run that hangs. When all jobs have passed on a clean tree, the
commit's hash is written to `ci-passed` in git's common folder.
"""
import collections
import ctypes
import os
import shlex
import signal
import subprocess
import sys
import threading
import time

import report
import results

OWN = "build-ci"  # logs of this run
LINT_LOG = f"{OWN}/lint.log"
DETAILED = 3  # failed tests that the report shows whole and that are run once more
TO_END = 30  # seconds that the tests' runner has to end its tests and to write its log
PR_SET_CHILD_SUBREAPER = 36
PROCESSES = str(max(2, os.cpu_count() * 3 // 2))  # tests wait a third of their time


class Run:
    """The state of one run: minutes by job, counts, failures."""

    def __init__(self, started):
        self.started = started
        self.deadline = started + 60 * float(os.environ.get("CI_MINUTES", 85))
        self.minutes = []
        self.failures = []
        self.counts = {"passed": 0, "failed": 0, "skipped": 0, "unsteady": 0}
        self.unsteady = results.Unsteady("tests/unsteady.txt")
        self.skips = results.Skips("tests/skips.txt")
        self.linter = None
        self.groups = set()  # process groups that were started and not yet waited for

    def count(self, kind, number=1):
        self.counts[kind] += number

    def fail(self, failure):
        """Names the first failure of a job at once: the report comes at the end only."""
        if not any(known.job == failure.job for known in self.failures):
            print(f"== the first failure of {failure.job}: {failure.name}\n"
                  f"   again: {failure.again}", flush=True)
        self.failures.append(failure)
        self.count("failed")

    def seconds_left(self):
        return self.deadline - time.time()

    def end_groups(self):
        """Ends what still runs, also when this program is stopped before its end."""
        for group in self.groups:
            send(group, signal.SIGKILL)
        self.groups.clear()
        end_children(set())


def send(group, number):
    try:
        os.killpg(group, number)
    except ProcessLookupError:
        pass


def become_reaper():
    """What loses its parent becomes a child of this process: Meson starts each test in a session of
    its own, which the group's signals do not reach."""
    ctypes.CDLL(None, use_errno=True).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def end_children(kept):
    """Ends all children but those kept, and the children that they leave."""
    path = f"/proc/self/task/{os.getpid()}/children"
    while True:
        with open(path, encoding="ascii") as file:
            children = [int(pid) for pid in file.read().split() if int(pid) not in kept]
        if not children:
            return
        for pid in children:
            try:
                os.kill(pid, signal.SIGKILL)
                os.waitpid(pid, 0)
            except (ProcessLookupError, ChildProcessError):
                kept = kept | {pid}


def wait(run, process):
    """Until the command has ended, or its time is over: then its tests are ended, so that their runner
    says which of them hung."""
    try:
        return process.wait(max(1, run.seconds_left()))
    except subprocess.TimeoutExpired:
        print("== the run's time is over (CI_MINUTES)", flush=True)
    send(process.pid, signal.SIGTERM)
    try:
        return process.wait(TO_END)
    except subprocess.TimeoutExpired:
        send(process.pid, signal.SIGKILL)
        return process.wait()


def stream(run, command, env=None):
    """Runs a command in a process group of its own and passes on what it prints. Returns its exit
    status and its last lines; ends all that it has started when the time is over."""
    print("$", shlex.join(command), flush=True)
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                               stderr=subprocess.STDOUT, text=True, errors="replace",
                               env={**os.environ, **(env or {})}, start_new_session=True)
    last = collections.deque(maxlen=200)

    def pass_on():
        for line in process.stdout:
            print(line, end="", flush=True)
            last.append(line.rstrip("\n"))

    reader = threading.Thread(target=pass_on, daemon=True)
    run.groups.add(process.pid)
    reader.start()
    status = wait(run, process)
    end_children({run.linter.pid} if run.linter else set())
    reader.join(TO_END)  # a process that nobody knows of may hold the pipe
    run.groups.discard(process.pid)
    return status, list(last)


def step(run, job, name, command, env=None):
    """A command that passes or fails as one test does."""
    status, last = stream(run, command, env)
    if status == 0:
        run.count("passed")
        return True
    environment = "".join(f"{key}={shlex.quote(value)} " for key, value in (env or {}).items())
    run.fail(report.Failure(job, name, said=results.telling(last), last=last,
                            again=environment + shlex.join(command)))
    return False


def test(run, job, build, setup, chosen=(), command=None):
    """Runs the tests of a build folder and judges each result."""
    before = time.time()
    status, last = stream(run, command or results.meson_test(
        build, setup, "--num-processes", PROCESSES, "--print-errorlogs", *chosen))
    limits, found = results.limits(build), results.read(build, before)
    failed = 0
    for result in found:
        problem = result.problem(run.skips)
        if problem is None:
            run.count("skipped" if result.was_skipped else "passed")
        elif run.unsteady.tell(result.name, job):
            run.count("unsteady")
        else:
            failed += 1
            alone = results.meson_test(build, setup, "--num-processes", "1", result.name)
            run.fail(report.Failure(
                job, result.name, said=problem + result.said(), last=result.last_lines(),
                limit=limits.get(result.name), again=result.again(build, setup),
                alone=None if result.is_good else alone))
    listed = results.listed(build, setup, chosen)
    missing = collections.Counter(listed) - collections.Counter(result.name for result in found)
    said = [f"no result: {name}" for name in sorted(missing)]
    said += [f"no test is in the suite {suite}" for suite in results.empty_suites(build, chosen)]
    if said or not listed or (status != 0 and failed == 0 and all(r.is_good for r in found)):
        run.fail(report.Failure(
            job, "tests without a result" if said else "the runner of the tests",
            said=said or [f"exit status {status}"], last=last,
            again=shlex.join(results.meson_test(build, setup, *chosen))))


def compile_with(run, job, build, options, env=None, suites=None):
    """Configures a build folder anew; builds all of it, or what the tests of some suites need."""
    setup = ["meson", "setup", build, *options]
    if os.path.exists(f"{build}/build.ninja"):
        setup = ["meson", "setup", "--wipe", build, *options]
    if not step(run, job, f"configuring {build}", setup, env):
        return False
    targets = results.needed(build, suites) if suites else []
    return step(run, job, f"compiling {build}", ["ninja", "-C", build, *targets])


def job_first(run):
    """Needs no build: what is wrong in most changes is known after half a minute."""
    step(run, "first", "layout and scripts", ["tools/lint.sh", "style"])
    for script in ("layers", "paths", "sizes", "commits"):
        step(run, "first", script, [sys.executable, f"tests/{script}.py", os.getcwd()])


def job_build(run):
    """Returns whether later jobs make sense."""
    if os.path.exists("build-check"):
        stream(run, ["rm", "-rf", "build-check"])
    built = step(run, "build", "make everything",
                 ["make", "--no-print-directory", "everything", "BUILD=build-check", "MESON_OPTIONS=--werror"])
    if built and "lint" in run.jobs:
        start_linter(run)
    return built


def start_linter(run):
    with open(LINT_LOG, "w", encoding="utf-8") as log:
        run.linter = subprocess.Popen(
            ["nice", "-n", "19", "tools/lint.sh", "tidy", "build-check"], stdin=subprocess.DEVNULL,
            stdout=log, stderr=subprocess.STDOUT, start_new_session=True)
    run.groups.add(run.linter.pid)
    set_share(run.linter.pid, 19)


def set_share(pid, nice):
    """Of a session. Linux shares the processors among sessions first (sched_autogroup_enabled), and by
    niceness only within one: each test has a session, too, so without this the linter gets as much as all
    of a test's processes."""
    try:
        with open(f"/proc/{pid}/autogroup", "w", encoding="ascii") as file:
            file.write(f"{nice}\n")
    except OSError as problem:  # there are kernels without it, and one that allows few changes a second
        print(f"the linter's share of the processors: {problem}", flush=True)


def job_check(run):
    test(run, "check", "build-check", "full",
         command=["make", "--no-print-directory", "check", "BUILD=build-check"])


def job_clang(run):
    wrapped = "ccache " if results.has("ccache") else ""
    compiler = {"CC": wrapped + "clang", "CXX": wrapped + "clang++", "CC_LD": "gold"}
    if compile_with(run, "clang", "build-clang",
                    ["--werror", "--buildtype=release", "-Dman=disabled"], compiler):
        test(run, "clang", "build-clang", "quick",
             by_suite("runtime", "runtime-eventlog", "base", "compiler", without=("soak", "slow")))


def job_sanitize(run):
    # Without --werror: with sanitizers gcc warns of conversions that it otherwise sees are none.
    if compile_with(run, "sanitize", "build-sanitize",
                    ["-Db_sanitize=address,undefined", "-Db_lundef=false", "-Doptimization=1",
                     "-Dman=disabled"], {"CC_LD": "gold"}) and \
            step(run, "sanitize", "npm packages", ["tools/browser-packages.sh", "build-sanitize"]):
        test(run, "sanitize", "build-sanitize", "full", by_suite("unit", "cli", "sanitized"))


def job_threads(run):
    names = ("runtime-eventlog", "beside")
    if compile_with(run, "threads", "build-threads",
                    ["-Db_sanitize=thread", "-Db_lundef=false", "-Dman=disabled"], {"CC_LD": "gold"},
                    names):
        test(run, "threads", "build-threads", "quick",
             by_suite(*names, without=("soak", "slow")))


def job_lint(run):
    if run.linter is None:
        if not os.path.exists("build-check/compile_commands.json") and not job_build(run):
            return
        if run.linter is None:
            start_linter(run)
    if os.geteuid() == 0:  # nothing else runs any more
        os.setpriority(os.PRIO_PGRP, run.linter.pid, 0)
        set_share(run.linter.pid, 0)
    try:
        status = run.linter.wait(max(1, run.seconds_left()))
    except subprocess.TimeoutExpired:
        os.killpg(run.linter.pid, signal.SIGKILL)
        status = run.linter.wait()
    run.groups.discard(run.linter.pid)
    with open(LINT_LOG, encoding="utf-8", errors="replace") as log:
        last = log.read().splitlines()
    print(*last[-200:], sep="\n", flush=True)
    if status == 0:
        run.count("passed")
    else:
        run.fail(report.Failure("lint", "clang-tidy", said=results.telling(last), last=last,
                                again="tools/lint.sh tidy build-check"))


def by_suite(*names, without=("soak",)):
    """A suite that is named runs whatever its setup excludes, so each test's other suites count, too."""
    return tuple(word for option, chosen in (("--suite", names), ("--no-suite", without))
                 for name in chosen for word in (option, name))


def job_platforms(run):
    """The chroot is kept for the next run: it takes minutes to make."""
    root = os.path.join(os.environ.get("FATHOM_ROOTS") or os.path.expanduser("~/.cache/fathom-roots"), "trixie")
    if os.geteuid() != 0 or not results.has("debootstrap"):
        print("== platforms: skipped, as it needs root and debootstrap", flush=True)
        return
    if not os.path.exists(f"{root}/usr/bin/gcc"):
        status, _ = stream(run, ["debootstrap", "--variant=minbase", "--include=g++", "trixie", root])
        if status != 0:
            print("== platforms: skipped, as debootstrap cannot make a chroot here", flush=True)
            return
    if not os.path.exists("build-check/build.ninja") and not job_build(run):
        return
    bundle = "build-check/fathom-x86_64.tar.xz"
    if step(run, "platforms", "make bundle", ["tools/bundle.py", "build-check", bundle]):
        step(run, "platforms", "trixie", ["tools/platforms.py", bundle, "--only", f"trixie={root}"])


JOBS = {"first": job_first, "build": job_build, "check": job_check, "clang": job_clang,
        "sanitize": job_sanitize, "threads": job_threads, "lint": job_lint,
        "platforms": job_platforms}
BY_NAME_ALONE = {"platforms"}


def use_ccache():
    """Objects of another checkout are found: paths are hashed relative to the tree."""
    os.environ.update(CCACHE_BASEDIR=os.getcwd(), CCACHE_NOHASHDIR="1", CCACHE_MAXSIZE="4G",
                      CCACHE_SLOPPINESS="time_macros",
                      CCACHE_STATSLOG=os.path.abspath(f"{OWN}/ccache.log"))
    os.makedirs(OWN, exist_ok=True)
    open(f"{OWN}/ccache.log", "w", encoding="utf-8").close()


def run_jobs(run):
    for job in run.jobs:
        begun = time.time()
        print(f"== {job}", flush=True)
        if run.seconds_left() <= 0:
            run.fail(report.Failure(job, "not begun", said=["the run's time was over (CI_MINUTES)"],
                                    again=f".ci/run {job}"))
            continue
        goes_on = JOBS[job](run)
        run.minutes.append((job, (time.time() - begun) / 60))
        if job == "build" and not goes_on:
            break


def stop(number, _frame):
    raise KeyboardInterrupt(f"by {signal.Signals(number).name}")


def run_alone(run):
    for failure in [known for known in run.failures[:DETAILED] if known.alone]:
        if run.seconds_left() < 60:
            break
        status, _ = stream(run, failure.alone)
        failure.alone_passes = status == 0


def main(arguments):
    started = time.time()
    if arguments and arguments[0].startswith("--started="):
        started = float(arguments.pop(0).partition("=")[2])
    wrong = [name for name in arguments if name not in JOBS]
    if wrong:
        sys.exit(f"unknown job {wrong[0]}; the jobs are: {', '.join(JOBS)}")
    run = Run(started)
    run.jobs = arguments or [job for job in JOBS if job not in BY_NAME_ALONE]
    run.minutes.append(("packages", (time.time() - started) / 60))
    use_ccache()
    commit = results.clean_commit()
    become_reaper()
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, stop)
    try:
        run_jobs(run)
        run_alone(run)
    except KeyboardInterrupt as stopped:
        run.fail(report.Failure("all", "stopped", said=[str(stopped) or "by SIGINT"], again=".ci/run"))
    finally:
        run.end_groups()
    for problem in run.unsteady.problems():
        run.fail(report.Failure("unsteady", "tests/unsteady.txt", said=[problem],
                                again="mend the test, and take its line out"))
    passed = report.write(run, DETAILED)
    if passed and not arguments and commit and commit == results.clean_commit():
        results.keep_passed(commit)
    return 0 if passed else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

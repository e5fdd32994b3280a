# SPDX-License-Identifier: Apache-2.0
"""Results of Meson's tests, judged; the lists of tests that may skip or fail; the commit that passed."""
import datetime
import fnmatch
import glob
import json
import os
import re
import shlex
import shutil
import subprocess

GOOD = ("OK", "EXPECTEDFAIL")
TELLS = re.compile(r"not ok|Bail out!|# (?!Start of|End of|slow test)|.*([Aa]ssert|ERROR|Error:|error:|"
                   r"Traceback|runtime error|Sanitizer)")
SKIPPED = re.compile(r"\s*ok\b(?: \d+)?\s*(?:- )?(.*?)\s*# SKIP\s*(.*)", re.IGNORECASE)
UNITTEST_SKIPPED = re.compile(r"(\S+) .*\.\.\. skipped ['\"](.*)['\"]$")
TODO = re.compile(r"\s*not ok\b.*# TODO", re.IGNORECASE)


def has(program):
    return shutil.which(program) is not None


def telling(lines, most=40):
    """The lines that say what is wrong; if none does, the last ones."""
    found = [line for line in lines if TELLS.match(line)]
    return found[:most] or [line for line in lines if line.strip()][-10:]


class Result:
    """One line of a testlog.json."""

    def __init__(self, entry):
        self.name = entry["name"].rpartition(" / ")[2]
        self.kind = entry["result"]
        self.seconds = entry["duration"]
        self.status = entry["returncode"]
        self.environment = entry["env"]
        self.out = entry.get("stdout", "").splitlines()
        self.err = entry.get("stderr", "").splitlines()
        self.was_skipped = self.kind == "SKIP"
        self.is_good = self.kind in GOOD or self.was_skipped

    def skipped(self):
        """(name of the subtest or "", reason) of each thing that this test skipped."""
        lines = self.out + self.err
        found = [match.groups() for line in lines
                 for match in (SKIPPED.match(line), UNITTEST_SKIPPED.match(line)) if match]
        if self.was_skipped and not found:
            said = [line for line in self.err + self.out if line.strip()]
            found = [("", (["it does not say why"] + said)[-1])]
        return found

    def problem(self, skips):
        """What is wrong, as lines; None if the test passed, or skipped what it may skip."""
        if not self.is_good:
            return [f"result: {self.kind}, exit status {self.status}, after {self.seconds:.0f} s"]
        undone = [line for line in self.out if TODO.match(line)]
        if undone:
            return ["a test that is still to do: " + line for line in undone]
        unlisted = [f"{name}: {reason}".lstrip(": ") for name, reason in self.skipped()
                    if not skips.allow(self.name, name, reason)]
        return [f"skips what tests/skips.txt does not list: {text}" for text in unlisted] or None

    def said(self):
        return telling(self.out + self.err) if not self.is_good else []

    def last_lines(self):
        return (self.err or self.out)[-10:]

    def again(self, build, setup):
        perturb = self.environment.get("MALLOC_PERTURB_")
        before = f"MALLOC_PERTURB_={perturb} " if perturb else ""
        return before + shlex.join(meson_test(build, setup, "--print-errorlogs", self.name))


def newest_log(build, since):
    logs = [path for path in glob.glob(f"{build}/meson-logs/testlog*.json")
            if os.path.getmtime(path) >= since - 1]
    return max(logs, key=os.path.getmtime, default=None)


def read(build, since):
    log = newest_log(build, since)
    if log is None:
        return []
    found = []
    with open(log, encoding="utf-8", errors="replace") as lines:
        for line in lines:
            try:
                found.append(Result(json.loads(line)))
            except ValueError:  # the runner was killed while it wrote
                break
    return found


def listed(build, setup, chosen):
    """Names of the tests that would run."""
    out = subprocess.run(meson_test(build, setup, "--list", *chosen), capture_output=True, text=True,
                         check=False).stdout
    return [line.rpartition(" / ")[2] for line in out.splitlines() if " / " in line]


def meson_test(build, setup, *options):
    """The command that runs tests of a build folder as it is."""
    return ["meson", "test", "-C", build, "--no-rebuild", "--setup", setup, *options]


def introspected(build):
    out = subprocess.run(["meson", "introspect", "--tests", build], capture_output=True, text=True,
                         check=False).stdout
    try:
        return json.loads(out)
    except ValueError:
        return []


def limits(build):
    """Seconds by test, as the test setups multiply them."""
    return {test["name"]: 10 * test["timeout"] for test in introspected(build)}


def empty_suites(build, chosen):
    """The suites that are named in options of `meson test` and have no test: a misspelt name would
    run nothing, and pass."""
    there = {suite.partition(":")[2] for test in introspected(build) for suite in test["suite"]}
    named = [after for option, after in zip(chosen, chosen[1:]) if option in ("--suite", "--no-suite")]
    return sorted(set(named) - there)


def needed(build, suites):
    """Files to be built for the tests of some suites, as ninja names them."""
    def ask(what):
        return json.loads(subprocess.run(["meson", "introspect", what, build], capture_output=True,
                                         text=True, check=True).stdout)

    wanted = {f"fathom:{suite}" for suite in suites}
    ids = {target for test in ask("--tests") if wanted & set(test["suite"]) for target in test["depends"]}
    return sorted(os.path.relpath(path, build) for target in ask("--targets") if target["id"] in ids
                  for path in target["filename"])


class Skips:
    """What may skip: `TEST | SUBTEST | REASON | why this may be`, each of the first three a pattern."""

    def __init__(self, path):
        self.patterns = []
        with open(path, encoding="utf-8") as lines:
            for line in lines:
                fields = [field.strip() for field in line.split("|")]
                if len(fields) == 4 and not line.startswith("#"):
                    self.patterns.append(fields[:3])

    def allow(self, test, subtest, reason):
        return any(all(map(fnmatch.fnmatch, (test, subtest, reason), pattern))
                   for pattern in self.patterns)


class Unsteady:
    """Tests that fail without a known cause and are being fixed: `TEST | YYYY-MM-DD | reason`. At most
    five, each for at most 14 days."""
    MOST, DAYS = 5, 14

    def __init__(self, path, today=None):
        self.today = today or datetime.date.today()
        self.entries, self.told = {}, []
        with open(path, encoding="utf-8") as lines:
            for line in lines:
                fields = [field.strip() for field in line.split("|")]
                if len(fields) == 3 and not line.startswith("#"):
                    self.entries[fields[0]] = (datetime.date.fromisoformat(fields[1]), fields[2])

    def tell(self, name, job):
        """Whether the test's failure is told only."""
        if name not in self.entries:
            return False
        self.told.append(f"{name} ({job}): did not pass; known since {self.entries[name][0]}: "
                         f"{self.entries[name][1]}")
        return True

    def problems(self):
        days = {name: (self.today - since).days for name, (since, _) in self.entries.items()}
        found = [f"{name} stands there for more than {self.DAYS} days"
                 for name, count in days.items() if count > self.DAYS]
        found += [f"{name} has a date to come" for name, count in days.items() if count < 0]
        if len(self.entries) > self.MOST:
            found.append(f"{len(self.entries)} tests; at most {self.MOST} may stand there")
        return found


def git(*arguments):
    done = subprocess.run(["git", *arguments], capture_output=True, text=True, check=False)
    return done.stdout.strip() if done.returncode == 0 else None


def clean_commit():
    """HEAD if the tree is as it was committed, else None."""
    return git("rev-parse", "HEAD") if git("status", "--porcelain", "--untracked-files=all") == "" else None


def keep_passed(commit):
    path = os.path.join(git("rev-parse", "--git-common-dir"), "ci-passed")
    with open(path + ".new", "w", encoding="utf-8") as file:
        file.write(commit + "\n")
    os.replace(path + ".new", path)
    print(f"ci-passed: {commit}")

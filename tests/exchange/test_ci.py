#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The examples for CI services in docs/compare.md, run as the services would run them, in a repository with a
change that costs calls.

usage: test_ci.py FATHOM"""
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import xml.etree.ElementTree

from exchange_lib import check, end

fathom = os.path.abspath(sys.argv[1])
GUIDE = pathlib.Path(__file__).resolve().parents[2] / "docs" / "compare.md"
PROGRAM = """#include <stdio.h>
static int parse(int n) { return n * 2; }
int main(int argc, char **argv)
{
    int n = 0;
    for (int i = 0; i < ROUNDS; i++)
        n += parse(i);
    return argc > 1 && fopen(argv[1], "r") != NULL ? 0 : n;
}
"""
FILES = {"Makefile": "prog: prog.c\n\t$(CC) -O0 -g -o $@ $<\nclean:\n\trm -f prog\n", "limits.txt": "calls total = +0\n",
         "tests/input.txt": "input\n", ".gitignore": "prog\n*.data\n*.rec\n"}


def example(heading):
    """The YAML below a heading."""
    return re.search(rf"### {heading}\n+```yaml\n(.*?)```", GUIDE.read_text(), re.DOTALL)[1]


def github_steps():
    """The scripts of its steps, and what they are given beside what the service gives."""
    text = example("GitHub Actions")
    scripts = re.findall(r"^( +)(?:- )?run: \|\n((?:\1 {4}.*\n)+)", text, re.MULTILINE)
    return ["".join(line.strip() + "\n" for line in script.splitlines()) for _, script in scripts]


def gitlab_script():
    lines = re.search(r"^  script:\n((?:    - .*\n)+)", example("GitLab CI"), re.MULTILINE)[1]
    return "".join(line[6:] + "\n" for line in lines.splitlines())


def git(*arguments):
    identity = ["-c", "user.name=a", "-c", "user.email=a@localhost", "-c", "advice.detachedHead=false", "-c", "init.defaultBranch=main"]
    return subprocess.run(["git", *identity, *arguments], check=True, capture_output=True, text=True).stdout.strip()


def commit(rounds):
    pathlib.Path("prog.c").write_text(PROGRAM.replace("ROUNDS", str(rounds)))
    git("add", "-A")
    git("commit", "-q", "-m", f"{rounds} rounds")
    return git("rev-parse", "HEAD")


def sh(script, shell, **environment):
    """As the services' runners do: the first command that fails ends it."""
    told = subprocess.run([*shell, script], capture_output=True, text=True, check=False, env={
        **os.environ, "PATH": f"{os.path.dirname(fathom)}:{os.environ['PATH']}", **environment})
    return told.returncode, told.stdout + told.stderr


def on_github(name, base, head, expected):
    record, judge = github_steps()
    with tempfile.TemporaryDirectory() as runner:
        # What the example keeps in /tmp is the runner's own there.
        status, told = sh(record.replace("/tmp/", f"{runner}/"), ["bash", "-e", "-c"], BASE=base, HEAD=head)
        check(f"GitHub, {name}: both commits are recorded", status == 0 and
              {"base.data", "new.data", "limits.txt"} <= set(os.listdir(runner)), told)
        summary = os.path.join(runner, "summary.md")
        status, told = sh(judge.replace("/tmp/", f"{runner}/"), ["bash", "-e", "-c"], GITHUB_STEP_SUMMARY=summary)
        check(f"GitHub, {name}: the step ends as the limits say", status == expected, told)
        check(f"GitHub, {name}: the summary begins with the verdict",
              pathlib.Path(summary).read_text().startswith(f"**fathom: {'1' if expected else 'none'} of 1 limits broken"),
              pathlib.Path(summary).read_text())
    results = json.loads(pathlib.Path("cost.sarif").read_text())["runs"][0]["results"]
    check(f"GitHub, {name}: SARIF is there to be uploaded", len(results) == expected, results)


def on_gitlab(base, head):
    git("checkout", "-q", head)
    status, told = sh(gitlab_script(), ["sh", "-e", "-c"], CI_MERGE_REQUEST_DIFF_BASE_SHA=base, CI_COMMIT_SHA=head)
    check("GitLab: the job fails", status == 1, told)
    suite = xml.etree.ElementTree.parse("cost.xml").getroot().find("testsuite")
    check("GitLab: the report has the failure", (suite.get("tests"), suite.get("failures")) == ("1", "1"), suite.attrib)
    check("GitLab: both profiles are there to be kept", os.path.exists("base.data") and os.path.exists("new.data"))


if not shutil.which("git"):
    print("1..0 # SKIP git is not installed")
    sys.exit()
with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    git("init", "-q")
    for path, content in FILES.items():
        os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
        pathlib.Path(path).write_text(content)
    before, after = commit(100), commit(130)
    on_github("a change that costs calls", before, after, 1)
    on_github("no change", after, after, 0)
    on_gitlab(before, after)
    os.chdir("/")
end()

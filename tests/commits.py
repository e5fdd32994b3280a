#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks the messages of the commits since this file exists: a subject of at most 72 characters that
does not end in a full stop, a blank line, and a body that says why, unless the change is small or of
documents alone.

    commits.py SOURCE_ROOT
"""
import os
import subprocess
import sys

SUBJECT_MAX = 72
SMALL = 20  # lines of code that may change without a reason
DOCUMENTS = (".md", ".scd", ".txt", ".svg", ".png")


def git(root, *arguments):
    return subprocess.run(["git", "-C", root, *arguments], capture_output=True, text=True, check=True).stdout


def commits(root):
    """Hashes, oldest first."""
    born = git(root, "log", "--diff-filter=A", "--format=%H", "--", "tests/commits.py").split()
    return git(root, "rev-list", "--reverse", "--no-merges", f"{born[-1]}..HEAD").split() if born else []


def lines_of_code(root, commit):
    """Lines that are added or removed in files that are no documents; moves count as nothing."""
    count = 0
    for line in git(root, "show", "--format=", "--numstat", "-M", commit).splitlines():
        added, removed, name = line.split("\t", 2)
        if not name.endswith(DOCUMENTS) and added != "-":
            count += int(added) + int(removed)
    return count


def faults(message, lines):
    """What is wrong with a message of a commit that changes so many lines of code."""
    subject, _, rest = message.rstrip("\n").partition("\n")
    found = []
    if len(subject) > SUBJECT_MAX:
        found.append(f"the subject has {len(subject)} characters, at most {SUBJECT_MAX}")
    if subject.endswith("."):
        found.append("the subject ends in a full stop")
    if rest and not rest.startswith("\n"):
        found.append("no blank line below the subject")
    if lines > SMALL and not rest.strip():
        found.append(f"{lines} lines of code change, and no body says why")
    return found


def main(root):
    if not os.path.exists(os.path.join(root, ".git")):
        print("no repository: no commits to look at")
        return 0
    failed = 0
    names = commits(root)
    for commit in names:
        message = git(root, "log", "-1", "--format=%B", commit)
        for fault in faults(message, lines_of_code(root, commit)):
            failed += 1
            print(f"{commit[:8]} {message.splitlines()[0]!r}: {fault}")
    print(f"{len(names)} commits looked at, {failed} faults")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))

#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every command has a manual page, and the page names the options that --help names."""
import pathlib
import re
import subprocess
import sys

fathom, source = sys.argv[1:3]
folder = pathlib.Path(source, "docs", "man")
failures = []


def run(*arguments):
    return subprocess.run([fathom, *arguments], capture_output=True, text=True)


def options_of_help(text):
    found = set()
    for line in text.splitlines():
        match = re.match(r" +(?:-\w, +)?(--[a-z][a-z-]*)", line)
        if match:
            found.add(match[1])
    return found


def options_of_page(text):
    """Terms of definition lists: "*-o*, *--output* _NAME_"."""
    found = set()
    for line in text.splitlines():
        if line.startswith("*-"):
            found.update(re.findall(r"(--[a-z][a-z-]*)", line))
    return found


def check(condition, text):
    if not condition:
        failures.append(text)


def commands_of_help(text):
    found = re.search(r"^Commands:\n((?:  .*\n)+)", text, re.M)
    return [line.split()[0] for line in found[1].splitlines()] if found else []


def letters(*command):
    """What each letter stands for."""
    text = run(*command, "--help").stdout
    for sub in commands_of_help(text):
        yield from letters(*command, sub)
    for letter, name in re.findall(r"^ +-(\w), +--([a-z][a-z-]*)", text, re.M):
        yield letter, name, " ".join(command)


commands = [line.split("\t")[0] for line in run("commands").stdout.splitlines()]
check(len(commands) >= 6, f"only {commands}")
meanings = {}
for command in commands:
    if command == "cgi":  # has the letters of the program that it stands in for
        continue
    for letter, name, where in letters(command):
        first, before = meanings.setdefault(letter, (name, where))
        check(name == first, f"-{letter} is --{name} in {where} and --{first} in {before}")
check({"h", "o", "q"} <= meanings.keys(), f"letters: {sorted(meanings)}")
for text in (("-V",), ("--version",)):
    check(re.match(r"fathom \d", run(*text).stdout), f"{text[0]} tells no version")
check(run("help", "tree").stdout == run("tree", "--help").stdout, "help tree")
check(run("help", "log", "cat").stdout == run("log", "cat", "--help").stdout, "help log cat")
check(run("help", "nonsense").returncode == 2, "help of no command")
overview = (folder / "fathom.1.scd").read_text()
for command in commands:
    check(f"*{command}*" in overview, f"fathom.1.scd does not name {command}")
    told = run(command, "--help")
    check(told.returncode == 0, f"{command} --help: status {told.returncode}")
    check("xample" in told.stdout or command in ("cc", "c++"), f"{command} --help has no example")
    page = folder / f"fathom-{command}.1.scd"
    if not page.exists():
        failures.append(f"{page.name} is missing")
        continue
    text = page.read_text()
    for part in ("# NAME", "# SYNOPSIS", "# EXAMPLE"):
        check(part in text, f"{page.name} has no {part}")
    named, given = options_of_help(told.stdout), options_of_page(text)
    for option in sorted(named - given - {"--help"}):
        failures.append(f"{page.name} does not tell of {option}")
    if command not in ("log", "feedback"):  # its subcommands have options of their own
        for option in sorted(given - named - {"--help"}):
            failures.append(f"{command} --help does not tell of {option}")
    wrong = run(command, "--no-such-option")
    if command not in ("cc", "c++"):
        check(wrong.returncode == 2, f"{command} --no-such-option: status {wrong.returncode}")
        check(len(wrong.stderr.splitlines()) == 1, f"{command}: {wrong.stderr!r}")
for failure in failures:
    print(failure)
print(f"{len(commands)} commands, {len(failures)} failures")
sys.exit(1 if failures else 0)

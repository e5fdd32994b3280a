#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Words and files in the wrong place: each message names the command that comes next, and that
command does what was meant.

usage: test_wrong.py FATHOM"""
import os
import shlex
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from patience import PATIENCE  # noqa: E402
from tap import Tap

FATHOM = os.path.abspath(sys.argv[1])
tap = Tap()

HELLO = """
#include <stdio.h>
__attribute__((noinline)) int greet(int n) { return printf("%d\\n", n); }
int main(void) { return greet(1) < 0; }
"""
OTHER = "__attribute__((noinline)) int {0}(int n) {{ return n + 1; }}\n"


def check(name, holds, detail=""):
    tap.check(holds, name, detail)


def run(*arguments):
    return subprocess.run([FATHOM, *arguments], capture_output=True, text=True, timeout=PATIENCE)


def must(*arguments):
    told = run(*arguments)
    if told.returncode != 0:
        raise SystemExit(f"Bail out! {arguments}: {told.returncode} {told.stderr}")
    return told


def refused(name, arguments, status, said):
    told = run(*arguments)
    check(name, told.returncode == status and said in told.stderr and not told.stdout,
          (told.returncode, told.stdout, told.stderr))
    return told.stderr


def commands_in(text):
    """Of a message: what stands behind each "fathom " up to the word that goes on."""
    found = []
    for part in text.split("fathom ")[1:]:
        words = []
        for word in shlex.split(part.split("`")[0].split(" builds it")[0].split(" makes a")[0]):
            words.append(word)
        found.append(words)
    return found


def program(name, *sources):
    with open(name + ".c", "w") as file:
        file.write("".join(sources))
    must("cc", "-g", "-O1", name + ".c", "-o", name)
    must("record", "-q", "-o", name, "--", "./" + name)


def files():
    for command in (["report"], ["view"], ["dump"], ["diff", "hello.data"], ["export", "--to=folded"]):
        text = refused(f"{command[0]} of a program", [*command, "hello"], 1,
                       "fathom record -- ./hello makes a profile")
        check("names the profile beside it", "perhaps hello.data is meant" in text, text)
        refused(f"{command[0]} of a source file", [*command, "hello.c"], 1,
                "fathom cc -g hello.c -o hello builds it, then fathom record -- ./hello")
    refused("diff of two programs' files", ["diff", "hello", "other"], 1,
            "fathom record -- ./hello makes a profile")
    for path, status in ("hello.c", 127), ("./hello.c", 126):
        refused(f"record of {path}", ["record", "--", path], status, "fathom record -- ./hello")
    refused("record of a program without its folder", ["record", "hello"], 127,
            "fathom record -- ./hello")
    refused("and of none at all", ["record", "nothing"], 127, "No such file")
    os.mkdir("built")
    text = refused("what is said of a source file", ["record", "--", "hello.c"], 127, "source code")
    build, record = commands_in(text)[-2:]
    build[build.index("hello")] = "built/hello"
    must(*build)
    must("record", "-q", "-o", "built/hello", "--", "built/hello")
    check("does what it says", os.path.exists("built/hello.data") and record[0] == "record", text)


def words():
    refused("a command with a wrong letter", ["reprot", "hello.data"], 2, "`fathom report` is meant")
    refused("another tool's command", ["compare", "a", "b"], 2, "`fathom diff` is meant")
    refused("a word like none", ["xyzzyxyzzy"], 2, "`fathom --help` lists them")
    refused("a program for a command", ["hello"], 2, "`fathom record -- ./hello`")
    refused("a source file for a command", ["hello.c"], 2, "fathom cc -g hello.c -o hello")
    refused("an option with a wrong letter", ["report", "--jsn", "hello.data"], 2,
            "perhaps --json is meant")
    refused("one with a value", ["diff", "--buy=calls", "a", "b"], 2, "perhaps --by is meant")
    refused("an option like none", ["report", "--xyzzyxyzzy", "hello.data"], 2,
            "`fathom report --help` lists the options")
    page = must("report", "proc/greet", "hello.data").stdout
    check("a function for a page is the function's page", must("report", "greet", "hello.data").stdout == page, page)
    refused("no function and no page", ["report", "greeter", "hello.data"], 1,
            "there is no function named 'greeter'; is it greet")
    refused("nearly a page", ["report", "fnd", "hello.data"], 2, "perhaps find is meant")
    text = refused("a word of pages without its argument", ["report", "memory", "hello.data"], 2, "such as memory/held")
    check("is taken for no function", "there is no function" not in text, text)
    text = run("report", "greet", "hello.c").stderr
    check("not of what is no profile", "proc/greet" not in text, text)


def nothing():
    """A run that is over before the first sample; and what is told on a terminal before a long one."""
    text = run("record", "-o", "short", "--", "true").stderr
    check("a run without samples says what to do", "none of its time was sampled, and no calls were counted" in text, text)
    primary, secondary = os.openpty()
    try:
        subprocess.run([FATHOM, "record", "-o", "told", "--", "sh", "-c", "exit 3"], stderr=secondary, timeout=PATIENCE)
        text = os.read(primary, 10000).decode()
        check("a terminal is told first that calls are not counted",
              text.startswith("fathom record: sh is not built with `fathom cc`: "), text)
    finally:
        os.close(primary)
        os.close(secondary)


def helping():
    """`fathom --help` has each command once, below a heading."""
    text = must("--help").stdout
    blocks = [block.splitlines() for block in text.split("\n\n")]
    listed = [line.split()[0] for block in blocks if block[0].endswith(":") for line in block[1:]]
    known = [line.split("\t")[0] for line in must("commands").stdout.splitlines()]
    check("all commands stand below headings", sorted(listed) == sorted(known), text)
    headings = [block[0] for block in blocks if block[0].endswith(":")]
    check("recording comes first, Mercury last", headings[0] == "Record:" and headings[-1] == "Mercury:", headings)
    check("no line is wider than a terminal", max(map(len, text.splitlines())) <= 80, text)


def configuring():
    """Test programs of build systems leave no recordings; others, and runs with a name to record to, do."""
    os.makedirs("configured/meson-private")
    for name, left in (("conftest", False), ("cmTC_1a2b3", False), ("meson-private/output.exe", False), ("conftests", True)):
        path = f"configured/{name}"
        must("cc", "-g", "-O1", "hello.c", "-o", path)
        subprocess.run([os.path.abspath(path)], cwd="configured", timeout=PATIENCE, check=False)
        found = [entry for entry in os.listdir("configured") if entry.startswith("Deep.")]
        check(f"{name} leaves {'a' if left else 'no'} recording", bool(found) == left, found)
    subprocess.run([os.path.abspath("configured/conftest")], cwd="configured", timeout=PATIENCE, check=False,
                   env={**os.environ, "FATHOM_OUTPUT": "asked"})
    check("a test program is recorded on request", os.path.exists("configured/asked.rec"), os.listdir("configured"))


def compiling():
    before = must("cc", "--show", "--grade=full", "-O2", "hello.c").stdout
    check("as one in front is", must("cc", "--show", "-O2", "hello.c", "--grade=full").stdout == before,
          before)
    refused("a grade that is none", ["cc", "hello.c", "--grade=ful"], 2, "expected one of: deep")
    left = must("cc", "--show", "hello.c", "--exclude=greet", "-c").stdout
    check("what is left out, too", left == must("cc", "--show", "--exclude=greet", "hello.c", "-c").stdout,
          left)


def two_programs():
    text = refused("diff of two programs' profiles", ["diff", "hello.data", "other.data"], 1,
                   "hello.data is of hello, other.data of other")
    check("says how many functions they have in common", "they have 1 in common" in text, text)
    told = must(*commands_in(text)[-1])
    check("and compares them when asked to", "main calls function_5 now" in told.stdout, told.stdout)
    os.rename("other.data", "moved.data")
    check("one program is compared whatever its file is called",
          run("diff", "other2.data", "moved.data").returncode == 0)


with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    program("hello", HELLO)
    names = [f"function_{i}" for i in range(12)]
    source = [OTHER.format(name) for name in names]
    main = "int main(void) { int n = 0;" + "".join(f" n = {name}(n);" for name in names)
    program("other", *source, main + " return n != 12; }\n")
    program("other2", *source, main + f" n = {names[0]}(n); return n != 13; }}\n")
    files()
    words()
    nothing()
    configuring()
    helping()
    compiling()
    two_programs()
    os.chdir("/")
sys.exit(tap.done())

#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`fathom view` of other tools' files, ended while it still reads: the profiles that it made of the first ones
go, too. And what pages call them.

usage: test_ending.py FATHOM"""
import os
import re
import signal
import subprocess
import sys
import tempfile
import urllib.request

from exchange_lib import check, end
from patience import PATIENCE, wait_until

LINES = 300000
ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
fathom = os.path.abspath(sys.argv[1])


def all_below(folder):
    return [os.path.join(at, name) for at, folders, files in os.walk(folder) for name in folders + files]


def as_usual():
    """Whoever started this may have them ignored."""
    for each in ENDING:
        signal.signal(each, signal.SIG_DFL)


def ended(folder, number):
    """One file, and one that takes a while."""
    home, first, long = (os.path.join(folder, f"{number}{name}") for name in (".tmp", ".folded", ".long.folded"))
    os.mkdir(home)
    with open(long, "w") as file:
        file.writelines(f"main;parse{i % 500};read{i} 1\n" for i in range(LINES))
    with open(first, "w") as file:
        file.write("main;parse 3\nmain;write 4\n")
    view = subprocess.Popen([fathom, "view", "--no-open", first, long],
                            env={**os.environ, "TMPDIR": home}, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                            preexec_fn=as_usual)
    wait_until(lambda: any(name.endswith(".data") for name in all_below(home)), "the first profile is made")
    made = all_below(home)
    view.send_signal(number)
    return made, view.wait(PATIENCE), all_below(home)


def names(folder):
    """Two files of one name are told apart by their folders, not by where their profiles were put."""
    paths = []
    for name, count in (("old", 3), ("new", 4)):
        os.mkdir(os.path.join(folder, name))
        paths.append(os.path.join(folder, name, "a.folded"))
        with open(paths[-1], "w") as file:
            file.write(f"main;parse {count}\n")
    home = os.path.join(folder, "home")
    os.mkdir(home)
    view = subprocess.Popen([fathom, "view", "--no-open", "--base", *paths], env={**os.environ, "TMPDIR": home},
                            stdout=subprocess.PIPE, text=True, preexec_fn=as_usual)
    try:
        address = re.search(r"http\S+", view.stdout.readline())[0]
        with urllib.request.urlopen(address, timeout=PATIENCE) as answer:
            page = answer.read().decode()
    finally:
        view.terminate()
        view.wait(PATIENCE)
    shown = re.sub(r"<[^>]*>", " ", page)
    check("a comparison names the files as they were given", "a.folded (new) compared with a.folded" in shown and
          home not in shown and "fathom-import" not in shown, shown)
    check("and the folder is gone", os.listdir(home) == [], os.listdir(home))


with tempfile.TemporaryDirectory() as temporary:
    names(temporary)
    for each in ENDING:
        before, status, left = ended(temporary, int(each))
        check(f"{each.name}: it had made a profile", len(before) >= 2, before)
        check(f"{each.name}: it ends it, whether it still reads or shows both already", status in (-each, 0), status)
        check(f"{each.name}: nothing stays", left == [], left)
end()

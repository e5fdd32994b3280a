#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs a test with a temporary folder of its own, and removes it whatever happens: own_folder.py
COMMAND... What a test leaves there is told, and with FATHOM_LEFTOVERS=fail makes it fail.

What finishing keeps of programs for later runs (FATHOM_CACHE) has a folder of its own, too. Tests may
import the modules of this folder (PYTHONPATH).

The folder stands in the usual temporary folder under a short name, as the names of sockets may have
108 bytes. FATHOM_KEEP_TEMPORARY=1 keeps what is left, to be looked at. While this program lives it holds
a lock on the folder: one that was killed left a folder that the next test finds, and removes."""
import fcntl
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

from patience import PATIENCE

ENDING = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
FOLDER, KEPT, CACHE = "ft-", "fk-", "fc-"
SECONDS_TO_LOCK = 600 # a young folder may not have its lock yet
NAMED = re.compile(f"({FOLDER}|{CACHE})[a-z0-9_]{{8}}") # as mkdtemp names
SHARED = os.path.dirname(os.path.abspath(__file__)) # modules that all tests may import
LISTED = 20
LEFTOVERS = 99


class Ended(Exception):
    pass


def end(number, _frame):
    raise Ended(number)


def left_in(folder):
    names = []
    for place, folders, files in os.walk(folder):
        names += [os.path.relpath(os.path.join(place, name), folder) for name in folders + files]
    return sorted(names)


def heed():
    signal.pthread_sigmask(signal.SIG_UNBLOCK, ENDING)


def run(command, folder, cache):
    """The signals that end are heeded while the test runs: before, nobody would end it."""
    path = os.pathsep.join(filter(None, [SHARED, os.environ.get("PYTHONPATH")]))
    environment = {**os.environ, "TMPDIR": folder, "FATHOM_CACHE": cache, "PYTHONPATH": path}
    with subprocess.Popen(command, env=environment, preexec_fn=heed) as process:
        try:
            heed()
            return process.wait()
        except Ended:
            process.terminate() # the runner told the whole group; this is for those outside of it
            try:
                process.wait(PATIENCE)
            except (Ended, subprocess.TimeoutExpired):
                process.kill()
            return 1


def remove(folder):
    for place, folders, _ in os.walk(folder): # a test may have made some that cannot be entered
        for name in folders:
            if not os.path.islink(os.path.join(place, name)):
                os.chmod(os.path.join(place, name), 0o700)
    shutil.rmtree(folder, ignore_errors=True)


def make(prefix):
    """A folder that is locked until the descriptor is closed, which no child has."""
    folder = tempfile.mkdtemp(prefix=prefix)
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    fcntl.flock(descriptor, fcntl.LOCK_EX)
    return folder, descriptor


def is_abandoned(entry):
    about = entry.stat(follow_symlinks=False)
    if not entry.is_dir(follow_symlinks=False) or about.st_uid != os.geteuid() \
            or time.time() - about.st_mtime < SECONDS_TO_LOCK:
        return False
    try:
        descriptor = os.open(entry.path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return True
    except OSError:
        return False
    finally:
        os.close(descriptor)


def sweep():
    with os.scandir(tempfile.gettempdir()) as entries:
        for entry in entries:
            try:
                if NAMED.fullmatch(entry.name) and is_abandoned(entry):
                    remove(entry.path)
            except OSError: # somebody else was quicker
                pass


def main(command):
    signal.pthread_sigmask(signal.SIG_BLOCK, ENDING)
    for number in ENDING:
        signal.signal(number, end)
    keep = os.environ.get("FATHOM_KEEP_TEMPORARY") == "1"
    sweep()
    folder, _ = make(KEPT if keep else FOLDER)
    cache, _ = make(CACHE)
    os.chmod(folder, 0o711) # servers that tests start as root drop to users of their own
    try:
        status = run(command, folder, cache)
        left = left_in(folder)
        if left:
            print(f"# left in the temporary folder: {len(left)}", *left[:LISTED], sep="\n#   ",
                  file=sys.stderr, flush=True)
        if status == 0 and left and os.environ.get("FATHOM_LEFTOVERS") == "fail":
            return LEFTOVERS
        return status if status >= 0 else 128 - status
    finally:
        signal.pthread_sigmask(signal.SIG_BLOCK, ENDING)
        if not keep:
            remove(folder)
        remove(cache)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

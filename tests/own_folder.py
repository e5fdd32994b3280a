#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs a test with a temporary folder of its own, and removes it whatever happens: own_folder.py
COMMAND... What a test leaves there is told, and with FATHOM_LEFTOVERS=fail makes it fail.

What finishing keeps of programs for later runs (FATHOM_CACHE) has a folder of its own, too.

The folder stands in the usual temporary folder under a short name, as the names of sockets may have
108 bytes. FATHOM_KEEP_TEMPORARY=1 keeps what is left, to be looked at."""
import os
import shutil
import signal
import subprocess
import sys
import tempfile

ENDING = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
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
    environment = {**os.environ, "TMPDIR": folder, "FATHOM_CACHE": cache}
    with subprocess.Popen(command, env=environment, preexec_fn=heed) as process:
        try:
            heed()
            return process.wait()
        except Ended:
            process.terminate() # the runner told the whole group; this is for those outside of it
            try:
                process.wait(5)
            except (Ended, subprocess.TimeoutExpired):
                process.kill()
            return 1


def remove(folder):
    for place, folders, _ in os.walk(folder): # a test may have made some that cannot be entered
        for name in folders:
            if not os.path.islink(os.path.join(place, name)):
                os.chmod(os.path.join(place, name), 0o700)
    shutil.rmtree(folder, ignore_errors=True)


def main(command):
    signal.pthread_sigmask(signal.SIG_BLOCK, ENDING)
    for number in ENDING:
        signal.signal(number, end)
    folder = tempfile.mkdtemp(prefix="ft-")
    cache = tempfile.mkdtemp(prefix="fc-")
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
        if os.environ.get("FATHOM_KEEP_TEMPORARY") != "1":
            remove(folder)
        remove(cache)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

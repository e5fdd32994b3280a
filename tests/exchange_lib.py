# SPDX-License-Identifier: Apache-2.0
"""What the tests of formats share: running commands, and what was found of each, as TAP."""
import subprocess
import sys

from tap import Tap

results = Tap()


def check(name, holds, detail=""):
    results.check(holds, name, detail)


def skip(name, why):
    results.skip(name, why)


def run(*arguments, **more):
    """Whatever its status is."""
    return subprocess.run(arguments, capture_output=True, text=True, check=False, **more)


def must(*arguments, status=0, **more):
    """With that status, or the test ends here."""
    told = run(*arguments, **more)
    if told.returncode != status:
        raise SystemExit(f"Bail out! {arguments}: {told.returncode} {told.stderr}")
    return told


def said(*arguments):
    return must(*arguments).stdout


def end():
    sys.exit(results.done())


# --- pprof's protobuf ---


def varint(value):
    out = b""
    while value > 127:
        out += bytes([value & 127 | 128])
        value >>= 7
    return out + bytes([value])


def number_field(field, value):
    return varint(field << 3) + varint(value)


def bytes_field(field, value):
    return varint(field << 3 | 2) + varint(len(value)) + value

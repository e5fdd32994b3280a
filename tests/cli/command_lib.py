# SPDX-License-Identifier: Apache-2.0
"""What tests of commands share: the program, a folder, a made profile."""
import os
import subprocess
import sys
import tempfile

from patience import PATIENCE

FATHOM, GENERATE = sys.argv[1:3]
FOLDER = tempfile.TemporaryDirectory(prefix="fathom-cli-")
PROFILE = os.path.join(FOLDER.name, "Deep.data")


def path(name):
    return os.path.join(FOLDER.name, name)


def number(value):
    """As the file writes it: seven bits a byte, the highest first."""
    out = [value & 0x7F]
    while value := value >> 7:
        out.insert(0, value & 0x7F | 0x80)
    return bytes(out)


def run(*arguments, **options):
    return subprocess.run([FATHOM, *arguments], capture_output=True, timeout=PATIENCE, **options)


def make_profile():
    subprocess.run([GENERATE, "--nodes=2000", "--seed=3", PROFILE], check=True,
                   stdout=subprocess.DEVNULL)

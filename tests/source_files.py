# SPDX-License-Identifier: Apache-2.0
"""The files of the source tree, for the tests that read it."""
import os
import subprocess

NOT_SOURCE = ("build", "node_modules", "__pycache__", ".git")


def listed(root):
    """Names relative to root: the files that git knows or would add. Without git, or in an unpacked
    release, all files except those in build folders."""
    try:
        found = subprocess.run(["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
                               cwd=root, capture_output=True, text=True, check=True)
        names = found.stdout.split("\0")
    except (OSError, subprocess.CalledProcessError):
        names = unpacked(root)
    return sorted(name for name in names if os.path.isfile(os.path.join(root, name)))


def unpacked(root):
    for folder, folders, files in os.walk(root):
        folders[:] = [name for name in folders if not name.startswith(NOT_SOURCE)]
        yield from (os.path.relpath(os.path.join(folder, name), root) for name in files)

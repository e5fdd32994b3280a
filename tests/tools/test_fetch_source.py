#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""tools/fetch-source.sh with an apt-get of ours, that makes the files which Debian's would fetch.

usage: test_fetch_source.py SCRIPT"""
import os
import pathlib
import subprocess
import sys
import tempfile

from tap import Tap, skip_all

APT = """#!/bin/sh
for package; do :; done
case $package in
update) exit 0 ;;
missing) echo "no such package" >&2; exit 100 ;;
esac
mkdir "$package-1.0" && echo "$package" >"$package-1.0/file"
tar cJf "${package}_1.0.orig.tar.xz" "$package-1.0" && rm -r "$package-1.0"
[ "$package" != signed ] || echo signature >"${package}_1.0.orig.tar.xz.asc"
[ "$package" != broken ] || truncate -s 40 "${package}_1.0.orig.tar.xz"
echo description >"${package}_1.0.dsc"
"""
KEYRING = "/usr/share/keyrings/debian-archive-keyring.gpg"


def main():
    if not os.access(KEYRING, os.R_OK):
        skip_all(f"{KEYRING} is not here")
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        apt = folder / "bin" / "apt-get"
        apt.parent.mkdir()
        apt.write_text(APT)
        apt.chmod(0o755)
        done = subprocess.run([sys.argv[1], folder / "out", "plain", "missing", "broken", "signed"],
                              env={**os.environ, "PATH": f"{apt.parent}:{os.environ['PATH']}"},
                              capture_output=True, text=True)
        found = {package: (folder / "out" / package / "file").read_text().strip()
                 for package in ("plain", "missing", "broken", "signed")
                 if (folder / "out" / package).is_dir()}
    tap = Tap()
    detail = f"{found} {done.returncode} {done.stderr}"
    tap.check(found == {"plain": "plain", "signed": "signed"},
              "a signature beside the archive, and a package that is missing before it, are no harm", detail)
    tap.check(done.returncode == 1 and "not fetched: missing broken\n" in done.stderr,
              "what is missing, or cannot be unpacked, is told, and nothing of it is there", detail)
    return tap.done()


sys.exit(main())

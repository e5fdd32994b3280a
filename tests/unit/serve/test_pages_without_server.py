#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What prints pages opens recordings without the server: it is linked without its libraries."""
import os
import pathlib
import subprocess
import sys
import tempfile

program, generate = sys.argv[1:3]
symbols = subprocess.run(["nm", program], capture_output=True, text=True, check=True).stdout
defined = {line.split()[-1] for line in symbols.splitlines()}
assert "fm_open_files_new" in defined or "fm_profile_open_now" in defined, "nothing opens recordings"
server = sorted(name for name in defined if name.startswith(("fm_server_", "fm_stream_", "fm_http_")))
assert not server, f"linked with the server: {server}"

with tempfile.TemporaryDirectory() as folder:
    path = os.path.join(folder, "small.data")
    subprocess.run([generate, "--nodes", "2000", path], check=True, stdout=subprocess.DEVNULL)
    assert pathlib.Path(path).stat().st_size > 0
    menu = subprocess.run([program, "report", "menu", path], capture_output=True, text=True)
    assert menu.returncode == 0, menu.stderr
    assert "Invariant" in menu.stdout and "Quanta" in menu.stdout, menu.stdout
    check = subprocess.run([program, "check", path], capture_output=True, text=True)
    assert check.returncode == 0, (check.stdout, check.stderr)
print("report and check open and print without the server")

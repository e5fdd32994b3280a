#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""clang-tidy over the C files of src/ and runtime/ (or those named), one process a core."""
import concurrent.futures
import json
import os
import pathlib
import subprocess
import sys


def main(build, *only):
    build = pathlib.Path(build)
    root = pathlib.Path.cwd()
    wanted = {str((root / name).resolve()) for name in only}
    files = set()
    for entry in json.loads((build / "compile_commands.json").read_text()):
        path = (pathlib.Path(entry["directory"]) / entry["file"]).resolve()
        if path.suffix != ".c" or (wanted and str(path) not in wanted):
            continue
        if path.is_relative_to(root) and path.relative_to(root).parts[0] in ("src", "runtime"):
            files.add(path)

    def check(path):
        run = subprocess.run(["clang-tidy", "--quiet", "-p", str(build), "--warnings-as-errors=*",
                              str(path)], capture_output=True, text=True)
        return path, run.returncode, run.stdout

    failures = 0
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for path, status, said in pool.map(check, sorted(files)):
            if status != 0:
                failures += 1
                print(said.strip())
    print(f"clang-tidy: {len(files)} files, {failures} with warnings")
    return 1 if failures else 0


sys.exit(main(*sys.argv[1:]))

#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Prints the targets of a build folder that are installed: fathom without its tests, fuzzers and benchmarks.

usage: installed_targets.py BUILD"""
import json
import os
import subprocess
import sys


def main(build):
    def output(*command):
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout

    folder = os.path.join(os.path.realpath(build), "")
    made = {line.rpartition(":")[0] for line in output("ninja", "-C", build, "-t", "targets", "all").splitlines()}
    installed = json.loads(output("meson", "introspect", build, "--installed"))
    print("\n".join(sorted(made & {path[len(folder):] for path in installed if path.startswith(folder)})))


main(sys.argv[1])

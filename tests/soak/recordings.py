#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What takes hours of a recording that grows and of programs that are killed, in one go:

    recordings.py BUILD [READINGS [KILLS]]

READINGS (default 1,000,000; some hours) of recordings whose programs start and end threads, fork, and grow
meanwhile: never an error, an edge without its callee, a sum that decreases. KILLS (default 100; a minute) by
SIGKILL at random moments with every measure on: nothing that was counted is lost. Ends with 1 when anything
fails; the rest is done all the same."""
import os
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]


def main():
    if not 2 <= len(sys.argv) <= 4:
        sys.exit(__doc__)
    build = pathlib.Path(sys.argv[1]).resolve()
    readings = sys.argv[2] if len(sys.argv) > 2 else "1000000"
    kills = sys.argv[3] if len(sys.argv) > 3 else "100"
    tests = ROOT / "tests" / "record"
    environment = {**os.environ, "FATHOM": str(build / "src/cli/fathom"), "LC_ALL": "C.UTF-8",
                   "FINISH_DUMP": str(build / "tests/record/finish_dump"),
                   "MAKE_OLDER": str(build / "tests/tools/make-older"), "PYTHONPATH": str(tests),
                   "FATHOM_RUNTIME": str(build / "runtime"), "PYTHONDONTWRITEBYTECODE": "1"}
    failed = 0
    for script, times in (("test_measured_kill.py", kills), ("test_watching.py", readings)):
        print(f"# {script} {times}", flush=True)
        failed |= subprocess.run([sys.executable, tests / "running" / script, build / "tests/record/watch_race",
                                  times], env=environment, check=False).returncode != 0
    return int(failed)


sys.exit(main())

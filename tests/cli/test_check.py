#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every page of the real profile, in every format. Skips when it is not at hand."""
import os
import re
import subprocess
import sys

sample = os.path.join(os.environ.get("FATHOM_SAMPLE_DATA", ""), "mercury", "Deep.data")
if not os.path.exists(sample):
    print("skipped: no real profile; set FATHOM_SAMPLE_DATA")
    sys.exit(77)
told = subprocess.run([sys.argv[1], "check", sample], capture_output=True, text=True)
print(told.stdout[-2000:], told.stderr)
found = re.search(r": (\d+) invariants, 0 broken; (\d+) pages in 4 formats, \d+ not available for "
                  r"this file, 0 problems$", told.stdout.splitlines()[-1])
# 8,584 procedures with two pages and four of callers each, 21,992 call sites, and the rest.
sys.exit(0 if told.returncode == 0 and found and int(found[2]) > 8584 * 6 + 21992 else 1)

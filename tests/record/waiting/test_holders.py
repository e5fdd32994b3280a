#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Who held the lock that was waited for: two functions, 9 to 1, by each kind of lock; a reader is not known."""
import collections
import json
import pathlib
import sys
import tempfile

import record_lib as lib
from patience import PATIENCE

HERE = pathlib.Path(__file__).resolve().parent
KINDS = ("plain", "recursive", "checking", "c11", "writer", "writers")


def names_of(cell):
    return "".join(part["name"] for part in cell) if isinstance(cell, list) else cell


def main():
    tap = lib.Tap()
    with tempfile.TemporaryDirectory() as folder:
        for grade, hooks in (("deep", "frames"), ("full", "frames"), ("deep", "slots")):
            lib.must([lib.FATHOM, "cc", f"--grade={grade}", f"--hooks={hooks}", "gcc", "-O1", "-g", "-D_GNU_SOURCE",
                      HERE / "holders.c", "-o", "holders", "-pthread"], folder)
            lib.must([lib.FATHOM, "record", "-q", "-o", "out", "./holders"], folder, timeout=PATIENCE)
            page = json.loads(lib.must([lib.FATHOM, "report", "--json", "waits", "out.data"], folder).stdout)
            rows = next(table["rows"] for table in page["tables"] if table["name"] == "lock_holders")
            found = collections.Counter()
            for cells in (row["cells"] for row in rows):
                waiter = names_of(cells["path"]).rsplit("wait_for_", 1)[-1]
                holder = names_of(cells["holder"])
                held_in = [name for name in ("hold_much", "hold_little") if name in holder] or [holder]
                found[waiter, cells["lock"], held_in[0]] += cells["waits_count"]
            expected = {}
            for kind in KINDS:
                lock = "rwlock" if kind.startswith("writer") else kind
                expected[kind, lock, "hold_much"], expected[kind, lock, "hold_little"] = 18, 2
            expected["reader", "rwlock", "not known"] = 20
            tap.same(dict(found), expected, f"{grade}, {hooks}: each wait is blamed on the function that held the lock")
    return tap.done()


sys.exit(main())

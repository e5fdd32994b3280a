# SPDX-License-Identifier: Apache-2.0
"""Results of the tests in Python, as meson reads them (Test Anything Protocol)."""
import sys
import traceback


def skip_all(why):
    """Ends the program; meson shows it as skipped."""
    print(f"1..0 # SKIP {why}", flush=True)
    sys.exit(0)


class Skipped(Exception):
    """Raised by a case that cannot run here; the message says why."""


class Tap:
    LINES_MAX = 60  # of the details of a failure

    def __init__(self):
        self.count = self.failed = 0

    def check(self, condition, what, detail=""):
        self.count += 1
        print(f"{'ok' if condition else 'not ok'} {self.count} - {what}", flush=True)
        if not condition:
            self.failed += 1
            for line in str(detail).splitlines()[:self.LINES_MAX]:
                print(f"# {line}", flush=True)

    def same(self, found, expected, what):
        detail = "" if found == expected else "\n".join(
            f"{key}: found {found.get(key)}, expected {expected.get(key)}"
            for key in sorted(set(found) | set(expected), key=str)
            if found.get(key) != expected.get(key)) if isinstance(found, dict) else (
                f"found {found!r}, expected {expected!r}")
        self.check(found == expected, what, detail)

    def skip(self, what, why):
        self.count += 1
        print(f"ok {self.count} - {what} # SKIP {why}", flush=True)

    def case(self, function, *arguments, name=None):
        """Runs a function that is a case by itself. It fails if the function raises an exception. It is
        skipped if the function raises Skipped, or returns a text, which says why."""
        name = name or function.__name__.removeprefix("test_").replace("_", " ")
        try:
            why = function(*arguments)
        except Skipped as skipped:
            why = str(skipped)
        except Exception:  # the other cases go on
            self.check(False, name, traceback.format_exc())
            return
        if isinstance(why, str):
            self.skip(name, why)
        else:
            self.check(True, name)

    def done(self):
        """The status to exit with."""
        print(f"1..{self.count}", flush=True)
        return 1 if self.failed else 0

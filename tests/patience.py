# SPDX-License-Identifier: Apache-2.0
"""How long tests wait for what must happen. A wait ends with a condition; its limit only ends a test
that hangs, so it is far above what the busiest machine needs."""
import os
import time

# Seconds. FATHOM_PATIENCE multiplies it, for slow machines and for tests of tests.
PATIENCE = 120 * float(os.environ.get("FATHOM_PATIENCE", 1))


def wait_until(condition, what, seconds=None):
    """Calls condition until it returns something true, and returns that. What it returned last, or the
    last AssertionError, OSError or LookupError that it raised, stands in the failure's text."""
    limit = time.monotonic() + (PATIENCE if seconds is None else seconds)
    pause = 0.002
    while True:
        try:
            seen = condition()
            if seen:
                return seen
        except (AssertionError, OSError, LookupError) as error:
            seen = error
        if time.monotonic() > limit:
            raise AssertionError(f"waited in vain until {what}; last seen: {seen!r}")
        time.sleep(pause)
        pause = min(pause * 1.5, 0.1)

#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that each folder of src/ includes only headers of the layers that it may use."""
import pathlib
import re
import sys

# A folder stands for the folders in it. What is in a folder with an entry of its own may use that
# folder's layers, not those of the folder around.
MAY_USE = {
    "base": [],
    "base/files": ["base"],
    "base/text": ["base"],
    "measures": [],
    "deep": ["base"],
    "dump": ["base", "deep"],
    "procrep": ["base", "deep"],
    "merge": ["base", "deep"],
    "merge-mpi": ["base", "deep", "merge"],
    "analysis": ["base", "deep"],
    "ranks": ["base", "deep", "merge", "analysis"],
    "digest": ["base", "deep", "analysis"],
    "body": ["base", "deep", "analysis", "procrep"],
    "record/toolchain": ["base", "console", "runtime"],
    "record/raw": ["base", "runtime"],
    "record/running": ["base", "runtime", "record/raw", "record/statics"],
    "record/statics": ["base", "deep", "runtime"],
    "record/statics/extract": ["base", "deep", "runtime", "record/statics"],
    "record/known": ["base", "record/statics"],
    "record/finish": ["base", "deep", "runtime", "record/raw", "record/statics", "record/known"],
    "eventlog/transport": ["base"],
    "eventlog/reader": ["base", "eventlog/transport"],
    "eventlog/monitor": ["base", "eventlog/reader"],
    "eventlog/output": ["base", "eventlog/reader"],
    "eventlog/input": ["base", "runtime", "eventlog/transport", "eventlog/reader", "eventlog/monitor"],
    "eventlog/log": ["base", "eventlog/reader", "eventlog/input"],
    "trace/core": ["base"],
    "trace/clock": ["base", "trace/core"],
    "trace/state": ["base", "trace/core"],
    "trace/model": ["base", "eventlog", "trace/core", "trace/state"],
    "trace/summary": ["base", "trace/core", "trace/state"],
    "trace/statistics": ["base", "trace/core", "trace/state"],
    "trace/filter": ["base", "trace/core", "trace/state", "trace/clock"],
    "trace/format": ["base", "eventlog", "trace/core", "trace/state", "trace/clock", "trace/model"],
    "import-ctf": ["base", "eventlog", "trace/core", "trace/format"],
    "schedule": ["base", "deep", "analysis", "eventlog", "trace"],
    "query": ["base"],
    "display": ["base", "query"],
    "display/html": ["base", "query", "display"],
    "display/text": ["base", "query", "display"],
    "recording": ["base", "deep", "procrep", "analysis", "body", "digest", "trace", "schedule"],
    "viewers": ["base", "trace", "schedule", "recording", "query"],
    "pages": ["base", "query", "display", "report"],
    "pages/trace": ["base", "trace", "schedule", "recording", "viewers", "query", "display", "pages"],
    "pages/check": ["base", "deep", "analysis", "query", "display", "report", "pages", "recording", "feedback", "procrep", "console"],
    "pages/compare": ["base", "deep", "analysis", "sampled", "compare", "gate", "query", "display"],
    "pages/profile/parts": ["base", "deep", "analysis", "query", "display", "report", "body", "procrep"],
    "pages/profile/measured": ["base", "deep", "analysis", "query", "display", "report", "digest", "pages/profile/parts"],
    "pages/profile/overview": ["base", "deep", "analysis", "query", "display", "report", "digest", "pages/profile/parts", "pages/profile/measured"],
    "pages/profile/bodies": ["base", "deep", "digest", "analysis", "query", "display", "report", "body", "procrep", "pages/profile/parts"],
    "pages/profile/modules": ["base", "deep", "analysis", "query", "display", "report", "pages/profile/parts", "pages/profile/measured"],
    "pages/profile/dump": ["base", "deep", "analysis", "query", "display", "report", "pages/profile/parts"],
    "pages/profile/calls": ["base", "deep", "digest", "analysis", "query", "display", "report", "pages/profile/parts", "pages/profile/measured",
                            "pages/profile/bodies"],
    "pages/profile": ["base", "deep", "analysis", "query", "display", "report", "pages/profile/parts", "pages/profile/overview",
                      "pages/profile/bodies", "pages/profile/modules", "pages/profile/dump",
                      "pages/profile/calls"],
    "report": ["base", "deep", "procrep", "analysis", "body", "digest", "eventlog", "trace", "query", "display",
               "pages", "recording"],
    "site": ["base", "analysis", "digest", "query", "display", "report", "recording", "pages", "pages/profile/measured"],
    "serve": ["base", "deep", "procrep", "analysis", "compare", "body", "digest", "eventlog", "trace", "query", "display", "report",
              "pages", "schedule", "recording", "viewers"],
    "serve/http": ["base", "query", "schedule", "serve"],
    "serve/cgi": ["base", "query", "schedule", "serve"],
    "feedback": ["base", "deep", "analysis", "procrep", "body"],
    "sampled": ["base"],
    "compare": ["base", "deep", "analysis", "merge", "sampled"],
    "gate": ["base", "deep", "analysis", "compare", "sampled", "display"],
    "exchange": ["base", "deep", "analysis"],
    "exchange/trace": ["base", "trace"],
    "exchange/export": ["base", "deep", "analysis", "exchange"],
    "console": ["base"],
    "console/files": ["base", "console", "exchange"],
    "record/run": ["base", "deep", "analysis", "merge", "digest", "display", "eventlog", "runtime", "console", "record"],
    "compare/given": ["base", "deep", "compare", "display", "console"],
    "live": ["base", "deep", "exchange", "record", "recording", "serve", "console"],
    "cli": ["*"],
}

# The same of runtime/eventlog/, which is in rooms.
RUNTIME_EVENTLOG = {
    "core": [],
    "lanes": ["core"],
    "state": ["core", "lanes"],
    "sinks": ["core", "lanes", "state"],
    "clients": ["core", "lanes", "state"],
    "": ["*"],
}


def layer_of(parts, may_use):
    """The longest folder of the table that a path lies in, or None."""
    for length in range(len(parts) - 1, -1, -1):
        folder = "/".join(parts[:length])
        if folder in may_use:
            return folder
    return None


# The vocabulary of all that is above base: names of measures, and choices that addresses and analysis share.
SHARED = ("measures",)


def is_allowed(used, layer, may_use):
    if "*" in may_use[layer] or used == layer or (used in SHARED and not layer.startswith("base")):
        return True
    return any(used == folder or used.startswith(folder + "/") for folder in may_use[layer])


def check(source, may_use):
    """(includes checked, breaches) of a tree."""
    failures = 0
    checked = 0
    for path in sorted(source.rglob("*.[ch]")):
        layer = layer_of(path.relative_to(source).parts, may_use)
        if layer is None:
            print(f"{path}: folder is not in the table of layers")
            failures += 1
            continue
        for number, line in enumerate(path.read_text().splitlines(), 1):
            found = re.match(r'\s*#\s*include\s+"([^"]+/[^"]+)"', line)
            if not found or found.group(1).startswith("fathom/"):
                continue
            checked += 1
            parts = found.group(1).split("/")
            used = layer_of(parts, may_use) or parts[0]
            if not is_allowed(used, layer, may_use):
                print(f"{path}:{number}: {layer}/ may not use {used}/")
                failures += 1
    return checked, failures


def main(root):
    checked, failures = 0, 0
    for tree, may_use in (("src", MAY_USE), ("runtime/eventlog", RUNTIME_EVENTLOG)):
        more, bad = check(pathlib.Path(root) / tree, may_use)
        checked += more
        failures += bad
    print(f"{checked} includes checked, {failures} breaches")
    return 1 if failures or not checked else 0


sys.exit(main(sys.argv[1]))

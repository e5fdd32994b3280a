#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that each folder of src/ includes only headers of the layers that it may use."""
import pathlib
import re
import sys

# A folder stands for the folders in it. What is in a folder with an entry of its own may use that
# folder's layers, not those of the folder around. "pages/." stands for the files of pages/ alone.
MAY_USE = {
    "base": [],
    "base/files": ["base"],
    "base/text": ["base"],
    "profile/measures": [],
    "base/console": ["base"],
    "profile/file": ["base"],
    "profile/dump": ["base", "profile/file"],
    "mercury/procrep": ["base", "profile/file"],
    "runs/merge": ["base", "profile/file"],
    "runs/mpi": ["base", "profile/file", "runs/merge"],
    "profile/analysis": ["base", "profile/file"],
    "runs/ranks": ["base", "profile/file", "runs/merge", "profile/analysis", "profile/digest", "base/console"],
    "profile/digest": ["base", "profile/file", "profile/analysis"],
    "exchange": ["base", "profile/file", "profile/analysis"],
    "exchange/export": ["base", "profile/file", "profile/analysis", "exchange"],
    "runs/sampled": ["base"],
    "runs/compare": ["base", "profile/file", "profile/analysis", "runs/merge", "runs/sampled"],
    "mercury/body": ["base", "profile/file", "profile/analysis", "mercury/procrep"],
    "mercury/feedback": ["base", "profile/file", "profile/analysis", "mercury/procrep", "mercury/body"],
    "record/toolchain": ["base", "base/console", "runtime"],
    "record/raw": ["base", "runtime"],
    "record/running": ["base", "runtime", "record/raw", "record/statics"],
    "record/statics": ["base", "profile/file", "runtime"],
    "record/statics/extract": ["base", "profile/file", "runtime", "record/statics"],
    "record/known": ["base", "record/statics"],
    "record/outside": ["base", "profile/file", "exchange"],
    "record/finish": ["base", "profile/file", "runtime", "record/raw", "record/statics", "record/known"],
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
    "trace/segments": ["base", "trace/core", "trace/state"],
    "trace/filter": ["base", "trace/core", "trace/state", "trace/clock"],
    "trace/grouping": ["base", "trace/core", "trace/state", "trace/filter", "trace/segments"],
    "trace/format": ["base", "eventlog", "trace/core", "trace/state", "trace/clock", "trace/model"],
    "trace/ctf": ["base", "eventlog", "trace/core", "trace/format"],
    "exchange/trace": ["base", "trace"],
    "engine": ["base", "profile/file", "profile/analysis", "eventlog", "trace"],
    "query": ["base"],
    "display": ["base", "query"],
    "display/html": ["base", "query", "display"],
    "display/text": ["base", "query", "display"],
    "runs/gate": ["base", "profile/file", "profile/analysis", "runs/compare", "runs/sampled", "display"],
    "exchange/hint": ["base", "base/console", "exchange"],
    "record/run": ["base", "profile/file", "profile/analysis", "runs/merge", "profile/digest", "display", "eventlog",
                   "runtime", "base/console", "exchange/hint", "record"],
    "runs/compare/given": ["base", "profile/file", "runs/compare", "display", "base/console", "exchange/hint"],
    "open": ["base", "profile/file", "mercury/procrep", "profile/analysis", "mercury/body", "profile/digest", "trace",
             "engine"],
    "pages/viewers": ["base", "trace", "engine", "open", "query"],
    "pages/compare": ["base", "profile/file", "profile/analysis", "runs/sampled", "runs/compare", "runs/gate",
                      "query", "display"],
    "pages/profile/parts": ["base", "profile/file", "profile/analysis", "query", "display", "pages/.", "mercury/body",
                            "mercury/procrep"],
    "pages/profile/measured": ["base", "profile/file", "profile/analysis", "query", "display", "pages/.",
                               "profile/digest", "pages/profile/parts"],
    "pages/profile/overview": ["base", "profile/file", "profile/analysis", "query", "display", "pages/.",
                               "profile/digest", "pages/profile/parts", "pages/profile/measured",
                               "pages/profile/bodies"],
    "pages/profile/bodies": ["base", "profile/file", "profile/digest", "profile/analysis", "query", "display",
                             "pages/.", "mercury/body", "mercury/procrep", "pages/profile/parts", "pages/profile/measured"],
    "pages/profile/modules": ["base", "profile/file", "profile/analysis", "query", "display", "pages/.",
                              "pages/profile/parts", "pages/profile/measured"],
    "pages/profile/dump": ["base", "profile/file", "profile/analysis", "query", "display", "pages/.",
                           "pages/profile/parts"],
    "pages/profile/calls": ["base", "profile/file", "profile/digest", "profile/analysis", "query", "display",
                            "pages/.", "pages/profile/parts", "pages/profile/measured", "pages/profile/bodies"],
    "pages/profile": ["base", "profile/file", "profile/analysis", "query", "display", "pages/.",
                      "pages/profile/parts", "pages/profile/overview", "pages/profile/bodies",
                      "pages/profile/modules", "pages/profile/dump", "pages/profile/calls"],
    "pages": ["base", "profile/file", "mercury/procrep", "profile/analysis", "mercury/body", "profile/digest",
              "eventlog", "trace", "query", "display", "open"],
    "site": ["base", "profile/analysis", "profile/digest", "query", "display", "open", "pages",
             "pages/profile/measured"],
    "pages/check": ["base", "profile/file", "profile/analysis", "query", "display", "pages", "open",
                    "mercury/feedback", "mercury/procrep", "base/console", "exchange/hint"],
    "pages/trace": ["base", "trace", "engine", "open", "pages/viewers", "query", "display", "pages"],
    "serve": ["base", "profile/file", "mercury/procrep", "profile/analysis", "runs/compare", "mercury/body",
              "profile/digest", "eventlog", "trace", "query", "display", "pages", "engine", "open", "pages/viewers"],
    "serve/http": ["base", "query", "engine", "serve"],
    "serve/cgi": ["base", "query", "engine", "serve"],
    "live": ["base", "profile/file", "exchange", "record", "open", "serve", "base/console"],
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
SHARED = ("profile/measures",)
# Folders that are not allowed with the folder around them: only those who speak to people may use them.
NAMED_ONLY = ("base/console",)


def is_allowed(used, layer, may_use):
    if "*" in may_use[layer] or used == layer or (used in SHARED and not layer.startswith("base")):
        return True
    if used in NAMED_ONLY:
        return used in may_use[layer]
    return any(used == folder.removesuffix("/.") or used.startswith(folder + "/") for folder in may_use[layer])


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

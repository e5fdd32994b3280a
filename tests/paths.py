#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that the files and folders which the documents name exist. A bare name of a file in
ARCHITECTURE.md is one of the folder that was named before it in the same paragraph."""
import pathlib
import re
import sys

import source_files

TOPS = "src|runtime|tests|tools|docs|web|include|bench|fuzz|models|examples|data"
PATH = re.compile(rf"^(?:{TOPS})/[\w.+/-]*$")
BARE = re.compile(r"^[\w-]+\.(?:c|h|S|js|py)$")


def named(text, bare):
    """Paths in `...`, or as targets of links; of bare names those that follow a path."""
    for paragraph in re.split(r"\n\s*\n", text):
        folder = None
        for word in re.findall(r"`([^`\n]+)`", paragraph) + re.findall(r"\]\(([^)\s]+)\)", paragraph):
            if PATH.match(word):
                yield word
                folder = word if word.endswith("/") else word.rsplit("/", 1)[0] + "/"
            elif bare and folder and BARE.match(word):
                yield folder + word


def main(root):
    root = pathlib.Path(root)
    failures = checked = 0
    for document in (root / name for name in source_files.listed(root) if name.endswith(".md")):
        for path in named(document.read_text(), document.name == "ARCHITECTURE.md"):
            checked += 1
            # `src/trace/open.[ch]` and the like are no paths; `src/profile/file` may stand without its slash
            if not (root / path).exists():
                print(f"{document.relative_to(root)}: {path} is not there")
                failures += 1
    print(f"{checked} paths checked, {failures} missing")
    return 1 if failures or checked < 100 else 0


sys.exit(main(sys.argv[1]))

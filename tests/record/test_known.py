#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What finishing learned of a program's file is used by the next finishing: the profile is the same
to the byte, and the file is not extracted again (told by the messages for debugging)."""
import os
import pathlib
import shutil
import sys
import tempfile

import record_lib as lib

DEBUG = dict(os.environ, G_MESSAGES_DEBUG="all")


def finish(folder, name, **environment):
    """The profile's bytes, and how often statics were extracted and found again."""
    done = lib.must([lib.FATHOM, "finish", "--keep", "--quiet", "-o", name, "Deep.rec"], folder,
                    env=dict(DEBUG, **environment))
    said = done.stdout + done.stderr
    return (folder / f"{name}.data").read_bytes(), said.count(": extracting"), said.count(": known from an earlier run")


def main():
    tap = lib.Tap()
    for compiler, grade, source in (("gcc", "deep", "inlining.c"), ("gcc", "coverage", "branches.c"),
                                    ("gcc", "fast", "exceptions.cc")):
        folder = pathlib.Path(tempfile.mkdtemp(prefix="fathom-known-"))
        lib.CASES.setdefault(source, [])
        cache = folder / "cache"
        what = f"{source} at {grade}: "
        try:
            command = lib.build(source, folder, compiler, ["-O2"], grade=grade)
            lib.must([lib.FATHOM, "record", "--keep", "--quiet", "--"] + command, folder,
                     env=dict(os.environ, FATHOM_CACHE="off"))
            tap.check(not cache.exists(), what + "nothing is kept when it is switched off")
            off, extracted, known = finish(folder, "off", FATHOM_CACHE="off")
            tap.check(extracted >= 1 and known == 0, what + "switched off, all is extracted")
            first, extracted, known = finish(folder, "first", FATHOM_CACHE=str(cache))
            tap.check(extracted >= 1 and known == 0, what + "the first time all is extracted")
            tap.check(first == off, what + "the same profile without and with a cache to fill")
            second, again, known = finish(folder, "second", FATHOM_CACHE=str(cache))
            tap.check(known == 1 and again == extracted - 1,
                      what + "the second time the program is known", f"{again} {known}")
            tap.check(second == off, what + "the same profile from what is known")
            for entry in cache.iterdir():
                whole = bytearray(entry.read_bytes())
                whole[len(whole) // 2] ^= 1
                entry.write_bytes(whole)
            damaged, extracted, known = finish(folder, "damaged", FATHOM_CACHE=str(cache))
            tap.check(known == 0 and damaged == off, what + "the same from a damaged cache")
            # the program was built again since: its file is looked at once, not for each edge
            kept = folder / "kept.build"
            shutil.copy2(command[0], kept)
            lib.build(source, folder, compiler, ["-O0"], grade=grade)
            _, extracted, _ = finish(folder, "other", FATHOM_CACHE="off")
            tap.check(0 < extracted <= 5, what + "another build is looked at once", extracted)
            shutil.move(kept, command[0])
            # where the cache is, when nothing says so
            home = {"HOME": str(folder / "home"), "FATHOM_CACHE": "", "XDG_CACHE_HOME": ""}
            finish(folder, "home", **home)
            kept = list((folder / "home/.cache/fathom").iterdir())
            tap.check(len(kept) == 1, what + "kept in the home folder's cache", kept)
        finally:
            shutil.rmtree(folder)
    sys.exit(tap.done())


main()

#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What the runtime needs of glibc: the archives nothing that 2.28 lacks, the libraries only what is listed here.

usage: test_versions.py FOLDER: of libfathom.a"""
import pathlib
import re
import subprocess
import sys

from tap import Tap

OLDEST = (2, 28)
ARCHIVES = ["libfathom.a", "libfathom_early.a", "libfathom_heap.a", "libfathom_new.a", "libfathom_waiting.a",
            "libfathom_interpose.a", "libfathom_library.a", "eventlog/libfathom-eventlog.a"]
LIBRARIES = ["libfathom.so", "libfathom-preload.so"]
# New names of functions that are linked statically (libc_nonshared.a) before.
IN_THE_PROGRAM = {"fstat64", "lstat64", "stat64"}
# Defined by the loader's library, and by the compiler's.
OTHERS = ["/lib64/ld-linux-x86-64.so.2"]
# The libraries are linked here, so names that have moved to libc have the version of their new place: they were in
# libpthread and libdl before 2.34. A program that is preloaded or has plugins needs this glibc, therefore.
MOVED = {"__pthread_register_cancel", "__pthread_unregister_cancel", "__pthread_unwind_next", "dladdr1", "dlsym",
         "dlvsym", "pthread_detach", "pthread_key_create", "pthread_rwlock_unlock", "pthread_setspecific",
         "pthread_sigmask", "pthread_testcancel"}
# Weak: called if there is one. The linker writes their version down all the same.
IF_THERE = {"_dl_find_object", "__libc_single_threaded"}


def symbols(path, *options):
    """(kind, name, version or None) of each."""
    text = subprocess.run(["nm", *options, path], check=True, capture_output=True, text=True).stdout
    for line in text.splitlines():
        found = re.fullmatch(r"(?:[0-9a-f]+)? *([A-Za-z]) ([^@ ]+)(?:@+GLIBC_([0-9.]+))?.*", line)
        if found is not None:
            version = tuple(int(part) for part in found[3].split(".")) if found[3] else None
            yield found[1], found[2], version


def libc():
    """Path of the C library, by its own loader."""
    text = subprocess.run(["ldd", sys.executable], check=True, capture_output=True, text=True).stdout
    return re.search(r"libc\.so\.6 => (\S+)", text)[1]


def oldest_versions():
    """name -> the oldest version by which glibc defines it."""
    found = {}
    for library in [libc(), *OTHERS]:
        for _, name, version in symbols(library, "-D", "--defined-only"):
            if version is not None:
                found[name] = min(version, found.get(name, version))
    return found


def archives(tap, folder, oldest):
    defined, needed = set(), {}
    for archive in ARCHIVES:
        for kind, name, _ in symbols(folder / archive):
            if kind == "U":
                needed.setdefault(name, archive)
            elif kind not in "wv":
                defined.add(name)
    later = {name: where for name, where in needed.items()
             if name not in defined and oldest.get(name, OLDEST) > OLDEST and name not in IN_THE_PROGRAM}
    tap.same(later, {}, "archives: all that they need is in glibc 2.28")
    tap.check("dlsym" in needed and "dlsym" not in later, "dlsym among what they need", len(needed))


def libraries(tap, folder):
    for library in LIBRARIES:
        found = {name: version for kind, name, version in symbols(folder / library, "-D", "--undefined-only")
                 if version is not None and version > OLDEST}
        allowed = MOVED | IF_THERE | IN_THE_PROGRAM
        tap.same({name: version for name, version in found.items() if name not in allowed}, {},
                 f"{library}: no other name above 2.28 than those listed")


def main(folder):
    tap = Tap()
    folder, oldest = pathlib.Path(folder), oldest_versions()
    tap.same((oldest["malloc"], oldest["dlsym"]), ((2, 2, 5), (2, 2, 5)), "glibc's own list of versions is read")
    archives(tap, folder, oldest)
    libraries(tap, folder)
    return tap.done()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))

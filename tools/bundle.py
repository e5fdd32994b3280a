#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes one tar of fathom with all libraries that it needs, the loader too: it runs on x86-64 Linux with glibc, from any
folder, without installation. What it compiles is linked with the libraries of the system that it runs on.

usage: bundle.py BUILD NAME.tar.xz|FOLDER   FOLDER: what is in the tar, not packed"""
import os
import pathlib
import shutil
import subprocess
import sys
import tarfile
import tempfile

LIMIT = 10_000_000  # bytes
COMMANDS = ["fathom-cc", "fathom-c++", "fathom-fortran"]
# The loader is started by hand, so that no library of the system is mixed with those here. Nothing stands in the
# environment, so programs that fathom starts have the system's.
SCRIPT = """#!/bin/sh
self=$(readlink -f "$0")
home=${self%/*}/../libexec
exec "$home/ld-linux-x86-64.so.2" --argv0 "${0##*/}" --library-path "$home" "$home/fathom" "$@"
"""


def run(*command):
    return subprocess.run([str(word) for word in command], check=True, capture_output=True, text=True).stdout


def libraries(program):
    """Paths of what the loader maps for a program, itself among them."""
    lines = [line.split() for line in run("ldd", program).splitlines()]
    paths = [[word for word in line if word.startswith("/")] for line in lines]
    return [pathlib.Path(found[0]) for found in paths if found]


def place(installed, root, source):
    """Copies what is installed to its place in the bundle."""
    prefix = next(installed.glob("**/bin/fathom")).parent.parent
    runtime = next(prefix.glob("lib*/**/fathom/libfathom.a")).parent
    for folder in ("bin", "libexec", "lib", "include", "share"):
        (root / folder).mkdir(parents=True)
    (root / "bin" / "fathom").write_text(SCRIPT)
    (root / "bin" / "fathom").chmod(0o755)
    for name in COMMANDS:
        (root / "bin" / name).symlink_to("fathom")
    program = prefix / "bin" / "fathom"
    for file in [program, *libraries(program)]:
        shutil.copy(file, root / "libexec" / file.name)
    shutil.copytree(runtime, root / "lib" / "fathom", symlinks=True)
    shutil.copy(runtime.parent / "libfathom-eventlog.a", root / "lib")
    shutil.copytree(prefix / "include" / "fathom", root / "include" / "fathom")
    if (prefix / "share" / "man").exists():
        shutil.copytree(prefix / "share" / "man", root / "share" / "man")
    for name in ("LICENSE", "README.md", "CHANGELOG.md"):
        shutil.copy(source / name, root)


def link_statically(build, root):
    """The system's compiler starts the front of its assembler, without the bundle's loader: it needs no library."""
    objects = sorted((build / "runtime" / "assembler" / "as.p").glob("*.o"))
    run("gcc", "-static", "-o", root / "lib" / "fathom" / "assembler" / "as", *objects)


def strip(root):
    for path in sorted(root.rglob("*")):
        if path.is_symlink() or not path.is_file():
            continue
        with path.open("rb") as file:
            begin = file.read(4)
        if path.suffix in (".a", ".o"):
            run("strip", "--strip-debug", "--enable-deterministic-archives", path)
        elif begin == b"\x7fELF":
            run("strip", "--strip-unneeded", path)


def make(build, root):
    source = pathlib.Path(__file__).resolve().parent.parent
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(["meson", "install", "-C", build, "--no-rebuild", "--quiet"], check=True,
                       stdout=subprocess.DEVNULL, env=dict(os.environ, DESTDIR=folder))
        place(pathlib.Path(folder), root, source)
    link_statically(build, root)
    strip(root)


def pack(root, tar):
    """The same bytes for the same files."""
    when = int(os.environ.get("SOURCE_DATE_EPOCH") or "0")

    def plain(info):
        info.uid = info.gid = 0
        info.uname = info.gname = "root"
        info.mtime = when
        return info

    with tarfile.open(tar, "w:xz", preset=9) as out:
        for path in [root, *sorted(root.rglob("*"))]:
            out.add(path, path.relative_to(root.parent), recursive=False, filter=plain)
    size = os.path.getsize(tar)
    print(f"{tar}: {size / 1e6:.1f} MB")
    if size > LIMIT:
        sys.exit(f"bundle.py: {tar} is larger than {LIMIT / 1e6:.0f} MB")


def main(build, to):
    build = pathlib.Path(build).resolve()
    if not to.endswith(".tar.xz"):
        make(build, pathlib.Path(to))
        return
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder) / pathlib.Path(to).name.removesuffix(".tar.xz")
        make(build, root)
        pack(root, to)


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(*sys.argv[1:])

# SPDX-License-Identifier: Apache-2.0
"""The programs that the benchmarks of this folder measure: fetched, built in each variant, and the
command lines to run them."""
import os
import pathlib
import shlex
import subprocess

import packaged as packaging

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
SIX = ["fib", "chain", "threads", "lua", "bzip2", "sqlite"]
REAL = ["lua", "bzip2", "sqlite"]
BZIP2 = "blocksort huffman crctable randtable compress decompress bzlib bzip2".split()
SQLITE_FLAGS = ["-DSQLITE_THREADSAFE=0", "-DSQLITE_OMIT_LOAD_EXTENSION"]


def must(command, folder, **options):
    done = subprocess.run([str(word) for word in command], cwd=folder, text=True,
                          capture_output=True, **options)
    if done.returncode != 0:
        raise SystemExit(f"{shlex.join(map(str, command))}: status {done.returncode}\n"
                         f"{done.stdout[-2000:]}{done.stderr[-2000:]}")
    return done.stdout


class Programs:
    """folder: everything is kept there. fathom: the command of the build tree."""

    def __init__(self, fathom, folder, packaged=()):
        self.fathom, self.folder = pathlib.Path(fathom).resolve(), pathlib.Path(folder).resolve()
        self.runtime = self.fathom.parents[2] / "runtime"
        self.folder.mkdir(parents=True, exist_ok=True)
        self.sources = self.folder / "sources"
        must([ROOT / "tools/fetch-source.sh", self.sources, "lua5.4", "bzip2", "sqlite3",
              *(packaging.SOURCES[name] for name in packaged)], self.folder)
        self.packaged = packaging.Packaged(self.sources, self.folder / "made")
        self._amalgamate()
        self.text = self.folder / "text"  # bzip2's input
        if not self.text.exists():
            parts = sorted((self.sources / "sqlite3" / "src").glob("*.c"))
            self.text.write_bytes(b"".join(part.read_bytes() for part in parts)[:3000000])

    def _amalgamate(self):
        made = self.folder / "amalgamation"
        if (made / "sqlite3.c").exists():
            return
        made.mkdir(exist_ok=True)
        must([self.sources / "sqlite3" / "configure"], made)
        must(["make", "sqlite3.c"], made)

    def _files(self, program):
        if program in packaging.NAMES:
            return self.packaged.files(program)
        own = HERE / "programs"
        if program == "lua":
            src = self.sources / "lua5.4" / "src"
            files = [file for file in sorted(src.glob("l*.c")) if file.name != "luac.c"]
            return files, ["-DLUA_USE_POSIX", "-DLUA_COMPAT_5_3"], ["-lm"]
        if program == "bzip2":
            return ([self.sources / "bzip2" / f"{name}.c" for name in BZIP2],
                    ["-D_FILE_OFFSET_BITS=64"], [])
        if program == "sqlite":
            made = self.folder / "amalgamation"
            return [own / "sql.c", made / "sqlite3.c"], SQLITE_FLAGS + [f"-I{made}"], ["-lm"]
        if program == "fib-inlined":
            return [own / "fib.c"], ["-DINLINED"], []
        return [own / f"{'mt' if program == 'threads' else program}.c"], [], ["-lpthread"]

    def build(self, variant, compiler, flags, program, grade=None, interpose=True):
        """Builds program as variant, if something that it is made of is newer. grade: one of
        fathom's; interpose: with the allocation counts. Returns the executable."""
        place = self.folder / variant / program
        place.mkdir(parents=True, exist_ok=True)
        files, defines, libraries = self._files(program)
        cplusplus = any(file.suffix == ".cc" for file in files)
        if cplusplus:
            compiler = {"gcc": "g++", "clang": "clang++"}[compiler]
        front = [compiler] if grade is None else [
            self.fathom, "c++" if cplusplus else "cc", f"--grade={grade}", compiler]
        needed = [] if grade is None else [self.runtime / "assembler" / "as",
                                           ROOT / "runtime" / "grades.h"]
        objects = []
        for file in files:
            target = place / f"{file.parent.name}-{file.stem}.o"
            objects.append(target)
            if not newer(target, needed + [file]):
                must(front + ["-O2", "-w"] + flags + defines + ["-c", file, "-o", target], place)
        executable = place / program
        archives = [] if grade is None else sorted(self.runtime.glob("libfathom*.a"))
        if newer(executable, objects + archives):
            return executable
        link = front + ["-O2"] + flags + objects + ["-o", executable] + libraries
        if not interpose:
            shown = shlex.split(must(link[:2] + ["--show"] + link[2:], place))
            link = [word for word in shown 
                    if not any(f"libfathom_{part}.a" in word for part in ("interpose", "heap", "new", "waiting"))]
        must(link, place)
        return executable

    def arguments(self, program, scale=1.0):
        """Sizes for about 0.3 s of the plain programs' CPU time when scale is 1."""
        def times(n):
            return str(max(1, round(n * scale)))
        if program in packaging.NAMES:
            return self.packaged.arguments(program, scale, self.text,
                                           self.folder / "amalgamation" / "sqlite3.c")
        smaller = {1.0: 0, 0.2: 3}.get(scale, 0)  # fib grows by 1.62 a step
        return {"fib": [str(40 - smaller)], "fib-inlined": [str(42 - smaller)],
                "chain": [times(10000000)], "threads": [times(150)],
                "lua": [HERE / "programs/work.lua", times(15)],
                "bzip2": (["-9" if scale >= 1 else "-2", "-k", "-c"] +
                          [self.text] * max(1, round(2 * scale))),
                "sqlite": [HERE / "programs/work.sql", times(4)],
                "heap": [times(100)], "switches": [times(100000)]}[program]


def newer(target, sources):
    """Does target exist, younger than all sources?"""
    if not target.exists():
        return False
    return all(os.stat(target).st_mtime >= os.stat(source).st_mtime for source in sources)

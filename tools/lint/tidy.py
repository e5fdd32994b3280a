#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""clang-tidy over C files of src/ and runtime/: tidy.py BUILD [--all | FILE...].

Without either: all that a change can have touched. These are the sources that changed since the branch
forked from origin/main, or include a header that did, or whose folder's meson.build did. In a clone of
main itself: since the newest commit that is a day older than HEAD. What is older was looked at when it
landed. A change of the linters' rules touches all.

A file that passed is not looked at again while its code, its headers, its compiler options and the
rules are the same: the keys of such passes stand in the user's cache folder. Comments and the folders of
files are no part of a key. This gives the same answer as looking again.
"""
import collections
import concurrent.futures
import hashlib
import json
import os
import pathlib
import re
import shlex
import subprocess
import sys
import time

KEPT_DAYS = 30
GCC_ALONE = ("-fno-shrink-wrap", "-ffixed-r15")
RULES = (".clang-tidy", "tools/lint", "tools/lint.sh")
DAY = 86400
COMMENT = re.compile(rb'"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'|//[^\n]*|/\*.*?\*/', re.DOTALL)
HEEDED = re.compile(rb"/\*\s*\w+\s*=\s*\*/|.*NOLINT", re.DOTALL)  # comments that clang-tidy reads
INCLUDED = re.compile(rb'^(\s*#\s*include\s*)"[^"\n]*/', re.MULTILINE)


def code_of(text):
    """A file without its comments and its includes' folders, on as many lines: the rules count lines."""
    def kept(match):
        found = match[0]
        return found if found[:1] in b"\"'" or HEEDED.match(found) else b"\n" * found.count(b"\n")

    return INCLUDED.sub(rb'\1"', COMMENT.sub(kept, text))


def options_of(command):
    """A compiler's options without files and folders: what they lead to is known by its text."""
    words = shlex.split(command)
    files = {at for at, word in enumerate(words) if word.startswith("-I") or word == "-c"}
    files |= {at + more for at, word in enumerate(words) if word in ("-o", "-MF", "-MQ", "-isystem") for more in (0, 1)}
    return [word for at, word in enumerate(words) if at not in files and not word.endswith(".c")]


def git(*arguments):
    done = subprocess.run(["git", *arguments], capture_output=True, text=True, check=False)
    return done.stdout.split() if done.returncode == 0 else None


def fork_point():
    """The commit behind which changes count; None: unknown."""
    head, base = git("rev-parse", "HEAD"), git("merge-base", "HEAD", "origin/main")
    if head and base and base != head:
        return base[0]
    committed = git("log", "-1", "--format=%ct") # by the clock of whoever committed, as the others
    older = committed and git("rev-list", "-1", "--first-parent", f"--before={int(committed[0]) - DAY}", "HEAD")
    return older[0] if older else None


def changed_since_fork():
    """Paths that differ from the fork point; None: unknown, or the rules are other ones."""
    base = fork_point()
    if base is None:
        return None
    changed = git("diff", "--name-only", base) + git("ls-files", "--others", "--exclude-standard")
    if any(path == rule or path.startswith(rule + "/") for path in changed for rule in RULES):
        return None
    return set(changed)


def is_touched(changed, path, made_of):
    """Whether a source must be looked at. changed: relative to the tree; path and what it was made of
    are absolute."""
    root = pathlib.Path.cwd()
    own = next(folder for folder in path.parents if (folder / "meson.build").exists())
    if "meson.build" in changed or str(own.relative_to(root) / "meson.build") in changed:
        return True
    files = {str(root / name) for name in changed}
    return str(path) in files or not files.isdisjoint(made_of)


def dependencies(build):
    """{object: absolute paths that it was made of}, as the compiler told ninja."""
    out = subprocess.run(["ninja", "-C", str(build), "-t", "deps"], capture_output=True, text=True,
                         check=True).stdout
    found, paths = {}, []
    for line in out.splitlines():
        if line.startswith("    "):
            paths.append(os.path.normpath(os.path.join(build.resolve(), line.strip())))
        elif ":" in line:
            paths = found[line.partition(":")[0]] = []
    return found


class Passes:
    """Keys of what passed, as empty files."""

    def __init__(self, build):
        cache = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
        self.folder = pathlib.Path(cache) / "fathom-tidy"
        self.folder.mkdir(parents=True, exist_ok=True)
        self.build = build.resolve()
        self.made_of = dependencies(build)
        self.texts = {}
        version = subprocess.run(["clang-tidy", "--version"], capture_output=True, text=True, check=True)
        self.rules = version.stdout + pathlib.Path(".clang-tidy").read_text()
        old = time.time() - KEPT_DAYS * 86400
        for entry in os.scandir(self.folder):
            if entry.stat().st_mtime < old:
                os.unlink(entry.path)

    def text_hash(self, path):
        if path not in self.texts:
            self.texts[path] = hashlib.sha256(code_of(pathlib.Path(path).read_bytes())).hexdigest()
        return self.texts[path]

    def key(self, entries):
        """Of a source's objects: it may be compiled several times, and is looked at as often. None if
        it is not known what they are made of: none was compiled."""
        root, build = str(pathlib.Path.cwd()), str(self.build)
        made = hashlib.sha256(self.rules.encode())
        paths = self.all_made_of(entries)
        for entry in entries:
            options = " ".join(options_of(entry["command"]))
            made.update(options.replace(build, "BUILD").replace(root, "ROOT").encode())
        for line in sorted(f"{os.path.basename(path)} {self.text_hash(path)}\n" for path in paths):
            made.update(line.encode())
        return made.hexdigest() if paths else None

    def all_made_of(self, entries):
        return {path for entry in entries for path in self.made_of.get(entry["output"], [])}

    def has(self, key):
        path = self.folder / (key or "none")
        if key is None or not path.exists():
            return False
        os.utime(path)
        return True

    def keep(self, key):
        if key is not None:
            (self.folder / key).touch()


def sources(build):
    """{source: its entries of compile_commands.json} of the C files that are looked at."""
    root, found = pathlib.Path.cwd(), collections.defaultdict(list)
    for entry in json.loads((build / "compile_commands.json").read_text()):
        path = (pathlib.Path(entry["directory"]) / entry["file"]).resolve()
        if path.suffix == ".c" and path.is_relative_to(root) and \
                path.relative_to(root).parts[0] in ("src", "runtime"):
            found[path].append(entry)
    return found


def keep_for_clang(build):
    """Commands without the options that only gcc has; returns their folder."""
    folder = build / "tidy"
    folder.mkdir(exist_ok=True)
    text = (build / "compile_commands.json").read_text()
    for option in GCC_ALONE:
        text = text.replace(f" {option} ", " ")
    (folder / "compile_commands.json").write_text(text)
    return folder


def check(commands, path):
    return subprocess.run(["clang-tidy", "--quiet", "-p", str(commands), "--warnings-as-errors=*", str(path)],
                          capture_output=True, text=True, check=False)


def main(build, *only):
    build = pathlib.Path(build)
    files, passes = sources(build), Passes(build)
    wanted = {(pathlib.Path.cwd() / name).resolve() for name in only if name != "--all"}
    changed = None if only else changed_since_fork()

    if wanted:
        files = {path: files[path] for path in wanted & set(files)}
    elif changed is not None:
        files = {path: entries for path, entries in files.items()
                 if is_touched(changed, path, passes.all_made_of(entries))}
    keys = {path: passes.key(entries) for path, entries in files.items()}
    unknown = sorted(path for path in files if not passes.has(keys[path]))
    failures, commands = 0, keep_for_clang(build)
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for path, run in zip(unknown, pool.map(lambda path: check(commands, path), unknown)):
            if run.returncode == 0:
                passes.keep(keys[path])
            else:
                failures += 1
                print(run.stdout.strip() or run.stderr.strip(), flush=True)
    about = "" if changed is None else " (what changed)"
    print(f"clang-tidy: {len(files)} files{about}, {len(files) - len(unknown)} as they passed before, "
          f"{failures} with warnings")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))

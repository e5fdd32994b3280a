# SPDX-License-Identifier: Apache-2.0
"""Compiles the sources of this folder through ccache, for tests that are not of the compiler: those whose
environment has FATHOM_TEST_CCACHE, the path of ccache.

ccache knows commands that compile one source. So a command that compiles and links is made several: each
source by itself, then the link. What the test writes itself, in a folder of its own, has another path each
time, so it is compiled as it stands."""
import os
import pathlib
import re

CCACHE = os.environ.get("FATHOM_TEST_CCACHE")
FATHOM = os.environ.get("FATHOM")
HERE = str(pathlib.Path(__file__).resolve().parent) + "/"
COMPILERS = ("gcc", "g++", "clang", "clang++")
SOURCE = re.compile(r"\.(c|cc)$")
FOR_THE_LINKER = re.compile(r"-[lL]|-Wl,|-fuse-ld=|-shared$|[^-].*\.(a|o|so)$")
# Other outputs than the object, and what is not one source's.
LEFT_ALONE = re.compile(r"-(c|E|S|M.*|flto.*|save-temps.*|fprofile.*|-coverage)$|@")


def parted(command):
    """(words before the compiler, the compiler, the others), or None."""
    words = [str(word) for word in command]
    at = 0
    if words[0] == FATHOM and words[1:2] in (["cc"], ["c++"]):
        at = next((at for at, word in enumerate(words[2:], 2) if not word.startswith("--")), 0)
    return (words[:at], words[at], words[at + 1:]) if words[at] in COMPILERS else None


def split(command):
    """[commands], to be run one after the other; the last one makes what `command` makes."""
    parts = parted(command) if CCACHE else None
    if parts is None:
        return [command]
    front, compiler, words = parts
    sources = [word for word in words if SOURCE.search(word)]
    if not sources or words.count("-o") != 1 or any(LEFT_ALONE.match(word) for word in words) or \
            not all(source.startswith(HERE) for source in sources):
        return [command]
    at = words.index("-o")
    output, rest = words[at + 1], words[:at] + words[at + 2:]
    objects = {source: f"{output}.{number}.o" for number, source in enumerate(sources)}
    options = [word for word in rest if word not in objects and not FOR_THE_LINKER.match(word)]
    compiling = [[*front, CCACHE, compiler, *options, "-c", source, "-o", to] for source, to in objects.items()]
    linking = [objects.get(word, word) for word in without_language(rest)]
    return [*compiling, [*front, compiler, *linking, "-o", output]]


def without_language(words):
    """Objects are no C++."""
    at = words.index("-x") if "-x" in words else len(words)
    return words[:at] + words[at + 2:]


def environment(env):
    """The paths of these sources stand as they are in the object, and the folder from where they were
    compiled is in no other."""
    return {**(os.environ if env is None else env), "CCACHE_NOHASHDIR": "1", "CCACHE_BASEDIR": ""}

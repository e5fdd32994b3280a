#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes the archive for fully static programs: the objects given, and one more for each name of their section
fm_static_names, in which that name is taken over; and the linker's options, which say so.

static_stubs.py ARCHIVE OPTIONS LAST COMPILER… -- OBJECT…; LAST: an object that goes behind the program's own."""
import os
import pathlib
import subprocess
import sys
import tempfile

# By these names libc calls its own functions.
OTHERS = ("__libc_{}", "__{}", "___{}", "__new_{}", "_IO_{}")
# Of these the names above are of other functions.
OWN_OTHERS = {"longjmp": ["__libc_siglongjmp"], "_longjmp": ["__libc_siglongjmp"], "__longjmp_chk": []}
# The compiler's libraries refer to these weakly, and libc always has them: so they must be there.
NEEDED = ("pthread_mutex_lock", "pthread_once")

STUB = """    .text
    .p2align 4
    .globl __wrap_{name}
    .hidden __wrap_{name}
    .type {name}, @function
__wrap_{name}:
{name}:
    .cfi_startproc
    .reloc ., R_X86_64_NONE, .Lreal
    jmp *fm_way_{name}(%rip)
    .cfi_endproc
    .size {name}, .-{name} # a local symbol, for those who look what is called
    .section fm_static_reals, "aw", @progbits
    .p2align 3
.Lreal:
    .quad fm_way_of_{name}
{words}    .section .note.GNU-stack, "", @progbits
"""


LAST = """    .text
    .globl fm_static_last
    .hidden fm_static_last
    .type fm_static_last, @function
fm_static_last:
    .size fm_static_last, .-fm_static_last
    .section .note.GNU-stack, "", @progbits
"""


def names_of(objects, folder):
    """{name: companion}, from what the objects' sources say."""
    names = {}
    for path in objects:
        out = folder / "names"
        out.unlink(missing_ok=True)
        subprocess.run(["objcopy", "--dump-section", f"fm_static_names={out}", path, os.devnull],
                       capture_output=True, check=False)
        for line in out.read_text().splitlines() if out.exists() else ():
            name, companion = line.split()
            names[name] = companion
    return names


def words_of(name, wrapped):
    """The function, and its other names if they are there."""
    words = f"    .quad {'__real_' if name in wrapped else ''}{name}\n"
    others = OWN_OTHERS.get(name, [other.format(name) for other in OTHERS])
    for alias in others + [None] * (len(OTHERS) - len(others)):
        if alias is None or alias in wrapped:
            words += "    .quad 0\n"
            continue
        words += f"    .weak {alias}\n    .quad {alias}\n"
    return words


def main():
    archive, options, last = map(pathlib.Path, sys.argv[1:4])
    cut = sys.argv.index("--")
    compiler, objects = sys.argv[4:cut], sys.argv[cut + 1:]
    with tempfile.TemporaryDirectory() as folder_name:
        folder = pathlib.Path(folder_name)
        names = names_of(objects, folder)
        sources = []
        for name, companion in sorted(names.items()):
            source = folder / f"stub_{name}.s"
            source.write_text(STUB.format(name=name, words=words_of(name, names) + words_of(companion, names)))
            sources.append(source.name)
        subprocess.run([*compiler, "-c", *sources], cwd=folder, check=True)
        (folder / "last.s").write_text(LAST)
        subprocess.run([*compiler, "-c", folder / "last.s", "-o", last], check=True)
        archive.unlink(missing_ok=True)
        subprocess.run(["ar", "rcsD", archive.resolve(), *map(os.path.abspath, objects),
                        *(source[:-1] + "o" for source in sources)], cwd=folder, check=True)
    lines = [f"--wrap={name}" for name in sorted(names)] + [f"--undefined=__wrap_{name}" for name in NEEDED]
    lines.append("--undefined=fm_wait_resolve")
    options.write_text("\n".join(lines) + "\n")


main()

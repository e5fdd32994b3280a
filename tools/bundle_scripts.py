#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Joins scripts to one that browsers run from a file, where they load no modules:
bundle_scripts.py OUTPUT SCRIPT...

Each becomes a function that gives what it exports; those that it imports stand before it.
"""
import pathlib
import re
import sys

IMPORT = re.compile(r'^import \{([^}]*)\} from "([^"]+)";\n', re.MULTILINE)
EXPORT = re.compile(r"^export ((?:async )?(?:function|class|const|let)\*? (\w+))", re.MULTILINE)


def module(path, known):
    text = path.read_text()

    def bind(found):
        name = pathlib.PurePath(found[2]).stem
        if name not in known:
            sys.exit(f"{path}: imports {found[2]}, which does not stand before it")
        return f"const {{{found[1]}}} = modules.{name};\n"

    names = [found[2] for found in EXPORT.finditer(text)]
    text = EXPORT.sub(r"\1", IMPORT.sub(bind, text))
    if re.search(r"^(import|export)\b", text, re.MULTILINE):
        sys.exit(f"{path}: an import or export of a kind that is not understood")
    text = re.sub(r"^// SPDX.*\n|^/\*.*?\*/\n", "", text, flags=re.MULTILINE)
    known.add(path.stem)
    return f"modules.{path.stem} = (() => {{\n{text}return {{ {', '.join(names)} }};\n}})();\n"


def main(output, *scripts):
    known = set()
    parts = [module(pathlib.Path(script), known) for script in scripts]
    text = "".join(parts)
    if "</script" in text.lower():
        sys.exit("a script that ends the element it stands in")
    pathlib.Path(output).write_text('"use strict";\n(() => {\nconst modules = {};\n' + text + "})();\n")


if __name__ == "__main__":
    main(*sys.argv[1:])

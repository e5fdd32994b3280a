#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes files as one C table: embed_assets.py OUTPUT.c FOLDER FILE...

Names in the table are paths below FOLDER; a file elsewhere is known by its last name. The output
depends on names and contents alone.
"""
import hashlib
import pathlib
import sys

LINE_BYTES = 48


def literal(data):
    """Octal escapes always have three digits, so no following digit can join them."""
    lines = []
    for start in range(0, len(data), LINE_BYTES):
        text = ""
        for byte in data[start:start + LINE_BYTES]:
            char = chr(byte)
            if 0x20 <= byte < 0x7F and char not in '"\\?':
                text += char
            else:
                text += f"\\{byte:03o}"
        lines.append(f'    "{text}"')
    return "\n".join(lines) or '    ""'


def main(output, folder, *files):
    entries = []
    for path in files:
        path = pathlib.Path(path).resolve()
        below = pathlib.Path(folder).resolve()
        name = path.relative_to(below).as_posix() if path.is_relative_to(below) else path.name
        entries.append((name, path.read_bytes()))
    entries.sort()
    out = ["/* Written by tools/embed_assets.py; do not edit. */",
           '#include "display/html/assets_internal.h"', ""]
    for number, (name, data) in enumerate(entries):
        out.append(f"/* {name} */")
        out.append(f"static const char data_{number}[] =\n{literal(data)};\n")
    out.append("const struct embedded_asset fm_embedded_assets[] = {")
    for number, (name, data) in enumerate(entries):
        etag = hashlib.sha256(data).hexdigest()[:16]
        out.append(f'    {{"{name}", data_{number}, {len(data)}, "{etag}"}},')
    out.append("};")
    out.append(f"const size_t fm_embedded_asset_count = {len(entries)};")
    names = "".join(f'"{name}", ' for name, _ in entries)
    out.append(f"const char *const fm_embedded_asset_names[] = {{{names}0}};")
    pathlib.Path(output).write_text("\n".join(out) + "\n")


if __name__ == "__main__":
    main(*sys.argv[1:])

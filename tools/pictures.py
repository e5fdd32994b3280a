#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The pictures of docs/deep-profiler.md, of the real server's pages in headless Chromium:
tools/pictures.py PROFILE.data [BUILD [FOLDER]]. PROFILE is a Mercury program's, its bodies beside it;
the pages asked for are those of the sample that the tests have."""
import pathlib
import re
import struct
import subprocess
import sys
import tempfile
import zlib
from collections import Counter

PICTURES = {  # name: query, height
    "deep-clique": ("clique/110", 760),
    "deep-coverage": ("proc_static_coverage/60", 760),
    "deep-recursion": ("clique_rc/112", 560),
    "deep-recursion-types": ("recursion_type_freq", 700),
    "deep-variable-use": ("call_site_dynamic_var_use/118", 480),
}
WIDTH = 1100
COLOURS = 48


def read_png(data):
    """Rows of pixels, 3 or 4 bytes each, as browsers write them: 8 bits, not interlaced."""
    at, packed, size = 8, b"", None
    while at < len(data):
        length, kind = struct.unpack(">I4s", data[at:at + 8])
        body = data[at + 8:at + 8 + length]
        if kind == b"IHDR":
            width, height, _, colour = struct.unpack(">IIBB", body[:10])
            size = width, height, {2: 3, 6: 4}[colour]
        elif kind == b"IDAT":
            packed += body
        at += 12 + length
    width, height, step = size
    raw, rows, above = zlib.decompress(packed), [], bytes(width * step)
    for y in range(height):
        begin = y * (width * step + 1)
        kind, line = raw[begin], bytearray(raw[begin + 1:begin + 1 + width * step])
        for i in range(len(line)) if kind else ():
            left = line[i - step] if i >= step else 0
            corner = above[i - step] if i >= step else 0
            if kind == 4:
                guess = left + above[i] - corner
                near = (abs(guess - left), abs(guess - above[i]), abs(guess - corner))
                value = (left, above[i], corner)[near.index(min(near))]
            else:
                value = (0, left, above[i], (left + above[i]) // 2)[kind]
            line[i] = (line[i] + value) & 255
        above = bytes(line)
        rows.append([above[i:i + 3] for i in range(0, len(above), step)])
    return width, height, rows


def write_png(path, width, height, rows):
    """With a palette of the most frequent colours; others become the nearest of them."""
    counts = Counter(pixel for row in rows for pixel in row)
    palette = [colour for colour, _ in counts.most_common(COLOURS)]
    nearest = {colour: min(range(len(palette)), key=lambda i: sum(
        (a - b) ** 2 for a, b in zip(colour, palette[i]))) for colour in counts}
    raw = b"".join(b"\0" + bytes(nearest[pixel] for pixel in row) for row in rows)

    def chunk(kind, body):
        return (struct.pack(">I", len(body)) + kind + body
                + struct.pack(">I", zlib.crc32(kind + body)))
    path.write_bytes(b"\x89PNG\r\n\x1a\n"
                     + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 3, 0, 0, 0))
                     + chunk(b"PLTE", b"".join(palette))
                     + chunk(b"IDAT", zlib.compress(raw, 9)) + chunk(b"IEND", b""))


def main(profile, build="build", folder="docs/pictures"):
    out = pathlib.Path(folder)
    out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="fathom-pictures-") as work:
        server = subprocess.Popen([f"{build}/src/cli/fathom", "view", "--no-open", profile],
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        try:
            page, file = re.search(r"(http://\S+?)\?menu(&\S+)", server.stdout.readline()).groups()
            for name, (query, height) in PICTURES.items():
                shot = pathlib.Path(work) / "shot.png"
                subprocess.run(["chromium", "--headless", "--no-sandbox", "--disable-gpu",
                                "--hide-scrollbars", f"--user-data-dir={work}/browser",
                                "--virtual-time-budget=5000", f"--window-size={WIDTH},{height}",
                                f"--screenshot={shot}", f"{page}?{query}{file}"],
                               check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
                write_png(out / f"{name}.png", *read_png(shot.read_bytes()))
                print(name, (out / f"{name}.png").stat().st_size)
        finally:
            server.terminate()
            server.wait()


if __name__ == "__main__":
    main(*sys.argv[1:])

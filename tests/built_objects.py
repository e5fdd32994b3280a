# SPDX-License-Identifier: Apache-2.0
"""What the compiled files define and need (nm)."""
import json
import pathlib
import subprocess


def compiled(build):
    """(source, object, top folder of the object) of each compiled file that is there."""
    for entry in json.loads((build / "compile_commands.json").read_text()):
        source = (pathlib.Path(entry["directory"]) / entry["file"]).resolve()
        output = build / entry["output"]
        if output.exists():
            yield source, output, entry["output"].split("/")[0]


def symbols(paths):
    """{object: (defined, needed) names}. One nm reads two hundred objects: its start is what costs."""
    found = {}
    for first in range(0, len(paths), 200):
        some = [str(path) for path in paths[first:first + 200]]
        out = subprocess.run(["nm", "-gA", *some], capture_output=True, text=True, check=True).stdout
        found.update((path, (set(), set())) for path in some)
        for line in out.splitlines():
            path, _, rest = line.partition(":")
            defined, needed = found[path]
            fields = rest.split()
            if len(fields) == 3:
                defined.add(fields[2])
            elif len(fields) == 2 and fields[0] in "Uw":
                needed.add(fields[1])
    return {path: found[str(path)] for path in paths}

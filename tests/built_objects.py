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


def symbols(path):
    """(defined, needed) names of an object."""
    out = subprocess.run(["nm", "-g", str(path)], capture_output=True, text=True, check=True).stdout
    defined, needed = set(), set()
    for line in out.splitlines():
        fields = line.split()
        if len(fields) == 3:
            defined.add(fields[2])
        elif len(fields) == 2 and fields[0] in "Uw":
            needed.add(fields[1])
    return defined, needed

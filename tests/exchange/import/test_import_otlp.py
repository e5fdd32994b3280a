#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""OpenTelemetry's profiles, as protobuf and as JSON: figures known by construction, and those of files of others
beside the values of another reader.

usage: test_import_otlp.py FATHOM"""
import collections
import glob
import json
import os
import struct
import sys
import tempfile

from exchange_lib import bytes_field, check, end, number_field, run, skip, varint

fathom = os.path.abspath(sys.argv[1])
SAMPLES = os.path.join(os.environ.get("FATHOM_SAMPLE_DATA", ""), "profiles", "otlp")

STRINGS = ["", "cpu", "nanoseconds", "main", "work", "inlined", "/usr/lib/libx.so", "a.c", "thread.name", "wall",
           "off_cpu", "count"]
DICTIONARY = {
    "mappingTable": [{}, {"filenameStrindex": 6}],
    "functionTable": [{}, {"nameStrindex": 3, "filenameStrindex": 7, "startLine": "3"}, {"nameStrindex": 4},
                      {"nameStrindex": 5}],
    "locationTable": [{}, {"lines": [{"functionIndex": 1, "line": "9"}]},
                      {"mappingIndex": 1, "lines": [{"functionIndex": 3, "line": "2"}, {"functionIndex": 2, "line": "4"}]},
                      {"mappingIndex": 1, "address": "4096"}],
    "stackTable": [{}, {"locationIndices": [1]}, {"locationIndices": [2, 1]}, {"locationIndices": [3, 2, 1]}],
    "attributeTable": [{}, {"keyStrindex": 8, "value": {"stringValue": "reader"}}],
    "linkTable": [{}], "stringTable": STRINGS}


def profile(kind, unit, samples, **more):
    return {"sampleType": {"typeStrindex": STRINGS.index(kind), "unitStrindex": STRINGS.index(unit)},
            "samples": samples, "timeUnixNano": "1774910497545532978", **more}


def document(*profiles, resources=({},)):
    return {"dictionary": DICTIONARY,
            "resourceProfiles": [{"resource": resource, "scopeProfiles": [{"profiles": list(profiles)}]}
                                 for resource in resources]}


def packed(field, numbers):
    return bytes_field(field, b"".join(varint(int(number) & 2 ** 64 - 1) for number in numbers))


def fixed(field, numbers):
    return bytes_field(field, b"".join(struct.pack("<Q", int(number)) for number in numbers))


def numbers_of(value, names):
    return b"".join(number_field(field, int(value[name])) for field, name in names.items() if name in value)


def message(value):
    """The same as a protobuf message, by another way than fathom's."""
    def value_of(attribute):
        told = attribute.get("value", {})
        return bytes_field(1, told["stringValue"].encode()) if "stringValue" in told else \
            number_field(3, int(told["intValue"])) if "intValue" in told else b""
    tables = value["dictionary"]
    out = b""
    for mapping in tables["mappingTable"]:
        out += bytes_field(1, numbers_of(mapping, {4: "filenameStrindex"}))
    for place in tables["locationTable"]:
        lines = b"".join(bytes_field(3, numbers_of(line, {1: "functionIndex", 2: "line"}))
                         for line in place.get("lines", []))
        out += bytes_field(2, numbers_of(place, {1: "mappingIndex", 2: "address"}) + lines)
    for function in tables["functionTable"]:
        out += bytes_field(3, numbers_of(function, {1: "nameStrindex", 3: "filenameStrindex", 4: "startLine"}))
    for text in tables["stringTable"]:
        out += bytes_field(5, text.encode())
    for attribute in tables["attributeTable"]:
        out += bytes_field(6, numbers_of(attribute, {1: "keyStrindex"}) + bytes_field(2, value_of(attribute)))
    for stack in tables.get("stackTable", []):
        out += bytes_field(7, packed(1, stack.get("locationIndices", [])))
    resources = b""
    for resource in value["resourceProfiles"]:
        attributes = b"".join(bytes_field(1, bytes_field(1, one["key"].encode()) + bytes_field(2, value_of(one)))
                              for one in resource["resource"].get("attributes", []))
        profiles = b""
        for one in resource["scopeProfiles"][0]["profiles"]:
            types = {1: "typeStrindex", 2: "unitStrindex"}
            body = bytes_field(1, numbers_of(one["sampleType"], types))
            for sample in one["samples"]:
                body += bytes_field(2, numbers_of(sample, {1: "stackIndex"}) +
                                    packed(2, sample.get("attributeIndices", [])) +
                                    packed(4, sample.get("values", [])) +
                                    fixed(5, sample.get("timestampsUnixNano", [])))
            body += varint(3 << 3 | 1) + struct.pack("<Q", int(one["timeUnixNano"]))
            body += bytes_field(5, numbers_of(one.get("periodType", {}), types)) + numbers_of(one, {6: "period"})
            profiles += bytes_field(2, body)
        resources += bytes_field(1, bytes_field(1, attributes) + bytes_field(2, profiles))
    return bytes_field(2, out) + resources


def imported(content, name="x.otlp"):
    with open(name, "wb") as out:
        out.write(content if isinstance(content, bytes) else json.dumps(content).encode())
    return run(fathom, "import", "-o", "out.data", name)


def rows():
    told = run(fathom, "report", "--json", "top_procs/1-9999/time/both/oa", "out.data")
    return [row["cells"] for row in json.loads(told.stdout)["tables"][0]["rows"]] if told.returncode == 0 else []


def own(column="time_self_seconds", scale=1e9):
    sums = collections.Counter()
    for cells in rows():
        if cells.get(column):
            sums[cells.get("proc_full", cells["proc"]).split(":", 1)[-1]] += round(cells[column] * scale)
    return dict(sums)


def samples_of():
    return json.loads(run(fathom, "dump", "--json", "out.data").stdout)["facts"].get("sample_count")


CPU = profile("cpu", "nanoseconds", [{"stackIndex": 2, "values": ["30000000"]}, {"stackIndex": 3, "values": [10000000]},
                                     {"stackIndex": 1, "values": ["10000000", "20000000"]}],
              periodType={"typeStrindex": 1, "unitStrindex": 2}, period="10000000")
TIMES = profile("wall", "count", [{"stackIndex": 2, "timestampsUnixNano": ["5", "6", "7"]},
                                  {"stackIndex": 1, "timestampsUnixNano": ["8"]}, {"timestampsUnixNano": ["9"]}])


def in_each_form(value):
    yield "JSON", value
    yield "protobuf", message(value)
    both = message(value)
    yield "with its length in front", struct.pack(">I", len(both)) + both


def test_forms():
    for form, content in in_each_form(document(CPU)):
        told = imported(content)
        check(f"{form}: CPU time by function, inlined ones too", told.returncode == 0 and
              own() == {"inlined": 30000000, "[libx.so]": 10000000, "main": 30000000}, (told, rows()))
        check(f"{form}: and its samples", samples_of() == 7, samples_of())
    for form, content in in_each_form(document(TIMES)):
        told = imported(content)
        check(f"{form}: samples with times alone are counted", told.returncode == 0 and
              own("time_self_ticks", 1) == {"inlined": 3, "main": 1, "(no stack)": 1}, (told, rows()))
    for last, warns in (("5", True), ("6", False)):
        stamps = ["5"] * 11 + [last]
        for form, content in in_each_form(document(profile("wall", "count", [
                {"stackIndex": 2, "timestampsUnixNano": stamps[:7]}, {"stackIndex": 1, "timestampsUnixNano": stamps[7:]}]))):
            told = imported(content)
            check(f"{form}: one time of all samples: {warns}", told.returncode == 0 and
                  ("warning: all 12 samples have one time" in told.stderr) is warns, told)
    twice = json.dumps(document(CPU)) + "\n" + json.dumps(document(CPU)) + "\n"
    told = imported(twice.encode())
    check("an object a line", told.returncode == 0 and own()["main"] == 60000000, (told, rows()))
    one = message(document(CPU))
    told = imported((struct.pack(">I", len(one)) + one) * 3)
    check("messages behind each other", told.returncode == 0 and own()["main"] == 90000000, (told, rows()))


def test_measures():
    off = profile("off_cpu", "nanoseconds", [{"stackIndex": 1, "values": ["1500000000"]}])
    counted = {**TIMES, "periodType": {"typeStrindex": 1, "unitStrindex": 2}, "period": "50000000"}
    told = imported(message(document(off, counted)))
    check("samples of so much CPU time are that time", told.returncode == 0 and
          own() == {"inlined": 150000000, "main": 50000000, "(no stack)": 50000000} and samples_of() == 5, (told, rows()))
    check("time off the processor is another measure", own("off_cpu_self_s") == {"main": 1500000000}, rows())
    told = imported(document(off))
    natures = json.loads(run(fathom, "dump", "--json", "out.data").stdout)["facts"]["natures"]
    check("and alone it is no CPU time", told.returncode == 0 and "clock" in natures and
          own() == {"main": 1500000000}, (natures, told))


def test_processes():
    def named(number, name):
        return {"attributes": [{"key": "process.pid", "value": {"intValue": str(number)}},
                               {"key": "process.executable.name", "value": {"stringValue": name}}]}
    threads = profile("cpu", "nanoseconds", [{"stackIndex": 1, "attributeIndices": [1], "values": ["7"]}])
    told = imported(message(document(threads, resources=(named(1, "a"), named(2, "b")))))
    names = {cells["proc"] for cells in rows()}
    check("processes by name and number, threads by name", told.returncode == 0 and
          {"a (1)", "b (2)", "reader"} <= names and own() == {"main": 14}, (told, names))
    told = imported(message(document(threads, resources=(named(1, "a"),))))
    check("one process alone has no frame", told.returncode == 0 and
          {cells["proc"] for cells in rows()} & {"a (1)", "reader"} == {"reader"}, rows())


def wrong():
    old = {**document(CPU), "dictionary": {name: table for name, table in DICTIONARY.items() if name != "stackTable"}}
    yield old, "since version 1.9"
    yield message(document(CPU)).replace(varint(3 << 3 | 1) + struct.pack("<Q", 1774910497545532978),
                                         bytes_field(3, b"\1" * 7)), "before version 1.9"
    yield document(profile("cpu", "nanoseconds", [{"stackIndex": 9, "values": [1]}])), "names stack 9, expected one of 4"
    yield document(profile("cpu", "nanoseconds", [{"stackIndex": 1, "values": ["-4"]}])), "a sample of -4"
    yield document(profile("cpu", "nanoseconds", [{"stackIndex": 1, "values": [2 ** 63 - 1, 9]}])), "more than 2^63"
    yield document(profile("cpu", "nanoseconds", [{"stackIndex": "x", "values": [1]}])), "a whole number as \"stackIndex\""
    yield document(), "there is no sample in it"
    yield message(document(CPU))[:-9], "is damaged or cut off"
    yield struct.pack(">I", 10 ** 6) + message(document(CPU)), "offset 0: expected a message of 1000000 bytes"


def test_wrong():
    for content, said in wrong():
        told = imported(content)
        check(f"refused: {said}", told.returncode == 1 and said in told.stderr and "x.otlp: " in told.stderr and
              len(told.stderr.splitlines()) == 1, told)


def test_samples():
    paths = sorted(glob.glob(os.path.join(SAMPLES, "*.expected.json")))
    if not paths:
        skip("files of others", "FATHOM_SAMPLE_DATA has no profiles")
    for path in paths:
        with open(path, encoding="utf-8") as file:
            expected = json.load(file)
        name = os.path.basename(path)[:-len(".expected.json")]
        with open(path[:-len(".expected.json")], "rb") as file:
            told = imported(file.read())
        check(f"{name} is read", told.returncode == 0, told)
        facts = json.loads(run(fathom, "report", "--json", "menu", "out.data").stdout)["facts"]
        check(f"{name}: all figures agree", facts["invariants_hold"] is True, facts)
        totals = {measure["name"]: measure["total"] for measure in expected["measures"]}
        check(f"{name}: samples", samples_of() == totals["samples"], samples_of())
        time = own()
        each = sum(time.values()) // totals["samples"]
        for one in expected.get("largest_self_by_measure", {}).get("samples", expected["largest_self"]):
            if "+0x" not in one["name"]:
                found = sum(value for function, value in time.items() if one["name"].startswith(function))
                check(f"{name}: {one['name']}", found == one["value"] * each, (time, one))
        if "off_cpu" in totals:
            check(f"{name}: off_cpu", sum(own("off_cpu_self_s").values()) == totals["off_cpu"], rows()[:3])


with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    test_forms()
    test_measures()
    test_processes()
    test_wrong()
    test_samples()
    os.chdir("/")
end()

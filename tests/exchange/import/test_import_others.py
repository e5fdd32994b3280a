#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Files of many tools and versions: read, or refused by what they are and the command that helps.

usage: test_import_others.py FATHOM"""
import gzip
import json
import os
import pathlib
import re
import shutil
import struct
import sys
import tempfile

from exchange_lib import bytes_field, check, end, number_field, run
from patience import PATIENCE

fathom = sys.argv[1]


def made(folder, name, content):
    path = os.path.join(folder, name)
    with open(path, "wb") as out:
        out.write(content if isinstance(content, bytes) else content.encode())
    return path


def imported(path, *options):
    """What `fathom import` said, and the profile's path."""
    return run(fathom, "import", *options, "-o", path + ".data", path), path + ".data"


def functions(data, words="top_procs/1-1000/time/both/oa"):
    """{function without its file: cells}"""
    told = run(fathom, "report", "--json", words, data)
    if told.returncode != 0:
        return {}
    rows = json.loads(told.stdout)["tables"][0]["rows"]
    return {row["cells"]["proc"].split(":", 1)[-1]: row["cells"] for row in rows}


def self_of(data):
    return {name: cells.get("time_self_ticks") for name, cells in functions(data).items()
            if cells.get("time_self_ticks")}


FRAMES = "\t 400570 f (/x)\n\t 4005b1 main (/x)\n\n", "\t 400570 g (/x)\n\t 4005b1 main (/x)\n\n"
SHAPES = {  # what perf's versions and options print: the text, and the samples by function
    "a processor and no period": "x 1 [001] 10.5: cpu-clock: \n{0}x 1 [001] 10.6: cpu-clock: \n{1}",
    "no time": "x 1 cpu-clock: \n{0}x 1 cpu-clock: \n{1}",
    "no time, several words": "Gecko thread 17 cycles:ppp: \n{0}Gecko thread 17 cycles:ppp: \n{1}",
    "process and thread": "x 1/7 [001] 10.5: cycles: \n{0}x 1/7 [001] 10.6: cycles: \n{1}",
    "no event": "x 1 10.5: \n{0}x 1 10.6: \n{1}",
    "an event of a unit": "x 1 10.5: cpu_core/cycles:u/: \n{0}x 1 10.6: cpu_core/cycles:u/: \n{1}",
    "names aligned": "               x     1 10.5: cycles: \n{0}               x     1 10.6: cycles: \n{1}",
    "text of a tracepoint": "x 1 10.5: sched:sched_switch: prev_comm=x next=y:7\n{0}"
                            "x 1 10.6: sched:sched_switch: add x\n{1}",
    "an empty line before the frames": "x 1 10.5: cycles: \n\n{0}x 1 10.6: cycles: \n\n{1}",
    "frames at the margin": "x 1 cycles:\n400570 f (/x)\n4005b1 main (/x)\n\n"
                            "x 1 cycles:\n400570 g (/x)\n4005b1 main (/x)\n\n",
}


def test_perf_shapes(folder):
    for what, text in SHAPES.items():
        told, data = imported(made(folder, "shape.txt", text.format(*FRAMES)), "--from=perf")
        check(f"perf script, {what}: samples are counted", told.returncode == 0 and
              self_of(data) == {"f": 1, "g": 1}, (told, self_of(data)))
        check(f"perf script, {what}: and that is said", "how long a sample stands for" in told.stderr, told)
        found = run(fathom, "report", "menu", data).stdout
        check(f"perf script, {what}: it is recognised by itself, of two samples",
              run(fathom, "import", "-o", data, made(folder, "shape.txt", text.format(*FRAMES))).returncode == 0
              and "2 samples" in found, found)
    told, data = imported(made(folder, "mixed.txt", "x 1 10.5: 250000 cpu-clock:\n\t 401b97 main+0x1f (/x)\n\n"
                               "x 1 10.6: 250000 cpu-clock:\n\n\t 401b97 main+0x1f (/x)\n\n"
                               "x 1 10.7: 250000 cpu-clock:\n\n"))
    cells = functions(data)
    check("a sample without frames is its thread's", told.returncode == 0 and
          cells["main"]["time_self_seconds"] == 0.0005 and cells["x"]["time_total_seconds"] == 0.00075, (told, cells))
    told, data = imported(made(folder, "none.txt", "x 1 10.5: cycles:\n\t what is this\n\t and this\n\n"), "--from=perf")
    check("lines that are nothing are refused", told.returncode == 1 and
          "none.txt: line 4: most lines are neither samples nor frames" in told.stderr, told)
    told, _ = imported(made(folder, "words.txt", "Chapter 1 Introduction:\nSome text\n"))
    check("text with a colon is none of perf's", told.returncode == 1 and "unknown format" in told.stderr, told)


CALLGRIND = """# callgrind format
positions: instr line
events: Ir Dr

ob=(1) /bin/x
fl=(1) a.c
fn=(1) main
0x10 5 10 1
{0}cfn=(2) work
calls=3 0x20 20
* * 300 30
fi=(2) inl.h
+4 2 7 2
fe=(1)
+4 9 3 1

fl=(1)
fn=(2)
0x20 20 100 10
jump=2 0x24 22
* *
cfn=(2)
calls=2 0x20 20
+4 +1 150 15
+4 +1 200 20

totals: 320 34
"""


def test_callgrind_numbers(folder):
    for named, lines in ((True, ""), (False, "cob=(9)\ncfi=(7)\n")):
        told, data = imported(made(folder, "callgrind.out", CALLGRIND.format(lines)))
        check("callgrind: own costs, recursion and jumps" + ("" if named else ", numbers without names"),
              told.returncode == 0 and self_of(data) == {"main": 20, "work": 300}, (told, self_of(data)))
        check("what numbers without names are is said", ("refers to names by number" in told.stderr) != named, told)
    told, data = imported(made(folder, "callgrind.out", "events: Ir\nfn=(1) main\n1 2\ncfn=(7)\ncalls=1 1\n2 5\n\nfn=(7)\n9 5\n"))
    check("a function without a name is called by its number", told.returncode == 0 and
          functions(data)["(7)"]["calls_count"] == 1, (told, functions(data)))


def words(form, *values):
    return b"".join(struct.pack(form, value) for value in values)


def test_gperftools(folder):
    for form in "<Q", "<I", ">Q", ">I":
        content = (words(form, 0, 3, 0, 10000, 0) + words(form, 7, 2, 0x401136, 0x401201) +
                   words(form, 3, 1, 0x401200) + words(form, 1, 2, 0x601000, 0x401201) + words(form, 0, 1, 0) +
                   b"00400000-00402000 r-xp 00000000 00:00 0 /no/such/x\n"
                   b"00600000-00602000 r-xp 00000000 00:00 0 /no/such/liby.so.1\n"
                   b"build=/nowhere\n")
        told, data = imported(made(folder, "cpu.prof", content))
        cells = functions(data)
        check(f"gperftools, words {form}: time by file where no symbols are", told.returncode == 0 and
              round(cells["[x]"]["time_self_seconds"], 9) == 0.1 and cells["[liby.so.1]"]["time_self_seconds"] == 0.01,
              (told, cells))
        check("and that is said", "100 % of the samples' functions are not known by name" in told.stderr, told)
        told, data = imported(made(folder, "cut.prof", content[:content.index(b"00400000") - 3 * struct.calcsize(form)]))
        check("a file that was cut is read as far as it goes", told.returncode == 0 and
              "ends within its samples" in told.stderr and
              functions(data)["[unknown]"]["time_self_seconds"] == 0.11, (told, functions(data)))


def pprof(types, samples):
    """samples: (stack, innermost first; values)."""
    texts = [""]

    def text(of):
        if of not in texts:
            texts.append(of)
        return texts.index(of)
    body = b"".join(bytes_field(1, number_field(1, text(name)) + number_field(2, text(unit))) for name, unit in types)
    numbers = {}
    for stack, values in samples:
        ids = b"".join(number_field(1, numbers.setdefault(name, len(numbers) + 1)) for name in stack)
        body += bytes_field(2, ids + b"".join(number_field(2, value) for value in values))
    for name, number in numbers.items():
        body += bytes_field(4, number_field(1, number) + bytes_field(4, number_field(1, number)))
        body += bytes_field(5, number_field(1, number) + number_field(2, text(name)))
    return gzip.compress(body + b"".join(bytes_field(6, one.encode()) for one in texts))


def test_gperftools_java(folder):
    names = b" 0x0000003 GC\n 0x0000004 com.example.f (source.java:06)\n 0x0000005 com.example.g (source.java:7)\n"
    content = (words("<I", 0, 3, 1, 10000, 0) + words("<I", 5, 2, 4, 5) + words("<I", 2, 1, 3) + words("<I", 1, 1, 9) +
               words("<I", 0, 1, 0) + names)
    told, data = imported(made(folder, "java.cpu", content))
    seconds = {name: round(cells["time_self_seconds"], 9) for name, cells in functions(data).items()
               if cells.get("time_self_seconds")}
    check("Java's CPU profiles name functions by number", told.returncode == 0 and
          seconds == {"com.example.f": 0.05, "GC": 0.02, "[unknown]": 0.01}, (told, seconds))
    check("callers, too", round(functions(data)["com.example.g"]["time_total_seconds"], 9) == 0.05, functions(data))
    check("and what has no name is said", "12 % of the samples' functions are not known by name: the file does not name "
          "them" in told.stderr, told)


def test_folded_fractions(folder):
    text = "main;f 31.23\nmain;g 6.\nmain;g 1.500\nmain 19\n"
    told, data = imported(made(folder, "parts.folded", text))
    check("fractions are kept: figures are parts", told.returncode == 0 and
          self_of(data) == {"f": 3123, "g": 750, "main": 1900} and "parts of a sample" in told.stderr,
          (told, self_of(data)))
    check("and called so", "hundredths_of_samples" in run(fathom, "report", "menu", data).stdout)
    told, data = imported(made(folder, "zeros.folded", "main;f 31.00\nmain;g 6.\n"))
    check("fractions of zeros are none", self_of(data) == {"f": 31, "g": 6}, (told, self_of(data)))
    told, data = imported(made(folder, "time.folded", text), "--unit=ms")
    check("of times they are smaller units", round(functions(data)["f"]["time_self_seconds"], 12) == 0.03123,
          functions(data))
    told, data = imported(made(folder, "ns.folded", text), "--unit=ns")
    check("below a nanosecond they are cut off", functions(data)["f"]["time_self_seconds"] == 31e-9, functions(data))
    told, data = imported(made(folder, "most.folded", "main;f 0.0000012\nmain;g 922337203685.5\nmain 1\n"))
    check("to a millionth", self_of(data) == {"f": 1, "g": 922337203685500000, "main": 1000000},
          (told, self_of(data)))
    told, _ = imported(made(folder, "large.folded", "main;f 0.0000012\nmain;g 92233720368547.5\nmain 1\n"))
    check("as far as they fit", told.returncode == 1 and "line 2: the numbers up to here are more than 2^63" in
          told.stderr, told)


def test_pprof_without_ids(folder):
    body = gzip.decompress(pprof([("cpu", "nanoseconds")], [(["f", "main"], (7,)), (["main"], (2,))]))
    bare = body.replace(bytes_field(5, number_field(1, 1) + number_field(2, 3)), bytes_field(5, number_field(2, 3)))
    bare = bare.replace(bytes_field(5, number_field(1, 2) + number_field(2, 4)), bytes_field(5, number_field(2, 4)))
    told, data = imported(made(folder, "bare.pb", bare))
    check("functions without ids have their places as such", told.returncode == 0 and len(bare) == len(body) - 4 and
          {name: round(cells["time_self_seconds"], 12) for name, cells in functions(data).items()}.items() >=
          {"f": 7e-9, "main": 2e-9}.items() and "have no ids" in told.stderr, (told, functions(data)))


def test_without_period(folder):
    said = "does not say how long a sample stands for"
    told, _ = imported(made(folder, "count.pb", pprof([("samples", "count")], [(["f", "main"], (7,))])))
    check("samples alone, without a period: that is said", told.returncode == 0 and said in told.stderr, told)
    told, _ = imported(made(folder, "both.pb", pprof([("samples", "count"), ("cpu", "nanoseconds")],
                                                     [(["f", "main"], (7, 9))])))
    check("not where there is a time beside them", told.returncode == 0 and said not in told.stderr, told)
    told, _ = imported(made(folder, "count.txt", "x 1 10.5: cycles: \n" + FRAMES[0]))
    check("of perf script as well", said in told.stderr, told)


def test_known_folders(folder):
    for file, begins, what, helps in (("experiment.xml", b'<?xml version="1.0"?>', "a database of HPCToolkit", "Hatchet"),
                                      ("meta.db", b"HPCTOOLKITmeta", "a database of HPCToolkit", "hpcviewer"),
                                      ("data", b"PERFILE2", "a folder of perf record --threads", "perf script -i")):
        path = os.path.join(folder, f"of-{file}")
        os.mkdir(path)
        made(path, file, begins + bytes(200))
        told, _ = imported(path)
        check(f"a folder with {file} is {what}", told.returncode == 1 and what in told.stderr and helps in told.stderr and
              len(told.stderr.splitlines()) == 1, told)
        told = run(fathom, "report", path)
        check("fathom report says so, too", told.returncode == 1 and f"It is {what}" in told.stderr, told)


def test_what_is_in_use(folder):
    """Heap profiles of node, and Go's that were made of differences, say nothing of allocations."""
    for types in ((("inuse_objects", "count"), ("inuse_space", "bytes")), (("objects", "count"), ("space", "bytes"))):
        told, data = imported(made(folder, "heap.pb.gz", pprof(types, [(["leak", "main"], (2, 4096)),
                                                                       (["small", "main"], (1, 1024))])))
        cells, last = functions(data), types[-1][0]
        check(f"{last}: functions have what is in use", told.returncode == 0 and
              {name: found.get("time_self_ticks") for name, found in cells.items()}.items() >=
              {"leak": 4096, "small": 1024, "main": 0}.items(), (told, cells))
        check(f"{last}: the tree shows it", "leak" in run(fathom, "tree", data).stdout)
        first = run(fathom, "report", "menu", data).stdout
        check(f"{last}: so does the first page, in bytes", "leak" in first and "5,120 bytes" in first and last in first,
              first)


def test_few_samples(folder):
    for samples in 11, 10, 3, 1:
        _, data = imported(made(folder, "few.folded", f"main;a {samples}\n"))
        check(f"{samples} samples have costs", self_of(data) == {"a": samples}, functions(data))
    _, data = imported(made(folder, "few.folded", "main;a 9\n"), "--unit=s")
    check("and 9 seconds", functions(data)["a"]["time_self_seconds"] == 9, functions(data))


def test_further_measure_alone(folder):
    text = "".join(f"x 1 10.{at:02}: 100 cycles:\n\t 10 f (/x)\n\t 20 main (/x)\n\n" for at in range(20))
    for event, function, period in ("page-faults", "k", 5), ("page-faults", "l", 7):
        text += f"x 1 11.5: {period} {event}:\n\t 30 {function} (/x)\n\t 20 main (/x)\n\n"
    _, data = imported(made(folder, "two.txt", text))
    found = functions(data)
    check("functions that cost something of a further measure alone stand behind the others",
          list(found)[-2:] == ["l", "k"] and found["k"]["page_faults_self_page_faults"] == 5 and
          found["k"]["time_self_ticks"] == 0, found)
    check("not where a share of the first measure is asked for",
          "k" not in functions(data, "top_procs/p0.01/time/both/oa"))


KNOWN = {  # content: what is said
    b"PERFFILE" + bytes(100): ("perf's own file, of before 2011", "perf script reads it"),
    b"FLR\x00\x00\x02": ("Java's Flight Recorder", "jfrconv"),
    b'{"profileJSON":{},"symbolicationTable":{}}': ("a profile of Firefox of before 2013", "shows it"),
    b'{"some":"thing"}': ("JSON of another tool", "speedscope"),
    b"BZh91AY": ("compressed by bzip2", "bunzip2"),
    b"PK\x03\x04" + bytes(30): ("a zip archive", "unzip"),
    bytes(257) + b"ustar\x0000" + bytes(300): ("an archive of tar", "tar xf"),
    b"\x7fELF\x02\x01\x01" + bytes(60): ("a program or a library", "fathom record"),
    b"<?xml version='1.0'?>\n<svg xmlns='x'></svg>": ("a picture", "stacks"),
    b"HPCPROF-meta______" + bytes(20): ("measurements of HPCToolkit", "hpcprof"),
    b"HPCTOOLKITmeta" + bytes(20): ("a database of HPCToolkit", "Hatchet"),
    b"startup\ttime=17\n": ("a profile of Coz", "coz plot"),
    b"TN:\nSF:/src/a.c\nDA:3,1\nend_of_record\n": ("coverage of lcov", "genhtml"),
    b'{"format_version":"1","gcc_version":"12","files":[]}': ("coverage of gcov", "gcovr -a"),
    b"Flat profile:\n\nEach sample": ("a report of gprof", "gmon.out"),
    b"": ("it is empty", ""),
}


def test_documented(_folder):
    """Each format of the command has a row in docs/formats.md."""
    listed = re.findall(r"^  ([a-z.]+)  +[^-]", run(fathom, "import", "--help").stdout, re.M)
    page = pathlib.Path(__file__).resolve().parents[3] / "docs/formats.md"
    rows = "".join(line.split("|")[1] for line in page.read_text(encoding="utf-8").splitlines() if line.startswith("| `"))
    missing = [name for name in listed if f"`{name}`" not in rows]
    check("each format is documented", len(listed) > 10 and not missing, (listed, missing))


def test_empty(folder):
    path = made(folder, "empty", b"")
    for form in re.findall(r"^  ([a-z.]+)  +[^-]", run(fathom, "import", "--help").stdout, re.M):
        if form in ("uftrace", "ftime-trace"):
            continue  # folders
        told, _ = imported(path, f"--from={form}", "--program=/bin/true")
        check(f"an empty file as {form} is refused", told.returncode == 1 and len(told.stderr.splitlines()) == 1 and
              told.stderr.startswith(f"fathom import: {path}"), told)


def test_known(folder):
    for content, (what, helps) in KNOWN.items():
        path = made(folder, "file", content)
        told, _ = imported(path)
        check(f"it is {what}", told.returncode == 1 and what in told.stderr and helps in told.stderr and
              len(told.stderr.splitlines()) == 1, told)
        if content == b"":
            continue
        for command in "view", "report", "check":
            told = run(fathom, command, path, timeout=PATIENCE)
            check(f"fathom {command}: it is {what}", told.returncode == 1 and
                  any(line.startswith("It is ") and what in line for line in told.stderr.splitlines()), told)
        told, _ = imported(made(folder, "file.gz", gzip.compress(content)))
        check(f"within gzip, it is {what}", told.returncode == 1 and what in told.stderr and
              "within gzip" in told.stderr and "gunzip" in told.stderr, told)
    path = made(folder, "again.txt", b"words\n")
    made(folder, "again.txt.data", b"")
    told, _ = imported(path)
    check("import does not send to the profile that it made before", told.returncode == 1 and
          len(told.stderr.splitlines()) == 1, told)
    told, _ = imported(made(folder, "bad.gz", gzip.compress(b"main 1\n" * 100)[:-30] + b"\xff" * 30))
    check("damaged gzip is called so, not in zlib's words", told.returncode == 1 and
          "damaged gzipped data" in told.stderr, told)
    told, data = imported(made(folder, "powershell.folded", "\ufeffmain;a 12\r\n".encode("utf-16-le")))
    check("UTF-16, as PowerShell writes it, is read", told.returncode == 0 and self_of(data) == {"a": 12}, told)


def test_nobody_is_sent_round(folder):
    """The command that failed is not what is advised."""
    cases = {"a.rec": b"FATHOMR\n" + bytes(100), "a.eventlog": b"hdrbhetb", "a.data": b"fathom deep profile data x",
             "b.data": b"fathom deep profile data version 1\n", "a.folded": b"main;a 1\nmain;b\n",
             "procrep": b"Mercury deep profiler procrep version 5\n"}
    for name, content in cases.items():
        path = made(folder, name, content)
        for command in ("view",), ("report",), ("check",), ("log", "stat"), ("finish",), ("import",), ("dump",):
            if command == ("view",) and name == "a.eventlog":
                continue  # it has no event, and is served
            told = run(fathom, *command, path, timeout=PATIENCE)
            check(f"{' '.join(command)} {name}: it does not advise itself", told.returncode == 1 and
                  f"fathom {' '.join(command)} {path}" not in told.stderr, told)
    told = run(fathom, "report", made(folder, "c.data", b"fathom deep profile data version 2\n"))
    check("a profile of a newer fathom is called so", told.returncode == 1 and "a newer fathom wrote it" in told.stderr,
          told)


def test_ctf_2(folder):
    """Metadata of CTF 2 that no event can be read by is called so, and the file of it alone is known."""
    trace = os.path.join(folder, "ctf2")
    os.mkdir(trace)
    metadata = made(trace, "metadata", b'\x1e{"type":"preamble","version":2}\n\x1e{"type":"data-stream-class"}\n'
                    b'\x1e{"type":"event-record-class","name":"e"}\n')
    made(trace, "chan_0", b"abc")
    for command in ("log", "stat"), ("view",):
        told = run(fathom, *command, trace, timeout=PATIENCE)
        check(f"{' '.join(command)}: metadata of CTF 2 that cannot be used is called so", told.returncode == 1 and
              "metadata (CTF 2): offset " in told.stderr and
              (f"fathom {' '.join(command)}" + f" {trace}") not in told.stderr, told)
    told = run(fathom, "import", metadata, timeout=PATIENCE)
    check("import: the metadata alone is known", told.returncode == 1 and "the metadata of a trace" in told.stderr, told)


def main():
    for test in (test_perf_shapes, test_callgrind_numbers, test_gperftools, test_gperftools_java,
                 test_folded_fractions, test_pprof_without_ids, test_without_period, test_known_folders, test_what_is_in_use, test_few_samples,
                 test_further_measure_alone, test_documented, test_empty, test_known, test_nobody_is_sent_round, test_ctf_2):
        folder = tempfile.mkdtemp()
        try:
            test(folder)
        finally:
            shutil.rmtree(folder)
    end()


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""perf.data: files made here, with figures known by construction, and files of others beside the
values that another reader got.

usage: test_import_perfdata.py FATHOM"""
import collections
import glob
import json
import os
import re
import shutil
import struct
import subprocess
import sys
import tempfile

from exchange_lib import check, end, run, skip

fathom = os.path.abspath(sys.argv[1])
SAMPLES = os.path.join(os.environ.get("FATHOM_SAMPLE_DATA", ""), "profiles", "perf-data")

IP, TID, TIME, ID, PERIOD, CHAIN = 1, 2, 4, 64, 256, 32
REGISTERS, STACK, BRANCHES, IDENTIFIER = 1 << 12, 1 << 13, 1 << 11, 1 << 16
KERNEL_MARK, USER_MARK = -128 & (1 << 64) - 1, -512 & (1 << 64) - 1
USUAL = IP | TID | TIME | PERIOD | CHAIN


class File:
    """A perf.data file as it is being written."""

    def __init__(self, order="<"):
        self.order = order
        self.events, self.records, self.features = [], b"", {}

    def pack(self, form, *values):
        return struct.pack(self.order + form, *values)

    def text(self, text):
        padded = text.encode() + bytes(8 - len(text) % 8)
        return self.pack("I", len(padded)) + padded

    def event(self, name, kind=1, config=0, sample_type=USUAL, ids=(), period=0, registers=0, stack=0):
        """Writers of the other byte order fill the flags' bytes from the other end."""
        flags = (0 if period else 1 << 10) | 1 << 18
        flags = bytes(byte if self.order == "<" else int(f"{byte:08b}"[::-1], 2) for byte in flags.to_bytes(8, "little"))
        attr = self.pack("IIQQQQ", kind, 112, config, period or 99, sample_type, 0) + flags + self.pack(
            "IIQQQQIiQIHH", 0, 0, 0, 0, 0, registers, stack, 0, 0, 0, 0, 0)
        assert len(attr) == 112
        self.events.append((name, attr, ids, sample_type))

    def record(self, kind, body, misc=0):
        body += bytes(-len(body) % 8)
        self.records += self.pack("IHH", kind, misc, 8 + len(body)) + body

    def ids(self, tid, time, number=0):
        kind = self.events[0][3]
        return (self.pack("II", tid, tid) if kind & TID else b"") + (self.pack("Q", time) if kind & TIME else b"") + (
            self.pack("Q", number) if kind & IDENTIFIER else b"")

    def name(self, pid, name, tid=None, exec_at=None):
        name = name.encode() + bytes(8 - len(name) % 8)
        self.record(3, self.pack("II", pid, tid or pid) + name + self.ids(pid, exec_at or 0), 1 << 13 if exec_at else 0)

    def map(self, pid, start, size, path, offset=0, build_id=b"", time=0):
        path = path.encode() + bytes(8 - len(path) % 8)
        where = self.pack("iIQQQ", pid, pid & 0xffffffff, start, size, offset)
        if build_id:
            self.record(10, where + bytes([len(build_id), 0, 0, 0]) + build_id.ljust(20, b"\0") + self.pack("II", 5, 2) +
                        path + self.ids(0, time), 2 | 1 << 14)
        else:
            self.record(1, where + path + self.ids(0, time), 2)

    def fork(self, pid, parent, tid, of, time, misc=0):
        self.record(7, self.pack("IIIIQ", pid, parent, tid, of, time) + self.ids(tid, time), misc)

    def sample(self, pid, tid, time, ip, period, chain, number=0, misc=2, more=b"", event=0):
        kind = self.events[event][3]
        parts = ((IDENTIFIER, "Q", number), (IP, "Q", ip), (TID, "II", pid, tid), (TIME, "Q", time), (ID, "Q", number),
                 (PERIOD, "Q", period))
        body = b"".join(self.pack(form, *values) for bit, form, *values in parts if kind & bit)
        if kind & CHAIN:
            body += self.pack(f"Q{len(chain)}Q", len(chain), *chain)
        self.record(9, body + more, misc)

    def bytes(self, records=None):
        """A file: header, events with their ids, records, features."""
        records = self.records if records is None else records
        size = len(self.events) * 128
        entries = ids = b""
        for _, attr, own, _ in self.events:
            entries += attr + self.pack("QQ", 104 + size + len(ids), 8 * len(own))
            ids += self.pack(f"{len(own)}Q", *own)
        at = 104 + len(entries) + len(ids)
        features = dict(self.features)
        features[12] = self.pack("II", len(self.events), 112) + b"".join(
            attr + self.pack("I", len(own)) + self.text(name) + self.pack(f"{len(own)}Q", *own)
            for name, attr, own, _ in self.events)
        places = at + len(records)
        behind = places + 16 * len(features)
        table = contents = b""
        for _, content in sorted(features.items()):
            table += self.pack("QQ", behind + len(contents), len(content))
            contents += content
        bits = self.pack("Q", sum(1 << bit for bit in features)) + bytes(24)
        magic = b"PERFILE2" if self.order == "<" else b"2ELIFREP"
        return (magic + self.pack("QQQQQQQQ", 104, 128, 104, len(entries), at, len(records), 0, 0) + bits + entries + ids +
                records + table + contents)

    def pipe(self):
        """What perf record -o - writes: all of it are records."""
        kept, self.records = self.records, b""
        for name, attr, own, _ in self.events:
            self.record(64, attr + self.pack(f"{len(own)}Q", *own))
            self.record(78, self.pack("QQ", 2, own[0] if own else 0) + name.encode() + b"\0")
        for number, content in self.features.items():
            self.record(80, self.pack("Q", number) + content)
        whole = b"PERFILE2" + self.pack("Q", 16) + self.records + kept
        self.records = kept
        return whole


def made(name, content):
    os.makedirs(os.path.dirname(name) or ".", exist_ok=True)
    with open(name, "wb") as out:
        out.write(content)
    return name


def imported(path, *options):
    return run(fathom, "import", *options, "-o", "out.data", path)


def rows(page="top_procs/1-5000/time/both/oa"):
    told = run(fathom, "report", "--json", page, "out.data")
    return [row["cells"] for row in json.loads(told.stdout)["tables"][0]["rows"]] if told.returncode == 0 else []


def function_of(cells):
    return cells["proc"].split(":", 1)[-1]


def self_of(column="time_self_seconds", scale=1e9):
    return {function_of(cells): round(cells[column] * scale) for cells in rows() if cells[column]}


def stacks():
    """{stack, the thread first: value}"""
    told = run(fathom, "export", "--to=folded", "-o", "-", "out.data")
    return {line.rsplit(" ", 1)[0]: int(line.rsplit(" ", 1)[1]) for line in told.stdout.splitlines()}


def agrees(name):
    told = run(fathom, "report", "--json", "menu", "out.data")
    facts = json.loads(told.stdout)["facts"] if told.returncode == 0 else {}
    check(f"{name}: all figures agree", facts.get("invariants_hold") is True, told)
    return facts


# --- made here ---

def simple(order="<"):
    """Two threads of one process, which forks; the second begins another program. The records of two
    processors stand one behind the other, so not in the order of time."""
    file = File(order)
    file.event("cpu-clock")
    file.features[3] = file.text("elsewhere")
    file.map(-1, 0xffffffff81000000, 0x1000000, "[kernel.kallsyms]_text", 0xffffffff81000000)
    file.map(-1, 0xffffffffa0000000, 0x10000, "/lib/modules/1/kernel/disk.ko")
    file.name(10, "first")
    file.map(10, 0x400000, 0x1000, "/nowhere/first")
    file.map(10, 0x7f0000000000, 0x10000, "/nowhere/lib.so", 0x2000)
    file.fork(10, 10, 11, 10, 5)
    file.sample(10, 10, 100, 0x400010, 1000, [USER_MARK, 0x400010, 0x7f0000000100, 0x400020])
    file.sample(10, 11, 300, 0xffffffff81000050, 200,
                [KERNEL_MARK, 0xffffffff81000050, 0xffffffffa0000010, USER_MARK, 0x7f0000000200, 0x400030], misc=1)
    file.sample(10, 10, 900, 0x400010, 7, [USER_MARK, 0x400010])
    # The other processor.
    file.fork(20, 10, 20, 10, 400)
    file.sample(20, 20, 500, 0x7f0000000001, 30, [USER_MARK, 0x7f0000000001])
    file.name(20, "second one", exec_at=600)
    file.sample(20, 20, 650, 0x400010, 4, [USER_MARK, 0x400010])
    file.map(20, 0x400000, 0x1000, "/nowhere/second", time=700)
    file.sample(20, 20, 800, 0x400010, 60, [USER_MARK, 0x400010])
    return file


SIMPLE = {"first;[first];[lib.so];[first]": 1000, "first;[first];[lib.so];[disk.ko];[kernel]": 200, "first;[first]": 7,
          "first;[lib.so]": 30, "second one;[unknown]": 4, "second one;[second]": 60}


def test_simple():
    for order, name in (("<", "little endian"), (">", "big endian")):
        told = imported(made("a.data", simple(order).bytes()))
        found = stacks()
        check(f"{name}: stacks by thread, at the time of each sample", told.returncode == 0 and found == SIMPLE, (told, found))
        agrees(name)
        told = imported(made("a.data", simple(order).pipe().replace(b"PERFILE2", b"PERFILE2" if order == "<" else b"2ELIFREP", 1)))
        check(f"{name}, piped", told.returncode == 0 and stacks() == SIMPLE, (told, stacks()))
    told = imported(made("a.data", simple().bytes()))
    check("what is not known by name is said", "not known by name" in told.stderr and "the kernel" in told.stderr, told)
    facts = agrees("again")
    check("samples of several processes: the program is named after the file", facts["program_name"] == "a.data", facts)


def test_events():
    file = File()
    kind = USUAL & ~CHAIN | IDENTIFIER
    file.event("cycles:u", 0, 0, kind, (1, 2))
    file.event("page-faults", 1, 2, kind, (3,))
    file.event("never", 1, 9, kind, (4,))
    file.name(5, "prog")
    file.map(5, 0x1000, 0x1000, "/nowhere/x")
    for number, period in ((1, 100), (2, 20), (3, 1), (1, 3), (77, 5), (0, 4)):
        file.sample(5, 5, number, 0x1010, period, [], number)
    file.record(13, file.pack("Q", 9) + file.ids(5, 50))
    file.record(5, file.pack("QQQ", 1, 2, 3) + file.ids(5, 50))
    told = imported(made("a.data", file.bytes()))
    found = {function_of(cells): cells for cells in rows()}
    cells = found.get("[x]", {})
    check("each event is a measure, the one with most samples first", told.returncode == 0 and
          cells.get("time_self_ticks") == 127 and cells.get("page_faults_self_page_faults") == 1 and
          not any("never" in name for name in cells), (told, cells))
    for said in ("lost samples: 9 (69.2 %)", "belong to no event, left out: 1", "throttled sampling: 1",
                 "call chains were not recorded"):
        check(f"it says: {said}", said in told.stderr, told)
    facts = agrees("events")
    check("samples of one process: its program", facts.get("program_name") == "prog", facts)
    fixed = File()
    fixed.event("instructions", 0, 1, IP | TID | TIME, period=5000)
    fixed.sample(1, 1, 1, 0x10, 0, [])
    fixed.sample(1, 1, 2, 0x10, 0, [])
    told = imported(made("a.data", fixed.bytes()))
    for kind, times, warns in ((IP | TID | TIME, [9] * 10, True), (IP | TID | TIME, [9] * 10 + [8], False),
                               (IP | TID, [0] * 10, False)):
        same = File()
        same.event("instructions", 0, 1, kind, period=5000)
        for time in times:
            same.sample(1, 1, time, 0x10, 0, [])
        told = imported(made("same.data", same.bytes()))
        check(f"one time of all samples: {warns}", told.returncode == 0 and
              ("warning: all 10 samples have one time" in told.stderr) is warns, told)
    told = imported(os.path.join(os.getcwd(), "a.data"))
    check("a fixed period", self_of("time_self_ticks", 1) == {"[unknown]": 10000}, (told, rows()))
    counted = File()
    counted.event("instructions", 0, 1, IP | TID | TIME)
    counted.sample(1, 1, 1, 0x10, 0, [])
    told = imported(made("a.data", counted.bytes()))
    check("without a period samples are counted", self_of("time_self_ticks", 1) == {"[unknown]": 1}, (told, rows()))


def test_compressed():
    if not shutil.which("zstd"):
        skip("records that zstd compressed", "there is no zstd to make a file with")
        return
    for kind in (81, 83):
        file = simple()
        packed = subprocess.run(["zstd", "-c"], input=file.records, capture_output=True, check=True).stdout
        file.records = b""
        for part in packed[:70], packed[70:]:
            if kind == 83:
                file.record(kind, file.pack("Q", len(part)) + part)
            else: # its size is that of its bytes
                file.records += file.pack("IHH", kind, 0, 8 + len(part)) + part
        told = imported(made("a.data", file.bytes()))
        check(f"records that zstd compressed ({kind})", told.returncode == 0 and stacks() == SIMPLE, (told, stacks()))
    file = simple()
    many = (file.pack("IHH", 14, 0, 0xfff8) + bytes(0xfff0)) * 1100 # switches between threads, which are skipped
    packed = subprocess.run(["zstd", "-c"], input=many, capture_output=True, check=True).stdout
    file.records += file.pack("IHH", 81, 0, 8 + len(packed)) + packed
    told = imported(made("a.data", file.bytes()))
    check("what is huge when unpacked is refused", told.returncode == 1 and "unpacked it has more than" in told.stderr and
          len(told.stderr.splitlines()) == 1, told)


def test_damaged():
    whole = simple().bytes()
    at = whole.index(struct.pack("<QQ", 500, 30)) - 24 # of the sample at 500
    told = imported(made("a.data", whole[:at + 20]))
    check("cut off within a record: those before it", told.returncode == 0 and
          sum(stacks().values()) == 1207 and f"the file ends within a record at offset {at}" in told.stderr, told)
    killed = whole[:48] + bytes(8) + whole[56:104 + 128] + simple().records
    told = imported(made("a.data", killed))
    check("the recorder was killed", told.returncode == 0 and stacks() == SIMPLE and "killed" in told.stderr, told)
    told = imported(made("a.data", whole[:at + 6] + b"\0\0" + whole[at + 8:]))
    check("a record without size", told.returncode == 0 and sum(stacks().values()) == 1207 and
          f"less than 8 bytes stands at offset {at}" in told.stderr, told)
    empty = File()
    empty.event("cpu-clock")
    piped = simple().pipe() + b"[ perf record: Captured and wrote 1 MB ]\n"
    told = imported(made("a.data", piped))
    check("perf's words behind a pipe", told.returncode == 0 and stacks() == SIMPLE and "text of perf" in told.stderr, told)
    for content, said in ((whole[:50], "a.data: offset 50: the file ends within its header"),
                          (b"PERFILE2" + bytes(100), "a.data: offset 16: expected events"),
                          (whole[:110], "a.data: offset 104: the file ends before its events"),
                          (empty.bytes(), "a.data: no sample is in it"),
                          (b"PERFILE2" + struct.pack("<QQ", 16, 0), "a.data: no sample is in it: a record of less than 8")):
        told = imported(made("a.data", content))
        check(f"refused: {said}", told.returncode == 1 and said in told.stderr and len(told.stderr.splitlines()) == 1, told)


# --- names from a program ---

SOURCE = """
static inline __attribute__((always_inline)) int inner(volatile int *x)
{
    return *x + 1;
}
__attribute__((noinline)) int leaf(volatile int *x)
{
    int found = inner(x);
    return found * 2;
}
__attribute__((noinline)) int middle(volatile int *x)
{
    int found = leaf(x);
    return found + 1;
}
int main(void)
{
    volatile int x = 1;
    return middle(&x) == 0;
}
"""


def segments(elf):
    """[(offset, address, size)] of what is loaded"""
    at, size, count = struct.unpack_from("<Q", elf, 32)[0], *struct.unpack_from("<HH", elf, 54)
    headers = (struct.unpack_from("<IIQQQQQQ", elf, at + i * size) for i in range(count))
    return [(offset, address, filled) for kind, _, offset, address, _, filled, _, _ in headers if kind == 1]


def offset_of(elf, address):
    return next(address - at + offset for offset, at, size in segments(elf) if at <= address < at + size)


def test_names():
    compiler = shutil.which("gcc") or shutil.which("cc")
    if not compiler or os.uname().machine != "x86_64" or not shutil.which("objdump"):
        skip("names from a program", "there is no compiler for x86-64 with objdump")
        return
    made("prog.c", SOURCE.encode())
    subprocess.run([compiler, "-g", "-O1", "-fcf-protection=none", "-Wl,--build-id=sha1", "-o", "prog", "prog.c"], check=True)
    with open("prog", "rb") as program:
        elf = program.read()
    code = subprocess.run(["objdump", "-d", "--no-show-raw-insn", "-l", "prog"], capture_output=True, text=True, check=True).stdout
    starts = {name: int(at, 16) for at, name in re.findall(r"^([0-9a-f]+) <(\w+)>:", code, re.M)}

    def behind_call(of, callee):
        body = code[code.index(f"<{of}>:"):]
        found = re.search(rf"call +[0-9a-f]+ <{callee}>\n(?:[^\n]*\n)*?\s*([0-9a-f]+):", body)
        return int(found.group(1), 16)
    note = re.search(r"Build ID: (\w+)", subprocess.run(["readelf", "-n", "prog"], capture_output=True, text=True,
                                                        check=True).stdout)
    build_id, base = bytes.fromhex(note.group(1)), 0x555500000000

    def where(address):
        return base + offset_of(elf, address)
    path = os.path.abspath("prog")
    inlined = where(starts["leaf"]) # the first instruction reads *x, which is inner's
    chain = [USER_MARK, inlined, where(behind_call("middle", "leaf")), where(behind_call("main", "middle"))]

    def file(own_id, recorded=path, registers=0, stack=0):
        out = File()
        kind = USUAL | (REGISTERS | STACK if stack else 0)
        out.event("cpu-clock", sample_type=kind, registers=registers, stack=stack)
        out.name(5, "prog")
        out.map(5, base, 0x10000, recorded, 0, own_id)
        return out
    named = file(build_id)
    named.sample(5, 5, 1, inlined, 100, chain)
    told = imported(made("a.data", named.bytes()))
    check("functions by debug information, with what is inlined", told.returncode == 0 and
          list(stacks()) == ["prog;main;middle;leaf;inner"], (told, stacks()))
    text = run(fathom, "report", "tree/time/down/9/all", "out.data").stdout
    check("lines of calls", "prog.c:13" in text and "prog.c:19" in text and "prog.c:8" in text, text)
    other = file(bytes(20))
    other.sample(5, 5, 1, inlined, 100, chain)
    told = imported(made("a.data", other.bytes()))
    check("not of another build", "another build is at the place of" in told.stderr and
          list(stacks()) == ["prog;[prog];[prog];[prog]"], (told, stacks()))
    moved = file(build_id, "/nowhere/prog")
    moved.sample(5, 5, 1, inlined, 100, chain)
    os.makedirs("root/nowhere")
    shutil.copy("prog", "root/nowhere/prog")
    told = imported(made("a.data", moved.bytes()), "--symfs=root")
    check("in another folder", list(stacks()) == ["prog;main;middle;leaf;inner"], (told, stacks()))
    shutil.copy("prog", "stripped")
    subprocess.run(["strip", "-g", "stripped"], check=True)
    os.replace("stripped", "root/nowhere/prog")
    told = imported("a.data", "--symfs=root")
    check("by symbols alone", list(stacks()) == ["prog;main;middle;leaf"], (told, stacks()))

    # The copy of a stack at leaf's first instruction: where it returns to in middle, whose frame has
    # words of its own, and so on.
    registers = 0xff0fff
    copied = file(build_id, registers=registers, stack=64)
    frames = subprocess.run(["readelf", "--debug-dump=frames-interp", "prog"], capture_output=True, text=True, check=True).stdout

    def depth(function, address):
        """bytes from the stack pointer to the return address's end"""
        block = re.search(rf"pc={starts[function]:016x}\.\.[^\n]*\n[^\n]*\n((?:[0-9a-f]{{16}} [^\n]*\n)+)", frames)
        if block is None: # nothing is pushed in it
            return 8
        rows_of = [(int(line.split()[0], 16), line.split()[1]) for line in block.group(1).splitlines()]
        rule = [rule for at, rule in rows_of if at <= address][-1]
        return int(rule.removeprefix("rsp+"))
    in_middle, in_main = behind_call("middle", "leaf"), behind_call("main", "middle")
    words = [where(in_middle)] + [0] * (depth("middle", in_middle) // 8 - 1) + [where(in_main)]
    words += [0] * (depth("main", in_main) // 8 - 1) + [0]
    values = {7: 0x7ffd0000, 8: inlined} # sp, ip
    numbers = [bit for bit in range(64) if registers >> bit & 1]
    more = struct.pack(f"<Q{len(numbers)}Q", 2, *(values.get(bit, 0) for bit in numbers))
    data = struct.pack(f"<{len(words)}Q", *words).ljust(128, b"\0")
    more += struct.pack("<Q", 128) + data + struct.pack("<Q", 8 * len(words))
    copied.sample(5, 5, 1, inlined, 100, [USER_MARK, inlined], more=more)
    told = imported(made("a.data", copied.bytes()))
    check("a copy of the stack is unwound", told.returncode == 0 and list(stacks()) == ["prog;main;middle;leaf;inner"], (told, stacks()))
    short = file(build_id, registers=registers, stack=64)
    more = more[:8 + 8 * len(numbers)] + struct.pack("<Q", 8) + data[:8] + struct.pack("<Q", 8)
    short.sample(5, 5, 1, inlined, 100, [USER_MARK, inlined], more=more)
    told = imported(made("a.data", short.bytes()))
    check("one that is too short is cut, and says so", list(stacks()) == ["prog;middle;leaf;inner"] and
          "100 % of the stacks end before a thread's begin" in told.stderr, (told, stacks()))


def test_run_time():
    """Code that a program made has names in perf-PID.map; of a call's return address the call counts."""
    file = File()
    file.event("cpu-clock")
    file.features[3] = file.text("elsewhere")
    file.name(31, "java")
    file.map(31, 0x400000, 0x1000, "/nowhere/java")
    file.map(31, 0x7f0000000000, 0x10000, "//anon")
    file.sample(31, 31, 100, 0x7f0000000010, 5, [USER_MARK, 0x7f0000000010, 0x7f0000000200, 0x400030])
    file.sample(31, 31, 200, 0x7f0000000310, 3, [USER_MARK, 0x7f0000000310, 0x7f0000000101, 0x400030])
    file.fork(32, 31, 32, 31, 300)
    file.sample(32, 32, 400, 0x7f0000000010, 2, [USER_MARK, 0x7f0000000010])
    content = file.bytes()
    told = imported(made("run.data", content))
    check("without perf-PID.map code made at run time is one", stacks() ==
          {"java;[java];[anon];[anon]": 8, "java;[anon]": 2}, (told, stacks()))
    made("perf-31.map", b"7f0000000000 100 Lcom/example/Old;::f\n"
         b"7f0000000000 100 Lcom/example/A;::f\n0x7f0000000100 0x100 Interpreter loop\nwords\n7f000000g000 1 bad\n\n")
    told = imported("run.data")
    check("perf-PID.map beside the file names it, the later line for the earlier", told.returncode == 0 and stacks() ==
          {"java;[java];Interpreter loop;Lcom/example/A:::f": 5, "java;[java];Interpreter loop;[anon]": 3, "java;[anon]": 2},
          (told, stacks()))
    agrees("code made at run time")
    os.makedirs("root/tmp")
    os.rename("perf-31.map", "root/tmp/perf-31.map")
    told = imported("run.data", "--symfs=root")
    check("so does the one below --symfs", "Interpreter loop" in str(stacks()), (told, stacks()))
    told = imported("run.data")
    check("one that lies elsewhere does not", "Interpreter loop" not in str(stacks()), (told, stacks()))
    text = ("java 31 10.5: 7 cycles:\n\t7f0000000010 [unknown] (/tmp/perf-31.map)\n\t7f0000000100 [unknown] "
            "(/tmp/perf-31.map)\n\t400030 main (/x)\n\njava 31 10.6: 2 cycles:\n\t7f0000000100 known (/tmp/perf-31.map)\n\n")
    made("script/run.txt", text.encode())
    told = imported("script/run.txt")
    check("perf script: without it, too, it is one", stacks() == {"java;main;[unknown];[unknown]": 7, "java;known": 2},
          (told, stacks()))
    os.rename("root/tmp/perf-31.map", "script/perf-31.map")
    told = imported("script/run.txt")
    check("perf script: named by the one beside the text", told.returncode == 0 and stacks() ==
          {"java;main;Lcom/example/A:::f": 7, "java;known": 2},
          (told, stacks()))


# --- files of others ---

def by_file():
    """{file of the program: own value of the first event}, whether its functions have names or not"""
    told = json.loads(run(fathom, "dump", "--json", "out.data").stdout)
    statics = {ps["id"]: (ps["decl_module"], ps["uq_refined_id"]) for ps in told["ps"]}
    dynamics = {pd["id"]: pd["ps"] for pd in told["pd"]}
    first = list(told["csd"][0])[list(told["csd"][0]).index("excps") + 1]
    found = collections.Counter()
    for call in told["csd"]:
        module, name = statics[dynamics[call["callee"]]]
        key = "[kernel.kallsyms]" if name == "[kernel]" or module == "[kernel.kallsyms]" else \
            name if name[:1] == "[" else f"[{os.path.basename(module)}]"
        found[key] += call[first]
    return found


def test_samples():
    paths = sorted(glob.glob(os.path.join(SAMPLES, "*.expected.json")))
    if not paths:
        skip("files of others", "FATHOM_SAMPLE_DATA has no profiles")
    for path in paths:
        with open(path, encoding="utf-8") as file:
            expected = json.load(file)
        name = os.path.basename(path)[:-len(".expected.json")]
        told = imported(path[:-len(".expected.json")])
        if expected["verdict"] != "open":
            check(f"{name} is refused", told.returncode == 1 and len(told.stderr.splitlines()) == 1, told)
            continue
        check(f"{name} is read", told.returncode == 0, told)
        agrees(name)
        found = rows()
        totals = []
        for column in (column for column in (found[0] if found else {}) if "_self_" in column and "percent" not in column):
            totals.append(round(sum(cells[column] or 0 for cells in found) * (1e9 if column.endswith("seconds") else 1)))
        wanted = [measure["total"] for measure in expected["measures"] if measure["total"] > 0]
        check(f"{name}: totals of all events", sorted(totals) == sorted(wanted), (totals, wanted))
        files = by_file()
        largest = expected["largest_self_by_dso"][expected["main_measure"]]
        wanted = collections.Counter()
        for row in largest: # the kernel is one, be its addresses within its mapping or not
            base = os.path.basename(row["name"])
            wanted["[kernel.kallsyms]" if base == "[kernel]" else base if base[:1] == "[" else f"[{base}]"] += row["value"]
        others = expected["measures"][0]["total"] - sum(wanted.values())
        for file, value in wanted.items():
            more = files[file] - value
            check(f"{name}: {file}", more == 0 or ("kernel" in file and 0 < more <= others), (value, files))
        threads = collections.Counter()
        for stack, value in stacks().items():
            threads[stack.split(";")[0]] += value
        for row in expected["by_thread"]:
            thread = "swapper" if row["name"] == ":0" else row["name"]
            check(f"{name}: thread {thread}", threads[thread] == row["value"], (row, threads))


with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    test_simple()
    test_events()
    test_compressed()
    test_damaged()
    test_names()
    test_run_time()
    test_samples()
    os.chdir("/")
end()

# SPDX-License-Identifier: Apache-2.0
"""Files of other tools' formats, of made-up stacks of functions 0, 1, 2, ...: each writer takes an open binary file, the
stacks (the outermost function first) in an order without end, and a size in bytes."""
import itertools
import struct

BASE = 0x401000
FUNCTIONS = 2000


def name(function):
    return f"function_number_{function}"


def full(out, size):
    return out.tell() >= size


# --- text ---

def folded(out, stacks, size):
    while not full(out, size):
        out.write((";".join(map(name, next(stacks))) + " 7\n").encode())


def perf(out, stacks, size):
    for number in itertools.count():
        if full(out, size):
            return
        lines = "".join(f"\t{BASE + 16 * f:16x} {name(f)}+0x10 (/usr/bin/program)\n" for f in reversed(next(stacks)))
        out.write(f"program 4711/4711 4003.{number:06}:   10101010 cpu-clock: \n{lines}\n".encode())


def callgrind(out, _stacks, size):
    out.write(b"# callgrind format\nevents: Ir Dr\n")
    for i in itertools.count():
        function, callee = i % 50000, i * 7919 % 50000
        out.write(f"fl=({function % 500}) file_{function % 500}.c\nfn=({function}) {name(function)}\n"
                  f"{i % 900} 120 30\n+3 12\ncfn=({callee}) {name(callee)}\ncalls=3 7\n* 360 90\n"
                  f"+1 5 1\n+2 7 2\n-4 15 3\n* 44\n+6 1 1\n+9 812 33\n-2 5 1\n* 7 1\n+3 99\n{'+1 5 1' + chr(10)}".encode())
        if full(out, size):
            return


def addresses(out, stacks, size):
    out.write(b"heap profile: 5: 500 [10: 1000] @ heapprofile\n")
    while not full(out, size):
        out.write(f"1: 100 [2: 200] @ {' '.join(f'0x{BASE + 16 * f:x}' for f in reversed(next(stacks)))}\n".encode())
    out.write(b"MAPPED_LIBRARIES:\n00400000-00500000 r-xp 00000000 00:00 0 /no/such/program\n")


class Trie:
    """Numbers of contexts: (parent's number, function) -> number, from 1."""

    def __init__(self):
        self.numbers = {}

    def add(self, stack):
        """(number, contexts that are new as (number, parent, function))"""
        parent, new = 0, []
        for function in stack:
            key = parent, function
            if key not in self.numbers:
                self.numbers[key] = len(self.numbers) + 1
                new.append((self.numbers[key], parent, function))
            parent = self.numbers[key]
        return parent, new


def heaptrack(out, stacks, size):
    out.write(b"v 10400 2\nX program\n")
    out.writelines(f"s {name(f)}\n".encode() for f in range(FUNCTIONS))
    out.writelines(f"i {BASE + 16 * f:x} 1 {f + 1:x}\n".encode() for f in range(FUNCTIONS))
    trie, kinds = Trie(), {}
    while not full(out, size):
        stack = next(stacks)
        trace, new = trie.add(stack)
        out.writelines(f"t {f + 1:x} {parent:x}\n".encode() for _, parent, f in new)
        if trace not in kinds:
            kinds[trace] = len(kinds)
            out.write(f"a 40 {trace:x}\n".encode())
        out.write(f"+ {kinds[trace]:x}\n+ {kinds[trace]:x}\n- {kinds[trace]:x}\nc 1\n".encode())


# --- JSON ---

def joined(out, items):
    for at, item in enumerate(items):
        out.write((("," if at > 0 else "") + item).encode())


def speedscope(out, stacks, size):
    out.write(('{"$schema":"https://www.speedscope.app/file-format-schema.json","shared":{"frames":[' +
               ",".join(f'{{"name":"{name(f)}"}}' for f in range(FUNCTIONS)) +
               ']},"profiles":[{"type":"sampled","name":"p","unit":"milliseconds","startValue":0,"endValue":1,"samples":[').encode())
    count = 0
    while not full(out, size):
        out.write((("," if count > 0 else "") + f"[{','.join(map(str, next(stacks)))}]").encode())
        count += 1
    out.write(('],"weights":[' + ",".join(["1.5"] * count) + "]}]}").encode())


def chrome(out, stacks, size):
    out.write(b'{"traceEvents":[')
    now = 0
    while not full(out, size):
        stack = next(stacks)
        lines = ",\n".join(f'{{"ph":"X","pid":1,"tid":1,"ts":{now + at}.5,"dur":{2 * (len(stack) - at)}.25,'
                           f'"cat":"c","name":"{name(f)}","args":{{"n":{at}}}}}' for at, f in enumerate(stack))
        out.write((",\n" if now > 0 else "").encode() + lines.encode())
        now += 3 * len(stack)
    out.write(b"]}")


def cpuprofile(out, stacks, size):
    trie, nodes, samples = Trie(), {0: ("(root)", [])}, []
    for stack in itertools.islice(stacks, 2000):
        leaf, new = trie.add(stack)
        for number, parent, function in new:
            nodes[number] = name(function), []
            nodes[parent][1].append(number + 1)
        samples.append(leaf + 1)
    out.write(b'{"nodes":[')
    joined(out, (f'{{"id":{number + 1},"callFrame":{{"functionName":"{called}","scriptId":"1","url":"file:///x/main.js",'
                 f'"lineNumber":{number},"columnNumber":2}},"hitCount":1,"children":{below}}}'
                 for number, (called, below) in nodes.items()))
    count = max(1, (size - out.tell()) // 12)
    out.write(b'],"startTime":1000,"endTime":900000000,"samples":[')
    joined(out, (str(samples[at % len(samples)]) for at in range(count)))
    out.write(b'],"timeDeltas":[')
    joined(out, ("1001" for _ in range(count)))
    out.write(b"]}")


def firefox(out, stacks, size):
    trie, contexts, samples = Trie(), [], []
    for stack in itertools.islice(stacks, 2000):
        leaf, new = trie.add(stack)
        contexts += new
        samples.append(leaf - 1)
    out.write(b'{"meta":{"preprocessedProfileVersion":41,"interval":1,"version":27},"libs":[],"threads":[{"name":"main","pid":1,"tid":1,'
              b'"stackTable":{"length":%d,"frame":[' % len(contexts))
    joined(out, (str(f) for _, _, f in contexts))
    out.write(b'],"prefix":[')
    joined(out, (str(parent - 1) if parent else "null" for _, parent, _ in contexts))
    out.write((f']}},"frameTable":{{"length":{FUNCTIONS},"func":[' + ",".join(map(str, range(FUNCTIONS))) + '],"address":[' + ",".join(["-1"] * FUNCTIONS) +
               '],"line":[' + ",".join(["null"] * FUNCTIONS) + f']}},"funcTable":{{"length":{FUNCTIONS},"name":[' + ",".join(map(str, range(FUNCTIONS))) +
               '],"resource":[' + ",".join(["-1"] * FUNCTIONS) + '],"fileName":[' + ",".join(["null"] * FUNCTIONS) + '],"lineNumber":[' +
               ",".join(["null"] * FUNCTIONS) + ']},"stringArray":[' + ",".join(f'"{name(f)}"' for f in range(FUNCTIONS)) + "],").encode())
    count = max(1, (size - out.tell()) // 14)
    out.write(b'"samples":{"length":%d,"stack":[' % count)
    joined(out, (str(samples[at % len(samples)]) for at in range(count)))
    out.write(b'],"time":[')
    joined(out, (str(at) for at in range(count)))
    out.write(b"]}}]}")


def dhat(out, stacks, size):
    out.write(b'{"dhatFileVersion":2,"mode":"heap","verb":"Allocated","bklt":true,"bkacc":false,"tu":"instrs","Mtu":"Minstr",'
              b'"cmd":"program","pid":1,"te":9,"tg":8,"pps":[')
    count = 0
    while not full(out, size):
        frames = ",".join(str(f + 1) for f in reversed(next(stacks)))
        out.write((("," if count > 0 else "") + f'{{"tb":64,"tbk":1,"tl":5,"mb":64,"mbk":1,"gb":64,"gbk":1,"eb":0,"ebk":0,'
                   f'"fs":[{frames}]}}\n').encode())
        count += 1
    out.write(('],"ftbl":["[root]",' + ",".join(f'"0x{BASE + 16 * f:X}: {name(f)} (main.c:{f + 1})"' for f in range(FUNCTIONS)) + "]}").encode())


# --- binary ---

def varint(value):
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    out.append(value)
    return bytes(out)


def number(field, value):
    return varint(field << 3) + varint(value)


def message(field, content):
    return varint(field << 3 | 2) + varint(len(content)) + content


def pprof(out, stacks, size):
    out.write(message(1, number(1, FUNCTIONS + 1) + number(2, FUNCTIONS + 2)))
    for f in range(FUNCTIONS):
        out.write(message(4, number(1, f + 1) + message(4, number(1, f + 1) + number(2, f + 5))))
        out.write(message(5, number(1, f + 1) + number(2, f + 1)))
    for text in ("", *map(name, range(FUNCTIONS)), "cpu", "nanoseconds"):
        out.write(message(6, text.encode()))
    while not full(out, size):
        ids = b"".join(varint(f + 1) for f in reversed(next(stacks)))
        out.write(message(2, message(1, ids) + message(2, varint(10000000))))


def otlp(out, stacks, size):
    texts = ["", "cpu", "nanoseconds", *map(name, range(FUNCTIONS))]
    kept = [next(stacks) for _ in range(20000)]
    table = message(1, b"")  # the mapping of number 0
    table += message(2, b"") + b"".join(message(2, message(3, number(1, f + 1))) for f in range(FUNCTIONS))
    table += message(3, b"") + b"".join(message(3, number(1, f + 3)) for f in range(FUNCTIONS))
    table += b"".join(message(5, text.encode()) for text in texts) + message(7, b"")
    table += b"".join(message(7, message(1, b"".join(varint(f + 1) for f in reversed(stack)))) for stack in kept)
    samples = bytearray()
    for at in itertools.count():
        if len(samples) + len(table) >= size:
            break
        samples += message(2, number(1, at % len(kept) + 1) + message(4, varint(10000000)))
    profile = message(1, number(1, 1) + number(2, 2)) + bytes(samples)
    out.write(message(1, message(2, message(2, profile))) + message(2, table))


def perfetto(out, stacks, size):
    out.write(message(1, number(10, 1) + number(13, 1) + message(60, number(1, 7) + message(4, number(1, 5) + number(2, 6))) +
                      message(12, b"".join(message(2, number(1, f + 1) + message(2, name(f).encode())) for f in range(FUNCTIONS)))))
    now = 1000
    while not full(out, size):
        stack = next(stacks)
        for f in stack:
            now += 1
            out.write(message(1, number(8, now) + number(10, 1) + number(13, 2) + message(11, number(9, 1) + number(11, 7) + number(10, f + 1))))
        for _ in stack:
            now += 1
            out.write(message(1, number(8, now) + number(10, 1) + number(13, 2) + message(11, number(9, 2) + number(11, 7))))


def gperftools(out, stacks, size):
    out.write(struct.pack("<5Q", 0, 3, 0, 10000, 0))
    while not full(out, size):
        stack = next(stacks)
        out.write(struct.pack(f"<{2 + len(stack)}Q", 1, len(stack), *(BASE + 16 * f for f in reversed(stack))))
    out.write(struct.pack("<3Q", 0, 1, 0) + b"00400000-00500000 r-xp 00000000 00:00 0 /no/such/program\n")


def perf_data(out, stacks, size):
    attr = struct.pack("<IIQQQQQ", 1, 112, 0, 99, 1 | 2 | 4 | 32 | 256, 0, 1 << 10) + bytes(64)
    head = 104 + len(attr) + 16
    out.write(bytes(head))
    path = b"/no/such/program\0\0\0\0\0\0\0\0"
    out.write(struct.pack("<IHHiIQQQ", 1, 2, 40 + len(path), 31, 31, 0x400000, 0x100000, 0) + path)
    now = 0
    while not full(out, size):
        stack = next(stacks)
        now += 1
        out.write(struct.pack(f"<IHHQIIQQQ{1 + len(stack)}Q", 9, 2, 8 + 8 + 8 + 8 + 8 + 8 + 8 + 8 * len(stack), BASE + 16 * stack[-1], 31, 31, now,
                              10000000, 1 + len(stack), (1 << 64) - 512, *(BASE + 16 * f for f in reversed(stack))))
    end = out.tell()
    out.seek(0)
    out.write(b"PERFILE2" + struct.pack("<8Q", 104, 128, 104, 128, head, end - head, 0, 0) + bytes(32) + attr + bytes(16))
    out.seek(end)


FORMS = {"folded": folded, "perf": perf, "callgrind": callgrind, "addresses": addresses, "heaptrack": heaptrack,
         "speedscope": speedscope, "chrome": chrome, "cpuprofile": cpuprofile, "firefox": firefox, "dhat": dhat,
         "pprof": pprof, "otlp": otlp, "perfetto": perfetto, "gperftools": gperftools, "perf.data": perf_data}

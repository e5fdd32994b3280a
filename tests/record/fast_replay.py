# SPDX-License-Identifier: Apache-2.0
"""The contexts that a program of one thread goes through, from a debugger's account of its steps
(fast_trace.c): what a recording at --grade=fast must say, computed without any hook.

A frame is known by its slot: the address of its return address. It is alive as long as the stack
pointer is not above the slot; a function that begins with the stack pointer on the slot has
replaced it (a tail call). The caller of a function that begins is the innermost frame alive.
Programs that change stacks have them in static arrays of 64 KiB, aligned to that."""
import collections
import os
import struct

import fast_lib as fast
import finish_lib as lib

TRACE = os.environ.get("FAST_TRACE")
STEP = struct.Struct("<3Q")
STATIC = 0x6 << 44  # the program and its data lie below, stacks of the kernel's making above


class Node:
    """A procedure in a context."""

    def __init__(self, name, symbol, parent):
        self.name, self.symbol, self.parent, self.edges = name, symbol, parent, {}

    def path(self):
        names, node = [], self
        while node.parent is not None:
            names.append(node.name)
            node = node.parent
        return "/".join(reversed(names))


class Replay:
    """frames: of each stack, (slot, node). below: the node from which a stack was entered."""

    def __init__(self):
        self.root = Node("", None, None)
        self.frames, self.below, self.now = collections.defaultdict(list), {}, None
        self.calls = collections.Counter()  # by (node of the caller, symbol, return address)
        self.contexts = collections.Counter()
        self.edges = collections.Counter()

    def top(self):
        if self.now is None:
            return self.root
        frames = self.frames[self.now]
        return frames[-1][1] if frames else self.below[self.now]

    def stack_is(self, pointer):
        """Frames that the stack pointer has left are gone."""
        stack = (pointer - 1) >> 16 if pointer < STATIC else "own"
        from_here = self.top()
        frames = self.frames[stack]
        while frames and frames[-1][0] < pointer:
            frames.pop()
        if stack != self.now:
            if not frames:
                self.below[stack] = from_here
            self.now = stack

    def active(self, symbol):
        """A procedure that is active in the context is entered again under the same node."""
        for _, node in reversed(self.frames[self.now]):
            if node.symbol == symbol:
                return node
        node = self.below[self.now]
        while node is not None and node.symbol != symbol:
            node = node.parent
        return node

    def enter(self, symbol, name, pointer, site):
        frames = self.frames[self.now]
        if frames and frames[-1][0] == pointer:
            frames.pop()  # by a tail call; what had its frame before may have come by one, too
        if not frames and self.now not in self.below:
            self.below[self.now] = self.root
        caller = self.top()
        node = caller.edges.get((symbol, site))
        if node is None:
            node = self.active(symbol) or Node(name, symbol, caller)
            caller.edges[symbol, site] = node
        frames.append((pointer, node))
        self.contexts[f"{caller.path()}/{name}".lstrip("/")] += 1
        self.edges[caller.name or None, name] += 1


def functions_of(program):
    """(start, end, symbol) of the program's own functions, as its file has them."""
    found = []
    own = program.functions
    for line in lib.must(["nm", "-S", program.plain[0]], program.folder).stdout.splitlines():
        words = line.split()
        if len(words) == 4 and words[2] in "tTwW" and (
                words[3] in own or words[3].partition(".cold")[0] in own):
            found.append((int(words[0], 16), int(words[0], 16) + int(words[1], 16), words[3]))
    return sorted(found)


def replay(program):
    """None, and why, if the machine does not allow tracing."""
    functions = functions_of(program)
    starts = {start: (symbol, end) for start, end, symbol in functions if ".cold" not in symbol}
    ranges, steps = program.folder / "ranges", program.folder / "steps"
    ranges.write_text("".join(f"{start:x} {end:x} {int('.cold' not in symbol)}\n"
                              for start, end, symbol in functions))
    done = lib.run([TRACE, ranges, steps] + program.plain, program.folder)
    if done.returncode == 125:
        return None, done.stderr.strip()
    if done.returncode != 0:
        raise RuntimeError(f"fast_trace: status {done.returncode}\n{done.stderr}")
    result, before = Replay(), 0
    for at, pointer, word in STEP.iter_unpack(steps.read_bytes()):
        if at in starts:
            symbol, end = starts[at]
            stack_frames = result.frames.get(result.now, [])
            # A loop whose head is the function's first instruction.
            loops = at <= before < end and stack_frames and stack_frames[-1][0] == pointer
            result.stack_is(pointer)
            if not loops:
                result.enter(symbol, fast.plain_name(symbol), pointer, word)
        else:
            result.stack_is(pointer)
        before = at
    return result, done.stdout

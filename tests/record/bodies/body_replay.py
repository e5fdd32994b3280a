# SPDX-License-Identifier: Apache-2.0
"""The contexts that a program of one thread goes through, from a debugger's account of its steps
(body_trace.c): what a recording at the default grade must say, computed without any hook.

A frame is known by its slot: the address of its return address. It is alive as long as the stack
pointer is not above the slot; a function that begins with the stack pointer on the slot has
replaced it (a tail call). The caller of a function that begins is the innermost frame alive.
Programs that change stacks have them in static arrays, all of one size and aligned to it."""
import collections
import os
import struct

import body_lib as body
import record_lib as lib

TRACE = os.environ.get("BODY_TRACE")
STEP = struct.Struct("<3Q")
STATIC = 0x6 << 44  # the program and its data lie below, stacks of the kernel's making above


class Node:
    """A procedure in a context."""

    def __init__(self, name, symbol, parent):
        self.name, self.symbol, self.parent = name, symbol, parent
        self.edges = {}  # (symbol, return address): [node, calls]


class Replay:
    """stack_bytes: of each of the program's arrays for stacks. frames: of each stack, (slot, node, its caller). below: the frame from which a stack was
    entered, as it was."""

    def __init__(self, stack_bytes=1 << 16):
        self.root, self.stack_bytes = Node("", None, None), stack_bytes
        self.frames, self.below, self.now = collections.defaultdict(list), {}, None

    def top(self):
        return self.top_frame()[1]

    def top_frame(self):
        if self.now is None:
            return None, self.root, None
        frames = self.frames[self.now]
        return frames[-1] if frames else self.below[self.now]

    def stack_is(self, pointer, entering=False):
        """Frames that the stack pointer has left are gone. Where another stack is entered by a new
        function, what had its slot was left by siglongjmp."""
        stack = (pointer - 1) // self.stack_bytes if pointer < STATIC else "own"
        from_here = self.top_frame()
        frames = self.frames[stack]
        while frames and frames[-1][0] < pointer + (entering and stack != self.now):
            frames.pop()
        if stack != self.now:
            if not frames:
                self.below[stack] = from_here
            self.now = stack

    def active(self, symbol):
        """A procedure that is active in the context is entered again under the same node. The frame
        from which a stack was entered has its caller, and both the contexts that they are in."""
        for _, node, _ in reversed(self.frames[self.now]):
            if node.symbol == symbol:
                return node
        _, node, above = self.below[self.now]
        while node is not None and node.symbol != symbol:
            node, above = above, above and above.parent
        return node

    def enter(self, symbol, name, pointer, site):
        frames = self.frames[self.now]
        if frames and frames[-1][0] == pointer:
            frames.pop()  # by a tail call; what had its frame before may have come by one, too
        if not frames and self.now not in self.below:
            self.below[self.now] = None, self.root, None
        caller = self.top()
        edge = caller.edges.get((symbol, site))
        if edge is None:
            node = self.active(symbol) or Node(name, symbol, caller)
            edge = caller.edges[symbol, site] = [node, 0]
        edge[1] += 1
        frames.append((pointer, edge[0], caller))

    def contexts(self):
        """Calls by path. A node has the first of its shortest paths, as in finish_dump.c."""
        found, paths, level = collections.Counter(), {self.root: ""}, [self.root]
        while level:
            reached = {}
            for node in level:
                for callee, calls in node.edges.values():
                    path = f"{paths[node]}/{callee.name}"
                    found[path[1:]] += calls
                    if callee not in paths:
                        reached[callee] = min(path, reached.get(callee, path))
            paths.update(reached)
            level = list(reached)
        return dict(found)


def functions_of(program):
    """(start, end, symbol) of the program's own functions, as its file has them."""
    found = []
    own = {body.unsuffixed(symbol) for symbol in program.functions}
    for line in lib.must(["nm", "-S", program.plain[0]], program.folder).stdout.splitlines():
        words = line.split()
        if len(words) == 4 and words[2] in "tTwW" and body.unsuffixed(words[3]) in own:
            found.append((int(words[0], 16), int(words[0], 16) + int(words[1], 16), words[3]))
    return sorted(found)


def replay(program, stack_bytes=1 << 16):
    """None, and why, if the machine does not allow tracing."""
    functions = functions_of(program)
    starts = {start: symbol for start, _, symbol in functions if ".cold" not in symbol}
    ranges, steps = program.folder / "ranges", program.folder / "steps"
    ranges.write_text("".join(f"{start:x} {end:x} {int('.cold' not in symbol)}\n"
                              for start, end, symbol in functions))
    done = lib.run([TRACE, ranges, steps] + program.plain, program.folder)
    if done.returncode == 125:
        return None, done.stderr.strip()
    if done.returncode != 0:
        raise RuntimeError(f"body_trace: status {done.returncode}\n{done.stderr}")
    result = Replay(stack_bytes)
    for at, pointer, word in STEP.iter_unpack(steps.read_bytes()):
        if at in starts:
            symbol = starts[at]
            result.stack_is(pointer, entering=True)
            result.enter(symbol, body.plain_name(symbol), pointer, word)
        else:
            result.stack_is(pointer)
    return result, done.stdout

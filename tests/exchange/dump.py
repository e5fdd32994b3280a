# SPDX-License-Identifier: Apache-2.0
"""What each procedure's own costs are, by `fathom dump`: what other formats are held against."""
import collections
import re

from exchange_lib import must


class Dump:
    """The graph as `fathom dump` prints it: what each procedure's own costs are."""

    def __init__(self, fathom, path, flavour):
        text = must(fathom, "dump", path).stdout
        self.nodes = {}
        for block in text.split("\n\n"):
            head, *lines = block.strip("\n").split("\n")
            found = re.fullmatch(r"(csd|css|pd|ps)(\d+):", head)
            if not found:
                continue
            fields = dict(line.strip().split(" = ", 1) for line in lines
                          if re.match(r"\s*\w+ = .", line))
            self.nodes[head[:-1]] = fields
        self.flavour = flavour
        ticks = int(re.search(r"ticks_per_sec = (\d+)", text)[1])
        words = int(re.search(r"word_size = (\d+)", text)[1])
        space = "bytes" if flavour == "c" else "words"
        self.rules = {"calls": ("calls", 1), "cpu": ("quanta", 10 ** 9 // ticks),
                      "alloc_objects": ("allocs", 1), "alloc_space": (space, words)}

    def name(self, ps):
        # Of C programs the name alone; generated ones have no two alike that matter here.
        return self.nodes[ps]["ps_uq_refined_id" if self.flavour == "c" else "ps_q_refined_id"]

    def own(self, column):
        field, factor = self.rules[column]
        sums = collections.Counter()
        for node, fields in self.nodes.items():
            if node.startswith("csd") and int(fields.get(field, 0)) != 0:
                pd = self.nodes[fields["csd_callee"]]
                ps = "ps" + pd["pd_proc_static"].split()[0]
                sums[self.name(ps)] += int(fields[field]) * factor
        return +sums


def with_plain_names(sums):
    """Where a format tells functions of one name apart by file or number."""
    plain = collections.Counter()
    for name, value in sums.items():
        plain[re.sub(r"(@[^#]*)?(#\d+)?$", "", name)] += value
    return plain

# SPDX-License-Identifier: Apache-2.0
"""A recording's contexts as a graph, and its closure: edges that leave one node for one procedure are
one, and so are the nodes that they lead to. The account of the machine code (body_replay.py) tells
edges apart by addresses and a recording by places of the source; their closures are the same."""
import re

import body_replay
import record_lib as lib

NODE = re.compile(r"(csd|pd|ps|css)(\d+):$")
FIELD = re.compile(r"\t(\w+) = (?:pd)?(.*)")


def of_recording(data, folder):
    """The contexts of the main thread, as `fathom dump` has them."""
    found = {"csd": {}, "pd": {}, "ps": {}, "css": {}}
    fields = {}
    for line in lib.must([lib.FATHOM, "dump", data], folder).stdout.splitlines():
        head, field = NODE.match(line), FIELD.match(line)
        if head:
            fields = found[head[1]].setdefault(head[2], {})
        elif field:
            fields.setdefault(field[1], field[2].strip())
    nodes = {}
    for number, pd in found["pd"].items():
        name = found["ps"][pd["pd_proc_static"].split()[0]]["ps_uq_refined_id"]
        nodes[number] = body_replay.Node(name, None, None)
    for number, csd in found["csd"].items():
        callee = nodes[csd["csd_callee"]]
        nodes[csd["csd_caller"]].edges[callee.name, number] = [callee, int(csd.get("calls", 0))]
    graph = body_replay.Replay()
    graph.root = next(node for node in nodes.values() if node.name == "main thread")
    return graph


def close(graph):
    """In place, since what is merged is the same afterwards."""
    became, alike = {}, []

    def now(node):
        while node in became:
            node = became[node]
        return node

    def add(node, callee, calls):
        edge = node.edges.setdefault(callee.name, [callee, 0])
        edge[1] += calls
        alike.append((edge[0], callee))

    def own_edges(node):
        edges, node.edges = list(node.edges.values()), {}
        return edges

    nodes = [graph.root]
    for node in nodes:
        known = set(nodes)
        nodes += {callee for callee, _ in node.edges.values()} - known
    for node in nodes:
        for callee, calls in own_edges(node):
            add(node, callee, calls)
    while alike:
        one, other = map(now, alike.pop())
        if one is other:
            continue
        became[other] = one
        for callee, calls in own_edges(other):
            add(one, callee, calls)
    for node in nodes:
        for edge in node.edges.values():
            edge[0] = now(edge[0])
    graph.root = now(graph.root)
    return graph

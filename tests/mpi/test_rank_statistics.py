#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Statistics over the ranks in a sum against a slow definition: the least equivalence on the contexts of
all profiles together, what each profile has in a clique of it and below, and whole numbers of any size."""
import collections
import json
import os
import pathlib
import random
import sys
import tempfile

import record_lib as lib
import mpi_lib as mpi

RANKS = 5
MEASURES = ("quanta", "callseqs", "allocs", "bytes", "frees", "freed_bytes", "live_bytes", "usable_bytes")
# Recursions that differ by rank, so that cliques are folded in the sum which no rank has.
PROGRAM = r"""
#include <stdlib.h>
#define NOINLINE __attribute__((noinline))
NOINLINE int leaf(int n) { volatile int s = 0; while (n > 0) s += n--; return s; }
NOINLINE int b(int n, int back);
NOINLINE int c(int n, int back);
NOINLINE int a(int n, int back) { return n <= 0 ? leaf(3) : b(n - 1, back) + leaf(2); }
NOINLINE int b(int n, int back) { return back && n > 0 ? a(n - 1, back) + c(n - 1, back) : leaf(1); }
NOINLINE int c(int n, int back) { return back > 1 && n > 0 ? b(n - 1, back) : leaf(4); }
NOINLINE int only(int n) { char *p = malloc((size_t)n + 1); int s = leaf(p != NULL); free(p); return s; }
NOINLINE int down(int n) { return n == 0 ? leaf(1) : 1 + down(n - 1); }
int main(void)
{
    int rank = atoi(getenv("OMPI_COMM_WORLD_RANK")), sum = 0;
    for (int i = 0; i <= 3 * rank; i++) sum += leaf(i);
    sum += a(5, rank % 3);
    sum += b(4, rank == 2 ? 2 : 0);
    sum += c(3, rank == 4 ? 2 : 1);
    for (int i = 0; i < (rank == 1 ? 50 : 0); i++) sum += only(i); /* the others allocate nothing */
    sum += down(rank * 5);
    return sum == 12345;
}
"""


def dumped(folder, name):
    return json.loads(lib.must([lib.FATHOM, "dump", "--json", name], folder).stdout)


class Graph:
    """Contexts of several dumps: nodes (dump, pd); edges (node, site, node, values)."""

    def __init__(self, dumps):
        self.parent, self.proc, self.edges = {}, {}, []
        self.roots = [(number, dump["root"]) for number, dump in enumerate(dumps)]
        for number, dump in enumerate(dumps):
            names = {ps["id"]: (ps["raw_id"], ps["file"], ps["line"]) for ps in dump["ps"]}
            sites = {css["id"]: (css["line"], css["kind"], css.get("goal_path")) for css in dump["css"]}
            for pd in dump["pd"]:
                self.parent[number, pd["id"]] = (number, pd["id"])
                self.proc[number, pd["id"]] = names[pd["ps"]]
            self.edges += [((number, csd["caller"]), sites[csd["site"]], (number, csd["callee"]),
                            {measure: csd.get(measure, 0) for measure in MEASURES}) for csd in dump["csd"]]

    def find(self, node):
        while self.parent[node] != node:
            node = self.parent[node]
        return node

    def unite(self, one, other):
        one, other = sorted((self.find(one), self.find(other)))
        self.parent[other] = one
        return one != other

    def cliques(self):
        """By class: all classes that it reaches and that reach it."""
        follow = collections.defaultdict(set)
        for caller, _, callee, _ in self.edges:
            follow[self.find(caller)].add(self.find(callee))
        reached = {}
        for node in {self.find(node) for node in self.parent}:
            reached[node], more = {node}, [node]
            while more:
                for other in follow[more.pop()] - reached[node]:
                    reached[node].add(other)
                    more.append(other)
        return {node: frozenset(other for other in reached[node] if node in reached[other])
                for node in reached}

    def close(self):
        for root in self.roots:
            self.unite(self.roots[0], root)
        changed = True
        while changed:
            changed = False
            there = {}
            for caller, site, callee, _ in self.edges:
                key = self.find(caller), site, self.proc[callee]
                changed |= self.unite(there.setdefault(key, callee), callee)
            for clique in set(self.cliques().values()):
                first = {}
                for node in sorted(clique):
                    changed |= self.unite(first.setdefault(self.proc[node], node), node)

    def totals(self, number):
        """What one dump has in each clique and below, by clique."""
        cliques = self.cliques()
        own = collections.defaultdict(collections.Counter)
        below = collections.defaultdict(set)
        for caller, _, callee, values in self.edges:
            one, other = cliques[self.find(caller)], cliques[self.find(callee)]
            if callee[0] == number:
                own[other].update(values)
            if one != other:
                below[one].add(other)

        def total(clique):
            result = collections.Counter(own[clique])
            for other in below[clique]:
                result.update(total(other))
            return result
        return {clique: total(clique) for clique in set(cliques.values())}


def number_of(words):
    return sum(word << 64 * index for index, word in enumerate(words))


def added(totals):
    """Of one rank's files what they have together."""
    result = collections.defaultdict(collections.Counter)
    for total in totals:
        for clique, values in total.items():
            result[clique].update(values)
    return result


def same_statistics(tap, folder, names, result, what):
    """names: of each rank its file, or a list of them."""
    files = [name if isinstance(name, list) else [name] for name in names]
    dumps = [dumped(folder, result)] + [dumped(folder, name) for of_rank in files for name in of_rank]
    graph = Graph(dumps)
    graph.close()
    cliques = graph.cliques()
    totals, number = [], 1
    for of_rank in files:
        totals.append(added([graph.totals(number + i) for i in range(len(of_rank))]))
        number += len(of_rank)
    found = dumps[0]["facts"]["ranks"]
    tap.same(found and found["count"], len(names), f"{what}: statistics over all ranks")
    faults, folded = [], 0
    for context in found["contexts"]:
        clique = cliques[graph.find((0, context["pd"]))]
        folded += len(clique) > 1
        for measure in MEASURES:
            values = [total[clique][measure] for total in totals]
            if measure not in context:
                if any(total[cliques[graph.find(graph.roots[0])]][measure] for total in totals):
                    faults.append((context["pd"], measure, "missing"))
                continue
            of = context[measure]
            expected = (sum(values), sum(value * value for value in values), min(values), max(values),
                        values.index(max(values)), values)
            is_there = (number_of(of["sum"]), number_of(of["squares"]), of["least"], of["greatest"],
                        of["greatest_rank"], of["values"])
            if expected != is_there:
                faults.append((context["pd"], measure, expected, is_there))
    tap.same(faults[:3], [], f"{what}: as by the slow definition")
    tap.same(len(found["contexts"]), len(set(cliques.values())), f"{what}: of every clique")
    tap.check(folded > 1, f"{what}: recursions among them")


def record(folder):
    (folder / "prog.c").write_text(PROGRAM)
    lib.must([lib.FATHOM, "cc", "-O1", "prog.c", "-o", "prog"], folder)
    for rank in range(RANKS):
        lib.must([lib.FATHOM, "record", "-q", "-o", "prof", "--", "./prog"], folder,
                 env={**os.environ, "OMPI_COMM_WORLD_RANK": str(rank), "OMPI_COMM_WORLD_SIZE": str(RANKS)})
    return [f"prof.rank{rank}.data" for rank in range(RANKS)]


def merge(folder, out, *words):
    done = lib.run([lib.FATHOM, "merge", "-o", out, *words], folder)
    return done, (folder / out).read_bytes() if (folder / out).exists() else None


def ranks_of(folder, name):
    return dumped(folder, name)["facts"]["ranks"]


def orders(tap, folder, names):
    _, expected = merge(folder, "all.data", *names)
    rng = random.Random(41)
    for number in range(4):
        done, found = merge(folder, "other.data", *rng.sample(names, len(names)))
        tap.check(done.returncode == 0 and found == expected, f"order {number}: equal bytes", done.stderr)
    _, again = merge(folder, "again.data", "all.data")
    tap.check(again == expected, "a sum alone keeps its statistics")
    merge(folder, "across.data", "--across-builds", "all.data")
    same_statistics(tap, folder, names, "across.data", "a sum alone, across builds")


def left_out(tap, folder, names):
    merge(folder, "two.data", "--no-ranks", *names[:2])
    _, without = merge(folder, "without.data", "--no-ranks", *names)
    done, found = merge(folder, "sums.data", "two.data", *names[2:])
    tap.check(done.returncode == 0 and found == without and "a sum of several ranks is added" in done.stderr,
              "with a sum without statistics there are none, and it says so", done.stderr)
    done, found = merge(folder, "asked.data", "--ranks", "two.data", *names[2:])
    tap.check(done.returncode == 1 and found == without, "which is a failure where they were asked for",
              done.stderr)
    lib.must([lib.FATHOM, "record", "-q", "-o", "more", "--", "./prog"], folder,
             env={**os.environ, "OMPI_COMM_WORLD_RANK": "3", "OMPI_COMM_WORLD_SIZE": str(RANKS)})
    done, _ = merge(folder, "twice.data", *names, "more.rank3.data")
    tap.check(done.returncode == 0 and "rank 3 is in it twice" in done.stderr
              and ranks_of(folder, "twice.data") is None, "a rank of two runs: added up, no statistics",
              done.stderr)
    done, _ = merge(folder, "again.data", "--allow-repeats", *names, names[1])
    tap.check(done.returncode == 0 and "rank 1 is in it twice" in done.stderr, "a rank given twice",
              done.stderr)
    lib.must([lib.FATHOM, "record", "-q", "-o", "eight", "--", "./prog"], folder,
             env={**os.environ, "OMPI_COMM_WORLD_RANK": "7", "OMPI_COMM_WORLD_SIZE": "8"})
    done, _ = merge(folder, "sizes.data", *names, "eight.rank7.data")
    tap.check(done.returncode == 0 and "ranks of 5 and of 8 processes" in done.stderr,
              "ranks of runs of other sizes", done.stderr)


def by_root(found):
    """(sum of calls of the context with most, number of contexts)"""
    return max(number_of(context["callseqs"]["sum"]) for context in found["contexts"]), len(found["contexts"])


def in_levels(tap, folder, names):
    """Sums of sums: equal bytes, also where recursions are folded that no sum below has."""
    (folder / "level").mkdir()
    (folder / "level/prog.c").write_text(PROGRAM.replace("a(5, rank % 3)", "leaf(5 + rank)").replace(
        "b(4, rank == 2 ? 2 : 0)", "down(2 * rank)").replace("c(3, rank == 4 ? 2 : 1)", "leaf(3)"))
    lib.must([lib.FATHOM, "cc", "-O1", "level/prog.c", "-o", "level/prog"], folder)
    for rank in range(RANKS):
        lib.must([lib.FATHOM, "record", "-q", "-o", "level/prof", "--", "level/prog"], folder,
                 env={**os.environ, "OMPI_COMM_WORLD_RANK": str(rank), "OMPI_COMM_WORLD_SIZE": str(RANKS)})
    simple = [f"level/{name}" for name in names]
    for what, files in (("plain", simple), ("with recursions", names)):
        _, expected = merge(folder, "whole.data", *files)
        whole = ranks_of(folder, "whole.data")
        for groups in (((0, 1), (2, 3, 4)), ((0, 2, 4), (1, 3)), ((4,), (0, 3), (1, 2)), ((0, 1, 2, 3), (4,))):
            parts = []
            for number, group in enumerate(groups):
                parts.append(f"group{number}.data")
                merge(folder, parts[-1], *(files[rank] for rank in group))
            done, found = merge(folder, "levels.data", *parts)
            tap.same((done.returncode, done.stderr), (0, ""), f"{what}, groups {groups}: merged")
            tap.check(found == expected, f"{what}, groups {groups}: equal bytes")
            known = ranks_of(folder, "levels.data")
            tap.same(known and known["count"], RANKS, f"{what}, groups {groups}: of all ranks")
            contexts = {context["pd"]: context for context in whole["contexts"]}
            other = [context for context in known["contexts"] if context != contexts[context["pd"]]]
            tap.same(other, [], f"{what}, groups {groups}: of each context what one level says")
            tap.check(by_root(known)[0] == by_root(whole)[0] and by_root(known)[1] * 2 > by_root(whole)[1],
                      f"{what}, groups {groups}: of the root and of most contexts", (by_root(known), by_root(whole)))
    done, _ = merge(folder, "apart.data", "--union", "all.data")
    tap.check(done.returncode == 0 and ranks_of(folder, "apart.data") is None
              and "a sum of several ranks is added" in done.stderr,
              "a sum below a root for each program has other contexts, and no statistics", done.stderr)


def missing(tap, folder, names):
    lib.must([lib.FATHOM, "merge", "--no-ranks", "-o", "all5.data", *names], folder)
    tap.check("missing" not in report(folder, "menu", "all5.data"), "no rank is missing")
    for there, text in (((0, 2, 4), "Ranks 1 and 3 of 5 are missing"), ((1, 4), "Ranks 0, 2 and 3 of 5 are missing"),
                        ((0, 4), "Ranks 1 to 3 of 5 are missing"), ((0, 1, 2, 4), "Rank 3 of 5 is missing")):
        done, _ = merge(folder, "some.data", *(names[rank] for rank in there))
        tap.check(text.lower() in done.stderr and done.returncode == 0, f"merging says it: {text}", done.stderr)
        menu, page = report(folder, "menu", "some.data"), report(folder, "ranks/calls/all", "some.data")
        tap.check(text in menu and text in page, f"and so do the pages: {text}", f"{menu[:1500]} {page}")
        facts = json.loads(report(folder, "menu", "some.data", "--json"))["facts"]
        tap.same((facts["missing_rank_count"], facts["missing_ranks"]),
                 (RANKS - len(there), text.split(" ", 1)[1].split(" of ")[0]), "as JSON")
    done, _ = merge(folder, "one.data", names[1])
    tap.check("missing" not in done.stderr + report(folder, "menu", "one.data"), "of one rank alone none is missing")


def what_is_not_kept(tap, folder):
    """A measure that is asked for is shown, or said not to be there."""
    for measure, text in (("live", "live at the end"), ("waiting", "waiting")):
        page = report(folder, f"ranks/{measure}/all")
        whole = json.loads(report(folder, f"ranks/{measure}/all", "all.data", "--json"))
        tables = [table["name"] for table in whole["tables"]]
        tap.check(text in page.lower() and "by calls" not in page and
                  ("no rank has any" in page.lower() or "was not recorded" in page or "ranks" in tables),
                  f"ranks/{measure} is not by calls", page)
    tap.check("no rank has anything of this measure" in report(folder, "ranks/live/all"), "what is 0 is said to be")


def options(tap, folder, names):
    done, _ = merge(folder, "both.data", "--ranks", "--no-ranks", *names)
    tap.check(done.returncode == 2 and "--ranks and --no-ranks" in done.stderr, "not both", done.stderr)
    whole = (folder / "all.data").read_bytes()
    with open(folder / "piped", "wb") as out:
        lib.subprocess.run([lib.FATHOM, "merge", "-o", "-", *names], cwd=folder, stdout=out, check=True)
    tap.check((folder / "piped").read_bytes() == whole and not (folder / "-").exists(), "- is standard output")
    done, _ = merge(folder, "-", "--mpi", *names)
    tap.check(done.returncode == 2 and "--mpi" in done.stderr and not (folder / "-").exists(),
              "of many processes there is none", done.stderr)


def without_ranks(tap, folder):
    plain = {name: value for name, value in os.environ.items() if not name.startswith(("OMPI_", "PMI"))}
    (folder / "plain.c").write_text(PROGRAM.replace("atoi(getenv(\"OMPI_COMM_WORLD_RANK\"))",
                                                    "atoi(getenv(\"WORKER\"))"))
    lib.must([lib.FATHOM, "cc", "-O1", "plain.c", "-o", "plain"], folder)
    for worker in range(3):
        lib.must([lib.FATHOM, "record", "-q", "-o", f"w{worker}", "--", "./plain"], folder,
                 env={**plain, "WORKER": str(worker)})
    names = [f"w{worker}.data" for worker in range(3)]
    merge(folder, "workers.data", *names)
    tap.same(ranks_of(folder, "workers.data"), None, "programs without ranks have no statistics")
    done, _ = merge(folder, "workers.data", "--ranks", *names)
    found = ranks_of(folder, "workers.data")
    tap.check(done.returncode == 0 and found is not None and found["count"] == 3,
              "unless they are asked for", done.stderr)
    root = max(found["contexts"], key=lambda context: number_of(context["callseqs"]["sum"]))
    tap.same(root["callseqs"]["greatest_rank"], None, "the greatest is a process's then, no rank's")
    expected = (folder / "workers.data").read_bytes()
    merge(folder, "pair.data", "--ranks", *names[:2])
    for options in ([], ["--ranks"]):
        done, levels = merge(folder, "levels.data", *options, "pair.data", names[2])
        tap.check(done.returncode == 0 and levels == expected, f"a sum keeps them, {options}", done.stderr)
    done, _ = merge(folder, "levels.data", "--no-ranks", "pair.data", names[2])
    tap.same(ranks_of(folder, "levels.data"), None, "--no-ranks leaves them out")


# Each second rank has workers, which fold recursions that no other process has.
FORKS = PROGRAM.replace("#include <stdlib.h>", "#include <stdlib.h>\n#include <sys/wait.h>\n#include <unistd.h>").replace(
    "    sum += down(rank * 5);", """    for (int worker = 0; worker < (rank % 2 ? 1 + rank : 0); worker++) {
        if (fork() == 0) {
            for (int i = 0; i < 7 * worker; i++) sum += leaf(i) + only(i);
            sum += b(5, 2) + (rank == 3 && worker == 2 && fork() == 0 ? down(9) : c(4, 2));
            while (wait(NULL) > 0) {}
            return sum == 12345;
        }
    }
    while (wait(NULL) > 0) {}
    sum += down(rank * 5);""")


def forking(tap, folder):
    """A rank's processes count as one, joined when they were recorded or finished one by one."""
    (folder / "forks.c").write_text(FORKS)
    lib.must([lib.FATHOM, "cc", "-O1", "forks.c", "-o", "forks"], folder)
    groups, joined = [], [f"joined.rank{rank}.data" for rank in range(RANKS)]
    for rank in range(RANKS):
        env = {**os.environ, "OMPI_COMM_WORLD_RANK": str(rank), "OMPI_COMM_WORLD_SIZE": str(RANKS)}
        lib.must([lib.FATHOM, "record", "-q", "-o", "joined", "--", "./forks"], folder, env=env)
        lib.must(["./forks"], folder, env={**env, "FATHOM_OUTPUT": str(folder / f"hand{rank}")})
        lib.must([lib.FATHOM, "finish", "-q", *sorted(map(str, folder.glob("hand*.rec")))], folder)
        groups.append(sorted(path.name for path in folder.glob(f"hand{rank}*.data")))
    tap.same([len(group) for group in groups], [1, 3, 1, 6, 1], "two ranks have workers")
    singles = [name for group in groups for name in group]
    rng = random.Random(5)
    for what, names, files in (("joined", joined, joined), ("by hand", groups, singles)):
        done, expected = merge(folder, "forks.data", *files)
        tap.same((done.returncode, done.stderr), (0, ""), f"{what}: ranks that fork are added up")
        same_statistics(tap, folder, names, "forks.data", f"{what}: ranks that fork")
        done, found = merge(folder, "forks2.data", *rng.sample(files, len(files)))
        tap.check(done.returncode == 0 and found == expected, f"{what}: in any order", done.stderr)
        checked = lib.run([lib.FATHOM, "check", "forks.data"], folder)
        broken = [line for line in checked.stdout.splitlines() if line.startswith("FAILED")]
        tap.check(checked.returncode == 0, f"{what}: and it is sound", (broken, checked.stdout[-300:]))
    values = [row["cells"] for row in table_of(folder, "ranks/calls/clique/main/only", "values", "forks.data")]
    tap.same([cells["rank"] for cells in values], list(range(RANKS)), "the page has a row a rank")
    done, _ = merge(folder, "two-runs.data", *singles, "joined.rank1.data")
    tap.check(done.returncode == 0 and "rank 1 is in it twice" in done.stderr
              and ranks_of(folder, "two-runs.data") is None, "of a rank's two runs none is the other's", done.stderr)
    env = {**os.environ, "OMPI_COMM_WORLD_RANK": "1", "OMPI_COMM_WORLD_SIZE": str(RANKS)}
    lib.must([lib.FATHOM, "record", "-q", "-o", "again", "--", "./forks"], folder, env=env)
    lib.must([lib.FATHOM, "merge", "-o", "both.data", "joined.rank1.data", "again.rank1.data"], folder)
    done, _ = merge(folder, "two-runs.data", joined[0], "both.data", *joined[2:])
    tap.check(done.returncode == 0 and "rank 1 is in it twice" in done.stderr
              and ranks_of(folder, "two-runs.data") is None, "nor where they were added up before", done.stderr)
    lib.must([lib.FATHOM, "record", "-q", "-o", "shell", "--", "sh", "-c", "./forks; ./forks"], folder, env=env)
    done, _ = merge(folder, "shell.data", joined[0], "shell.rank1.data", *joined[2:])
    tap.check(done.returncode == 0 and ranks_of(folder, "shell.data") is not None,
              "what one shell has started in a run is one rank", done.stderr)
    done, _ = merge(folder, "one.data", *groups[3])
    tap.same((done.returncode, done.stderr, ranks_of(folder, "one.data")), (0, "", None),
             "the processes of one rank alone are no ranks to compare")
    done, _ = merge(folder, "gap.data", *groups[0], *groups[3][:-1])
    tap.check(done.returncode == 0 and ranks_of(folder, "gap.data") is None and "rank 3 is in it twice" in done.stderr,
              "without the process that started them nobody knows", done.stderr)
    if mpi.is_installed() and sys.argv[1] == "built":
        for files, counts in ((joined, (2, 5)), (singles, (3, 8))):
            _, expected = merge(folder, "forks.data", *files)
            for count in counts:
                done, found = many(folder, count, *rng.sample(files, len(files)))
                tap.check(done.returncode == 0 and found == expected and done.stderr == "",
                          f"{count} processes: ranks that fork", done.stderr[-500:])
        _, expected = merge(folder, "two-runs.data", *singles, "joined.rank1.data")
        done, found = many(folder, 3, *singles, "joined.rank1.data")
        tap.check(done.returncode == 0 and found == expected and "rank 1 is in it twice" in done.stderr,
                  "3 processes: a rank of two runs", done.stderr)


def report(folder, page, name="all.data", *options):
    return lib.must([lib.FATHOM, "report", *options, page, name], folder).stdout


def table_of(folder, page, name, of="all.data"):
    tables = json.loads(report(folder, page, of, "--json"))["tables"]
    return next(table["rows"] for table in tables if table["name"] == name)


def pages(tap, folder):
    found = ranks_of(folder, "all.data")
    losses = {}
    for context in found["contexts"]:
        of = context["callseqs"]
        losses[context["pd"]] = of["greatest"] * found["count"] - number_of(of["sum"])
    rows = [row["cells"] for row in table_of(folder, "ranks/calls/all", "ranks")]
    lost = [cells["calls_lost_count"] for cells in rows]
    tap.same(lost, sorted(lost, reverse=True), "contexts by what is lost")
    tap.check(lost[0] >= 0.9 * 0.9 * max(losses.values()) and set(lost) <= set(losses.values()),
              "which is greatest x ranks - sum", f"{lost} {losses}")
    tap.same(all(abs(cells["greatest_ratio"] - cells["calls_greatest_count"] * RANKS / cells["calls_sum_count"])
                 < 0.005 * cells["greatest_ratio"] for cells in rows), True, "and the greatest over the mean")
    only = [row["cells"] for row in table_of(folder, "ranks/calls/proc/only", "ranks")]
    tap.same([(cells["greatest_rank"], cells["calls_greatest_count"], cells["calls_sum_count"]) for cells in only],
             [(1, 100, 100)], "of one function its contexts")
    means = [(cells["calls_mean_count"], cells["calls_sum_count"] / RANKS)
             for cells in (row["cells"] for row in table_of(folder, "ranks/calls/proc/leaf", "ranks"))]
    tap.check(any(expected < 1 for _, expected in means)
              and all(abs(mean - expected) <= 0.005 * expected for mean, expected in means),
              "means of few calls are no whole numbers", means)
    values = [row["cells"] for row in table_of(folder, "ranks/calls/clique/main/only", "values")]
    tap.same([(cells["rank"], cells["calls_value_count"]) for cells in values],
             [(rank, 100 if rank == 1 else 0) for rank in range(RANKS)], "of one context each rank's own value")
    html = report(folder, "ranks/calls/clique/main/only", "all.data", "--html")
    tap.check("<svg" in html and 'id="ranks"' in html, "and a strip of bars", html[:500])
    tap.check("Lost" in report(folder, "ranks/calls/all"), "as text")
    tap.check("greatest_rank" in report(folder, "ranks/calls/all", "all.data", "--csv"), "as CSV")
    menu = report(folder, "menu")
    tap.check("How the ranks differ" in menu and "MPI rank" in menu, "the first page leads there, and has the ranks")
    tap.check("ranks" in report(folder, "proc/only") and "Values of each rank" in report(folder, "clique/main/only"),
              "and so do functions and contexts")
    checked = lib.run([lib.FATHOM, "check", "all.data"], folder)
    tap.check(checked.returncode == 0 and "0 broken" in checked.stdout and "0 problems" in checked.stdout,
              "all pages can be made, and what must hold does", checked.stdout + checked.stderr)
    none = report(folder, "ranks/auto/all", "prof.rank0.data")
    tap.check("has no per-rank statistics" in none, "a profile of one process says that there are none", none)


def many(folder, count, *words):
    (folder / "many.data").unlink(missing_ok=True)
    done = mpi.run(count, lib.FATHOM, "merge", "--mpi", "-o", "many.data", *words, folder=folder)
    return done, (folder / "many.data").read_bytes() if (folder / "many.data").exists() else None


def by_many_processes(tap, folder, names):
    _, expected = merge(folder, "all.data", *names)
    rng = random.Random(3)
    for count in (1, 2, 3, 5, 8):
        done, found = many(folder, count, *rng.sample(names, len(names)))
        tap.check(done.returncode == 0 and found == expected and done.stderr == "",
                  f"{count} processes give the bytes of one", done.stderr[-500:])
    (folder / "cut.data").write_bytes((folder / names[0]).read_bytes()[:-20])
    _, expected = merge(folder, "four.data", *names[1:])
    done, found = many(folder, 3, *names[1:3], "cut.data", *names[3:], "missing.data")
    tap.check(done.returncode == 1 and found == expected and "2 of 6 files are left out" in done.stderr,
              "what cannot be read is in neither pass", done.stderr)
    for words in (["--no-ranks", *names], ["two.data", *names[2:]], [*names, "more.rank3.data"]):
        one, expected = merge(folder, "one.data", *words)
        done, found = many(folder, 3, *words)
        tap.check(done.returncode == 0 and found == expected and "Error" not in done.stderr,
                  f"3 processes: {words[0]}: no statistics either", done.stderr)
    _, expected = merge(folder, "all.data", *names)
    merge(folder, "one.data", names[3])
    for counts, words in (((1, 2, 3, 5, 8), ["all.data"]), ((1, 3), ["all.data", "cut.data"]),
                          ((2, 5), ["two.data", "all.data", "--allow-repeats"]), ((3,), ["--union", "all.data"]),
                          ((3,), ["--no-ranks", "all.data"]), ((3,), ["--across-builds", "all.data"]),
                          ((3,), ["one.data", *names[:3]]), ((2,), ["--ranks", "workers.data", "w1.data"])):
        one, expected = merge(folder, "sum.data", "--keep-going", *words)
        for count in counts:
            done, found = many(folder, count, *words)
            tap.check(done.returncode == one.returncode and found == expected and found is not None,
                      f"{count} processes: {' '.join(words)}: as one process does", f"{one.stderr}|{done.stderr}")
    done, found = many(folder, 2, "--ranks", "two.data", *names[2:])
    tap.check(done.returncode == 1 and found is not None and "a sum of several ranks is added" in done.stderr,
              "asked for, a sum among the files is a failure", done.stderr)
    words = ["--ranks", "w0.data", "w2.data", "w1.data"]
    _, expected = merge(folder, "workers.data", *words)
    done, found = many(folder, 2, *words)
    tap.check(done.returncode == 0 and found == expected, "processes without ranks", done.stderr)


def damaged(tap, folder):
    """Whatever stands in the fact, it is read or refused."""
    whole = (folder / "all.data").read_bytes()
    rng = random.Random(7)
    broken = 0
    for _ in range(40):
        at = rng.randrange(len(whole) * 2 // 3, len(whole))
        (folder / "bad.data").write_bytes(whole[:at] + bytes([whole[at] ^ (1 << rng.randrange(8))]) + whole[at + 1:])
        done = lib.run([lib.FATHOM, "dump", "--only", "facts", "bad.data"], folder)
        tap.check(done.returncode in (0, 1) and "Sanitizer" not in done.stderr, "a damaged fact",
                  f"{at}: {done.returncode} {done.stderr[-300:]}") if done.returncode not in (0, 1) else None
        broken += done.returncode == 1
    tap.check(broken > 0, "some of 40 damaged files are refused, none ends fathom")


def main():
    tap = lib.Tap()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        names = record(folder)
        done, _ = merge(folder, "all.data", *names)
        tap.same((done.returncode, done.stderr), (0, ""), "ranks are added up")
        same_statistics(tap, folder, names, "all.data", "five ranks")
        orders(tap, folder, names)
        pages(tap, folder)
        left_out(tap, folder, names)
        in_levels(tap, folder, names)
        missing(tap, folder, names)
        what_is_not_kept(tap, folder)
        options(tap, folder, names)
        without_ranks(tap, folder)
        forking(tap, folder)
        if mpi.is_installed() and sys.argv[1] == "built":
            by_many_processes(tap, folder, names)
        else:
            tap.skip("statistics by many processes", mpi.MISSING)
        damaged(tap, folder)
    sys.exit(tap.done())


if __name__ == "__main__":
    main()

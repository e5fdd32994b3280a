#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What recording costs programs of the system as they are, by the preloaded library: CPU time (user
and system, with children) over that of the plain program, beside heaptrack's preloaded library.

Each round runs all variants of a program, in turn; a figure is the median of the rounds' ratios.
Times of single runs are of little use on a machine that does other work.

usage: run.py BUILD [--rounds N] [--programs LIST] [--parts LIST]
  LISTs are separated by commas. programs: allocate-10, allocate-30, allocate-100 (5 million pairs
  of malloc and free a second, below so many frames), git, sqlite3, cc1, perl, python.
  parts: speed, start, finish, check (each remembered stack is compared with a walk)."""
import argparse
import os
import pathlib
import re
import shutil
import statistics
import subprocess
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
PAIRS = 1000000  # of allocate
QUERY = ("create table t(a, b, c); with recursive x(i) as (select 1 union all select i + 1 from x where i < 60000) "
         "insert into t select i, hex(i * 7919 % 60000), i % 97 from x; create index t_b on t(b); "
         "select c, count(*), sum(length(b)) from t group by c order by 2, 1 limit 3; "
         "select count(*) from t x, t y where x.b = y.b and x.c = 5;")
PERL = "my %h; for (1..300000) { $h{$_ % 977} = [$_, 'a' x ($_ % 50)] } print scalar(keys %h), \"\\n\""
PYTHON = """
import json, re
words = {}
for i in range(60000):
    words.setdefault(str(i * 7919 % 1009), []).append({"i": i, "s": "x" * (i % 300)})
print(len(json.dumps(words)), len(re.sub("x+", "y", json.dumps(words))))
"""
# C that a compiler has some work with: many functions of loops and branches.
FUNCTION = """
static int f%(i)d(int n, const int *v, double *w) {
    int sum = 0;
    for (int a = 0; a < n; a++) {
        switch ((v[a] + %(i)d) %% 7) {
        case 0: sum += v[a] * %(i)d; break;
        case 1: w[a] = sum / (1.0 + v[a]); break;
        case 2: sum ^= %(called)s; break;
        case 3: for (int b = a; b < n; b += 3) w[b] *= w[a]; break;
        default: sum -= (int)w[a];
        }
    }
    return sum;
}
"""
VARIANTS = {"counted": {}, "at 1 kHz": {"FATHOM_TICKS": "perf"}, "not sampled": {"FATHOM_TICKS": "none"}}


def source():
    text = [FUNCTION % {"i": i, "called": f"f{i - 1}(n / 2, v, w)" if i > 0 else "1"} for i in range(250)]
    return "".join(text) + "int all(int n, const int *v, double *w) { return f249(n, v, w); }\n"


class Bench:
    def __init__(self, build, folder):
        self.folder = folder
        self.library = build / "runtime" / "libfathom-preload.so"
        self.fathom = build / "src" / "cli" / "fathom"
        found = sorted(pathlib.Path("/usr").glob("lib*/**/heaptrack/libheaptrack_preload.so*"))
        self.heaptrack = found[0] if found else None

    def environment(self, variant):
        fixed = {**os.environ, "PERL_HASH_SEED": "0", "PERL_PERTURB_KEYS": "0", "PYTHONHASHSEED": "0"}
        if variant == "heaptrack":
            return {**fixed, "LD_PRELOAD": str(self.heaptrack), "DUMP_HEAPTRACK_OUTPUT": str(self.folder / "run.heaptrack")}
        if variant == "plain":
            return fixed
        return {**fixed, "LD_PRELOAD": str(self.library), "FATHOM_OUTPUT": str(self.folder / "run"), **VARIANTS.get(variant, {})}

    def run(self, command, variant, **environment):
        """CPU seconds and wall seconds of one run, and what it complained of."""
        for old in self.folder.glob("run*"):
            old.unlink()
        complaints = self.folder / "complaints"
        begun = time.monotonic()
        pid = os.fork()
        if pid == 0:
            os.dup2(os.open("/dev/null", os.O_WRONLY), 1)
            os.dup2(os.open(complaints, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644), 2)
            os.execvpe(command[0], command, {**self.environment(variant), **environment})
        _, status, used = os.wait4(pid, 0)
        if status != 0:
            raise SystemExit(f"{command[0]} ({variant}) ended with status {status}: {complaints.read_text()[-500:]}")
        return used.ru_utime + used.ru_stime, time.monotonic() - begun, complaints.read_text()

    def ratios(self, command, rounds):
        """{variant: median of ratios}, and the seconds of the plain program."""
        variants = list(VARIANTS) + (["heaptrack"] if self.heaptrack else [])
        found, plains = {variant: [] for variant in variants}, []
        for _ in range(rounds):
            plains.append(self.run(command, "plain")[0])
            for variant in variants:
                found[variant].append(self.run(command, variant)[0] / plains[-1])
        return {variant: statistics.median(values) for variant, values in found.items()}, statistics.median(plains)


def programs(folder):
    """{name: command} of those that are there."""
    allocate, text = folder / "allocate", folder / "source.c"
    subprocess.run(["gcc", "-O2", "-fno-optimize-sibling-calls", HERE / "allocate.c", "-o", allocate], check=True)
    text.write_text(source())
    cc1 = subprocess.run(["gcc", "-print-prog-name=cc1"], capture_output=True, text=True, check=True).stdout.strip()
    work = calibrated(allocate)
    all_of_them = {f"allocate-{depth}": [str(allocate), str(depth), str(PAIRS), str(work)] for depth in (10, 30, 100)}
    all_of_them.update({
        "git": ["git", "-C", str(ROOT), "log", "--stat", "-200"],
        "sqlite3": ["sqlite3", ":memory:", QUERY],
        "cc1": [cc1, "-quiet", "-O2", str(text), "-o", "/dev/null"],
        "perl": ["perl", "-e", PERL],
        "python": ["/usr/bin/python3", "-c", PYTHON],
    })
    return {name: command for name, command in all_of_them.items() if shutil.which(command[0])}


def calibrated(allocate):
    """The work between two pairs at which there are 5 million pairs a second."""
    def seconds(work):
        best = 9.0
        for _ in range(5):
            used = os.times()
            subprocess.run([allocate, "10", str(PAIRS), str(work)], stdout=subprocess.DEVNULL, check=True)
            now = os.times()
            best = min(best, now.children_user + now.children_system - used.children_user - used.children_system)
        return best
    none, some = seconds(0), seconds(100)
    return max(0, round((PAIRS / 5e6 - none) / ((some - none) / 100)))


def speed(bench, commands, rounds):
    names = list(VARIANTS) + (["heaptrack"] if bench.heaptrack else [])
    print(f"{'program':14}{'plain, s':>9}" + "".join(f"{name:>13}" for name in names)
          + ("  of heaptrack's cost" if bench.heaptrack else ""))
    for name, command in commands.items():
        ratios, plain = bench.ratios(command, rounds)
        share = f"{(ratios['counted'] - 1) / (ratios['heaptrack'] - 1):>18.2f}" if bench.heaptrack else ""
        print(f"{name:14}{plain:9.2f}" + "".join(f"{ratios[variant]:13.2f}" for variant in names) + share, flush=True)


def start(bench, rounds):
    """What a program that does nothing takes longer."""
    pairs = [(bench.run(["true"], "counted"), bench.run(["true"], "plain")) for _ in range(20 * rounds)]
    cpu, wall = (statistics.median((preloaded[i] - plain[i]) * 1000 for preloaded, plain in pairs) for i in (0, 1))
    print(f"start and end of `true`: {cpu:.1f} ms of CPU time more, {wall:.1f} ms by the clock")


def finish(bench, command):
    """Time to make the profile of a program of many contexts, and its memory while it runs."""
    bench.run(command, "counted")
    recordings = sorted(bench.folder.glob("run*.rec"))
    size = sum(file.stat().st_blocks * 512 for file in recordings)
    before, begun = os.times(), time.monotonic()
    done = subprocess.run([bench.fathom, "finish", "-o", bench.folder / "cc1.data", *recordings], capture_output=True, text=True)
    now = os.times()
    if done.returncode != 0:
        raise SystemExit(done.stderr)
    used = now.children_user + now.children_system - before.children_user - before.children_system
    contexts = re.search(r"^(\d+) contexts", done.stdout + done.stderr, re.MULTILINE)
    print(f"finishing cc1's profile: {time.monotonic() - begun:.1f} s, {used:.1f} s of CPU; recording of {size / 1e6:.1f} MB"
          + (f", {size / int(contexts[1]):.0f} bytes a context ({contexts[1]})" if contexts else ""))


def check(bench, commands):
    for name, command in commands.items():
        complaints = bench.run(command, "counted", FATHOM_UNWOUND="check")[2]
        print(f"{name}: {complaints.count('remembered stack')} remembered stacks are not what a walk finds", flush=True)


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--programs", default="")
    parser.add_argument("--parts", default="speed,start,finish")
    options = parser.parse_args()
    parts = options.parts.split(",")
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary)
        bench, commands = Bench(options.build.resolve(), folder), programs(folder)
        chosen = {name: command for name, command in commands.items()
                  if not options.programs or name in options.programs.split(",")}
        if "check" in parts:
            check(bench, chosen)
        if "speed" in parts:
            speed(bench, chosen, options.rounds)
        if "start" in parts:
            start(bench, options.rounds)
        if "finish" in parts and "cc1" in chosen:
            finish(bench, chosen["cc1"])


if __name__ == "__main__":
    main()

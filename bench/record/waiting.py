# SPDX-License-Identifier: Apache-2.0
"""What it costs to see waits, and to remember whose memory is held: parts of overhead.py. Programs run plain,
recorded without that, and recorded, by turns; figures are medians of the rounds."""
import os
import pathlib
import statistics
import subprocess

from programs_built import HERE, must

# what `waits` does, how often, what one is
CALLS = (
    ("mutex", 3000000, "lock and unlock of a free mutex"),
    ("semaphore", 3000000, "sem_wait and sem_post that need not wait"),
    ("zero", 300000, "read of one byte from /dev/zero"),
    ("pipes", 200000, "write and read of a byte, a pipe"),
    ("sockets", 100000, "send and recv of a byte, a socket pair"),
    ("ready", 200000, "poll with data ready"),
)
WHOLE = (
    ("contended", 1000000, "10^6 waits for mutexes, two threads on one processor"),
    ("echo", 100000, "echo server on the loopback, its own CPU time"),
)
OFF = {"FATHOM_WAITING": "off"}


class Variants:
    """plain, off (recorded without what is measured), on."""

    def __init__(self, fathom, folder, off):
        self.fathom, self.folder, self.off = fathom, folder / "waiting", off
        self.folder.mkdir(parents=True, exist_ok=True)

    def build(self, name, sources, options):
        compiler = ["gcc", "-O2", "-w", "-D_GNU_SOURCE", *options, *sources, "-pthread", "-lm", "-o"]
        must([*compiler, f"{name}.plain"], self.folder)
        must([self.fathom, "cc", "--grade=deep", *compiler, f"{name}.recorded"], self.folder)

    def run(self, name, variant, arguments):
        """CPU seconds, and what it printed."""
        for old in self.folder.glob("bench*.rec"):
            old.unlink()
        environment = {**os.environ, "FATHOM_OUTPUT": str(self.folder / "bench.rec")}
        if variant == "off":
            environment.update(self.off)
        program = subprocess.Popen([self.folder / f"{name}.{'plain' if variant == 'plain' else 'recorded'}",
                                    *map(str, arguments)], cwd=self.folder, env=environment,
                                   stdout=subprocess.PIPE, text=True)
        said = program.stdout.read()
        _, status, usage = os.wait4(program.pid, 0)
        program.returncode = os.waitstatus_to_exitcode(status)
        if program.returncode != 0:
            raise SystemExit(f"{name} {arguments}: status {program.returncode}")
        return usage.ru_utime + usage.ru_stime, said

    def rounds(self, name, arguments, count, own):
        """Medians of plain, off, on, and of the paired ratios off/plain, on/plain, on/off. own: what the
        program says that it used, not what the system says of it."""
        found = {"plain": [], "off": [], "on": []}
        for _ in range(count):
            for variant, values in found.items():
                cpu, said = self.run(name, variant, arguments)
                values.append(float(said) if own else cpu)
        ratio = lambda a, b: statistics.median(x / y for x, y in zip(found[a], found[b]))  # noqa: E731
        return ([statistics.median(values) for values in found.values()],
                [ratio("off", "plain"), ratio("on", "plain"), ratio("on", "off")])


def load():
    return f"load {os.getloadavg()[0]:.0f} on {os.cpu_count()} processors"


def waiting(fathom, folder, rounds):
    variants = Variants(fathom, pathlib.Path(folder), OFF)
    variants.build("waits", [HERE / "programs" / "waits.c"], [])
    print(f"| CPU ns, {load()} | plain | recorded without waiting | recorded | more than plain |\n"
          "|---|---|---|---|---|")
    for name, times, what in CALLS:
        (plain, off, on), _ = variants.rounds("waits", [name, times], rounds, True)
        print(f"| {what} | {plain:.1f} | {off:.1f} | {on:.1f} | {on - plain:+.1f} |", flush=True)
    print(f"\n| CPU time, {load()} | recorded without waiting over plain | recorded over plain "
          "| recorded with waiting over without |\n|---|---|---|---|")
    for name, times, what in WHOLE:
        _, ratios = variants.rounds("waits", [name, times], min(rounds, 3), True)
        print(f"| {what} | {' | '.join(f'{ratio:.3f}' for ratio in ratios)} |", flush=True)
    made = pathlib.Path(folder) / "amalgamation"
    if (made / "sqlite3.c").exists():
        variants.build("sqlite", [HERE / "programs" / "sql.c", made / "sqlite3.c"],
                       ["-DSQLITE_THREADSAFE=0", "-DSQLITE_OMIT_LOAD_EXTENSION", f"-I{made}"])
        _, ratios = variants.rounds("sqlite", [HERE / "programs" / "work.sql", 2, variants.folder / "bench.db"],
                                    rounds, False)
        print(f"| SQLite on a file, without fsync | {' | '.join(f'{ratio:.3f}' for ratio in ratios)} |")
    print(flush=True)


def held(fathom, folder, rounds):
    variants = Variants(fathom, pathlib.Path(folder), {"FATHOM_HEAP": "off"})
    source = [HERE / "programs" / "heap.c"]
    variants.build("heap", source, [])
    variants.build("heap-big", source, ["-DKEYS=1500000", "-DBUCKETS=1048576u"])
    print(f"| CPU time, {load()} | counts alone over plain | with held memory over plain "
          "| with held memory over counts alone |\n|---|---|---|---|")
    for name, arguments, what in (("heap", [100], "malloc-heavy, 16,000 keys"),
                                  ("heap-big", [1], "the same, 1.5 million keys")):
        _, ratios = variants.rounds(name, arguments, rounds, False)
        print(f"| {what} | {' | '.join(f'{ratio:.3f}' for ratio in ratios)} |", flush=True)
    print(flush=True)

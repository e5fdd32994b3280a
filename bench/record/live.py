#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What it costs to look at a program of 111,110 contexts while it runs: live.py BUILD [SECONDS [ROUNDS]].
The program alone and looked at by turns: passes in a second of its CPU time. Then what the server
uses, how often there is a generation, how many bytes a page that follows them takes, and what a browser
uses that shows it.

live.py BUILD instructions [PASSES [ROUNDS]]: how many instructions the program executes, by callgrind,
for so many tens of passes, alone and looked at."""
import gzip
import http.client
import os
import pathlib
import re
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time

SETTLE = 6
LEVELS, WIDTH = 5, 10
PAGE = "top_procs/1-100/callseqs/self/oa"


def source():
    """Each function of a level calls each of the next: as many contexts as there are ways."""
    lines = ["#include <stdio.h>", "#include <stdlib.h>", "#include <sys/resource.h>", "#include <time.h>",
             "#include <unistd.h>", "#define PART __attribute__((noinline)) static", "static volatile long sum;"]
    for level in reversed(range(LEVELS)):
        for i in range(WIDTH):
            calls = "".join(f" f{level + 1}_{j}();" for j in range(WIDTH if level + 1 < LEVELS else 0))
            lines.append(f"PART void f{level}_{i}(void) {{ sum++;{calls} sum++; }}")
    calls = "".join(f" f0_{j}();" for j in range(WIDTH))
    return "\n".join(lines) + r"""
int main(int argc, char **argv)
{
    long passes = 0;
    struct rusage used;
    time_t end = time(NULL) + atol(argv[argc - 1]);
    long left = argc > 2 ? atol(argv[1]) : 0;
    while (argc > 2 ? left-- > 0 : time(NULL) < end) {
        for (int i = 0; i < 10; i++) {""" + calls + r""" }
        passes += 10;
        usleep(20000);
    }
    getrusage(RUSAGE_SELF, &used);
    printf("%.6f\n", (double)passes / ((double)used.ru_utime.tv_sec + (double)used.ru_stime.tv_sec +
           1e-6 * (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec)));
    return 0;
}
"""


class Reader(threading.Thread):
    """A browser's part: hears of generations and gets the page, and then what differs."""

    def __init__(self, host, file):
        super().__init__(daemon=True)
        self.host, self.file = host, file
        self.generations, self.whole, self.deltas, self.bytes, self.packed = 0, 0, 0, 0, 0

    def run(self):
        try:
            connection = http.client.HTTPConnection(self.host, timeout=60)
            connection.request("GET", f"/live?{PAGE}&{self.file}")
            stream, event = connection.getresponse(), b""
            while (line := stream.readline()) != b"":
                if line.startswith(b"event:"):
                    event = line[6:].strip()
                elif line.startswith(b"data:") and event == b"generation":
                    self.generations += 1
                elif line.startswith(b"data:") and event == b"page":
                    self.whole = len(line)
                elif line.startswith(b"data:"):
                    self.deltas += 1
                    self.bytes += len(line)
                    self.packed += len(gzip.compress(line))
        except OSError:
            return  # the server has ended


class Browser:
    """Headless Chromium with the page open; its processes' CPU time."""

    def __init__(self, folder, url):
        program = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser")
        self.process = None
        if program is None:
            return
        self.process = subprocess.Popen(
            [program, "--headless=new", "--no-sandbox", "--disable-gpu", "--no-first-run", "--remote-debugging-port=0",
             f"--user-data-dir={folder}/browser", url],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)

    def used(self):
        """Of all its processes, which are one session."""
        total = 0.0
        for path in pathlib.Path("/proc").glob("[0-9]*/stat"):
            try:
                fields = path.read_text().rsplit(")", 1)[1].split()
            except OSError:
                continue
            if int(fields[3]) == self.process.pid:
                total += (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
        return total

    def end(self):
        if self.process is not None:
            os.killpg(self.process.pid, signal.SIGTERM)
            self.process.wait()


def cpu_seconds(pid):
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def once(fathom, folder, seconds, watched):
    program = subprocess.Popen([fathom, "record", "-q", "-k", "-o", "wide", "--", "./wide", str(seconds)],
                               cwd=folder, stdout=subprocess.PIPE, text=True)
    told = None
    if watched:
        time.sleep(1)
        view = subprocess.Popen([fathom, "view", "--no-open", "wide.rec"], cwd=folder,
                                stdout=subprocess.PIPE, text=True)
        address = re.search(r"http://([^/]+)/deep\?menu&(\S+)", view.stdout.readline())
        reader = Reader(address[1], address[2])
        browser = Browser(folder, f"http://{address[1]}/deep?{PAGE}&{address[2]}")
        time.sleep(SETTLE)  # it has started
        begun, used = time.monotonic(), cpu_seconds(view.pid)
        used_there = browser.used() if browser.process else 0
        reader.start()
        time.sleep(seconds - 3 - SETTLE)
        passed = time.monotonic() - begun
        told = ((cpu_seconds(view.pid) - used) / passed, reader.generations / passed, reader.whole,
                reader.bytes / passed, reader.packed / passed,
                (browser.used() - used_there) / passed if browser.process else float("nan"))
        browser.end()
        view.terminate()
        view.wait()
    speed = float(program.communicate()[0])
    return speed, told


def counted(fathom, folder, passes, watched):
    """Instructions of the program, and how many generations its reader had."""
    program = subprocess.Popen([fathom, "record", "-q", "-k", "-o", "wide", "--", "valgrind", "--tool=callgrind",
                                "--callgrind-out-file=/dev/null", "./wide", str(passes), "0"],
                               cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    view = reader = None
    while watched and view is None and program.poll() is None:
        time.sleep(0.5)
        view = subprocess.Popen([fathom, "view", "--no-open", "wide.rec"], cwd=folder,
                                stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        address = re.search(r"http://([^/]+)/deep\?menu&(\S+)", view.stdout.readline())
        if address is None:  # the recording has not begun
            view.wait()
            view = None
            continue
        reader = Reader(address[1], address[2])
        reader.start()
    told = program.communicate()[1]
    if view is not None:
        view.terminate()
        view.wait()
    (pathlib.Path(folder) / "wide.rec").unlink()
    return max(map(int, re.findall(r"Collected : (\d+)", told))), reader.generations if reader else 0


def compare_instructions(fathom, folder, passes, rounds):
    os.environ["FATHOM_TICKS"] = "none"  # which come when they come
    alone, watched, generations = [], [], []
    for _ in range(rounds):
        alone.append(counted(fathom, folder, passes, False)[0])
        of, seen = counted(fathom, folder, passes, True)
        watched.append(of)
        generations.append(seen)
    print(f"instructions of the program, alone: {', '.join(f'{n:,}' for n in alone)}")
    print(f"looked at: {', '.join(f'{n:,}' for n in watched)}, with {generations} generations")
    print(f"looked at / alone: {statistics.median(watched) / statistics.median(alone):.6f}")


def main():
    fathom = str(pathlib.Path(sys.argv[1]).resolve() / "src" / "cli" / "fathom")
    instructions = sys.argv[2:3] == ["instructions"]
    numbers = [int(word) for word in sys.argv[2 + instructions:]]
    seconds = numbers[0] if numbers else 20
    rounds = numbers[1] if len(numbers) > 1 else 3
    os.environ.setdefault("FATHOM_RUNTIME", str(pathlib.Path(sys.argv[1]).resolve() / "runtime"))
    with tempfile.TemporaryDirectory() as folder:
        (pathlib.Path(folder) / "wide.c").write_text(source())
        subprocess.run([fathom, "cc", "--grade=deep", "-O1", "wide.c", "-o", "wide"], cwd=folder, check=True)
        if instructions:
            compare_instructions(fathom, folder, seconds, rounds)
            return
        ratios, all_told = [], []
        for _ in range(rounds):
            alone, _ = once(fathom, folder, seconds, False)
            speed, told = once(fathom, folder, seconds, True)
            ratios.append(alone / speed)
            all_told.append(told)
    cpu, generations, whole, changed, packed, there = (statistics.median(of) for of in zip(*all_told))
    print(f"the program's CPU time, looked at / alone: {statistics.median(ratios):.3f} "
          f"({min(ratios):.3f} to {max(ratios):.3f}, {rounds} pairs)")
    print(f"the server: {cpu * 100:.1f} % of a core, {generations:.2f} generations a second, a page of "
          f"{whole / 1000:.1f} KB, then {changed / 1000:.1f} KB a second ({packed / 1000:.1f} compressed)")
    if there == there:
        print(f"headless Chromium, all its processes: {there * 100:.1f} % of a core")


main()

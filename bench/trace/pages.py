#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Pages of a trace as a reader waits for them: pages.py FATHOM LOG SECONDS

Starts `fathom view` on the log (of that many seconds) and asks over HTTP for whole pages: the first
one at once, then windows of 1 ms at random places while the passes run, then zooms when they are
done. Prints time on the wall, the server's CPU time and its greatest memory."""
import http.client
import os
import random
import re
import subprocess
import sys
import time
import urllib.parse


def cpu_of(pid):
    fields = open(f"/proc/{pid}/stat").read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def memory_of(pid):
    for line in open(f"/proc/{pid}/status"):
        if line.startswith("VmHWM"):
            return int(line.split()[1]) / 1024
    return 0


class Server:
    def __init__(self, fathom, log):
        self.process = subprocess.Popen([fathom, "view", "--no-open", log], text=True,
                                        stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        self.address = None
        while self.address is None:
            line = self.process.stdout.readline()
            if not line:
                sys.exit("the server ended")
            found = re.search(r"http://([^/:]+):(\d+)(/\S*)?", line)
            if found:
                self.address = (found.group(1), int(found.group(2)))
                self.path = found.group(3) or "/"
        self.connection = http.client.HTTPConnection(*self.address, timeout=120)

    def get(self, path):
        begun = time.monotonic()
        self.connection.request("GET", path)
        answer = self.connection.getresponse()
        body = answer.read()
        took = (time.monotonic() - begun) * 1e3
        if answer.status not in (200, 202):
            sys.exit(f"{path}: {answer.status} {body[:300]}")
        return body, took


def report(what, times):
    times = sorted(times)
    if times:
        print(f"{what:44s} median {times[len(times) // 2]:8.1f} ms, 99 % "
              f"{times[min(len(times) * 99 // 100, len(times) - 1)]:8.1f} ms, {len(times)} times")


def main():
    fathom, log = sys.argv[1:3]
    span = float(sys.argv[3]) if len(sys.argv) > 3 else 1.0
    server = Server(fathom, log)
    pid = server.process.pid
    base = "/trace?" + urllib.parse.urlencode({"file": log})
    try:
        body, took = server.get(base + f"&start=0ns&end={int(span * 1e6)}ns")
        print(f"{'first page, %d bytes' % len(body):44s} {took:8.1f} ms, "
              f"{cpu_of(pid) * 1e3:.0f} ms of CPU since the start of the program")
        begun, cpu = time.monotonic(), cpu_of(pid)
        during = []
        while True:
            start = int(random.random() * span * 0.99 * 1e9)
            body, took = server.get(base + f"&start={start}ns&end={start + 1000000}ns")
            if b"still being read" not in body:
                break
            during.append(took)
            time.sleep(0.25)
            if time.monotonic() - begun > 120:
                break
        print(f"{'passes':44s} {time.monotonic() - begun:8.1f} s, {cpu_of(pid) - cpu:.1f} s of CPU")
        report("windows while the passes run", during)
        zooms, cpu = [], cpu_of(pid)
        for i in range(200):
            length = span * 1e9 / 2 ** (i % 16)
            start = random.random() * (span * 1e9 - length)
            zooms.append(server.get(base + f"&start={int(start)}ns&end={int(start + length)}ns")[1])
        report("zooms when they are done", zooms)
        print(f"{'  of it CPU of the server, mean':44s} {(cpu_of(pid) - cpu) * 1e3 / 200:8.1f} ms")
        print(f"{'greatest resident memory':44s} {memory_of(pid):8.0f} MB")
    finally:
        server.process.terminate()
        server.process.wait()


main()

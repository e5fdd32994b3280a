#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What a warm page costs through CGI: against an empty CGI program under the same lighttpd, and
against the HTTP door; requests are interleaved. Then 50 clients at once on a cold profile.

Arguments: the build folder, and optionally the number of rounds."""
import http.client
import os
import pathlib
import signal
import statistics
import subprocess
import sys
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tests" / "serve" / "cgi"))
BUILD = pathlib.Path(sys.argv[1]).resolve()
ROUNDS = int(sys.argv[2]) if len(sys.argv) > 2 else 300
FATHOM = BUILD / "src/cli/fathom"
sys.argv = ["webservers.py", str(FATHOM), str(BUILD / "tests/tools/generate-profile"), ""]
import webservers  # the same web server configurations as the tests

EMPTY = r"""
#include <stdio.h>
int main(void) { puts("Status: 200 OK\r\nContent-Type: text/plain\r\n\r\nempty"); return 0; }
"""


def timed(port, target):
    connection = http.client.HTTPConnection("127.0.0.1", port)
    begun = time.perf_counter()
    connection.request("GET", target)
    response = connection.getresponse()
    body = response.read()
    took = (time.perf_counter() - begun) * 1000
    connection.close()
    assert response.status == 200 and body
    return took


def row(name, times):
    times = sorted(times)
    print(f"{name:28} {statistics.median(times):8.2f} ms median "
          f"{times[int(len(times) * 0.99)]:8.2f} ms 99 %")
    return statistics.median(times)


def main():
    place = webservers.Place()
    empty = place.folder / "cgi-bin" / "empty.cgi"
    subprocess.run(["cc", "-O2", "-x", "c", "-", "-o", str(empty)], input=EMPTY.encode(), check=True)
    port, door_port = webservers.free_port(), webservers.free_port()
    processes = webservers.start(place, "lighttpd", port)
    door = subprocess.Popen([str(FATHOM), "view", "--no-open", "--port", str(door_port),
                             str(place.data)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        webservers.wait_for_port(port, processes[0])
        webservers.wait_for_port(door_port, door)
        query = "?" + webservers.address(place, "/deep", "clique/2")[1]
        targets = [("empty CGI program", port, "/cgi-bin/empty.cgi"),
                   ("fathom.cgi, warm page", port, "/cgi-bin/fathom.cgi/deep" + query),
                   ("HTTP door, warm page", door_port, "/deep" + query)]
        times = [[] for _ in targets]
        for number in range(ROUNDS + 5):
            for index, (_, at, target) in enumerate(targets):
                took = timed(at, target)
                if number >= 5:
                    times[index].append(took)
        medians = [row(name, each) for (name, _, _), each in zip(targets, times)]
        paired = statistics.median(b - a for a, b in zip(times[0], times[1]))
        print(f"{'over the empty program':28} {paired:8.2f} ms median of the paired differences")
        timed(port, "/cgi-bin/fathom.cgi/deep" + query)
        webservers.fetch(port, "/cgi-bin/fathom.cgi", *webservers.address(place, "/deep", "quit"),
                         method="POST")
        while place.servers_left():
            time.sleep(0.01)
        cold = []
        threads = [threading.Thread(target=lambda: cold.append(timed(port, targets[1][2])))
                   for _ in range(50)]
        begun = time.perf_counter()
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        servers = [name for name in place.servers_left() if name.endswith(".server")]
        print(f"{'50 clients at once, cold':28} {(time.perf_counter() - begun) * 1000:8.2f} ms for all,"
              f" {len(cold)} answered, {len(servers)} server")
        webservers.fetch(port, "/cgi-bin/fathom.cgi", *webservers.address(place, "/deep", "quit"),
                         method="POST")
    finally:
        door.send_signal(signal.SIGTERM)
        door.wait()
        webservers.stop(processes)
        place.close()


main()

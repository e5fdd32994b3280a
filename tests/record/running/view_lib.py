# SPDX-License-Identifier: Apache-2.0
"""A server of a program that runs, as a reader: pages, and the stream that tells when there is more."""
import atexit
import http.client
import json
import re
import subprocess

import record_lib as lib
from patience import PATIENCE, wait_until


class Pages:
    def __init__(self, host, file):
        self.host, self.file = host, file
        self.stream = self.location = None

    def get(self, path):
        connection = http.client.HTTPConnection(self.host, timeout=PATIENCE)
        connection.request("GET", path)
        answer = connection.getresponse()
        self.location = answer.getheader("Location")
        text = answer.read().decode()
        connection.close()
        return answer.status, text

    def page(self, query, ending=""):
        """When it is whole."""
        def whole():
            status, text = self.get(f"/deep{ending}?{query}&{self.file}")
            assert status == 200 and 'class="incomplete"' not in text, f"{status} {text[:500]}"
            return text
        return wait_until(whole, f"{query} of {self.file} is whole")

    def moment(self, command="menu"):
        """What comes from now on: its pages, as soon as there are any."""
        connection = http.client.HTTPConnection(self.host, timeout=PATIENCE)
        connection.request("POST", f"/moment?{command}&{self.file}")
        answer = connection.getresponse()
        text = answer.read().decode()
        connection.close()
        assert answer.status == 200, text
        self.page_of_moment = json.loads(text)["page"]
        phase = Pages(self.host, self.page_of_moment.split("&")[-1])
        first = phase.get("/" + self.page_of_moment)
        assert first[0] == 200, first
        phase.page(self.page_of_moment.split("?")[1].split("&")[0])
        return phase

    def listen(self, query="menu"):
        self.connection = http.client.HTTPConnection(self.host, timeout=PATIENCE)
        self.connection.request("GET", f"/live?{query}&{self.file}")
        self.stream = self.connection.getresponse()
        return self.stream.status, self.stream.getheader("Content-Type")

    def event(self, *kinds):
        """What the next event of one of these kinds tells, without any: of the profile's state."""
        kind = None
        while True:
            line = self.stream.readline().decode()
            assert line != "", "the stream has ended"
            if line.startswith("event:"):
                kind = line[6:].strip()
            if line.startswith("data:") and kind in (kinds or ("generation",)):
                return json.loads(line[5:])

    def version(self, before):
        """The page's text by the stream, of the text before (None: of none)."""
        told = self.event("page", "delta")
        self.sent = len(json.dumps(told))
        if isinstance(told, dict):
            return told["text"]
        units, at, parts = before.encode("utf-16-le"), 0, []  # scripts count so
        for change in told:
            if isinstance(change, str):
                parts.append(change.encode("utf-16-le"))
                continue
            if change > 0:
                parts.append(units[2 * at:2 * (at + change)])
            at += abs(change)
        assert 2 * at <= len(units), told
        return b"".join(parts).decode("utf-16-le")

    def close(self):
        if self.stream is not None:
            self.connection.close()


class View(Pages):
    """`fathom view NAME`, which this ends."""

    def __init__(self, folder, name):
        self.process = subprocess.Popen([lib.FATHOM, "view", "--no-open", name], cwd=folder,
                                        stdout=subprocess.PIPE, text=True)
        atexit.register(self.process.kill)  # it has the test's output, too, and a test that failed would not end
        address = re.search(r"http://([^/]+)/deep\?menu&(\S+)", self.process.stdout.readline())
        super().__init__(address[1], address[2])

    def end(self):
        self.close()
        self.process.terminate()
        status = self.process.wait(PATIENCE)
        atexit.unregister(self.process.kill)
        self.process.stdout.close()
        return status


def calls_of(view):
    """Of leaf(), by the list of functions."""
    text = view.page("top_procs/1-20/callseqs/self/oa", ".csv")
    for line in text.splitlines():
        if "leaf" in line:
            return [int(word) for word in line.split(",") if word.isdigit()]
    return []


def reaches(pages, wanted):
    """The row of leaf(), when it has this number of calls."""
    def found():
        row = calls_of(pages)
        assert wanted in row, row
        return row
    return wait_until(found, f"leaf() has {wanted} calls")

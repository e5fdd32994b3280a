#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Pages kept without a server: test_site.py FATHOM GENERATE. Every link of the one file and of the
folder leads to a page or a place that is there; what does not fit is counted, nothing else is touched."""
import html.parser
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest
import urllib.parse

FATHOM, GENERATE = (os.path.abspath(each) for each in sys.argv[1:3])
FOLDER = tempfile.TemporaryDirectory(prefix="fathom-site-")
PROFILE = os.path.join(FOLDER.name, "Deep.data")


def run(*arguments, status=0):
    told = subprocess.run([FATHOM, *arguments], capture_output=True, text=True, timeout=300, cwd=FOLDER.name)
    if told.returncode != status:
        raise AssertionError(f"{arguments}: {told.returncode}: {told.stdout}{told.stderr}")
    return told.stdout if status == 0 else told.stderr


class Page(html.parser.HTMLParser):
    """What a page links to, loads, and can be linked to by; the texts of its scripts."""

    def __init__(self, text):
        super().__init__()
        self.links, self.loads, self.ids, self.data, self.titles = [], [], [], [], []
        self.inside = None
        self.feed(text)

    def handle_starttag(self, tag, pairs):
        attributes = dict(pairs)
        self.inside = (tag, attributes.get("type"))
        if "id" in attributes:
            self.ids.append(attributes["id"])
        if "href" in attributes:
            (self.loads if tag == "link" else self.links).append(attributes["href"])
        if "src" in attributes:
            self.loads.append(attributes["src"])
        if tag == "form":
            raise AssertionError("a form, but there is no server")

    def handle_endtag(self, tag):
        self.inside = None

    def handle_data(self, text):
        if self.inside == ("script", "application/json"):
            self.data.append(json.loads(text))
        if self.inside and self.inside[0] == "h1":
            self.titles.append(text)


def flame_links(page):
    return [address for each in page.data for address in each["pages"].values()]


class OneFile(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.path = os.path.join(FOLDER.name, "pages.html")
        cls.told = run("report", "--html", cls.path, PROFILE)
        cls.text = pathlib.Path(cls.path).read_text()
        cls.page = Page(cls.text)

    def test_links(self):
        links = self.page.links + flame_links(self.page)
        self.assertGreater(len(set(links)), 20)
        for link in links:
            self.assertRegex(link, "^#", "a link out of the file")
            self.assertIn(urllib.parse.unquote(link[1:]), self.page.ids)
        self.assertEqual(len(self.page.ids), len(set(self.page.ids)), "an id twice")

    def test_alone(self):
        self.assertEqual(self.page.loads, [])
        self.assertNotRegex(self.text, r"https?://(?!www\.w3\.org)")

    def test_what_is_there(self):
        parts = [each for each in self.page.ids if re.fullmatch(r"p\d+", each)]
        pages, size = re.search(r"(\d+) pages, (\d+) bytes", self.told).groups()
        self.assertEqual(int(pages), len(parts))
        self.assertEqual(int(size), len(self.text.encode()))
        self.assertLess(int(size), 1000000)
        self.assertEqual(len(self.page.titles), len(parts))
        self.assertGreaterEqual(len(parts), 20)
        self.assertTrue(any(each["flame"]["boxes"] for each in self.page.data))

    def test_same_again(self):
        again = os.path.join(FOLDER.name, "again.html")
        run("report", "--html", again, PROFILE)
        self.assertEqual(pathlib.Path(again).read_text(), self.text)

    def test_query_still_prints(self):
        self.assertTrue(run("report", "--html", "menu", PROFILE).startswith("<!DOCTYPE html>"))

    def test_not_writable(self):
        told = run("report", "--html", os.path.join(FOLDER.name, "none", "x.html"), PROFILE, status=1)
        self.assertIn("x.html", told)


class Folder(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(FOLDER.name, "site")
        cls.told = run("export", f"--static={cls.folder}", "--pages=300", PROFILE)
        cls.pages = {path.name: Page(path.read_text()) for path in cls.folder.glob("*.html")}

    def test_links(self):
        seen = set()
        for name, page in self.pages.items():
            for link in page.links + flame_links(page):
                file, _, place = urllib.parse.unquote(link).partition("#")
                self.assertIn(file or name, self.pages, f"{name}: {link}")
                if place:
                    self.assertIn(place, self.pages[file or name].ids, f"{name}: {link}")
                seen.add(file)
            for load in page.loads:
                self.assertTrue((self.folder / load).is_file(), f"{name}: {load}")
        self.assertEqual(seen - {""}, set(self.pages), "a page that no other leads to")

    def test_bound(self):
        pages, left_out = re.search(r"(\d+) pages, .*; (\d+) more", self.told).groups()
        self.assertEqual(int(pages), len(self.pages))
        self.assertLessEqual(len(self.pages), 300)
        self.assertGreater(len(self.pages), 200)
        self.assertGreater(int(left_out), 0)

    def test_taken_folder(self):
        before = sorted(os.listdir(self.folder))
        told = run("export", f"--static={self.folder}", PROFILE, status=1)
        self.assertIn("expected a folder that is new or empty", told)
        self.assertEqual(sorted(os.listdir(self.folder)), before)

    def test_empty_folder(self):
        empty = pathlib.Path(FOLDER.name, "empty")
        empty.mkdir()
        run("export", "--static=empty/", "--pages=1", PROFILE)
        self.assertEqual(sorted(os.listdir(empty)), ["assets", "index.html"])
        self.assertEqual(Page((empty / "index.html").read_text()).links.count("index.html"), 1)

    def test_usage(self):
        run("export", "--static=x", "--to=folded", PROFILE, status=2)
        run("export", "--static=x", "--pages=0", PROFILE, status=2)
        self.assertFalse(os.path.exists(os.path.join(FOLDER.name, "x")))

    def test_no_rest(self):
        rest = [name for name in os.listdir(FOLDER.name) if name.endswith(".new")]
        self.assertEqual(rest, [])


if __name__ == "__main__":
    subprocess.run([GENERATE, "--nodes=3000", "--seed=1", PROFILE], check=True)
    unittest.main(argv=sys.argv[:1], verbosity=2)

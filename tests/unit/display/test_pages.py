#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks the sample page in all formats: test_pages.py PRINT_SAMPLE. Speaks TAP.

HTML: tags nest and close, attributes and ids are unique, rows of a table cover the same columns,
references to ids lead somewhere, no inline script or style. JSON: parses, keys do not repeat,
every row has every column. CSV: every line has the fields of its header. Text: no escape codes.
"""
import csv
import html.parser
import io
import json
import subprocess
import sys

from tap import Tap

VOID = {"meta", "link", "br", "wbr", "hr", "img", "input", "col"}
CLOSED_BY_PARENT = {"p": {"p", "div", "ul", "table", "pre", "h1", "h2", "h3"}}


class Page(html.parser.HTMLParser):
    def __init__(self):
        super().__init__(convert_charrefs=True)
        self.stack, self.ids, self.targets, self.errors = [], set(), [], []
        self.tables, self.tags, self.text = [], {}, []

    def fail(self, what):
        self.errors.append(f"line {self.getpos()[0]}: {what}")

    def handle_starttag(self, tag, attributes):
        names = [name for name, _ in attributes]
        values = dict(attributes)
        self.tags[tag] = self.tags.get(tag, 0) + 1
        if len(set(names)) != len(names):
            self.fail(f"attribute repeated in <{tag}>")
        if "style" in names or any(name.startswith("on") for name in names):
            self.fail(f"inline style or script in <{tag}>")
        if "id" in values:
            if values["id"] in self.ids:
                self.fail(f"id {values['id']} twice")
            self.ids.add(values["id"])
        if values.get("href", "").startswith("#"):
            self.targets.append(values["href"][1:])
        if tag == "script" and "src" not in values:
            self.fail("inline script")
        if tag == "li" and self.stack[-1] != "ul":
            self.fail("li outside of a list")
        if "p" in self.stack and tag in CLOSED_BY_PARENT["p"]:
            self.fail(f"<{tag}> inside <p>")
        self.handle_table(tag, values)
        if tag not in VOID:
            self.stack.append(tag)

    def handle_table(self, tag, values):
        if tag == "table":
            self.tables.append({"columns": 0, "rows": [], "carried": []})
        elif tag == "colgroup":
            self.tables[-1]["columns"] += int(values.get("span", 1))
        elif tag == "tr":
            # Columns that cells of the rows above reach down into.
            carried = self.tables[-1]["carried"]
            self.tables[-1]["rows"].append(sum(1 for left in carried if left > 0))
            self.tables[-1]["carried"] = [left - 1 for left in carried if left > 1]
        elif tag in ("td", "th"):
            span, down = int(values.get("colspan", 1)), int(values.get("rowspan", 1))
            self.tables[-1]["rows"][-1] += span
            self.tables[-1]["carried"] += [down - 1] * span if down > 1 else []

    def handle_endtag(self, tag):
        if not self.stack or self.stack[-1] != tag:
            self.fail(f"</{tag}> closes {self.stack[-1:]}")
        else:
            self.stack.pop()

    def handle_data(self, data):
        self.text.append(data)


def check_html(data):
    page = Page()
    text = data.decode("utf-8")
    page.feed(text)
    page.close()
    errors = page.errors
    if page.stack:
        errors.append(f"left open: {page.stack}")
    for target in page.targets:
        if target not in page.ids:
            errors.append(f"#{target} leads nowhere")
    for number, table in enumerate(page.tables):
        want = table["columns"] or max(table["rows"])
        if any(row != want for row in table["rows"]):
            errors.append(f"table {number}: rows cover {set(table['rows'])} of {want} columns")
    for tag in ("h1", "main", "title", "thead", "caption"):
        if not page.tags.get(tag):
            errors.append(f"no <{tag}>")
    if page.tags["h1"] != 1 or page.tags["main"] != 1:
        errors.append("more than one h1 or main")
    if page.tags.get("script"):
        errors.append("a script where none was asked for")
    if not text.startswith("<!DOCTYPE html>\n"):
        errors.append("no doctype")
    bad = [c for c in text if (ord(c) < 32 and c not in "\n\t") or 127 <= ord(c) < 160]
    if bad:
        errors.append(f"control characters {bad}")
    return errors


def unique(pairs):
    if len({key for key, _ in pairs}) != len(pairs):
        raise ValueError(f"a key repeats: {[key for key, _ in pairs]}")
    return dict(pairs)


def no_constant(name):
    raise ValueError(f"{name} is no JSON")


def check_json(data):
    page = json.loads(data.decode("utf-8"), object_pairs_hook=unique, parse_constant=no_constant)
    errors = []
    keys = ["page", "title", "incomplete", "facts", "text", "tables", "sources", "links", "controls"]
    if list(page) != keys:
        errors.append(f"keys {list(page)}")
    for table in page["tables"]:
        names = {column["name"] for column in table["columns"]}
        for row in table["rows"]:
            if names - set(row["cells"]):
                errors.append(f"row without {names - set(row['cells'])}")
            for extra in set(row["cells"]) - names:
                if not extra.endswith("_query") or extra[:-6] not in names:
                    errors.append(f"cell {extra} without column")
    if len(page["tables"]) != 2 or len(page["tables"][0]["rows"]) < 28:
        errors.append("rows are missing")
    if page["facts"]["not_a_number"] is not None:
        errors.append("not a number")
    return errors


def check_csv(data):
    errors, width, tables = [], None, 0
    if data.replace(b"\r\n", b"").count(b"\r"):
        errors.append("a bare CR")
    for row in csv.reader(io.StringIO(data.decode("utf-8", "surrogateescape"), newline="")):
        if not row:
            width = None
        elif width is None:
            width, tables = len(row), tables + 1
        elif len(row) != width:
            errors.append(f"{len(row)} fields, header has {width}")
    if tables != 3:
        errors.append(f"{tables} tables")
    return errors


def check_text(data):
    text = data.decode("utf-8")
    errors = [f"control character {c!r}" for c in text if ord(c) < 32 and c != "\n"]
    if any(line.endswith(" ") for line in text.split("\n")):
        errors.append("blanks at the end of a line")
    return errors


def main(program):
    checks = {"html": check_html, "json": check_json, "csv": check_csv, "text": check_text}
    modes = [[], ["developer"], ["plain"], ["wide"]]
    tap = Tap()
    for name, check in checks.items():
        for mode in modes:
            done = subprocess.run([program, name, *mode], check=True, capture_output=True)
            try:
                errors = check(done.stdout)
            except ValueError as error:
                errors = [str(error)]
            tap.check(not errors, " ".join([name, *mode]), "\n".join(errors))
    return tap.done()


sys.exit(main(*sys.argv[1:]))

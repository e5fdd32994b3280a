#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""words.py finds comments and sentences where they are, and nothing in strings and code."""
import unittest

import words

SOURCE = '''// SPDX-License-Identifier: Apache-2.0
// The first comment,
// of two lines.
int a; // whose it is
char *b = "// no comment", c = '"'; /* What it
 * holds */
    // Where it goes
'''
DOCUMENT = f"""# A heading of {"many " * 40} words

One sentence. Another: {"word " * 31}.
```
code {"word " * 40}
```
- `a {"b " * 40}` is one word here.

| {"cell " * 31} | short |
"""


class Words(unittest.TestCase):
    def test_comments(self):
        self.assertEqual([line for line, _ in words.comments(SOURCE)], [2, 4, 5, 7])
        found = [bool(words.RELATIVE.match(text)) for _, text in words.comments(SOURCE)]
        self.assertEqual(found, [False, True, True, True])

    def test_sentences(self):
        count, found = words.long_sentences([("x.md", words.prose("x.md", DOCUMENT))])
        self.assertEqual([number for _, number, _ in found], [32, 31])
        self.assertEqual(count, 3)

    def test_rows_of_help(self):
        text = "Does it.\n\nOptions:\n  -a, --all  First line\n" + " " * 13 + "and second\n  -b  Other\n"
        self.assertEqual(list(words.help_rows(text)), ["Does it.", "Options:", "First line and second", "Other"])


unittest.main()

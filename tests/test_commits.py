#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What commits.py finds wrong with a message."""
import unittest

from commits import SMALL, SUBJECT_MAX, faults

WHY = "record: explain when a container blocks perf events\n\nThe error named a setting.\n"


class Messages(unittest.TestCase):
    def test_good_ones(self):
        self.assertEqual(faults(WHY, 1000), [])
        self.assertEqual(faults("docs: name the option\n", SMALL), [])
        self.assertEqual(faults("x" * SUBJECT_MAX, 0), [])

    def test_bad_ones(self):
        self.assertEqual(len(faults("x" * (SUBJECT_MAX + 1), 0)), 1)
        self.assertEqual(len(faults("record: do it.", 0)), 1)
        self.assertEqual(len(faults("record: do it\nbecause", 0)), 1)
        self.assertEqual(len(faults("record: do it\n\n  \n", SMALL + 1)), 1)
        self.assertEqual(len(faults("x" * 80 + ".\nbecause", 1000)), 3)


unittest.main()

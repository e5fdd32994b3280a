#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""feedback and procrep as programs: output, exit status, bad input."""
import json
import os
import sys
import unittest

import command_lib as lib
from command_lib import PROFILE, path, run


class Feedback(unittest.TestCase):
    def test_bad_usage(self):
        out = path("never.feedback")
        asked = ["--implicit-parallelism"]
        for arguments, status, text in [
                ([], 2, b"expected create or report"),
                (["create", PROFILE, out], 2, b"expected a kind of feedback"),
                (["create", *asked, PROFILE], 2, b"expected PROFILE and FEEDBACK"),
                (["create", *asked, "--desired-parallelism", "1", PROFILE, out], 2, b"be > 1"),
                (["create", *asked, "--ipar-speedup-threshold=x", PROFILE, out], 2, b"a number"),
                (["create", *asked, "--ipar-speedup-alg=num_vars", PROFILE, out], 2,
                 b"not a speedup estimate algorithm"),
                (["create", *asked, "--ipar-best-par-alg", "greedy(", PROFILE, out], 2,
                 b"not an algorithm"),
                (["create", *asked, "-v5", PROFILE, out], 1,
                 b"warning: verbosity level should not exceed 4.\n"),
                (["create", *asked, "-v5", PROFILE, out], 1, b"procrep"),
                (["create", *asked, "--verbosity=-1", PROFILE, out], 1,
                 b"warning: verbosity level should not be negative.\n"),
                (["report", "-v5", path("nothing")], 1,
                 b"warning: verbosity level should not exceed 4.\n"),
                (["create", *asked, PROFILE, out], 1, b"procrep"),
                (["report", path("nothing")], 1, b"can't open input file")]:
            result = run("feedback", *arguments)
            self.assertEqual((result.returncode, arguments), (status, arguments))
            self.assertIn(text, result.stderr)
            self.assertFalse(os.path.exists(out))

    def test_report(self):
        name = path("empty.feedback")
        with open(name, "w", encoding="ascii") as file:
            file.write("Mercury Compiler Feedback\n19\n./x\n[].\n")
        self.assertEqual(run("feedback", "report", name).stdout,
                         b"Feedback report for ./x:\n\nno report available.\n")


class Procrep(unittest.TestCase):
    """A file of one procedure, written by hand; its layout is docs/format-procrep.md's."""

    def setUp(self):
        strings = b"\0<too many variables>\0a.m\0X\0m\0q\0"
        self.file = path("one.procrep")
        with open(self.file, "wb") as file:
            file.write(b"Mercury deep profiler procrep version 5\n\x01\x01m\x20" + strings +
                       b"\x01\0\x01m\x01m\x01p\x02\0" + bytes.fromhex(
                           "0000003a0000002c0000000001" "0100000034" "00000002010101020001"
                           "11000000380000003c000000020102" "000000000000000c0000000102" "0606"
                           "0000"))

    def test_text(self):
        expected = (b"Module m\ndet pred m.p/2-0(X::(ground >> ground), V_2::(free >> ground)) :-\n"
                    b"  % root goal\n  % det\n  m.q(X, V_2)\n\n")
        self.assertEqual(run("procrep", "-f", self.file).stdout, expected)
        self.assertEqual(run("procrep", "-f", self.file, "m", "m").stdout, expected * 2)
        for name in ["p", "m.p/2-0", "pred m.p/2-0"]:
            self.assertEqual(run("procrep", "-f", self.file, "--proc", name).stdout, expected)

    def test_json(self):
        for options in [[], ["m"], ["--proc", "p"]]:
            page = json.loads(run("procrep", "--json", "-f", self.file, *options).stdout)
            module, = page["modules"]
            proc, = module["procedures"]
            self.assertEqual((page["version"], module["module"]), (5, "m"))
            self.assertEqual((proc["procedure"], proc["determinism"], proc["file"]),
                             ("pred m.p/2-0", "det", "a.m"))
            self.assertEqual(proc["head"][1],
                             {"before": "free", "after": "ground", "variable": "V_2"})
            self.assertEqual(proc["goals"], [{
                "kind": "call", "determinism": "det", "child_count": 0, "path": "",
                "code": "m.q(X, V_2)", "file": "a.m", "line": 12}])

    def test_bad_input(self):
        for arguments, status, text in [
                (["-f", path("nothing")], 1, b"there is no such file"),
                (["-f", PROFILE], 1, b"offset 0: not a program representation file"),
                (["-f", self.file, "nobody"], 1, b"no module named 'nobody'"),
                (["-f", self.file, "--proc", "nobody"], 1, b"no procedure is named 'nobody'")]:
            result = run("procrep", *arguments)
            self.assertEqual(result.returncode, status)
            self.assertIn(text, result.stderr)


if __name__ == "__main__":
    lib.make_profile()
    unittest.main(argv=sys.argv[:1], verbosity=2)

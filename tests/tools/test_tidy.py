#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Which files clang-tidy looks at after a change, and what makes it look at one again."""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, sys.argv.pop(1))
import tidy  # noqa: E402

DAY = 86400
NOW = 1_700_000_000


def git(*arguments, when=NOW):
    date = f"{when} +0000"
    subprocess.run(["git", "-c", "user.name=a", "-c", "user.email=a@b.c", *arguments], check=True,
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                   env={**os.environ, "GIT_AUTHOR_DATE": date, "GIT_COMMITTER_DATE": date})


def commit(when=NOW, **texts):
    for name, text in texts.items():
        path = pathlib.Path(name.replace("__", "/").replace("_c", ".c").replace("_build", ".build"))
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    git("add", "-A")
    git("commit", "-q", "-m", "change", when=when)


def touched(name, *made_of):
    root = pathlib.Path.cwd()
    return tidy.is_touched(tidy.changed_since_fork(), root / name, [str(root / other) for other in made_of])


@unittest.skipUnless(shutil.which("git"), "git is not installed")
class Changes(unittest.TestCase):
    def setUp(self):
        before, folder = os.getcwd(), tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.addCleanup(os.chdir, before)
        os.chdir(os.path.realpath(folder.name))
        git("init", "-q", "-b", "main")
        commit(NOW - 3 * DAY, src__a_c="a", src__b_c="b", src__meson_build="1", lib__d_c="d",
               lib__meson_build="1", meson_build="1")

    def test_main_counts_a_day(self):
        self.assertIsNone(tidy.fork_point())
        commit(NOW - 2 * DAY, src__a_c="aa")
        commit(NOW - DAY // 2, src__b_c="bb")
        commit(src__e_c="e")
        self.assertEqual(tidy.changed_since_fork(), {"src/b.c", "src/e.c"})

    def test_a_branch_counts_from_its_fork(self):
        git("update-ref", "refs/remotes/origin/main", "HEAD")
        commit(NOW - 2 * DAY, src__a_c="aa")
        commit(src__b_c="bb")
        self.assertEqual(tidy.changed_since_fork(), {"src/a.c", "src/b.c"})

    def test_headers_and_build_files(self):
        git("update-ref", "refs/remotes/origin/main", "HEAD")
        commit(src__b_c="bb")
        self.assertTrue(touched("src/b.c"))
        self.assertFalse(touched("src/a.c", "src/a.c"))
        self.assertTrue(touched("src/a.c", "src/a.c", "src/b.c"))
        commit(lib__meson_build="2")
        self.assertTrue(touched("lib/d.c"))
        self.assertFalse(touched("src/a.c"))
        commit(meson_build="2")
        self.assertTrue(touched("src/a.c"))

    def test_other_rules_touch_all(self):
        git("update-ref", "refs/remotes/origin/main", "HEAD")
        commit(tools__lint__x_c="x")
        self.assertIsNone(tidy.changed_since_fork())


class Code(unittest.TestCase):
    def same(self, one, other):
        return tidy.code_of(one.encode()) == tidy.code_of(other.encode())

    def test_comments_do_not_count(self):
        self.assertTrue(self.same("int a; /* one */\nint b; // two\n", "int a; /* other */\nint b; // it's\n"))
        self.assertFalse(self.same("/* a */ int a;", "/* a */ int b;"))
        self.assertFalse(self.same("/* a */\n", "/* a\n */\n"), "lines of functions are counted")

    def test_what_is_no_comment_counts(self):
        self.assertFalse(self.same('f("/* one */");', 'f("/* two */");'))
        self.assertFalse(self.same("f('\"', a); /* \" */", "f('\"', b); /* \" */"))
        self.assertFalse(self.same('f("\\\"//one");', 'f("\\\"//two");'))

    def test_comments_that_the_linter_reads(self):
        self.assertFalse(self.same("f(/*a=*/1);", "f(/*b=*/1);"))
        self.assertFalse(self.same("f(1); // NOLINT", "f(1); // "))

    def test_folders_do_not_count(self):
        self.assertTrue(self.same('#include "one/a.h"\n', '#include "two/a.h"\n'))
        self.assertFalse(self.same('#include "one/a.h"\n', '#include "one/b.h"\n'))
        self.assertFalse(self.same('char *a = "one/a";\n', 'char *a = "two/a";\n'))

    def test_options_without_files(self):
        command = "ccache cc -Iruntime -I../runtime -std=gnu17 -DX='a b' -MD -MQ a.o -MF a.d -o a.o -c ../a.c"
        self.assertEqual(tidy.options_of(command), ["ccache", "cc", "-std=gnu17", "-DX=a b", "-MD"])


unittest.main()

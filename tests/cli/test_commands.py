#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""view, report, dump, check, convert as programs: output, exit status, bad input."""
import contextlib
import csv
import ctypes
import hashlib
import io
import json
import os
import pty
import re
import shutil
import stat
import subprocess
import sys
import tempfile
import unittest

import command_lib as lib
from command_lib import FATHOM, GENERATE, FOLDER, PROFILE, path, number, run
from patience import PATIENCE, wait_until

LIBC = ctypes.CDLL(None, use_errno=True)
PR_CAPBSET_DROP, CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH = 24, 1, 2


def read_as_others_do():
    """Root without the right to read everything, from the next exec on."""
    if os.geteuid() == 0:
        for capability in (CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH):
            if LIBC.prctl(PR_CAPBSET_DROP, capability, 0, 0, 0) != 0:
                raise OSError("prctl")


class Output(unittest.TestCase):
    def test_a_pipe_is_written_to_and_stays(self):
        folder = tempfile.mkdtemp(dir=FOLDER.name)
        pipe, link, file = (os.path.join(folder, name) for name in ("pipe", "link", "file"))
        os.mkfifo(pipe)
        os.symlink("pipe", link)
        for command in (["merge", PROFILE, "-o"], ["export", "--to=folded", PROFILE, "-o"], ["convert", PROFILE]):
            self.assertEqual(run(*command, file).returncode, 0)
            for place in (pipe, link):
                with subprocess.Popen(["cat", place], stdout=subprocess.PIPE) as reader:
                    self.assertEqual(run(*command, place).returncode, 0)
                    given = reader.communicate(timeout=PATIENCE)[0]
                with open(file, "rb") as expected:
                    self.assertEqual(given, expected.read())
            self.assertEqual(sorted(os.listdir(folder)), ["file", "link", "pipe"])
            self.assertTrue(stat.S_ISFIFO(os.lstat(pipe).st_mode))
            self.assertTrue(os.path.islink(link))


class Report(unittest.TestCase):
    def test_formats(self):
        text = run("report", "menu", PROFILE)
        self.assertEqual((text.returncode, text.stderr), (0, b""))
        self.assertTrue(text.stdout.startswith(b"Deep profiler menu\n"))
        self.assertNotIn(b"\x1b", text.stdout)
        page = json.loads(run("report", "--json", "menu", PROFILE).stdout)
        self.assertEqual(page["page"], "menu")
        rows = list(csv.reader(io.StringIO(
            run("report", "--csv", "top_procs/1-5/callseqs/self/oa", PROFILE).stdout.decode())))
        self.assertEqual(len(rows), 6)
        self.assertIn("callseqs_self_count", rows[0])
        html = run("report", "--html", "menu", PROFILE).stdout
        self.assertIn(b"<style>", html)
        self.assertTrue(html.endswith(b"</html>\n"))

    def test_preferences_change_the_columns(self):
        query = "clique/1&_-_-s-_-_/box/cols/5/20/nosum/context/nc/th/mqwd/sss/nodev"
        page = json.loads(run("report", "--json", query, PROFILE).stdout)
        names = [column["name"] for column in page["tables"][0]["columns"]]
        self.assertIn("callseqs_self_count", names)
        self.assertNotIn("calls_count", names)

    def test_width_and_colour(self):
        query = "top_procs/1-20/callseqs/self/oa"
        wide = run("report", query, PROFILE).stdout.decode().splitlines()
        narrow = run("report", "--width", "80", query, PROFILE).stdout.decode().splitlines()
        self.assertGreater(max(map(len, wide)), 80)
        self.assertLessEqual(max(map(len, narrow)), 80)
        coloured = run("report", "--color=always", query, PROFILE).stdout
        self.assertIn(b"\x1b[", coloured)
        plain = re.sub(r"\x1b\[[0-9;]*m", "", coloured.decode()).splitlines()
        self.assertEqual(plain, wide)

    def test_colour_on_terminals(self):
        """Not where none is wanted or shown; an empty NO_COLOR is none."""
        for changes, coloured in (({"TERM": "xterm"}, True), ({"TERM": "dumb"}, False),
                                  ({"TERM": "xterm", "NO_COLOR": "1"}, False),
                                  ({"TERM": "xterm", "NO_COLOR": ""}, True)):
            environment = {**{k: v for k, v in os.environ.items() if k != "NO_COLOR"}, **changes}
            ours, its = pty.openpty()
            with subprocess.Popen([FATHOM, "report", "--no-pager", "root/no", PROFILE], stdout=its, env=environment):
                os.close(its)
                text = b""
                with contextlib.suppress(OSError):  # the end of a terminal
                    while part := os.read(ours, 65536):
                        text += part
            os.close(ours)
            self.assertGreater(len(text), 100)
            self.assertEqual(b"\x1b[" in text, coloured, changes)

    def test_usage(self):
        for arguments in (["menu"], [], ["menu", PROFILE, "x"], ["--json", "--csv", "menu", PROFILE],
                          ["--color=blue", "menu", PROFILE], ["--json=no", "menu", PROFILE], ["--width=-7", "menu", PROFILE],
                          ["clikue/1", PROFILE], ["menu&p-q", PROFILE], ["quit", PROFILE]):
            told = run("report", *arguments)
            self.assertEqual(told.returncode, 2, arguments)
            self.assertEqual(len(told.stderr.splitlines()), 1, told.stderr)
            self.assertEqual(told.stdout, b"")

    def test_what_is_not_there(self):
        for query in ("clique/4000000000", "proc/0", "module/no such", "dump_proc_dynamic/99999999"):
            told = run("report", query, PROFILE)
            self.assertEqual(told.returncode, 1, query)
            self.assertRegex(told.stderr.decode(), r"^fathom report: Deep\.data: .*\n$")

    def test_a_query_may_be_left_out(self):
        self.assertEqual(run("report", PROFILE).stdout, run("report", "menu", PROFILE).stdout)

    def test_files_of_another_command(self):
        """What the file is, and which command reads it, in a line of its own."""
        with tempfile.TemporaryDirectory() as folder:
            log, recording = os.path.join(folder, "a.eventlog"), os.path.join(folder, "a.rec")
            with open(log, "wb") as out:
                out.write(b"hdrbhetb")
            with open(recording, "wb") as out:
                out.write(b"FATHOMR\n" + bytes(100))
            for arguments, what, command in (
                    (["report", "menu", log], "an event log", f"fathom view {log}"),
                    (["check", log], "an event log", f"fathom log stat {log}"),
                    (["log", "stat", PROFILE], "a deep profile", f"fathom report {PROFILE}"),
                    (["log", "validate", PROFILE], "a deep profile", f"fathom view {PROFILE}"),
                    (["report", "menu", recording], "a recording that is not finished",
                     f"fathom finish {recording}"),
                    (["finish", PROFILE], "a deep profile", f"fathom view {PROFILE}")):
                told = run(*arguments)
                self.assertEqual(told.returncode, 1, arguments)
                last = told.stderr.decode().splitlines()[-1]
                self.assertTrue(last.startswith(f"It is {what}: "), told.stderr)
                self.assertIn(command, last)
        told = run("report", PROFILE, "menu")
        self.assertIn(f"fathom report menu {PROFILE}", told.stderr.decode())

    def test_a_program_whose_recording_has_no_place_does_not_run(self):
        with tempfile.TemporaryDirectory() as folder:
            ran = os.path.join(folder, "ran")
            told = run("record", "-o", os.path.join(folder, "missing", "prof"), "--", "touch", ran)
            self.assertEqual(told.returncode, 1)
            self.assertIn(b"cannot write recordings to ", told.stderr)
            self.assertIn(b"/missing: No such file or directory", told.stderr)
            self.assertFalse(os.path.exists(ran))

    def test_no_recording_goes_elsewhere_from_a_removed_folder(self):
        def remove_it():
            os.rmdir(os.getcwd())
        with tempfile.TemporaryDirectory() as folder:
            gone, ran = os.path.join(folder, "gone"), os.path.join(folder, "ran")
            def record(name, *words):
                os.mkdir(gone)
                return subprocess.run([os.path.abspath(FATHOM), "record", *name, "--", *words], capture_output=True, cwd=gone,
                                      preexec_fn=remove_it, timeout=PATIENCE)
            for name in ([], ["-o", "prof"], ["-o", "./prof"]):
                told = record(name, "touch", ran)
                self.assertEqual((told.returncode, told.stderr),
                                 (1, b"fathom record: cannot write recordings to .: No such file or directory\n"))
                self.assertFalse(os.path.exists(ran))
            told = record(["-o", os.path.join(folder, "prof")], "touch", ran)
            self.assertEqual((told.returncode, os.path.exists(ran)), (0, True), told.stderr)
            self.assertTrue(os.path.exists(os.path.join(folder, "prof.data")))

    def test_a_closed_pipe_is_an_error(self):
        with open("/dev/full", "wb") as full:
            told = subprocess.run([FATHOM, "report", "menu", PROFILE], stdout=full,
                                  stderr=subprocess.PIPE, timeout=PATIENCE)
        self.assertEqual(told.returncode, 1)
        self.assertIn(b"cannot write", told.stderr)


class ClosedStreams(unittest.TestCase):
    """Standard streams that are closed do not become files of the program's own."""

    def streams_of(self, process):
        return [os.readlink(f"/proc/{process.pid}/fd/{fd}") for fd in range(3)]

    def start(self, closed, *arguments, **how):
        return subprocess.Popen(["sh", "-c", f'exec "$0" "$@" {closed}', FATHOM, *arguments], **how)

    def test_a_server(self):
        for closed in ("2>&-", "<&-", "<&- 2>&-"):
            with self.start(closed, "view", "--no-open", PROFILE, stdin=subprocess.DEVNULL,
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
                self.assertIn(b"serving http", process.stdout.readline())
                streams = self.streams_of(process)
                process.terminate()
            self.assertEqual(streams[0], "/dev/null", closed)
            self.assertEqual(streams[2] == "/dev/null", "2>&-" in closed, closed)

    def test_a_reader(self):
        """It waits for its standard input, so that it can be looked at."""
        for closed in ("2>&-", ">&-", ">&- 2>&-"):
            with self.start(closed, "log", "stat", "-", stdin=subprocess.PIPE,
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
                wanted = [fd for fd in (1, 2) if (">&-", "2>&-")[fd - 1] in closed.split()]
                wait_until(lambda: all(os.readlink(f"/proc/{process.pid}/fd/{fd}") == "/dev/null" for fd in wanted),
                           "what was closed leads to nothing")
                streams = self.streams_of(process)
                self.assertEqual([streams[fd] for fd in wanted], ["/dev/null"] * len(wanted))
                process.stdin.close()
                self.assertEqual(process.wait(PATIENCE), 1)

    def test_what_cannot_be_printed_is_an_error(self):
        for closed in (">&-", "<&- >&-"):
            for command in (["report", "menu", PROFILE], ["dump", PROFILE],
                            ["report", "--json", "menu", PROFILE]):
                with self.start(closed, *command, stderr=subprocess.PIPE) as process:
                    self.assertIn(b"cannot write", process.stderr.read())
                self.assertEqual(process.returncode, 1, command)

    def test_files_that_are_written(self):
        with tempfile.TemporaryDirectory() as folder:
            plain, other = os.path.join(folder, "a.data"), os.path.join(folder, "b.data")
            self.assertEqual(run("convert", PROFILE, plain).returncode, 0)
            for closed in ("2>&-", ">&-", "<&- >&- 2>&-"):
                with self.start(closed, "convert", PROFILE, other) as process:
                    self.assertEqual(process.wait(PATIENCE), 0)
                with open(plain, "rb") as a, open(other, "rb") as b:
                    self.assertEqual(a.read(), b.read())
                os.remove(other)


class Tree(unittest.TestCase):
    def test_it_is_the_page(self):
        told = run("tree", "--by=callseqs", "--depth=2", "--min=0.5%", PROFILE)
        self.assertEqual(told.returncode, 0, told.stderr)
        page = run("report", "tree/callseqs/down/2-p0.5/all", PROFILE)
        self.assertEqual(told.stdout, page.stdout)
        self.assertIn(b"the whole program", told.stdout)

    def test_from_a_name_upwards(self):
        page = json.loads(run("report", "--json", "top_procs/1-1/callseqs/self/oa", PROFILE).stdout)
        query = page["tables"][0]["rows"][0]["cells"]["proc_query"]
        name = json.loads(run("report", "--json", query, PROFILE).stdout)["facts"]["raw_name"]
        told = run("tree", "--json", "--up", f"--from={name}", "--by=callseqs", PROFILE)
        tree = json.loads(told.stdout)
        self.assertEqual(tree["facts"]["direction"], "up")
        self.assertEqual(tree["facts"]["ps"], int(query.split("/")[1]))
        cells = [row["cells"] for row in tree["tables"][0]["rows"]]
        callers = [row for row in cells if row["path_depth"] == 1]
        self.assertLessEqual(sum(row["callseqs_total_count"] for row in callers),
                             cells[0]["callseqs_total_count"])
        self.assertGreater(len(callers), 0)

    def test_usage(self):
        for arguments in ([], ["--depth=0", PROFILE], ["--min=x", PROFILE], ["--by=hours", PROFILE],
                          [PROFILE, "x"]):
            told = run("tree", *arguments)
            self.assertEqual(told.returncode, 2, arguments)
            self.assertEqual(told.stdout, b"")


class ShortNames(unittest.TestCase):
    """Commands that are pages, with names that are easy to guess."""

    def test_they_are_pages(self):
        for command, query in (
                (["functions", "--limit=3"], "functions/auto/self/3"),
                (["functions", "--by=total", "--limit=2"], "functions/time/both/2"),
                (["functions", "--by=calls"], "functions/calls/self/20"),
                (["functions", "--by=alloc_space"], "functions/bytes/self/20"),
                (["lines"], "lines/20"), (["lines", "--limit=1"], "lines/1"),
                (["lines", "--by=alloc_space", "--limit=3"], "lines/bytes/3"), (["lines", "--by=live"], "lines/live/20"),
                (["recursion", "--by=calls"], "recursions/calls")):
            told = run(*command, PROFILE)
            page = run("report", query, PROFILE)
            self.assertEqual((told.returncode, told.stdout), (page.returncode, page.stdout), command)
            self.assertEqual(told.returncode, 0, told.stderr)

    def test_functions_have_four_columns(self):
        for arguments in ([], ["--by=total"], ["--by=calls"], ["--by=words"]):
            table = json.loads(run("functions", "--json", "--limit=5", *arguments, PROFILE).stdout)["tables"][0]
            self.assertEqual([re.sub("_(self|total)_.*", r"_\1", column["name"]).split("_", 1)[-1]
                              for column in table["columns"]], ["self", "total", "count", "path"], arguments)
            self.assertEqual(len(table["rows"]), 5)
            kind = {"--by=total": "total_seconds", "--by=calls": "calls_count"}.get(
                arguments[0] if arguments else "", "_self_")
            column = next(column["name"] for column in table["columns"] if kind in column["name"])
            amounts = [row["cells"][column] for row in table["rows"]]
            if kind == "_self_":
                self.assertEqual(amounts, sorted(amounts, reverse=True), arguments)
        text = run("functions", "--limit=5", PROFILE).stdout.decode()
        self.assertLessEqual(max(map(len, text.splitlines())), 100, text)

    def test_measures_have_the_same_names_everywhere(self):
        for command in ("functions", "tree", "recursion"):
            for word in ("time", "quanta", "bytes", "alloc_space", "allocations", "alloc_objects"):
                self.assertEqual(run(command, f"--by={word}", PROFILE).returncode, 0, (command, word))
            told = run(command, "--by=hours", PROFILE)
            self.assertEqual(told.returncode, 2)
            self.assertIn(b"--by=hours: expected one of", told.stderr)
        self.assertIn(b"--by=hours: both profiles have calls, ", run("diff", "--by=hours", PROFILE, PROFILE).stderr)

    def test_what_is_not_recorded(self):
        for command, query in (("memory", "memory/allocated"), ("waits", "waits")):
            told = run(command, PROFILE)
            page = run("report", query, PROFILE)
            self.assertEqual((told.returncode, told.stdout), (page.returncode, page.stdout), command)

    def test_a_file_alone_is_its_summary(self):
        told = run(PROFILE)
        self.assertEqual(told.returncode, 0, told.stderr)
        self.assertEqual(told.stdout, run("report", PROFILE).stdout)

    def test_usage(self):
        for arguments in (["functions"], ["functions", "--by=hours", PROFILE], ["functions", "--limit=0", PROFILE],
                          ["lines"], ["lines", "--limit=0", PROFILE], ["lines", "--limit=100001", PROFILE],
                          ["memory", "--by=time", PROFILE], ["waits", PROFILE, "x"], ["recursion", "--by=x", PROFILE]):
            told = run(*arguments)
            self.assertEqual((told.returncode, told.stdout), (2, b""), arguments)
            self.assertNotEqual(told.stderr, b"")
        self.assertIn(b"expected one of allocated, freed, held, peak", run("memory", "--by=x", PROFILE).stderr)


class Dump(unittest.TestCase):
    def test_sections(self):
        text = run("dump", PROFILE).stdout.decode()
        titles = re.findall(r"^(SECTION [A-Z ]+|INITIAL ROOT):$", text, re.M)
        self.assertEqual(titles, ["SECTION PROFILING STATS", "INITIAL ROOT",
                                  "SECTION CALL SITE DYNAMICS", "SECTION PROC DYNAMICS",
                                  "SECTION CALL SITE STATICS", "SECTION PROC STATICS"])
        for kind in ("csd", "pd", "css", "ps"):
            wanted = int(re.search(rf"\tmax_{kind} = (\d+)", text)[1])
            self.assertEqual(len(re.findall(rf"^{kind}\d+:$", text, re.M)), wanted)
            alone = run("dump", "--only", kind, PROFILE).stdout.decode()
            self.assertEqual(len(re.findall(r"^(?:csd|pd|css|ps)\d+:$", alone, re.M)), wanted)

    def test_facts_of_a_sum(self):
        names = [path("part1.data"), path("part2.data")]
        for i, name in enumerate(names, 1):
            subprocess.run([GENERATE, "--c", "-n", "300", "-p", "20", "--run", str(i), name],
                           check=True, stdout=subprocess.DEVNULL)
        self.assertEqual(run("merge", *names, "-o", path("parts.data")).returncode, 0)
        hashes = []
        for name in names:
            with open(name, "rb") as file:
                hashes.append(hashlib.sha256(file.read()).hexdigest())
        facts = json.loads(run("dump", "--json", "--only", "facts", path("parts.data")).stdout)["facts"]
        self.assertEqual([part["sha256"] for part in facts["parts"]], sorted(hashes))
        self.assertEqual([part["times"] for part in facts["parts"]], [1, 1])
        self.assertIsNone(facts["parts"][0]["command"])
        self.assertEqual((facts["depths"], facts["process"]), ([], None))
        text = run("dump", "--only", "facts", path("parts.data")).stdout.decode()
        self.assertEqual(re.findall(r"^\tsha256 = (.*)$", text, re.M), sorted(hashes))
        self.assertIn("\tduration_ns = not recorded\n", text)
        self.assertNotIn("SECTION FACTS", run("dump", PROFILE).stdout.decode())

    def test_sums_agree_with_the_header(self):
        text = run("dump", "--only", "csd", PROFILE).stdout.decode()
        total = int(re.search(r"\tnum_callseqs = (\d+)", text)[1])
        self.assertEqual(sum(map(int, re.findall(r"^\tcallseqs = (\d+)", text, re.M))), total)

    def test_json(self):
        text = run("dump", PROFILE).stdout.decode()
        told = run("dump", "--json", PROFILE)
        self.assertEqual((told.returncode, told.stderr), (0, b""))
        page = json.loads(told.stdout)
        self.assertEqual(list(page), ["stats", "root", "csd", "pd", "css", "ps", "facts"])
        for kind in ("csd", "pd", "css", "ps"):
            self.assertEqual(len(page[kind]), page["stats"][f"max_{kind}"])
            self.assertEqual([node["id"] for node in page[kind]],
                             list(range(1, len(page[kind]) + 1)))
            alone = json.loads(run("dump", "--json", "--only", kind, PROFILE).stdout)
            self.assertEqual(list(alone), ["stats", "root", kind])
            self.assertEqual(alone[kind], page[kind])
        self.assertEqual(sum(node["callseqs"] for node in page["csd"]),
                         page["stats"]["num_callseqs"])
        self.assertEqual([node["caller"] for node in page["csd"]],
                         list(map(int, re.findall(r"csd_caller = pd(\d+)", text))))
        self.assertEqual([node["raw_id"] for node in page["ps"]],
                         re.findall(r"^\tps_raw_id = (.*)$", text, re.M))
        called = {node["ps"] for node in page["pd"]}
        few = json.loads(run("dump", "--json", "--restrict", PROFILE).stdout)
        self.assertEqual({node["id"] for node in few["ps"]}, called)

    def test_json_is_utf_8_whatever_the_names_are(self):
        name = json.loads(run("dump", "--json", PROFILE).stdout)["ps"][-1]["file"].encode()
        with open(PROFILE, "rb") as file:
            data = file.read()
        with open(path("latin.data"), "wb") as file:
            file.write(data.replace(name, b"\xe9\"" + name[2:]))
        told = run("dump", "--json", path("latin.data"))
        self.assertEqual((told.returncode, told.stderr), (0, b""))
        self.assertEqual(json.loads(told.stdout.decode())["ps"][-1]["file"],
                         "\ufffd\"" + name[2:].decode())

    def test_restricted(self):
        text = run("dump", "--restrict", PROFILE).stdout.decode()
        called = set(re.findall(r"pd_proc_static = (\d+)", text))
        shown = set(re.findall(r"^ps(\d+):$", text, re.M))
        self.assertEqual(shown, called)
        containers = set(re.findall(r"css_container = ps(\d+)", text))
        self.assertLessEqual(containers, called)

    def test_usage(self):
        for arguments in (["--only", "x", PROFILE], [PROFILE, PROFILE]):
            self.assertEqual(run("dump", *arguments).returncode, 2)


class Check(unittest.TestCase):
    def test_a_name_of_any_bytes_is_one_line(self):
        odd = path("odd\x1b[31m\n.data")
        shutil.copy(PROFILE, odd)
        told = run("check", "--sample", "50", odd)
        self.assertEqual(told.returncode, 0)
        self.assertEqual(told.stdout.count(b"/odd\\033[31m\\n.data: "), 2)
        self.assertNotIn(b"\x1b", told.stdout)

    def test_a_sound_file(self):
        told = run("check", "--sample", "20", PROFILE)
        self.assertEqual((told.returncode, told.stderr), (0, b""))
        last = told.stdout.decode().splitlines()[-1]
        found = re.search(r": (\d+) invariants, 0 broken; (\d+) pages in 4 formats, "
                          r"(\d+) not available for this file, 0 problems \(a sample\)$", last)
        self.assertIsNotNone(found, last)
        self.assertGreaterEqual(int(found[1]), 4)
        self.assertGreater(int(found[2]), 20 * 8)

    def test_a_broken_invariant(self):
        """The header's total of call sequence numbers is off by one."""
        with open(PROFILE, "rb") as file:
            data = bytearray(file.read())
        text = run("dump", "--only", "csd", PROFILE).stdout.decode()
        total = int(re.search(r"\tnum_callseqs = (\d+)", text)[1])
        at = data.index(number(total), 0, 400)
        data[at:at + len(number(total))] = number(total + 1)
        with open(path("off.data"), "wb") as file:
            file.write(data)
        told = run("check", "--sample", "3", path("off.data"))
        self.assertEqual(told.returncode, 1)
        self.assertRegex(told.stdout.decode(), r"FAILED  sum of call sequence numbers")
        told = run("check", "--json", "--sample", "3", PROFILE, path("off.data"), path("none.data"))
        self.assertEqual(told.returncode, 1)
        self.assertRegex(told.stderr.decode(), r"^fathom check: .*none\.data.*\n$")
        good, off, missing = json.loads(told.stdout)["files"]
        self.assertEqual([good["file"], off["file"]], [PROFILE, path("off.data")])
        self.assertEqual((good["formats"], good["problems"], good["problems_count"]), (4, [], 0))
        self.assertGreater(good["pages"], 3 * 8)
        self.assertGreaterEqual(len(good["invariants"]), 4)
        self.assertTrue(all(one["holds"] and one["detail"] for one in good["invariants"]))
        broken = [one["name"] for one in off["invariants"] if not one["holds"]]
        self.assertEqual([name[:28] for name in broken], ["sum of call sequence numbers"])
        self.assertEqual((missing["pages"], missing["invariants"]), (0, []))
        self.assertRegex(missing["problems"][0], r"none\.data")

    def test_json_of_a_sound_file(self):
        told = run("check", "--json", "--sample", "3", PROFILE)
        self.assertEqual((told.returncode, told.stderr), (0, b""))
        self.assertEqual(len(json.loads(told.stdout)["files"]), 1)


class Convert(unittest.TestCase):
    def test_round_trip(self):
        told = run("convert", "--to=mercury", PROFILE, path("out.data"))
        self.assertEqual((told.returncode, told.stdout, told.stderr), (0, b"", b""))
        self.assertEqual(run("dump", path("out.data")).stdout, run("dump", PROFILE).stdout)
        again = run("convert", "--to=mercury", path("out.data"), path("again.data"))
        self.assertEqual(again.returncode, 0)
        with open(path("out.data"), "rb") as one, open(path("again.data"), "rb") as two:
            self.assertEqual(one.read(), two.read())

    def test_the_default_is_mercury(self):
        self.assertEqual(run("convert", PROFILE, path("default.data")).returncode, 0)
        self.assertEqual(run("convert", "--to=mercury", PROFILE, path("named.data")).returncode, 0)
        with open(path("default.data"), "rb") as one, open(path("named.data"), "rb") as two:
            self.assertEqual(one.read(), two.read())

    def test_version_8_becomes_9(self):
        subprocess.run([GENERATE, "--nodes=300", "--version-8", path("8.data")], check=True,
                       stdout=subprocess.DEVNULL)
        self.assertIn(b"format_version = 8", run("dump", path("8.data")).stdout)
        self.assertEqual(run("convert", "--to=mercury", path("8.data"), path("9.data")).returncode, 0)
        self.assertIn(b"format_version = 9", run("dump", path("9.data")).stdout)

    def test_refusals(self):
        for arguments in (["a"], ["a", "b", "c"], ["--to=elf", PROFILE, "b"], ["--to=mercury", PROFILE]):
            self.assertEqual(run("convert", *arguments).returncode, 2, arguments)
        told = run("convert", "--to=mercury", PROFILE, path("no/such/folder.data"))
        self.assertEqual(told.returncode, 1)
        self.assertEqual(len(told.stderr.splitlines()), 1)


class BadInput(unittest.TestCase):
    COMMANDS = (["report", "menu"], ["dump"], ["check"], ["view", "--no-open"])

    def refused(self, file, pattern, commands=COMMANDS, **options):
        for command in commands + (["convert", "--to=mercury"],):
            extra = [path("unused.data")] if command[0] == "convert" else []
            told = run(*command, file, *extra, **options)
            self.assertEqual(told.returncode, 1, command)
            self.assertEqual(told.stdout, b"")
            self.assertRegex(told.stderr.decode(), rf"^fathom {command[0]}: .*{pattern}.*\n$")
            self.assertEqual(len(told.stderr.splitlines()), 1, told.stderr)
        self.assertFalse(os.path.exists(path("unused.data")))

    def write(self, name, data):
        with open(path(name), "wb") as file:
            file.write(data)
        return path(name)

    def test_missing(self):
        self.refused(path("missing.data"), r"missing\.data")

    def test_empty(self):
        self.refused(self.write("empty.data", b""), r"empty\.data")

    def test_truncated(self):
        with open(PROFILE, "rb") as file:
            data = file.read()
        for size in (1, 20, 60, 1000):
            self.refused(self.write("short.data", data[:size]), r"short\.data")
        # With a whole header whose counts are possible, view has begun to serve when it finds out
        # (tests/serve).
        for size in (len(data) // 3, len(data) // 2, len(data) * 9 // 10):
            self.refused(self.write("short.data", data[:size]), r"short\.data", self.COMMANDS[:3])

    def test_view_tells_of_every_bad_file(self):
        with open(PROFILE, "rb") as file:
            short = self.write("half.data", file.read()[:1000])
        told = run("view", "--no-open", PROFILE, short, path("missing.data"))
        self.assertEqual((told.returncode, told.stdout), (1, b""))
        lines = told.stderr.decode().splitlines()
        self.assertEqual(len(lines), 2, lines)
        self.assertRegex(lines[0], r"^fathom view: .*half\.data")
        self.assertRegex(lines[1], r"^fathom view: .*missing\.data")

    def test_wrong_version(self):
        self.refused(self.write("wrong.data",
                                b"Mercury deep profiler data version 77\n" + b"\0" * 200),
                     r"wrong\.data")

    def test_a_fifo(self):
        os.mkfifo(path("pipe.data"))
        self.refused(path("pipe.data"), r"pipe\.data")

    def test_no_permission(self):
        self.write("secret.data", b"x")
        os.chmod(path("secret.data"), 0)
        self.refused(path("secret.data"), r"secret\.data", preexec_fn=read_as_others_do)

    def test_a_folder(self):
        for command in self.COMMANDS[:3]:
            told = run(*command, FOLDER.name)
            self.assertEqual(told.returncode, 1, command)
            self.assertEqual(len(told.stderr.splitlines()), 1, told.stderr)


if __name__ == "__main__":
    lib.make_profile()
    unittest.main(argv=sys.argv[:1], verbosity=2)

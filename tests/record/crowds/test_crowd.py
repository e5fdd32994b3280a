#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""fathom record --join and fathom finish --join: programs of many processes."""
import collections
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time

import record_lib as lib
from patience import wait_until

PROGRAM = pathlib.Path(__file__).parent / "crowd.c"


def joined(*arguments, **options):
    return lib.record(*arguments, join="program", **options)


def build(folder, name="crowd"):
    lib.must([lib.FATHOM, "cc", "--grade=full", "gcc", "-O1", PROGRAM, "-o", name], folder)
    return folder / name


def files(folder, name, ending):
    return sorted(path.name for path in folder.glob(f"{name}*.{ending}"))


def shown(folder, query, path):
    return lib.must([lib.FATHOM, "report", "--width=0", query, path], folder).stdout.splitlines()


def menu(folder, path):
    return json.loads(lib.must([lib.FATHOM, "report", "--json", "menu", path], folder).stdout)


def roles(folder, path):
    for table in menu(folder, path)["tables"]:
        if table["name"] == "roles":
            return {row["cells"]["role"]: row["cells"]["processes"] for row in table["rows"]}
    return {}


def one_profile(tap, folder):
    command = [build(folder), "server", "4", "40"]
    done = joined(command, folder, name="web")
    calls = done.profile.calls()
    tap.same((files(folder, "web", "data"), files(folder, "web", "rec")), (["web.data"], []),
             "a server and its workers give one profile")
    tap.same((calls["serve"], calls["step"], calls["spawn_worker"], calls["work"], calls["main"]),
             (40, 820, 4, 4, 1), "with the calls of all of them")
    tap.same(roles(folder, "web.data"), {"crowd": 1, "crowd, forked in spawn_worker": 4},
             "its processes are told apart by role")
    text = lib.must([lib.FATHOM, "report", "menu", "web.data"], folder).stdout
    tap.check("1 thread " not in text, "how many threads were in all is not known of a sum", text[:600])
    tap.check("web.data: joined: 5 processes: 1 crowd; 4 crowd, forked in spawn_worker" in done.stderr,
              "the summary says what was joined", done.stderr)
    lead, details = shown(folder, "menu", "web.data")[3:5]
    tap.check(re.search(r"[0-9] (bytes|[KM]iB) of heap at most in one process", done.stderr) is not None and
              ", all processes together" in done.stderr and " at once in one process" in lead and
              details.startswith("5 processes \u00b7 "),
              "the most at once is one process's, times are of all", (done.stderr, lead, details))
    peak = " ".join(shown(folder, "memory/peak", "web.data"))
    tap.check("The peak in one process was " in peak and "to the byte" not in peak,
              "what contexts held at the most is of no one moment", peak)
    checked = lib.run([lib.FATHOM, "check", "web.data"], folder)
    tap.check(checked.returncode == 0, "what must hold of a profile holds", checked.stdout)


def removed(tap, folder):
    """The first process's recording is removed while it runs: the others are joined, and it is said."""
    (folder / "gone.c").write_text("""#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
__attribute__((noinline)) static int call(int n) { __asm__ volatile(""); return n + 1; }
int main(int argc, char **argv)
{
    int sum = call(argc);
    for (int i = 0; i < 2; i++)
        if (fork() == 0)
            exit(call(call(1)) != 3);
    if (argc > 1 && remove(argv[1]) != 0)
        return 9;
    while (wait(NULL) > 0)
        sum += call(0);
    return sum < 0;
}
""")
    lib.must([lib.FATHOM, "cc", "gcc", "-O1", "gone.c", "-o", "gone_program"], folder)
    for arguments, told in (([], False), (["lost.rec"], True)):
        done = lib.run([lib.FATHOM, "record", "-o", "lost", "--", "./gone_program"] + arguments, folder)
        said = "lost.rec, the recording of the first process, was removed while the program ran" in done.stderr
        calls = lib.Profile(folder / "lost.data").calls()["call"]
        tap.check((done.returncode, said, calls) == (0, told, 4 if told else 7),
                  f"a recording that vanished is told {arguments}", f"{said} {calls} {done.stderr}")


def vanished_children(tap, folder):
    """Recordings of children that are gone when the program ends."""
    (folder / "away.c").write_text("""#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
__attribute__((noinline)) static int call(int n) { __asm__ volatile(""); return n + 1; }
int main(int argc, char **argv)
{
    int away = atoi(argv[1]);
    for (int i = 0; i < 3; i++) {
        pid_t child = fork();
        if (child == 0)
            exit(call(call(1)) != 3);
        waitpid(child, NULL, 0);
        char pattern[64];
        glob_t found;
        snprintf(pattern, sizeof pattern, "away.%d.*rec", (int)child);
        if (i < away && (glob(pattern, 0, NULL, &found) != 0 || remove(found.gl_pathv[0]) != 0))
            return 9;
    }
    return call(argc) < 0;
}
""")
    lib.must([lib.FATHOM, "cc", "gcc", "-O1", "away.c", "-o", "away_program"], folder)
    for join in ("program", "none"):
        for away, told in ((0, None), (1, "the recording of 1 process that"), (3, "the recordings of 3 processes that")):
            done = lib.run([lib.FATHOM, "record", "-o", "away", f"--join={join}", "--", "./away_program", str(away)], folder)
            said = done.stderr.count("removed while it ran")
            tap.same((done.returncode, said, told is None or told in done.stderr), (0, int(told is not None), True),
                     f"--join={join}: {away} recordings of children that vanished are told")
            profile = (folder / "away.data").read_bytes()
            tap.same((profile.count(b"removed while it ran"), told is None or told.encode() in profile),
                     (int(told is not None), True), "the profile says so")
            for path in folder.glob("away.[0-9]*.data"):
                path.unlink()


def only_below(tap, folder):
    """--when of what only some of the processes call."""
    command = [build(folder), "server", "3", "30"]
    done = lib.run([lib.FATHOM, "record", "-o", "part", "--when=work", "--"] + command, folder)
    calls = lib.Profile(folder / "part.data").calls() if done.returncode == 0 else {}
    tap.same((done.returncode, calls.get("work"), files(folder, "part", "rec")), (0, 3, []),
             "--when of what only the workers call")
    tap.check('1 of 4 processes had no call of the function "work"' in done.stderr,
              "is told", done.stderr)
    lead = shown(folder, "menu", "part.data")[3]
    tap.check("at once" not in lead, "the most that the whole held is not known of a part", lead)
    done = lib.run([lib.FATHOM, "record", "-o", "none", "--when=nobody", "--"] + command, folder)
    tap.check(done.returncode == 1 and done.stderr.count('no call of the function "nobody"') == 1 and
              len(files(folder, "none", "rec")) == 4, "of what none calls: nothing is lost", done.stderr)


def exactly_the_sum(tap, folder):
    command = [build(folder), "server", "3", "30"]
    lib.must([lib.FATHOM, "record", "-q", "--keep", "--join=none", "-o", "each", "--"] + command,
             folder)
    single = [folder / name for name in files(folder, "each", "data")]
    recordings = files(folder, "each", "rec")
    tap.same((len(single), len(recordings)), (4, 4), "--join=none: a profile for each process")
    lib.must([lib.FATHOM, "merge", "-o", "merged.data"] + single, folder)
    lib.must([lib.FATHOM, "finish", "-q", "--keep", "--join=program", "-o", "joined"] + recordings,
             folder)
    tap.check((folder / "merged.data").read_bytes() == (folder / "joined.data").read_bytes(),
              "joining gives the bytes of merging the single profiles")
    busiest = max(single, key=lambda path: lib.Profile(path).calls().get("step", 0))
    page = lib.must([lib.FATHOM, "report", "asm/step", "joined.data"], folder).stdout
    alone = lib.must([lib.FATHOM, "report", "asm/step", busiest], folder).stdout
    def code(text):
        return [line for line in text.splitlines() if "ret" in line]
    tap.check(code(page) and len(code(page)) == len(code(alone)), "the instructions are those of each", f"{page} {alone}")
    lib.make_older(single[0])
    single[0].with_suffix(".code").unlink()
    done = lib.must([lib.FATHOM, "merge", "-o", "less.data"] + single, folder)
    tap.check("instructions are left out: not all" in done.stderr,
              "which are left out where one has none", done.stderr)
    total = collections.Counter()
    for path in single:
        total.update(lib.Profile(path).contexts)
    tap.same(lib.Profile(folder / "joined.data").contexts, total,
             "each context has the sum of the single profiles'")
    lib.must([lib.FATHOM, "finish", "-q", "--keep", "--join=all", "-o", "whole"] +
             list(reversed(recordings)), folder)
    tap.check((folder / "whole.data").read_bytes() == (folder / "joined.data").read_bytes(),
              "in any order, and of one program all is the same")


def many(tap, folder):
    command = [build(folder), "forker", "150"]
    done = joined(command, folder, name="many")
    tap.same((done.profile.calls()["serve"], done.profile.calls()["step"]), (150, 150 * 151 // 2),
             "150 children")
    left = [path.name for path in folder.iterdir() if path.name != "crowd"]
    tap.same(len([name for name in left if name.endswith(".data")]), 1, "one profile")
    tap.check(len(left) <= 3, "and no other files", left)


def several_programs(tap, folder):
    first, second = build(folder), build(folder, "other")
    (folder / "sub").mkdir()
    third = build(folder / "sub", "other")
    script = f"{first} serve 3; {second} forker 2; {first} forker 3; {third} serve 9; exit 4"
    for how in "program", "all":
        done = lib.run([lib.FATHOM, "record", f"--join={how}", "-o", how, "--", "sh", "-c", script],
                       folder)
        tap.same(done.returncode, 4, f"--join={how}: the program's status")
        tap.same(files(folder, how, "rec"), [], "no recordings are left")
    tap.same(files(folder, "program", "data"),
             ["program.data", "program.other-2.data", "program.other.data"],
             "each program has a profile of its name")
    found = {name: lib.Profile(folder / f"program{name}.data").calls()
             for name in ("", ".other", ".other-2")}
    tap.same([(found[name]["main"], found[name]["serve"]) for name in found],
             [(2, 4), (1, 2), (1, 1)], "with its own processes")
    calls = lib.Profile(folder / "all.data").calls()
    tap.same((files(folder, "all", "data"), calls["main"], calls["serve"]), (["all.data"], 4, 7),
             "all: one profile of all programs")
    done = lib.run([lib.FATHOM, "record", "--join=some", "--", first], folder)
    tap.check(done.returncode == 2 and "--join=some: expected program, all or none" in done.stderr,
              "what is no way to join is refused", done.stderr)
    done = lib.run([lib.FATHOM, "record", "--join=all", "--trace=serve", "--", first], folder)
    tap.check(done.returncode == 2 and "only be used with --join=none" in done.stderr,
              "single calls are of single processes", done.stderr)


def started(tap, folder):
    """posix_spawn, vfork and exec, system."""
    done = joined([build(folder), "starting"], folder, name="start")
    calls = done.profile.calls()
    tap.same((calls["main"], calls["serve"], roles(folder, "start.data")), (3, 2, {}),
             "processes started by exec are of the same role")
    tap.same(files(folder, "start", "data"), ["start.data"], "in one profile")


def killed(tap, folder):
    done = joined([build(folder), "losing"], folder, name="lost")
    calls = done.profile.calls()
    tap.same((calls["serve"], calls["step"], files(folder, "lost", "rec")), (3, 30, []),
             "workers that were killed, and one that ended by _exit, are all there")
    done = lib.run([lib.FATHOM, "record", "-o", "cut", "--", "sh", "-c",
                    f"{folder}/crowd forker 3; rm $(ls cut.*.rec | head -1)"], folder)
    calls = lib.Profile(folder / "cut.data").calls()
    tap.same((done.returncode, calls["serve"], files(folder, "cut", "rec")), (0, 2, []),
             "a recording that the program removed is missing, no other")
    done = lib.run([lib.FATHOM, "record", "-o", "bad", "--", "sh", "-c",
                    f"{folder}/crowd forker 3; truncate -s 100 $(ls bad.*.rec | head -1)"], folder)
    calls = lib.Profile(folder / "bad.data").calls()
    tap.check(done.returncode == 1 and calls["serve"] == 2 and len(files(folder, "bad", "rec")) == 1 and
              done.stderr.count("expected that of a recording") == 1,
              "one that is damaged is told and kept, the others are joined", done.stderr)


BEGINNING = """#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "recording_format.h"
/* Leaves what is there when a process is killed while it makes its recording. */
int main(int argc, char **argv)
{
    static char zeros[32768];
    char name[4096];
    int how = atoi(argv[argc - 1]);
    snprintf(name, sizeof name, "%s.%d.0.rec", getenv("FATHOM_OUTPUT"), (int)getpid());
    int file = open(name, O_CREAT | O_WRONLY | O_EXCL, 0600);
    struct fm_rec_header header = {.magic = FM_REC_MAGIC, .version = FM_REC_VERSION,
        .byte_order = FM_REC_BYTE_ORDER, .header_bytes = FM_REC_HEADER_BYTES,
        .pid = how == 3 ? (uint32_t)getpid() : 0};
    if (how == 4)
        strcpy(zeros, "somebody else's");
    if (how > 0 && write(file, zeros, sizeof zeros) != (ssize_t)sizeof zeros)
        return 9;
    if ((how == 2 || how == 3) && pwrite(file, &header, sizeof header, 0) != (ssize_t)sizeof header)
        return 9;
    return file < 0;
}
"""


def killed_at_once(tap, folder):
    """Children that are killed while their recordings are made: they have recorded nothing."""
    (folder / "at_once.c").write_text(BEGINNING)
    lib.must(["gcc", "-I", pathlib.Path(__file__).parents[3] / "runtime", "at_once.c", "-o", "at_once"], folder)

    def run(last):
        script = "".join(f"./at_once {how} && " for how in range(last + 1)) + f"{build(folder)} forker 2"
        return ["sh", "-c", script]

    for join in ("program", "none", "all"):
        done = lib.run([lib.FATHOM, "record", "-o", "once", f"--join={join}", "--", *run(3)], folder)
        told = "4 processes ended while they began to record: nothing is known of them" in done.stderr
        children = [name for name in files(folder, "once", "data") if name != "once.data"]
        tap.same((done.returncode, told, len(children), files(folder, "once", "rec")),
                 (0, True, 2 if join == "none" else 0, []), f"--join={join}: who was killed while it began is told of, and no more")
        tap.same(sum(lib.Profile(path).calls()["serve"] for path in folder.glob("once*.data")), 2,
                 f"--join={join}: the others are all there")
        for path in folder.glob("once*.data"):
            path.unlink()
    done = lib.run([lib.FATHOM, "record", "-k", "-o", "kept", "--", *run(3)], folder)
    names = files(folder, "kept", "rec")
    (folder / "kept.data").unlink()
    again = lib.run([lib.FATHOM, "finish", "-k", "--join=program"] + names, folder)
    tap.same((done.returncode, len(names), again.returncode, again.stderr.count("no process has recorded anything in it"),
              files(folder, "kept", "data"), lib.Profile(folder / "kept.data").calls()["serve"]),
             (0, 7, 0, 4, ["kept.data"], 2), "finished again")
    done = lib.run([lib.FATHOM, "record", "-o", "other", "--", *run(4)], folder)
    left = [path.read_bytes()[:8] for path in folder.glob("other.*.rec")]
    tap.same((done.returncode, left, lib.Profile(folder / "other.data").calls()["serve"]), (1, [b"somebody"], 2),
             "a file of somebody else with such a name is told of and stays")


def recorder_killed(tap, folder):
    """What a killed `fathom record` leaves is all that finish --join needs, whenever it is killed."""
    command = [build(folder), "forker", "20"]
    lib.must([lib.FATHOM, "record", "-q", "-k", "-o", "run", "--"] + command, folder)
    expected = (folder / "run.data").read_bytes()
    names = files(folder, "run", "rec")
    kept = folder / "kept"
    kept.mkdir()
    for name in names:
        shutil.copy2(folder / name, kept)
    (folder / "run.data").unlink()
    lib.must([lib.FATHOM, "finish", "-q", "--join=program"] + names, folder)
    tap.check((folder / "run.data").read_bytes() == expected and not files(folder, "run", "rec"),
              "recordings that were left give the same profile, and are removed then")
    # Killed while it removed them: some are in the profile and still there.
    for name in names[1:6] + [names[-1]]:
        shutil.copy2(kept / name, folder)
    lib.must([lib.FATHOM, "finish", "-q", "--join=program"] + files(folder, "run", "rec"), folder)
    tap.check((folder / "run.data").read_bytes() == expected and not files(folder, "run", "rec"),
              "what is in the profile already is not added again")
    # Killed before the profile was written, which is an older run's.
    lib.must([lib.FATHOM, "record", "-q", "-o", "run", "--", folder / "crowd", "serve", "2"], folder)
    for name in names:
        shutil.copy2(kept / name, folder)
    lib.must([lib.FATHOM, "finish", "-q", "--join=program"] + names, folder)
    tap.check((folder / "run.data").read_bytes() == expected,
              "the profile of an older run is replaced, not added to")
    # Real kills, at moments from the beginning to behind the end.
    whole = 0
    for delay in (0, 0.01, 0.03, 0.1, 0.3):
        for path in list(folder.glob("run*.*")):
            path.unlink()
        for name in names:
            shutil.copy2(kept / name, folder)
        finisher = subprocess.Popen([lib.FATHOM, "finish", "-q", "--join=program"] + names,
                                    cwd=folder, stderr=subprocess.DEVNULL)
        time.sleep(delay)
        finisher.kill()
        finisher.wait()
        if files(folder, "run", "rec"):
            lib.must([lib.FATHOM, "finish", "-q", "--join=program"] + files(folder, "run", "rec"),
                     folder)
        whole += (folder / "run.data").read_bytes() == expected
    tap.same(whole, 5, "a finisher that is killed at any moment loses nothing")
    done = lib.run([lib.FATHOM, "finish", "--join=program", kept / "run.rec", kept / "other.rec"],
                   folder)
    tap.check(done.returncode == 2 and "have the names of two runs" in done.stderr,
              "recordings of two runs are not joined unasked", done.stderr)


def daemons(tap, folder):
    """A daemon outlives its parent and `fathom record`; its recording stays until it has ended."""
    program, until = build(folder), folder / "end"
    done = joined([program, "daemon", until], folder, name="demon")
    tap.check(len(files(folder, "demon", "rec")) >= 2 and
              ("still run" in done.stderr), "a daemon goes on", done.stderr)
    again = f"`fathom finish --join=program {folder}/demon.rec {folder}/demon.*.rec`"
    tap.check(again in done.stderr and done.stderr.count("`fathom finish") == done.stderr.count(again),
              "and its profile is made again of all recordings together", done.stderr)
    until.touch()

    def ended():
        lib.run([lib.FATHOM, "finish", "-q", "-k", "--join=program", "-o", "now"] +
                files(folder, "demon", "rec"), folder)
        return lib.Profile(folder / "now.data").calls()["step"] == 12
    tap.check(wait_until(ended, "the daemon's calls are all there"), "when it has ended all of it can be joined")
    done = None

    def last():
        nonlocal done
        done = lib.run([lib.FATHOM, "finish", "--join=program", "-o", "demon"] +
                       files(folder, "demon", "rec"), folder)
        return not files(folder, "demon", "rec")
    tap.check(wait_until(last, "all recordings are joined"), "then its recordings are removed", done.stderr)
    calls = lib.Profile(folder / "demon.data").calls()
    tap.same((calls["serve"], calls["step"], calls["main"]), (2, 12, 1), "and nothing counts twice")


def some_of_the_daemons(tap, folder):
    """A process that went on since is in the profile with what it had done until then."""
    program, until = build(folder), folder / "end"
    joined([program, "daemon", until], folder, name="demon")
    before = (folder / "demon.data").read_bytes()
    rest = [name for name in files(folder, "demon", "rec") if name != "demon.rec"]
    done = lib.run([lib.FATHOM, "finish", "--join=program", "-o", "demon"] + rest, folder)
    tap.check(" 0 threads" not in done.stderr and " calls in " in done.stderr,
              "how many threads there were is not known of what was joined before", done.stderr)
    names = files(folder, "demon", "rec")
    tap.check(done.returncode == 0 and set(names) > {"demon.rec"}, "the recording of one that runs stays",
              f"{names} {done.stderr}")
    until.touch()

    def ended():
        lib.run([lib.FATHOM, "finish", "-q", "-k", "--join=program", "-o", "now"] + names, folder)
        return lib.Profile(folder / "now.data").calls()["step"] == 12
    tap.check(wait_until(ended, "the daemons' calls are all there"), "the daemons have ended")
    rest = [name for name in names if name != "demon.rec"]
    done = lib.run([lib.FATHOM, "finish", "-q", "--join=program", "-o", "demon"] + rest, folder)
    left = files(folder, "demon", "rec")
    tap.check(done.returncode == 1 and "has continued since" in done.stderr and
              (folder / "demon.data").read_bytes() == before and set(left) > {"demon.rec"},
              "without the others' recordings it can only stay, which is said", f"{left} {done.stderr}")
    done = lib.run([lib.FATHOM, "finish", "-q", "--join=none"] + [name for name in left if name in rest], folder)
    steps = [lib.Profile(folder / name).calls().get("step", 0) for name in files(folder, "demon.", "data")]
    tap.check(done.returncode == 0 and 12 in steps, "and nothing of it is lost", f"{steps} {done.stderr}")


SNAPS = """#include <fathom/fathom.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
__attribute__((noinline)) static void serve(void) { fathom_snapshot("s"); }
int main(void)
{
    if (fork() == 0) { serve(); exit(0); }
    wait(0);
    serve();
    return 0;
}
"""


def snapshots(tap, folder):
    (folder / "snaps.c").write_text(SNAPS)
    lib.must([lib.FATHOM, "cc", "--grade=full", "gcc", "-O1", "snaps.c", "-o", "snaps"], folder)
    lib.must([lib.FATHOM, "record", "-q", "-k", "-o", "snap", "--", "./snaps"], folder)
    names = files(folder, "snap", "rec")
    done = lib.must([lib.FATHOM, "finish", "-k", "--join=program"] + names, folder)
    tap.same((len(names), done.stderr.count("is a snapshot, not a process")), (4, 2),
             "snapshots are no processes")
    tap.same(lib.Profile(folder / "snap.data").calls()["serve"], 2, "and are not added")


def main():
    # Only what has hooks is recorded here: shells and programs that stand in for killed ones are not.
    os.environ["FATHOM_PRELOAD"] = "off"
    tap = lib.Tap()
    for test in (one_profile, removed, vanished_children, only_below, exactly_the_sum, many, several_programs, started, killed, killed_at_once,
                 recorder_killed, daemons, some_of_the_daemons, snapshots):
        with tempfile.TemporaryDirectory() as folder:
            test(tap, pathlib.Path(folder).resolve())
    return tap.done()


sys.exit(main())

#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Clients come all the time while processes are killed, told to end, stopped, and the folder and
names in it are removed or replaced, at random moments. Whatever happens: who is not killed answers
with its own page or says that it cannot; and when it is over, all is well again.

FATHOM_CHAOS_ROUNDS: how many rounds (6); FATHOM_CHAOS_SEED. Arguments: the test program."""
import contextlib
import os
import random
import shutil
import signal
import sys
import time

from harness import World, run_tests

ROUNDS = int(os.environ.get("FATHOM_CHAOS_ROUNDS", "6"))
SEED = int(os.environ.get("FATHOM_CHAOS_SEED", "1"))
CLIENTS = 8


def pick(chance, things):
    return chance.choice(sorted(things)) if things else None


def signal_somebody(w, chance, number):
    pid = pick(chance, w.processes())
    if pid is not None:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, number)
    return pid


def kill_somebody(w, chance):
    return "killed", signal_somebody(w, chance, signal.SIGKILL)


def tell_somebody(w, chance):
    return "told", signal_somebody(w, chance, signal.SIGTERM)


def stop_somebody(w, chance):
    pid = signal_somebody(w, chance, signal.SIGSTOP)
    time.sleep(chance.uniform(0, 0.2))
    if pid is not None:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGCONT)
    return "stopped for a while", None


def remove_folder(w, chance):
    shutil.rmtree(w.runtime, ignore_errors=True)
    return "folder removed", None


def rename_folder(w, chance):
    with contextlib.suppress(OSError):
        w.runtime.rename(w.folder / f"gone-{chance.random()}")
    return "folder renamed", None


def replace_name(w, chance):
    name = pick(chance, w.names())
    if name is None:
        return "nothing to replace", None
    path = w.runtime / name
    with contextlib.suppress(OSError):
        path.unlink()
        kind = chance.choice(("nothing", "file", "directory", "link", "FIFO"))
        if kind == "file":
            path.write_text("x")
        elif kind == "directory":
            path.mkdir()
        elif kind == "link":
            path.symlink_to("/nonexistent")
        elif kind == "FIFO":
            os.mkfifo(path, 0o600)
    return "name replaced", None


def change_data(w, chance):
    w.data.write_text(f"v{chance.randrange(1000)}")
    return "data changed", None


def put_foreign_file(w, chance):
    with contextlib.suppress(OSError):
        path = w.runtime / "thesis.tex"
        path.write_text("mine")
        time.sleep(chance.uniform(0, 0.05))
        assert path.read_text() == "mine"
        path.unlink()
    return "foreign file", None


ACTIONS = (kill_somebody, kill_somebody, tell_somebody, stop_somebody, remove_folder,
           rename_folder, replace_name, replace_name, replace_name, change_data, put_foreign_file)


def check_answer(w, marker, process, harmed, history):
    # Whose names were replaced, waits until its deadline: the clock goes on by seconds for it.
    answer = w.finish(process, 5000, look_s=1)
    if process.pid in harmed:
        return
    assert answer.status in (200, 503), (history, answer.status, answer.said, answer.body[:200])
    if answer.status == 200:
        assert answer.marker() == marker and answer.length_is_right(), (history, answer.body[:200])


def clear_names(w):
    """Something else may stand in the place of a name for ever: that is not ours to remove."""
    for name in w.names():
        path = w.runtime / name
        if path.is_dir() and not path.is_symlink():
            path.rmdir()
        elif path.is_symlink() or not path.is_file():
            path.unlink()


def one_round(number):
    chance = random.Random(SEED * 100_000 + number)
    options = {"CGI_WORK_MS": str(chance.choice((0, 0, 200))), "CGI_PATIENCE_MS": "50",
               "CGI_LOAD_MS": str(chance.choice((0, 0, 30))), "CGI_DEADLINE_MS": "20000"}
    with World(idle_ms=chance.choice((60, 300, 1500)), runs=True, **options) as w:
        harmed, history, started = set(), [], []
        for i in range(CLIENTS):
            marker = f"m{i}"
            size = int(10 ** chance.uniform(0, 6.3))
            query = "quit" if chance.random() < 0.05 else f"marker={marker}&size={size}"
            process = w.start(query)
            if query != "quit":
                started.append((marker, process))
            time.sleep(chance.uniform(0, 0.03))
            for _ in range(chance.choice((0, 1, 1, 2))):
                what, pid = chance.choice(ACTIONS)(w, chance)
                history.append(what)
                harmed.add(pid)
        for marker, process in started:
            check_answer(w, marker, process, harmed, (number, history))
        clear_names(w)
        w.expect_fresh("after")
        try:
            w.wait_idle()
        except AssertionError as error:
            raise AssertionError(number, history) from error


def case_rounds():
    for number in range(ROUNDS):
        one_round(number)
        if (number + 1) % 100 == 0:
            print(f"# {number + 1} rounds", flush=True)


sys.exit(run_tests([(f"{ROUNDS} rounds of {CLIENTS} clients, seed {SEED}", case_rounds)]))

#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Optional, needs ghc: a Haskell program's log is read while it runs, and Haskell's ghc-events
reads a C program's log. test_log_ghc.py FATHOM LIVE_PROGRAM; skipped without ghc."""
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

from patience import PATIENCE
from tap import Tap, skip_all

FATHOM, PROGRAM = sys.argv[1:3]
FOLDER = pathlib.Path(tempfile.mkdtemp(prefix="fathom-ghc-"))
WRITER = """import Control.Concurrent
import Control.Monad
import Debug.Trace
main :: IO ()
main = forM_ [1 .. 2000 :: Int] $ \\i -> do
  traceEventIO ("step " ++ show i)
  when (i `mod` 500 == 0) $ traceMarkerIO "marker" >> threadDelay 100000
"""
READER = """import GHC.RTS.Events
import System.Environment
main :: IO ()
main = do
  [path] <- getArgs
  read <- readEventLogFromFile path
  case read of
    Left message -> error message
    Right (EventLog _ (Data events)) -> do
      print (length events)
      print (length [() | Event _ (UserMarker _) _ <- events])
"""


def compile_haskell(name, text, *options):
    (FOLDER / f"{name}.hs").write_text(text)
    return subprocess.run(["ghc", "-O0", *options, f"{name}.hs", "-o", name], cwd=FOLDER,
                          capture_output=True).returncode == 0


def a_haskell_program_is_read_while_it_runs():
    assert compile_haskell("Writer", WRITER, "-threaded", "-eventlog", "-rtsopts")
    log = FOLDER / "Writer.eventlog"
    follower = subprocess.Popen([FATHOM, "log", "follow", "--wait", str(PATIENCE), "--idle", str(PATIENCE), "--json",
                                 log], stdout=subprocess.PIPE)
    subprocess.run([FOLDER / "Writer", "+RTS", "-l", "-N2"], cwd=FOLDER, check=True, timeout=PATIENCE)
    out, _ = follower.communicate(timeout=PATIENCE)
    assert follower.returncode == 0
    events = [json.loads(line) for line in out.splitlines()]
    texts = [e["fields"]["text"] for e in events if e["type"] == "UserMessage"]
    assert texts == [f"step {i}" for i in range(1, 2001)]
    assert sum(e["type"] == "UserMarker" for e in events) == 4
    subprocess.run([FATHOM, "log", "validate", "-q", log], check=True)
    return None


def ghc_events_reads_a_c_program():
    if not compile_haskell("Reader", READER, "-package", "ghc-events"):
        return "ghc-events is not installed"
    log = FOLDER / "c.eventlog"
    subprocess.run([PROGRAM, log, "2", "1000"], check=True, timeout=PATIENCE)
    counts = json.loads(subprocess.run([FATHOM, "log", "stat", "--json", log], check=True,
                                       capture_output=True).stdout)
    read = subprocess.run([FOLDER / "Reader", log], capture_output=True, text=True, timeout=PATIENCE)
    assert read.returncode == 0, read.stderr
    assert [int(n) for n in read.stdout.split()] == [counts["events"], 1], (read.stdout, counts)
    return None


TESTS = [a_haskell_program_is_read_while_it_runs, ghc_events_reads_a_c_program]


def main():
    if shutil.which("ghc") is None:
        skip_all("ghc is not installed")
    tap = Tap()
    os.environ["LC_ALL"] = "C.UTF-8"
    for test in TESTS:
        tap.case(test)
    shutil.rmtree(FOLDER)
    return tap.done()


sys.exit(main())

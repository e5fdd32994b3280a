#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Pages compared with what they were: test_golden.py FATHOM GENERATE sample|generated|c [--update].

Text and JSON of each query below, in golden/<which>/. After a wanted change run it with --update
and look at the difference. The real profile is not part of the repository: its pages are skipped
when $FATHOM_SAMPLE_DATA does not have it.
"""
import difflib
import os
import pathlib
import subprocess
import sys
import tempfile

ALL = "p-qtp-S-A-W/box/cols/no/20/nosum/{order}/nc/th/mqa/sss/dev"
# Contour files; queries beside one are made from a folder that has it.
CONTOUR = "all solutions\ninternal mandelbrot\nall nomodule\n"
BAD_CONTOUR = "all solutions\nevery mandelbrot\n"
QUERIES = {
    "sample": {
        "menu": "menu",
        "menu-developer": "menu&" + ALL.format(order="context"),
        "root": "root/no",
        "action": "root/90",
        "clique-90": "clique/90",
        "clique-91": "clique/91",
        "clique-110-all": "clique/110&" + ALL.format(order="cost-callseqs-both-oa"),
        "clique-112-summed": "clique/112&p-q-s-a-b/nobox/none/2/20/sum/name/nc/th/mqn/hhh/nodev",
        "clique-185": "clique/185",
        "proc-57": "proc/57",
        "proc-60": "proc/60",
        "proc-61-all": "proc/61&" + ALL.format(order="name"),
        "proc-62": "proc/62",
        "callers-54-cs": "proc_callers/54/cs/1/100/nc",
        "callers-54-pr": "proc_callers/54/pr/1/100/nc",
        "callers-54-mo": "proc_callers/54/mo/1/100/nc",
        "callers-54-cl": "proc_callers/54/cl/1/100/nc",
        "callers-54-page-2": "proc_callers/54/cs/2/4/nc",
        "callers-62-pr": "proc_callers/62/pr/1/100/nc",
        "callers-54-pr-contour": (CONTOUR, "proc_callers/54/pr/1/100/ac"),
        "callers-54-cs-contour": (CONTOUR, "proc_callers/54/cs/1/100/ac"),
        "callers-54-cl-contour": (CONTOUR, "proc_callers/54/cl/1/100/ac"),
        "callers-62-mo-contour": (CONTOUR, "proc_callers/62/mo/1/100/ac"),
        "callers-62-contour-offered": (CONTOUR, "proc_callers/62/pr/1/100/nc"),
        "callers-62-no-contour": "proc_callers/62/pr/1/100/ac",
        "callers-62-bad-contour": (BAD_CONTOUR, "proc_callers/62/pr/1/100/ac"),
        "callers-62-bad-contour-offered": (BAD_CONTOUR, "proc_callers/62/pr/1/100/nc"),
        "modules": "program_modules",
        "modules-by-words": "program_modules&p-_-s-a-w/box/cols/5/20/nosum/cost-words-self-oa/nc/th/"
                            "mqwd/hhh/nodev",
        "module-mandelbrot": "module/mandelbrot",
        "getters-io": "module_getter_setters/io&p-_-s-_-w/box/cols/5/20/nosum/context/nc/th/mqwd/sss/"
                      "nodev",
        "top-callseqs-self": "top_procs/1-20/callseqs/self/oa",
        "top-callseqs-both": "top_procs/1-20/callseqs/both/oa",
        "top-callseqs-both-per-call": "top_procs/1-10/callseqs/both/pc",
        "top-time-self": "top_procs/1-10/time/self/oa",
        "top-time-both": "top_procs/1-10/time/both/oa",
        "top-allocs-self": "top_procs/1-10/allocs/self/oa",
        "top-words-both": "top_procs/1-10/words/both/oa",
        "top-calls": "top_procs/1-10/calls/self/oa",
        "top-above-1-percent": "top_procs/p1/callseqs/both/oa",
        "top-above-a-million": "top_procs/v1000000/callseqs/both/oa",
        "dump-ps-62": "dump_proc_static/62",
        "dump-pd-97": "dump_proc_dynamic/97",
        "dump-css-63": "dump_call_site_static/63",
        "dump-csd-130": "dump_call_site_dynamic/130",
        "dump-clique-91": "dump_raw_clique/91",
        "coverage-ps-60": "proc_static_coverage/60",
        "coverage-ps-61": "proc_static_coverage/61",
        "coverage-pd-96": "proc_dynamic_coverage/96",
        "module-rep-bool": "module_rep/bool",
        "recursion-112": "clique_rc/112",
        "recursion-91": "clique_rc/91",
        "recursion-185": "clique_rc/185",
        "recursion-1": "clique_rc/1",
        "recursion-types": "recursion_type_freq",
        "recursion-types-by-cost": "recursion_type_freq&p-_-s-_-_/box/cols/5/3/nosum/"
                                   "cost-callseqs-both-oa/nc/th/mqwd/hhh/nodev",
        "var-use-130": "call_site_dynamic_var_use/130",
        "var-use-118": "call_site_dynamic_var_use/118",
    },
    "generated": {
        "menu": "menu",
        "root": "root/no",
        "action": "root/50",
        "clique-40": "clique/40",
        "clique-40-all": "clique/40&" + ALL.format(order="cost-words-both-pc"),
        "proc-12": "proc/12",
        "callers-12-cs": "proc_callers/12/cs/1/20/nc",
        "callers-12-cl": "proc_callers/12/cl/1/20/nc",
        "modules": "program_modules",
        "top-callseqs-both": "top_procs/1-15/callseqs/both/oa",
        "dump-ps-12": "dump_proc_static/12",
        "dump-pd-40": "dump_proc_dynamic/40",
    },
    "c": {
        "proc": "proc/12",
        "proc-by-bytes": "proc/12&p-_-_-_-b/box/cols/5/20/nosum/cost-words-both-oa/nc/th/mqwd/hhh/nodev",
        "context": "clique/40",
        "contexts": "contexts/12",
        "callers-by-context": "proc_callers/12/cl/1/20/nc",
        "graph": "graph/calls/proc/12",
        "graph-all": "graph/bytes/all",
        "recursions": "recursions/calls",
        "memory-allocated": "memory/allocated",
        "memory-held": "memory/held",
        "waits": "waits",
        "leaks": "leaks",
    },
}


def difference(wanted, got, name):
    lines = difflib.unified_diff(wanted.splitlines(), got.splitlines(), name, "now", lineterm="")
    return "\n".join(list(lines)[:30])


def beside(contour, profile, folder):
    """The profile in a folder of its own, with its bodies and this contour file."""
    where = pathlib.Path(folder, "contour" if contour == CONTOUR else "bad")
    if not where.exists():
        where.mkdir()
        for suffix in (".data", ".procrep"):
            (where / f"Deep{suffix}").symlink_to(pathlib.Path(profile).resolve().with_suffix(suffix))
        (where / "Deep.contour").write_text(contour)
    return where


def main(fathom, generate, which, update):
    folder = pathlib.Path(__file__).resolve().parent / "golden" / which
    temporary = tempfile.TemporaryDirectory(prefix="fathom-golden-")
    fathom = os.path.abspath(fathom)  # it is run in other folders, too
    if which == "sample":
        profile = os.path.join(os.environ.get("FATHOM_SAMPLE_DATA", ""), "mercury", "Deep.data")
        if not os.path.exists(profile):
            print("skipped: no real profile; set FATHOM_SAMPLE_DATA")
            return 77
    else:
        profile = os.path.join(temporary.name, "Deep.data")
        flavour = ["--c"] if which == "c" else []
        subprocess.run([generate, *flavour, "--nodes=800", "--procs=60", "--seed=5", profile], check=True,
                       stdout=subprocess.DEVNULL)
    folder.mkdir(parents=True, exist_ok=True)
    failures = 0
    names = set()
    for name, query in QUERIES[which].items():
        where = None
        asked = profile
        if isinstance(query, tuple):
            where = beside(query[0], profile, temporary.name)
            query, asked = query[1], "Deep.data"
        for kind in ("text", "json"):
            told = subprocess.run([fathom, "report", f"--{kind}", query, asked], cwd=where,
                                  capture_output=True, text=True)
            got = told.stdout if told.returncode == 0 else told.stderr
            got = got.replace(temporary.name, "FOLDER")  # where sources were looked for
            path = folder / f"{name}.{'txt' if kind == 'text' else kind}"
            names.add(path.name)
            if update:
                path.write_text(got)
            elif not path.exists() or path.read_text() != got:
                failures += 1
                print(difference(path.read_text() if path.exists() else "", got, path.name))
    for path in folder.iterdir():
        if path.name not in names:
            failures += 1
            print(f"{path.name}: no query makes it")
    print(f"{len(names)} pages, {failures} differ")
    return 1 if failures else 0


sys.exit(main(*sys.argv[1:4], "--update" in sys.argv[4:]))

#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Programs of the system, as they are, plain and under `fathom record`: whether output and exit status are the same, how
many of their stacks are complete, what it costs. Prints the table of docs/anything.md; programs that are not
installed are left out.

usage: programs.py BUILD [NAME...]

Cost is CPU time (user and system, with children) of the program with the preloaded library over that of the plain one,
the median of three pairs."""
import os
import pathlib
import re
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile

FILES = {
    "a.c": '#include <stdio.h>\n#include <stdlib.h>\nint main(void) { char *p = malloc(9); puts(p ? "c" : ""); free(p); return 0; }\n',
    "a.cc": '#include <map>\n#include <string>\n#include <regex>\nint main() { std::map<std::string, int> m; m["a"] = 1; '
            'return std::regex_match("b", std::regex("[a-z]+")) ? 0 : 1; }\n',
    "a.rs": 'use std::collections::HashMap;\nfn main() { let mut m = HashMap::new(); for i in 0..200000u64 { *m.entry(i % 977).or_insert(0u64) '
            '+= i; }\n let mut v: Vec<_> = m.into_iter().collect(); v.sort(); println!("{:?}", &v[..2]); }\n',
    "a.f90": "program a\n real(8) :: x(400, 400), y(400, 400)\n x = 1.5d0\n y = matmul(x, x)\n print *, sum(y)\nend program\n",
    "a.hs": 'import qualified Data.Map as M\nmain :: IO ()\nmain = print (sum (M.elems (M.fromListWith (+) [(i `mod` 977, i) | i <- [1 .. 200000 :: Int]])))\n',
    "a.go": 'package main\n\n/*\n#include <stdlib.h>\n*/\nimport "C"\nimport "fmt"\n\nfunc main() {\n\tm := map[int]int{}\n\tfor i := 0; i < 300000; i++ {\n'
            '\t\tm[i%977] += i\n\t}\n\tp := C.malloc(64)\n\tC.free(p)\n\tfmt.Println(len(m), m[5])\n}\n',
    "A.java": 'import java.util.*;\npublic class A { public static void main(String[] a) { Map<Integer, Long> m = new TreeMap<>(); '
              'for (int i = 0; i < 300000; i++) m.merge(i % 977, (long) i, Long::sum); System.out.println(m.get(5)); } }\n',
    "a.ml": "let () = let h = Hashtbl.create 16 in for i = 1 to 300000 do Hashtbl.replace h (i mod 977) i done; print_int (Hashtbl.length h)\n",
    "a.js": "const m = new Map(); for (let i = 0; i < 500000; i++) m.set(i % 977, (m.get(i % 977) || 0) + i); console.log(m.size, m.get(5));\n",
    "a.py": "import json, re\nw = {}\nfor i in range(40000): w.setdefault(str(i % 977), []).append({'i': i, 's': 'x' * (i % 30)})\n"
            "print(len(json.dumps(w)), len(re.sub('x+', 'y', json.dumps(w))))\n",
    "a.pl": "my %h; for (1..200000) { $h{$_ % 977} .= $_ % 7 } print scalar(keys %h), ' ', length $h{5}, \"\\n\";\n",
    "a.rb": "h = Hash.new(0); 200000.times { |i| h[i % 977] += i }; puts h.size, h[5], (1..2000).map(&:to_s).join.length\n",
    "a.R": "x <- sapply(1:20000, function(i) sum(sqrt(1:20)) + i); cat(sum(x), length(unique(round(x))), '\\n'); m <- matrix(1:40000, 200); cat(sum(m %*% m), '\\n')\n",
    "a.lua": "local t = {} for i = 1, 400000 do t[i % 977] = (t[i % 977] or '') .. 'x' if #t[i % 977] > 50 then t[i % 977] = '' end end print(#t)\n",
    "a.php": "<?php $m = []; for ($i = 0; $i < 300000; $i++) { $m[$i % 977][] = $i; } echo count($m), ' ', array_sum($m[5]), \"\\n\";\n",
    "a.tcl": "for {set i 0} {$i < 100000} {incr i} { lappend m([expr {$i % 977}]) $i }; puts [array size m]; puts [llength $m(5)]\n",
    "a.scm": "(define h (make-hash-table)) (do ((i 0 (+ i 1))) ((= i 200000)) (hash-set! h (modulo i 977) i)) (display (hash-ref h 5)) (newline)\n",
    "a.el": "(let ((h (make-hash-table)) (s 0)) (dotimes (i 200000) (puthash (% i 977) i h)) (maphash (lambda (k v) (setq s (+ s v))) h) (message \"%d\" s))\n",
    "a.sql": "create table t(a, b); with recursive x(i) as (select 1 union all select i + 1 from x where i < 30000) "
             "insert into t select i, hex(i * 7919 % 30000) from x; create index t_b on t(b); select count(*), sum(length(b)) from t;\n",
    "a.html": "<p id=x></p><script>let s = 0; for (let i = 0; i < 1e6; i++) s += i % 7; document.getElementById('x').textContent = s</script>\n",
    "a.awk": "BEGIN { for (i = 0; i < 300000; i++) m[i % 977] = m[i % 977] + i; print length(m), m[5] }\n",
    "a.y": "%token N\n%%\ns: e;\ne: e '+' N | N;\n%%\n",
    "a.l": "%%\n[a-z]+ { return 1; }\n[0-9]+ { return 2; }\n%%\n",
    "nginx.conf": "daemon off; pid FOLDER/nginx.pid; error_log FOLDER/nginx.log; events {} http { access_log off; server { listen 127.0.0.1:18480; } }\n",
    "a.mk": "all: $(foreach n,1 2 3 4 5 6 7 8,t$n)\nt%:\n\t@echo $@\n",
}
# What the command needs beforehand; then the command.
PROGRAMS = [
    ("git", "C", "", "git -C ROOT log --stat -60"),
    ("sqlite3", "C", "", "sqlite3 :memory: '.read a.sql'"),
    ("gcc", "C++", "", "gcc -O2 a.c -o out"),
    ("g++", "C++", "", "g++ -O1 -c a.cc -o out"),
    ("clang", "C++", "", "clang -O2 -c a.cc -o out"),
    ("rustc", "Rust", "", "rustc -O --emit=obj a.rs -o out"),
    ("a Rust program", "Rust", "rustc -O -g a.rs -o program", "./program"),
    ("gfortran", "Fortran", "gfortran -O1 -g a.f90 -o program", "./program"),
    ("go (cgo)", "Go", "env HOME=FOLDER GOFLAGS=-mod=mod GO111MODULE=off CGO_ENABLED=1 go build -o program a.go", "./program"),
    ("ghc", "Haskell", "ghc -O1 a.hs -o program", "./program"),
    ("java", "Java, C++", "javac A.java", "java -Xshare:off A"),
    ("node", "JavaScript, C++", "", "node a.js"),
    ("python3", "Python, C", "", "/usr/bin/python3 a.py"),
    ("perl", "Perl, C", "", "perl a.pl"),
    ("ruby", "Ruby, C", "", "ruby a.rb"),
    ("R", "R, C, Fortran", "", "Rscript a.R"),
    ("ocaml", "OCaml, C", "", "ocaml a.ml"),
    ("lua", "Lua, C", "", "lua5.4 a.lua"),
    ("php", "PHP, C", "", "php a.php"),
    ("tclsh", "Tcl, C", "", "tclsh a.tcl"),
    ("guile", "Scheme, C", "", "guile --no-auto-compile a.scm"),
    ("emacs", "C, Lisp", "", "emacs -Q --batch -l a.el"),
    ("vim", "C", "", "vim.basic -u NONE -es a.c -c '%s/p/q/g' -c 'w! out' -c qa"),
    ("nginx", "C", "", "nginx -t -c FOLDER/nginx.conf"),
    ("openssl", "C, assembly", "", "openssl dgst -sha512 /usr/bin/git"),
    ("ffmpeg", "C, assembly", "", "ffmpeg -v error -f lavfi -i testsrc=duration=2:size=160x120 -threads 2 -bitexact -y out.avi"),
    ("chromium", "C++", "", "chromium --headless --no-sandbox --disable-gpu --user-data-dir=FOLDER/chromium --dump-dom file://FOLDER/a.html"),
    ("convert", "C", "", "convert -size 300x300 gradient: -blur 0x4 -resize 50% out.pgm"),
    ("gdb", "C++", "gcc -g a.c -o program", "gdb -q -batch -ex 'break main' -ex 'info line main' program"),
    ("cmake", "C++", "", "cmake --help-command-list"),
    ("make", "C", "", "make -s -f a.mk"),
    ("xz", "C", "", "xz -T2 -9 -c /bin/bash"),
    ("zstd", "C", "", "zstd -q -12 -c /bin/bash"),
    ("bash", "C", "", "bash -c 'for i in {1..5000}; do x=$((i % 7)); done; echo $x; (exit 3)'"),
    ("sort", "C", "", "sort --parallel=2 -k2 a.html a.c a.cc a.js"),
    ("tar", "C", "", "tar -cf out.tar /usr/share/perl5 --mtime=@0 --sort=name"),
    ("find", "C", "", "find /usr/share/doc -maxdepth 2 -name copyright"),
    ("gawk", "C", "", "gawk -f a.awk"),
    ("jq", "C", "", "jq -n '[range(20000) | {a: ., b: (. % 977 | tostring)}] | group_by(.b) | map(length) | add'"),
    ("bison", "C", "", "bison a.y -o out.c"),
    ("flex", "C", "", "flex -o out.c a.l"),
    ("gpg", "C", "", "gpg --homedir FOLDER --print-md sha512 /bin/bash"),
    ("objdump", "C", "", "objdump -d /bin/bash"),
    ("file", "C", "", "file /bin/bash /usr/bin/perl a.html a.c"),
    ("apt-cache", "C++", "", "apt-cache policy bash"),
]
STACKS = re.compile(r"those of (\d+) stacks \([^)]*\), ([0-9.]+) % of them complete(?:; (\d+) frames? in)?")


class Place:
    def __init__(self, build, folder):
        self.folder = folder
        self.fathom = build / "src" / "cli" / "fathom"
        self.library = build / "runtime" / "libfathom-preload.so"
        root = pathlib.Path(__file__).resolve().parents[2]
        self.words = {"FOLDER": str(folder), "ROOT": str(root)}
        for name, text in FILES.items():
            (folder / name).write_text(self.filled(text))

    def filled(self, text):
        for word, value in self.words.items():
            text = text.replace(word, value)
        return text

    def run(self, words, **environment):
        fixed = {"HOME": str(self.folder), "PERL_HASH_SEED": "0", "PYTHONHASHSEED": "0", "LC_ALL": "C.UTF-8"}
        begin = resource.getrusage(resource.RUSAGE_CHILDREN)
        done = subprocess.run(words, cwd=self.folder, env={**os.environ, **fixed, **environment}, capture_output=True,
                              encoding="latin-1", stdin=subprocess.DEVNULL, timeout=300, check=False)
        end = resource.getrusage(resource.RUSAGE_CHILDREN)
        used = end.ru_utime + end.ru_stime - begin.ru_utime - begin.ru_stime
        return done, used

    def recorded(self, words):
        """Result of `fathom record`, without its notes on standard error, and the notes."""
        for old in self.folder.glob("profile*"):
            old.unlink()
        done, _ = self.run([str(self.fathom), "record", "-o", "profile", "--", *words])
        lines = done.stderr.splitlines(keepends=True)
        first = next((i for i, line in enumerate(lines) if line.startswith(("fathom record: ", f"{self.folder}/profile"))), len(lines))
        return done, "".join(lines[:first]), "".join(lines[first:])

    def cost(self, words):
        ratios = []
        for _ in range(3):
            plain = self.run(words)[1]
            more = self.run(words, LD_PRELOAD=str(self.library), FATHOM_OUTPUT=str(self.folder / "profile"))[1]
            ratios.append(more / plain)
            for old in self.folder.glob("profile*"):
                old.unlink()
        return statistics.median(ratios), plain


def made(folder):
    """What the command wrote to its file."""
    return {file.name: file.read_bytes() for file in folder.glob("out*") if file.is_file()}


def row(place, name, language, before, command):
    words = ["sh", "-c", place.filled(before)] if before else None
    shown = command.replace("|", "\\|")
    if words and place.run(words, HOME=os.environ.get("HOME", "/"))[0].returncode != 0:
        return f"{name}: its program cannot be made here"
    words = ["bash", "-c", "exec " + place.filled(command)] if "'" in command else place.filled(command).split()
    if "'" not in command and shutil.which(words[0]) is None and not words[0].startswith("./") or shutil.which(command.split()[0]) is None \
            and not command.startswith("./"):
        return f"{name}: not installed"
    plain, _ = place.run(words)
    files = made(place.folder)
    done, errors, notes = place.recorded(words)
    differ = [what for what, same in (("status", plain.returncode == done.returncode), ("output", plain.stdout == done.stdout),
                                      ("errors", plain.stderr == errors), ("files", files == made(place.folder))) if not same]
    stacks = [(int(count), float(share), int(guessed or 0)) for count, share, guessed in STACKS.findall(notes)]
    for old in made(place.folder):
        (place.folder / old).unlink()
    if not stacks:
        return f"| {name} | {language} | `{shown}` | {', '.join(differ) or 'yes'} | | | | " + \
            (re.search(r"is not recorded: ([^\n]*)", notes + errors) or [None, "nothing is recorded"])[1] + " |"
    count = sum(number for number, _, _ in stacks)
    complete = sum(number * share for number, share, _ in stacks) / count
    guessed = sum(number for _, _, number in stacks)
    ratio, seconds = place.cost(words)
    return f"| {name} | {language} | `{shown}` | {', '.join(differ) or 'yes'} | {count:,} | {complete:.1f} % | {guessed or ''} | {ratio:.2f} of {seconds:.2f} s |"


def main():
    build, chosen = pathlib.Path(sys.argv[1]).resolve(), sys.argv[2:]
    print("| program | language | command | same | stacks | complete | frames guessed | CPU time |\n|---|---|---|---|---|---|---|---|")
    for name, language, before, command in PROGRAMS:
        if chosen and name not in chosen:
            continue
        with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as temporary:
            try:
                text = row(Place(build, pathlib.Path(temporary)), name, language, before, command)
            except subprocess.TimeoutExpired:
                text = f"{name}: takes too long"
        print(text, flush=True, file=sys.stdout if text.startswith("|") else sys.stderr)


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Plain words, counted: comments that begin with a relative clause, and long sentences in what users
read. Both shares may only fall: the limits stand in words.txt, in tenths of a percent.

    words.py SOURCE_ROOT [FATHOM]    # with the program, its --help texts count, too
    words.py --worst SOURCE_ROOT     # lists all of them, to be rewritten
"""
import os
import pathlib
import re
import subprocess
import sys

import source_files

RELATIVE = re.compile(r"(?:What|Of|Those|Whose|Who|Which|Where|Whatever|The same)\b", re.IGNORECASE)
COMMENTED = ("src/", "runtime/", "include/", "web/")
COMMENT = re.compile(r"""("(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'|`(?:\\.|[^`\\])*`)|//([^\n]*)|/\*(.*?)\*/""", re.DOTALL)
WORDS_MAX = 30
ABBREVIATION = re.compile(r"\b(?:e\.g|i\.e|etc|vs|cf)\.$")


def comments(text):
    """(line, text) of each comment. Lines of // below one another are one comment."""
    found, last_line, last_column = [], None, None
    for match in COMMENT.finditer(text):
        if match[1] is not None or "SPDX-" in match[0]:
            continue
        line = text.count("\n", 0, match.start()) + 1
        column = match.start() - (text.rfind("\n", 0, match.start()) + 1)
        body = match[2] if match[2] is not None else match[3]
        if match[2] is not None and last_line == line - 1 and last_column == column:
            last_line = line
            continue
        if match[2] is not None:
            last_line, last_column = line, column
        found.append((line, re.sub(r"^[\s*/!<]+", "", body).strip()))
    return [(line, body) for line, body in found if body and not body.startswith(("NOLINT", "@"))]


def prose(name, text):
    """The paragraphs of a document, without code, tables and headings."""
    text = re.sub(r"^```.*?^```", "\n\n", text, flags=re.DOTALL | re.MULTILINE)
    text = re.sub(r"^(?:\t| {4}(?! *[-*\d])).*$", "", text, flags=re.MULTILINE)
    if name.endswith(".scd"):
        text = re.sub(r"^[;*_-].*$", lambda line: "\n" + line[0].lstrip(";*_- ") if line[0][0] in "-*_" else "",
                      text, flags=re.MULTILINE)
    for paragraph in re.split(r"\n\s*\n|\n(?=\s*(?:[-*]|\d+\.) )|\n(?=[#|])", text):
        paragraph = paragraph.strip()
        if paragraph.startswith("#") or not paragraph:
            continue
        if paragraph.startswith("|"):  # a cell is a text of its own
            yield from (cell.strip() for cell in paragraph.split("|") if cell.strip())
        else:
            yield re.sub(r"\s+", " ", paragraph)


def sentences(paragraph):
    sentence = ""
    for part in re.split(r"(?<=[.!?:;])\s+(?=[A-Z`\"(*_\[])", paragraph):
        sentence = f"{sentence} {part}".strip()
        if not ABBREVIATION.search(sentence):
            yield sentence
            sentence = ""
    if sentence:
        yield sentence


def length(sentence):
    """Words; a piece of code counts as one."""
    return len(re.findall(r"\w[\w'’/-]*", re.sub(r"`[^`]*`", "code", sentence)))


def help_rows(text):
    """The paragraphs of a --help, and the explanation of each option or command."""
    for row in re.split(r"\n\s*\n|\n(?= {1,8}\S)", text):
        yield re.sub(r"\s+", " ", re.sub(r"^ *\S.*?  +", "", row, count=1)).strip()


def helps(fathom):
    """(name, paragraphs) of each command's --help."""
    def ask(*words):
        return subprocess.run([fathom, *words, "--help"], capture_output=True, text=True, check=True).stdout

    whole = ask()
    yield "fathom --help", help_rows(whole)
    for command in re.findall(r"^  ([a-z][\w-]*)  ", whole, re.MULTILINE):
        yield f"fathom {command} --help", help_rows(ask(command))


def long_sentences(texts):
    """(number of sentences, [(place, words, sentence)] of the long ones) of (name, paragraphs)."""
    count, found = 0, []
    for name, paragraphs in texts:
        for sentence in (one for paragraph in paragraphs for one in sentences(paragraph)):
            words = length(sentence)
            if words >= 4:
                count += 1
                if words > WORDS_MAX:
                    found.append((name, words, sentence))
    return count, found


def relative_comments(root, names):
    count, found = 0, []
    for name in names:
        if not name.startswith(COMMENTED) or name.startswith("web/vendor/") or not name.endswith((".c", ".h", ".js", ".css", ".cc")):
            continue
        for line, body in comments((root / name).read_text(encoding="utf-8")):
            count += 1
            if RELATIVE.match(body):
                found.append((f"{name}:{line}", body.split("\n")[0]))
    return count, found


def limits():
    lines = pathlib.Path(__file__).with_name("words.txt").read_text(encoding="utf-8").splitlines()
    return {name.strip(): int(value) for name, value in
            (line.split("=") for line in lines if line and not line.startswith("#"))}


def judge(what, found, count, limit):
    share = 1000 * len(found) / count
    print(f"{what}: {len(found)} of {count}, {share / 10:.1f} %; the limit is {limit / 10:.1f} %")
    if share < limit - 5:
        print(f"  lower the limit in tests/words.txt to {int(share) + 1}")
    return share <= limit


def main(arguments):
    worst = arguments[0] == "--worst"
    root = pathlib.Path(arguments[1 if worst else 0])
    names = source_files.listed(root)
    count, relative = relative_comments(root, names)
    texts = [(name, prose(name, (root / name).read_text(encoding="utf-8"))) for name in names
             if name.endswith((".md", ".scd")) and not name.startswith("web/vendor/")]
    if not worst and len(arguments) > 1:
        texts += helps(os.path.abspath(arguments[1]))
    sentence_count, long = long_sentences(texts)
    if worst:
        print(*(f"{place}: {body}" for place, body in relative), sep="\n")
        print(*(f"{name}: {words} words: {text}" for name, words, text in sorted(long, key=lambda one: -one[1])), sep="\n")
        return 0
    allowed = limits()
    good = [judge("comments that begin with a relative clause", relative, count, allowed["relative comments"]),
            judge(f"sentences over {WORDS_MAX} words", long, sentence_count, allowed["long sentences"])]
    if not all(good):
        print("Rewrite what you added, in plain words; `tests/words.py --worst .` lists all of them.")
    return 0 if all(good) and count > 1000 and sentence_count > 500 else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

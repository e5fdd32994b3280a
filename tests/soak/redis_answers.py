#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Does a server answer the same when it is recorded? Random commands from several clients at once.

    redis_answers.py FATHOM PLAIN RECORDED [COMMANDS [SEED]]

PLAIN and RECORDED are redis-server built without and with `fathom cc` (of one source, MALLOC=libc);
RECORDED runs under `fathom record`, with waiting and held memory. Threads that read and write, an
append-only file and forks (BGSAVE, BGREWRITEAOF) are on. Each client has keys of its own, so its
answers do not depend on the others. Ends with 1 when an answer differs, or the profile is wrong.
"""
import json
import os
import random
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time

CLIENTS = 4
AT_ONCE = 64  # commands in one write


def command(rng, who):
    """One command whose answer follows from those before it."""
    def key(kind):
        return f"{who}:{kind}:{rng.randrange(200)}"

    def word():
        return "".join(rng.choice("abcdefgh \r\n\0") for _ in range(rng.randrange(1, 300)))

    def number():
        return str(rng.randrange(-1000, 1000))

    makers = (
        lambda: ["SET", key("s"), word()], lambda: ["GET", key("s")],
        lambda: ["APPEND", key("s"), word()], lambda: ["STRLEN", key("s")],
        lambda: ["SETRANGE", key("s"), str(rng.randrange(500)), word()],
        lambda: ["INCRBY", key("n"), number()], lambda: ["GET", key("n")],
        lambda: ["DEL", key(rng.choice("snlhzc"))],
        lambda: ["LPUSH", key("l"), word(), word()], lambda: ["RPOP", key("l")],
        lambda: ["LRANGE", key("l"), "0", "20"], lambda: ["LINSERT", key("l"), "BEFORE", "a", word()],
        lambda: ["HSET", key("h"), number(), word()], lambda: ["HGET", key("h"), number()],
        lambda: ["HLEN", key("h")], lambda: ["HINCRBY", key("hn"), number(), number()],
        lambda: ["ZADD", key("z"), number(), number()],
        lambda: ["ZRANGE", key("z"), "0", "30", "WITHSCORES"], lambda: ["ZRANK", key("z"), number()],
        lambda: ["SADD", key("c"), number(), number()], lambda: ["SCARD", key("c")],
        lambda: ["SISMEMBER", key("c"), number()], lambda: ["SORT", key("c"), "LIMIT", "0", "30"],
        lambda: ["SETBIT", key("b"), str(rng.randrange(9000)), "1"], lambda: ["BITCOUNT", key("b")],
        lambda: ["PFADD", key("p"), word()], lambda: ["PFCOUNT", key("p")],
        lambda: ["EVAL", "return redis.call('INCRBY', KEYS[1], ARGV[1]) * 2", "1", key("n"), number()],
        lambda: ["XADD", key("x"), f"{rng.randrange(1, 9)}-{rng.randrange(1, 99)}", "f", word()],
        lambda: ["XLEN", key("x")], lambda: ["OBJECT", "ENCODING", key("z")], lambda: ["NOSUCH", "x"],
    )
    return rng.choice(makers)()


def encoded(words):
    parts = [f"*{len(words)}\r\n".encode()]
    for word in words:
        data = word.encode()
        parts.append(b"$%d\r\n%s\r\n" % (len(data), data))
    return b"".join(parts)


def read_answer(stream):
    """The bytes of one answer, whole."""
    line = stream.readline()
    if not line.endswith(b"\r\n"):
        raise EOFError("the server has closed the connection")
    if line[:1] == b"$" and int(line[1:]) >= 0:
        return line + stream.read(int(line[1:]) + 2)
    if line[:1] == b"*" and int(line[1:]) > 0:
        return line + b"".join(read_answer(stream) for _ in range(int(line[1:])))
    return line


def client(path, who, seed, count, answers):
    rng = random.Random(f"{seed} {who}")
    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect(path)
        stream = connection.makefile("rb")
        for first in range(0, count, AT_ONCE):
            some = [command(rng, who) for _ in range(min(AT_ONCE, count - first))]
            connection.sendall(b"".join(map(encoded, some)))
            answers.extend((words, read_answer(stream)) for words in some)


def ask(path, *words):
    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect(path)
        connection.sendall(encoded(words))
        return read_answer(connection.makefile("rb"))


def serve(arguments, folder, commands, seed):
    """The answers to each client, in order."""
    path = os.path.join(folder, "socket")
    server = subprocess.Popen(
        [*arguments, "--port", "0", "--unixsocket", path, "--io-threads", "4",
         "--io-threads-do-reads", "yes", "--appendonly", "yes", "--save", "", "--dir", folder],
        stdout=open(os.path.join(folder, "log"), "w"), stderr=subprocess.STDOUT)
    try:
        for _ in range(600):
            if os.path.exists(path):
                break
            time.sleep(0.1)
        answers = [[] for _ in range(CLIENTS)]
        threads = [threading.Thread(target=client, args=(path, who, seed, commands // CLIENTS,
                                                         answers[who])) for who in range(CLIENTS)]
        for thread in threads:
            thread.start()
        while any(thread.is_alive() for thread in threads):
            ask(path, "BGSAVE")
            time.sleep(0.5)
            ask(path, "BGREWRITEAOF")
            time.sleep(0.5)
        for thread in threads:
            thread.join()
    finally:
        server.send_signal(signal.SIGTERM)
        status = server.wait(timeout=120)
    return answers, status


def main():
    fathom, plain, recorded = map(os.path.abspath, sys.argv[1:4])
    commands = int(sys.argv[4]) if len(sys.argv) > 4 else 100000
    seed = sys.argv[5] if len(sys.argv) > 5 else "1"
    wrong = 0
    with tempfile.TemporaryDirectory() as folder:
        folders = [os.path.join(folder, name) for name in ("plain", "recorded")]
        for each in folders:
            os.mkdir(each)
        expected, status = serve([plain], folders[0], commands, seed)
        profile = os.path.join(folders[1], "redis")
        found, recorded_status = serve([fathom, "record", "-o", profile, "--", recorded], folders[1],
                                       commands, seed)
        compared = 0
        for who in range(CLIENTS):
            for (words, one), (_, other) in zip(expected[who], found[who], strict=True):
                compared += 1
                if one != other:
                    wrong += 1
                    print(f"client {who}: {words[:2]}: {one[:80]!r}, recorded {other[:80]!r}")
        if status != recorded_status:
            wrong += 1
            print(f"ends with {status}, recorded with {recorded_status}")
        checked = subprocess.run([fathom, "check", "--sample=5", f"{profile}.data"],
                                 capture_output=True, text=True)
        wrong += checked.returncode != 0
        first = json.loads(subprocess.run([fathom, "report", "--json", "menu", f"{profile}.data"],
                                          capture_output=True, text=True, check=True).stdout)
        for line in checked.stdout.splitlines():
            if line.startswith("FAILED"):
                print(line)
        print(checked.stdout.splitlines()[-1], checked.stderr,
              *(each["text"] for each in first["text"][:3]), sep="\n")
        print(f"{compared} answers compared, {wrong} differences")
    return wrong != 0


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Each call that blocks, when a signal comes, with and without SA_RESTART, and when its thread is cancelled,
before the call and within; calls that seldom wait; libraries that load libraries: all as in the program alone.
And what blocked is known as a wait of the function that called."""
import os
import pathlib
import re
import sys
import tempfile

import record_lib as lib
from patience import PATIENCE
from runtime_rec import Rec

DISK = 19
SIDE_WAITS = 5
HERE = pathlib.Path(__file__).resolve().parent
WAYS = (
    ("gcc", ["-O1"], "C"),
    ("gcc", ["-O2", "-D_FORTIFY_SOURCE=2", "-D_FILE_OFFSET_BITS=64"], "C, checked, 64 bits"),
    ("g++", ["-x", "c++", "-O1"], "C++"),
)
LAST = len(WAYS) - 1
SOURCES = ("blocking", "calls_rest", "paths")
BESIDE = "int beside(void);\nint beside(void)\n{\n    return 5;\n}\n"
LOADER = r"""
#include <dlfcn.h>
#include <stddef.h>
int load_beside(const char *name)
{
    void *handle = dlopen(name, RTLD_NOW);
    return handle != NULL && dlsym(handle, "beside") != NULL;
}
"""
# What the specification of waiting names, beside locks: each is in front of libc's.
NAMES = """
read write readv writev pread pread64 pwrite pwrite64 preadv preadv64 pwritev pwritev64 preadv2 preadv64v2 pwritev2
pwritev64v2 __read_chk __pread_chk __pread64_chk sendfile sendfile64 splice tee vmsplice copy_file_range
recv recvfrom recvmsg recvmmsg send sendto sendmsg sendmmsg accept accept4 connect __recv_chk __recvfrom_chk
poll ppoll select pselect epoll_wait epoll_pwait epoll_pwait2 __poll_chk __ppoll_chk
sleep usleep nanosleep clock_nanosleep pause sigsuspend sigpause __xpg_sigpause __sigpause sigwait sigwaitinfo
sigtimedwait wait waitpid wait3 wait4 waitid system pclose popen posix_spawn posix_spawnp
fsync fdatasync sync syncfs msync sync_file_range open open64 openat openat64 creat creat64 __open_2 __open64_2
__openat_2 __openat64_2 open_by_handle_at close fallocate fallocate64 posix_fallocate posix_fallocate64 ftruncate
ftruncate64 truncate truncate64 flock fcntl fcntl64 lockf lockf64 getdents64 readdir readdir64 readdir_r readdir64_r
opendir readahead msgrcv msgsnd semop semtimedop mq_send mq_timedsend mq_receive mq_timedreceive aio_suspend
aio_suspend64 lio_listio lio_listio64 gai_suspend getaddrinfo_a eventfd_read eventfd_write getrandom getentropy tcdrain
ioctl syscall getaddrinfo getnameinfo gethostbyname gethostbyname2 gethostbyaddr gethostbyname_r gethostbyname2_r
gethostbyaddr_r res_query res_search res_send res_querydomain res_nquery res_nsearch res_nsend res_nquerydomain dlopen
fclose fflush fread fgets getline getdelim __getdelim fgetc getc getchar scanf fscanf vscanf vfscanf printf puts fputs
fwrite fprintf vprintf vfprintf dprintf vdprintf fopen fopen64 freopen freopen64 __uflow __overflow __wuflow
__woverflow fseek fseeko rewind perror syslog vsyslog getwc fgetwc fgetws putwc fputwc fputws wprintf fwprintf wscanf
fwscanf fread_unlocked fgets_unlocked fwrite_unlocked fputs_unlocked
pthread_mutex_lock pthread_mutex_timedlock pthread_mutex_clocklock pthread_rwlock_rdlock pthread_rwlock_wrlock
pthread_rwlock_timedrdlock pthread_rwlock_timedwrlock pthread_rwlock_clockrdlock pthread_rwlock_clockwrlock
pthread_cond_wait pthread_cond_timedwait pthread_cond_clockwait sem_wait sem_timedwait sem_clockwait
pthread_barrier_wait pthread_join pthread_timedjoin_np pthread_clockjoin_np pthread_once mtx_lock mtx_timedlock
cnd_wait cnd_timedwait thrd_join thrd_sleep call_once
stat stat64 lstat lstat64 fstatat fstatat64 statx statfs statfs64 statvfs statvfs64 access faccessat euidaccess readlink
readlinkat __readlink_chk __readlinkat_chk realpath __realpath_chk rename renameat renameat2 unlink unlinkat remove rmdir
mkdir mkdirat mkfifo mkstemp mkstemp64 mkdtemp link linkat symlink symlinkat chmod fchmodat chown lchown fchownat
utimensat
""".split()


def differences(tap, found, expected, what):
    tap.same(dict(enumerate(found.splitlines())), dict(enumerate(expected.splitlines())), what)


def in_front(path):
    """Functions that this file defines."""
    told = lib.must(["nm", "--defined-only", "-D", path], path.parent).stdout
    return {line.split()[2].split("@")[0] for line in told.splitlines() if line.split()[1] in "TWi"}


def build_all(folder):
    """The names of the programs: SOURCE.KIND.NUMBER."""
    names = []
    for number, (compiler, options, _) in enumerate(WAYS):
        front = [lib.FATHOM, "c++" if compiler == "g++" else "cc", compiler]
        for source in SOURCES:
            words = [*options, "-w", "-D_GNU_SOURCE", "-pthread", HERE / f"{source}.c"]
            lib.must([compiler, *words, "-o", f"{source}.plain.{number}"], folder)
            lib.must([*front, *words, "-o", f"{source}.recorded.{number}"], folder)
            names += [f"{source}.plain.{number}", f"{source}.recorded.{number}"]
    return names


def told_by(folder, name):
    own = folder / f"{name}.d"
    own.mkdir()
    environment = {**os.environ, "TMPDIR": str(own), "FATHOM_OUTPUT": str(folder / f"{name}.rec")}
    arguments = [folder / "libs" / "libloader.so", "libbeside.so"] if name.startswith("calls_rest") else []
    return lib.must([folder / name, *arguments], own, env=environment, timeout=3 * PATIENCE).stdout


def known_paths(tap, folder):
    """All of paths.c are calls of files and disks, of the functions that called."""
    own = folder / "known_paths"
    own.mkdir()
    told = lib.must([folder / f"paths.recorded.{LAST}"], own,
                    env={**os.environ, "TMPDIR": str(own), "FATHOM_OUTPUT": str(folder / "paths.rec")}).stdout
    rec = Rec(folder / "paths.rec")
    seen = sum(waits[DISK]["calls"] for thread in rec.threads for csd in thread["csds"].values()
               if SIDE_WAITS in csd["side"] and DISK in (waits := rec.waits(csd["side"][SIDE_WAITS])))
    tap.same(f"{seen} calls", told.splitlines()[-1], "calls about names of files are seen")


def main():
    tap = lib.Tap()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "beside.c").write_text(BESIDE)
        (folder / "loader.c").write_text(LOADER)
        (folder / "libs").mkdir()
        lib.must(["gcc", "-shared", "-fPIC", "beside.c", "-o", "libs/libbeside.so"], folder)
        lib.must(["gcc", "-shared", "-fPIC", "loader.c", "-o", "libs/libloader.so",
                  "-Wl,-rpath,$ORIGIN,--enable-new-dtags"], folder)
        programs = build_all(folder)
        told = dict(zip(programs, lib.at_once(lambda name: told_by(folder, name), programs)))
        for number, (_, _, what) in enumerate(WAYS):
            for source in SOURCES:
                differences(tap, told[f"{source}.recorded.{number}"], told[f"{source}.plain.{number}"],
                            f"{what}: {source}: as the program alone")
        known_paths(tap, folder)
        own = folder / "known"
        own.mkdir()
        done = lib.record([folder / f"blocking.recorded.{LAST}"], own, env={**os.environ, "TMPDIR": str(own)},
                          timeout=3 * PATIENCE)
        rows = set(re.findall(r"^    X\((\w+),", (HERE / "blocking.c").read_text(), re.M))
        waited = {callee.split("(")[0] for (callee, measure), value in done.profile.heap.items()
                  if measure == "waits" and value > 0}
        # What a function of its own calls waits in that.
        within = {"getline": "get_line", "aio_suspend": "suspend_on", "lio_listio": "list_of",
                  "cnd_wait": "c11_wait_for", "cnd_timedwait": "c11_wait_for", "pthread_cond_wait": "wait_for",
                  "pthread_cond_timedwait": "wait_for", "pthread_cond_clockwait": "wait_for"}
        unknown = sorted(row for row in rows if not waited & {f"blocks_{row}", within.get(row)})
        tap.check(len(rows) > 80 and not unknown, "what blocked is a wait of the function that called", unknown)
        library = pathlib.Path(os.environ["FATHOM_RUNTIME"]) / "libfathom.so"
        missing = sorted(set(NAMES) - in_front(library))
        tap.check(not missing, "each call of the list is in front of libc's", missing)
        # It holds locks of its own there, and would come back to itself. These two do not wait as it calls them.
        told = lib.must(["nm", "-u", library.with_name("libfathom.a"), library.with_name("libfathom_interpose.a")],
                        folder).stdout
        called = {line.split()[-1] for line in told.splitlines() if line.strip().startswith("U ")}
        tap.check(not called & set(NAMES) - {"fcntl64", "syscall"}, "the runtime itself calls none of them",
                  sorted(called & set(NAMES)))
    return tap.done()


sys.exit(main())

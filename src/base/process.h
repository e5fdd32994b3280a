/* SPDX-License-Identifier: Apache-2.0 */
/* Facts of processes and their threads, from /proc (proc(5)). */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* All of /proc/PID/NAME; g_free(). NULL: it cannot be read. */
char *fm_process_text(int pid, const char *name);
/* The begin of /proc/PID/task/TID/NAME, up to size - 1 bytes and a NUL, without taking memory.
 * False: nothing can be read; text is "" then. */
bool fm_process_read(int pid, int tid, const char *name, char *text, size_t size);

/* Numbers of fields of `stat` as proc(5) counts them. */
enum fm_process_field {
    FM_PROCESS_STATE = 3,
    FM_PROCESS_KERNEL_TICKS = 15,
    FM_PROCESS_THREADS = 20,
    FM_PROCESS_START = 22, /* ticks since the boot */
    FM_PROCESS_EXIT_SIGNAL = 38,
};
/* A field in the text of `stat`; NULL: it is not there. The command's name may contain anything, so
 * fields are counted from its closing bracket. */
const char *fm_process_field(const char *stat, enum fm_process_field field);
/* 'R', 'S', ... of a thread; 0: there is no such thread. */
char fm_process_state(int pid, int tid);

struct fm_process_counts {
    uint64_t ran_ns, queued_ns;
    uint64_t turns; /* how often it was given a CPU: while it does not change, a sleeping thread
                       still sleeps */
};
/* A thread's. False: not known. */
bool fm_process_counts(int pid, int tid, struct fm_process_counts *ret);

/* The number that a thread (tid = pid: a process) has in its innermost pid namespace (container);
 * tid itself where the kernel does not say, 0 where there is no such thread. */
int fm_process_inner(int pid, int tid);
/* "/proc/PID/root" where the process sees other files at the same paths, NULL where it sees ours or
 * may not be looked at. g_free() */
char *fm_process_root(int pid);

/* SPDX-License-Identifier: Apache-2.0 */
/* An independent reader of logs for the tests: checks every rule of a stream that a program of ours
 * makes, and counts. It shares no code with the library. */
#pragma once
#include <glib.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

#define CHECK_TYPES 1024
#define CHECK_CAPS 65536

struct check {
    uint64_t counts[CHECK_TYPES]; /* outside of replays */
    uint64_t
        replayed[CHECK_TYPES]; /* before the first block of news, and between replay messages */
    uint64_t events;           /* outside of replays, without block markers */
    uint64_t *cap_events;      /* CHECK_CAPS + 1 */
    uint64_t *cap_times;       /* of each lane's last event */
    uint64_t blocks, largest_block, bytes;
    uint64_t missing_events; /* as events 527 tell */
    uint64_t late_ns_max;    /* how far an event's time lies outside of its block */
    GHashTable *threads;     /* id -> label or "" : alive at the end */
    GHashTable *caps;        /* numbers created */
    GHashTable *names;      /* id -> text, as defined so far; events with another id abort the test,
                               but for 0 */
    GHashTable *name_times; /* id -> the earliest time of its definition */
    uint64_t unnamed;       /* events with the name 0 */
    uint64_t before_name;   /* events whose time is earlier than their name's definition */
    uint64_t first[CHECK_TYPES]; /* 1 + how many events stood before the first of a type */
    uint64_t seen;               /* events, replays included */
    char *args;                  /* joined by spaces */
    uint32_t pid;
    bool ended;           /* by the end mark */
    bool cut;             /* ends inside of a block */
    GHashTable *open;     /* cap << 32 | name: spans that are open at the end, replayed ones too */
    uint64_t open_twice;  /* spans that begin while one of their name is open in the lane */
    uint64_t never_begun; /* and that end while none is */
    uint64_t gaps;        /* jumps in the numbers that events 522 carry; they never go back */
    uint64_t *next;       /* by producer: the number after the last */
};

/* Aborts the test with a message when a rule is broken. */
struct check *check_stream(const uint8_t *data, size_t bytes);
struct check *check_file(const char *path);
void check_free(struct check *c);

/* Logs numbers from..from+n of a producer (< 64), as the address in events 522. */
void log_numbers(unsigned producer, uint32_t from, uint32_t n);
/* The same from a thread of its own, that has ended on return of join. */
struct producer {
    unsigned number;
    uint32_t count;
    GThread *thread;
};
void producers_start(struct producer *list, unsigned n, uint32_t count);
void producers_join(struct producer *list, unsigned n);
/* Everything that can be taken from memory, to the end of the finished list. */
GByteArray *take_all(void);
/* A new folder, and a file of a new one; g_free it. What this process made is removed at its end.
 */
char *temp_folder(void);
char *temp_path(const char *name);
/* Runs `fathom log validate` on the file if that command is there. */
void validate_file(const char *path);
void validate_bytes(const uint8_t *data, size_t bytes);

/* ---- programs that log and end without a stop */
/* In the child that is to end: a log at path with its live file; exit status 99 if it cannot. */
void begin_log(const char *path, size_t buffer);
/* Waits for its end. */
void finish(pid_t pid);
/* Runs `fathom log recover`; its wait status, and what it said, to be freed. */
int recover(const char *path, char **ret_err);
bool has_live(const char *path);
/* The log, what is left beside it, and their folder. */
void remove_log(const char *path);

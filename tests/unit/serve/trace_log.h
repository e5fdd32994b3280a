/* SPDX-License-Identifier: Apache-2.0 */
/* A small event log of a C program, byte by byte, whose every time is known.
 *
 *   ns            0    1000  2000  3000  3500  4000  5000        8000  9000
 *   thread 1      |    [parse [lex  ]    (message)     ]
 *   thread 2      |                            [<b>&"'</script>   ]
 *   counter queue          5 at 2500           9 at 4000
 */
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#define TRACE_LOG_HOSTILE "<b>&\"'</script>"

/* Appends the log; with end false the end mark is left out, so that it may grow. */
void trace_log_write(GByteArray *to, bool end);
/* The log with an event at 7 ns that tells the wall clock: at time 0 it was this, since 1970. */
void trace_log_write_clock(GByteArray *to, uint64_t epoch_ns);
/* A log of the caller's own: its begin, spans "parse" of a lane's thread (each step begins or ends
 * one), its end. */
struct trace_log_step {
    uint64_t time;
    bool begins;
};
void trace_log_begin(GByteArray *to);
void trace_log_add_steps(GByteArray *to, uint16_t lane, const struct trace_log_step *steps,
                         unsigned count);
/* Threads of the program's own scheduler, from number 2 on, on lane 0: each runs once, for 400 ns
 * of 1000, one after the other, and then waits to the end. */
void trace_log_add_threads(GByteArray *to, unsigned threads);
/* Counters "counter 1", "counter 2"..., each with one value, its number, after so many
 * microseconds. */
void trace_log_add_counters(GByteArray *to, unsigned counters);
void trace_log_end(GByteArray *to);
/* More events at the end: spans "late" of 100 ns, one each 1000 ns from the given time on. */
void trace_log_append(GByteArray *to, uint64_t from_ns, unsigned count);
/* More spans "parse" of the first thread, which is known: one block. */
void trace_log_append_steps(GByteArray *to, const struct trace_log_step *steps, unsigned count);
/* A Haskell program of two capabilities that mostly collects garbage.
 *
 *   ns            0   1000    4000         8000    9000   9500
 *   capability 0  |   [runs   ][collects   ][runs   ]
 *   capability 1  |           [collects             (told)]
 *
 * Capability 0 asked for the collection, of generation 1. */
void trace_log_write_haskell(GByteArray *to);
/* A Haskell program whose two threads run in turn, each for 500 ns of 1000, and wake each other. */
void trace_log_write_wakeups(GByteArray *to, unsigned turns);
/* The heap profile of a Haskell program: "band 1" to that many, each microsecond a sample. Band i
 * has i KiB in the first, twice that in the second, ... */
void trace_log_write_bands(GByteArray *to, unsigned bands, unsigned samples);
/* Many spans in one log: each thread has spans "parse" and "lex" by turns, of 100 ns each, from
 * 1000 ns on. */
void trace_log_write_long(GByteArray *to, unsigned threads, unsigned spans);

/* SPDX-License-Identifier: Apache-2.0 */
/* Event logs made for tests. */
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

struct maker_options {
    unsigned capabilities;
    unsigned blocks; /* of each capability */
    unsigned events; /* of each block */
    unsigned seed;
    uint64_t step_ns;     /* mean time between the events of a capability */
    unsigned strays;      /* one event in so many is earlier than the one before it; 0 = none */
    uint64_t stray_ns;    /* by up to that */
    bool unmarked;        /* no block markers */
    bool no_end;          /* no end mark */
    unsigned block_bytes; /* exactly, the last event having no payload; 0 = as it comes */
    bool ties;            /* times are multiples of 100 ns: many are equal */
};

/* Appends a whole log. */
void maker_log(GByteArray *to, const struct maker_options *options);
/* Writes the bytes to a new file that looks as if nobody had written it for an hour; free the path
 * with maker_remove. */
char *maker_file(const GByteArray *bytes);
void maker_age(const char *path);
void maker_remove(char *path);

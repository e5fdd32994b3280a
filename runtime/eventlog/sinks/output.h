/* SPDX-License-Identifier: Apache-2.0 */
/* Where the bytes of the stream sink go: a C file stream, or a writer's functions. */
#pragma once
#include <fathom/eventlog.h>

struct fm_el_output {
    FILE *file; /* NULL for a writer, or none */
    struct fm_eventlog_writer writer;
    const char *path; /* of ours, while it is being set */
    int fd;           /* of file; -1 = only the C library can write to it */
    bool regular;     /* a lost block can be cut off again */
    bool pipe;        /* writing may raise SIGPIPE */
    bool ours;        /* we close it */
    bool is_writer;   /* file is NULL */
};

struct fm_el_output fm_el_output_of(FILE *file); /* NULL = none; flushes the stream */
static inline bool fm_el_output_is_set(const struct fm_el_output *o)
{
    return o->file || o->is_writer;
}
/* All bytes or none, as far as that can be had; 0 or an errno number. */
int fm_el_output_put(const struct fm_el_output *o, const void *data, size_t bytes);
/* Gives it up: a writer is flushed and stopped, a stream closed, or left to its owner with all
 * bytes behind it. *o is none then. 0 or an errno number. */
int fm_el_output_done(struct fm_el_output *o, bool close);

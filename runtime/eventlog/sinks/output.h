/* SPDX-License-Identifier: Apache-2.0 */
/* Output of the stream sink: a C file stream, or a writer's functions. */
#pragma once
#include <fathom/eventlog.h>

struct fm_el_output {
    FILE *file; /* NULL for a writer, or without output */
    struct fm_eventlog_writer writer;
    const char *path; /* path of a file that the library opened, while it is being set */
    int fd;           /* descriptor of file; -1 = it can be written through the C library only */
    bool regular;     /* regular file: a torn block can be truncated */
    int raises;       /* signal that a failed write raises: SIGPIPE, SIGXFSZ, or 0 */
    bool ours;        /* the library closes it */
    bool is_writer;   /* file is NULL */
};

struct fm_el_output fm_el_output_of(FILE *file); /* NULL = none; flushes the FILE */
static inline bool fm_el_output_is_set(const struct fm_el_output *o)
{
    return o->file || o->is_writer;
}
/* Writes all bytes or, if possible, none; 0 or an errno number. */
int fm_el_output_put(const struct fm_el_output *o, const void *data, size_t bytes);
/* Ends the output: flushes and stops a writer; closes a FILE, or leaves it to its owner positioned
 * after all bytes. *o is then none. 0 or an errno number. */
int fm_el_output_done(struct fm_el_output *o, bool close);

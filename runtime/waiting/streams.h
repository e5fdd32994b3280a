/* SPDX-License-Identifier: Apache-2.0 */
/* Streams of stdio: whether a call is satisfied by the buffer, and so cannot wait. */
#pragma once

/* clang sees libc's inline definitions of some of them, and then rejects attributes on these. */
#ifndef __NO_INLINE__
#define __NO_INLINE__ 1 // NOLINT(bugprone-reserved-identifier)
#endif
#undef _FILE_OFFSET_BITS /* the names without 64 are functions of their own */
#include "waiting.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <wchar.h>

#undef getc
#undef putc
#undef getchar
#undef putchar

/* glibc's own names of a stream's positions in its buffer; its <stdio.h> shows them for inlined
 * functions. Another thread may use the stream: then this is a guess, and at worst a wait is
 * missed. */
static inline bool has_input(const FILE *stream, size_t bytes)
{
    return stream != NULL && (size_t)(stream->_IO_read_end - stream->_IO_read_ptr) >= bytes;
}

static inline bool has_line(const FILE *stream, int end, size_t bytes)
{
    if (stream == NULL || stream->_IO_read_end <= stream->_IO_read_ptr)
        return false;
    size_t there = (size_t)(stream->_IO_read_end - stream->_IO_read_ptr);
    return there >= bytes || memchr(stream->_IO_read_ptr, end, there) != NULL;
}

static inline bool has_room(const FILE *stream, size_t bytes)
{
    return stream != NULL && stream->_IO_write_end > stream->_IO_write_ptr &&
           (size_t)(stream->_IO_write_end - stream->_IO_write_ptr) > bytes;
}

#define INPUT_UNLESS(there, type, name, parameters, arguments) \
    FM_WAIT_CALL_UNLESS(there, FM_REC_WAIT_READ, 0, type, name, parameters, arguments)
#define OUTPUT_UNLESS(fits, type, name, parameters, arguments) \
    FM_WAIT_CALL_UNLESS(fits, FM_REC_WAIT_WRITE, 0, type, name, parameters, arguments)

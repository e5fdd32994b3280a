/* SPDX-License-Identifier: Apache-2.0 */
#include "exchange/gzip.h"

#include <zlib.h>

#define WINDOW_OF_GZIP (15 + 16)

struct fm_gzip {
    z_stream stream;
    struct fm_writer *out;
};

static void deflate_all(struct fm_gzip *gzip, int flush)
{
    unsigned char buffer[1 << 16];
    int status;
    do {
        gzip->stream.next_out = buffer;
        gzip->stream.avail_out = sizeof buffer;
        status = deflate(&gzip->stream, flush);
        g_assert(status != Z_STREAM_ERROR);
        fm_writer_bytes(gzip->out, buffer, sizeof buffer - gzip->stream.avail_out);
    } while (gzip->stream.avail_out == 0);
    g_assert(gzip->stream.avail_in == 0);
}

struct fm_gzip *fm_gzip_new(struct fm_writer *out, int level)
{
    struct fm_gzip *gzip = g_new0(struct fm_gzip, 1);
    gzip->out = out;
    if (deflateInit2(&gzip->stream, level, Z_DEFLATED, WINDOW_OF_GZIP, 8, Z_DEFAULT_STRATEGY) !=
        Z_OK)
        g_error("zlib: no memory");
    return gzip;
}

void fm_gzip_write(struct fm_gzip *gzip, const void *bytes, size_t size)
{
    const unsigned char *from = bytes;
    while (size > 0) {
        unsigned part = (unsigned)MIN(size, (size_t)1 << 30);
        gzip->stream.next_in = (unsigned char *)(uintptr_t)from;
        gzip->stream.avail_in = part;
        deflate_all(gzip, Z_NO_FLUSH);
        from += part;
        size -= part;
    }
}

void fm_gzip_finish(struct fm_gzip *gzip)
{
    deflate_all(gzip, Z_FINISH);
    deflateEnd(&gzip->stream);
    g_free(gzip);
}

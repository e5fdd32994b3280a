/* SPDX-License-Identifier: Apache-2.0 */
#include "exchange/import/unpack.h"

#include <lzma.h>
#include <string.h>
#include <zlib.h>
#include <zstd.h>
#include <zstd_errors.h>

#include "base/error.h"

#define UNPACKED_TIMES 100u
#define UNPACKED_BYTES ((size_t)64 << 20)
#define UNPACKED_LIMIT ((size_t)G_MAXUINT32 / 2)
#define WINDOW_OF_GZIP (15 + 16)
#define WINDOW_OF_ZSTD 27 /* 128 MiB: what `zstd -d` takes without being asked */
#define MEMORY_OF_XZ ((uint64_t)1 << 28)
#define NESTED_MAX 3u
#define PART_BYTES ((size_t)1 << 16)

enum step { STEP_MORE, STEP_ENDED, STEP_STARVED, STEP_WRONG, STEP_NO_MEMORY };

/* One of the three, where it stands in the compressed bytes. */
struct stream {
    const uint8_t *bytes;
    size_t size, at;
    bool large; /* STEP_WRONG: it would need more memory than it may take */
    z_stream gzip;
    ZSTD_DStream *zstd;
    lzma_stream xz;
};

struct packer {
    struct fm_import_packing packing;
    const char *begins;
    size_t begins_size;
    bool (*begin)(struct stream *stream);
    enum step (*step)(struct stream *stream, uint8_t *out, size_t size, size_t *ret);
    void (*end)(struct stream *stream);
};

/* --- gzip: several members one behind the other are one file --- */

static bool gzip_begin(struct stream *stream)
{
    return inflateInit2(&stream->gzip, WINDOW_OF_GZIP) == Z_OK;
}

static enum step gzip_step(struct stream *stream, uint8_t *out, size_t size, size_t *ret)
{
    z_stream *z = &stream->gzip;
    size_t given = MIN(stream->size - stream->at, (size_t)G_MAXINT32);
    z->next_in = (uint8_t *)(uintptr_t)(stream->bytes + stream->at);
    z->avail_in = (uInt)given;
    z->next_out = out;
    z->avail_out = (uInt)size;
    int status = inflate(z, Z_NO_FLUSH);
    stream->at += given - z->avail_in;
    *ret = size - z->avail_out;
    if (status == Z_STREAM_END) {
        if (stream->at == stream->size)
            return STEP_ENDED;
        return inflateReset(z) == Z_OK ? STEP_MORE : STEP_WRONG;
    }
    return status == Z_OK          ? STEP_MORE
           : status == Z_BUF_ERROR ? STEP_STARVED
           : status == Z_MEM_ERROR ? STEP_NO_MEMORY
                                   : STEP_WRONG;
}

static void gzip_end(struct stream *stream)
{
    inflateEnd(&stream->gzip);
}

/* --- zstd: frames one behind the other are one file --- */

static bool zstd_begin(struct stream *stream)
{
    stream->zstd = ZSTD_createDStream();
    return stream->zstd != NULL &&
           !ZSTD_isError(ZSTD_DCtx_setParameter(stream->zstd, ZSTD_d_windowLogMax, WINDOW_OF_ZSTD));
}

static enum step zstd_step(struct stream *stream, uint8_t *out, size_t size, size_t *ret)
{
    ZSTD_inBuffer in = {stream->bytes, stream->size, stream->at};
    ZSTD_outBuffer to = {out, size, 0};
    size_t status = ZSTD_decompressStream(stream->zstd, &to, &in);
    stream->at = in.pos;
    *ret = to.pos;
    if (ZSTD_isError(status)) {
        stream->large = ZSTD_getErrorCode(status) == ZSTD_error_frameParameter_windowTooLarge;
        return STEP_WRONG;
    }
    if (stream->at < stream->size || to.pos == size)
        return STEP_MORE;
    return status == 0 ? STEP_ENDED : STEP_STARVED;
}

static void zstd_end(struct stream *stream)
{
    ZSTD_freeDStream(stream->zstd);
}

/* --- xz --- */

static bool xz_begin(struct stream *stream)
{
    return lzma_stream_decoder(&stream->xz, MEMORY_OF_XZ, LZMA_CONCATENATED) == LZMA_OK;
}

static enum step xz_step(struct stream *stream, uint8_t *out, size_t size, size_t *ret)
{
    lzma_stream *xz = &stream->xz;
    xz->next_in = stream->bytes + stream->at;
    xz->avail_in = stream->size - stream->at;
    xz->next_out = out;
    xz->avail_out = size;
    lzma_ret status = lzma_code(xz, LZMA_FINISH);
    stream->at = stream->size - xz->avail_in;
    *ret = size - xz->avail_out;
    stream->large = status == LZMA_MEMLIMIT_ERROR;
    return status == LZMA_OK           ? STEP_MORE
           : status == LZMA_STREAM_END ? STEP_ENDED
           : status == LZMA_BUF_ERROR  ? STEP_STARVED
           : status == LZMA_MEM_ERROR  ? STEP_NO_MEMORY
                                       : STEP_WRONG;
}

static void xz_end(struct stream *stream)
{
    lzma_end(&stream->xz);
}

/* --- all three --- */

static const struct packer packers[] = {
    {{"gzip", "gzipped", "gunzip -k"}, "\x1f\x8b\x08", 3, gzip_begin, gzip_step, gzip_end},
    {{"zstd", "zstd-compressed", "zstd -d"},
     "\x28\xb5\x2f\xfd",
     4,
     zstd_begin,
     zstd_step,
     zstd_end},
    {{"xz", "xz-compressed", "unxz -k"},
     "\xfd"
     "7zXZ\0",
     6,
     xz_begin,
     xz_step,
     xz_end},
};

static const struct packer *packer_of(const uint8_t *bytes, size_t size)
{
    for (size_t i = 0; i < G_N_ELEMENTS(packers); i++) {
        if (size >= packers[i].begins_size &&
            memcmp(bytes, packers[i].begins, packers[i].begins_size) == 0)
            return &packers[i];
    }
    return NULL;
}

const struct fm_import_packing *fm_import_packing_of(const uint8_t *bytes, size_t size)
{
    const struct packer *packer = packer_of(bytes, size);
    return packer == NULL ? NULL : &packer->packing;
}

/* Until the end, or more than max bytes are there. */
static enum step run(const struct packer *packer, struct stream *stream, size_t max,
                     GByteArray *out)
{
    enum step step = packer->begin(stream) ? STEP_MORE : STEP_NO_MEMORY;
    g_autofree uint8_t *part = g_malloc(PART_BYTES);
    while (step == STEP_MORE && out->len <= max) {
        size_t size = 0;
        step = packer->step(stream, part, PART_BYTES, &size);
        g_byte_array_append(out, part, (guint)size);
    }
    packer->end(stream);
    return step;
}

static bool failed(const char *name, const struct packer *packer, const struct stream *stream,
                   enum step step, GError **error)
{
    if (step == STEP_NO_MEMORY)
        g_set_error(error, FM_ERROR, FM_ERROR_LIMIT, "%s: there is not enough memory to unpack it",
                    name);
    else if (step == STEP_STARVED)
        g_set_error(error, FM_ERROR, FM_ERROR_TRUNCATED,
                    "%s: offset %zu: unexpected end of file within %s data", name, stream->at,
                    packer->packing.past);
    else if (stream->large)
        g_set_error(error, FM_ERROR, FM_ERROR_LIMIT,
                    "%s: offset %zu: to unpack what %s compressed takes more memory than expected, "
                    "%s unpacks it",
                    name, stream->at, packer->packing.name, packer->packing.command);
    else
        g_set_error(error, FM_ERROR, FM_ERROR_FORMAT, "%s: offset %zu: damaged %s data", name,
                    stream->at, packer->packing.past);
    return false;
}

static bool unpack_once(const char *name, const struct packer *packer, const uint8_t *bytes,
                        size_t size, size_t limit, GByteArray *out, GError **error)
{
    struct stream stream = {.bytes = bytes, .size = size};
    stream.xz = (lzma_stream)LZMA_STREAM_INIT;
    enum step step = run(packer, &stream, limit, out);
    if (out->len > limit) {
        g_set_error(error, FM_ERROR, FM_ERROR_LIMIT,
                    "%s: more than %zu bytes when unpacked, expected less for a file of this size",
                    name, limit);
        return false;
    }
    return step == STEP_ENDED || failed(name, packer, &stream, step, error);
}

bool fm_import_unpack(const char *name, const uint8_t *bytes, size_t size, GByteArray **ret,
                      GError **error)
{
    size_t limit = size > UNPACKED_LIMIT / UNPACKED_TIMES
                       ? UNPACKED_LIMIT
                       : MIN(size * UNPACKED_TIMES + UNPACKED_BYTES, UNPACKED_LIMIT);
    const struct packer *packer;
    *ret = NULL;
    for (unsigned i = 0; i < NESTED_MAX && (packer = packer_of(bytes, size)) != NULL; i++) {
        GByteArray *out = g_byte_array_new();
        bool done = unpack_once(name, packer, bytes, size, limit, out, error);
        g_clear_pointer(ret, g_byte_array_unref);
        if (!done) {
            g_byte_array_unref(out);
            return false;
        }
        *ret = out;
        bytes = out->data;
        size = out->len;
    }
    return true;
}

GByteArray *fm_import_unpack_head(const uint8_t *bytes, size_t size, size_t max)
{
    const struct packer *packer;
    GByteArray *head = NULL;
    for (unsigned i = 0; i < NESTED_MAX && (packer = packer_of(bytes, size)) != NULL; i++) {
        struct stream stream = {.bytes = bytes, .size = size};
        GByteArray *out = g_byte_array_new();
        stream.xz = (lzma_stream)LZMA_STREAM_INIT;
        run(packer, &stream, max, out);
        g_clear_pointer(&head, g_byte_array_unref);
        head = out;
        bytes = out->data;
        size = out->len;
    }
    if (head != NULL && head->len > max)
        g_byte_array_set_size(head, (guint)max);
    return head;
}

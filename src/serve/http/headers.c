/* SPDX-License-Identifier: Apache-2.0 */
#include "serve/http/internal.h"

#include <string.h>
#include <zlib.h>

#include "query/query.h"

#define GZIP_BYTES_MIN 1024
#define GZIP_LEVEL 5
#define GZIP_WINDOW (15 + 16) /* maximum window size, in gzip format */
#define GZIP_ENDING "-gz\""

bool fm_http_same_secret(const char *a, const char *b)
{
    g_assert(a != NULL && b != NULL);
    /* Checksums have the same length for all texts; equal checksums mean equal texts. */
    g_autofree char *sum_a = g_compute_checksum_for_string(G_CHECKSUM_SHA256, a, -1);
    g_autofree char *sum_b = g_compute_checksum_for_string(G_CHECKSUM_SHA256, b, -1);
    volatile unsigned char differs = 0;
    for (size_t i = 0; i < 64; i++)
        differs |= (unsigned char)(sum_a[i] ^ sum_b[i]);
    return differs == 0;
}

bool fm_http_has_bearer(const char *authorization, const char *token)
{
    static const char scheme[] = "Bearer ";
    return authorization != NULL &&
           g_ascii_strncasecmp(authorization, scheme, strlen(scheme)) == 0 &&
           fm_http_same_secret(authorization + strlen(scheme), token);
}

bool fm_http_has_cookie(const char *cookies, const char *token)
{
    if (cookies == NULL)
        return false;
    g_auto(GStrv) parts = g_strsplit_set(cookies, ";,", 64);
    for (char **part = parts; *part != NULL; part++) {
        const char *at = g_strstrip(*part);
        if (!g_str_has_prefix(at, FM_HTTP_COOKIE "="))
            continue;
        g_autofree char *value = fm_query_percent_decode(at + strlen(FM_HTTP_COOKIE "="), NULL);
        if (value != NULL && fm_http_same_secret(value, token))
            return true;
    }
    return false;
}

bool fm_http_accepts_gzip(const char *accept_encoding)
{
    if (accept_encoding == NULL)
        return false;
    g_auto(GStrv) codings = g_strsplit(accept_encoding, ",", 32);
    for (char **coding = codings; *coding != NULL; coding++) {
        g_auto(GStrv) parts = g_strsplit(*coding, ";", 2);
        if (parts[0] == NULL || g_ascii_strcasecmp(g_strstrip(parts[0]), "gzip") != 0)
            continue;
        const char *quality = parts[1] == NULL ? NULL : strstr(parts[1], "q=");
        return quality == NULL || g_ascii_strtod(quality + 2, NULL) > 0;
    }
    return false;
}

GBytes *fm_http_gzip(GBytes *body)
{
    gsize size;
    const void *bytes = g_bytes_get_data(body, &size);
    z_stream stream = {0};
    if (size < GZIP_BYTES_MIN || size > G_MAXUINT32 / 2 ||
        deflateInit2(&stream, GZIP_LEVEL, Z_DEFLATED, GZIP_WINDOW, 8, Z_DEFAULT_STRATEGY) != Z_OK)
        return NULL;
    gsize capacity = deflateBound(&stream, size);
    guint8 *packed = g_malloc(capacity);
    stream.next_in = (Bytef *)(uintptr_t)bytes;
    stream.avail_in = (uInt)size;
    stream.next_out = packed;
    stream.avail_out = (uInt)capacity;
    int status = deflate(&stream, Z_FINISH);
    gsize packed_size = stream.total_out;
    deflateEnd(&stream);
    if (status != Z_STREAM_END || packed_size >= size) {
        g_free(packed);
        return NULL;
    }
    return g_bytes_new_take(g_realloc(packed, packed_size), packed_size);
}

char *fm_http_etag_add_gzip(const char *etag)
{
    return g_strdup_printf("%.*s" GZIP_ENDING, (int)strlen(etag) - 1, etag);
}

char *fm_http_etags_without_gzip(const char *if_none_match)
{
    if (if_none_match == NULL)
        return NULL;
    g_auto(GStrv) parts = g_strsplit(if_none_match, GZIP_ENDING, -1);
    return g_strjoinv("\"", parts);
}

bool fm_http_etag_is_gzip(const char *if_none_match, const char *etag)
{
    g_autofree char *with_ending = fm_http_etag_add_gzip(etag);
    return if_none_match != NULL && strstr(if_none_match, with_ending) != NULL;
}

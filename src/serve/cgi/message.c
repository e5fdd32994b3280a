/* SPDX-License-Identifier: Apache-2.0 */
/* Messages in the FIFOs and want files. Numbers are little endian. Every message has a magic number
 * and a checksum, so that torn or foreign ones are recognised. */
#include <errno.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>
#include <zlib.h>

#include "serve/cgi/internal.h"

/* Frame: magic 4, op 1, attempt 1, zero 2, instance 8, token 40, zero 4, crc 4 = 64 bytes. */
#define FRAME_MAGIC 0x51434d46u /* "FMCQ" */
#define WANT_MAGIC 0x57434d46u  /* "FMCW" */
#define REPLY_MAGIC 0x52434d46u /* "FMCR" */
#define FRAME_TOKEN 16
#define FRAME_CRC 60
/* Want: magic 4, length 4, crc 4, text. Reply: magic 4, attempt 4, token 40, length 8, crc 4. */
#define WANT_HEADER_SIZE 12
#define REPLY_HEADER_SIZE 60

static void put_u32(uint8_t *to, uint32_t value)
{
    value = GUINT32_TO_LE(value);
    memcpy(to, &value, 4);
}

static uint32_t get_u32(const uint8_t *from)
{
    uint32_t value;
    memcpy(&value, from, 4);
    return GUINT32_FROM_LE(value);
}

static void put_u64(uint8_t *to, uint64_t value)
{
    value = GUINT64_TO_LE(value);
    memcpy(to, &value, 8);
}

static uint64_t get_u64(const uint8_t *from)
{
    uint64_t value;
    memcpy(&value, from, 8);
    return GUINT64_FROM_LE(value);
}

static uint32_t checksum(const uint8_t *bytes, size_t size)
{
    return (uint32_t)crc32_z(crc32_z(0, NULL, 0), bytes, size);
}

void fm_cgi_random(void *bytes, size_t size)
{
    uint8_t *at = bytes;
    while (size > 0) {
        ssize_t got = getrandom(at, size, 0);
        if (got < 0 && errno != EINTR)
            g_error("getrandom: %s", g_strerror(errno));
        if (got > 0) {
            at += got;
            size -= (size_t)got;
        }
    }
}

void fm_cgi_make_token(char token[FM_CGI_TOKEN_SIZE])
{
    uint64_t chance[2];
    fm_cgi_random(chance, sizeof chance);
    g_snprintf(token, FM_CGI_TOKEN_SIZE, "%08x%016" G_GINT64_MODIFIER "x%016" G_GINT64_MODIFIER "x",
               (unsigned)getpid(), chance[0], chance[1]);
}

static bool is_token(const char *text)
{
    return strlen(text) == FM_CGI_TOKEN_SIZE - 1 &&
           strspn(text, "0123456789abcdef") == FM_CGI_TOKEN_SIZE - 1;
}

void fm_cgi_frame_encode(const struct fm_cgi_frame *frame, uint8_t bytes[FM_CGI_FRAME_SIZE])
{
    memset(bytes, 0, FM_CGI_FRAME_SIZE);
    put_u32(bytes, FRAME_MAGIC);
    bytes[4] = (uint8_t)frame->op;
    bytes[5] = (uint8_t)frame->attempt;
    put_u64(bytes + 8, frame->instance);
    memcpy(bytes + FRAME_TOKEN, frame->token, FM_CGI_TOKEN_SIZE - 1);
    put_u32(bytes + FRAME_CRC, checksum(bytes, FRAME_CRC));
}

bool fm_cgi_frame_decode(const uint8_t bytes[FM_CGI_FRAME_SIZE], struct fm_cgi_frame *ret)
{
    if (get_u32(bytes) != FRAME_MAGIC || get_u32(bytes + FRAME_CRC) != checksum(bytes, FRAME_CRC) ||
        bytes[4] > FM_CGI_OP_QUIT)
        return false;
    struct fm_cgi_frame frame = {
        .op = (enum fm_cgi_op)bytes[4],
        .attempt = bytes[5],
        .instance = get_u64(bytes + 8),
    };
    memcpy(frame.token, bytes + FRAME_TOKEN, FM_CGI_TOKEN_SIZE - 1);
    if (!is_token(frame.token))
        return false;
    *ret = frame;
    return true;
}

/* Appends a string that may be NULL: length + 1 (0 = NULL), then its bytes. */
static void append_string(GByteArray *to, const char *text)
{
    uint8_t length[4];
    size_t size = text == NULL ? 0 : strlen(text);
    put_u32(length, text == NULL ? 0 : (uint32_t)size + 1);
    g_byte_array_append(to, length, 4);
    if (text != NULL)
        g_byte_array_append(to, (const uint8_t *)text, (guint)size);
}

struct reader {
    const uint8_t *at, *end;
};

/* False when the bytes are not a valid string; *ret is then unchanged. */
static bool take_string(struct reader *reader, char **ret)
{
    if (reader->end - reader->at < 4)
        return false;
    uint32_t length = get_u32(reader->at);
    if (length == 0) {
        reader->at += 4;
        *ret = NULL;
        return true;
    }
    if ((size_t)(reader->end - reader->at - 4) < length - 1 ||
        memchr(reader->at + 4, '\0', length - 1) != NULL)
        return false;
    *ret = g_strndup((const char *)reader->at + 4, length - 1);
    reader->at += 4 + (length - 1);
    return true;
}

GByteArray *fm_cgi_want_encode(const struct fm_request *request)
{
    g_assert(request->method != NULL && request->path != NULL);
    GByteArray *bytes = g_byte_array_new();
    g_byte_array_set_size(bytes, WANT_HEADER_SIZE);
    append_string(bytes, request->method);
    append_string(bytes, request->path);
    append_string(bytes, request->query);
    append_string(bytes, request->if_none_match);
    append_string(bytes, request->accept);
    append_string(bytes, request->foreign ? "foreign" : NULL);
    size_t length = bytes->len - WANT_HEADER_SIZE;
    put_u32(bytes->data, WANT_MAGIC);
    put_u32(bytes->data + 4, (uint32_t)length);
    put_u32(bytes->data + 8, checksum(bytes->data + WANT_HEADER_SIZE, length));
    return bytes;
}

bool fm_cgi_want_decode(const uint8_t *bytes, size_t size, struct fm_cgi_request *ret)
{
    if (size < WANT_HEADER_SIZE || get_u32(bytes) != WANT_MAGIC ||
        get_u32(bytes + 4) != size - WANT_HEADER_SIZE ||
        get_u32(bytes + 8) != checksum(bytes + WANT_HEADER_SIZE, size - WANT_HEADER_SIZE))
        return false;
    struct reader reader = {bytes + WANT_HEADER_SIZE, bytes + size};
    struct fm_cgi_request request = {.strings = g_ptr_array_new_with_free_func(g_free)};
    const char **fields[] = {&request.request.method, &request.request.path, &request.request.query,
                             &request.request.if_none_match, &request.request.accept};
    for (size_t i = 0; i < G_N_ELEMENTS(fields); i++) {
        char *text;
        if (!take_string(&reader, &text)) {
            fm_cgi_request_done(&request);
            return false;
        }
        g_ptr_array_add(request.strings, text);
        *fields[i] = text;
    }
    char *foreign;
    if (!take_string(&reader, &foreign)) {
        fm_cgi_request_done(&request);
        return false;
    }
    g_ptr_array_add(request.strings, foreign);
    request.request.foreign = foreign != NULL;
    if (request.request.method == NULL || request.request.path == NULL) {
        fm_cgi_request_done(&request);
        return false;
    }
    *ret = request;
    return true;
}

void fm_cgi_request_done(struct fm_cgi_request *request)
{
    g_clear_pointer(&request->strings, g_ptr_array_unref);
    request->request = (struct fm_request){0};
}

GByteArray *fm_cgi_reply_encode(const struct fm_response *response, const char *token,
                                unsigned attempt)
{
    g_assert(response->body != NULL && strlen(token) < FM_CGI_TOKEN_SIZE);
    size_t body_size;
    const uint8_t *body = g_bytes_get_data(response->body, &body_size);
    GByteArray *bytes = g_byte_array_sized_new((guint)(body_size + 512));
    g_byte_array_set_size(bytes, REPLY_HEADER_SIZE);
    uint8_t numbers[12];
    put_u32(numbers, response->status);
    put_u32(numbers + 4, response->quit);
    put_u32(numbers + 8, (uint32_t)response->timeout_minutes);
    g_byte_array_append(bytes, numbers, sizeof numbers);
    append_string(bytes, response->content_type);
    append_string(bytes, response->etag);
    append_string(bytes, response->location);
    g_byte_array_append(bytes, body, (guint)body_size);
    size_t length = bytes->len - REPLY_HEADER_SIZE;
    put_u32(bytes->data, REPLY_MAGIC);
    put_u32(bytes->data + 4, attempt);
    memcpy(bytes->data + 8, token, FM_CGI_TOKEN_SIZE - 1);
    put_u64(bytes->data + 48, length);
    put_u32(bytes->data + 56, checksum(bytes->data + REPLY_HEADER_SIZE, length));
    return bytes;
}

enum fm_cgi_reply_state fm_cgi_reply_decode(const GByteArray *bytes, const char *token,
                                            unsigned attempt, struct fm_response *ret)
{
    if (bytes->len < REPLY_HEADER_SIZE)
        return FM_CGI_REPLY_PARTIAL;
    const uint8_t *data = bytes->data;
    uint64_t length = get_u64(data + 48);
    if (get_u32(data) != REPLY_MAGIC || get_u32(data + 4) != attempt ||
        memcmp(data + 8, token, FM_CGI_TOKEN_SIZE - 1) != 0 || length > FM_CGI_REPLY_BYTES_MAX)
        return FM_CGI_REPLY_BAD;
    size_t have = bytes->len - REPLY_HEADER_SIZE;
    if (have < length)
        return FM_CGI_REPLY_PARTIAL;
    const uint8_t *body = data + REPLY_HEADER_SIZE;
    if (have > length || get_u32(data + 56) != checksum(body, length) || length < 12)
        return FM_CGI_REPLY_BAD;
    struct fm_response response = {
        .status = get_u32(body),
        .quit = get_u32(body + 4) != 0,
        .timeout_minutes = (int)get_u32(body + 8),
    };
    struct reader reader = {body + 12, body + length};
    g_autofree char *content_type = NULL;
    if (!take_string(&reader, &content_type) || !take_string(&reader, &response.etag) ||
        !take_string(&reader, &response.location)) {
        g_free(response.etag);
        g_free(response.location);
        return FM_CGI_REPLY_BAD;
    }
    response.content_type = content_type == NULL ? NULL : g_intern_string(content_type);
    response.body = g_bytes_new(reader.at, (gsize)(reader.end - reader.at));
    *ret = response;
    return FM_CGI_REPLY_COMPLETE;
}

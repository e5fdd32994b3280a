/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "base/error.h"
#include "eventlog/transport/transport.h"

void fm_frame_parser_init(struct fm_frame_parser *parser)
{
    *parser = (struct fm_frame_parser){.bytes = g_byte_array_new()};
}

void fm_frame_parser_done(struct fm_frame_parser *parser)
{
    g_clear_pointer(&parser->bytes, g_byte_array_unref);
}

void fm_frame_parser_push(struct fm_frame_parser *parser, const uint8_t *bytes, size_t length)
{
    if (parser->broken || length == 0)
        return;
    if (parser->used > 0 && parser->used >= parser->bytes->len / 2) {
        g_byte_array_remove_range(parser->bytes, 0, parser->used);
        parser->used = 0;
    }
    g_byte_array_append(parser->bytes, bytes, (guint)length);
}

int fm_frame_parser_next(struct fm_frame_parser *parser, const uint8_t **ret_message,
                         size_t *ret_length, GError **error)
{
    size_t left = parser->bytes->len - parser->used;
    if (left < 4 && !parser->broken)
        return 0;
    const uint8_t *at = parser->bytes->data + parser->used;
    uint32_t length = FM_FRAME_MAX + 1;
    if (!parser->broken) {
        memcpy(&length, at, sizeof(length));
        length = GUINT32_FROM_BE(length);
    }
    if (length > FM_FRAME_MAX) {
        parser->broken = true;
        g_set_error(error, FM_ERROR, FM_ERROR_LIMIT,
                    "a frame of more than 16 MiB, expected at most that: this is not the monitor's "
                    "protocol");
        return -1;
    }
    if (left - 4 < length)
        return 0;
    *ret_message = at + 4;
    *ret_length = length;
    parser->used += 4 + length;
    g_assert(parser->used <= parser->bytes->len);
    return 1;
}

bool fm_frame_parser_inside(const struct fm_frame_parser *parser)
{
    return parser->bytes->len > parser->used;
}

void fm_frame_append(GByteArray *out, const uint8_t *message, size_t length)
{
    g_assert(length <= FM_FRAME_MAX);
    uint32_t length_be = GUINT32_TO_BE((uint32_t)length);
    g_byte_array_append(out, (const uint8_t *)&length_be, 4);
    g_byte_array_append(out, message, (guint)length);
}

/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "eventlog/transport/transport.h"

static const uint8_t magic[4] = {0xF0, 0x9E, 0x97, 0x8C};

/* Length of the message that begins in held; 0 = not known yet, -1 = not a message. */
static int message_length(const struct fm_control_parser *parser)
{
    size_t length = parser->held_length;
    if (memcmp(parser->held, magic, MIN(length, sizeof magic)) != 0)
        return -1;
    if (length > 4 && parser->held[4] > FM_CONTROL_ANSWERED)
        return -1;
    if (length < 6)
        return 0;
    if (parser->held[5] == 0)
        return -1;
    return 7 + parser->held[5] + (parser->answers ? 1 : 0);
}

/* Drops bytes until the rest may begin a message. */
static void resynchronise(struct fm_control_parser *parser)
{
    do {
        const uint8_t *next = parser->held_length <= 1
                                  ? NULL
                                  : memchr(parser->held + 1, magic[0], parser->held_length - 1);
        size_t dropped = next == NULL ? parser->held_length : (size_t)(next - parser->held);
        g_assert(dropped > 0 && dropped <= parser->held_length);
        memmove(parser->held, parser->held + dropped, parser->held_length - dropped);
        parser->held_length -= dropped;
        parser->skipped += dropped;
    } while (parser->held_length > 0 && message_length(parser) < 0);
}

size_t fm_control_parse(struct fm_control_parser *parser, const uint8_t *bytes, size_t length,
                        struct fm_control_message *ret, bool *ret_found)
{
    *ret_found = false;
    size_t taken = 0;
    for (;;) {
        /* After resynchronising, held may contain a whole message. */
        int whole = parser->held_length == 0 ? 0 : message_length(parser);
        if (whole < 0) {
            resynchronise(parser);
            continue;
        }
        if (whole > 0 && parser->held_length >= (size_t)whole) {
            uint8_t name = parser->held[5];
            *ret = (struct fm_control_message){
                .version = parser->held[4],
                .space_length = name,
                .number = parser->held[6 + name],
                .status = parser->answers ? parser->held[7 + name] : 0,
            };
            memcpy(ret->space, parser->held + 6, name);
            parser->held_length -= (size_t)whole;
            memmove(parser->held, parser->held + whole, parser->held_length);
            *ret_found = true;
            return taken;
        }
        if (taken == length)
            return taken;
        g_assert(parser->held_length < sizeof parser->held);
        parser->held[parser->held_length++] = bytes[taken++];
    }
}

void fm_control_append(GByteArray *out, const struct fm_control_message *message, bool with_status)
{
    g_assert(message->space_length > 0);
    g_byte_array_append(out, magic, sizeof magic);
    g_byte_array_append(out, &message->version, 1);
    g_byte_array_append(out, &message->space_length, 1);
    g_byte_array_append(out, (const uint8_t *)message->space, message->space_length);
    g_byte_array_append(out, &message->number, 1);
    if (with_status)
        g_byte_array_append(out, &message->status, 1);
}

bool fm_control_named(const char *name, struct fm_control_message *ret, GError **error)
{
    static const struct {
        const char *name, *space;
        uint8_t number;
    } commands[] = {
        {"start-profiling", "eventlog-socket", 1},
        {"stop-profiling", "eventlog-socket", 2},
        {"start-heap-profiling", "eventlog-socket", 3},
        {"stop-heap-profiling", "eventlog-socket", 4},
        {"request-heap-census", "eventlog-socket", 5},
        {"flush", "fathom", 1},
        {"pause", "fathom", 2},
        {"resume", "fathom", 3},
    };
    *ret = (struct fm_control_message){0};
    for (size_t i = 0; i < G_N_ELEMENTS(commands); i++) {
        if (strcmp(name, commands[i].name) == 0) {
            ret->space_length = (uint8_t)strlen(commands[i].space);
            memcpy(ret->space, commands[i].space, ret->space_length);
            ret->number = commands[i].number;
            return true;
        }
    }
    const char *slash = strrchr(name, '/');
    guint64 number;
    if (slash == NULL || slash == name || slash - name > 255 ||
        !g_ascii_string_to_unsigned(slash + 1, 10, 0, 255, &number, NULL)) {
        g_set_error(error, FM_ERROR, FM_ERROR_USAGE,
                    "'%s' is not a command; expected start-profiling, stop-profiling, "
                    "start-heap-profiling, stop-heap-profiling, request-heap-census, flush, "
                    "pause, resume or SPACE/NUMBER",
                    name);
        return false;
    }
    ret->space_length = (uint8_t)(slash - name);
    memcpy(ret->space, name, ret->space_length);
    ret->number = (uint8_t)number;
    return true;
}

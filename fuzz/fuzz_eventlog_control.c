/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as control messages: found messages do not depend on the split, and what is found
 * encodes to the bytes that are found again. */
#include <string.h>

#include "eventlog/transport/transport.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static GByteArray *found_in(const uint8_t *data, size_t size, size_t piece, bool answers,
                            uint64_t *ret_accounted)
{
    GByteArray *found = g_byte_array_new();
    struct fm_control_parser parser = {.answers = answers};
    uint64_t bytes = 0;
    for (size_t at = 0; at < size; at += piece) {
        size_t length = MIN(piece, size - at);
        for (size_t taken = 0;;) {
            struct fm_control_message message;
            bool is;
            taken += fm_control_parse(&parser, data + at + taken, length - taken, &message, &is);
            if (!is)
                break;
            guint before = found->len;
            if (message.space_length == 0 || message.version > 1)
                g_error("an impossible message");
            fm_control_append(found, &message, answers);
            bytes += found->len - before;
        }
    }
    *ret_accounted = bytes + parser.skipped + parser.held_length;
    return found;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 2)
        return 0;
    bool answers = data[0] & 1;
    size_t piece = (size_t)data[1] + 1;
    uint64_t accounted;
    data += 2;
    size -= 2;
    g_autoptr(GByteArray) whole = found_in(data, size, MAX(size, 1), answers, &accounted);
    if (accounted != size)
        g_error("bytes are not accounted for");
    g_autoptr(GByteArray) split = found_in(data, size, piece, answers, &accounted);
    g_autoptr(GByteArray) again =
        found_in(whole->data, whole->len, MAX(whole->len, 1), answers, &accounted);
    if (whole->len != split->len || whole->len != again->len ||
        (whole->len > 0 && (memcmp(whole->data, split->data, whole->len) != 0 ||
                            memcmp(whole->data, again->data, whole->len) != 0)))
        g_error("pieces of %zu bytes give other messages", piece);
    return 0;
}

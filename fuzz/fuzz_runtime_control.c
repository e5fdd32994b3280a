/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes from a plain client: the runtime, which takes one byte at a time, finds the same
 * messages as the reading side's parser. */
#include <string.h>

#include "eventlog/transport/transport.h"
#include "runtime/runtime_side.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void take(void *user, enum side_said said, uint8_t version, const char *name,
                 size_t name_bytes, uint8_t number)
{
    GByteArray *found = user;
    uint8_t head[3] = {version, (uint8_t)name_bytes, number};
    if (said != SIDE_COMMAND || name_bytes == 0 || name_bytes > 255 || version > 1)
        g_error("an impossible message");
    g_byte_array_append(found, head, sizeof head);
    g_byte_array_append(found, (const uint8_t *)name, (guint)name_bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    g_autoptr(GByteArray) ours = g_byte_array_new();
    g_autoptr(GByteArray) theirs = g_byte_array_new();
    struct fm_control_parser parser = {0};
    struct fm_control_message m;
    bool found = true;
    side_control(data, size, take, ours);
    for (size_t taken = 0; found;) {
        taken += fm_control_parse(&parser, data + taken, size - taken, &m, &found);
        if (found)
            take(theirs, SIDE_COMMAND, m.version, m.space, m.space_length, m.number);
    }
    if (ours->len != theirs->len ||
        (ours->len > 0 && memcmp(ours->data, theirs->data, ours->len) != 0))
        g_error("the two sides find different messages");
    return 0;
}

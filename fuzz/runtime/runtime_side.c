/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime_side.h"

#include "clients/protocol.h"

#include <stdlib.h>

void side_control(const uint8_t *data, size_t size, side_take *take, void *user)
{
    struct fm_el_control control = {0};
    struct fm_el_command c;
    for (size_t i = 0; i < size; i++)
        if (fm_el_control_feed(&control, data[i], &c))
            take(user, SIDE_COMMAND, c.version, c.name, c.name_bytes, c.number);
}

void side_frames(const uint8_t *data, size_t size, side_take *take, void *user)
{
    static const enum side_said said_of[] = {
        [FM_EL_SAID_PAUSE] = SIDE_PAUSE,
        [FM_EL_SAID_RESUME] = SIDE_RESUME,
        [FM_EL_SAID_NONSENSE] = SIDE_NONSENSE,
        [FM_EL_SAID_TOO_LONG] = SIDE_TOO_LONG,
    };
    struct fm_el_frames frames = {0};
    struct fm_el_command c;
    for (size_t i = 0; i < size; i++) {
        enum fm_el_said said = fm_el_frames_feed(&frames, data[i], &c);
        if (said == FM_EL_SAID_COMMAND)
            take(user, SIDE_COMMAND, c.version, c.name, c.name_bytes, c.number);
        else if (said != FM_EL_SAID_NOTHING)
            take(user, said_of[said], 0, NULL, 0, 0);
    }
}

uint8_t *side_monitor(const uint8_t *data, const uint16_t *sizes, unsigned count,
                      size_t datagram_max, int singles, size_t *ret_size)
{
    struct fm_el_bytes block = {0}, out = {0};
    struct fm_el_monitor m = {.datagram_max = datagram_max, .singles = singles};
    unsigned char marker[FM_EL_MARKER_BYTES] = {0};
    fm_el_put(&block, marker, sizeof(marker));
    for (unsigned i = 0; i < count; i++) {
        fm_el_put16(&block, FM_EVENT_USER_BINARY_MESSAGE);
        fm_el_put64(&block, 1000 + i);
        fm_el_put16(&block, sizes[i]);
        fm_el_put(&block, data, sizes[i]);
        data += sizes[i];
    }
    fm_el_marker(block.data, block.used, 3, 1000, 1000 + count);
    fm_el_monitor_header(&m, &out);
    for (size_t at = 0; at < block.used;)
        fm_el_monitor_event(&m, block.data, block.used, &at, &out);
    uint8_t *bytes = malloc(out.used);
    if (!bytes || out.failed || block.failed)
        abort();
    memcpy(bytes, out.data, out.used);
    *ret_size = out.used;
    fm_el_bytes_done(&block);
    fm_el_bytes_done(&out);
    return bytes;
}

void side_free(uint8_t *bytes)
{
    free(bytes);
}

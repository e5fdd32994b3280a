/* SPDX-License-Identifier: Apache-2.0 */
#include "clients/protocol.h"
#include "core/pool.h"

static enum fm_el_said end_of_frame(const struct fm_el_frames *f)
{
    bool pause;
    if (!fm_el_monitor_service(f->data, f->got, &pause))
        return FM_EL_SAID_NONSENSE;
    return pause ? FM_EL_SAID_PAUSE : FM_EL_SAID_RESUME;
}

enum fm_el_said fm_el_frames_feed(struct fm_el_frames *f, uint8_t byte, struct fm_el_command *ret)
{
    if (f->control.state > 0 || (f->length_got == 0 && f->left == 0 && byte == 0xF0))
        return fm_el_control_feed(&f->control, byte, ret) ? FM_EL_SAID_COMMAND : FM_EL_SAID_NOTHING;
    if (f->left == 0) {
        f->data[f->length_got++] = byte;
        if (f->length_got < 4)
            return FM_EL_SAID_NOTHING;
        uint32_t length = fm_el_get32(f->data);
        f->got = 0;
        f->length_got = 0;
        if (length == 0 || length > FM_EL_FRAME_MAX)
            return FM_EL_SAID_TOO_LONG;
        f->left = length;
        return FM_EL_SAID_NOTHING;
    }
    if (f->got < sizeof(f->data))
        f->data[f->got++] = byte;
    FM_EL_ASSERT(f->left > 0 && f->left <= FM_EL_FRAME_MAX);
    return --f->left > 0 ? FM_EL_SAID_NOTHING : end_of_frame(f);
}

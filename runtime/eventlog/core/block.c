/* SPDX-License-Identifier: Apache-2.0 */
/* Block markers, and the report of a gap. */
#include "core/block.h"
#include "core/clock.h"

#include <stdio.h>

const unsigned char fm_el_end_mark[2] = {0xFF, 0xFF};

void fm_el_marker(unsigned char out[FM_EL_MARKER_BYTES], size_t block_bytes, uint16_t cap,
                  uint64_t begin_ns, uint64_t end_ns)
{
    uint16_t number = fm_eventlog_be16_(FM_EVENT_BLOCK_MARKER);
    uint32_t bytes = fm_eventlog_be32_((uint32_t)block_bytes);
    begin_ns = fm_eventlog_be64_(begin_ns);
    end_ns = fm_eventlog_be64_(end_ns);
    cap = fm_eventlog_be16_(cap);
    memcpy(out, &number, 2);
    memcpy(out + 2, &begin_ns, 8);
    memcpy(out + 10, &bytes, 4);
    memcpy(out + 14, &end_ns, 8);
    memcpy(out + 22, &cap, 2);
}

void fm_el_gap_add(struct fm_el_gap *gap, const struct fm_el_block *dropped)
{
    gap->events += dropped->events;
    gap->bytes += dropped->bytes;
    gap->blocks++;
}

size_t fm_el_missing_block(unsigned char out[FM_EL_MISSING_MAX], const struct fm_el_gap *gap,
                           const unsigned char *next)
{
    if (gap->blocks == 0)
        return 0;
    uint64_t at = next ? fm_el_get64(next + 2) : fm_el_clock_ns();
    uint16_t cap = next ? fm_el_get16(next + 22) : FM_EL_NO_CAP;
    unsigned char *p = fm_el_put_event(out + FM_EL_MARKER_BYTES, FM_EVENT_LOG_MESSAGE, at);
    int n = snprintf((char *)p + 2, 160, "fathom: %llu events missing (%llu bytes, %llu blocks)",
                     (unsigned long long)gap->events, (unsigned long long)gap->bytes,
                     (unsigned long long)gap->blocks);
    uint16_t length = fm_eventlog_be16_((uint16_t)n);
    memcpy(p, &length, 2);
    p = fm_el_put_event(p + 2 + n, FM_EVENT_MISSING, at);
    uint64_t events = fm_eventlog_be64_(gap->events), bytes = fm_eventlog_be64_(gap->bytes);
    uint32_t blocks =
        fm_eventlog_be32_(gap->blocks > UINT32_MAX ? UINT32_MAX : (uint32_t)gap->blocks);
    memcpy(p, &events, 8);
    memcpy(p + 8, &bytes, 8);
    memcpy(p + 16, &blocks, 4);
    size_t total = (size_t)(p + 20 - out);
    fm_el_marker(out, total, cap, at, at);
    return total;
}

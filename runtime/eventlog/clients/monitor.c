/* SPDX-License-Identifier: Apache-2.0 */
/* The messages of the monitor protocol of 2016: CBOR values; a value with several forms is an array
 * of the form's index and its fields. */
#include "clients/protocol.h"
#include "core/clock.h"
#include "core/pool.h"
#include "core/threads.h"
#include "core/types.h"
#include "lanes/lane.h"
#include "state/state.h"

static void head(struct fm_el_bytes *b, uint8_t major, uint64_t v)
{
    unsigned bytes = v < 24 ? 0 : v <= 0xFF ? 1 : v <= 0xFFFF ? 2 : v <= 0xFFFFFFFF ? 4 : 8;
    uint8_t low = bytes == 0   ? (uint8_t)v
                  : bytes == 1 ? 24
                  : bytes == 2 ? 25
                  : bytes == 4 ? 26
                               : 27;
    uint8_t first = (uint8_t)(major << 5 | low);
    fm_el_put(b, &first, 1);
    uint64_t big = fm_eventlog_be64_(v);
    fm_el_put(b, (const unsigned char *)&big + 8 - bytes, bytes);
}

static void number(struct fm_el_bytes *b, uint64_t v)
{
    head(b, 0, v);
}

static void array(struct fm_el_bytes *b, uint64_t n)
{
    head(b, 4, n);
}

static void bytes_value(struct fm_el_bytes *b, const void *data, size_t n)
{
    head(b, 2, n);
    fm_el_put(b, data, n);
}

static void text_value(struct fm_el_bytes *b, const char *text, size_t n)
{
    head(b, 3, n);
    fm_el_put(b, text, n);
}

static void form(struct fm_el_bytes *b, uint64_t index, uint64_t fields)
{
    array(b, 1 + fields);
    number(b, index);
}

/* The frame's length is filled in by frame_end(). */
static size_t frame_begin(struct fm_el_bytes *b)
{
    fm_el_put32(b, 0);
    return b->used;
}

static void frame_end(struct fm_el_bytes *b, size_t begin)
{
    if (b->failed)
        return;
    uint32_t n = fm_eventlog_be32_((uint32_t)(b->used - begin));
    FM_EL_ASSERT(begin >= 4 && begin <= b->used);
    memcpy(b->data + begin - 4, &n, 4);
}

/* ---- header, partial messages -----------------------------------------------------------------
 */

void fm_el_monitor_header(struct fm_el_monitor *m, struct fm_el_bytes *out)
{
    (void)m;
    size_t at = frame_begin(out);
    form(out, 1, 1);
    form(out, 0, 1);
    number(out, fm_el_types_count());
    frame_end(out, at);
    for (unsigned i = 0; i < fm_el_types_count(); i++) {
        struct fm_el_bytes entry = {0};
        fm_el_type_entry(&entry, (uint16_t)i);
        at = frame_begin(out);
        form(out, 1, 1);
        form(out, 1, 1);
        bytes_value(out, entry.data, entry.used);
        frame_end(out, at);
        fm_el_bytes_done(&entry);
    }
}

/* The place of a partial value: a single event, an event of a block, a state. */
struct place {
    enum { SINGLE, PART, STATE } what;
    uint64_t block_id;
};

static void put_place(struct fm_el_bytes *out, const struct place *p)
{
    if (p->what == STATE) {
        form(out, 3, 1);
        return;
    }
    form(out, 2, 1);
    if (p->what == SINGLE) {
        form(out, 1, 1);
        return;
    }
    form(out, 0, 1);
    form(out, 1, 2);
    number(out, p->block_id);
}

static void put_partial(struct fm_el_monitor *m, struct fm_el_bytes *out, const struct place *p,
                        const unsigned char *data, size_t bytes)
{
    size_t at = frame_begin(out);
    put_place(out, p);
    if (m->datagram_max == 0 || bytes <= m->datagram_max) {
        form(out, 0, 1);
        bytes_value(out, data, bytes);
        frame_end(out, at);
        return;
    }
    uint64_t id = m->message_id++, pieces = (bytes + m->datagram_max - 1) / m->datagram_max;
    form(out, 1, 1);
    form(out, 0, 2); /* a record: index 0 */
    number(out, id);
    number(out, pieces);
    frame_end(out, at);
    FM_EL_ASSERT(pieces > 1 && (pieces - 1) * m->datagram_max < bytes);
    for (uint64_t i = 0; i < pieces; i++) {
        size_t from = (size_t)i * m->datagram_max;
        at = frame_begin(out);
        put_place(out, p);
        form(out, 2, 3);
        number(out, id);
        number(out, i);
        bytes_value(out, data + from,
                    bytes - from < m->datagram_max ? bytes - from : m->datagram_max);
        frame_end(out, at);
    }
}

/* ---- events -----------------------------------------------------------------------------------
 */

static size_t event_bytes(const unsigned char *p, size_t left)
{
    if (left < 10)
        return left;
    uint16_t type = fm_el_get16(p);
    unsigned size = type < FM_EL_NUMBERS_END ? fm_el_sizes[type] : 0;
    size_t bytes = 10 + size;
    if (size == FM_EL_VARIABLE)
        bytes = left < 12 ? left : 12u + fm_el_get16(p + 10);
    return bytes < left ? bytes : left;
}

static uint32_t count_events(const unsigned char *p, size_t bytes)
{
    uint32_t n = 0;
    for (size_t at = FM_EL_MARKER_BYTES; at < bytes; at += event_bytes(p + at, bytes - at))
        n++;
    return n;
}

static void block_head(struct fm_el_monitor *m, const unsigned char *p, size_t left,
                       struct fm_el_bytes *out)
{
    uint32_t bytes = fm_el_get32(p + 10);
    uint16_t cap = fm_el_get16(p + 22);
    bytes = bytes < left ? bytes : (uint32_t)left;
    size_t at = frame_begin(out);
    form(out, 2, 1);
    form(out, 0, 1);
    form(out, 0, 1);
    form(out, 0, 5); /* the record */
    number(out, m->block_id++);
    number(out, fm_el_get64(p + 2));
    number(out, fm_el_get64(p + 14));
    number(out, cap == FM_EL_NO_CAP ? 0 : cap + 1u);
    number(out, m->singles ? bytes - FM_EL_MARKER_BYTES : count_events(p, bytes));
    frame_end(out, at);
    m->in_block = true;
}

void fm_el_monitor_event(struct fm_el_monitor *m, const unsigned char *data, size_t bytes,
                         size_t *at, struct fm_el_bytes *out)
{
    const unsigned char *p = data + *at;
    size_t left = bytes - *at, n = event_bytes(p, left);
    if (left < 10) { /* the end mark */
        *at = bytes;
        return;
    }
    FM_EL_ASSERT(*at < bytes && n > 0 && n <= left);
    *at += n;
    if (fm_el_get16(p) == FM_EVENT_BLOCK_MARKER) {
        block_head(m, p, left, out);
        return;
    }
    struct place place = {.what = SINGLE};
    if (!m->singles && m->in_block)
        place = (struct place){.what = PART, .block_id = m->block_id - 1};
    put_partial(m, out, &place, p, n);
}

/* ---- state ------------------------------------------------------------------------------------
 */

static void put_threads(struct fm_el_bytes *b)
{
    uint32_t count;
    size_t bytes;
    struct fm_el_thread *list = fm_el_state_threads(&count, &bytes);
    head(b, 5, count);
    for (uint32_t i = 0; i < count; i++) {
        const struct fm_el_thread *t = &list[i];
        /* maps created, running, stopped, queued */
        static const uint8_t execution[4] = {0, 2, 3, 1};
        number(b, t->id);
        form(b, 0, 7);
        number(b, t->id);
        array(b, t->label != NULL);
        if (t->label)
            text_value(b, t->label->text, t->label->bytes);
        if (t->lane == FM_EL_NO_CAP)
            head(b, 1, 0); /* -1 */
        else
            number(b, t->lane);
        form(b, execution[t->state & 3], t->state == 2);
        if (t->state == 2)
            form(b, t->status, 0);
        array(b, 0);
        number(b, t->created_ns);
        number(b, t->changed_ns);
    }
    fm_el_pool_free(list, bytes);
}

static void put_args(struct fm_el_bytes *b, const char *args, size_t bytes)
{
    if (bytes == 0) {
        array(b, 0);
        return;
    }
    fm_el_put(b, "\x9F", 1);
    for (size_t at = 0; at < bytes;) {
        size_t n = strnlen(args + at, bytes - at);
        text_value(b, args + at, n);
        at += n + 1;
    }
    fm_el_put(b, "\xFF", 1);
}

static unsigned used_lanes(void)
{
    unsigned n = 0;
    for (unsigned i = 0; i < fm_el_lane_count(); i++)
        n += fm_el_lane_at(i)->created_ns != 0;
    return n;
}

static void put_capset(struct fm_el_bytes *b, uint32_t id, uint64_t now)
{
    const struct fm_el_process *p = fm_el_process();
    static const char identity[] = "fathom-0.1.0 C event log";
    number(b, id);
    form(b, 0, 27);
    number(b, id);
    form(b, id == 0 ? 1 : 2, 0);
    array(b, used_lanes());
    for (unsigned i = 0; i < fm_el_lane_count(); i++)
        if (fm_el_lane_at(i)->created_ns)
            number(b, i);
    number(b, now);
    number(b, 0);
    text_value(b, identity, id == 0 ? sizeof(identity) - 1 : 0);
    put_args(b, p->args, id == 0 ? p->args_bytes : 0);
    array(b, 0); /* empty environment */
    array(b, id == 0);
    if (id == 0)
        number(b, p->pid);
    array(b, id == 0);
    if (id == 0)
        number(b, p->ppid);
    number(b, id == 1 ? p->wall_s : 0);
    number(b, id == 1 ? p->wall_ns : 0);
    for (int i = 0; i < 8; i++) /* heap numbers are empty: a C program has no such heap */
        number(b, 0);
    array(b, 0);
    for (int i = 0; i < 6; i++)
        number(b, 0);
}

static void put_lanes(struct fm_el_bytes *b, uint64_t now)
{
    unsigned in_use = 0;
    head(b, 5, used_lanes());
    for (unsigned i = 0; i < fm_el_lane_count(); i++) {
        const struct fm_el_lane *l = fm_el_lane_at(i);
        in_use += l->in_use;
        if (l->created_ns == 0)
            continue;
        number(b, i);
        form(b, 0, 4);
        number(b, i);
        fm_el_put(b, l->in_use ? "\xF4" : "\xF5", 1);
        number(b, l->in_use ? l->created_ns : now);
        number(b, l->created_ns);
    }
    head(b, 5, in_use);
    for (unsigned i = 0; i < fm_el_lane_count(); i++) {
        const struct fm_el_lane *l = fm_el_lane_at(i);
        if (!l->in_use)
            continue;
        number(b, (uint64_t)l->task);
        form(b, 0, 5);
        number(b, (uint64_t)l->task);
        number(b, i);
        form(b, 0, 1);
        number(b, (uint64_t)l->task);
        number(b, l->created_ns);
        number(b, l->created_ns);
    }
}

void fm_el_monitor_state(struct fm_el_monitor *m, struct fm_el_bytes *out)
{
    struct fm_el_bytes b = {0};
    uint64_t now = fm_el_clock_ns();
    form(&b, 0, 6);
    put_threads(&b);
    head(&b, 5, 2);
    put_capset(&b, 0, now);
    put_capset(&b, 1, now);
    put_lanes(&b, now);
    array(&b, 0); /* no collection */
    number(&b, now);
    if (!b.failed)
        put_partial(m, out, &(struct place){.what = STATE}, b.data, b.used);
    fm_el_bytes_done(&b);
}

/* ---- a client's message: [0, [0, pause]]
 * --------------------------------------------------------- */

bool fm_el_monitor_service(const unsigned char *data, size_t bytes, bool *pause)
{
    size_t at = 0, open = 0;
    /* two levels: an array of index 0 and the value */
    for (int level = 0; level < 2; level++, at += 2) {
        if (bytes < at + 2 || (data[at] != 0x82 && data[at] != 0x9F) || data[at + 1] != 0)
            return false;
        open += data[at] == 0x9F; /* indefinite length: ends with FF */
    }
    if (bytes != at + 1 + open || (data[at] != 0xF4 && data[at] != 0xF5))
        return false;
    for (size_t i = at + 1; i < bytes; i++)
        if (data[i] != 0xFF)
            return false;
    *pause = data[at] == 0xF5;
    return true;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* A sample: its event's sample_type says which fields it has, in one order. */
#include <string.h>

#include "exchange/import/perfdata/file.h"

enum { READ_ENABLED = 1, READ_RUNNING = 2, READ_ID = 4, READ_GROUP = 8, READ_LOST = 16 };
#define BRANCH_COUNTER ((uint64_t)1 << 17) /* a word in front of the branches */
#define BRANCH_BYTES 24u
#define WORD 8u

/* The id stands at one place in all events' samples. */
static const struct fm_perf_event *event_of(const struct fm_perf_file *file,
                                            struct fm_perf_fields fields)
{
    if (file->events->len == 0)
        return NULL;
    struct fm_perf_event *first = &g_array_index(file->events, struct fm_perf_event, 0);
    uint64_t type = first->sample_type;
    if (file->events->len == 1 || (type & (FM_PERF_IDENTIFIER | FM_PERF_ID)) == 0)
        return first;
    if ((type & FM_PERF_IDENTIFIER) == 0) {
        for (uint64_t bits = type & (FM_PERF_IP | FM_PERF_TID | FM_PERF_TIME | FM_PERF_ADDR);
             bits != 0; bits &= bits - 1)
            fm_perf_take(&fields, WORD);
    }
    uint64_t id = fm_perf_take_u64(&fields);
    if (id == 0)
        return first;
    guint number = GPOINTER_TO_UINT(g_hash_table_lookup(file->by_id, &id));
    return number == 0 ? NULL : &g_array_index(file->events, struct fm_perf_event, number - 1);
}

static void skip_words(struct fm_perf_fields *fields, uint64_t count)
{
    if (count > (uint64_t)(fields->end - fields->at) / WORD)
        fields->bad = true;
    else
        fm_perf_take(fields, count * WORD);
}

static void skip_read(struct fm_perf_fields *fields, uint64_t format)
{
    uint64_t values = 1, others = 0;
    others += (format & READ_ENABLED) != 0;
    others += (format & READ_RUNNING) != 0;
    values += (format & READ_ID) != 0;
    values += (format & READ_LOST) != 0;
    if ((format & READ_GROUP) != 0) {
        uint64_t count = fm_perf_take_u64(fields);
        skip_words(fields, others);
        if (count > (uint64_t)(fields->end - fields->at) / WORD)
            fields->bad = true;
        else
            skip_words(fields, count * values);
    } else {
        skip_words(fields, values + others);
    }
}

static void skip_branches(struct fm_perf_fields *fields, const struct fm_perf_event *event)
{
    uint64_t count = fm_perf_take_u64(fields);
    if ((event->branches & BRANCH_COUNTER) != 0)
        skip_words(fields, 1);
    if (count > (uint64_t)(fields->end - fields->at) / BRANCH_BYTES)
        fields->bad = true;
    else
        fm_perf_take(fields, count * BRANCH_BYTES);
}

static void take_registers(struct fm_perf_fields *fields, const struct fm_perf_event *event,
                           struct fm_perf_sample *ret)
{
    ret->registers_abi = fm_perf_take_u64(fields);
    if (ret->registers_abi == 0)
        return;
    ret->registers = fields->at;
    skip_words(fields, (uint64_t)__builtin_popcountll(event->registers_user));
}

static void take_stack(struct fm_perf_fields *fields, struct fm_perf_sample *ret)
{
    ret->stack_size = fm_perf_take_u64(fields);
    if (ret->stack_size == 0)
        return;
    ret->stack = fm_perf_take(fields, ret->stack_size);
    uint64_t used = fm_perf_take_u64(fields);
    ret->stack_used = MIN(used, ret->stack_size);
}

bool fm_perf_sample_of(const struct fm_perf_file *file, const struct fm_perf_body *body,
                       struct fm_perf_sample *ret)
{
    struct fm_perf_fields fields = body->fields;
    const struct fm_perf_event *event = event_of(file, fields);
    *ret = (struct fm_perf_sample){.event = event};
    if (event == NULL)
        return true;
    uint64_t type = event->sample_type;
    skip_words(&fields, (type & FM_PERF_IDENTIFIER) != 0);
    ret->has_ip = (type & FM_PERF_IP) != 0;
    ret->ip = ret->has_ip ? fm_perf_take_u64(&fields) : 0;
    if ((type & FM_PERF_TID) != 0) {
        ret->pid = (int32_t)fm_perf_take_u32(&fields);
        ret->tid = (int32_t)fm_perf_take_u32(&fields);
    }
    ret->time = (type & FM_PERF_TIME) != 0 ? fm_perf_take_u64(&fields) : 0;
    skip_words(&fields, ((type & FM_PERF_ADDR) != 0) + ((type & FM_PERF_ID) != 0) +
                            ((type & FM_PERF_STREAM_ID) != 0) + ((type & FM_PERF_CPU) != 0));
    ret->has_period = (type & FM_PERF_PERIOD) != 0;
    ret->period = ret->has_period ? fm_perf_take_u64(&fields) : 0;
    if ((type & FM_PERF_READ) != 0)
        skip_read(&fields, event->read_format);
    if ((type & FM_PERF_CALLCHAIN) != 0) {
        ret->has_chain = true;
        ret->chain_size = fm_perf_take_u64(&fields);
        ret->chain = fields.at;
        skip_words(&fields, ret->chain_size);
    }
    if ((type & FM_PERF_RAW) != 0) {
        ret->raw_size = fm_perf_take_u32(&fields);
        ret->raw = fm_perf_take(&fields, ret->raw_size);
    }
    ret->has_branches = (type & FM_PERF_BRANCH_STACK) != 0;
    if (ret->has_branches)
        skip_branches(&fields, event);
    if ((type & FM_PERF_REGS_USER) != 0)
        take_registers(&fields, event, ret);
    if ((type & FM_PERF_STACK_USER) != 0)
        take_stack(&fields, ret);
    return !fields.bad;
}

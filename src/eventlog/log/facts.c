/* SPDX-License-Identifier: Apache-2.0 */
/* Facts about a block that are found when it is first read: times, counts, events out of order,
 * offsets to begin at, interned texts, damage. */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "eventlog/log/run.h"

enum {
    SAMPLE_BYTES = 64 << 10,
    STRAY_BYTES_MAX = 16 << 20, /* limit for all blocks together; beyond it, events out of order are
                                   searched again when needed */
};

void fm_eventlog_facts_free(struct fm_eventlog_facts *facts)
{
    if (facts == NULL)
        return;
    g_free(facts->strays);
    g_free(facts->samples);
    g_free(facts);
}

static int compare_strays(const void *a, const void *b)
{
    const struct fm_eventlog_stray *x = a, *y = b;
    if (x->time_ns != y->time_ns)
        return x->time_ns < y->time_ns ? -1 : 1;
    return (x->offset > y->offset) - (x->offset < y->offset);
}

/* State while one block is read. */
struct finding {
    struct fm_eventlog_log *log;
    struct fm_eventlog_run *run;
    struct fm_eventlog_block found; /* times and counts */
    GArray *strays, *samples;
    uint64_t next_sample;
};

static void take_text(const struct finding *finding, const uint8_t *at, uint32_t head,
                      uint32_t length)
{
    if (finding->log->on_text == NULL || length < head + 4)
        return;
    uint32_t text_length = length - head - 4;
    uint32_t id = fm_eventlog_get32(at + length - 4);
    finding->log->on_text(finding->log->user, finding->run->block.header, id, at + head,
                          text_length);
}

static void take_sample(struct finding *finding, uint64_t offset)
{
    struct fm_eventlog_sample sample = {offset, finding->found.max_ns};
    g_array_append_val(finding->samples, sample);
    finding->next_sample = offset + SAMPLE_BYTES;
}

static void take_time(struct finding *finding, uint64_t time, uint64_t offset)
{
    struct fm_eventlog_block *found = &finding->found;
    if (found->events == 0)
        found->first_ns = found->min_ns = found->max_ns = found->last_ns = time;
    found->events++;
    found->backward_steps += time < found->last_ns;
    found->last_ns = time;
    if (FM_LIKELY(time >= found->max_ns)) {
        found->max_ns = time;
        return;
    }
    struct fm_eventlog_stray stray = {time, offset};
    g_array_append_val(finding->strays, stray);
    found->min_ns = MIN(found->min_ns, time);
    g_assert(finding->strays->len < found->events);
}

/* Handles short events of fixed size that are in order, as most are. */
static void take_quick(struct finding *finding)
{
    struct fm_eventlog_run *run = finding->run;
    const struct fm_eventlog_step *steps = run->steps;
    const uint8_t *at = run->window + run->pos, *begin = at, *end = run->window + run->end;
    uint64_t left = finding->next_sample - MIN(finding->next_sample, run->base + run->pos);
    const uint8_t *sample = left < (uint64_t)(end - at) ? at + left : end;
    uint64_t greatest = finding->found.max_ns, events = finding->found.events;
    if (events == 0)
        return;
    while (end - at >= FM_EVENTLOG_QUICK_BYTES && at < sample) {
        uint32_t number = fm_eventlog_get16(at);
        uint64_t time = fm_eventlog_get64(at + 2);
        if (number >= run->step_count || steps[number].quick == 0 || time < greatest)
            break;
        greatest = time;
        events++;
        at += steps[number].quick;
    }
    if (at == begin)
        return;
    run->pos += (size_t)(at - begin);
    finding->found.events = events;
    finding->found.max_ns = finding->found.last_ns = greatest;
}

/* Handles the whole events in the window. Returns the number of bytes that the next one needs; 0
 * when it cannot be an event, with the reason in *ret_reason. */
static size_t take_window(struct finding *finding, const char **ret_reason)
{
    struct fm_eventlog_run *run = finding->run;
    const struct fm_eventlog_step *steps = run->steps;
    uint32_t count = run->header->number_count;
    for (;;) {
        take_quick(finding);
        size_t left = run->end - run->pos;
        if (left < 12 && run->base + run->end < run->limit)
            return 12;
        if (left < 10)
            return left > 0 ? 10 : 0;
        const uint8_t *at = run->window + run->pos;
        uint64_t offset = run->base + run->pos;
        uint32_t number = fm_eventlog_get16(at);
        *ret_reason = "an event number that the header does not declare";
        if (FM_UNLIKELY(number >= count || steps[number].length == 0))
            return 0;
        uint32_t head = steps[number].variable ? 12 : 10;
        if (FM_UNLIKELY(left < head))
            return head;
        uint32_t length = steps[number].length;
        if (steps[number].variable)
            length += fm_eventlog_get16(at + 10);
        if (FM_UNLIKELY(length > left))
            return length;
        if (FM_UNLIKELY(number == FM_EVENTLOG_BLOCK_MARKER)) {
            *ret_reason = "a block marker inside a block";
            if (offset != run->block.offset || !run->block.marked)
                return 0;
        } else {
            if (FM_UNLIKELY(offset >= finding->next_sample))
                take_sample(finding, offset);
            take_time(finding, fm_eventlog_get64(at + 2), offset);
            if (FM_UNLIKELY(number == FM_EVENTLOG_INTERN_STRING))
                take_text(finding, at, head, length);
        }
        run->pos += length;
    }
}

/* Cuts the block where it cannot be read further. */
static void cut_block(struct finding *finding, struct fm_eventlog_block *block, const char *reason)
{
    struct fm_eventlog_run *run = finding->run;
    struct fm_eventlog_gap gap = {
        .offset = run->base + run->pos,
        .length = run->limit - run->base - run->pos,
        .capability = block->capability,
        .time_ns = finding->found.last_ns,
    };
    g_assert(gap.length <= block->length);
    block->length -= gap.length;
    const uint8_t *at = run->window + run->pos;
    if (gap.length == 2 && run->end - run->pos == 2 &&
        fm_eventlog_get16(at) == FM_EVENTLOG_END_MARK) {
        finding->log->tail.end_mark = true;
        return;
    }
    g_strlcpy(gap.reason, reason, sizeof gap.reason);
    g_array_append_val(finding->log->gaps, gap);
}

static bool find(struct finding *finding, struct fm_eventlog_block *block, GError **error)
{
    struct fm_eventlog_run *run = finding->run;
    const char *reason = NULL;
    for (;;) {
        size_t wanted = take_window(finding, &reason);
        size_t left = run->end - run->pos;
        if (wanted == 0 && left == 0)
            return true;
        if (wanted > left && run->base + run->end < run->limit) {
            if (!fm_eventlog_run_fill(run, wanted, error))
                return false;
            if (run->end - run->pos > left)
                continue;
        }
        cut_block(finding, block, wanted > 0 ? "an event crosses the end of its block" : reason);
        return true;
    }
}

static struct fm_eventlog_facts *keep(struct finding *finding, struct fm_eventlog_block *block)
{
    const struct fm_eventlog_block *found = &finding->found;
    block->first_ns = found->first_ns;
    block->last_ns = found->last_ns;
    block->min_ns = found->min_ns;
    block->max_ns = found->max_ns;
    block->events = found->events;
    block->backward_steps = found->backward_steps;
    struct fm_eventlog_facts *facts = g_new0(struct fm_eventlog_facts, 1);
    facts->stray_count = finding->strays->len;
    facts->sample_count = finding->samples->len;
    if (facts->stray_count > 0)
        qsort(finding->strays->data, facts->stray_count, sizeof(struct fm_eventlog_stray),
              compare_strays);
    facts->strays = (void *)g_array_free(g_steal_pointer(&finding->strays), FALSE);
    facts->samples = (void *)g_array_free(g_steal_pointer(&finding->samples), FALSE);
    return facts;
}

struct fm_eventlog_facts *fm_eventlog_facts_find(struct fm_eventlog_log *log, guint index,
                                                 GError **error)
{
    struct fm_eventlog_block *block = &g_array_index(log->blocks, struct fm_eventlog_block, index);
    struct finding finding = {
        .log = log,
        .run = fm_eventlog_run_open(log, block, 0, SIZE_MAX),
        .strays = g_array_new(FALSE, FALSE, sizeof(struct fm_eventlog_stray)),
        .samples = g_array_new(FALSE, FALSE, sizeof(struct fm_eventlog_sample)),
        .next_sample = block->offset + SAMPLE_BYTES,
    };
    finding.run->ahead = SIZE_MAX / 4;
    struct fm_eventlog_facts *facts = find(&finding, block, error) ? keep(&finding, block) : NULL;
    if (facts == NULL) {
        g_array_unref(finding.strays);
        g_array_unref(finding.samples);
    }
    fm_eventlog_run_free(finding.run);
    return facts;
}

bool fm_eventlog_log_is_known(const struct fm_eventlog_log *log, guint block)
{
    return log->scan == NULL || fm_eventlog_facts(log, block) != NULL ||
           g_array_index(log->blocks, struct fm_eventlog_block, block).events > 0;
}

bool fm_eventlog_log_learn(struct fm_eventlog_log *log, guint block, GError **error)
{
    if (fm_eventlog_facts(log, block) != NULL)
        return true;
    struct fm_eventlog_facts *facts = fm_eventlog_facts_find(log, block, error);
    if (facts == NULL)
        return false;
    size_t bytes = facts->stray_count * sizeof *facts->strays;
    if (bytes > STRAY_BYTES_MAX - log->stray_bytes)
        g_clear_pointer(&facts->strays, g_free);
    else
        log->stray_bytes += bytes;
    if (log->facts->len <= block)
        g_ptr_array_set_size(log->facts, (gint)block + 1);
    log->facts->pdata[block] = facts;
    return true;
}

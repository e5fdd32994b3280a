/* SPDX-License-Identifier: Apache-2.0 */
/* The assembler front end counts each block at its begin, so a block extends to the next counted
 * one, or to the end of its range of code: branches between are those of hooks, or of asm. Code
 * before the first block runs once a call. A block may have code of several inlined bodies: it
 * represents the lines of each. */
#include "record/statics/extract/blocks.h"

#include <stdlib.h>

#include "record/statics/extract/disassemble.h"

struct run {
    uint64_t low, high;
    uint32_t counter, owner; /* owner: live scope */
    bool has_lines;
};

struct block_line {
    uint32_t counter, owner, line;
};

static uint32_t root_of(const struct fm_statics *statics, uint32_t scope)
{
    while (scope != FM_NONE && statics->scopes[scope].parent != FM_NONE)
        scope = statics->scopes[scope].parent;
    return scope;
}

static const struct fm_counter *counter_at(const struct fm_blocks *blocks, uint32_t index)
{
    return &g_array_index(blocks->counters, struct fm_counter, index);
}

static uint64_t hook_of(const struct fm_blocks *blocks, const struct fm_counter *counter)
{
    uint32_t root = root_of(blocks->statics, counter->scope);
    return root == FM_NONE ? 0 : blocks->hook_of[root];
}

/* Divides the code [low, high) of a block by the bodies in it. */
static void add_runs(struct fm_blocks *blocks, uint32_t counter, uint64_t low, uint64_t high,
                     bool physical)
{
    const struct fm_statics *statics = blocks->statics;
    uint32_t from = fm_statics_segment_behind(statics, low);
    for (; from < statics->segment_count && statics->segments[from].low < high; from++) {
        const struct fm_segment *segment = &statics->segments[from];
        struct run run = {.low = MAX(low, segment->low),
                          .high = MIN(high, segment->high),
                          .counter = counter,
                          .owner = fm_statics_live_around(statics, physical, segment->scope)};
        if (run.owner != FM_NONE && run.low < run.high)
            g_array_append_val(blocks->runs, run);
    }
}

static int run_order(const void *a, const void *b)
{
    const struct run *left = a, *right = b;
    return left->low < right->low ? -1 : left->low > right->low;
}

void fm_blocks_find(struct fm_blocks *blocks, const struct fm_statics *statics,
                    const GArray *counters, bool physical)
{
    *blocks = (struct fm_blocks){.statics = statics,
                                 .counters = counters,
                                 .runs = g_array_new(FALSE, TRUE, sizeof(struct run)),
                                 .lines = g_array_new(FALSE, TRUE, sizeof(struct block_line)),
                                 .hook_of = g_new0(uint64_t, statics->scope_count + 1)};
    for (guint i = 0; i < counters->len; i++) {
        const struct fm_counter *counter = counter_at(blocks, i);
        uint32_t root = root_of(statics, counter->scope);
        if (counter->block == FM_POINT_ENTRY && root != FM_NONE)
            blocks->hook_of[root] = counter->address;
    }
    for (guint i = 0; i < counters->len; i++) {
        const struct fm_counter *counter = counter_at(blocks, i);
        uint64_t end = counter->limit;
        if (i + 1 < counters->len && counter_at(blocks, i + 1)->limit == end)
            end = counter_at(blocks, i + 1)->begin;
        if (hook_of(blocks, counter) != 0 && !counter->shared)
            add_runs(blocks, i, counter->begin, end, physical);
    }
    g_array_sort(blocks->runs, run_order);
}

void fm_blocks_done(struct fm_blocks *blocks)
{
    g_array_unref(blocks->runs);
    g_array_unref(blocks->lines);
    g_free(blocks->hook_of);
}

bool fm_blocks_use_row(struct fm_blocks *blocks, uint32_t owner, uint32_t line, uint64_t low,
                       uint64_t high)
{
    bool used = false;
    guint from = 0, to = blocks->runs->len; /* the first run that ends behind low */
    while (from < to) {
        guint middle = from + (to - from) / 2;
        if (g_array_index(blocks->runs, struct run, middle).high <= low)
            from = middle + 1;
        else
            to = middle;
    }
    for (; from < blocks->runs->len; from++) {
        struct run *run = &g_array_index(blocks->runs, struct run, from);
        if (run->low >= high)
            break;
        if (run->owner != owner)
            continue;
        struct block_line found = {run->counter, owner, line};
        g_array_append_val(blocks->lines, found);
        run->has_lines = used = true;
    }
    return used;
}

static int line_order(const void *a, const void *b)
{
    const struct block_line *left = a, *right = b;
    if (left->counter != right->counter)
        return left->counter < right->counter ? -1 : 1;
    if (left->owner != right->owner)
        return left->owner < right->owner ? -1 : 1;
    return left->line < right->line ? -1 : left->line > right->line;
}

static int address_order(const void *a, const void *b)
{
    const struct fm_point *left = a, *right = b;
    if (left->return_address != right->return_address)
        return left->return_address < right->return_address ? -1 : 1;
    if (left->owner != right->owner)
        return left->owner < right->owner ? -1 : 1;
    return left->line < right->line ? -1 : left->line > right->line;
}

void fm_blocks_add_points(struct fm_blocks *blocks, GArray *points)
{
    g_autoptr(GArray) found = g_array_new(FALSE, TRUE, sizeof(struct fm_point));
    for (guint i = 0; !blocks->statics->has_debug && i < blocks->runs->len; i++) {
        const struct run *run = &g_array_index(blocks->runs, struct run, i);
        struct block_line bare = {run->counter, run->owner, 0};
        if (!run->has_lines)
            g_array_append_val(blocks->lines, bare);
    }
    g_array_sort(blocks->lines, line_order);
    for (guint i = 0; i < blocks->lines->len; i++) {
        const struct block_line *line = &g_array_index(blocks->lines, struct block_line, i);
        const struct fm_counter *counter = counter_at(blocks, line->counter);
        if (i > 0 && line_order(line - 1, line) == 0)
            continue;
        const struct fm_proc *proc =
            &blocks->statics->procs[blocks->statics->scopes[line->owner].proc];
        struct fm_point point = {.return_address = counter->address,
                                 .hook = hook_of(blocks, counter),
                                 .scope = counter->scope,
                                 .owner = line->owner,
                                 .file = line->line != 0 ? proc->file : "",
                                 .line = line->line,
                                 .same_as = FM_NONE,
                                 .block = counter->block};
        g_array_append_val(found, point);
    }
    g_array_sort(found, address_order);
    g_array_append_vals(points, found->data, found->len);
}

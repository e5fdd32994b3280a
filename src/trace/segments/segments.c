/* SPDX-License-Identifier: Apache-2.0 */
#include "trace/segments/segments.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/files/writer.h"

/* Blocks of one kind of thing. All but the last are full. */
struct series {
    size_t size;       /* bytes of one thing */
    GPtrArray *blocks; /* FM_SEGMENTS_BLOCK things each; NULL = in the file */
    GArray *spans;     /* holds struct fm_segments_span */
    GArray *places;    /* holds uint64_t: offsets in the file, of those that are there */
    void *scratch;     /* a block that was read from the file */
    uint32_t read;     /* its number; UINT32_MAX = none */
};

struct fm_segments {
    unsigned owners;
    struct fm_trace *trace;
    struct series segments, arrows;
    GArray *open;  /* holds struct fm_segment: what is open is shown as the last block */
    GArray *lanes; /* holds struct fm_segments_lane */
    struct fm_segments_span open_span;
    size_t memory, used; /* bytes of full blocks */
    bool closing;        /* the rest is open at the end of the trace */
    int file;            /* -1 = none yet */
    uint64_t written;    /* bytes */
    char *problem;
};

/* --- blocks --- */

static void series_init(struct series *series, size_t size)
{
    *series = (struct series){.size = size,
                              .blocks = g_ptr_array_new_with_free_func(g_free),
                              .spans = g_array_new(false, false, sizeof(struct fm_segments_span)),
                              .places = g_array_new(false, true, sizeof(uint64_t)),
                              .read = UINT32_MAX};
}

static void series_clear(struct series *series)
{
    g_ptr_array_unref(series->blocks);
    g_array_unref(series->spans);
    g_array_unref(series->places);
    g_free(series->scratch);
}

static void stretch(struct fm_segments_span *span, uint64_t start, uint64_t end)
{
    if (span->count == 0)
        *span = (struct fm_segments_span){start, start, end, end, 0};
    span->first_start = MIN(span->first_start, start);
    span->last_start = MAX(span->last_start, start);
    span->first_end = MIN(span->first_end, end);
    span->last_end = MAX(span->last_end, end);
    span->count++;
}

static void fail(struct fm_segments *segments, const char *what, int number)
{
    if (segments->problem == NULL)
        segments->problem =
            g_strdup_printf("the file of segments: %s: %s", what, g_strerror(number));
}

static bool write_all(int file, const uint8_t *bytes, size_t size, uint64_t at)
{
    while (size > 0) {
        ssize_t written = pwrite(file, bytes, size, (off_t)at);
        if (written < 0 && errno == EINTR)
            continue;
        if (written <= 0)
            return false;
        bytes += written;
        at += (uint64_t)written;
        size -= (size_t)written;
    }
    return true;
}

/* Writes the last block, which is full, to the file. It stays in memory where that fails. */
static void put_away(struct fm_segments *segments, struct series *series)
{
    size_t bytes = FM_SEGMENTS_BLOCK * series->size;
    uint32_t number = series->blocks->len - 1;
    if (segments->file < 0) {
        g_autoptr(GError) error = NULL;
        segments->file = fm_nameless_file(&error);
        if (segments->file < 0) {
            segments->problem =
                segments->problem == NULL ? g_strdup(error->message) : segments->problem;
            return;
        }
    }
    if (!write_all(segments->file, series->blocks->pdata[number], bytes, segments->written)) {
        fail(segments, "writing", errno);
        return;
    }
    g_array_index(series->places, uint64_t, number) = segments->written;
    segments->written += bytes;
    g_clear_pointer(&series->blocks->pdata[number], g_free);
}

/* Room for one more thing, which is there from start to end; NULL when no more can be kept. */
static void *add(struct fm_segments *segments, struct series *series, uint64_t start, uint64_t end)
{
    uint32_t last = series->blocks->len;
    struct fm_segments_span *span =
        last == 0 ? NULL : &g_array_index(series->spans, struct fm_segments_span, last - 1);
    if (span == NULL || span->count == FM_SEGMENTS_BLOCK) {
        if (segments->problem != NULL)
            return NULL;
        g_ptr_array_add(series->blocks, g_malloc0(FM_SEGMENTS_BLOCK * series->size));
        g_array_append_val(series->spans, ((struct fm_segments_span){0}));
        g_array_set_size(series->places, series->blocks->len);
        span = &g_array_index(series->spans, struct fm_segments_span, last);
    }
    uint32_t at = span->count;
    uint8_t *block = series->blocks->pdata[series->blocks->len - 1];
    stretch(span, start, end);
    return block + at * series->size;
}

/* The last block may be full now. */
static void settle(struct fm_segments *segments, struct series *series)
{
    const struct fm_segments_span *span =
        &g_array_index(series->spans, struct fm_segments_span, series->blocks->len - 1);
    if (span->count < FM_SEGMENTS_BLOCK)
        return;
    if (segments->used < segments->memory)
        segments->used += FM_SEGMENTS_BLOCK * series->size;
    else
        put_away(segments, series);
}

static const void *read_block(struct fm_segments *segments, struct series *series, uint32_t block)
{
    g_assert(block < series->blocks->len);
    if (series->blocks->pdata[block] != NULL)
        return series->blocks->pdata[block];
    size_t bytes = FM_SEGMENTS_BLOCK * series->size;
    if (series->scratch == NULL)
        series->scratch = g_malloc0(bytes);
    if (series->read == block)
        return series->scratch;
    uint64_t at = g_array_index(series->places, uint64_t, block);
    for (size_t done = 0; done < bytes;) {
        ssize_t got = pread(segments->file, (uint8_t *)series->scratch + done, bytes - done,
                            (off_t)(at + done));
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0) {
            fail(segments, "reading", got < 0 ? errno : EIO);
            memset(series->scratch, 0, bytes);
            break;
        }
        done += (size_t)got;
    }
    series->read = block;
    return series->scratch;
}

/* --- filling --- */

struct fm_segments *fm_segments_new(struct fm_trace *trace, size_t memory)
{
    struct fm_segments *segments = g_new0(struct fm_segments, 1);
    segments->owners = 1;
    segments->trace = trace;
    segments->memory = memory;
    segments->file = -1;
    segments->open = g_array_new(false, false, sizeof(struct fm_segment));
    segments->lanes = g_array_new(false, true, sizeof(struct fm_segments_lane));
    series_init(&segments->segments, sizeof(struct fm_segment));
    series_init(&segments->arrows, sizeof(struct fm_arrow));
    return segments;
}

struct fm_segments *fm_segments_ref(struct fm_segments *segments)
{
    segments->owners++;
    return segments;
}

void fm_segments_free(struct fm_segments *segments)
{
    if (segments == NULL || --segments->owners > 0)
        return;
    series_clear(&segments->segments);
    series_clear(&segments->arrows);
    g_array_unref(segments->open);
    g_array_unref(segments->lanes);
    if (segments->file >= 0)
        close(segments->file);
    g_free(segments->problem);
    g_free(segments);
}

static void take_lane(struct fm_segments *segments, const struct fm_tape_change *change)
{
    if (change->lane >= segments->lanes->len)
        g_array_set_size(segments->lanes, change->lane + 1);
    g_array_index(segments->lanes, struct fm_segments_lane, change->lane) =
        (struct fm_segments_lane){.kind = (enum fm_lane_kind)change->depth,
                                  .name = change->value,
                                  .parent = (uint32_t)change->since,
                                  .key = change->end,
                                  .number = change->detail};
}

static void take_segment(struct fm_segments *segments, const struct fm_tape_change *change)
{
    struct fm_segment *kept = add(segments, &segments->segments, change->since, change->end);
    if (kept == NULL)
        return;
    *kept = (struct fm_segment){.start = change->since,
                                .end = change->end,
                                .lane = change->lane,
                                .value = change->value,
                                .depth = change->depth,
                                .open = segments->closing};
    settle(segments, &segments->segments);
}

static void take_arrow(struct fm_segments *segments, const struct fm_tape_change *change)
{
    struct fm_arrow *kept = add(segments, &segments->arrows, change->since, change->end);
    if (kept == NULL)
        return;
    *kept = (struct fm_arrow){change->since, change->end, change->lane, change->value};
    settle(segments, &segments->arrows);
}

void fm_segments_take(void *user, const struct fm_tape_batch *batch)
{
    struct fm_segments *segments = user;
    for (uint32_t i = 0; i < batch->change_count; i++) {
        const struct fm_tape_change *change = &batch->changes[i];
        switch ((enum fm_tape_kind)change->kind) {
        case FM_TAPE_LANE:
            take_lane(segments, change);
            break;
        case FM_TAPE_ENDED:
            take_segment(segments, change);
            break;
        case FM_TAPE_ARROW:
            take_arrow(segments, change);
            break;
        case FM_TAPE_CLOSING:
            segments->closing = true;
            break;
        case FM_TAPE_BEGUN:
        case FM_TAPE_NUMBER:
        case FM_TAPE_MARK:
            break;
        }
    }
}

static void show_open(void *user, const struct fm_lane *lane, uint32_t depth,
                      const struct fm_state_entry *entry, uint64_t end)
{
    struct fm_segments *segments = user;
    const struct fm_segment shown = {.start = entry->since,
                                     .end = end,
                                     .lane = lane->index,
                                     .value = entry->value,
                                     .depth = (uint16_t)depth,
                                     .open = true};
    g_array_append_val(segments->open, shown);
    stretch(&segments->open_span, shown.start, shown.end);
}

void fm_segments_show_open(struct fm_segments *segments, struct fm_state *state, uint64_t time)
{
    const struct fm_state_observer observer = {.user = segments, .segment = show_open};
    fm_segments_hide_open(segments);
    fm_state_flush(state, time, &observer);
}

void fm_segments_hide_open(struct fm_segments *segments)
{
    g_array_set_size(segments->open, 0);
    segments->open_span = (struct fm_segments_span){0};
}

/* --- reading --- */

const char *fm_segments_problem(const struct fm_segments *segments)
{
    return segments->problem;
}

struct fm_trace *fm_segments_trace(const struct fm_segments *segments)
{
    return segments->trace;
}

static uint64_t count_of(const struct series *series)
{
    uint64_t count = 0;
    for (guint i = 0; i < series->spans->len; i++)
        count += g_array_index(series->spans, struct fm_segments_span, i).count;
    return count;
}

uint64_t fm_segments_count(const struct fm_segments *segments)
{
    return count_of(&segments->segments) + segments->open->len;
}

uint64_t fm_segments_arrow_count(const struct fm_segments *segments)
{
    return count_of(&segments->arrows);
}

uint32_t fm_segments_lane_count(const struct fm_segments *segments)
{
    return segments->lanes->len;
}

const struct fm_segments_lane *fm_segments_lane(const struct fm_segments *segments, uint32_t index)
{
    g_assert(index < segments->lanes->len);
    return &g_array_index(segments->lanes, struct fm_segments_lane, index);
}

char *fm_segments_lane_label(const struct fm_segments *segments, uint32_t index)
{
    const struct fm_segments_lane *lane = fm_segments_lane(segments, index);
    const char *name = fm_trace_value_name(segments->trace, lane->name);
    g_autofree char *number = g_strdup_printf("%" G_GUINT64_FORMAT, lane->number);
    bool told = lane->kind != FM_LANE_THREAD || g_str_has_suffix(name, number);
    return told ? g_strdup(name) : g_strdup_printf("%s (%s)", name, number);
}

/* --- views --- */

static uint32_t last_count(const struct series *series)
{
    guint blocks = series->spans->len;
    return blocks == 0 ? 0
                       : g_array_index(series->spans, struct fm_segments_span, blocks - 1).count;
}

void fm_segments_view_init(struct fm_segments_view *view, struct fm_segments *of)
{
    *view = (struct fm_segments_view){
        .of = fm_segments_ref(of),
        .blocks = of->segments.blocks->len,
        .last_count = last_count(&of->segments),
        .arrow_blocks = of->arrows.blocks->len,
        .arrow_last_count = last_count(&of->arrows),
        .lanes = of->lanes->len,
        .open_span = of->open_span,
        .open = g_memdup2(of->open->data, of->open->len * sizeof(struct fm_segment)),
    };
}

void fm_segments_view_clear(struct fm_segments_view *view)
{
    g_clear_pointer(&view->open, g_free);
    g_clear_pointer(&view->of, fm_segments_free);
}

static struct fm_segments_span span_of(const struct series *series, uint32_t block, uint32_t blocks,
                                       uint32_t last)
{
    struct fm_segments_span span = g_array_index(series->spans, struct fm_segments_span, block);
    if (block + 1 == blocks)
        span.count = last;
    return span;
}

uint32_t fm_segments_blocks(const struct fm_segments_view *view)
{
    return view->blocks + (view->open_span.count > 0 ? 1 : 0);
}

struct fm_segments_span fm_segments_span(const struct fm_segments_view *view, uint32_t block)
{
    return block >= view->blocks
               ? view->open_span
               : span_of(&view->of->segments, block, view->blocks, view->last_count);
}

const struct fm_segment *fm_segments_read(const struct fm_segments_view *view, uint32_t block)
{
    return block >= view->blocks ? view->open : read_block(view->of, &view->of->segments, block);
}

uint32_t fm_segments_arrow_blocks(const struct fm_segments_view *view)
{
    return view->arrow_blocks;
}

struct fm_segments_span fm_segments_arrow_span(const struct fm_segments_view *view, uint32_t block)
{
    return span_of(&view->of->arrows, block, view->arrow_blocks, view->arrow_last_count);
}

const struct fm_arrow *fm_segments_read_arrows(const struct fm_segments_view *view, uint32_t block)
{
    return read_block(view->of, &view->of->arrows, block);
}

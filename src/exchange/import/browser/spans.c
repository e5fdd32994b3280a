/* SPDX-License-Identifier: Apache-2.0 */
#include "exchange/import/browser/spans.h"

#include "exchange/import/internal.h"

enum kind { BEGIN, END, COMPLETE };

struct event {
    int64_t ns, end; /* end: of a complete span */
    uint32_t function, name;
    uint32_t place; /* in the file, among the lane's */
    uint8_t kind;
};

struct fm_spans {
    GPtrArray *lanes; /* GArray of struct event */
};

/* A span that is open. */
struct span {
    int64_t begin, end; /* end: INT64_MAX until it is known */
    int64_t inner;      /* time of the spans within it */
    uint32_t name;
    bool complete;
};

struct walk {
    struct fm_stacks *stacks;
    struct fm_spans_found *found;
    GArray *open;
    uint32_t base;
    uint64_t sum;
    bool fits;
};

struct fm_spans *fm_spans_new(void)
{
    struct fm_spans *spans = g_new0(struct fm_spans, 1);
    spans->lanes = g_ptr_array_new_with_free_func((GDestroyNotify)g_array_unref);
    return spans;
}

void fm_spans_free(struct fm_spans *spans)
{
    if (spans == NULL)
        return;
    g_ptr_array_unref(spans->lanes);
    g_free(spans);
}

uint32_t fm_spans_add_lane(struct fm_spans *spans)
{
    g_ptr_array_add(spans->lanes, g_array_new(FALSE, FALSE, sizeof(struct event)));
    return spans->lanes->len - 1;
}

bool fm_spans_is_empty(const struct fm_spans *spans, uint32_t lane)
{
    return ((const GArray *)g_ptr_array_index(spans->lanes, lane))->len == 0;
}

static void add(struct fm_spans *spans, uint32_t lane, struct event event)
{
    GArray *events = g_ptr_array_index(spans->lanes, lane);
    event.place = events->len;
    g_array_append_val(events, event);
}

void fm_spans_begin(struct fm_spans *spans, uint32_t lane, int64_t ns, uint32_t function,
                    uint32_t name)
{
    add(spans, lane, (struct event){.kind = BEGIN, .ns = ns, .function = function, .name = name});
}

void fm_spans_end(struct fm_spans *spans, uint32_t lane, int64_t ns, uint32_t name)
{
    add(spans, lane, (struct event){.kind = END, .ns = ns, .name = name});
}

void fm_spans_complete(struct fm_spans *spans, uint32_t lane, int64_t ns, int64_t duration_ns,
                       uint32_t function)
{
    int64_t end;
    if (__builtin_add_overflow(ns, MAX(duration_ns, 0), &end))
        end = INT64_MAX - 1;
    add(spans, lane, (struct event){.kind = COMPLETE, .ns = ns, .end = end, .function = function});
}

/* --- order --- */

static int compare_events(const void *a, const void *b)
{
    const struct event *x = a, *y = b;
    if (x->ns != y->ns)
        return x->ns < y->ns ? -1 : 1;
    return (x->place > y->place) - (x->place < y->place);
}

static int compare_lengths(const void *a, const void *b)
{
    const struct event *x = a, *y = b;
    if (x->end != y->end)
        return x->end > y->end ? -1 : 1;
    return (x->place > y->place) - (x->place < y->place);
}

/* The complete spans among events of one time, the longest first, at the places that they had. */
static void order_lengths(struct event *events, guint count)
{
    g_autoptr(GArray) complete = g_array_new(FALSE, FALSE, sizeof *events);
    for (guint i = 0; i < count; i++) {
        if (events[i].kind == COMPLETE)
            g_array_append_val(complete, events[i]);
    }
    if (complete->len < 2)
        return;
    g_array_sort(complete, compare_lengths);
    for (guint i = 0, next = 0; i < count; i++) {
        if (events[i].kind == COMPLETE)
            events[i] = g_array_index(complete, struct event, next++);
    }
}

static void order(GArray *events)
{
    struct event *all = (struct event *)(void *)events->data;
    bool ordered = true; /* as most files are */
    for (guint i = 1; i < events->len && ordered; i++)
        ordered = all[i - 1].ns <= all[i].ns;
    if (!ordered)
        g_array_sort(events, compare_events);
    for (guint i = 0; i < events->len;) {
        guint end = i + 1;
        while (end < events->len && all[end].ns == all[i].ns)
            end++;
        if (end - i > 1)
            order_lengths(all + i, end - i);
        i = end;
    }
}

/* --- walking --- */

static struct span *innermost(struct walk *walk)
{
    return walk->open->len == 0 ? NULL
                                : &g_array_index(walk->open, struct span, walk->open->len - 1);
}

static void close_one(struct walk *walk, int64_t ns)
{
    const struct span span = *innermost(walk);
    uint64_t length = (uint64_t)(MAX(ns, span.begin) - span.begin);
    uint64_t own = length - MIN((uint64_t)span.inner, length);
    fm_stacks_add(walk->stacks, FM_EXITS, 1);
    fm_stacks_add(walk->stacks, FM_QUANTA, own);
    walk->fits = walk->fits && fm_import_sum(&walk->sum, own);
    g_array_set_size(walk->open, walk->open->len - 1);
    fm_stacks_cut(walk->stacks, walk->base + walk->open->len);
    if (walk->open->len > 0)
        innermost(walk)->inner += (int64_t)length;
    else
        walk->found->time_ns += length;
}

/* Which span, from the outermost on, is the innermost complete one; len: there is none. */
static guint innermost_complete(const struct walk *walk)
{
    for (guint i = walk->open->len; i-- > 0;) {
        if (g_array_index(walk->open, struct span, i).complete)
            return i;
    }
    return walk->open->len;
}

/* Complete spans end by themselves, and with them what was begun within and did not end. */
static void close_until(struct walk *walk, int64_t ns)
{
    for (;;) {
        guint at = innermost_complete(walk);
        if (at == walk->open->len)
            return;
        int64_t end = g_array_index(walk->open, struct span, at).end;
        if (end > ns)
            return;
        walk->found->cut += walk->open->len - at - 1;
        while (walk->open->len > at)
            close_one(walk, end);
    }
}

static void open_span(struct walk *walk, const struct event *event)
{
    struct span span = {.begin = event->ns, .end = INT64_MAX, .name = event->name};
    if (event->kind == COMPLETE) {
        guint around = innermost_complete(walk);
        span.complete = true;
        span.end = event->end;
        if (around < walk->open->len) {
            int64_t most = g_array_index(walk->open, struct span, around).end;
            walk->found->cut += span.end > most;
            span.end = MIN(span.end, most);
        }
    }
    walk->found->spans++;
    fm_stacks_push(walk->stacks, event->function, 0);
    g_array_append_val(walk->open, span);
}

/* Which begun span, from the outermost on, is the innermost of that name; len: there is none. */
static guint innermost_begun(const struct walk *walk, uint32_t name)
{
    for (guint i = walk->open->len; i-- > 0;) {
        const struct span *span = &g_array_index(walk->open, struct span, i);
        if (!span->complete && (name == FM_SPANS_ANY || span->name == name))
            return i;
    }
    return walk->open->len;
}

static void end_span(struct walk *walk, const struct event *event)
{
    guint at = innermost_begun(walk, event->name);
    if (at == walk->open->len) {
        walk->found->ends_without_begin++;
        return;
    }
    walk->found->cut += walk->open->len - at - 1;
    while (walk->open->len > at)
        close_one(walk, event->ns);
}

bool fm_spans_add(struct fm_spans *spans, uint32_t lane, struct fm_stacks *stacks,
                  struct fm_spans_found *found)
{
    GArray *events = g_ptr_array_index(spans->lanes, lane);
    struct walk walk = {.stacks = stacks,
                        .found = found,
                        .open = g_array_new(FALSE, FALSE, sizeof(struct span)),
                        .base = fm_stacks_depth(stacks),
                        .fits = true};
    int64_t last = INT64_MIN;
    order(events);
    for (guint i = 0; i < events->len; i++) {
        const struct event *event = &g_array_index(events, struct event, i);
        last = MAX(last, event->kind == COMPLETE ? MAX(event->ns, event->end) : event->ns);
        close_until(&walk, event->ns);
        if (event->kind == END)
            end_span(&walk, event);
        else
            open_span(&walk, event);
        if (event->kind == COMPLETE && event->end == event->ns)
            close_until(&walk, event->ns);
    }
    close_until(&walk, last);
    found->never_ended += walk.open->len;
    while (walk.open->len > 0)
        close_one(&walk, last);
    g_array_unref(walk.open);
    return walk.fits;
}

/* --- notes --- */

void fm_spans_tell_count(struct fm_build *build, uint64_t count, const char *one,
                         const char *several)
{
    if (count == 0)
        return;
    g_autofree char *note =
        g_strdup_printf("%" G_GUINT64_FORMAT " %s", (guint64)count, count == 1 ? one : several);
    fm_build_note(build, note);
}

void fm_spans_tell(const struct fm_spans_found *found, struct fm_build *build)
{
    fm_spans_tell_count(build, found->never_ended, "span never ended: it ends with its thread here",
                        "spans never ended: they end with their threads here");
    fm_spans_tell_count(build, found->ends_without_begin, "end is of no span that began",
                        "ends are of no span that began");
    if (found->spans > 0 && found->time_ns == 0)
        fm_build_note(build, FM_NOTE_WARNING
                      "all spans have the duration 0: how often they occur is known, no time");
    /* Times in whole microseconds cross a little in good files. */
    if (found->cut * 100 > found->spans)
        fm_spans_tell_count(build, found->cut, "span ends after the one around it: it is cut there",
                            "spans end after the one around them: they are cut there");
}

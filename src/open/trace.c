/* SPDX-License-Identifier: Apache-2.0 */
/* Traces: opens, finds and closes them, and checks them for growth. */
#include <string.h>

#include "open/internal.h"
#include "engine/trace_modules.h"
#include "trace/clock/synchronize.h"
#include "trace/format/open.h"

/* limit for traces found below roots: the least recently used is closed */
#define FILES_FOUND_MAX 8
#define GROW_WORK_US 10000
/* A trace that has grown by this fraction is read again for state and summary. */
#define REREAD_SHARE 0.5
/* Also one that has grown by less, but not for this long. */
#define QUIET_US G_USEC_PER_SEC
/* Also each small trace. */
#define SMALL_BYTES (1u << 20)

const struct fm_open_file_class fm_trace_entry_class = {.noun = "trace", .found = "trace"};

static struct fm_trace_entry *trace_at(const struct fm_open_files *all, unsigned index)
{
    struct fm_open_file *recording = all->list->pdata[index];
    return recording->class_ == &fm_trace_entry_class ? (struct fm_trace_entry *)recording : NULL;
}

static struct fm_trace_entry *find(const struct fm_open_files *all, const char *name)
{
    return (struct fm_trace_entry *)fm_open_files_find(all, &fm_trace_entry_class, name);
}

/* Opens a trace and adds it, unless it is there under another name. */
static struct fm_trace_entry *add(struct fm_open_files *all, const char *name, const char *real,
                                  bool added, GError **error)
{
    struct fm_trace *trace = fm_engine_open(all->engine, real, error);
    if (trace == NULL)
        return NULL;
    struct fm_trace_entry *other = fm_open_files_trace_of(all, trace);
    if (other != NULL) {
        fm_engine_close(all->engine, trace);
        other->base.added |= added;
        return other;
    }
    fm_engine_load_states(trace); /* before any event is read */
    struct fm_trace_entry *file = g_new0(struct fm_trace_entry, 1);
    fm_open_file_init(&file->base, &fm_trace_entry_class, all, name, g_strdup(real));
    file->base.added = added;
    file->base.trace = trace;
    g_ptr_array_add(all->list, file);
    return file;
}

bool fm_open_files_add_trace(struct fm_open_files *all, const char *path, const char *real,
                             GError **error)
{
    return find(all, path) != NULL || add(all, path, real, true, error) != NULL;
}

struct fm_trace_entry *fm_open_files_get_trace(struct fm_open_files *all, const char *name,
                                               GError **error)
{
    g_return_val_if_fail(name != NULL, NULL);
    struct fm_trace_entry *file = find(all, name);
    g_autofree char *beside =
        file != NULL ? NULL : fm_open_files_beside(all, name, FM_CALLS_SUFFIX, FM_PROFILE_SUFFIX);
    if (beside != NULL) { /* beside a profile that is open: allowed as if it had been named, too */
        file = add(all, name, beside, true, error);
        if (file == NULL)
            return NULL;
    } else if (file == NULL) {
        g_autofree char *real =
            fm_open_files_is_address(name) ? NULL : fm_open_files_below_roots(all, name);
        if (real == NULL || !fm_trace_recognise_below(all->roots, real)) {
            fm_open_files_not_found(all, &fm_trace_entry_class, name, error);
            return NULL;
        }
        file = add(all, real, real, false, error);
        if (file == NULL)
            return NULL;
        fm_open_files_close_least_used(all, &file->base, FILES_FOUND_MAX);
    }
    fm_open_file_use(&file->base);
    return file;
}

struct fm_trace_entry *fm_open_files_trace_of(const struct fm_open_files *all,
                                              const struct fm_trace *trace)
{
    for (unsigned i = 0; i < all->list->len; i++) {
        struct fm_trace_entry *file = trace_at(all, i);
        if (file != NULL && file->base.trace == trace)
            return file;
    }
    return NULL;
}

uint64_t fm_open_files_unread(const struct fm_open_files *all, const struct fm_trace *trace)
{
    const struct fm_trace_entry *file = fm_open_files_trace_of(all, trace);
    return file == NULL ? 0 : file->unread + fm_trace_pending(trace);
}

void fm_trace_entry_describe(const struct fm_trace_entry *file, struct fm_trace_file_info *ret)
{
    const struct fm_trace *trace = file->base.trace;
    g_autofree char *damage = fm_trace_damage(trace);
    g_assert(file->base.class_ == &fm_trace_entry_class);
    *ret = (struct fm_trace_file_info){
        .name = file->base.name,
        .format = fm_trace_format(trace),
        .duration_ns = trace->end_time - MIN(trace->start_time, trace->end_time),
        .streams = trace->tracefiles->len,
        .grows = fm_trace_grows(trace),
        .damaged = damage != NULL && damage[0] != '\0',
    };
}

static void tell_changed(const struct fm_trace_entry *file, bool replaced)
{
    const struct fm_open_files_options *options = &file->base.all->options;
    if (options->changed != NULL)
        options->changed(options->user, file->base.trace, replaced);
}

void fm_trace_entry_shift(struct fm_trace_entry *file, uint64_t shift_ns)
{
    struct fm_trace *trace = file->base.trace;
    struct fm_engine *engine = file->base.all->engine;
    bool changed = file->shift_ns != shift_ns;
    GError *error = NULL;
    g_assert(!trace->locked);
    if (changed &&
        !fm_trace_set_correction(trace, (struct fm_correction){1, (double)shift_ns}, &error)) {
        g_clear_error(&error); /* more than a century apart: they are unrelated */
        return;
    }
    file->aligned = true;
    file->shift_ns = shift_ns;
    if (!changed)
        return;
    fm_engine_trace_grown(engine, trace, FM_TIME_INF);
    fm_background_discard(engine, trace);
    tell_changed(file, false);
}

/* --- growth --- */

bool fm_open_files_are_searched(const struct fm_open_files *all)
{
    for (unsigned i = 0; i < all->list->len; i++) {
        const struct fm_trace_entry *file = trace_at(all, i);
        enum fm_trace_growth growth =
            file == NULL ? FM_TRACE_WHOLE : fm_trace_growth(file->base.trace);
        if (growth == FM_TRACE_SEARCHED || growth == FM_TRACE_ARRIVING)
            return true;
    }
    return false;
}

/* Each call searches for some milliseconds. */
static bool grow(struct fm_trace *trace, bool *ret_ended)
{
    int64_t end = g_get_monotonic_time() + GROW_WORK_US;
    bool grown = false;
    *ret_ended = false;
    while (fm_trace_grows(trace) && !*ret_ended && fm_trace_grow(trace, ret_ended, NULL)) {
        grown = true;
        if (g_get_monotonic_time() > end)
            break;
    }
    return grown;
}

/* Times do not show how much is new: blocks of the same time follow one another in the file, by
 * capability. A pass that waits for an import continues with the new part. */
static bool is_read_again(const struct fm_trace_entry *file, bool ended)
{
    uint64_t extent = fm_trace_extent(file->base.trace);
    bool quiet = g_get_monotonic_time() - file->grown_us > QUIET_US;
    bool much = (double)file->unread > REREAD_SHARE * (double)extent &&
                !fm_background_follows(file->base.all->engine, file->base.trace);
    return file->unread > 0 && (ended || quiet || extent <= SMALL_BYTES || much);
}

static void look_at(struct fm_trace_entry *file)
{
    struct fm_trace *trace = file->base.trace;
    struct fm_engine *engine = file->base.all->engine;
    uint64_t old_end = trace->end_time, old_extent = fm_trace_extent(trace);
    unsigned generation = trace->generation;
    uint64_t late = trace->late;
    bool was_live = fm_trace_growth(trace) == FM_TRACE_LIVE;
    bool ended, grown = grow(trace, &ended), replaced = trace->generation != generation;
    bool again = is_read_again(file, ended);
    if (!grown && !ended && !replaced && !again)
        return;
    if (grown)
        file->grown_us = g_get_monotonic_time();
    if (was_live) { /* events that were held back and are shown now take no further bytes */
        uint64_t added = fm_trace_extent(trace) - MIN(old_extent, fm_trace_extent(trace));
        file->unread += MAX(added, trace->end_time > old_end ? 1 : 0);
    }
    fm_engine_trace_grown(engine, trace, replaced ? FM_TIME_INF : old_end);
    file->missed |= trace->late != late;
    if (!file->missed && !ended && fm_background_follows(engine, trace))
        file->unread = 0; /* the passes go on from where they are */
    if (replaced || is_read_again(file, ended)) {
        fm_background_discard(engine, trace);
        file->unread = 0;
        file->missed = false;
    }
    tell_changed(file, replaced);
}

void fm_open_files_grow(struct fm_open_files *all)
{
    for (unsigned i = 0; i < all->list->len; i++) {
        struct fm_trace_entry *file = trace_at(all, i);
        if (file == NULL)
            continue;
        const struct fm_trace *trace = file->base.trace;
        if ((fm_trace_grows(trace) || file->unread > 0) && !trace->locked)
            look_at(file);
    }
}

/* SPDX-License-Identifier: Apache-2.0 */
/* The traces of a page: a reader of the engine, with a state for each trace. */
#include <string.h>

#include "base/error.h"
#include "pages/viewers/viewers.h"
#include "trace/clock/synchronize.h"

/* Larger times are taken for calendar time; pages round their origin to a whole second. */
#define CALENDAR_NS ((uint64_t)1 << 52)
#define SHORT_BYTES_MAX (4u << 20)
#define SECOND_NS UINT64_C(1000000000)

const char *const fm_trace_pass_names[TRACE_PASSES] = {"state", "statistics", "summary"};

/* --- state --- */

static bool keep_state(void *data, void *call_data)
{
    const struct fm_viewer_set *set = data;
    const struct fm_tracefile_context *at = call_data;
    return fm_state_hook(set->parts[at->trace_context->index].state, call_data);
}

/* Short logs are read from their begin: that is faster than looking for a saved state. */
static bool is_short(const struct fm_viewer_set *set)
{
    uint64_t bytes = 0;
    for (unsigned i = 0; i < set->count; i++) {
        uint64_t of_part = fm_viewer_part_bytes(&set->parts[i]);
        if (of_part == 0)
            return false;
        bytes += of_part;
    }
    return bytes <= SHORT_BYTES_MAX;
}

static void restore(struct fm_context *context, uint64_t time, void *user)
{
    const struct fm_viewer_set *set = user;
    bool from_start = is_short(set);
    for (unsigned i = 0; i < set->count; i++) {
        struct fm_viewer_part *part = &set->parts[i];
        struct fm_checkpoints *checkpoints =
            fm_attributes_get(part->trace->attributes, "state/checkpoints");
        uint64_t begin = part->trace->start_time;
        if (checkpoints != NULL) {
            fm_checkpoints_restore(checkpoints, context, time, part->state);
            continue;
        }
        begin = from_start ? begin : MAX(begin, time);
        fm_state_clear(part->state, begin);
        fm_context_seek_trace(context, part->trace, NULL, begin);
    }
}

/* The minimum shift of all traces: pages show times of the recordings if possible, so that they
 * stay when other traces are opened. */
static uint64_t common_shift(const struct fm_viewer_set *set)
{
    uint64_t least = FM_TIME_INF;
    for (unsigned i = 0; i < set->count; i++) {
        const struct fm_trace_entry *file =
            fm_open_files_trace_of(set->recordings, set->parts[i].trace);
        least = MIN(least, file != NULL && file->aligned ? file->shift_ns : 0);
    }
    return set->count == 0 ? 0 : least;
}

static void set_span(struct fm_viewer_set *set)
{
    uint64_t start = FM_TIME_INF, end = 0, shift = common_shift(set);
    for (unsigned i = 0; i < set->count; i++) {
        start = MIN(start, set->parts[i].trace->start_time);
        end = MAX(end, set->parts[i].trace->end_time);
    }
    start = MAX(start, shift);
    end = MAX(end, start);
    bool calendar = start - shift >= CALENDAR_NS;
    set->origin = calendar ? start - start % SECOND_NS : shift;
    set->start = start - set->origin;
    set->end = end - set->origin + 1;
    g_assert(set->start < set->end);
}

static void keep_states(struct fm_viewer_set *set)
{
    set->permanent.event = fm_hooks_new();
    fm_hooks_add(set->permanent.event, keep_state, set, FM_HOOK_STATE);
    fm_engine_reader_set_permanent_hooks(set->reader, &set->permanent);
    fm_engine_reader_set_state(set->reader, restore, set);
    set_span(set);
}

/* --- clocks --- */

/* The earliest begin of time among traces of the set that know the wall clock, and those already
 * aligned with it. False when fewer than two know it, or one has been corrected otherwise. */
static bool find_base(const struct fm_viewer_set *set, int64_t *ret_base)
{
    unsigned count = 0;
    int64_t base = INT64_MAX, epoch;
    for (unsigned i = 0; i < set->count; i++) {
        const struct fm_trace *trace = set->parts[i].trace;
        const struct fm_trace_entry *file = fm_open_files_trace_of(set->recordings, trace);
        struct fm_correction correction = fm_trace_correction(trace);
        if (file == NULL || !fm_trace_epoch(trace, &epoch))
            continue;
        if (!file->aligned && (correction.drift != 1 || correction.offset_ns != 0))
            return false;
        base = MIN(base, epoch);
        count++;
    }
    for (unsigned i = 0; i < fm_open_files_count(set->recordings, &fm_trace_entry_class); i++) {
        const struct fm_trace_entry *file = fm_open_files_trace_at(set->recordings, i);
        if (file->aligned && fm_trace_epoch(file->base.trace, &epoch))
            base = MIN(base, epoch);
    }
    *ret_base = base;
    return count >= 2;
}

void fm_viewer_set_align(struct fm_viewer_set *set)
{
    int64_t base, epoch;
    if (set->count < 2 || !find_base(set, &base))
        return;
    for (unsigned i = 0; i < set->count; i++) {
        struct fm_trace_entry *file = fm_open_files_trace_of(set->recordings, set->parts[i].trace);
        if (file != NULL && fm_trace_epoch(file->base.trace, &epoch))
            file->aligned = true;
    }
    for (unsigned i = 0; i < fm_open_files_count(set->recordings, &fm_trace_entry_class); i++) {
        struct fm_trace_entry *file = fm_open_files_trace_at(set->recordings, i);
        if (file->aligned && fm_trace_epoch(file->base.trace, &epoch) && !file->base.trace->locked)
            fm_trace_entry_shift(file, (uint64_t)(epoch - base));
    }
}

bool fm_viewer_part_wall_clock(const struct fm_viewer_set *set, const struct fm_viewer_part *part,
                               int64_t *ret_ns)
{
    struct fm_correction correction = fm_trace_correction(part->trace);
    if (!fm_trace_epoch(part->trace, ret_ns) || correction.drift != 1 ||
        set->origin > INT64_MAX / 2)
        return false;
    *ret_ns += (int64_t)set->origin - (int64_t)correction.offset_ns;
    return true;
}

/* --- opening and closing --- */

static bool add_parts(struct fm_viewer_set *set, const struct fm_trace_query *query, GError **error)
{
    set->parts = g_new0(struct fm_viewer_part, query->files->len);
    for (unsigned i = 0; i < query->files->len; i++) {
        const char *name = query->files->pdata[i];
        const struct fm_trace_entry *file = fm_open_files_get_trace(set->recordings, name, error);
        if (file == NULL || !fm_engine_reader_add_trace(set->reader, file->base.path, error))
            return false;
        const struct fm_context *context = fm_engine_reader_context(set->reader);
        if (context->trace_count == set->count)
            continue; /* named twice */
        struct fm_trace *trace = context->traces[set->count].trace;
        set->parts[set->count++] =
            (struct fm_viewer_part){.trace = trace, .name = name, .state = fm_state_new(trace)};
    }
    return true;
}

bool fm_viewer_set_open(struct fm_open_files *recordings, const struct fm_trace_query *query,
                        struct fm_viewer_set **ret, GError **error)
{
    struct fm_viewer_set *set = g_new0(struct fm_viewer_set, 1);
    set->recordings = recordings;
    set->engine = fm_open_files_engine(recordings);
    set->reader = fm_engine_reader_new(set->engine);
    if (!add_parts(set, query, error)) {
        fm_viewer_set_free(set);
        return false;
    }
    keep_states(set);
    fm_viewer_set_align(set);
    set_span(set);
    *ret = set;
    return true;
}

struct fm_viewer_set *fm_viewer_set_clone(const struct fm_viewer_set *set)
{
    struct fm_viewer_set *clone = g_new0(struct fm_viewer_set, 1);
    clone->recordings = set->recordings;
    clone->engine = set->engine;
    clone->reader = fm_engine_reader_new(set->engine);
    clone->count = set->count;
    clone->parts = g_new0(struct fm_viewer_part, set->count);
    for (unsigned i = 0; i < set->count; i++)
        clone->parts[i] = (struct fm_viewer_part){.trace = set->parts[i].trace,
                                                  .name = set->parts[i].name,
                                                  .state = fm_state_new(set->parts[i].trace)};
    fm_engine_reader_share(clone->reader, set->reader);
    keep_states(clone);
    return clone;
}

void fm_viewer_set_free(struct fm_viewer_set *set)
{
    if (set == NULL)
        return;
    for (unsigned i = 0; i < set->count; i++) {
        fm_state_free(set->parts[i].state);
        g_free(set->parts[i].kept_name);
    }
    fm_engine_reader_free(set->reader);
    fm_hooks_free(set->permanent.event);
    g_free(set->parts);
    g_free(set);
}

void fm_viewer_set_keep_names(struct fm_viewer_set *set)
{
    g_assert(set->count == 0 || set->parts[0].kept_name == NULL);
    for (unsigned i = 0; i < set->count; i++)
        set->parts[i].name = set->parts[i].kept_name = g_strdup(set->parts[i].name);
}

void fm_viewer_set_renew(struct fm_viewer_set *set)
{
    set_span(set);
}

/* --- passes --- */

/* The part of the trace's span that passes which follow it have read; 1 when none does. */
static double followed(const struct fm_viewer_set *set, const struct fm_viewer_part *part)
{
    struct fm_trace *trace = part->trace;
    const struct fm_summary *summary = fm_viewer_part_summary(part);
    if (summary == NULL || !fm_background_follows(set->engine, trace))
        return 1;
    uint64_t known = fm_summary_known_until(summary);
    if (known >= trace->end_time)
        return 1;
    uint64_t read = known - MIN(known, trace->start_time);
    return (double)read / (double)(trace->end_time - MIN(trace->start_time, known));
}

bool fm_viewer_part_is_behind(const struct fm_viewer_set *set, const struct fm_viewer_part *part)
{
    return fm_open_files_unread(set->recordings, part->trace) > 0 || followed(set, part) < 1;
}

bool fm_viewer_set_is_behind(const struct fm_viewer_set *set)
{
    for (unsigned i = 0; i < set->count; i++) {
        if (fm_viewer_part_is_behind(set, &set->parts[i]))
            return true;
    }
    return false;
}

bool fm_viewer_set_precompute(struct fm_viewer_set *set)
{
    bool settled = !fm_viewer_set_is_behind(set);
    for (unsigned i = 0; i < set->count; i++) {
        for (unsigned pass = 0; pass < TRACE_PASSES; pass++) {
            enum fm_request_result result =
                fm_background_request(set->engine, set->parts[i].trace, fm_trace_pass_names[pass]);
            settled &= result == FM_REQUEST_READY || result == FM_REQUEST_FAILED ||
                       result == FM_REQUEST_NO_MODULE;
        }
    }
    return settled;
}

bool fm_viewer_set_is_ready(const struct fm_viewer_set *set, unsigned pass)
{
    g_assert(pass < TRACE_PASSES);
    for (unsigned i = 0; i < set->count; i++) {
        if (!fm_background_is_ready(set->parts[i].trace, fm_trace_pass_names[pass]))
            return false;
    }
    return true;
}

static bool is_wanted(const struct fm_viewer_set *set, struct fm_trace *trace)
{
    for (unsigned pass = 0; pass < TRACE_PASSES; pass++) {
        if (fm_background_is_in_progress(trace, fm_trace_pass_names[pass]) ||
            fm_background_find(set->engine, trace, fm_trace_pass_names[pass]))
            return true;
    }
    return fm_background_is_in_progress(trace, "segments") ||
           fm_background_find(set->engine, trace, "segments");
}

double fm_viewer_set_progress(const struct fm_viewer_set *set)
{
    double sum = 0;
    for (unsigned i = 0; i < set->count; i++) {
        struct fm_trace *trace = set->parts[i].trace;
        double extent = (double)(fm_trace_extent(trace) + fm_trace_pending(trace));
        double unread = (double)fm_open_files_unread(set->recordings, trace);
        double known = unread > 0 ? CLAMP(1 - unread / extent, 0.0, 0.99) : 1;
        double read = is_wanted(set, trace)
                          ? CLAMP(fm_background_progress(set->engine, trace), 0.0, 0.99)
                          : 1;
        double follows = followed(set, &set->parts[i]);
        sum += MIN(read, MIN(known, follows < 1 ? MIN(follows, 0.99) : 1));
    }
    return set->count == 0 ? 1 : sum / set->count;
}

uint64_t fm_viewer_part_bytes(const struct fm_viewer_part *part)
{
    struct stat status;
    return stat(part->trace->path, &status) == 0 && S_ISREG(status.st_mode)
               ? (uint64_t)status.st_size
               : 0;
}

uint64_t fm_viewer_set_bytes(const struct fm_viewer_set *set)
{
    uint64_t bytes = 0;
    for (unsigned i = 0; i < set->count; i++)
        bytes += fm_viewer_part_bytes(&set->parts[i]);
    return bytes;
}

struct fm_summary *fm_viewer_part_summary(const struct fm_viewer_part *part)
{
    return fm_background_is_ready(part->trace, "summary")
               ? fm_attributes_get(part->trace->attributes, "summary/summary")
               : NULL;
}

const struct fm_state *fm_viewer_part_summary_state(const struct fm_viewer_part *part)
{
    return fm_attributes_get(part->trace->attributes, "summary/state");
}

struct fm_statistics *fm_viewer_part_statistics(const struct fm_viewer_part *part)
{
    return fm_background_is_ready(part->trace, "statistics")
               ? fm_attributes_get(part->trace->attributes, "statistics/statistics")
               : NULL;
}

/* --- facts --- */

void fm_viewer_set_window(const struct fm_viewer_set *set, const struct fm_trace_query *query,
                          uint64_t *ret_start, uint64_t *ret_end)
{
    uint64_t start = query->start == FM_TRACE_TIME_UNSET ? set->start : query->start;
    uint64_t end = query->end == FM_TRACE_TIME_UNSET ? set->end : query->end;
    start = CLAMP(start, set->start, set->end - 1);
    end = CLAMP(end, start + 1, set->end);
    *ret_start = set->origin + start;
    *ret_end = set->origin + end;
    g_assert(*ret_start < *ret_end);
}

char *fm_viewer_set_damage(const struct fm_viewer_set *set)
{
    GString *all = g_string_new(NULL);
    for (unsigned i = 0; i < set->count; i++) {
        g_autofree char *damage = fm_trace_damage(set->parts[i].trace);
        if (damage == NULL || damage[0] == '\0')
            continue;
        if (all->len > 0 && all->str[all->len - 1] != '\n')
            g_string_append_c(all, '\n');
        g_string_append(all, damage);
    }
    if (all->len == 0)
        return g_string_free(all, TRUE);
    return g_string_free(all, FALSE);
}

bool fm_viewer_set_grows(const struct fm_viewer_set *set)
{
    for (unsigned i = 0; i < set->count; i++) {
        if (fm_trace_grows(set->parts[i].trace))
            return true;
    }
    return false;
}

/* --- positions --- */

char *fm_viewer_position_print(const struct fm_position *position)
{
    GString *out = g_string_new(NULL);
    for (unsigned i = 0; i < position->count; i++) {
        if (i > 0)
            g_string_append_c(out, '_');
        if (position->places[i].time == FM_TIME_INF)
            g_string_append_c(out, 'x');
        else
            g_string_append_printf(out, "%" G_GINT64_MODIFIER "x.%" G_GINT64_MODIFIER "x",
                                   (guint64)position->places[i].time,
                                   (guint64)position->places[i].location);
    }
    return g_string_free(out, FALSE);
}

static bool parse_place(const char *text, struct fm_place *ret)
{
    if (strcmp(text, "x") == 0) {
        *ret = (struct fm_place){FM_TIME_INF, 0};
        return true;
    }
    char *end;
    if (!g_ascii_isxdigit(text[0]))
        return false;
    ret->time = g_ascii_strtoull(text, &end, 16);
    if (*end != '.' || !g_ascii_isxdigit(end[1]))
        return false;
    ret->location = g_ascii_strtoull(end + 1, &end, 16);
    return *end == '\0';
}

struct fm_position *fm_viewer_position_parse(const struct fm_viewer_set *set, const char *text,
                                             GError **error)
{
    unsigned wanted = 0;
    for (unsigned i = 0; i < set->count; i++)
        wanted += set->parts[i].trace->tracefiles->len;
    g_auto(GStrv) places = g_strsplit(text, "_", 0);
    unsigned count = g_strv_length(places);
    struct fm_position *position =
        g_malloc(sizeof *position + (size_t)count * sizeof position->places[0]);
    position->count = count;
    position->time = FM_TIME_INF;
    bool good = count == wanted;
    for (unsigned i = 0; good && i < count; i++) {
        good = parse_place(places[i], &position->places[i]);
        if (good)
            position->time = MIN(position->time, position->places[i].time);
    }
    if (good)
        return position;
    g_set_error(error, FM_ERROR, FM_ERROR_USAGE,
                "'%.100s' is not a position in these traces, expected %u places", text, wanted);
    fm_position_free(position);
    return NULL;
}

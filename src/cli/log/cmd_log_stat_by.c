/* SPDX-License-Identifier: Apache-2.0 */
/* `fathom log stat --by WORD`: the statistics tree, computed by the engine as the viewers have it.
 */
#include <stdio.h>

#include "base/error.h"
#include "cli/log/cmd_log.h"
#include "cli/log/cmd_log_trace.h"
#include "pages/trace/statistics.h"
#include "engine/trace_modules.h"
#include "engine/reader_states.h"
#include "trace/format/open.h"

static struct fm_trace *open_trace(const char *path, const char *identity, void *user,
                                   GError **error)
{
    (void)user;
    return fm_trace_open(path, identity, error);
}

/* --- an interval: an ad hoc request of a reader --- */

struct interval {
    struct fm_reader_states *states;
    struct fm_trace *trace;
    struct fm_state *state;
    struct fm_statistics *statistics;
    uint64_t start, end;
    bool done;
};

static bool begin_interval(void *hook_data, void *call_data)
{
    struct interval *interval = ((struct fm_events_request *)hook_data)->viewer_data;
    (void)call_data;
    interval->state = fm_reader_states_of(interval->states, interval->trace);
    interval->statistics = fm_statistics_new(interval->state);
    fm_statistics_set_interval(interval->statistics, interval->start, interval->end);
    fm_statistics_begin(interval->statistics);
    return false;
}

static bool begin_chunk(void *hook_data, void *call_data)
{
    struct interval *interval = ((struct fm_events_request *)hook_data)->viewer_data;
    (void)call_data;
    fm_state_add_observer(interval->state, fm_statistics_observer(interval->statistics));
    return false;
}

static bool count_event(void *hook_data, void *call_data)
{
    struct interval *interval = ((struct fm_events_request *)hook_data)->viewer_data;
    return fm_statistics_hook(interval->statistics, call_data);
}

static bool end_chunk(void *hook_data, void *call_data)
{
    struct interval *interval = ((struct fm_events_request *)hook_data)->viewer_data;
    (void)call_data;
    fm_state_remove_observer(interval->state, fm_statistics_observer(interval->statistics));
    return false;
}

static bool end_interval(void *hook_data, void *call_data)
{
    struct interval *interval = ((struct fm_events_request *)hook_data)->viewer_data;
    (void)call_data;
    fm_state_flush(interval->state, MIN(interval->end, interval->trace->end_time),
                   fm_statistics_observer(interval->statistics));
    interval->done = true;
    return false;
}

static struct fm_hooks *one_hook(fm_hook_function *function, void *data)
{
    struct fm_hooks *hooks = fm_hooks_new();
    fm_hooks_add(hooks, function, data, FM_HOOK_DEFAULT);
    return hooks;
}

/* With saved states, reading begins at the interval; otherwise at the begin of the trace, which
 * would have to be read in any case. */
static void request_interval(struct fm_engine_reader *reader, struct interval *interval)
{
    struct fm_events_request *request = fm_events_request_new(interval);
    request->viewer_data = interval;
    request->start_time =
        fm_engine_load_states(interval->trace) ? interval->start : interval->trace->start_time;
    request->end_time = interval->end;
    request->before_request = one_hook(begin_interval, request);
    request->after_request = one_hook(end_interval, request);
    request->chunk.before_traceset = one_hook(begin_chunk, request);
    request->chunk.event = one_hook(count_event, request);
    request->chunk.after_traceset = one_hook(end_chunk, request);
    if (!fm_engine_reader_request(reader, request))
        interval->done = true;
}

static bool compute_interval(struct fm_engine *engine, struct interval *interval, const char *path,
                             struct fm_engine_reader **ret_reader, GError **error)
{
    struct fm_engine_reader *reader = *ret_reader = fm_engine_reader_new(engine);
    interval->states = fm_reader_states_new(reader);
    if (!fm_engine_reader_add_trace(reader, path, error))
        return false;
    interval->trace = fm_engine_reader_context(reader)->traces[0].trace;
    unsigned generation = interval->trace->generation;
    uint64_t old_end = interval->trace->end_time;
    if (!fm_cmd_log_trace_read_whole(interval->trace, error))
        return false;
    bool replaced = interval->trace->generation != generation;
    fm_context_renew(fm_engine_reader_context(reader), interval->trace,
                     replaced ? FM_TIME_INF : old_end);
    request_interval(reader, interval);
    while (!interval->done && fm_engine_step(engine))
        ;
    return true;
}

/* --- all of it: the computation "statistics" --- */

static struct fm_statistics *compute_all(struct fm_engine *engine, struct fm_trace *trace,
                                         GError **error)
{
    struct fm_progress progress;
    fm_console_progress_begin(&progress);
    bool done = fm_background_run(engine, trace, "statistics", &progress, error);
    fm_console_progress_end(&progress);
    return done ? fm_attributes_get(trace->attributes, "statistics/statistics") : NULL;
}

/* --- output --- */

static bool print(struct fm_statistics *statistics, const struct fm_log_stat_by *options,
                  uint64_t start, uint64_t end, GError **error)
{
    struct fm_display *display = fm_trace_page_statistics_page(fm_statistics_root(statistics),
                                                               options->by, start, end, error);
    if (display == NULL)
        return false;
    struct fm_preferences preferences;
    fm_preferences_default(&preferences, true, true);
    g_autoptr(GString) out = g_string_new(NULL);
    if (options->json)
        fm_json_write(display, &preferences, out);
    else if (options->csv)
        fm_csv_write(display, &preferences, out);
    else
        fm_text_write(display, &preferences, &(struct fm_text_options){0}, out);
    fwrite(out->str, 1, out->len, stdout);
    fm_display_free(display);
    return true;
}

/* Reports what could not be read, after the results. */
static int end_status(const struct fm_trace *trace)
{
    g_autofree char *damage = fm_trace_damage(trace);
    if (damage == NULL || *damage == '\0')
        return FM_EXIT_DONE;
    fm_console_print_error("%s", damage);
    return FM_EXIT_FAILED;
}

/* Finds the part of the interval that the trace has. False: none. */
static bool find_span(const char *path, const struct interval *interval, uint64_t *ret_start,
                      uint64_t *ret_end, GError **error)
{
    *ret_start = MAX(interval->start, interval->trace->start_time);
    *ret_end = MIN(interval->end, interval->trace->end_time);
    if (*ret_start <= *ret_end)
        return true;
    g_set_error(error, FM_ERROR, FM_ERROR_USAGE,
                "%s: no event lies between these times, expected times from %.9f s to %.9f s", path,
                (double)interval->trace->start_time / 1e9, (double)interval->trace->end_time / 1e9);
    return false;
}

int fm_cmd_log_stat_by(const char *path, const struct fm_log_stat_by *options)
{
    GError *error = NULL;
    struct fm_engine *engine = fm_engine_new(open_trace, NULL);
    struct fm_engine_reader *reader = NULL;
    struct interval interval = {.start = options->from_ns, .end = options->to_ns};
    struct fm_statistics *statistics = NULL;
    bool whole = options->from_ns == 0 && options->to_ns == FM_TIME_INF;
    if (fm_engine_modules_load(engine, &error)) {
        if (whole) {
            interval.trace = fm_engine_open(engine, path, &error);
            if (interval.trace != NULL && fm_cmd_log_trace_read_whole(interval.trace, &error))
                statistics = compute_all(engine, interval.trace, &error);
        } else if (compute_interval(engine, &interval, path, &reader, &error)) {
            statistics = interval.statistics;
        }
    }
    int status = FM_EXIT_DONE;
    uint64_t start, end;
    if (statistics == NULL && error == NULL)
        g_set_error(&error, FM_ERROR, FM_ERROR_NOT_FOUND, "%s: nothing could be read", path);
    if (statistics != NULL && find_span(path, &interval, &start, &end, &error) &&
        print(statistics, options, start, end, &error))
        status = end_status(interval.trace);
    else if (error != NULL)
        status = fm_console_fail("log stat", error);
    if (!whole)
        fm_statistics_free(interval.statistics);
    fm_engine_reader_free(reader);
    fm_reader_states_free(interval.states);
    fm_engine_free(engine);
    return status;
}

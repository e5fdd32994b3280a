/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "exchange/trace/internal.h"

const struct fm_trace_export_format fm_trace_export_formats[] = {
    {"chrome", "trace.json", "Chrome's trace events: chrome://tracing, speedscope, Perfetto",
     fm_chrome_begin, fm_chrome_end, &fm_chrome_observer},
    {"perfetto", "perfetto-trace", "Perfetto's own: ui.perfetto.dev", fm_perfetto_begin,
     fm_perfetto_end, &fm_perfetto_observer},
    {0},
};

const struct fm_trace_export_format *fm_trace_export_format_named(const char *name)
{
    for (const struct fm_trace_export_format *f = fm_trace_export_formats; f->name != NULL; f++) {
        if (strcmp(f->name, name) == 0)
            return f;
    }
    return NULL;
}

struct fm_trace_export *fm_trace_export_new(const struct fm_trace_export_format *format,
                                            struct fm_state *state, struct fm_writer *out)
{
    g_assert(format != NULL && state != NULL && out != NULL);
    struct fm_trace_export *x = g_new0(struct fm_trace_export, 1);
    x->format = format;
    x->state = state;
    x->trace = fm_state_trace(state);
    x->out = out;
    x->text = g_string_new(NULL);
    x->observer = *format->observer;
    x->observer.user = x;
    format->begin(x);
    fm_state_add_observer(state, &x->observer);
    return x;
}

void fm_trace_export_finish(struct fm_trace_export *x)
{
    fm_state_flush(x->state, x->trace->end_time, &x->observer);
    fm_state_remove_observer(x->state, &x->observer);
    x->format->end(x);
    g_string_free(x->text, TRUE);
    g_free(x);
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "exchange/export/internal.h"

#include <string.h>

#include "base/error.h"

const struct fm_export_format fm_export_formats[] = {
    {"pprof", "pb.gz", "Go's pprof and tools that read its files: all measures, full contexts",
     true, fm_export_pprof},
    {"callgrind", "callgrind",
     "KCachegrind, callgrind_annotate: calls and costs from caller to callee", false,
     fm_export_callgrind},
    {"speedscope", "speedscope.json", "speedscope.app: a flame graph for each thread and measure",
     true, fm_export_speedscope},
    {"firefox", "firefox.json.gz", "profiler.firefox.com: a track for each thread and measure",
     true, fm_export_firefox},
    {"folded", "folded", "FlameGraph and others: one line for each stack, one measure", true,
     fm_export_folded},
    {"otlp", "otlp.pb", "OpenTelemetry profiles (format not final yet): all measures", true,
     fm_export_otlp},
    {"lcov", "info", "lcov, genhtml: how often lines ran (coverage grade)", false, fm_export_lcov},
    {"gcov", "gcov.json.gz", "gcov's JSON, for gcovr and others (coverage grade)", false,
     fm_export_gcov},
    {NULL, NULL, NULL, false, NULL},
};

const struct fm_export_format *fm_export_format_named(const char *name)
{
    const struct fm_export_format *format = fm_export_formats;
    while (format->name != NULL && strcmp(format->name, name) != 0)
        format++;
    return format->name != NULL ? format : NULL;
}

bool fm_export(const struct fm_export_format *format, const struct fm_analysis *a,
               const struct fm_export_options *options, struct fm_writer *out, GPtrArray *notes,
               GError **error)
{
    g_assert(format != NULL && a != NULL && options != NULL && out != NULL && notes != NULL);
    if (format->stacks && fm_profile_is(a->profile, FM_NATURE_ARCS)) {
        g_set_error(error, FM_ERROR, FM_ERROR_UNAVAILABLE,
                    "%s needs stacks, but the profile has calls by function and caller, not by "
                    "context: use callgrind",
                    format->name);
        return false;
    }
    /* Notes of the recording also apply to exports of it. */
    for (uint32_t i = 0; i < a->profile->run_info.note_count; i++)
        fm_export_note(notes, "%s", a->profile->run_info.notes[i]);
    return format->write(a, options, out, notes, error);
}

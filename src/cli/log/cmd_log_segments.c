/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/log/cmd_log_segments.h"

#include <stdio.h>

#include "base/error.h"
#include "cli/log/cmd_log_trace.h"

static struct fm_trace *open_trace(const char *path, const char *identity, void *user,
                                   GError **error)
{
    (void)user;
    return fm_trace_open(path, identity, error);
}

bool fm_cmd_log_segments_open(struct fm_cmd_log_segments *reading, const char *path, GError **error)
{
    *reading = (struct fm_cmd_log_segments){.engine = fm_engine_new(open_trace, NULL)};
    if (!fm_engine_modules_load(reading->engine, error))
        return false;
    reading->trace = fm_engine_open(reading->engine, path, error);
    if (reading->trace == NULL || !fm_cmd_log_trace_read_whole(reading->trace, error))
        return false;
    struct fm_progress progress;
    fm_console_progress_begin(&progress);
    bool done = fm_background_run(reading->engine, reading->trace, "segments", &progress, error);
    fm_console_progress_end(&progress);
    if (!done)
        return false;
    reading->segments = fm_attributes_get(reading->trace->attributes, "segments/segments");
    if (fm_segments_problem(reading->segments) == NULL)
        return true;
    g_set_error(error, FM_ERROR, FM_ERROR_IO, "%s: %s", path,
                fm_segments_problem(reading->segments));
    return false;
}

int fm_cmd_log_segments_done(struct fm_cmd_log_segments *reading)
{
    g_autofree char *damage = reading->trace == NULL ? NULL : fm_trace_damage(reading->trace);
    int status = FM_EXIT_DONE;
    if (damage != NULL && *damage != '\0') {
        fm_console_print_error("%s", damage);
        status = FM_EXIT_FAILED;
    }
    fm_engine_free(reading->engine);
    return status;
}

GByteArray *fm_cmd_log_segments_lanes(const struct fm_cmd_log_segments *reading,
                                      char *const *patterns, GError **error)
{
    uint32_t count = fm_segments_lane_count(reading->segments);
    GByteArray *chosen = g_byte_array_new();
    bool any = false;
    g_byte_array_set_size(chosen, count);
    for (uint32_t i = 0; i < count; i++) {
        const struct fm_segments_lane *lane = fm_segments_lane(reading->segments, i);
        const char *name = fm_trace_value_name(reading->trace, lane->name);
        chosen->data[i] = 0;
        for (char *const *pattern = patterns; *pattern != NULL; pattern++)
            if (g_pattern_match_simple(*pattern, name))
                chosen->data[i] = 1;
        any |= chosen->data[i] != 0;
    }
    if (any)
        return chosen;
    g_byte_array_unref(chosen);
    g_set_error(error, FM_ERROR, FM_ERROR_NOT_FOUND,
                "no lane has a name like '%s'; `fathom log latency --by lane` lists them",
                patterns[0]);
    return NULL;
}

void fm_cmd_log_print_display(struct fm_display *display, bool json, bool csv)
{
    struct fm_preferences preferences;
    fm_preferences_default(&preferences, true, true);
    g_autoptr(GString) out = g_string_new(NULL);
    if (json)
        fm_json_write(display, &preferences, out);
    else if (csv)
        fm_csv_write(display, &preferences, out);
    else
        fm_text_write(display, &preferences, &(struct fm_text_options){0}, out);
    fwrite(out->str, 1, out->len, stdout);
    fm_display_free(display);
}

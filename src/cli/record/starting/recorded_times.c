/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/record/starting/recorded_times.h"

#include <glib.h>
#include <string.h>

#include "cli/cli.h"

bool fm_recorded_duration(const char *text, uint64_t *ret_ns)
{
    static const struct {
        const char *unit;
        double ns;
    } units[] = {{"", 1e9}, {"s", 1e9}, {"ms", 1e6}, {"us", 1e3}, {"m", 60e9}, {"h", 3600e9}};
    char *end;
    double number = g_ascii_strtod(text, &end);
    for (size_t i = 0; i < G_N_ELEMENTS(units); i++) {
        if (end == text || strcmp(end, units[i].unit) != 0 || !(number >= 0) ||
            number * units[i].ns > 1e18)
            continue;
        *ret_ns = (uint64_t)(number * units[i].ns);
        return true;
    }
    return false;
}

static void set_moment(const char *variable, uint64_t ns)
{
    g_autofree char *text = g_strdup_printf("%" G_GUINT64_FORMAT, (guint64)ns);
    g_setenv(variable, text, TRUE);
}

int fm_recorded_times_set(const struct fm_recorded_times *times)
{
    uint64_t after = 0, for_ = 0;
    if (times->after != NULL && !fm_recorded_duration(times->after, &after))
        return fm_console_usage("record", "--after=%s: expected a time such as 2s or 500ms",
                                times->after);
    if (times->for_ != NULL && (!fm_recorded_duration(times->for_, &for_) || for_ == 0))
        return fm_console_usage("record", "--for=%s: expected a time such as 10s or 500ms",
                                times->for_);
    if (times->begin_stopped && (times->after != NULL || times->for_ != NULL))
        return fm_console_usage("record", "--begin-stopped cannot be used with --after or --for");
    uint64_t now = (uint64_t)g_get_monotonic_time() * 1000;
    if (times->begin_stopped)
        g_setenv("FATHOM_RECORDING", "off", TRUE);
    if (times->after != NULL)
        set_moment("FATHOM_START_AT", now + after);
    if (times->for_ != NULL)
        set_moment("FATHOM_STOP_AT", now + after + for_);
    return -1;
}

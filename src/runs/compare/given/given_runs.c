/* SPDX-License-Identifier: Apache-2.0 */
#include "runs/compare/given/given_runs.h"

#include "base/console/say.h"
#include "exchange/hint/hint.h"
#include "runs/compare/runs.h"
#include "runs/compare/timing.h"
#include "display/display.h"

void fm_given_runs_init(struct fm_given_runs *ret)
{
    *ret = (struct fm_given_runs){
        .paths = g_ptr_array_new(),
        .profiles = g_ptr_array_new_with_free_func((GDestroyNotify)fm_profile_free)};
}

void fm_given_runs_done(struct fm_given_runs *runs)
{
    g_ptr_array_unref(runs->paths);
    g_ptr_array_unref(runs->profiles);
}

static void choose_middle(struct fm_given_runs *runs, const char *by)
{
    const struct fm_profile *first = runs->profiles->pdata[0];
    g_autofree double *amounts = g_new0(double, runs->profiles->len);
    if (by == NULL)
        by = fm_profile_knows(first, FM_EXITS) ? "calls" : first->measures[FM_QUANTA].name;
    for (guint i = 0; i < runs->profiles->len; i++) {
        if (!fm_runs_total(runs->profiles->pdata[i], by, &amounts[i]))
            return;
    }
    runs->middle = fm_runs_middle(amounts, runs->profiles->len);
}

/* A run's time, or how many samples where no clock tells what one is. */
static char *amount_of(const struct fm_profile *run)
{
    double amount;
    fm_timing_seconds(run, &amount);
    if (run->ticks_per_second > 0)
        return fm_format_time(amount);
    g_autofree char *count = fm_format_int((int64_t)amount);
    return g_strdup_printf("%s %s", count, run->measures[FM_QUANTA].name);
}

/* Leaves out runs whose time is far from the others': something else on the machine disturbed
 * them. */
static void leave_out(struct fm_given_runs *runs, GString *told)
{
    g_autofree bool *disturbed = g_new0(bool, runs->profiles->len);
    if (fm_timing_disturbed((void *)runs->profiles->pdata, runs->profiles->len, disturbed) == 0)
        return;
    g_string_append_printf(
        told,
        "%sLeft out, as their time is far from that of the other runs of their side "
        "(--all-runs keeps them):",
        told->len > 0 ? " " : "");
    for (guint i = runs->profiles->len; i-- > 0;) {
        if (!disturbed[i])
            continue;
        g_autofree char *amount = amount_of(runs->profiles->pdata[i]);
        g_string_append_printf(told, "%s %s (%s)", g_str_has_suffix(told->str, ":") ? "" : ",",
                               (const char *)runs->paths->pdata[i], amount);
        g_ptr_array_remove_index(runs->profiles, i);
        g_ptr_array_remove_index(runs->paths, i);
    }
    g_string_append_c(told, '.');
}

int fm_given_runs_read(struct fm_given_runs *runs, const char *command, const char *by,
                       GString *left_out)
{
    for (guint i = 0; i < runs->paths->len; i++) {
        struct fm_progress progress;
        struct fm_profile *profile;
        GError *error = NULL;
        fm_console_progress_begin(&progress);
        bool read = fm_profile_read(runs->paths->pdata[i], &progress, &profile, &error);
        fm_console_progress_end(&progress);
        if (!read)
            return fm_hint_fail_file(command, runs->paths->pdata[i], FM_FILE_PROFILE, error);
        g_ptr_array_add(runs->profiles, profile);
    }
    if (left_out != NULL)
        leave_out(runs, left_out);
    choose_middle(runs, by);
    return -1;
}

struct fm_compare_runs fm_given_runs_compared(const struct fm_given_runs *runs)
{
    return (struct fm_compare_runs){.profiles = (void *)runs->profiles->pdata,
                                    .count = runs->profiles->len,
                                    .middle = runs->middle};
}

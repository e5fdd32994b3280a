/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/check_limits.h"

#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "cli/cli.h"
#include "exchange/hint/hint.h"
#include "base/console/output.h"
#include "cli/page_output.h"
#include "runs/compare/given/given_runs.h"
#include "pages/compare/gate.h"

static bool has_wish(const struct fm_limits_wish *wish)
{
    return wish->files != NULL || wish->limits != NULL;
}

/* The default limits: total counts that are exact. If a profile has none, as with samples of
 * another tool, then the sampled measure. Measures that one of the two profiles lacks are left
 * out. */
static bool add_ordinary_limits(struct fm_limits *limits, const struct fm_profile *before,
                                const struct fm_profile *after, GError **error)
{
    static const struct {
        enum fm_measure_id measure;
        const char *limit;
    } exact[] = {{FM_EXITS, "calls total <= +0 %\n"},
                 {FM_ALLOCS, "allocations total <= +0 %\n"},
                 {FM_WORDS, "bytes total <= +0 %\n"}};
    g_autoptr(GString) text = g_string_new(NULL);
    for (unsigned i = 0; i < G_N_ELEMENTS(exact); i++) {
        if (fm_profile_knows(after, exact[i].measure) &&
            (before == NULL || fm_profile_knows(before, exact[i].measure)))
            g_string_append(text, exact[i].limit);
    }
    if (text->len == 0)
        g_string_append_printf(text, "%s total <= +0 %%",
                               after->ticks_per_second > 0 ? "time"
                                                           : after->measures[FM_QUANTA].name);
    return fm_limits_parse(limits, "", text->str, text->len, error);
}

static bool read_limits(const struct fm_limits_wish *wish, struct fm_limits *limits, GError **error)
{
    for (unsigned i = 0; wish->files != NULL && wish->files[i] != NULL; i++) {
        if (!fm_limits_read(limits, wish->files[i], error))
            return false;
    }
    for (unsigned i = 0; wish->limits != NULL && wish->limits[i] != NULL; i++) {
        const char *text = wish->limits[i];
        if (!fm_limits_parse(limits, "", text, strlen(text), error))
            return false;
    }
    if (limits->all->len > 0 || !has_wish(wish))
        return true;
    g_set_error(error, FM_ERROR, FM_ERROR_USAGE, "expected a limit, found none");
    return false;
}

static bool write_to(const char *path, const GString *text, GError **error)
{
    struct fm_writer *writer;
    if (!fm_console_output_begin(path, &writer, error))
        return false;
    fm_writer_bytes(writer, text->str, text->len);
    return fm_console_output_finish(path, writer, error);
}

static bool write_documents(const struct fm_limits_wish *wish, const struct fm_gate *gate,
                            GError **error)
{
    const struct {
        const char *path;
        void (*write)(const struct fm_gate *gate, GString *out);
    } documents[] = {{wish->junit, fm_gate_write_junit},
                     {wish->sarif, fm_gate_write_sarif},
                     {wish->markdown, fm_gate_write_markdown}};
    for (size_t i = 0; i < G_N_ELEMENTS(documents); i++) {
        g_autoptr(GString) text = g_string_new(NULL);
        if (documents[i].path == NULL)
            continue;
        documents[i].write(gate, text);
        if (!write_to(documents[i].path, text, error))
            return false;
    }
    return true;
}

static bool takes_stdout(const char *path)
{
    return g_strcmp0(path, "-") == 0;
}

static int show(const struct fm_limits_wish *wish, const struct fm_gate *gate)
{
    GError *error = NULL;
    if (!write_documents(wish, gate, &error)) {
        fm_console_fail("check", error);
        return FM_EXIT_USAGE;
    }
    int status = FM_EXIT_DONE;
    if (!takes_stdout(wish->junit) && !takes_stdout(wish->sarif) && !takes_stdout(wish->markdown)) {
        const struct fm_page_output output = {
            .command = "check", .json = wish->json, .width = -1, .no_pager = true};
        g_autoptr(FmDisplay) page = fm_gate_page(gate);
        status = fm_page_output_display(&output, page, true);
    }
    if (status != FM_EXIT_DONE || gate->count[FM_VERDICT_ERROR] > 0)
        return FM_EXIT_USAGE;
    return gate->count[FM_VERDICT_BROKEN] > 0 ? FM_EXIT_FAILED : FM_EXIT_DONE;
}

static bool read_profile(const char *path, struct fm_profile **ret)
{
    GError *error = NULL;
    struct fm_progress progress;
    if (path == NULL)
        return true;
    fm_console_progress_begin(&progress);
    bool done = fm_profile_read(path, &progress, ret, &error);
    fm_console_progress_end(&progress);
    if (!done)
        fm_hint_fail_file("check", path, FM_FILE_PROFILE, error);
    return done;
}

static bool take_runs(struct fm_given_runs *runs, char *const *paths)
{
    for (; paths != NULL && *paths != NULL; paths++)
        g_ptr_array_add(runs->paths, *paths);
    return runs->paths->len == 0 || fm_given_runs_read(runs, "check", NULL, NULL) < 0;
}

static int judge_runs(const struct fm_limits_wish *wish, struct fm_limits *limits,
                      const struct fm_given_runs *before, const struct fm_given_runs *after)
{
    g_autoptr(FmProfile) again = NULL;
    GError *error = NULL;
    struct fm_gate gate;
    struct fm_compare_runs sides[FM_SIDES] = {[FM_AFTER] = fm_given_runs_compared(after)};
    bool has_base = before->profiles->len > 0;
    const struct fm_profile *of[FM_SIDES] = {NULL, after->profiles->pdata[after->middle]};
    if (has_base) {
        sides[FM_BEFORE] = fm_given_runs_compared(before);
        of[FM_BEFORE] = before->profiles->pdata[before->middle];
    }
    if (!read_profile(wish->again, &again))
        return FM_EXIT_USAGE;
    const struct fm_gate_options options = {
        .names = {has_base ? before->paths->pdata[before->middle] : NULL,
                  after->paths->pdata[after->middle]},
        .again = again,
        .looks = (unsigned)wish->looks,
        .strict = wish->strict};
    if ((!has_wish(wish) && !add_ordinary_limits(limits, of[FM_BEFORE], of[FM_AFTER], &error)) ||
        !fm_gate_judge(limits, has_base ? &sides[FM_BEFORE] : NULL, &sides[FM_AFTER], &options,
                       &gate, &error)) {
        fm_console_fail("check", error);
        return FM_EXIT_USAGE;
    }
    int status = show(wish, &gate);
    fm_gate_done(&gate);
    return status;
}

static int judge(const struct fm_limits_wish *wish, struct fm_limits *limits, char *const *paths)
{
    struct fm_given_runs before, after;
    int status = FM_EXIT_USAGE;
    g_assert(paths[0] != NULL && (has_wish(wish) || wish->against != NULL));
    fm_given_runs_init(&before);
    fm_given_runs_init(&after);
    if (take_runs(&before, wish->against) && take_runs(&after, paths))
        status = judge_runs(wish, limits, &before, &after);
    fm_given_runs_done(&before);
    fm_given_runs_done(&after);
    return status;
}

int fm_check_limits(const struct fm_limits_wish *wish, char *const *paths)
{
    struct fm_limits limits;
    GError *error = NULL;
    int status = FM_EXIT_USAGE;
    fm_limits_init(&limits);
    if (read_limits(wish, &limits, &error))
        status = judge(wish, &limits, paths);
    else
        fm_console_fail("check", error);
    fm_limits_done(&limits);
    return status;
}

void fm_limits_wish_done(struct fm_limits_wish *wish)
{
    g_strfreev(wish->against);
    g_free(wish->again);
    g_strfreev(wish->files);
    g_strfreev(wish->limits);
    g_free(wish->junit);
    g_free(wish->sarif);
    g_free(wish->markdown);
    *wish = (struct fm_limits_wish){0};
}

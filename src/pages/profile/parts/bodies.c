/* SPDX-License-Identifier: Apache-2.0 */
/* Bodies of Mercury procedures as pages show them. */
#include "pages/profile/parts/bodies.h"

#include <string.h>

#include "base/error.h"
#include "pages/profile/parts/page.h"

#define BODY_LINES_ON_PROC_PAGE 1500u

struct fm_bodies *fm_page_bodies(const struct fm_page *page)
{
    return fm_bodies_new(page->analysis, page->recording->procrep,
                         page->recording->procrep_message);
}

/* Says how to get data that the page lacks; "" if there is no way. */
static const char *way_out(const char *lacking)
{
    static const struct {
        const char *lacking, *way_out;
    } ways[] = {
        {"There is no readable procedure representation information file.",
         " The profiled program writes it beside the profile when it ends, NAME.procrep beside "
         "NAME.data: they belong together."},
        {"Error reading procedure representation",
         ": take NAME.procrep again from where the program wrote it"},
        {"Cannot find procedure representation", ": foreign code and some procedures made by the "
                                                 "compiler have none, nor has what is not in "
                                                 "NAME.procrep, which may be of another build"},
    };
    for (size_t i = 0; i < G_N_ELEMENTS(ways); i++) {
        if (strstr(lacking, ways[i].lacking) != NULL)
            return ways[i].way_out;
    }
    return "";
}

bool fm_page_fail(const struct fm_page *page, GError **error)
{
    if (error == NULL || *error == NULL)
        return false;
    bool lacks = g_error_matches(*error, FM_ERROR, FM_ERROR_UNAVAILABLE);
    char *text = g_strdup_printf("%s: %s%s%s", page->recording->name,
                                 lacks ? "not available for this file: " : "", (*error)->message,
                                 lacks ? way_out((*error)->message) : "");
    g_free((*error)->message);
    (*error)->message = text;
    return false;
}

bool fm_page_check_bodies(const struct fm_page *page, GError **error)
{
    const struct fm_open_profile *recording = page->recording;
    if (page->profile->flavour == FM_FLAVOUR_C || recording->procrep != NULL)
        return true;
    g_set_error(error, FM_ERROR, FM_ERROR_UNAVAILABLE, "%s%s",
                recording->procrep_message == NULL
                    ? "There is no readable procedure representation information file."
                    : "Error reading procedure representation information file: ",
                recording->procrep_message == NULL ? "" : recording->procrep_message);
    return fm_page_fail(page, error);
}

char *fm_page_lacks_bodies(const struct fm_page *page)
{
    g_autoptr(GError) error = NULL;
    return fm_page_check_bodies(page, &error) ? NULL : g_strdup(error->message);
}

bool fm_body_has_coverage(const struct fm_page *page, uint32_t ps)
{
    g_return_val_if_fail(ps >= 1 && ps <= page->profile->ps_count, false);
    const struct fm_analysis *a = page->analysis;
    return page->recording->procrep != NULL && page->profile->coverage != FM_COVERAGE_NONE &&
           (page->profile->coverage == FM_COVERAGE_STATIC ||
            a->ps_pd_first[ps] != a->ps_pd_first[ps + 1]) &&
           fm_procrep_find_ps(page->recording->procrep, &page->profile->ps[ps]) >= 0;
}

static void append_counts(GString *out, uint32_t goal, const char *prefix, void *user)
{
    const struct fm_coverage *coverage = user;
    const struct fm_goal_counts *counts = &coverage->goals[goal];
    g_string_append_printf(out, "%sCoverage: ", prefix);
    fm_coverage_append(out, counts);
    g_string_append(out, counts->doubtful ? " (doubtful)\n" : "\n");
}

void fm_body_add_text(struct fm_page *page, uint32_t ps, const struct fm_body *body,
                      const struct fm_coverage *coverage)
{
    const struct fm_procrep *procrep = page->recording->procrep;
    const struct fm_body_notes notes = {append_counts, (void *)(uintptr_t)coverage};
    int64_t proc = fm_procrep_find_ps(procrep, &page->profile->ps[ps]);
    g_autoptr(GString) text = g_string_new(NULL);
    fm_body_print(text, procrep, (uint32_t)proc, body, coverage == NULL ? NULL : &notes);
    fm_add_verbatim(page->body, text->str);
}

void fm_body_add(struct fm_page *page, uint32_t ps)
{
    g_return_if_fail(ps >= 1 && ps <= page->profile->ps_count);
    g_autoptr(FmBody) body = NULL;
    g_autoptr(FmCoverage) coverage = NULL;
    if (page->recording->procrep == NULL)
        return;
    g_autoptr(FmBodies) bodies = fm_page_bodies(page);
    if (!fm_bodies_body(bodies, ps, &body, NULL))
        return;
    if (!fm_coverage_of_ps(page->analysis, body, ps, &coverage, NULL))
        coverage = NULL; /* shows the body only */
    fm_add_heading(page->body, coverage == NULL ? "Body" : "Body, with how often each goal ran");
    if (body->goal_count <= BODY_LINES_ON_PROC_PAGE && body->depth <= BODY_LINES_ON_PROC_PAGE / 10)
        fm_body_add_text(page, ps, body, coverage);
    else
        fm_add_text(page->body, "It is too long for this page; the coverage page has it.");
}

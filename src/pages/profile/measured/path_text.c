/* SPDX-License-Identifier: Apache-2.0 */
#include "pages/profile/measured/path_text.h"

#include <inttypes.h>

#include "profile/digest/names.h"
#include "profile/digest/paths.h"
#include "display/ranked.h"
#include "pages/profile/parts/names.h"

#define SEPARATOR " \u203a "
#define CELL_STEPS 8u
#define NEAR_STEPS 128u
#define SPELLED_STEPS_MAX 40 /* for longer paths the number is easier to type */

static void append_label(GString *out, const struct fm_page *page, uint32_t clique)
{
    const struct fm_analysis *a = page->analysis;
    uint32_t procs = fm_digest_clique_procs(a, clique);
    const char *name = fm_shown_name(page, fm_digest_clique_name(a, clique));
    if (procs > 1)
        g_string_append(out, "\u27f2\u00a0");
    g_string_append(out, name);
    if (procs > 1)
        g_string_append_printf(out, "\u00a0+%" PRIu32, procs - 1);
    else if (fm_digest_clique_recurses(a, clique))
        g_string_append(out, "\u00a0\u27f2");
}

char *fm_clique_label(const struct fm_page *page, uint32_t clique)
{
    g_return_val_if_fail(clique >= 1 && clique <= page->analysis->clique_count, NULL);
    GString *out = g_string_new(NULL);
    append_label(out, page, clique);
    return g_string_free(out, FALSE);
}

char *fm_clique_path(const struct fm_page *page, uint32_t clique, unsigned steps_max)
{
    const struct fm_analysis *a = page->analysis;
    g_return_val_if_fail(clique >= 1 && clique <= a->clique_count && steps_max > 0, NULL);
    uint32_t near[NEAR_STEPS]; /* to climb once, nearly always */
    g_autofree uint32_t *far = NULL;
    uint32_t total = fm_digest_path(a, clique, near, NEAR_STEPS);
    if (total > NEAR_STEPS) {
        far = g_new(uint32_t, total);
        fm_digest_path(a, clique, far, total);
    }
    const uint32_t *cliques = far != NULL ? far : near;
    GString *out = g_string_new(NULL);
    if (total == 0) /* the runtime, a thread */
        g_string_append(out, fm_shown_name(page, fm_digest_clique_name(a, clique)));
    uint32_t tail = steps_max > 1 ? steps_max - 1 : 1;
    for (uint32_t i = 0; i < total; i++) {
        if (total > steps_max && i == (steps_max > 1 ? 1 : 0)) {
            g_string_append(out, i ? SEPARATOR "\u2026" : "\u2026");
            i = total - tail;
        }
        if (out->len > 0)
            g_string_append(out, SEPARATOR);
        append_label(out, page, cliques[i]);
    }
    return g_string_free(out, FALSE);
}

char *fm_clique_spelling(const struct fm_analysis *a, uint32_t clique)
{
    g_return_val_if_fail(clique >= 1 && clique <= a->clique_count, NULL);
    uint32_t cliques[SPELLED_STEPS_MAX];
    uint32_t count = fm_digest_path(a, clique, cliques, SPELLED_STEPS_MAX);
    g_autoptr(GString) out = g_string_new(NULL);
    for (uint32_t i = 0; i < count && count <= SPELLED_STEPS_MAX; i++)
        g_string_append_printf(
            out, "%s%s", i ? "/" : "",
            fm_profile_short_name(a->profile, fm_digest_clique_name(a, cliques[i])));
    uint32_t *found = NULL, found_count = 0, total = 0;
    if (out->len > 0)
        fm_digest_named_paths(a, out->str, 2, &found, &found_count, &total);
    bool only = total == 1 && found[0] == clique;
    g_free(found);
    return only ? g_strdup(out->str) : g_strdup_printf("%" PRIu32, clique);
}

uint32_t fm_clique_way(const struct fm_analysis *a, uint32_t clique, uint32_t *cliques,
                       uint32_t max)
{
    return fm_digest_path(a, clique, cliques, max);
}

void fm_context_cell(struct fm_page *page, struct fm_table *table, uint32_t csd)
{
    const struct fm_profile *profile = page->profile;
    if (csd == 0) {
        fm_cell_string(table, "not known", FM_STYLE_PLAIN);
        return;
    }
    uint32_t clique = page->analysis->pd_clique[profile->csd_callee[csd]];
    struct fm_query link = fm_page_link(page, FM_CMD_CLIQUE, clique);
    g_autofree char *path = fm_clique_path(page, clique, CELL_STEPS);
    if (path[0] == '\0') {
        g_free(path);
        path = fm_clique_label(page, clique);
    }
    const struct fm_path_part parts[] = {{path, &link, FM_PART_STRONG}};
    fm_cell_path(table, parts, 1, 0);
}

static uint32_t clique_of(const struct fm_page *page, uint32_t csd)
{
    return page->analysis->pd_clique[page->profile->csd_callee[csd]];
}

bool fm_is_same_place(const struct fm_page *page, uint32_t csd, uint32_t other)
{
    if (csd == other || csd == 0 || other == 0)
        return csd == other;
    const struct fm_profile *profile = page->profile;
    return profile->pd_ps[profile->csd_callee[csd]] == profile->pd_ps[profile->csd_callee[other]] &&
           fm_digest_is_same_path(page->analysis, clique_of(page, csd), clique_of(page, other));
}

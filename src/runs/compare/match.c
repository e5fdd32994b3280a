/* SPDX-License-Identifier: Apache-2.0 */
/* Pairs procedures of two builds in steps with weaker and weaker keys; each step takes only pairs
 * that are unique on both sides among the remaining ones. */
#include <string.h>

#include "runs/compare/internal.h"

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash != NULL ? slash + 1 : path;
}

/* The key of a step, one of enum fm_matched. */
static char *key_of(const struct fm_ps *ps, enum fm_matched how)
{
    switch (how) {
    case FM_MATCHED_SAME:
    case FM_MATCHED_LINE:
        return g_strdup_printf("%d\x1f%s\x1f%s\x1f%s\x1f%s\x1f%s\x1f%u\x1f%u\x1f%d\x1f%s\x1f%u",
                               (int)ps->label_kind, ps->type_name, ps->decl_module, ps->def_module,
                               ps->name, ps->raw_name, ps->arity, ps->mode, ps->in_interface,
                               ps->file, how == FM_MATCHED_SAME ? ps->line : 0);
    case FM_MATCHED_FOLDER:
        return g_strdup_printf("%s\x1f%s\x1f%s\x1f%u", base_name(ps->file), ps->name, ps->raw_name,
                               ps->mode);
    case FM_MATCHED_SIGNATURE:
        return g_strdup_printf("%s\x1f%s", ps->decl_module, ps->name);
    case FM_MATCHED_FILE:
    case FM_MATCHED_RENAMED:
        return g_strdup(ps->raw_name);
    }
    g_assert_not_reached();
}

/* By key: the one unmatched procedure with it; REPEATED when there are several. */
#define REPEATED UINT32_MAX

static GHashTable *unpaired(const struct fm_profile *p, const uint32_t *paired, enum fm_matched how)
{
    GHashTable *found = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    for (uint32_t ps = 1; ps <= p->ps_count; ps++) {
        if (paired[ps] != 0)
            continue;
        char *key = key_of(&p->ps[ps], how);
        bool again = g_hash_table_contains(found, key);
        g_hash_table_insert(found, key, GUINT_TO_POINTER(again ? REPEATED : ps));
    }
    return found;
}

static void pair(struct fm_pairs *pairs, uint32_t before, uint32_t after, enum fm_matched how)
{
    pairs->ps[before] = after;
    pairs->ps_back[after] = before;
    pairs->how[before] = how;
}

static void step(struct fm_pairs *pairs, const struct fm_profile *before,
                 const struct fm_profile *after, enum fm_matched how)
{
    g_autoptr(GHashTable) one = unpaired(before, pairs->ps, how);
    g_autoptr(GHashTable) other = unpaired(after, pairs->ps_back, how);
    GHashTableIter iter;
    gpointer key, id;
    g_hash_table_iter_init(&iter, one);
    while (g_hash_table_iter_next(&iter, &key, &id)) {
        uint32_t there = GPOINTER_TO_UINT(g_hash_table_lookup(other, key));
        if (GPOINTER_TO_UINT(id) != REPEATED && there != 0 && there != REPEATED)
            pair(pairs, GPOINTER_TO_UINT(id), there, how);
    }
}

void fm_pairs_init(struct fm_pairs *pairs, const struct fm_profile *before,
                   const struct fm_profile *after, bool renames)
{
    pairs->ps = g_new0(uint32_t, before->ps_count + 1u);
    pairs->how = g_new0(enum fm_matched, before->ps_count + 1u);
    pairs->similarity = g_new0(double, before->ps_count + 1u);
    pairs->ps_back = g_new0(uint32_t, after->ps_count + 1u);
    pairs->css_back = g_new0(uint32_t, after->css_count + 1u);
    pair(pairs, before->pd_ps[before->root_pd], after->pd_ps[after->root_pd], FM_MATCHED_SAME);
    for (enum fm_matched how = FM_MATCHED_SAME; how < FM_MATCHED_RENAMED; how++)
        step(pairs, before, after, how);
    if (renames)
        fm_pairs_find_renames(pairs, before, after);
    fm_pairs_find_sites(pairs, before, after);
}

void fm_pairs_done(struct fm_pairs *pairs)
{
    g_free(pairs->ps);
    g_free(pairs->ps_back);
    g_free(pairs->css_back);
    g_free(pairs->how);
    g_free(pairs->similarity);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Pairs call sites of two builds of a procedure: in the order of the source, by the longest common
 * subsequence of their callees. If one side lacks lines, only by callees. */
#include <stdlib.h>
#include <string.h>

#include "runs/compare/internal.h"

/* Above this the table of subsequences is too large: the first ones of each word are paired. */
#define LONGEST 2000u

struct site {
    uint32_t css;
    const struct fm_css *of;
    uint32_t callee;     /* number in before; UINT32_MAX - number in after when it has none */
    const char *foreign; /* callbacks: through which function of a library */
};

/* Sites on one line are sorted by callee: imported profiles have them in any order. */
static int by_place(const void *left, const void *right)
{
    const struct site *one_site = left, *other_site = right;
    const struct fm_css *a = one_site->of, *b = other_site->of;
    int order = strcmp(a->file, b->file);
    if (order == 0)
        order = a->line < b->line ? -1 : a->line > b->line;
    if (order == 0) {
        long one = strtol(a->goal_path, NULL, 10), other = strtol(b->goal_path, NULL, 10);
        order = one < other ? -1 : one > other;
    }
    if (order == 0)
        order = strcmp(a->goal_path, b->goal_path);
    if (order == 0)
        order = (int)a->kind - (int)b->kind;
    if (order == 0)
        order = one_site->callee < other_site->callee ? -1 : one_site->callee > other_site->callee;
    return order != 0 ? order : a->slot < b->slot ? -1 : a->slot > b->slot;
}

static bool is_same_word(const struct site *a, const struct site *b)
{
    return a->of->kind == b->of->kind && a->callee == b->callee &&
           strcmp(a->foreign, b->foreign) == 0;
}

/* identity: of procedures, as numbers in before; NULL: they are. */
static struct site *sites_of(const struct fm_profile *p, uint32_t ps, const uint32_t *identity)
{
    const struct fm_ps *of = &p->ps[ps];
    struct site *sites = g_new0(struct site, of->css_count + 1u);
    for (uint32_t i = 0; i < of->css_count; i++) {
        struct site *site = &sites[i];
        site->css = p->css_of_ps[of->css_first + i];
        site->of = &p->css[site->css];
        const char *colon = strchr(site->of->goal_path, ':');
        site->foreign = site->of->kind == FM_SITE_CALLBACK && colon != NULL ? colon : "";
        uint32_t callee = site->of->callee_ps;
        site->callee = callee == 0 || identity == NULL ? callee
                       : identity[callee] != 0         ? identity[callee]
                                                       : UINT32_MAX - callee;
    }
    if (p->flavour == FM_FLAVOUR_C && of->css_count > 1) /* Mercury's are in order */
        qsort(sites, of->css_count, sizeof *sites, by_place);
    return sites;
}

/* lengths[i][j]: of the longest common subsequence of a from i on and b from j on. */
static void pair_longest(struct fm_pairs *pairs, const struct site *a, uint32_t a_count,
                         const struct site *b, uint32_t b_count)
{
    size_t width = b_count + 1u;
    g_autofree uint16_t *lengths = g_new0(uint16_t, (a_count + 1u) * width);
    for (uint32_t i = a_count; i-- > 0;) {
        for (uint32_t j = b_count; j-- > 0;) {
            uint16_t skip = MAX(lengths[(i + 1) * width + j], lengths[i * width + j + 1]);
            lengths[i * width + j] = is_same_word(&a[i], &b[j])
                                         ? (uint16_t)(lengths[(i + 1) * width + j + 1] + 1)
                                         : skip;
        }
    }
    for (uint32_t i = 0, j = 0; i < a_count && j < b_count;) {
        if (is_same_word(&a[i], &b[j]))
            pairs->css_back[b[j++].css] = a[i++].css;
        else if (lengths[(i + 1) * width + j] >= lengths[i * width + j + 1])
            i++;
        else
            j++;
    }
}

/* The nth of a word with the nth of that word. */
static void pair_in_turn(struct fm_pairs *pairs, const struct site *a, uint32_t a_count,
                         const struct site *b, uint32_t b_count)
{
    g_autoptr(GHashTable) next = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    g_autoptr(GHashTable) places = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    for (int side = 0; side < 2; side++) {
        const struct site *sites = side == 0 ? a : b;
        g_hash_table_remove_all(next);
        for (uint32_t i = 0; i < (side == 0 ? a_count : b_count); i++) {
            char *word = g_strdup_printf("%d\x1f%u\x1f%s", (int)sites[i].of->kind, sites[i].callee,
                                         sites[i].foreign);
            guint number = GPOINTER_TO_UINT(g_hash_table_lookup(next, word));
            char *key = g_strdup_printf("%s\x1f%u", word, number);
            g_hash_table_insert(next, word, GUINT_TO_POINTER(number + 1));
            if (side == 0) {
                g_hash_table_insert(places, key, GUINT_TO_POINTER(sites[i].css));
                continue;
            }
            pairs->css_back[sites[i].css] = GPOINTER_TO_UINT(g_hash_table_lookup(places, key));
            g_free(key);
        }
    }
}

static bool are_equal(const struct site *a, const struct site *b, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        if (!is_same_word(&a[i], &b[i]))
            return false;
    }
    return true;
}

static void pair_sites(struct fm_pairs *pairs, const struct fm_profile *before,
                       const struct fm_profile *after, uint32_t ps)
{
    uint32_t there = pairs->ps[ps];
    uint32_t a_count = before->ps[ps].css_count, b_count = after->ps[there].css_count;
    g_autofree struct site *a = sites_of(before, ps, NULL);
    g_autofree struct site *b = sites_of(after, there, pairs->ps_back);
    if (a_count == b_count && are_equal(a, b, a_count)) {
        for (uint32_t i = 0; i < a_count; i++)
            pairs->css_back[b[i].css] = a[i].css;
    } else if (a_count <= LONGEST && b_count <= LONGEST) {
        pair_longest(pairs, a, a_count, b, b_count);
    } else {
        pair_in_turn(pairs, a, a_count, b, b_count);
    }
}

void fm_pairs_find_sites(struct fm_pairs *pairs, const struct fm_profile *before,
                         const struct fm_profile *after)
{
    for (uint32_t ps = 1; ps <= before->ps_count; ps++) {
        if (pairs->ps[ps] != 0)
            pair_sites(pairs, before, after, ps);
    }
}

/* --- sites of which one side knows no lines --- */

struct sites_seen {
    bool unknown, known, inlined; /* there are such */
};

static void look_at_sites(const struct fm_profile *p, uint32_t ps, struct sites_seen *seen)
{
    const struct fm_ps *of = &p->ps[ps];
    for (uint32_t i = 0; i < of->css_count; i++) {
        const struct fm_css *css = &p->css[p->css_of_ps[of->css_first + i]];
        seen->unknown = seen->unknown || css->kind == FM_SITE_UNKNOWN;
        seen->known = seen->known || css->kind != FM_SITE_UNKNOWN;
        seen->inlined = seen->inlined || css->inlined;
    }
}

static void make_unknown(struct fm_profile *p, uint32_t ps, bool inlined)
{
    const struct fm_ps *of = &p->ps[ps];
    for (uint32_t i = 0; i < of->css_count; i++) {
        struct fm_css *css = &p->css[p->css_of_ps[of->css_first + i]];
        css->kind = FM_SITE_UNKNOWN;
        css->callee_ps = 0;
        css->type_subst = css->file = css->goal_path = "";
        css->line = 0;
        css->inlined = inlined;
    }
}

uint32_t fm_pairs_fold_sites(const struct fm_pairs *pairs, struct fm_profile *before,
                             struct fm_profile *after)
{
    uint32_t folded = 0;
    for (uint32_t ps = 1; before->flavour == FM_FLAVOUR_C && ps <= before->ps_count; ps++) {
        struct sites_seen seen = {0};
        if (pairs->ps[ps] == 0)
            continue;
        look_at_sites(before, ps, &seen);
        look_at_sites(after, pairs->ps[ps], &seen);
        if (!seen.unknown || !seen.known)
            continue;
        make_unknown(before, ps, seen.inlined);
        make_unknown(after, pairs->ps[ps], seen.inlined);
        folded++;
    }
    return folded;
}

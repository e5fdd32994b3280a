/* SPDX-License-Identifier: Apache-2.0 */
#include "profile/digest/names.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/text/distance.h"

#define NEAREST 3
#define NEAR_BYTES_MAX 64 /* longer names are not compared with typed text */

/* --- exact names --- */

static const char *last_part(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* Whether text is MODULE, a separator, and the name; of a C file the last part of its path will
 * do. */
static bool is_name_in_module(const struct fm_profile *profile, const struct fm_ps *proc,
                              const char *name, const char *text)
{
    bool c = profile->flavour == FM_FLAVOUR_C;
    const char *const modules[] = {proc->decl_module, last_part(proc->decl_module)};
    for (unsigned i = 0; i < (c ? 2 : 1); i++) {
        size_t size = strlen(modules[i]);
        if (size > 0 && strncmp(text, modules[i], size) == 0 && text[size] == (c ? ':' : '.') &&
            strcmp(text + size + 1, name) == 0)
            return true;
    }
    return false;
}

enum how { NOT, WITHOUT_TYPES, SHORTLY = WITHOUT_TYPES, PLAINLY, IN_FULL };

static bool is_name_without_types(const struct fm_ps *proc, const char *text)
{
    size_t size = strlen(text);
    return strncmp(proc->unqualified_name, text, size) == 0 && proc->unqualified_name[size] == '(';
}

/* A C function's linker name is usually the plain one, which others may have, too. */
static enum how named(const struct fm_profile *profile, uint32_t ps, const char *text)
{
    const struct fm_ps *proc = &profile->ps[ps];
    if (strcmp(text, proc->unqualified_name) == 0 || strcmp(text, proc->name) == 0)
        return PLAINLY;
    if (strcmp(text, proc->qualified_name) == 0 || strcmp(text, proc->raw_name) == 0 ||
        is_name_in_module(profile, proc, proc->unqualified_name, text) ||
        is_name_in_module(profile, proc, proc->name, text))
        return IN_FULL;
    if (strcmp(text, fm_profile_short_name(profile, ps)) == 0)
        return SHORTLY;
    return is_name_without_types(proc, text) ? WITHOUT_TYPES : NOT;
}

void fm_digest_named_procs(const struct fm_profile *profile, const char *text, uint32_t **ret,
                           uint32_t *ret_count)
{
    g_return_if_fail(text != NULL && ret != NULL);
    g_autoptr(GArray) chosen = g_array_new(FALSE, FALSE, sizeof(uint32_t));
    enum how best = NOT;
    for (uint32_t ps = 1; ps <= profile->ps_count && text[0]; ps++) {
        enum how how = named(profile, ps, text);
        if (how > best) {
            g_array_set_size(chosen, 0);
            best = how;
        }
        if (how != NOT && how == best)
            g_array_append_val(chosen, ps);
    }
    *ret_count = chosen->len;
    *ret = g_new(uint32_t, MAX(chosen->len, 1u));
    if (chosen->len > 0)
        memcpy(*ret, chosen->data, chosen->len * sizeof(uint32_t));
}

char *fm_digest_name_with_file(const struct fm_profile *profile, uint32_t ps)
{
    g_return_val_if_fail(ps >= 1 && ps <= profile->ps_count, NULL);
    return g_strdup(profile->ps[ps].brief_name);
}

/* The procedures, among these, that a text made of their names may mean. */
static GArray *alike(const struct fm_profile *profile, const uint32_t *ps, uint32_t count)
{
    g_autoptr(GHashTable) names = g_hash_table_new(g_str_hash, g_str_equal);
    GArray *found = g_array_new(FALSE, FALSE, sizeof(uint32_t));
    for (uint32_t i = 0; i < count; i++) {
        g_hash_table_add(names, (char *)(uintptr_t)profile->ps[ps[i]].name);
        g_hash_table_add(names, (char *)(uintptr_t)profile->ps[ps[i]].unqualified_name);
        g_hash_table_add(names, (char *)(uintptr_t)fm_profile_short_name(profile, ps[i]));
    }
    for (uint32_t other = 1; other <= profile->ps_count; other++) {
        const struct fm_ps *proc = &profile->ps[other];
        if (g_hash_table_contains(names, proc->name) ||
            g_hash_table_contains(names, proc->raw_name) ||
            g_hash_table_contains(names, proc->unqualified_name) ||
            g_hash_table_contains(names, fm_profile_short_name(profile, other)))
            g_array_append_val(found, other);
    }
    return found;
}

static bool means_one(const struct fm_profile *profile, const GArray *among, const char *text)
{
    unsigned meant[IN_FULL + 1] = {0};
    for (guint i = 0; i < among->len; i++)
        meant[named(profile, g_array_index(among, uint32_t, i), text)]++;
    for (unsigned how = IN_FULL; how > NOT; how--)
        if (meant[how] > 0)
            return meant[how] == 1;
    return false;
}

char **fm_digest_spellings(const struct fm_profile *profile, const uint32_t *ps, uint32_t count)
{
    char **spellings = g_new0(char *, count + 1u);
    g_autoptr(GArray) among = alike(profile, ps, count);
    for (uint32_t i = 0; i < count; i++) {
        g_autofree char *with_file = fm_digest_name_with_file(profile, ps[i]);
        const char *const tried[] = {fm_profile_short_name(profile, ps[i]),
                                     profile->ps[ps[i]].unqualified_name, with_file,
                                     profile->ps[ps[i]].qualified_name};
        for (unsigned t = 0; t < G_N_ELEMENTS(tried) && !spellings[i]; t++) {
            if (means_one(profile, among, tried[t]))
                spellings[i] = g_strdup(tried[t]);
        }
    }
    return spellings;
}

/* --- search --- */

static int compare_found(const void *a, const void *b)
{
    const struct fm_digest_found *fa = a, *fb = b;
    if (fa->match != fb->match)
        return fa->match < fb->match ? -1 : 1;
    if (fa->own != fb->own)
        return fa->own > fb->own ? -1 : 1;
    if (fa->total != fb->total)
        return fa->total > fb->total ? -1 : 1;
    return fa->ps < fb->ps ? -1 : fa->ps > fb->ps;
}

/* Only ASCII letters have case: names are bytes. */
static bool match_of(const char *name, const char *lower_text, enum fm_digest_match *ret)
{
    g_autofree char *lower = g_ascii_strdown(name, -1);
    const char *at = strstr(lower, lower_text);
    if (!at)
        return false;
    *ret = at > lower                          ? FM_MATCH_INSIDE
           : lower[strlen(lower_text)] == '\0' ? FM_MATCH_EXACT
                                               : FM_MATCH_START;
    return true;
}

static struct fm_digest_found found_proc(const struct fm_analysis *a, uint32_t ps,
                                         enum fm_measure_id measure, enum fm_digest_match match)
{
    struct fm_cost cost;
    fm_analysis_ps_cost(a, ps, &cost);
    return (struct fm_digest_found){
        .match = match, .ps = ps, .own = cost.own[measure], .total = fm_cost_total(&cost, measure)};
}

/* The runtime, and the threads of a C program, are excluded from searches. */
static bool is_searched(const struct fm_analysis *a, uint32_t ps)
{
    const struct fm_ps *proc = &a->profile->ps[ps];
    if (ps == a->profile->pd_ps[a->profile->root_pd])
        return false;
    return a->profile->flavour != FM_FLAVOUR_C || proc->file[0] || proc->decl_module[0];
}

static void collect(const struct fm_analysis *a, const char *text, enum fm_measure_id measure,
                    GArray *to)
{
    g_autofree char *lower = g_ascii_strdown(text, -1);
    enum fm_digest_match match;
    for (uint32_t ps = 1; ps <= a->profile->ps_count; ps++) {
        g_autofree char *with_file = NULL;
        const char *name = a->profile->ps[ps].unqualified_name;
        if (!is_searched(a, ps))
            continue;
        if (strchr(text, ':') || strchr(text, '.'))
            with_file = fm_digest_name_with_file(a->profile, ps);
        if (with_file != NULL)
            name = with_file;
        if (match_of(name, lower, &match) ||
            match_of(fm_profile_short_name(a->profile, ps), lower, &match) ||
            match_of(a->profile->ps[ps].name, lower, &match)) {
            struct fm_digest_found found = found_proc(a, ps, measure, match);
            g_array_append_val(to, found);
        }
    }
    for (uint32_t i = 0; i < a->module_count; i++) {
        const struct fm_module *module = &a->modules[i];
        if (module->name[0] && match_of(last_part(module->name), lower, &match)) {
            struct fm_digest_found found = {
                .match = match, .module = module, .own = module->cost.own[measure]};
            g_array_append_val(to, found);
        }
    }
}

static void collect_nearest(const struct fm_analysis *a, const char *text,
                            enum fm_measure_id measure, GArray *to)
{
    uint32_t best[NEAREST] = {0};
    unsigned far[NEAREST] = {UINT_MAX, UINT_MAX, UINT_MAX};
    if (strlen(text) > NEAR_BYTES_MAX)
        return;
    for (uint32_t ps = 1; ps <= a->profile->ps_count; ps++) {
        const char *name = a->profile->ps[ps].unqualified_name;
        if (!is_searched(a, ps) || strlen(name) > NEAR_BYTES_MAX)
            continue;
        unsigned d = fm_text_distance(text, name);
        unsigned at = NEAREST;
        while (at > 0 && d < far[at - 1])
            at--;
        for (unsigned i = NEAREST - 1; i > at && at < NEAREST; i--) {
            far[i] = far[i - 1];
            best[i] = best[i - 1];
        }
        if (at < NEAREST) {
            far[at] = d;
            best[at] = ps;
        }
    }
    for (unsigned i = 0; i < NEAREST && best[i]; i++) {
        struct fm_digest_found found = found_proc(a, best[i], measure, FM_MATCH_NEAR);
        g_array_append_val(to, found);
    }
}

void fm_digest_find(const struct fm_analysis *a, const char *text, enum fm_measure_id measure,
                    uint32_t max, struct fm_digest_found **ret, uint32_t *ret_count,
                    uint32_t *ret_total)
{
    g_return_if_fail(text != NULL && ret != NULL);
    GArray *found = g_array_new(FALSE, FALSE, sizeof(struct fm_digest_found));
    if (text[0])
        collect(a, text, measure, found);
    *ret_total = found->len;
    if (found->len > 0)
        qsort(found->data, found->len, sizeof(struct fm_digest_found), compare_found);
    else if (text[0])
        collect_nearest(a, text, measure, found);
    *ret_count = MIN(found->len, max);
    *ret = (struct fm_digest_found *)(void *)g_array_free(found, FALSE);
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "mercury/body/recursion_types.h"

#include <inttypes.h>

/* The cache of decoded bodies is dropped after this number of cliques. */
#define CLIQUES_A_PILE 256u
/* Cost of decoding a body and inferring its coverage, in nodes of a graph. */
#define NODES_A_BODY 100u

/* A recursion type while its cliques are counted. */
struct counted {
    struct fm_recursion_type type;
    char *key;
    GArray *entries;   /* struct fm_recursion_entry */
    GHashTable *by_ps; /* ps -> number in entries + 1 */
};

struct fm_recursion_types {
    const struct fm_analysis *a;
    const struct fm_procrep *procrep;
    const char *message;
    struct fm_bodies *bodies;
    uint32_t next; /* clique */
    GPtrArray *all;
    GHashTable *by_key;                                /* ps -> index in entries + 1 */
    struct counted *frequent[FM_RECURSION_DIVIDE + 1]; /* the next clique */
};

static void counted_free(gpointer data)
{
    struct counted *counted = data;
    g_free(counted->type.error);
    g_free(counted->type.levels);
    g_free(counted->key);
    g_array_unref(counted->entries);
    g_clear_pointer(&counted->by_ps, g_hash_table_unref);
    g_free(counted);
}

struct fm_recursion_types *fm_recursion_types_new(const struct fm_analysis *a,
                                                  const struct fm_procrep *procrep,
                                                  const char *message)
{
    g_return_val_if_fail(a != NULL, NULL);
    struct fm_recursion_types *types = g_new0(struct fm_recursion_types, 1);
    types->a = a;
    types->procrep = procrep;
    types->message = message;
    types->next = 1;
    types->all = g_ptr_array_new_with_free_func(counted_free);
    types->by_key = g_hash_table_new(g_str_hash, g_str_equal);
    return types;
}

void fm_recursion_types_free(struct fm_recursion_types *types)
{
    if (types == NULL)
        return;
    fm_bodies_free(types->bodies);
    g_hash_table_unref(types->by_key);
    g_ptr_array_unref(types->all);
    g_free(types);
}

/* Returns the type with that key, and takes ownership of the key. */
static struct counted *type_of(struct fm_recursion_types *types, enum fm_recursion_kind kind,
                               char *key)
{
    struct counted *counted = g_hash_table_lookup(types->by_key, key);
    if (counted != NULL) {
        g_free(key);
        return counted;
    }
    counted = g_new0(struct counted, 1);
    counted->type.kind = kind;
    counted->key = key;
    counted->entries = g_array_new(FALSE, FALSE, sizeof(struct fm_recursion_entry));
    counted->by_ps = g_hash_table_new(NULL, NULL);
    g_hash_table_insert(types->by_key, counted->key, counted);
    g_ptr_array_add(types->all, counted);
    return counted;
}

static void count_in(struct fm_recursion_types *types, struct counted *counted, uint32_t clique)
{
    const struct fm_analysis *a = types->a;
    uint32_t pd = fm_analysis_clique_entry(a, clique);
    counted->type.frequency++;
    if (pd == 0)
        return;
    struct fm_cost cost;
    uint32_t ps = a->profile->pd_ps[pd];
    fm_analysis_pd_cost(a, pd, &cost);
    counted->type.has_cost = true;
    fm_cost_add(&counted->type.cost, &cost);
    guint at = GPOINTER_TO_UINT(g_hash_table_lookup(counted->by_ps, GUINT_TO_POINTER(ps)));
    if (at == 0) {
        const struct fm_recursion_entry entry = {.ps = ps};
        g_array_append_val(counted->entries, entry);
        at = counted->entries->len;
        g_hash_table_insert(counted->by_ps, GUINT_TO_POINTER(ps), GUINT_TO_POINTER(at));
        counted->type.entries = (struct fm_recursion_entry *)(void *)counted->entries->data;
        counted->type.entry_count = at;
    }
    counted->type.entries[at - 1].frequency++;
    fm_cost_add(&counted->type.entries[at - 1].cost, &cost);
}

static void count_other(struct fm_recursion_types *types, const struct fm_recursion *recursion,
                        uint32_t clique)
{
    GString *key = g_string_new("other");
    for (uint32_t i = 0; i < recursion->level_count; i++)
        g_string_append_printf(key, " %" PRIu32, recursion->levels[i].level);
    struct counted *counted = type_of(types, FM_RECURSION_OTHER, g_string_free(key, FALSE));
    if (counted->type.levels == NULL && recursion->level_count > 0) {
        counted->type.level_count = recursion->level_count;
        counted->type.levels = g_new(uint32_t, recursion->level_count);
        for (uint32_t i = 0; i < recursion->level_count; i++)
            counted->type.levels[i] = recursion->levels[i].level;
    }
    count_in(types, counted, clique);
}

static void count_errors(struct fm_recursion_types *types, const struct fm_recursion *recursion,
                         uint32_t clique)
{
    for (uint32_t i = 0; i < recursion->error_count; i++) {
        struct counted *counted =
            type_of(types, FM_RECURSION_ERRORS, g_strdup_printf("error %s", recursion->errors[i]));
        if (counted->type.error == NULL)
            counted->type.error = g_strdup(recursion->errors[i]);
        count_in(types, counted, clique);
    }
    struct counted *all = type_of(types, FM_RECURSION_ERRORS, g_strdup("errors"));
    all->type.all_errors = true;
    count_in(types, all, clique);
}

static void count(struct fm_recursion_types *types, const struct fm_recursion *recursion,
                  uint32_t clique)
{
    struct counted *counted;
    switch (recursion->kind) {
    case FM_RECURSION_NONE:
    case FM_RECURSION_SINGLE:
    case FM_RECURSION_DIVIDE:
        if (types->frequent[recursion->kind] == NULL)
            types->frequent[recursion->kind] =
                type_of(types, recursion->kind, g_strdup_printf("kind %d", (int)recursion->kind));
        count_in(types, types->frequent[recursion->kind], clique);
        return;
    case FM_RECURSION_MUTUAL:
        counted = type_of(types, FM_RECURSION_MUTUAL,
                          g_strdup_printf("mutual %" PRIu32, recursion->member_count));
        counted->type.procs = recursion->member_count;
        count_in(types, counted, clique);
        return;
    case FM_RECURSION_OTHER:
        count_other(types, recursion, clique);
        return;
    case FM_RECURSION_ERRORS:
        count_errors(types, recursion, clique);
        return;
    }
}

/* Counts one clique; returns its cost in nodes. */
static uint32_t count_clique(struct fm_recursion_types *types, uint32_t clique)
{
    const struct fm_analysis *a = types->a;
    uint32_t members = a->clique_first[clique + 1] - a->clique_first[clique];
    if (a->profile->flavour == FM_FLAVOUR_C) {
        struct fm_recursion *recursion = fm_recursion_from_counts(a, clique);
        count(types, recursion, clique);
        fm_recursion_free(recursion);
        return members;
    }
    if (clique % CLIQUES_A_PILE == 0)
        g_clear_pointer(&types->bodies, fm_bodies_free);
    if (types->bodies == NULL)
        types->bodies = fm_bodies_new(a, types->procrep, types->message);
    count(types, fm_bodies_recursion(types->bodies, clique), clique);
    return NODES_A_BODY;
}

bool fm_recursion_types_step(struct fm_recursion_types *types, uint32_t nodes)
{
    g_return_val_if_fail(types != NULL && nodes > 0, true);
    for (uint32_t done = 0; done < nodes && types->next <= types->a->clique_count;)
        done += count_clique(types, types->next++);
    if (types->next <= types->a->clique_count)
        return false;
    g_clear_pointer(&types->bodies, fm_bodies_free);
    for (guint i = 0; i < types->all->len; i++) {
        struct counted *counted = types->all->pdata[i];
        g_clear_pointer(&counted->by_ps, g_hash_table_unref);
    }
    return true;
}

double fm_recursion_types_fraction(const struct fm_recursion_types *types)
{
    return types->a->clique_count == 0 ? 1 : (double)(types->next - 1) / types->a->clique_count;
}

uint32_t fm_recursion_types_count(const struct fm_recursion_types *types)
{
    return types->all->len;
}

const struct fm_recursion_type *fm_recursion_types_get(const struct fm_recursion_types *types,
                                                       uint32_t number)
{
    g_return_val_if_fail(number < types->all->len, NULL);
    return &((const struct counted *)types->all->pdata[number])->type;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/analysis_internal.h"

#include <stdlib.h>
#include <string.h>

/* The first "_get_" or "_set_" of a name, or NULL. */
static const char *find_marker(const char *name, bool *ret_setter)
{
    const char *get = strstr(name, "_get_"), *set = strstr(name, "_set_");
    *ret_setter = set && (!get || set < get);
    return *ret_setter ? set : get;
}

static struct fm_field *field_of(GArray *fields, GHashTable *places, const char *structure,
                                 size_t structure_length, const char *field)
{
    g_autofree char *key = g_strdup_printf("%.*s\n%s", (int)structure_length, structure, field);
    guint place = GPOINTER_TO_UINT(g_hash_table_lookup(places, key));
    if (place == 0) {
        struct fm_field fresh = {.structure = g_strndup(structure, structure_length),
                                 .field = g_strdup(field)};
        g_array_append_val(fields, fresh);
        place = fields->len;
        g_hash_table_insert(places, g_steal_pointer(&key), GUINT_TO_POINTER(place));
    }
    return &g_array_index(fields, struct fm_field, place - 1);
}

static void add_ps(const struct fm_analysis *a, uint32_t ps, GArray *fields, GHashTable *places)
{
    const struct fm_ps *proc = &a->profile->ps[ps];
    bool setter;
    const char *marker = find_marker(proc->name, &setter);
    if (proc->label_kind == FM_LABEL_SPECIAL || strcmp(proc->decl_module, proc->def_module) != 0 ||
        !marker || proc->arity != (setter ? 3 : 2))
        return;
    struct fm_field *field = field_of(fields, places, proc->name, (size_t)(marker - proc->name),
                                      marker + strlen("_get_"));
    struct fm_cost cost;
    fm_analysis_ps_cost(a, ps, &cost);
    fm_cost_add(setter ? &field->setter : &field->getter, &cost);
    if (setter)
        field->setter_count++;
    else
        field->getter_count++;
}

static int compare_fields(const void *a, const void *b)
{
    const struct fm_field *left = a, *right = b;
    int order = strcmp(left->structure, right->structure);
    return order != 0 ? order : strcmp(left->field, right->field);
}

void fm_analysis_fields(const struct fm_analysis *a, const struct fm_module *module,
                        struct fm_field **ret, uint32_t *ret_count)
{
    GArray *fields = g_array_new(FALSE, FALSE, sizeof(struct fm_field));
    g_autoptr(GHashTable) places = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    for (uint32_t i = 0; i < module->ps_count; i++)
        add_ps(a, module->ps[i], fields, places);
    *ret_count = fields->len;
    *ret = (struct fm_field *)(void *)g_array_free(fields, FALSE);
    if (*ret_count > 0)
        qsort(*ret, *ret_count, sizeof(**ret), compare_fields);
}

void fm_fields_free(struct fm_field *fields, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        g_free(fields[i].structure);
        g_free(fields[i].field);
    }
    g_free(fields);
}

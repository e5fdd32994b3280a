/* SPDX-License-Identifier: Apache-2.0 */
#include "exchange/export/tables.h"

#include "base/hash.h"

int64_t fm_export_string(struct fm_export_tables *x, const char *text)
{
    gpointer id;
    if (g_hash_table_lookup_extended(x->string_ids, text, NULL, &id))
        return GPOINTER_TO_INT(id);
    char *copy = g_utf8_make_valid(text, -1);
    int64_t index = x->strings->len;
    g_ptr_array_add(x->strings, copy);
    g_hash_table_insert(x->string_ids, g_strdup(text), GINT_TO_POINTER((gint)index));
    return index;
}

static uint64_t location_id(struct fm_export_tables *x, uint64_t function, uint32_t line)
{
    guint64 key = function << 32 | line;
    gpointer id = g_hash_table_lookup(x->location_ids, &key);
    if (id != NULL)
        return GPOINTER_TO_UINT(id);
    g_array_append_val(x->locations, key);
    g_hash_table_insert(x->location_ids, g_memdup2(&key, sizeof key),
                        GUINT_TO_POINTER(x->locations->len));
    return x->locations->len;
}

static uint64_t function_of(struct fm_export_tables *x, const struct fm_exchange_node *node)
{
    g_autoptr(GString) name = NULL;
    if (node->ps != 0)
        return node->ps;
    name = g_string_new(NULL);
    fm_exchange_node_name(&x->names, node, name);
    gpointer id = g_hash_table_lookup(x->joined_names, name->str);
    if (id == NULL) {
        char *copy = g_strdup(name->str);
        g_ptr_array_add(x->joined, copy);
        id = GUINT_TO_POINTER(x->profile->ps_count + x->joined->len);
        g_hash_table_insert(x->joined_names, copy, id);
    }
    return GPOINTER_TO_UINT(id);
}

void fm_export_stack(struct fm_export_tables *x, const struct fm_exchange_nodes *nodes,
                     uint32_t node, GArray *stack)
{
    uint32_t ps = nodes->nodes[node].ps, line = ps != 0 ? x->profile->ps[ps].line : 0;
    g_array_set_size(stack, 0);
    for (uint32_t i = node; i != 0; i = nodes->nodes[i].parent) {
        uint64_t id = location_id(x, function_of(x, &nodes->nodes[i]), line);
        g_array_append_val(stack, id);
        line = fm_exchange_call_line(x->profile, nodes->nodes[i].css);
    }
}

void fm_export_tables_init(struct fm_export_tables *x, const struct fm_profile *profile,
                           const char *strip_path)
{
    *x = (struct fm_export_tables){.profile = profile};
    fm_exchange_names_init(&x->names, profile, false, strip_path);
    x->string_ids = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    x->strings = g_ptr_array_new_with_free_func(g_free);
    x->location_ids = g_hash_table_new_full(fm_int64_hash, g_int64_equal, g_free, NULL);
    x->locations = g_array_new(FALSE, FALSE, sizeof(guint64));
    x->joined_names = g_hash_table_new(g_str_hash, g_str_equal);
    x->joined = g_ptr_array_new_with_free_func(g_free);
    fm_export_string(x, ""); /* readers demand it as the first */
}

void fm_export_tables_done(struct fm_export_tables *x)
{
    fm_exchange_names_done(&x->names);
    g_hash_table_destroy(x->string_ids);
    g_ptr_array_free(x->strings, TRUE);
    g_hash_table_destroy(x->location_ids);
    g_array_free(x->locations, TRUE);
    g_hash_table_destroy(x->joined_names);
    g_ptr_array_free(x->joined, TRUE);
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "record/known/known.h"

struct fm_known {
    GHashTable *statics; /* text of what they were made from -> struct fm_statics */
};

static void free_statics(gpointer data)
{
    fm_statics_free(data);
}

struct fm_known *fm_known_new(void)
{
    struct fm_known *known = g_new(struct fm_known, 1);
    known->statics = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, free_statics);
    return known;
}

void fm_known_free(struct fm_known *known)
{
    if (known == NULL)
        return;
    g_hash_table_unref(known->statics);
    g_free(known);
}

static char *key_of(const char *path, const struct fm_statics_opts *opts)
{
    GString *key = g_string_new(NULL);
    for (uint32_t i = 0; i < opts->build_id_size; i++)
        g_string_append_printf(key, "%02x", opts->build_id[i]);
    g_string_append_printf(key, " %d%d%d %s\n%s", opts->ignore_debug, opts->coverage,
                           opts->physical, opts->debug_path == NULL ? "" : opts->debug_path, path);
    return g_string_free(key, FALSE);
}

bool fm_known_extract(struct fm_known *known, const char *path, const struct fm_statics_opts *opts,
                      struct fm_statics **ret, bool *ret_kept, GError **error)
{
    g_return_val_if_fail(path != NULL && opts != NULL && ret != NULL, false);
    *ret_kept = false;
    if (known == NULL || opts->build_id_size == 0)
        return fm_statics_extract(path, opts, ret, error);
    g_autofree char *key = key_of(path, opts);
    *ret = g_hash_table_lookup(known->statics, key);
    if (*ret == NULL && !fm_statics_extract(path, opts, ret, error))
        return false;
    *ret_kept = true;
    if (!g_hash_table_contains(known->statics, key))
        g_hash_table_insert(known->statics, g_steal_pointer(&key), *ret);
    return true;
}

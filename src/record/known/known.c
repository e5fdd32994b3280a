/* SPDX-License-Identifier: Apache-2.0 */
#include "record/known/known.h"

#include "base/files/build_id.h"
#include "record/known/pack.h"
#include "record/known/store.h"

struct fm_known {
    GHashTable *statics; /* description of their source -> struct fm_statics */
    struct fm_store *store;
};

static void free_statics(gpointer data)
{
    fm_statics_free(data);
}

struct fm_known *fm_known_new(void)
{
    struct fm_known *known = g_new(struct fm_known, 1);
    known->statics = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, free_statics);
    known->store = fm_store_open();
    return known;
}

void fm_known_free(struct fm_known *known)
{
    if (known == NULL)
        return;
    g_hash_table_unref(known->statics);
    fm_store_close(known->store);
    g_free(known);
}

/* Everything that statics depend on: the file, the options, and the program that makes them. */
static char *key_of(const char *path, const struct fm_statics_opts *opts)
{
    GString *key = g_string_new(fm_program_build_id());
    g_string_append_c(key, ' ');
    for (uint32_t i = 0; i < opts->build_id_size; i++)
        g_string_append_printf(key, "%02x", opts->build_id[i]);
    g_string_append_printf(key, " %d%d%d %s\n%s", opts->ignore_debug, opts->coverage,
                           opts->physical, opts->debug_path == NULL ? "" : opts->debug_path, path);
    return g_string_free(key, FALSE);
}

static struct fm_statics *read_stored(const struct fm_store *store, const char *key)
{
    g_autoptr(GBytes) bytes = store == NULL ? NULL : fm_store_get(store, key);
    if (bytes == NULL)
        return NULL;
    gsize size;
    const guint8 *data = g_bytes_get_data(bytes, &size);
    return fm_statics_unpack(data, size);
}

/* Images without debug information are not stored: it may be installed later in a file of its
 * own. */
static void store_it(const struct fm_store *store, const char *key,
                     const struct fm_statics *statics)
{
    if (store == NULL || !statics->has_debug)
        return;
    g_autoptr(GByteArray) bytes = fm_statics_pack(statics);
    if (bytes != NULL)
        fm_store_put(store, key, bytes->data, bytes->len);
}

bool fm_known_extract(struct fm_known *known, const char *path, const struct fm_statics_opts *opts,
                      struct fm_statics **ret, bool *ret_kept, GError **error)
{
    g_return_val_if_fail(path != NULL && opts != NULL && ret != NULL, false);
    *ret_kept = false;
    if (known == NULL || opts->build_id_size == 0)
        return fm_statics_extract(path, opts, ret, error);
    g_autofree char *key = key_of(path, opts);
    *ret_kept = true;
    struct fm_statics *statics = g_hash_table_lookup(known->statics, key);
    if (statics == NULL) {
        statics = read_stored(known->store, key);
        g_debug("%s: %s", path, statics == NULL ? "extracting" : "known from an earlier run");
        if (statics == NULL) {
            if (!fm_statics_extract(path, opts, &statics, error))
                return false;
            store_it(known->store, key, statics);
        }
        g_hash_table_insert(known->statics, g_steal_pointer(&key), statics);
    }
    *ret = statics;
    return true;
}

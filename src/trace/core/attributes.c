/* SPDX-License-Identifier: Apache-2.0 */
#include "trace/core/trace.h"

struct value {
    void *data;
    GDestroyNotify free_data;
};

struct fm_attributes {
    GHashTable *values; /* path -> struct value */
};

static void free_value(void *data)
{
    struct value *value = data;
    if (value->free_data != NULL)
        value->free_data(value->data);
    g_free(value);
}

struct fm_attributes *fm_attributes_new(void)
{
    struct fm_attributes *attributes = g_new0(struct fm_attributes, 1);
    attributes->values = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, free_value);
    return attributes;
}

void fm_attributes_free(struct fm_attributes *attributes)
{
    if (attributes == NULL)
        return;
    g_hash_table_unref(attributes->values);
    g_free(attributes);
}

void fm_attributes_set(struct fm_attributes *attributes, const char *path, void *data,
                       GDestroyNotify free_data)
{
    struct value *value = g_new(struct value, 1);
    *value = (struct value){data, free_data};
    g_hash_table_insert(attributes->values, g_strdup(path), value);
}

bool fm_attributes_has(const struct fm_attributes *attributes, const char *path)
{
    return g_hash_table_contains(attributes->values, path);
}

void *fm_attributes_get(const struct fm_attributes *attributes, const char *path)
{
    const struct value *value = g_hash_table_lookup(attributes->values, path);
    return value == NULL ? NULL : value->data;
}

void fm_attributes_remove(struct fm_attributes *attributes, const char *path)
{
    g_hash_table_remove(attributes->values, path);
}

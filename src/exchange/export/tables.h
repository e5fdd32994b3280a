/* SPDX-License-Identifier: Apache-2.0 */
/* Strings, functions and places by number, as formats of protocol buffers have them. */
#pragma once

#include "exchange/names.h"

struct fm_export_tables {
    const struct fm_profile *profile; /* borrowed */
    struct fm_exchange_names names;
    GHashTable *string_ids;   /* char* -> index */
    GPtrArray *strings;       /* char*, valid UTF-8; 0 is "" */
    GHashTable *location_ids; /* guint64* (function << 32 | line) -> id */
    GArray *locations;        /* guint64, of id 1, 2, ... */
    GHashTable *joined_names; /* for nodes that stand for several: function of their name */
    GPtrArray *joined;        /* char*: names of functions ps_count + 1, ... */
};

void fm_export_tables_init(struct fm_export_tables *tables, const struct fm_profile *profile,
                           const char *strip_path);
void fm_export_tables_done(struct fm_export_tables *tables);
/* The index of the text: 0, 1, ... */
int64_t fm_export_string(struct fm_export_tables *tables, const char *text);
/* The node's stack: ids of locations (uint64_t), the leaf first; the root is left out. */
void fm_export_stack(struct fm_export_tables *tables, const struct fm_exchange_nodes *nodes,
                     uint32_t node, GArray *stack);

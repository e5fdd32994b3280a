/* SPDX-License-Identifier: Apache-2.0 */
#include "display/flame.h"

#include <string.h>

#include "display/flame_internal.h"

static const char *copy(struct fm_flame *flame, const char *text)
{
    return text ? fm_arena_copy(&flame->display->arena, text, strlen(text)) : NULL;
}

struct fm_flame *fm_add_flame(struct fm_list *to, const char *id, const char *label)
{
    struct fm_flame *flame = fm_arena_alloc(&to->display->arena, sizeof *flame);
    flame->display = to->display;
    to->display->fits = true;
    flame->label = copy(flame, label);
    struct item *item = fm_list_add_item(to, ITEM_FLAME);
    item->id = copy(flame, id);
    item->flame = flame;
    return flame;
}

void fm_flame_set_scale(struct fm_flame *flame, const struct fm_flame_scale *scale)
{
    g_return_if_fail(scale->measure && scale->query);
    flame->scale = *scale;
    flame->scale.measure = copy(flame, scale->measure);
    flame->scale.query = NULL;
    fm_display_link(flame->display, scale->query, NULL, &flame->link);
}

void fm_flame_add_box(struct fm_flame *flame, const struct fm_flame_box *box)
{
    struct flame_box *added = fm_arena_alloc(&flame->display->arena, sizeof *added);
    added->box = *box;
    added->box.label = copy(flame, box->label ? box->label : "");
    added->box.full = copy(flame, box->full);
    added->box.title = copy(flame, box->title);
    added->box.place = copy(flame, box->place);
    if (box->query)
        fm_display_link(flame->display, box->query, NULL, &added->link);
    added->box.query = NULL;
    if (flame->last)
        flame->last->next = added;
    else
        flame->first = added;
    flame->last = added;
    flame->rows = MAX(flame->rows, box->row + 1);
    flame->count++;
}

void fm_flame_add_legend(struct fm_flame *flame, unsigned colour, const char *label)
{
    g_return_if_fail(flame->legend_count < FLAME_LEGEND_MAX);
    flame->legend[flame->legend_count].colour = colour;
    flame->legend[flame->legend_count++].label = copy(flame, label);
}

/* Its label and place stand once in a list, as many boxes have the same. */
static unsigned index_of(GHashTable *known, GPtrArray *texts, const char *text)
{
    void *place = g_hash_table_lookup(known, text);
    if (!place) {
        g_ptr_array_add(texts, (void *)(uintptr_t)text);
        place = GUINT_TO_POINTER(texts->len);
        g_hash_table_insert(known, (void *)(uintptr_t)text, place);
    }
    return GPOINTER_TO_UINT(place) - 1;
}

static void append_list(GString *out, const char *name, const GPtrArray *texts)
{
    g_string_append_printf(out, ",\n    \"%s\": [", name);
    for (guint i = 0; i < texts->len; i++) {
        g_string_append(out, i ? ", " : "");
        fm_json_append_text(out, texts->pdata[i]);
    }
    g_string_append_c(out, ']');
}

/* Names in full, by their places in the list of short ones. */
static void append_full_names(GString *out, GHashTable *known_names, const struct fm_flame *flame)
{
    g_autoptr(GHashTable) told = g_hash_table_new(NULL, NULL);
    g_string_append(out, ",\n    \"full_names\": {");
    for (const struct flame_box *at = flame->first; at; at = at->next) {
        void *place = g_hash_table_lookup(known_names, at->box.label);
        if (!at->box.full || !g_hash_table_add(told, place))
            continue;
        g_string_append_printf(out, "%s\"%u\": ", g_hash_table_size(told) > 1 ? ", " : "",
                               GPOINTER_TO_UINT(place) - 1);
        fm_json_append_text(out, at->box.full);
    }
    g_string_append_c(out, '}');
}

static void append_scale(GString *out, const struct fm_flame *flame)
{
    char seconds[G_ASCII_DTOSTR_BUF_SIZE] = "null";
    if (flame->scale.unit_seconds > 0)
        g_ascii_dtostr(seconds, sizeof seconds, flame->scale.unit_seconds);
    g_string_append(out, "\n    \"measure\": ");
    fm_json_append_text(out, flame->scale.measure);
    g_string_append_printf(out,
                           ",\n    \"unit_seconds\": %s,\n    \"whole\": %" G_GINT64_FORMAT
                           ",\n    \"legend\": [",
                           seconds, flame->scale.whole);
    for (unsigned i = 0; i < flame->legend_count; i++) {
        g_string_append_printf(out, "%s[%u, ", i ? ", " : "", flame->legend[i].colour);
        fm_json_append_text(out, flame->legend[i].label);
        g_string_append_c(out, ']');
    }
    g_string_append(out, "],");
}

void fm_flame_append_json(const struct fm_flame *flame, GString *out)
{
    g_autoptr(GHashTable) known_names = g_hash_table_new(g_str_hash, g_str_equal);
    g_autoptr(GHashTable) known_places = g_hash_table_new(g_str_hash, g_str_equal);
    g_autoptr(GPtrArray) names = g_ptr_array_new();
    g_autoptr(GPtrArray) places = g_ptr_array_new();
    g_autoptr(GPtrArray) queries = g_ptr_array_new_with_free_func(g_free);
    g_string_append_c(out, '{');
    if (flame->scale.measure)
        append_scale(out, flame);
    g_string_append_printf(out, "\n    \"rows\": %u,\n    \"boxes\": [", flame->rows);
    for (const struct flame_box *at = flame->first; at; at = at->next) {
        const struct fm_flame_box *box = &at->box;
        int query = -1;
        if (at->link.command) {
            g_autoptr(GString) text = g_string_new(NULL);
            fm_link_append_query(text, &at->link);
            query = (int)queries->len;
            g_ptr_array_add(queries, g_strdup(text->str));
        }
        g_string_append_printf(
            out,
            "%s\n      [%u, %ld, %ld, %u, %d, %u, %u, %" G_GINT64_FORMAT ", %" G_GINT64_FORMAT
            ", %" G_GINT64_FORMAT ", %d, %u]",
            at == flame->first ? "" : ",", box->row, (long)(box->x * 1e6 + 0.5),
            (long)(box->width * 1e6 + 0.5), index_of(known_names, names, box->label),
            box->place ? (int)index_of(known_places, places, box->place) : -1, box->colour,
            box->flags, box->total, box->own, box->calls, query, box->proc);
    }
    g_string_append(out, "\n    ]");
    append_list(out, "names", names);
    append_full_names(out, known_names, flame);
    append_list(out, "places", places);
    append_list(out, "queries", queries);
    g_string_append(out, "\n  }");
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "display/flame.h"

#include <math.h>
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

void fm_flame_set_upwards(struct fm_flame *flame)
{
    g_return_if_fail(flame != NULL);
    flame->upwards = true;
}

void fm_flame_add_box(struct fm_flame *flame, const struct fm_flame_box *box)
{
    g_return_if_fail(flame != NULL && box->x >= 0 && box->width >= 0);
    struct flame_box *added = fm_arena_alloc(&flame->display->arena, sizeof *added);
    added->box = *box;
    added->box.label = copy(flame, box->label ? box->label : "");
    added->box.full = copy(flame, box->full);
    added->box.title = copy(flame, box->title);
    added->box.place = copy(flame, box->place);
    if (box->query)
        fm_display_link(flame->display, box->query, NULL, &added->link);
    else if (box->url)
        fm_display_href(flame->display, box->url, NULL, &added->link);
    added->box.query = NULL;
    added->box.url = NULL; /* the link has it */
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

/* Labels and places are stored once in a list, since many boxes share them. */
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

static void write_texts(struct fm_json *json, const char *name, const GPtrArray *texts)
{
    fm_json_line(json, 4);
    fm_json_array(json, name);
    for (guint i = 0; i < texts->len; i++)
        fm_json_text(json, NULL, texts->pdata[i]);
    fm_json_end(json);
}

/* Names in full, by their places in the list of short ones. */
static void write_full_names(struct fm_json *json, GHashTable *known_names,
                             const struct fm_flame *flame)
{
    g_autoptr(GHashTable) told = g_hash_table_new(NULL, NULL);
    fm_json_line(json, 4);
    fm_json_object(json, "full_names");
    for (const struct flame_box *at = flame->first; at; at = at->next) {
        void *place = g_hash_table_lookup(known_names, at->box.label);
        if (!at->box.full || !g_hash_table_add(told, place))
            continue;
        char key[12];
        g_snprintf(key, sizeof key, "%u", GPOINTER_TO_UINT(place) - 1);
        fm_json_text(json, key, at->box.full);
    }
    fm_json_end(json);
}

static void write_scale(struct fm_json *json, const struct fm_flame *flame)
{
    fm_json_line(json, 4);
    fm_json_text(json, "measure", flame->scale.measure);
    fm_json_line(json, 4);
    fm_json_double(json, "unit_seconds",
                   flame->scale.unit_seconds > 0 ? flame->scale.unit_seconds : (double)NAN);
    fm_json_line(json, 4);
    fm_json_double(json, "sample", flame->scale.sample > 0 ? flame->scale.sample : (double)NAN);
    fm_json_line(json, 4);
    fm_json_int(json, "whole", flame->scale.whole);
    fm_json_line(json, 4);
    fm_json_array(json, "legend");
    for (unsigned i = 0; i < flame->legend_count; i++) {
        fm_json_array(json, NULL);
        fm_json_uint(json, NULL, flame->legend[i].colour);
        fm_json_text(json, NULL, flame->legend[i].label);
        fm_json_end(json);
    }
    fm_json_end(json);
}

/* Texts that several boxes have. */
struct shared_texts {
    GHashTable *known_names, *known_places;
    GPtrArray *names, *places, *queries;
};

static void write_box(struct fm_json *json, const struct flame_box *at, struct shared_texts *shared)
{
    const struct fm_flame_box *box = &at->box;
    int64_t query = -1;
    if (at->link.command) {
        GString *text = g_string_new(NULL);
        fm_link_append_query(text, &at->link);
        query = shared->queries->len;
        g_ptr_array_add(shared->queries, g_string_free(text, FALSE));
    }
    fm_json_array(json, NULL);
    fm_json_uint(json, NULL, box->row);
    fm_json_int(json, NULL, (int64_t)(box->x * 1e6 + 0.5));
    fm_json_int(json, NULL, (int64_t)(box->width * 1e6 + 0.5));
    fm_json_uint(json, NULL, index_of(shared->known_names, shared->names, box->label));
    fm_json_int(json, NULL,
                box->place ? (int64_t)index_of(shared->known_places, shared->places, box->place)
                           : -1);
    fm_json_uint(json, NULL, box->colour);
    fm_json_uint(json, NULL, box->flags);
    fm_json_int(json, NULL, box->total);
    fm_json_int(json, NULL, box->own);
    fm_json_int(json, NULL, box->calls);
    fm_json_int(json, NULL, query);
    fm_json_uint(json, NULL, box->proc);
    fm_json_int(json, NULL, box->spread);
    fm_json_int(json, NULL, box->active);
    fm_json_end(json);
}

void fm_flame_write_json(const struct fm_flame *flame, struct fm_json *json, const char *name)
{
    g_autoptr(GHashTable) known_names = g_hash_table_new(g_str_hash, g_str_equal);
    g_autoptr(GHashTable) known_places = g_hash_table_new(g_str_hash, g_str_equal);
    g_autoptr(GPtrArray) names = g_ptr_array_new();
    g_autoptr(GPtrArray) places = g_ptr_array_new();
    g_autoptr(GPtrArray) queries = g_ptr_array_new_with_free_func(g_free);
    struct shared_texts shared = {known_names, known_places, names, places, queries};
    fm_json_object(json, name);
    if (flame->scale.measure)
        write_scale(json, flame);
    fm_json_line(json, 4);
    fm_json_uint(json, "rows", flame->rows);
    fm_json_line(json, 4);
    fm_json_array(json, "boxes");
    for (const struct flame_box *at = flame->first; at; at = at->next) {
        fm_json_line(json, 6);
        write_box(json, at, &shared);
    }
    fm_json_line(json, 4);
    fm_json_end(json);
    write_texts(json, "names", names);
    write_full_names(json, known_names, flame);
    write_texts(json, "places", places);
    write_texts(json, "queries", queries);
    fm_json_line(json, 2);
    fm_json_end(json);
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "record/finish/line_times.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "record/statics/places.h"

/* A sample in a file. */
struct fallen {
    uint64_t address, quanta;
    uint32_t ps;
};

static int compare_fallen(const void *a, const void *b)
{
    const struct fallen *fa = a, *fb = b;
    return fa->address < fb->address ? -1 : fa->address > fb->address;
}

static int compare_times(const void *a, const void *b)
{
    const struct fm_line_time *ta = a, *tb = b;
    if (ta->ps != tb->ps)
        return ta->ps < tb->ps ? -1 : 1;
    return ta->line < tb->line ? -1 : ta->line > tb->line;
}

static void free_fallen(void *data)
{
    if (data != NULL)
        g_array_unref(data);
}

/* For each image its samples by address; NULL = none. */
static GPtrArray *fallen_on_images(const struct fm_raw_recording *recording,
                                   const struct fm_nodes *nodes)
{
    GPtrArray *images = g_ptr_array_new_with_free_func(free_fallen);
    g_ptr_array_set_size(images, (gint)nodes->images->all->len);
    for (uint32_t i = 0; i < recording->sample_count; i++) {
        const struct fm_raw_sample *sample = &recording->samples[i];
        const struct fm_raw_csd *csd = &recording->csds[sample->csd];
        struct fallen one = {.quanta = sample->quanta};
        uint32_t image = fm_images_find(nodes->images, sample->pc, sample->epoch, &one.address);
        if (image >= images->len || csd->caller == FM_RAW_NONE)
            continue;
        one.ps = nodes->pd_ps[csd->callee];
        if (one.ps == FM_NONE)
            continue;
        if (images->pdata[image] == NULL)
            images->pdata[image] = g_array_new(FALSE, FALSE, sizeof(struct fallen));
        g_array_append_val((GArray *)images->pdata[image], one);
    }
    for (guint i = 0; i < images->len; i++) {
        GArray *all = images->pdata[i];
        if (all != NULL)
            qsort(all->data, all->len, sizeof(struct fallen), compare_fallen);
    }
    return images;
}

/* The line of the procedure's own text: of bodies within it, the line that calls them. */
static uint32_t line_in(const struct fm_nodes *nodes, const struct fm_image_nodes *image,
                        const struct fallen *one, const struct fm_code_place *place)
{
    const struct fm_statics *statics = image->statics;
    const char *file = place->file;
    uint32_t line = place->line;
    uint32_t scope = fm_statics_scope_at(statics, one->address);
    for (; scope != FM_NONE; scope = statics->scopes[scope].parent) {
        if (image->ps_of_proc[statics->scopes[scope].proc] == one->ps)
            break;
        file = statics->scopes[scope].call_file;
        line = statics->scopes[scope].call_line;
    }
    if (scope == FM_NONE || file == NULL || strcmp(file, fm_nodes_ps(nodes, one->ps)->file) != 0)
        return 0;
    return line;
}

/* Reads debug information for addresses that were not looked up before. */
static bool find_places(const struct fm_nodes *nodes, uint32_t index, const GArray *all,
                        struct fm_code_place *places, GError **error)
{
    struct fm_image_nodes *of = &nodes->of_image[index];
    const struct fm_image *image = fm_images_at(nodes->images, index);
    const struct fm_statics_opts opts = {
        .build_id = image->raw->build_id,
        .build_id_size = image->raw->build_id_size,
        .debug_path = nodes->images->debug_path,
    };
    g_autofree struct fm_code_place *unknown = g_new0(struct fm_code_place, all->len + 1u);
    uint32_t count = 0;
    if (of->places == NULL)
        of->places = g_hash_table_new_full(fm_int64_hash, g_int64_equal, NULL, g_free);
    for (guint i = 0; i < all->len; i++) {
        uint64_t address = g_array_index(all, struct fallen, i).address;
        if (!g_hash_table_contains(of->places, &address) &&
            (count == 0 || unknown[count - 1].address != address))
            unknown[count++].address = address;
    }
    if (count > 0 && !fm_statics_places(image->path, &opts, nodes->strings, unknown, count, error))
        return false;
    for (uint32_t i = 0; i < count; i++) {
        struct fm_code_place *place = g_memdup2(&unknown[i], sizeof *place);
        g_hash_table_insert(of->places, &place->address, place);
    }
    for (guint i = 0; i < all->len; i++) {
        const struct fm_code_place *place =
            g_hash_table_lookup(of->places, &g_array_index(all, struct fallen, i).address);
        places[i] = *place;
    }
    return true;
}

static void add_image(GArray *times, const struct fm_nodes *nodes, uint32_t index,
                      const GArray *all, const struct fm_code_place *places)
{
    const struct fm_image_nodes *image = &nodes->of_image[index];
    for (guint i = 0; i < all->len; i++) {
        const struct fallen *one = &g_array_index(all, struct fallen, i);
        const struct fm_line_time time = {one->ps, line_in(nodes, image, one, &places[i]),
                                          one->quanta};
        if (time.line > 0)
            g_array_append_val(times, time);
    }
}

/* Merges entries of the same line. */
static void unite(GArray *times)
{
    guint kept = 0;
    struct fm_line_time *all = (struct fm_line_time *)(void *)times->data;
    if (times->len == 0)
        return;
    qsort(all, times->len, sizeof *all, compare_times);
    for (guint i = 1; i < times->len; i++) {
        if (compare_times(&all[kept], &all[i]) == 0)
            all[kept].quanta += all[i].quanta;
        else
            all[++kept] = all[i];
    }
    g_array_set_size(times, kept + 1);
}

GArray *fm_line_times(const struct fm_raw_recording *recording, struct fm_nodes *nodes,
                      struct fm_finish_notes *notes)
{
    g_return_val_if_fail(nodes->recording == recording, NULL);
    GArray *times = g_array_new(FALSE, FALSE, sizeof(struct fm_line_time));
    g_autoptr(GPtrArray) fallen = fallen_on_images(recording, nodes);
    for (guint i = 0; i < nodes->images->all->len; i++) {
        const struct fm_image *image = fm_images_at(nodes->images, i);
        const GArray *all = fallen->pdata[i];
        if (all == NULL || nodes->of_image[i].ps_of_proc == NULL || !image->statics->has_debug)
            continue;
        g_autofree struct fm_code_place *places = g_new0(struct fm_code_place, all->len + 1u);
        g_autoptr(GError) error = NULL;
        if (!find_places(nodes, i, all, places, &error))
            fm_notes_add(notes, "%s; time by line is not known there", error->message);
        else
            add_image(times, nodes, i, all, places);
    }
    unite(times);
    return times;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* In one context of a function, a line of a body ran as often as the most frequent of the blocks
 * with code of it there. Counts of code that was inlined at several places, or copied, are added up
 * afterwards. */
#include "record/finish/blocks.h"

#include <string.h>

struct place {
    uint64_t hook; /* address in the file */
    uint32_t image, block;
};

/* A block count for one pd of the recording. */
struct given {
    uint32_t owner, line;
    struct fm_raw_point point;
};

struct giving {
    struct fm_raw_recording *recording;
    const struct fm_nodes *nodes;
    GHashTable *first; /* struct place -> the first of the image's points there + 1 */
    GArray *given;     /* struct given, of the pd and hook at hand */
    GArray *points;    /* struct fm_raw_point: the results */
};

static guint hash_place(gconstpointer key)
{
    const struct place *place = key;
    return (guint)(place->hook * 31 + (place->hook >> 32) + place->block * UINT64_C(2654435761) +
                   place->image);
}

static gboolean equal_places(gconstpointer a, gconstpointer b)
{
    const struct place *left = a, *right = b;
    return left->hook == right->hook && left->image == right->image && left->block == right->block;
}

static void note_places(struct giving *g)
{
    for (guint i = 0; i < g->nodes->images->all->len; i++) {
        const struct fm_statics *statics = g->nodes->of_image[i].statics;
        if (g->nodes->of_image[i].css_of_site == NULL)
            continue;
        for (uint32_t k = 0; k < statics->point_count; k++) {
            const struct fm_point *point = &statics->points[k];
            const struct place place = {point->hook, i, point->block};
            if (point->hook != 0 && !g_hash_table_contains(g->first, &place))
                g_hash_table_insert(g->first, g_memdup2(&place, sizeof place),
                                    GUINT_TO_POINTER(k + 1));
        }
    }
}

static int given_order(const void *a, const void *b)
{
    const struct given *left = a, *right = b;
    if (left->owner != right->owner)
        return left->owner < right->owner ? -1 : 1;
    if (left->line != right->line)
        return left->line < right->line ? -1 : 1;
    return left->point.count > right->point.count ? -1 : left->point.count < right->point.count;
}

/* The lines of a block, of which there may be none; false: nothing is known of the code. */
static bool note_lines(struct giving *g, const struct fm_raw_point *raw)
{
    uint64_t file;
    uint32_t at = fm_images_find(g->nodes->images, raw->pc, raw->epoch, &file);
    if (at == FM_NONE || g->nodes->of_image[at].css_of_site == NULL)
        return false;
    const struct fm_statics *statics = g->nodes->of_image[at].statics;
    const struct place place = {file, at, raw->block};
    guint first = GPOINTER_TO_UINT(g_hash_table_lookup(g->first, &place));
    for (uint32_t k = first == 0 ? statics->point_count : first - 1; k < statics->point_count;
         k++) {
        const struct fm_point *point = &statics->points[k];
        if (point->hook != file || point->block != raw->block)
            break;
        struct given given = {point->owner, point->line, *raw};
        if (point->line == 0)
            given.line = UINT32_MAX - raw->block; /* each one by itself */
        given.point.place = k;
        g_array_append_val(g->given, given);
    }
    return true;
}

/* Passes on the counts of one pd, line by line. */
static void hand_over(struct giving *g, fm_pd_of_body of_body, void *data)
{
    g_array_sort(g->given, given_order);
    for (guint i = 0; i < g->given->len; i++) {
        struct given given = g_array_index(g->given, struct given, i);
        const struct given *before = &g_array_index(g->given, struct given, i) - 1;
        if (given.point.count == 0 ||
            (i > 0 && before->owner == given.owner && before->line == given.line))
            continue;
        uint64_t file;
        uint32_t at = fm_images_find(g->nodes->images, given.point.pc, given.point.epoch, &file);
        const struct fm_image_nodes *image = &g->nodes->of_image[at];
        if (of_body != NULL && image->statics->scopes[given.owner].parent != FM_NONE) {
            uint32_t pd = of_body(data, given.point.pd, image, given.owner);
            given.point.pd = pd == FM_NONE ? given.point.pd : pd;
        }
        g_array_append_val(g->points, given.point);
    }
    g_array_set_size(g->given, 0);
}

void fm_blocks_give(struct fm_raw_recording *recording, const struct fm_nodes *nodes,
                    fm_pd_of_body of_body, void *data)
{
    struct giving g = {.recording = recording,
                       .nodes = nodes,
                       .first = g_hash_table_new_full(hash_place, equal_places, g_free, NULL),
                       .given = g_array_new(FALSE, TRUE, sizeof(struct given)),
                       .points = g_array_new(FALSE, TRUE, sizeof(struct fm_raw_point))};
    g_autofree uint64_t *calls = g_new0(uint64_t, recording->pd_count + 1);
    for (uint32_t i = 0; i < recording->csd_count; i++)
        if (recording->csds[i].caller != FM_RAW_NONE)
            calls[recording->csds[i].callee] += recording->csds[i].calls;
    note_places(&g);
    for (uint32_t i = 0; i < recording->point_count; i++) {
        struct fm_raw_point raw = recording->points[i];
        bool counted = raw.block != FM_RAW_NONE;
        if (raw.block == FM_RAW_BLOCK_ENTRY) {
            hand_over(&g, of_body, data);
            raw.count = calls[raw.pd];
        }
        if (!counted || nodes->pd_ps[raw.pd] == FM_NONE)
            counted = false;
        if (!counted || (!note_lines(&g, &raw) && raw.block != FM_RAW_BLOCK_ENTRY))
            g_array_append_val(g.points, raw);
    }
    hand_over(&g, of_body, data);
    fm_raw_recording_take_points(recording, g.points);
    g_array_unref(g.given);
    g_hash_table_unref(g.first);
}

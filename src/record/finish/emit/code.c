/* SPDX-License-Identifier: Apache-2.0 */
#include "record/finish/emit/code.h"

#include <stdlib.h>

#include "record/finish/notes.h"
#include "record/statics/places.h"

#define GAP_MAX 64 /* within a body, where no scope is said to be */

/* Code of a procedure. */
struct stretch {
    uint32_t ps; /* ps of the profile */
    uint32_t image;
    uint64_t low, high;
};

/* --- samples --- */

static int compare_fallen(const void *a, const void *b)
{
    const struct fm_fallen *fa = a, *fb = b;
    if (fa->image != fb->image)
        return fa->image < fb->image ? -1 : 1;
    return fa->address < fb->address ? -1 : fa->address > fb->address;
}

GArray *fm_code_samples(const struct fm_raw_recording *recording, const struct fm_images *images)
{
    GArray *all = g_array_new(FALSE, FALSE, sizeof(struct fm_fallen));
    for (uint32_t i = 0; i < recording->sample_count; i++) {
        const struct fm_raw_sample *sample = &recording->samples[i];
        struct fm_fallen one = {.quanta = sample->quanta};
        one.image = fm_images_find(images, sample->pc, sample->epoch, &one.address);
        if (one.image != FM_NONE)
            g_array_append_val(all, one);
    }
    struct fm_fallen *fallen = (struct fm_fallen *)(void *)all->data;
    guint kept = 0;
    if (all->len == 0)
        return all;
    qsort(fallen, all->len, sizeof *fallen, compare_fallen);
    for (guint i = 1; i < all->len; i++) {
        if (compare_fallen(&fallen[kept], &fallen[i]) == 0)
            fallen[kept].quanta += fallen[i].quanta;
        else
            fallen[++kept] = fallen[i];
    }
    g_array_set_size(all, kept + 1);
    return all;
}

/* --- stretches of code --- */

static int compare_by_ps(const void *a, const void *b)
{
    const struct stretch *sa = a, *sb = b;
    if (sa->ps != sb->ps)
        return sa->ps < sb->ps ? -1 : 1;
    if (sa->image != sb->image)
        return sa->image < sb->image ? -1 : 1;
    return sa->low < sb->low ? -1 : sa->low > sb->low;
}

/* The out-of-line body that a segment belongs to. */
static uint32_t body_of(const struct fm_statics *statics, uint32_t scope)
{
    while (scope != FM_NONE && statics->scopes[scope].parent != FM_NONE)
        scope = statics->scopes[scope].parent;
    return scope;
}

/* Adds the ranges of an image, by address. */
static void add_stretches(GArray *all, const struct fm_nodes *nodes, uint32_t image,
                          const uint32_t *ps_ids, const bool *ran)
{
    const struct fm_image_nodes *of = &nodes->of_image[image];
    uint32_t before = FM_NONE;
    for (uint32_t i = 0; i < of->statics->segment_count; i++) {
        const struct fm_segment *segment = &of->statics->segments[i];
        uint32_t body = body_of(of->statics, segment->scope);
        uint32_t ps = body == FM_NONE ? FM_NONE : of->ps_of_proc[of->statics->scopes[body].proc];
        struct stretch one = {0, image, segment->low, segment->high};
        struct stretch *last =
            all->len > 0 ? &g_array_index(all, struct stretch, all->len - 1) : NULL;
        bool goes_on = last != NULL && body == before && body != FM_NONE &&
                       segment->low - last->high <= GAP_MAX &&
                       segment->high - last->low <= FM_CODE_BYTES_MAX;
        before = body;
        if (ps == FM_NONE || ps_ids[ps] == 0 || !ran[ps_ids[ps]] ||
            segment->high - segment->low > FM_CODE_BYTES_MAX)
            continue;
        one.ps = ps_ids[ps];
        if (goes_on)
            last->high = segment->high;
        else
            g_array_append_val(all, one);
    }
}

static char *hexadecimal(const uint8_t *bytes, uint32_t count)
{
    GString *text = g_string_new(NULL);
    for (uint32_t i = 0; i < count; i++)
        g_string_append_printf(text, "%02x", bytes[i]);
    return g_string_free(text, FALSE);
}

/* --- lines --- */

/* The rows of an image, by address; empty when nothing is known. */
static GArray *rows_of(const struct fm_nodes *nodes, uint32_t index, const GArray *stretches,
                       guint first, struct fm_finish_notes *notes)
{
    const struct fm_image *image = fm_images_at(nodes->images, index);
    GArray *rows = g_array_new(FALSE, FALSE, sizeof(struct fm_code_place));
    g_autoptr(GArray) ranges = g_array_new(FALSE, FALSE, sizeof(struct fm_code_range));
    g_autoptr(GError) error = NULL;
    const struct fm_statics_opts opts = {
        .build_id = image->raw->build_id,
        .build_id_size = image->raw->build_id_size,
        .debug_path = nodes->images->debug_path,
    };
    for (guint i = first; i < stretches->len; i++) {
        const struct stretch *one = &g_array_index(stretches, struct stretch, i);
        const struct fm_code_range range = {one->low, one->high};
        g_array_append_val(ranges, range);
    }
    if (image->statics->has_debug && ranges->len > 0 &&
        !fm_statics_rows(image->path, &opts, nodes->strings,
                         (const struct fm_code_range *)(const void *)ranges->data, ranges->len,
                         rows, &error))
        fm_notes_add(notes, "%s; lines of instructions are not known there", error->message);
    return rows;
}

/* --- putting it together --- */

struct making {
    struct fm_machine_code *code;
    const GArray *samples;
    GPtrArray *rows;           /* GArray of struct fm_code_place, per image; NULL = not yet read */
    uint32_t *image_at;        /* per image, in the code; FM_NONE */
    GHashTable *files, *names; /* text -> number + 1 */
};

static uint32_t file_number(struct making *m, const char *file)
{
    gpointer at = g_hash_table_lookup(m->files, file);
    if (at != NULL)
        return GPOINTER_TO_UINT(at) - 1;
    uint32_t number = fm_machine_code_add_file(m->code, file);
    g_hash_table_insert(m->files, (gpointer)(uintptr_t)file, GUINT_TO_POINTER(number + 1));
    return number;
}

/* The first row that is at or behind an address. */
static guint row_at(const GArray *rows, uint64_t address)
{
    guint first = 0, end = rows->len;
    while (first < end) {
        guint middle = first + (end - first) / 2;
        if (g_array_index(rows, struct fm_code_place, middle).address < address)
            first = middle + 1;
        else
            end = middle;
    }
    return first;
}

static void add_rows(struct making *m, const struct stretch *one)
{
    const GArray *rows = m->rows->pdata[one->image];
    for (guint i = row_at(rows, one->low); i < rows->len; i++) {
        const struct fm_code_place *place = &g_array_index(rows, struct fm_code_place, i);
        if (place->address >= one->high)
            break;
        const struct fm_code_row row = {
            place->address, place->line > 0 ? file_number(m, place->file) : 0, place->line};
        fm_machine_code_add_row(m->code, &row);
    }
}

static void add_samples(struct making *m, const struct stretch *one)
{
    const GArray *all = m->samples;
    guint first = 0, end = all == NULL ? 0 : all->len;
    const struct fm_fallen from = {one->image, one->low, 0};
    while (first < end) {
        guint middle = first + (end - first) / 2;
        if (compare_fallen(&g_array_index(all, struct fm_fallen, middle), &from) < 0)
            first = middle + 1;
        else
            end = middle;
    }
    for (guint i = first; all != NULL && i < all->len; i++) {
        const struct fm_fallen *fallen = &g_array_index(all, struct fm_fallen, i);
        if (fallen->image != one->image || fallen->address >= one->high)
            break;
        fm_machine_code_add_sample(m->code,
                                   &(struct fm_code_sample){fallen->address, fallen->quanta});
    }
}

/* Calls through the linkage table: no function of this file is at their target. */
static void add_calls(struct making *m, const struct fm_nodes *nodes, const struct stretch *one)
{
    const struct fm_statics *statics = nodes->of_image[one->image].statics;
    uint32_t first = 0, end = statics->machine_site_count;
    while (first < end) {
        uint32_t middle = first + (end - first) / 2;
        if (statics->machine_sites[middle].return_address <= one->low)
            first = middle + 1;
        else
            end = middle;
    }
    for (uint32_t i = first; i < statics->machine_site_count; i++) {
        const struct fm_machine_site *site = &statics->machine_sites[i];
        if (site->return_address > one->high)
            break;
        if (site->target_name == NULL)
            continue;
        gpointer at = g_hash_table_lookup(m->names, site->target_name);
        uint32_t name = at != NULL ? GPOINTER_TO_UINT(at) - 1
                                   : fm_machine_code_add_name(m->code, site->target_name);
        if (at == NULL)
            g_hash_table_insert(m->names, (gpointer)(uintptr_t)site->target_name,
                                GUINT_TO_POINTER(name + 1));
        fm_machine_code_add_call(m->code, &(struct fm_code_call){site->return_address, name});
    }
}

static void add_stretch(struct making *m, const struct fm_nodes *nodes, const struct stretch *one)
{
    if (m->image_at[one->image] == FM_NONE) {
        const struct fm_image *image = fm_images_at(nodes->images, one->image);
        g_autofree char *build_id = hexadecimal(image->raw->build_id, image->raw->build_id_size);
        m->image_at[one->image] = fm_machine_code_add_image(m->code, image->path, build_id);
    }
    fm_machine_code_add_part(m->code, one->ps, m->image_at[one->image], one->low,
                             one->high - one->low);
    add_rows(m, one);
    add_samples(m, one);
    add_calls(m, nodes, one);
}

static void unref_rows(void *rows)
{
    if (rows != NULL)
        g_array_unref(rows);
}

struct fm_machine_code *fm_code_make(const struct fm_nodes *nodes, const GArray *samples,
                                     const uint32_t *ps_ids, const struct fm_profile *profile,
                                     struct fm_finish_notes *notes)
{
    g_return_val_if_fail(nodes != NULL && ps_ids != NULL && profile != NULL, NULL);
    guint images = nodes->images->all->len;
    struct making m = {.code = fm_machine_code_new(profile->ps_count, samples != NULL),
                       .samples = samples,
                       .rows = g_ptr_array_new_full(images, unref_rows),
                       .image_at = g_new(uint32_t, images + 1u),
                       .files = g_hash_table_new(g_str_hash, g_str_equal),
                       .names = g_hash_table_new(g_str_hash, g_str_equal)};
    g_autofree bool *ran = g_new0(bool, profile->ps_count + 1u);
    g_autoptr(GArray) stretches = g_array_new(FALSE, FALSE, sizeof(struct stretch));
    for (uint32_t pd = 1; pd <= profile->pd_count; pd++)
        ran[profile->pd_ps[pd]] = true;
    for (guint i = 0; i < images; i++) {
        guint first = stretches->len;
        m.image_at[i] = FM_NONE;
        g_ptr_array_add(m.rows, NULL);
        if (nodes->of_image[i].ps_of_proc == NULL)
            continue;
        add_stretches(stretches, nodes, i, ps_ids, ran);
        m.rows->pdata[i] = rows_of(nodes, i, stretches, first, notes);
    }
    if (stretches->len > 0)
        qsort(stretches->data, stretches->len, sizeof(struct stretch), compare_by_ps);
    for (guint i = 0; i < stretches->len; i++)
        add_stretch(&m, nodes, &g_array_index(stretches, struct stretch, i));
    g_ptr_array_unref(m.rows);
    g_hash_table_unref(m.files);
    g_hash_table_unref(m.names);
    g_free(m.image_at);
    return m.code;
}

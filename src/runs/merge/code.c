/* SPDX-License-Identifier: Apache-2.0 */
/* Addresses of the procedures' instructions: the stretches of code of all inputs, time by
 * instruction added up. Of one file in several builds an address says nothing. */
#include "runs/merge/code.h"

#include <string.h>

#include "base/error.h"

struct image {
    const char *path, *build_id;
    uint32_t number; /* number in the result */
};

struct row {
    uint64_t address;
    uint32_t file, line; /* file: into texts */
};

struct call {
    uint64_t address;
    uint32_t name; /* likewise */
};

/* A stretch of a procedure. */
struct stretch {
    uint32_t image; /* into images */
    uint64_t start, size;
    GArray *rows;    /* struct row */
    GArray *calls;   /* struct call */
    GArray *samples; /* struct fm_code_sample */
    uint8_t *packed; /* NULL = not stored */
    size_t packed_size;
};

struct fm_merged_code {
    GArray *images;   /* struct image */
    GPtrArray *texts; /* const char *, of files and names */
    GHashTable *text_at;
    GPtrArray *procs; /* by procedure of the sum: GArray of struct stretch, or NULL */
    uint32_t inputs;
    bool has_samples, differs;
};

static void stretch_clear(gpointer data)
{
    struct stretch *stretch = data;
    g_array_unref(stretch->rows);
    g_array_unref(stretch->calls);
    g_array_unref(stretch->samples);
    g_free(stretch->packed);
}

static void unref_stretches(gpointer data)
{
    if (data != NULL)
        g_array_unref(data);
}

struct fm_merged_code *fm_merged_code_new(void)
{
    struct fm_merged_code *code = g_new0(struct fm_merged_code, 1);
    code->images = g_array_new(FALSE, FALSE, sizeof(struct image));
    code->texts = g_ptr_array_new();
    code->text_at = g_hash_table_new(g_str_hash, g_str_equal);
    code->procs = g_ptr_array_new_with_free_func(unref_stretches);
    return code;
}

void fm_merged_code_free(struct fm_merged_code *code)
{
    if (code == NULL)
        return;
    g_array_unref(code->images);
    g_ptr_array_unref(code->texts);
    g_hash_table_unref(code->text_at);
    g_ptr_array_unref(code->procs);
    g_free(code);
}

/* --- adding --- */

static uint32_t text_of(struct fm_merge *m, const char *text)
{
    struct fm_merged_code *code = m->code;
    gpointer at;
    if (g_hash_table_lookup_extended(code->text_at, text, NULL, &at))
        return GPOINTER_TO_UINT(at);
    const char *own = fm_strings_add(m->strings, text);
    g_hash_table_insert(code->text_at, (gpointer)(uintptr_t)own,
                        GUINT_TO_POINTER(code->texts->len));
    g_ptr_array_add(code->texts, (gpointer)(uintptr_t)own);
    return code->texts->len - 1;
}

/* A file is identified by its build ID, wherever it is; the smallest path is shown. */
static uint32_t image_of(struct fm_merge *m, const struct fm_code_image *image)
{
    struct fm_merged_code *code = m->code;
    for (guint i = 0; i < code->images->len; i++) {
        struct image *there = &g_array_index(code->images, struct image, i);
        bool same_path = strcmp(there->path, image->path) == 0;
        bool same_build = strcmp(there->build_id, image->build_id) == 0;
        if (same_path && !same_build)
            code->differs = true;
        if (!same_build || (!same_path && image->build_id[0] == '\0'))
            continue;
        if (strcmp(image->path, there->path) < 0)
            there->path = fm_strings_add(m->strings, image->path);
        return i;
    }
    const struct image made = {.path = fm_strings_add(m->strings, image->path),
                               .build_id = fm_strings_add(m->strings, image->build_id)};
    g_array_append_val(code->images, made);
    return code->images->len - 1;
}

static struct stretch *stretch_at(GArray *stretches, uint32_t image, uint64_t start, uint64_t size)
{
    for (guint i = 0; i < stretches->len; i++) {
        struct stretch *there = &g_array_index(stretches, struct stretch, i);
        if (there->image == image && there->start == start && there->size == size)
            return there;
    }
    const struct stretch made = {
        .image = image,
        .start = start,
        .size = size,
        .rows = g_array_new(FALSE, FALSE, sizeof(struct row)),
        .calls = g_array_new(FALSE, FALSE, sizeof(struct call)),
        .samples = g_array_new(FALSE, FALSE, sizeof(struct fm_code_sample)),
    };
    g_array_append_val(stretches, made);
    return &g_array_index(stretches, struct stretch, stretches->len - 1);
}

/* Both ascend. */
static void add_samples(struct stretch *to, const struct fm_code_sample *more, uint32_t count)
{
    GArray *all = g_array_sized_new(FALSE, FALSE, sizeof *more, to->samples->len + count);
    for (uint32_t had = 0, i = 0; had < to->samples->len || i < count;) {
        struct fm_code_sample next = {.address = UINT64_MAX};
        if (had < to->samples->len)
            next = g_array_index(to->samples, struct fm_code_sample, had);
        if (i < count && (had == to->samples->len || more[i].address < next.address)) {
            next = more[i++];
        } else {
            had++;
            if (i < count && more[i].address == next.address)
                next.quanta = fm_merge_sum(next.quanta, more[i++].quanta);
        }
        g_array_append_val(all, next);
    }
    g_array_unref(to->samples);
    to->samples = all;
}

/* Stretches that are there twice are equal; others (debug files were missing in
 * the other) is taken from there. */
static void add_part(struct fm_merge *m, GArray *stretches, const struct fm_machine_code *code,
                     const struct fm_code_part *part, const uint32_t *images)
{
    struct stretch *to = stretch_at(stretches, images[part->image], part->start, part->size);
    if (part->row_count > to->rows->len) {
        g_array_set_size(to->rows, 0);
        for (uint32_t i = 0; i < part->row_count; i++) {
            const struct fm_code_row *from =
                &g_array_index(code->rows, struct fm_code_row, part->row_first + i);
            const struct row row = {
                from->address, from->line == 0 ? 0 : text_of(m, code->files->pdata[from->file]),
                from->line};
            g_array_append_val(to->rows, row);
        }
    }
    if (part->call_count > to->calls->len) {
        g_array_set_size(to->calls, 0);
        for (uint32_t i = 0; i < part->call_count; i++) {
            const struct fm_code_call *from =
                &g_array_index(code->calls, struct fm_code_call, part->call_first + i);
            const struct call call = {from->address, text_of(m, code->names->pdata[from->name])};
            g_array_append_val(to->calls, call);
        }
    }
    if (part->sample_count > 0)
        add_samples(to, &g_array_index(code->samples, struct fm_code_sample, part->sample_first),
                    part->sample_count);
    if (to->packed == NULL && part->packed != NULL) {
        to->packed = g_memdup2(part->packed, part->packed_size);
        to->packed_size = part->packed_size;
    }
}

void fm_merge_add_code(struct fm_merge *m, const struct fm_machine_code *code)
{
    g_return_if_fail(m != NULL && code != NULL);
    struct fm_merged_code *all = m->code;
    if (m->last_procs->len != (guint)code->ps_count + 1)
        return; /* an empty profile, of which nothing was added */
    g_autofree uint32_t *images = g_new(uint32_t, code->images->len + 1u);
    for (guint i = 0; i < code->images->len; i++)
        images[i] = image_of(m, &g_array_index(code->images, struct fm_code_image, i));
    for (uint32_t ps = 1; ps <= code->ps_count; ps++) {
        uint32_t count, proc = g_array_index(m->last_procs, uint32_t, ps);
        const struct fm_code_part *parts = fm_machine_code_parts(code, ps, &count);
        if (count == 0)
            continue;
        if (proc >= all->procs->len)
            g_ptr_array_set_size(all->procs, (gint)proc + 1);
        if (all->procs->pdata[proc] == NULL) {
            GArray *stretches = g_array_new(FALSE, FALSE, sizeof(struct stretch));
            g_array_set_clear_func(stretches, stretch_clear);
            all->procs->pdata[proc] = stretches;
        }
        for (uint32_t i = 0; i < count; i++)
            add_part(m, all->procs->pdata[proc], code, &parts[i], images);
    }
    /* Times are known where they are of all. */
    all->has_samples = code->has_samples && (all->has_samples || all->inputs == 0);
    all->inputs++;
}

/* --- the result --- */

struct making {
    struct fm_merged_code *from;
    struct fm_machine_code *code;
    GHashTable *files, *names; /* text -> number + 1 */
};

static int compare_images(gconstpointer a, gconstpointer b, gpointer user)
{
    const struct image *images = user;
    const struct image *one = &images[*(const uint32_t *)a], *other = &images[*(const uint32_t *)b];
    int order = strcmp(one->path, other->path);
    return order != 0 ? order : strcmp(one->build_id, other->build_id);
}

static void add_images(struct making *k)
{
    GArray *images = k->from->images;
    g_autofree uint32_t *order = g_new(uint32_t, images->len + 1u);
    for (guint i = 0; i < images->len; i++)
        order[i] = i;
    g_qsort_with_data(order, (gint)images->len, sizeof *order, compare_images, images->data);
    for (guint i = 0; i < images->len; i++) {
        struct image *image = &g_array_index(images, struct image, order[i]);
        image->number = fm_machine_code_add_image(k->code, image->path, image->build_id);
    }
}

static int compare_stretches(gconstpointer a, gconstpointer b, gpointer user)
{
    const GArray *images = user;
    const struct stretch *one = a, *other = b;
    uint32_t i = g_array_index(images, struct image, one->image).number,
             j = g_array_index(images, struct image, other->image).number;
    if (i != j)
        return i < j ? -1 : 1;
    if (one->start != other->start)
        return one->start < other->start ? -1 : 1;
    return one->size < other->size ? -1 : one->size > other->size;
}

static uint32_t number_of(struct making *k, GHashTable *of, uint32_t text, bool is_file)
{
    uint32_t number = GPOINTER_TO_UINT(g_hash_table_lookup(of, GUINT_TO_POINTER(text)));
    if (number == 0) {
        const char *bytes = k->from->texts->pdata[text];
        number = 1 + (is_file ? fm_machine_code_add_file(k->code, bytes)
                              : fm_machine_code_add_name(k->code, bytes));
        g_hash_table_insert(of, GUINT_TO_POINTER(text), GUINT_TO_POINTER(number));
    }
    return number - 1;
}

static void add_stretch(struct making *k, uint32_t ps, const struct stretch *stretch)
{
    const struct image *image = &g_array_index(k->from->images, struct image, stretch->image);
    fm_machine_code_add_part(k->code, ps, image->number, stretch->start, stretch->size);
    for (guint i = 0; i < stretch->rows->len; i++) {
        const struct row *row = &g_array_index(stretch->rows, struct row, i);
        uint32_t file = row->line == 0 ? 0 : number_of(k, k->files, row->file, true);
        fm_machine_code_add_row(k->code, &(struct fm_code_row){row->address, file, row->line});
    }
    for (guint i = 0; k->code->has_samples && i < stretch->samples->len; i++)
        fm_machine_code_add_sample(k->code,
                                   &g_array_index(stretch->samples, struct fm_code_sample, i));
    for (guint i = 0; i < stretch->calls->len; i++) {
        const struct call *call = &g_array_index(stretch->calls, struct call, i);
        fm_machine_code_add_call(
            k->code,
            &(struct fm_code_call){call->address, number_of(k, k->names, call->name, false)});
    }
    fm_machine_code_take_packed(k->code, stretch->packed, stretch->packed_size);
}

const char *fm_merge_code_lost(const struct fm_merge *m)
{
    const struct fm_merged_code *code = m->code;
    if (code->inputs == 0)
        return NULL;
    if (code->differs)
        return "instructions are left out: they would be of several builds";
    return code->inputs < m->inputs ? "instructions are left out: not all profiles have them"
                                    : NULL;
}

struct fm_machine_code *fm_merge_code_result(const struct fm_merge *m)
{
    struct fm_merged_code *from = m->code;
    if (from->inputs == 0 || fm_merge_code_lost(m) != NULL)
        return NULL;
    struct making k = {.from = from,
                       .code = fm_machine_code_new(m->procs->len, from->has_samples),
                       .files = g_hash_table_new(NULL, NULL),
                       .names = g_hash_table_new(NULL, NULL)};
    g_autofree uint32_t *by_id = g_new(uint32_t, m->procs->len + 1u);
    for (uint32_t proc = 0; proc < m->procs->len; proc++)
        by_id[fm_merge_proc(m, proc)->id] = proc;
    add_images(&k);
    for (uint32_t id = 1; id <= m->procs->len; id++) {
        GArray *stretches = by_id[id] < from->procs->len ? from->procs->pdata[by_id[id]] : NULL;
        if (stretches == NULL)
            continue;
        g_array_sort_with_data(stretches, compare_stretches, from->images);
        for (guint i = 0; i < stretches->len; i++)
            add_stretch(&k, id, &g_array_index(stretches, struct stretch, i));
    }
    g_hash_table_unref(k.files);
    g_hash_table_unref(k.names);
    return k.code;
}

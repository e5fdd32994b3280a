/* SPDX-License-Identifier: Apache-2.0 */
#include "exchange/import/perfdata/places.h"

#include <string.h>

#include "exchange/import/machine/code.h"
#include "exchange/import/memo.h"
#include "exchange/import/perfdata/kernel.h"

#define NO_IMAGE UINT32_MAX
#define MADE_IMAGE (UINT32_MAX - 1) /* code that the process made: offset is process and name */

/* What is the same wherever it is asked for: an offset in an image, an address of the kernel. */
struct key {
    uint64_t offset;
    uint32_t image; /* NO_IMAGE: none */
    enum fm_perf_mode mode;
};

#define MADE_UNIT "[made at run time]"

struct place {
    uint32_t first, count;
    bool named;
};

struct fm_perf_places {
    struct fm_perf_processes *processes;
    struct fm_stacks *stacks;
    GHashTable *known; /* struct key * -> number of the place + 1 */
    GArray *places;    /* struct place */
    GArray *bodies;    /* struct fm_perf_body_at */
    struct fm_perf_kernel *kernel;
    bool kernel_asked;
};

static guint hash_key(gconstpointer of)
{
    const struct key *key = of;
    return (guint)fm_import_mix(key->offset ^ (uint64_t)key->image << 40 ^
                                (uint64_t)key->mode << 38);
}

static gboolean equal_keys(gconstpointer a, gconstpointer b)
{
    const struct key *x = a, *y = b;
    return x->offset == y->offset && x->image == y->image && x->mode == y->mode;
}

struct fm_perf_places *fm_perf_places_new(struct fm_perf_processes *processes,
                                          struct fm_stacks *stacks)
{
    struct fm_perf_places *places = g_new0(struct fm_perf_places, 1);
    places->processes = processes;
    places->stacks = stacks;
    places->known = g_hash_table_new_full(hash_key, equal_keys, g_free, NULL);
    places->places = g_array_new(FALSE, FALSE, sizeof(struct place));
    places->bodies = g_array_new(FALSE, FALSE, sizeof(struct fm_perf_body_at));
    return places;
}

void fm_perf_places_free(struct fm_perf_places *places)
{
    if (places == NULL)
        return;
    g_hash_table_unref(places->known);
    g_array_unref(places->places);
    g_array_unref(places->bodies);
    fm_perf_kernel_free(places->kernel);
    g_free(places);
}

static void add_body(struct fm_perf_places *places, const char *name, const char *unit,
                     const struct fm_import_code_body *of)
{
    struct fm_stacks_name function = {.name = name, .size = strlen(name), .unit = unit};
    function.unit_size = unit == NULL ? 0 : strlen(unit);
    if (of != NULL && of->file != NULL) {
        function.file = of->file;
        function.file_size = strlen(of->file);
        function.line = of->begins;
    }
    struct fm_perf_body_at body = {fm_stacks_function(places->stacks, &function),
                                   of == NULL ? 0 : of->line};
    g_array_append_val(places->bodies, body);
}

/* One function a file, where its functions are not known. */
static void add_unnamed(struct fm_perf_places *places, const char *path)
{
    g_autofree char *name = fm_stacks_unnamed(path, strlen(path));
    add_body(places, name, path[0] == '\0' || path[0] == '[' ? NULL : path, NULL);
}

static bool add_kernel(struct fm_perf_places *places, const struct fm_perf_image *image,
                       uint64_t address)
{
    if (!places->kernel_asked)
        places->kernel = fm_perf_kernel_new(places->processes);
    places->kernel_asked = true;
    const char *name = places->kernel == NULL ? NULL : fm_perf_kernel_name(places->kernel, address);
    if (name != NULL)
        add_body(places, name, image->path, NULL);
    else if (image->kernel)
        add_body(places, "[kernel]", image->path, NULL);
    else
        add_unnamed(places, image->path);
    return name != NULL;
}

/* Adds the bodies of a new place. made: the name of code that the process made,
 * or NULL. */
static bool find(struct fm_perf_places *places, const struct key *key, const char *made)
{
    if (made != NULL) {
        add_body(places, made, MADE_UNIT, NULL);
        return true;
    }
    if (key->image == NO_IMAGE && key->mode == FM_PERF_IN_KERNEL) {
        add_body(places, "[kernel]", "[kernel.kallsyms]", NULL);
        return false;
    }
    if (key->image == NO_IMAGE) {
        add_body(places,
                 key->mode == FM_PERF_IN_HYPERVISOR ? "[hypervisor]"
                 : key->mode == FM_PERF_IN_GUEST    ? "[guest]"
                                                    : "[unknown]",
                 NULL, NULL);
        return false;
    }
    struct fm_perf_image *image = fm_perf_image_of(places->processes, key->image);
    if (image->kernel || image->module)
        return add_kernel(places, image, key->offset);
    struct fm_import_code *code = fm_perf_code_of(places->processes, image);
    const GArray *bodies = code == NULL ? NULL : fm_import_code_at(code, key->offset);
    for (guint i = 0; bodies != NULL && i < bodies->len; i++) {
        const struct fm_import_code_body *body =
            &g_array_index(bodies, struct fm_import_code_body, i);
        add_body(places, body->name, image->path, body);
    }
    if (bodies == NULL || bodies->len == 0)
        add_unnamed(places, image->path);
    return bodies != NULL && bodies->len > 0;
}

/* Memory of no program or library file: anonymous, or a jitdump's. */
static bool is_made(struct fm_perf_processes *processes, const struct fm_perf_mapping *mapping)
{
    struct fm_perf_image *image = fm_perf_image_of(processes, mapping->image);
    return !image->kernel && !image->module && fm_perf_code_of(processes, image) == NULL;
}

struct fm_perf_place fm_perf_place_of(struct fm_perf_places *places,
                                      struct fm_perf_process *process,
                                      const struct fm_perf_frame *frame)
{
    uint64_t address = frame->address - (!frame->exact && frame->address > 0);
    struct key key = {0, NO_IMAGE, frame->mode};
    const struct fm_perf_mapping *mapping =
        frame->mode == FM_PERF_IN_KERNEL ? fm_perf_mapping_at(&places->processes->kernel, address)
        : frame->mode == FM_PERF_IN_USER ? fm_perf_mapping_at(process, address)
                                         : NULL;
    if (mapping != NULL) {
        const struct fm_perf_image *image = fm_perf_image_of(places->processes, mapping->image);
        key.image = mapping->image;
        key.offset =
            image->kernel || image->module ? address : address - mapping->low + mapping->offset;
    }
    const char *made = NULL;
    uint32_t name;
    if (frame->mode == FM_PERF_IN_USER &&
        (mapping == NULL || is_made(places->processes, mapping)) &&
        (made = fm_perf_made_name(places->processes, process, address, &name)) != NULL)
        key = (struct key){(uint64_t)(uint32_t)process->pid << 32 | name, MADE_IMAGE, key.mode};
    guint number = GPOINTER_TO_UINT(g_hash_table_lookup(places->known, &key));
    if (number == 0) {
        struct place place = {.first = places->bodies->len};
        place.named = find(places, &key, made);
        place.count = places->bodies->len - place.first;
        g_array_append_val(places->places, place);
        number = places->places->len;
        g_hash_table_insert(places->known, g_memdup2(&key, sizeof key), GUINT_TO_POINTER(number));
    }
    const struct place *place = &g_array_index(places->places, struct place, number - 1);
    return (struct fm_perf_place){
        &g_array_index(places->bodies, struct fm_perf_body_at, place->first), place->count,
        place->named};
}

/* SPDX-License-Identifier: Apache-2.0 */
/* In modules without hooks ticks told which functions ran. In modules with hooks the statics tell
 * whether an address lies in a function that has them. A tick of the first kind is also a sample at
 * the call that led there, which is not counted again. */
#include "record/finish/emit/emit_unhooked.h"

#include <stdlib.h>
#include <string.h>

#include "base/text/demangle.h"

struct unhooked {
    const struct fm_raw_recording *recording;
    const struct fm_nodes *nodes;
    const uint32_t *csd_ids;
    GStringChunk *names;
    GArray *costs;   /* struct fm_unhooked */
    uint64_t told;   /* quanta whose code is known */
    GHashTable *led; /* quanta of foreign code by the sample that has them, too */
    GHashTable *own; /* statics -> GPtrArray: folders of the runtime's objects in it */
};

/* An address in code called by an edge. */
struct place {
    uint64_t pc;
    uint32_t csd, epoch;
    uint64_t quanta; /* no part of the key */
};

static guint hash_place(gconstpointer key)
{
    const struct place *place = key;
    return (guint)(place->pc * 31 + (place->pc >> 32)) + place->csd * 2654435761u + place->epoch;
}

static gboolean equal_places(gconstpointer a, gconstpointer b)
{
    const struct place *pa = a, *pb = b;
    return pa->pc == pb->pc && pa->csd == pb->csd && pa->epoch == pb->epoch;
}

static uint32_t csd_of(const struct unhooked *u, uint32_t csd)
{
    return u->csd_ids[fm_raw_recording_final_csd(u->recording, csd)];
}

static const char *keep_name(struct unhooked *u, const char *name)
{
    g_autofree char *plain = name == NULL ? g_strdup("") : fm_demangle(name);
    return g_string_chunk_insert_const(u->names, plain);
}

/* A function that the user left out has hooks all the same. */
static bool has_hooks(const struct fm_statics *statics, uint32_t scope)
{
    if (fm_statics_shown_around(statics, scope) != FM_NONE)
        return true;
    for (; scope != FM_NONE; scope = statics->scopes[scope].parent)
        if (statics->procs[statics->scopes[scope].proc].left_out)
            return true;
    return false;
}

static uint32_t outermost(const struct fm_statics *statics, uint32_t scope)
{
    while (scope != FM_NONE && statics->scopes[scope].parent != FM_NONE)
        scope = statics->scopes[scope].parent;
    return scope;
}

/* The runtime's functions in front of malloc, free and waiting calls: part of what recording costs,
 * and nothing of the program's. */
static bool is_own(struct unhooked *u, const struct fm_statics *statics, const struct fm_proc *proc,
                   const char *symbol)
{
    if (symbol != NULL && g_str_has_prefix(symbol, "fm_"))
        return true;
    GPtrArray *folders = g_hash_table_lookup(u->own, statics);
    if (folders == NULL) {
        folders = fm_statics_runtime_folders(statics);
        g_hash_table_insert(u->own, (gpointer)(uintptr_t)statics, folders);
    }
    return proc != NULL && fm_statics_is_in_folders(folders, proc->unit);
}

/* "fm_own_free" is free. */
static void tell_own(struct unhooked *u, struct fm_unhooked *ret)
{
    static const char own[] = "fm_own_";
    g_autofree char *object = g_strdup_printf("fathom's functions in %s", ret->object);
    ret->object = g_string_chunk_insert_const(u->names, object);
    if (g_str_has_prefix(ret->function, own))
        ret->function += sizeof own - 1;
}

/* False: the address lies in a function with hooks. */
static bool find_place(struct unhooked *u, uint64_t address, uint32_t epoch, bool in_kernel,
                       struct fm_unhooked *ret)
{
    const struct fm_images *images = u->nodes->images;
    uint64_t file;
    uint32_t index = fm_images_find(images, address, epoch, &file);
    *ret = (struct fm_unhooked){.kind = FM_UNHOOKED_OBJECT, .object = "", .function = ""};
    if (index == FM_NONE)
        return true;
    const struct fm_image *image = fm_images_at(images, index);
    const struct fm_statics *statics = image->statics;
    const char *symbol = fm_images_symbol(images, index, file);
    ret->object = image->name;
    ret->function = keep_name(u, symbol);
    if (in_kernel)
        ret->kind = FM_UNHOOKED_KERNEL;
    if (u->nodes->of_image[index].ps_of_proc == NULL || statics == NULL)
        return true;
    uint32_t scope = fm_statics_scope_at(statics, file), body = outermost(statics, scope);
    if (has_hooks(statics, scope))
        return false;
    if (in_kernel)
        return true;
    const struct fm_proc *proc =
        body == FM_NONE ? NULL : &statics->procs[statics->scopes[body].proc];
    if (is_own(u, statics, proc, symbol)) {
        tell_own(u, ret);
        return true;
    }
    bool in_system = proc != NULL && g_str_has_prefix(proc->file, "/usr/");
    ret->kind = in_system ? FM_UNHOOKED_SYSTEM : FM_UNHOOKED_PART;
    return true;
}

static void add(struct unhooked *u, uint32_t id, uint64_t address, uint32_t epoch, bool in_kernel,
                uint64_t quanta)
{
    struct fm_unhooked of;
    u->told += quanta;
    if (quanta == 0 || !find_place(u, address, epoch, in_kernel, &of))
        return;
    of.csd = id;
    of.quanta = quanta;
    g_array_append_val(u->costs, of);
}

static void add_foreigns(struct unhooked *u)
{
    for (uint32_t i = 0; i < u->recording->foreign_count; i++) {
        const struct fm_raw_foreign *foreign = &u->recording->foreigns[i];
        uint32_t id = csd_of(u, foreign->csd);
        if (id == 0)
            continue;
        add(u, id, foreign->fn, foreign->epoch, foreign->in_kernel, foreign->quanta);
        const struct place key = {foreign->call, id, foreign->epoch, foreign->quanta};
        struct place *led = g_hash_table_lookup(u->led, &key);
        if (led != NULL)
            led->quanta += foreign->quanta;
        else if (foreign->call != 0)
            g_hash_table_add(u->led, g_memdup2(&key, sizeof key));
    }
}

/* Edges that became one may have several samples at an address. */
static void add_samples(struct unhooked *u)
{
    for (uint32_t i = 0; i < u->recording->sample_count; i++) {
        const struct fm_raw_sample *sample = &u->recording->samples[i];
        const struct place key = {sample->pc, csd_of(u, sample->csd), sample->epoch, 0};
        struct place *led = g_hash_table_lookup(u->led, &key);
        uint64_t foreign = led == NULL ? 0 : MIN(led->quanta, sample->quanta);
        if (led != NULL)
            led->quanta -= foreign;
        if (key.csd != 0)
            add(u, key.csd, sample->pc, sample->epoch, false, sample->quanta - foreign);
    }
}

static int compare_costs(const void *a, const void *b)
{
    const struct fm_unhooked *p = a, *q = b;
    if (p->csd != q->csd)
        return p->csd < q->csd ? -1 : 1;
    if (p->kind != q->kind)
        return p->kind < q->kind ? -1 : 1;
    int order = strcmp(p->object, q->object);
    return order != 0 ? order : strcmp(p->function, q->function);
}

/* Own quanta of the profile's csds, by their ids; g_free. */
static uint64_t *quanta_of_all(const struct unhooked *u, uint64_t *ret_sum)
{
    const struct fm_raw_recording *recording = u->recording;
    uint32_t most = 0;
    for (uint32_t i = 0; i < recording->csd_count; i++)
        most = MAX(most, u->csd_ids[i]);
    uint64_t *quanta = g_new0(uint64_t, (gsize)most + 1);
    *ret_sum = 0;
    for (uint32_t i = 0; i < recording->csd_count; i++) {
        uint64_t own = u->csd_ids[i] != 0 ? recording->csds[i].quanta : 0;
        quanta[u->csd_ids[i]] += own;
        *ret_sum += own;
    }
    return quanta;
}

/* A csd has one fact for each place; together no more than its quanta, even if the file was full.
 */
static void tell(const struct unhooked *u, struct fm_build *build)
{
    const struct fm_unhooked *all = (const struct fm_unhooked *)(const void *)u->costs->data;
    uint64_t every;
    g_autofree uint64_t *left = quanta_of_all(u, &every);
    fm_build_unhooked_begin(build, fm_raw_less(every, u->told));
    for (guint i = 0; i < u->costs->len;) {
        struct fm_unhooked sum = all[i++];
        for (; i < u->costs->len && compare_costs(&sum, &all[i]) == 0; i++)
            sum.quanta += all[i].quanta;
        sum.quanta = MIN(sum.quanta, left[sum.csd]);
        left[sum.csd] -= sum.quanta;
        if (sum.quanta > 0)
            fm_build_unhooked(build, &sum);
    }
}

bool fm_emits_unhooked(const struct fm_raw_recording *recording)
{
    const struct fm_rec_header *header = &recording->header;
    return header->version > 2 && (header->totals & FM_REC_TOTALS_FOREIGN) != 0 &&
           (header->tick_source & 0xff) != FM_REC_TICK_NONE;
}

void fm_emit_unhooked(const struct fm_raw_recording *recording, const struct fm_nodes *nodes,
                      const uint32_t *csd_ids, struct fm_build *build)
{
    if (!fm_emits_unhooked(recording) || csd_ids == NULL)
        return;
    g_autoptr(GHashTable) led = g_hash_table_new_full(hash_place, equal_places, NULL, g_free);
    g_autoptr(GHashTable) own = g_hash_table_new_full(g_direct_hash, g_direct_equal, NULL,
                                                      (GDestroyNotify)g_ptr_array_unref);
    g_autoptr(GArray) costs = g_array_new(FALSE, FALSE, sizeof(struct fm_unhooked));
    struct unhooked u = {.recording = recording,
                         .nodes = nodes,
                         .csd_ids = csd_ids,
                         .names = g_string_chunk_new(4096),
                         .costs = costs,
                         .led = led,
                         .own = own};
    add_foreigns(&u);
    add_samples(&u);
    if (costs->len > 0)
        qsort(costs->data, costs->len, sizeof(struct fm_unhooked), compare_costs);
    tell(&u, build);
    g_string_chunk_free(u.names);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Finds modules by name and procedures by label. Both tables are made when everything has been
 * read. So they have their final size from the beginning, and no step that fills them waits for a
 * table to grow. */
#include <string.h>

#include "base/error.h"
#include "mercury/procrep/internal.h"

static uint32_t proc_hash(const struct fm_procrep_proc *proc)
{
    uint32_t hash = g_str_hash(proc->label.name);
    hash = hash * 33 + g_str_hash(proc->label.type_name);
    hash = hash * 33 + g_str_hash(proc->label.decl_module);
    hash = ((hash * 33 + proc->module) * 33 + proc->label.arity) * 33 + proc->label.mode;
    return (hash ^ hash >> 15) * 0x9e3779b1u;
}

static bool proc_equal(const struct fm_procrep_proc *one, const struct fm_procrep_proc *other)
{
    return one->module == other->module && fm_proc_label_compare(&one->label, &other->label) == 0;
}

/* Returns the slot of the procedure, or the free slot for it. */
static uint32_t *place_of(const struct fm_procrep *procrep, const struct fm_procrep_proc *proc)
{
    const struct fm_procrep_storage *storage = procrep->storage;
    uint32_t mask = storage->place_count - 1, at = proc_hash(proc) >> 7 & mask;
    while (storage->places[at] != 0 && !proc_equal(&procrep->procs[storage->places[at] - 1], proc))
        at = (at + 1) & mask;
    return &storage->places[at];
}

bool fm_procrep_index_modules(struct fm_procrep *procrep, GError **error)
{
    struct fm_procrep_storage *storage = procrep->storage;
    storage->modules = g_hash_table_new(g_str_hash, g_str_equal);
    for (uint32_t i = 0; i < procrep->module_count; i++) {
        struct fm_procrep_module *module = &procrep->modules[i];
        if (!g_hash_table_insert(storage->modules, (gpointer)(uintptr_t)module->name, module)) {
            g_set_error(error, FM_ERROR, FM_ERROR_FORMAT,
                        "%s: two modules are named '%s', expected each once", storage->name,
                        module->name);
            return false;
        }
    }
    storage->place_count = 2;
    while (storage->place_count / 2 < procrep->proc_count && storage->place_count < 1u << 31)
        storage->place_count *= 2;
    storage->places = g_new0(uint32_t, storage->place_count);
    return true;
}

bool fm_procrep_index_proc(struct fm_procrep *procrep, uint32_t proc, GError **error)
{
    uint32_t *place = place_of(procrep, &procrep->procs[proc]);
    if (*place != 0) {
        g_autoptr(GString) label = g_string_new(NULL);
        fm_proc_label_append(label, &procrep->procs[proc].label);
        g_set_error(error, FM_ERROR, FM_ERROR_FORMAT,
                    "%s: offset %zu: a second body of %s in its module, expected one",
                    procrep->storage->name, procrep->procs[proc].offset, label->str);
        return false;
    }
    *place = proc + 1;
    return true;
}

int64_t fm_procrep_find(const struct fm_procrep *procrep, const struct fm_proc_label *label)
{
    g_return_val_if_fail(procrep != NULL && label != NULL, -1);
    const struct fm_procrep_module *module = fm_procrep_module(procrep, label->def_module);
    if (module == NULL)
        return -1;
    const struct fm_procrep_proc key = {.label = *label,
                                        .module = (uint32_t)(module - procrep->modules)};
    return (int64_t)*place_of(procrep, &key) - 1;
}

int64_t fm_procrep_find_ps(const struct fm_procrep *procrep, const struct fm_ps *ps)
{
    struct fm_proc_label label;
    fm_proc_label_of_ps(ps, &label);
    return fm_procrep_find(procrep, &label);
}

const struct fm_procrep_module *fm_procrep_module(const struct fm_procrep *procrep,
                                                  const char *name)
{
    return g_hash_table_lookup(procrep->storage->modules, name);
}

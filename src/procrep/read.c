/* SPDX-License-Identifier: Apache-2.0 */
/* The index of a file: modules and the labels of their procedures. */
#include <errno.h>
#include <string.h>

#include "base/error.h"
#include "procrep/internal.h"

static const char id_text[] = "Mercury deep profiler procrep version ";

/* --- the tables by label and by name --- */

static guint proc_hash(gconstpointer key)
{
    const struct fm_procrep_proc *proc = key;
    guint hash = g_str_hash(proc->label.name);
    hash = hash * 33 + g_str_hash(proc->label.type_name);
    hash = hash * 33 + g_str_hash(proc->label.decl_module);
    return ((hash * 33 + proc->module) * 33 + proc->label.arity) * 33 + proc->label.mode;
}

static gboolean proc_equal(gconstpointer a, gconstpointer b)
{
    const struct fm_procrep_proc *one = a, *other = b;
    return one->module == other->module && fm_proc_label_compare(&one->label, &other->label) == 0;
}

int64_t fm_procrep_find(const struct fm_procrep *procrep, const struct fm_proc_label *label)
{
    g_return_val_if_fail(procrep != NULL && label != NULL, -1);
    const struct fm_procrep_module *module =
        g_hash_table_lookup(procrep->storage->modules, label->def_module);
    if (module == NULL)
        return -1;
    struct fm_procrep_proc key = {.label = *label, .module = (uint32_t)(module - procrep->modules)};
    const struct fm_procrep_proc *found = g_hash_table_lookup(procrep->storage->procs, &key);
    return found == NULL ? -1 : found - procrep->procs;
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

/* --- reading --- */

static bool read_id_line(struct fm_reader *in, unsigned *ret_version, GError **error)
{
    size_t length = strlen(id_text);
    if (fm_reader_left(in) < length || memcmp(in->at, id_text, length) != 0)
        return fm_reader_fail(in, in->at, FM_ERROR_FORMAT, error,
                              "not a program representation file: expected \"%s5\" or \"%s6\"",
                              id_text, id_text);
    in->at += length;
    if (fm_reader_left(in) < 2 || in->at[1] != '\n' || (in->at[0] != '5' && in->at[0] != '6'))
        return fm_reader_fail(in, in->at, FM_ERROR_VERSION, error,
                              "a version that is not known, expected 5 or 6 and a newline");
    *ret_version = in->at[0] - '0';
    in->at += 2;
    return true;
}

static bool read_marker(struct fm_reader *in, const char *what, bool *ret_more, GError **error)
{
    const uint8_t *begin = in->at;
    uint8_t marker;
    if (!fm_reader_byte(in, what, &marker, error))
        return false;
    if (marker > 1)
        return fm_reader_fail(in, begin, FM_ERROR_FORMAT, error, "%s is %u, expected 0 or 1", what,
                              marker);
    *ret_more = marker == 1;
    return true;
}

static bool read_string_table(struct fm_reader *in, struct fm_procrep_module *module,
                              GError **error)
{
    uint64_t size;
    const uint8_t *begin = in->at;
    if (!fm_reader_num(in, "size of a string table", &size, error))
        return false;
    if (size > fm_reader_left(in))
        return fm_reader_fail(in, begin, FM_ERROR_TRUNCATED, error,
                              "string table of %" G_GUINT64_FORMAT
                              " bytes, but unexpected end of file after %zu bytes",
                              size, fm_reader_left(in));
    if (size > 0 && in->at[size - 1] != 0)
        return fm_reader_fail(in, in->at + size - 1, FM_ERROR_FORMAT, error,
                              "string table ends with byte %u, expected 0", in->at[size - 1]);
    /* A copy, since the strings in use must keep their ends. */
    char *strings = g_malloc((size_t)size + 1);
    memcpy(strings, in->at, (size_t)size);
    strings[size] = '\0';
    module->strings = strings;
    module->strings_size = (size_t)size;
    in->at += size;
    return true;
}

static bool read_proc(struct fm_reader *in, struct fm_procrep_storage *storage, GArray *procs,
                      uint32_t module, GError **error)
{
    struct fm_procrep_proc proc = {.module = module};
    if (!fm_read_label(in, storage->strings, &proc.label, error))
        return false;
    const uint8_t *begin = in->at;
    proc.offset = fm_reader_offset(in);
    if (!fm_read_u32(in, "size of a procedure", &proc.size, error))
        return false;
    if (proc.size < 4)
        return fm_reader_fail(in, begin, FM_ERROR_FORMAT, error,
                              "procedure of %u bytes, expected at least 4", proc.size);
    if (proc.size - 4 > fm_reader_left(in))
        return fm_reader_fail(in, begin, FM_ERROR_TRUNCATED, error,
                              "procedure of %u bytes, but unexpected end of file after %zu bytes",
                              proc.size, fm_reader_left(in) + 4);
    in->at = begin + proc.size;
    g_array_append_val(procs, proc);
    return true;
}

static bool read_module(struct fm_reader *in, struct fm_procrep *procrep, GArray *procs,
                        struct fm_procrep_module *module, uint32_t number, GError **error)
{
    struct fm_procrep_storage *storage = procrep->storage;
    if (!fm_read_text(in, "name of a module", storage->strings, &module->name, error) ||
        !read_string_table(in, module, error))
        return false;
    if (procrep->version >= 6 && (!fm_read_oisu(in, storage->strings, module, error) ||
                                  !fm_read_types(in, storage->strings, module, error)))
        return false;
    module->proc_first = procs->len;
    for (bool more;;) {
        if (!read_marker(in, "mark before a procedure", &more, error))
            return false;
        if (!more)
            break;
        if (!read_proc(in, storage, procs, number, error))
            return false;
    }
    module->proc_count = procs->len - module->proc_first;
    return true;
}

static bool index_modules(struct fm_procrep *procrep, GError **error)
{
    for (uint32_t i = 0; i < procrep->module_count; i++) {
        struct fm_procrep_module *module = &procrep->modules[i];
        if (!g_hash_table_insert(procrep->storage->modules, (gpointer)(uintptr_t)module->name,
                                 module)) {
            g_set_error(error, FM_ERROR, FM_ERROR_FORMAT,
                        "%s: two modules are named '%s', expected each once",
                        procrep->storage->name, module->name);
            return false;
        }
    }
    for (uint32_t i = 0; i < procrep->proc_count; i++) {
        if (!g_hash_table_add(procrep->storage->procs, &procrep->procs[i])) {
            g_autoptr(GString) label = g_string_new(NULL);
            fm_proc_label_append(label, &procrep->procs[i].label);
            g_set_error(error, FM_ERROR, FM_ERROR_FORMAT,
                        "%s: offset %zu: a second body of %s in its module, expected one",
                        procrep->storage->name, procrep->procs[i].offset, label->str);
            return false;
        }
    }
    return true;
}

static bool read_modules(struct fm_reader *in, struct fm_procrep *procrep, GError **error)
{
    GArray *modules = g_array_new(FALSE, TRUE, sizeof(struct fm_procrep_module));
    GArray *procs = g_array_new(FALSE, FALSE, sizeof(struct fm_procrep_proc));
    bool ok, more = true;
    for (;;) {
        ok = read_marker(in, "mark before a module", &more, error);
        if (!ok || !more)
            break;
        g_array_set_size(modules, modules->len + 1);
        struct fm_procrep_module *module =
            &g_array_index(modules, struct fm_procrep_module, modules->len - 1);
        ok = read_module(in, procrep, procs, module, modules->len - 1, error);
        if (!ok)
            break;
    }
    if (ok && in->at != in->end)
        ok = fm_reader_fail(in, in->at, FM_ERROR_FORMAT, error,
                            "%zu bytes after the last module, expected the end of the file",
                            fm_reader_left(in));
    procrep->module_count = modules->len;
    procrep->proc_count = procs->len;
    procrep->modules = (struct fm_procrep_module *)(void *)g_array_free(modules, FALSE);
    procrep->procs = (struct fm_procrep_proc *)(void *)g_array_free(procs, FALSE);
    return ok && index_modules(procrep, error);
}

bool fm_procrep_read_bytes(const char *name, const uint8_t *bytes, size_t size,
                           struct fm_procrep **ret, GError **error)
{
    g_return_val_if_fail(name != NULL && ret != NULL, false);
    struct fm_procrep *procrep = g_new0(struct fm_procrep, 1);
    struct fm_procrep_storage *storage = g_new0(struct fm_procrep_storage, 1);
    procrep->storage = storage;
    storage->name = g_strdup(name);
    storage->bytes = bytes;
    storage->size = size;
    storage->strings = fm_strings_new();
    storage->procs = g_hash_table_new(proc_hash, proc_equal);
    storage->modules = g_hash_table_new(g_str_hash, g_str_equal);
    struct fm_reader in = {bytes, bytes, bytes + size, storage->name};
    if (!read_id_line(&in, &procrep->version, error) || !read_modules(&in, procrep, error)) {
        fm_procrep_free(procrep);
        return false;
    }
    *ret = procrep;
    return true;
}

static bool read_below(const struct fm_roots *roots, const char *path, struct fm_procrep **ret,
                       GError **error)
{
    struct fm_mapped_file *file;
    if (!g_file_test(path, G_FILE_TEST_EXISTS)) {
        g_set_error(error, FM_ERROR, FM_ERROR_NOT_FOUND, "%s: there is no such file", path);
        return false;
    }
    if (!fm_mapped_file_open_below(roots, path, &file, error))
        return false;
    static const uint8_t nothing[1];
    const uint8_t *bytes = file->bytes == NULL ? nothing : file->bytes;
    GError *found = NULL;
    bool ok = fm_procrep_read_bytes(path, bytes, file->size, ret, &found);
    if (!fm_mapped_file_check(file, error)) { /* then the bytes are not to blame */
        g_clear_error(&found);
        if (ok)
            fm_procrep_free(*ret);
        ok = false;
    } else if (!ok) {
        g_propagate_error(error, found);
    }
    if (ok)
        (*ret)->storage->file = file;
    else
        fm_mapped_file_free(file);
    return ok;
}

bool fm_procrep_read(const char *path, struct fm_procrep **ret, GError **error)
{
    return read_below(NULL, path, ret, error);
}

bool fm_procrep_read_beside(const struct fm_roots *roots, const char *data_path,
                            struct fm_procrep **ret, GError **error)
{
    g_return_val_if_fail(data_path != NULL && ret != NULL, false);
    if (!g_str_has_suffix(data_path, ".data")) {
        g_set_error(error, FM_ERROR, FM_ERROR_NOT_FOUND,
                    "%s: does not end in .data, so no .procrep belongs to it", data_path);
        return false;
    }
    g_autofree char *stem = g_strndup(data_path, strlen(data_path) - strlen(".data"));
    g_autofree char *path = g_strconcat(stem, ".procrep", NULL);
    return read_below(roots, path, ret, error);
}

void fm_procrep_free(struct fm_procrep *procrep)
{
    if (procrep == NULL)
        return;
    struct fm_procrep_storage *storage = procrep->storage;
    for (uint32_t i = 0; i < procrep->module_count; i++) {
        fm_procrep_module_clear_blocks(&procrep->modules[i]);
        g_free((char *)(uintptr_t)procrep->modules[i].strings);
    }
    g_free(procrep->modules);
    g_free(procrep->procs);
    g_hash_table_unref(storage->procs);
    g_hash_table_unref(storage->modules);
    fm_strings_free(storage->strings);
    fm_mapped_file_free(storage->file);
    g_free(storage->name);
    g_free(storage);
    g_free(procrep);
}

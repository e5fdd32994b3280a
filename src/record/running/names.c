/* SPDX-License-Identifier: Apache-2.0 */
#include "record/running/names.h"

#include <elfutils/libdwfl.h>
#include <string.h>

#include "base/process.h"
#include "base/text/demangle.h"
#include "record/statics/found.h"

struct file {
    Dwfl *dwfl;
    Dwfl_Module *module;
    uint64_t bias; /* difference between libdwfl's addresses and the file's */
};

struct fm_followed_names {
    const struct fm_followed *watch;
    Dwfl_Callbacks callbacks; /* libdwfl keeps a pointer to them */
    char *root, *folders;     /* NULL: none */
    char *debug_path;         /* of libdwfl */
    GHashTable *files;        /* path -> struct file *, NULL inside when it is not to be read */
    GPtrArray *names;         /* char *, by function; NULL = not asked for */
};

static void file_free(void *data)
{
    struct file *file = data;
    if (file->dwfl != NULL)
        dwfl_end(file->dwfl);
    g_free(file);
}

struct fm_followed_names *fm_followed_names_new(const struct fm_followed *watch, const char *root,
                                                const char *debug_path)
{
    struct fm_followed_names *names = g_new0(struct fm_followed_names, 1);
    names->watch = watch;
    names->root = g_strdup(root);
    if (root == NULL && fm_followed_is_running(watch))
        names->root = fm_process_root(fm_raw_header_writer(&watch->header));
    names->folders = g_strdup(debug_path);
    names->debug_path = fm_statics_debug_path(names->root, debug_path);
    names->callbacks = (Dwfl_Callbacks){
        .find_elf = dwfl_build_id_find_elf,
        .find_debuginfo = dwfl_standard_find_debuginfo,
        .section_address = dwfl_offline_section_address,
        .debuginfo_path = &names->debug_path,
    };
    names->files = g_hash_table_new_full(g_str_hash, g_str_equal, NULL, file_free);
    names->names = g_ptr_array_new_with_free_func(g_free);
    return names;
}

void fm_followed_names_free(struct fm_followed_names *names)
{
    if (names == NULL)
        return;
    g_hash_table_unref(names->files);
    g_ptr_array_unref(names->names);
    g_free(names->root);
    g_free(names->folders);
    g_free(names->debug_path);
    g_free(names);
}

/* Whether the file is the one that was loaded; without build IDs that is not known. */
static bool is_same_file(Dwfl_Module *module, const struct fm_raw_module *raw)
{
    const unsigned char *bits;
    GElf_Addr address;
    int size = dwfl_module_build_id(module, &bits, &address);
    return size <= 0 || raw->build_id_size == 0 ||
           ((uint32_t)size == raw->build_id_size && memcmp(bits, raw->build_id, (size_t)size) == 0);
}

static const struct file *file_of(struct fm_followed_names *names, const struct fm_raw_module *raw)
{
    struct file *file = g_hash_table_lookup(names->files, raw->path);
    if (file != NULL)
        return file;
    file = g_new0(struct file, 1);
    g_hash_table_insert(names->files, (gpointer)(uintptr_t)raw->path, file);
    file->dwfl = dwfl_begin(&names->callbacks);
    if (file->dwfl == NULL)
        return file;
    dwfl_report_begin(file->dwfl);
    const struct fm_loaded_file loaded = {raw->path, raw->build_id, raw->build_id_size};
    g_autofree char *path = fm_statics_find(&loaded, names->root, names->folders);
    file->module = dwfl_report_offline(file->dwfl, path, path, -1);
    dwfl_report_end(file->dwfl, NULL, NULL);
    GElf_Addr bias = 0;
    if (file->module != NULL &&
        (dwfl_module_getelf(file->module, &bias) == NULL || !is_same_file(file->module, raw)))
        file->module = NULL;
    file->bias = bias;
    return file;
}

static char *make_name(struct fm_followed_names *names, const struct fm_followed_function *function)
{
    if (function->address == 0)
        return g_strdup("(thread)");
    if (function->address == FM_REC_FN_LOST)
        return g_strdup("(not recorded: the recording was full)");
    if (function->address == FM_REC_FN_CUT)
        return g_strdup("(callers not known)");
    if (function->address == FM_REC_FN_UNKNOWN)
        return g_strdup("(code made at run time)");
    if (function->module == FM_FOLLOWED_NONE)
        return g_strdup_printf("0x%" G_GINT64_MODIFIER "x", (guint64)function->address);
    const struct fm_raw_module *raw = &names->watch->modules[function->module];
    const struct file *file = file_of(names, raw);
    uint64_t address = function->address - raw->bias;
    const char *symbol =
        file->module == NULL ? NULL : dwfl_module_addrname(file->module, address + file->bias);
    if (symbol != NULL) {
        g_autofree char *plain = fm_demangle(symbol);
        return g_utf8_make_valid(plain, -1);
    }
    g_autofree char *base = g_path_get_basename(raw->path);
    g_autofree char *valid = g_utf8_make_valid(base, -1);
    return g_strdup_printf("%s+0x%" G_GINT64_MODIFIER "x", valid, (guint64)address);
}

const char *fm_followed_name(struct fm_followed_names *names, uint32_t function)
{
    g_return_val_if_fail(names != NULL && function < names->watch->function_count, "");
    if (names->names->len <= function)
        g_ptr_array_set_size(names->names, (gint)names->watch->function_count);
    char **name = (char **)&g_ptr_array_index(names->names, function);
    if (*name == NULL)
        *name = make_name(names, &names->watch->functions[function]);
    return *name;
}

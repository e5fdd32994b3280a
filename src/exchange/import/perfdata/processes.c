/* SPDX-License-Identifier: Apache-2.0 */
#include "exchange/import/perfdata/processes.h"

#include <string.h>
#include <sys/utsname.h>

#include "exchange/import/machine/code.h"

#define JIT_ASKS 64u /* it is looked for anew each time that it was asked for that often */
#define DUMP_BEGIN "jit-"
#define DUMP_END ".dump"

static struct fm_perf_process *process_new(int32_t pid)
{
    struct fm_perf_process *process = g_new0(struct fm_perf_process, 1);
    process->pid = pid;
    process->mappings = g_array_new(FALSE, FALSE, sizeof(struct fm_perf_mapping));
    return process;
}

static void process_free(void *of)
{
    struct fm_perf_process *process = of;
    if (process->unwinder != NULL)
        process->unwinder_free(process->unwinder);
    g_array_unref(process->mappings);
    fm_perf_jit_free(process->jit);
    g_free(process);
}

static void clear_image(void *of)
{
    struct fm_perf_image *image = of;
    g_free(image->path);
    fm_import_code_free(image->code);
}

bool fm_perf_is_this_machine(const struct fm_perf_file *file)
{
    struct utsname running;
    if (file->hostname == NULL || uname(&running) != 0 ||
        strcmp(running.nodename, file->hostname) != 0)
        return false;
    /* Many are called localhost. */
    return !g_str_has_prefix(file->hostname, "localhost") ||
           (file->release != NULL && strcmp(running.release, file->release) == 0);
}

void fm_perf_processes_init(struct fm_perf_processes *processes, const struct fm_perf_file *file)
{
    *processes = (struct fm_perf_processes){.file = file, .symfs = file->input->options->symfs};
    processes->by_path = processes->symfs != NULL || fm_perf_is_this_machine(file);
    processes->images = g_array_new(FALSE, TRUE, sizeof(struct fm_perf_image));
    g_array_set_clear_func(processes->images, clear_image);
    processes->numbers =
        g_hash_table_new_full(g_bytes_hash, g_bytes_equal, (GDestroyNotify)g_bytes_unref, NULL);
    processes->processes = g_hash_table_new_full(NULL, NULL, NULL, process_free);
    processes->names = g_hash_table_new(NULL, NULL);
    processes->strings = g_string_chunk_new(4096);
    processes->kernel.mappings = g_array_new(FALSE, FALSE, sizeof(struct fm_perf_mapping));
}

void fm_perf_processes_clear(struct fm_perf_processes *processes)
{
    g_hash_table_unref(processes->processes);
    g_array_unref(processes->kernel.mappings);
    g_array_unref(processes->images);
    g_hash_table_unref(processes->numbers);
    g_hash_table_unref(processes->names);
    g_string_chunk_free(processes->strings);
    g_free(processes->kernel_symbol_name);
}

/* --- mappings --- */

/* How many end at or before an address. */
static guint count_before(const GArray *mappings, uint64_t address)
{
    guint first = 0, end = mappings->len;
    while (first < end) {
        guint middle = first + (end - first) / 2;
        if (g_array_index(mappings, struct fm_perf_mapping, middle).high <= address)
            first = middle + 1;
        else
            end = middle;
    }
    return first;
}

const struct fm_perf_mapping *fm_perf_mapping_at(const struct fm_perf_process *process,
                                                 uint64_t address)
{
    if (process == NULL)
        return NULL;
    guint at = count_before(process->mappings, address);
    if (at == process->mappings->len)
        return NULL;
    const struct fm_perf_mapping *mapping =
        &g_array_index(process->mappings, struct fm_perf_mapping, at);
    return mapping->low <= address ? mapping : NULL;
}

/* What was mapped there before is gone: parts of it may be left on both sides. */
static void map(struct fm_perf_process *process, struct fm_perf_mapping mapping, bool is_file)
{
    GArray *all = process->mappings;
    guint at = count_before(all, mapping.low);
    bool replaces = false;
    if (at < all->len) {
        struct fm_perf_mapping *first = &g_array_index(all, struct fm_perf_mapping, at);
        if (first->low == mapping.low && first->high == mapping.high &&
            first->offset == mapping.offset && first->image == mapping.image)
            return; /* told again */
        replaces = first->low < mapping.high;
        if (first->low < mapping.low) {
            struct fm_perf_mapping left = *first;
            left.high = mapping.low;
            first->offset += mapping.low - first->low;
            first->low = mapping.low;
            g_array_insert_val(all, at, left);
            at++;
        }
    }
    /* Code of no file has no tables, so the unwinder need not be made anew where it is added. */
    process->versions += is_file || replaces;
    guint end = at;
    while (end < all->len && g_array_index(all, struct fm_perf_mapping, end).high <= mapping.high)
        end++;
    if (end < all->len) {
        struct fm_perf_mapping *last = &g_array_index(all, struct fm_perf_mapping, end);
        if (last->low < mapping.high) {
            last->offset += mapping.high - last->low;
            last->low = mapping.high;
        }
    }
    if (end > at)
        g_array_remove_range(all, at, end - at);
    g_array_insert_val(all, at, mapping);
}

struct fm_perf_process *fm_perf_process_of(struct fm_perf_processes *processes, int32_t pid)
{
    return pid == -1 ? &processes->kernel
                     : g_hash_table_lookup(processes->processes, GINT_TO_POINTER(pid));
}

static struct fm_perf_process *need_process(struct fm_perf_processes *processes, int32_t pid)
{
    if (pid == -1)
        return &processes->kernel;
    struct fm_perf_process *process =
        g_hash_table_lookup(processes->processes, GINT_TO_POINTER(pid));
    if (process == NULL) {
        process = process_new(pid);
        g_hash_table_insert(processes->processes, GINT_TO_POINTER(pid), process);
    }
    return process;
}

/* --- images --- */

struct fm_perf_image *fm_perf_image_of(struct fm_perf_processes *processes, uint32_t number)
{
    return &g_array_index(processes->images, struct fm_perf_image, number);
}

struct fm_import_code *fm_perf_code_of(const struct fm_perf_processes *processes,
                                       struct fm_perf_image *image)
{
    bool known = image->build_id_size > 0 || processes->by_path;
    if (!image->opened && !image->kernel && !image->module && image->path[0] == '/' && known) {
        g_autofree char *path =
            g_strconcat(processes->symfs == NULL ? "" : processes->symfs, image->path, NULL);
        image->code =
            fm_import_code_open(path, image->build_id, image->build_id_size, &image->other);
        bool other;
        if (image->code == NULL && processes->changes_root && image->build_id_size > 0 &&
            (image->code = fm_import_code_open(image->path, image->build_id, image->build_id_size,
                                               &other)) != NULL)
            image->other = false;
        image->by_path = image->code != NULL && image->build_id_size == 0;
    }
    image->opened = true;
    return image->code;
}

static uint32_t image_of(struct fm_perf_processes *processes, const char *path,
                         const uint8_t *build_id, uint8_t size, bool of_kernel)
{
    g_autoptr(GByteArray) key = g_byte_array_new();
    GBytes *told = size > 0 ? NULL : g_hash_table_lookup(processes->file->build_ids, path);
    if (told != NULL) {
        size = (uint8_t)g_bytes_get_size(told);
        build_id = g_bytes_get_data(told, NULL);
    }
    g_byte_array_append(key, (const guint8 *)path, (guint)strlen(path) + 1);
    if (size > 0)
        g_byte_array_append(key, build_id, size);
    GBytes *bytes = g_bytes_new(key->data, key->len);
    gpointer known = g_hash_table_lookup(processes->numbers, bytes);
    if (known != NULL) {
        g_bytes_unref(bytes);
        return GPOINTER_TO_UINT(known) - 1;
    }
    struct fm_perf_image image = {.path = g_strdup(path), .build_id_size = size};
    if (size > 0)
        memcpy(image.build_id, build_id, size);
    image.kernel = g_str_has_prefix(path, "[kernel.kallsyms]") ||
                   g_str_has_prefix(path, "[guest.kernel.kallsyms");
    image.module = of_kernel && !image.kernel;
    g_array_append_val(processes->images, image);
    g_hash_table_insert(processes->numbers, bytes, GUINT_TO_POINTER(processes->images->len));
    return processes->images->len - 1;
}

/* "[kernel.kallsyms]_text": the name of a symbol stands behind, its address where files have their
 * offset. */
static void note_kernel(struct fm_perf_processes *processes, char *path, uint64_t address)
{
    static const char kernel[] = "[kernel.kallsyms]";
    if (!g_str_has_prefix(path, kernel))
        return;
    if (path[sizeof kernel - 1] != '\0' && processes->kernel_symbol_name == NULL) {
        processes->kernel_symbol_name = g_strdup(path + sizeof kernel - 1);
        processes->kernel_symbol = address;
    }
    path[sizeof kernel - 1] = '\0';
}

static void apply_map(struct fm_perf_processes *processes, const struct fm_perf_body *body)
{
    struct fm_perf_fields fields = body->fields;
    const uint8_t *id = NULL;
    uint8_t id_size = 0;
    int32_t pid = (int32_t)fm_perf_take_u32(&fields);
    fm_perf_take_u32(&fields);
    struct fm_perf_mapping mapping = {.low = fm_perf_take_u64(&fields)};
    uint64_t size = fm_perf_take_u64(&fields);
    mapping.offset = fm_perf_take_u64(&fields);
    if (body->type == FM_PERF_MMAP2) {
        const uint8_t *inode = fm_perf_take(&fields, 24);
        fm_perf_take_u64(&fields); /* protection, flags */
        if (inode != NULL && (body->misc & FM_PERF_MISC_BUILD_ID) != 0) {
            id = inode + 4;
            id_size = MIN(inode[0], FM_PERF_ID_BYTES);
        }
    }
    if (fields.bad || size == 0)
        return;
    mapping.high = size > UINT64_MAX - mapping.low ? UINT64_MAX : mapping.low + size;
    g_autofree char *path = fm_perf_text(&fields);
    if (pid == -1)
        note_kernel(processes, path, mapping.offset);
    mapping.image = image_of(processes, path, id, id_size, pid == -1);
    map(need_process(processes, pid), mapping, path[0] == '/' && path[1] != '/');
}

/* --- code that a program makes --- */

static char *jitdump_path(const struct fm_perf_processes *processes,
                          const struct fm_perf_process *process)
{
    for (guint i = 0; i < process->mappings->len; i++) {
        uint32_t image = g_array_index(process->mappings, struct fm_perf_mapping, i).image;
        const char *path = g_array_index(processes->images, struct fm_perf_image, image).path;
        const char *base = strrchr(path, '/');
        if (base != NULL && g_str_has_prefix(base + 1, DUMP_BEGIN) &&
            g_str_has_suffix(base, DUMP_END))
            return g_strconcat(processes->symfs == NULL ? "" : processes->symfs, path, NULL);
    }
    return NULL;
}

/* Kept with the recording, which may be of another machine. */
static struct fm_perf_jit *beside_file(const struct fm_import_input *input, int32_t pid)
{
    bool is_file = input->size > 0 && strcmp(input->name, "-") != 0;
    return is_file ? fm_perf_jit_beside(input->name, (uint32_t)pid) : NULL;
}

const char *fm_perf_made_name(const struct fm_perf_processes *processes,
                              struct fm_perf_process *process, uint64_t address,
                              uint32_t *ret_number)
{
    if (process == NULL || process == &processes->kernel)
        return NULL;
    if (process->jit == NULL && process->jit_asks == 0)
        process->jit = beside_file(processes->file->input, process->pid);
    if (process->jit == NULL && process->jit_asks++ % JIT_ASKS == 0 && processes->by_path) {
        int32_t pid = processes->inner_pid != 0 ? processes->inner_pid : process->pid;
        g_autofree char *dump = jitdump_path(processes, process);
        g_autofree char *map = g_strdup_printf(
            "%s/tmp/perf-%d.map", processes->symfs == NULL ? "" : processes->symfs, (int)pid);
        process->jit = dump == NULL ? NULL : fm_perf_jit_new(dump);
        if (process->jit == NULL)
            process->jit = fm_perf_jit_new(map);
    }
    return process->jit == NULL ? NULL : fm_perf_jit_name(process->jit, address, ret_number);
}

/* --- threads --- */

static void apply_name(struct fm_perf_processes *processes, const struct fm_perf_body *body)
{
    struct fm_perf_fields fields = body->fields;
    int32_t pid = (int32_t)fm_perf_take_u32(&fields), tid = (int32_t)fm_perf_take_u32(&fields);
    if (fields.bad)
        return;
    g_autofree char *name = fm_perf_text(&fields);
    g_hash_table_replace(processes->names, GINT_TO_POINTER(tid),
                         g_string_chunk_insert_const(processes->strings, name));
    struct fm_perf_process *process = fm_perf_process_of(processes, pid);
    if ((body->misc & FM_PERF_MISC_EXEC) != 0 && process != NULL && pid != -1) {
        g_array_set_size(process->mappings, 0);
        process->versions++;
    }
}

static void apply_fork(struct fm_perf_processes *processes, const struct fm_perf_body *body)
{
    struct fm_perf_fields fields = body->fields;
    int32_t pid = (int32_t)fm_perf_take_u32(&fields), parent = (int32_t)fm_perf_take_u32(&fields);
    int32_t tid = (int32_t)fm_perf_take_u32(&fields), of = (int32_t)fm_perf_take_u32(&fields);
    gpointer name = g_hash_table_lookup(processes->names, GINT_TO_POINTER(of));
    if (fields.bad)
        return;
    if (name != NULL)
        g_hash_table_replace(processes->names, GINT_TO_POINTER(tid), name);
    const struct fm_perf_process *from = fm_perf_process_of(processes, parent);
    if (pid == parent || pid == -1 || from == NULL || from == &processes->kernel ||
        (body->misc & FM_PERF_MISC_EXEC) != 0)
        return;
    struct fm_perf_process *process = process_new(pid);
    if (from->mappings->len > 0)
        g_array_append_vals(process->mappings, from->mappings->data, from->mappings->len);
    g_hash_table_replace(processes->processes, GINT_TO_POINTER(pid), process);
}

const char *fm_perf_thread_name(struct fm_perf_processes *processes, int32_t tid)
{
    const char *name = g_hash_table_lookup(processes->names, GINT_TO_POINTER(tid));
    if (name != NULL)
        return name;
    g_autofree char *number = g_strdup_printf(":%d", tid);
    name = g_string_chunk_insert_const(processes->strings, tid == 0 ? "swapper" : number);
    g_hash_table_insert(processes->names, GINT_TO_POINTER(tid), (gpointer)(uintptr_t)name);
    return name;
}

void fm_perf_processes_apply(struct fm_perf_processes *processes, const struct fm_perf_body *body)
{
    switch (body->type) {
    case FM_PERF_MMAP:
    case FM_PERF_MMAP2:
        apply_map(processes, body);
        break;
    case FM_PERF_COMM:
        apply_name(processes, body);
        break;
    case FM_PERF_FORK:
        apply_fork(processes, body);
        break;
    default:
        break;
    }
}

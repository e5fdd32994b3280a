/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the index of a file, in steps: modules and the labels of their procedures. */
#include <errno.h>
#include <string.h>

#include "base/error.h"
#include "base/files/beside.h"
#include "mercury/procrep/internal.h"

static const char id_text[] = "Mercury deep profiler procrep version ";

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

/* --- in steps --- */

enum phase {
    START,   /* the line with the version */
    MODULES, /* next comes a module, or the end */
    PROCS,   /* procedures of the current module */
    INDEX,   /* adding procedures to the table */
    READ
};

struct fm_procrep_job {
    struct fm_procrep *procrep;
    struct fm_reader in;
    enum phase phase;
    GArray *modules, *procs; /* struct fm_procrep_module, struct fm_procrep_proc */
    uint32_t indexed;        /* procedures in the table so far */
};

static struct fm_procrep_job *job_new(const char *name, const uint8_t *bytes, size_t size)
{
    struct fm_procrep_job *job = g_new0(struct fm_procrep_job, 1);
    struct fm_procrep_storage *storage = g_new0(struct fm_procrep_storage, 1);
    job->procrep = g_new0(struct fm_procrep, 1);
    job->procrep->storage = storage;
    storage->name = g_strdup(name);
    storage->bytes = bytes;
    storage->size = size;
    storage->strings = fm_strings_new();
    job->modules = g_array_new(FALSE, TRUE, sizeof(struct fm_procrep_module));
    job->procs = g_array_new(FALSE, FALSE, sizeof(struct fm_procrep_proc));
    job->in = (struct fm_reader){bytes, bytes, bytes + size, storage->name};
    return job;
}

/* Moves the arrays to the procrep. */
static void give_arrays(struct fm_procrep_job *job)
{
    struct fm_procrep *procrep = job->procrep;
    g_assert(procrep != NULL);
    procrep->module_count = job->modules->len;
    procrep->proc_count = job->procs->len;
    procrep->modules =
        (struct fm_procrep_module *)(void *)g_array_free(g_steal_pointer(&job->modules), FALSE);
    procrep->procs =
        (struct fm_procrep_proc *)(void *)g_array_free(g_steal_pointer(&job->procs), FALSE);
}

/* Reads the part of a module before its procedures, or the end of all modules. */
static bool read_module(struct fm_procrep_job *job, GError **error)
{
    struct fm_reader *in = &job->in;
    struct fm_procrep_storage *storage = job->procrep->storage;
    bool more;
    if (!read_marker(in, "mark before a module", &more, error))
        return false;
    if (!more) {
        if (in->at != in->end)
            return fm_reader_fail(in, in->at, FM_ERROR_FORMAT, error,
                                  "%zu bytes after the last module, expected the end of the file",
                                  fm_reader_left(in));
        give_arrays(job);
        job->phase = INDEX;
        return fm_procrep_index_modules(job->procrep, error);
    }
    g_array_set_size(job->modules, job->modules->len + 1);
    struct fm_procrep_module *module =
        &g_array_index(job->modules, struct fm_procrep_module, job->modules->len - 1);
    module->proc_first = job->procs->len;
    job->phase = PROCS;
    return fm_read_text(in, "name of a module", storage->strings, &module->name, error) &&
           read_string_table(in, module, error) &&
           (job->procrep->version < 6 || (fm_read_oisu(in, storage->strings, module, error) &&
                                          fm_read_types(in, storage->strings, module, error)));
}

static bool read_next_proc(struct fm_procrep_job *job, GError **error)
{
    struct fm_procrep_module *module =
        &g_array_index(job->modules, struct fm_procrep_module, job->modules->len - 1);
    bool more;
    if (!read_marker(&job->in, "mark before a procedure", &more, error))
        return false;
    if (more)
        return read_proc(&job->in, job->procrep->storage, job->procs, job->modules->len - 1, error);
    module->proc_count = job->procs->len - module->proc_first;
    job->phase = MODULES;
    return true;
}

static bool step_once(struct fm_procrep_job *job, GError **error)
{
    switch (job->phase) {
    case START:
        job->phase = MODULES;
        return read_id_line(&job->in, &job->procrep->version, error);
    case MODULES:
        return read_module(job, error);
    case PROCS:
        return read_next_proc(job, error);
    case INDEX:
        if (job->indexed == job->procrep->proc_count)
            job->phase = READ;
        else
            return fm_procrep_index_proc(job->procrep, job->indexed++, error);
        break;
    case READ:
        break;
    }
    return true;
}

/* When the file has been truncated meanwhile, reports that instead of errors in its bytes. */
static bool check_file(const struct fm_procrep_job *job, GError **error)
{
    const struct fm_procrep_storage *storage = job->procrep->storage;
    g_autoptr(GError) cut = NULL;
    if (storage->file == NULL || fm_mapped_file_check(storage->file, &cut))
        return true;
    g_clear_error(error);
    g_propagate_error(error, g_steal_pointer(&cut));
    return false;
}

enum fm_job_state fm_procrep_job_step(struct fm_procrep_job *job, uint32_t procs, GError **error)
{
    g_return_val_if_fail(job != NULL && procs > 0, FM_JOB_FAILED);
    GError *found = NULL;
    bool ok = true;
    for (uint32_t i = 0; ok && i < procs && job->phase != READ; i++)
        ok = step_once(job, &found);
    if (!check_file(job, &found))
        ok = false;
    if (!ok)
        g_propagate_error(error, found);
    return !ok ? FM_JOB_FAILED : job->phase == READ ? FM_JOB_DONE : FM_JOB_MORE;
}

struct fm_procrep *fm_procrep_job_take(struct fm_procrep_job *job)
{
    g_return_val_if_fail(job->phase == READ, NULL);
    return g_steal_pointer(&job->procrep);
}

void fm_procrep_job_free(struct fm_procrep_job *job)
{
    if (job == NULL)
        return;
    if (job->modules != NULL)
        give_arrays(job);
    fm_procrep_free(job->procrep);
    g_free(job);
}

/* --- at once --- */

/* Frees job. */
static bool run(struct fm_procrep_job *job, struct fm_procrep **ret, GError **error)
{
    enum fm_job_state state = FM_JOB_MORE;
    while (state == FM_JOB_MORE)
        state = fm_procrep_job_step(job, G_MAXUINT32, error);
    if (state == FM_JOB_DONE)
        *ret = fm_procrep_job_take(job);
    fm_procrep_job_free(job);
    return state == FM_JOB_DONE;
}

bool fm_procrep_read_bytes(const char *name, const uint8_t *bytes, size_t size,
                           struct fm_procrep **ret, GError **error)
{
    g_return_val_if_fail(name != NULL && ret != NULL, false);
    return run(job_new(name, bytes, size), ret, error);
}

static bool open_below(const struct fm_roots *roots, const char *path, struct fm_procrep_job **ret,
                       GError **error)
{
    struct fm_mapped_file *file;
    if (!fm_mapped_file_find(roots, path, &file, error))
        return false;
    *ret = job_new(path, fm_mapped_file_begin(file), file->size);
    (*ret)->procrep->storage->file = file;
    return true;
}

bool fm_procrep_read(const char *path, struct fm_procrep **ret, GError **error)
{
    g_return_val_if_fail(path != NULL && ret != NULL, false);
    struct fm_procrep_job *job;
    return open_below(NULL, path, &job, error) && run(job, ret, error);
}

bool fm_procrep_job_new_beside(const struct fm_roots *roots, const char *data_path,
                               struct fm_procrep_job **ret, GError **error)
{
    g_return_val_if_fail(data_path != NULL && ret != NULL, false);
    if (!g_str_has_suffix(data_path, FM_PROFILE_ENDING)) {
        g_set_error(error, FM_ERROR, FM_ERROR_NOT_FOUND,
                    "%s: does not end in .data, so no .procrep belongs to it", data_path);
        return false;
    }
    g_autofree char *path = fm_path_beside(data_path, FM_BESIDE_BODIES);
    return open_below(roots, path, ret, error);
}

bool fm_procrep_read_beside(const struct fm_roots *roots, const char *data_path,
                            struct fm_procrep **ret, GError **error)
{
    struct fm_procrep_job *job;
    return fm_procrep_job_new_beside(roots, data_path, &job, error) && run(job, ret, error);
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
    g_clear_pointer(&storage->modules, g_hash_table_unref);
    g_free(storage->places);
    fm_strings_free(storage->strings);
    fm_mapped_file_free(storage->file);
    g_free(storage->name);
    g_free(storage);
    g_free(procrep);
}

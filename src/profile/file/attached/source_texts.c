/* SPDX-License-Identifier: Apache-2.0 */
#include "profile/file/attached/source_texts.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

#include "base/error.h"
#include "base/files/reader.h"
#include "base/files/writer.h"
#include "profile/file/deep_internal.h"
#include "profile/file/attached/attached.h"

#define PACKING_LEVEL 9

static const char id_line[] = "fathom sources version 1\n";

/* One file as stored; packed points into the bytes that were read. */
struct stored {
    char *path;
    uint64_t size;
    size_t packed_size;
    uint8_t *packed;
};

struct fm_source_texts {
    char *name;
    GArray *files;     /* struct stored */
    GHashTable *index; /* path -> index + 1 */
};

/* --- writing --- */

static char *read_text(const char *path, size_t *ret_size)
{
    struct stat status;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    char *text = NULL;
    size_t have = 0;
    if (fd < 0)
        return NULL;
    if (fstat(fd, &status) == 0 && S_ISREG(status.st_mode) && status.st_size >= 0 &&
        status.st_size <= (off_t)FM_SOURCE_TEXT_BYTES_MAX) {
        text = g_malloc((size_t)status.st_size + 1);
        for (ssize_t got = 1; got > 0 && have < (size_t)status.st_size; have += (size_t)MAX(got, 0))
            got = read(fd, text + have, (size_t)status.st_size - have);
    }
    close(fd);
    if (text != NULL && memchr(text, '\0', have) != NULL)
        g_clear_pointer(&text, g_free);
    *ret_size = have;
    return text;
}

static bool put_file(struct fm_writer *writer, const char *file, const char *folder,
                     const char *root)
{
    g_autofree char *path =
        g_path_is_absolute(file) ? g_strdup(file) : g_build_filename(folder, file, NULL);
    g_autofree char *below = root == NULL ? NULL : g_build_filename(root, path, NULL);
    size_t size;
    g_autofree char *text = below == NULL ? NULL : read_text(below, &size);
    if (text == NULL)
        text = read_text(path, &size);
    if (text == NULL)
        return false;
    size_t bound = ZSTD_compressBound(size);
    g_autofree char *packed = g_malloc(bound);
    size_t packed_size = ZSTD_compress(packed, bound, text, size, PACKING_LEVEL);
    if (ZSTD_isError(packed_size))
        return false;
    fm_writer_string(writer, file);
    fm_writer_num(writer, size);
    fm_writer_num(writer, packed_size);
    fm_writer_bytes(writer, packed, packed_size);
    return true;
}

/* The files of functions that have a context: ascending, each once. */
static GPtrArray *files_that_ran(const struct fm_profile *profile)
{
    g_autofree bool *ran = g_new0(bool, profile->ps_count + 1u);
    g_autoptr(GHashTable) seen = g_hash_table_new(g_str_hash, g_str_equal);
    GPtrArray *files = g_ptr_array_new();
    for (uint32_t pd = 1; pd <= profile->pd_count; pd++)
        ran[profile->pd_ps[pd]] = true;
    for (uint32_t ps = 1; ps <= profile->ps_count; ps++) {
        const char *file = profile->ps[ps].file;
        if (ran[ps] && file[0] && g_hash_table_add(seen, (void *)(uintptr_t)file))
            g_ptr_array_add(files, (void *)(uintptr_t)file);
    }
    return files;
}

void fm_source_texts_attach(struct fm_profile *profile, const char *folder, const char *root,
                            uint32_t *ret_count, uint32_t *ret_left)
{
    g_return_if_fail(profile != NULL && folder != NULL);
    struct fm_writer *writer = fm_writer_new_memory();
    g_autoptr(GPtrArray) files = files_that_ran(profile);
    *ret_count = *ret_left = 0;
    fm_writer_bytes(writer, id_line, strlen(id_line));
    fm_write_owner(writer, profile);
    for (guint i = 0; i < files->len; i++)
        ++*(put_file(writer, files->pdata[i], folder, root) ? ret_count : ret_left);
    fm_writer_string(writer, ""); /* the end */
    fm_profile_attach(profile, FM_ATTACHED_SOURCES, writer);
}

/* --- reading --- */

static void stored_clear(void *data)
{
    struct stored *stored = data;
    g_free(stored->path);
    g_free(stored->packed);
}

/* False at the end, too; then without an error. */
static bool read_file(struct fm_reader *in, struct fm_source_texts *texts, GError **error)
{
    const char *path;
    size_t length;
    uint64_t size, packed;
    if (!fm_reader_string(in, "path of a file", &path, &length, error) || length == 0)
        return false;
    if (!fm_reader_num_max(in, "size of a file", FM_SOURCE_TEXT_BYTES_MAX, &size, error) ||
        !fm_reader_num_max(in, "size of a packed file", fm_reader_left(in), &packed, error))
        return false;
    if (packed > fm_reader_left(in))
        return fm_reader_fail(in, in->at, FM_ERROR_TRUNCATED, error, "the file ends in a text");
    const struct stored stored = {g_strndup(path, length), size, (size_t)packed,
                                  g_memdup2(in->at, (size_t)packed)};
    in->at += packed;
    g_array_append_val(texts->files, stored);
    g_hash_table_insert(texts->index, stored.path, GUINT_TO_POINTER(texts->files->len));
    return true;
}

/* Reads from memory; name is used in messages. */
bool fm_source_texts_read_bytes(const char *name, const uint8_t *bytes, size_t size,
                                const struct fm_profile *profile, struct fm_source_texts **ret,
                                GError **error)
{
    g_return_val_if_fail(profile != NULL && ret != NULL, false);
    struct fm_reader in = {bytes, bytes, bytes + size, name};
    GError *own = NULL;
    struct fm_source_texts *texts = g_new0(struct fm_source_texts, 1);
    texts->name = g_strdup(name);
    texts->files = g_array_new(FALSE, FALSE, sizeof(struct stored));
    g_array_set_clear_func(texts->files, stored_clear);
    texts->index = g_hash_table_new(g_str_hash, g_str_equal);
    bool ok = fm_read_begin(&in, id_line, profile, "sources", &own);
    while (ok && read_file(&in, texts, &own))
        continue;
    if (own == NULL) {
        *ret = texts;
        return true;
    }
    g_propagate_error(error, own);
    fm_source_texts_free(texts);
    return false;
}

bool fm_source_texts_find(const struct fm_roots *roots, const char *data_path,
                          const struct fm_profile *profile, struct fm_source_texts **ret,
                          GError **error)
{
    struct fm_attached_bytes found;
    g_autoptr(FmSourceTexts) texts = NULL;
    if (!fm_attached_find(roots, data_path, profile, FM_ATTACHED_SOURCES, &found, error) ||
        !fm_attached_end(
            &found,
            fm_source_texts_read_bytes(found.name, found.bytes, found.size, profile, &texts, error),
            error))
        return false;
    *ret = g_steal_pointer(&texts);
    return true;
}

void fm_source_texts_free(struct fm_source_texts *texts)
{
    if (texts == NULL)
        return;
    g_hash_table_unref(texts->index);
    g_array_unref(texts->files);
    g_free(texts->name);
    g_free(texts);
}

char *fm_source_texts_get(const struct fm_source_texts *texts, const char *file, GError **error)
{
    g_return_val_if_fail(texts != NULL && file != NULL, NULL);
    gpointer at = g_hash_table_lookup(texts->index, file);
    if (at == NULL)
        return NULL;
    const struct stored *stored =
        &g_array_index(texts->files, struct stored, GPOINTER_TO_UINT(at) - 1);
    char *text = g_malloc(stored->size + 1);
    size_t size = ZSTD_decompress(text, stored->size, stored->packed, stored->packed_size);
    if (ZSTD_isError(size) || size != stored->size) {
        g_set_error(error, FM_ERROR, FM_ERROR_FORMAT, "%s: the text of %s is damaged: %s",
                    texts->name, file,
                    ZSTD_isError(size) ? "damaged data" : "it is shorter than it should be");
        g_free(text);
        return NULL;
    }
    text[size] = '\0';
    return text;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/profile/merge_bodies.h"

#include <string.h>

#include "base/files/mapped.h"
#include "base/files/writer.h"

/* X.procrep for X.data; NULL for other names. */
static char *beside(const char *data_path)
{
    if (!g_str_has_suffix(data_path, ".data"))
        return NULL;
    return g_strdup_printf("%.*s.procrep", (int)(strlen(data_path) - strlen(".data")), data_path);
}

void fm_merge_bodies_see(struct fm_merge_bodies *bodies, const char *data_path)
{
    g_return_if_fail(bodies != NULL && data_path != NULL);
    uint8_t hash[FM_CONTENT_HASH_BYTES];
    g_autofree char *path = beside(data_path);
    if (path == NULL || !g_file_test(path, G_FILE_TEST_EXISTS))
        return;
    bool read = fm_content_hash(path, hash, NULL);
    if (!read || (bodies->path != NULL && memcmp(hash, bodies->hash, sizeof hash) != 0)) {
        bodies->differ = true;
    } else if (bodies->path == NULL) {
        bodies->path = g_steal_pointer(&path);
        memcpy(bodies->hash, hash, sizeof hash);
    }
}

bool fm_merge_bodies_write(const struct fm_merge_bodies *bodies, const char *output, GError **error)
{
    g_return_val_if_fail(bodies != NULL && output != NULL, false);
    g_autoptr(FmMappedFile) file = NULL;
    struct fm_writer *writer;
    g_autofree char *path = beside(output);
    if (bodies->path == NULL || bodies->differ || path == NULL || fm_writer_is_stream(output))
        return true;
    if (!fm_mapped_file_open(bodies->path, &file, error) || !fm_writer_new(path, &writer, error))
        return false;
    fm_writer_bytes(writer, file->bytes, file->size);
    if (fm_mapped_file_check(file, error))
        return fm_writer_finish(writer, error);
    fm_writer_discard(writer);
    return false;
}

void fm_merge_bodies_done(struct fm_merge_bodies *bodies)
{
    g_clear_pointer(&bodies->path, g_free);
}

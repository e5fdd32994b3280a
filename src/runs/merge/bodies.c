/* SPDX-License-Identifier: Apache-2.0 */
#include "runs/merge/bodies.h"

#include <string.h>

#include "base/files/beside.h"
#include "base/files/mapped.h"
#include "base/files/writer.h"

/* NULL for names that no bodies belong to. */
static char *beside(const char *data_path)
{
    return g_str_has_suffix(data_path, FM_PROFILE_ENDING)
               ? fm_path_beside(data_path, FM_BESIDE_BODIES)
               : NULL;
}

void fm_merge_body_look(struct fm_merge_body *body, const char *data_path)
{
    g_return_if_fail(body != NULL && data_path != NULL);
    *body = (struct fm_merge_body){.path = beside(data_path)};
    body->there = body->path != NULL && g_file_test(body->path, G_FILE_TEST_EXISTS);
    body->read = body->there && fm_content_hash(body->path, body->hash, NULL);
}

void fm_merge_body_done(struct fm_merge_body *body)
{
    g_clear_pointer(&body->path, g_free);
}

void fm_merge_bodies_see(struct fm_merge_bodies *bodies, const struct fm_merge_body *body)
{
    g_return_if_fail(bodies != NULL && body != NULL);
    if (!body->there)
        return;
    if (!body->read ||
        (bodies->path != NULL && memcmp(body->hash, bodies->hash, sizeof body->hash) != 0)) {
        bodies->differ = true;
    } else if (bodies->path == NULL) {
        bodies->path = g_strdup(body->path);
        memcpy(bodies->hash, body->hash, sizeof body->hash);
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

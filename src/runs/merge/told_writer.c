/* SPDX-License-Identifier: Apache-2.0 */
#include "runs/merge/told_writer.h"

#include "base/files/writer.h"
#include "runs/merge/told.h"

struct fm_merge_told {
    struct fm_writer *writer;
    GString *line; /* for a file that was read: the text between state and reason; else empty */
};

bool fm_merge_told_new(const char *path, struct fm_merge_told **ret, GError **error)
{
    struct fm_writer *writer;
    *ret = NULL;
    if (path == NULL)
        return true;
    if (!fm_writer_new(path, &writer, error))
        return false;
    *ret = g_new0(struct fm_merge_told, 1);
    **ret = (struct fm_merge_told){.writer = writer, .line = g_string_new(NULL)};
    return true;
}

static void append_hash(GString *out, const uint8_t hash[FM_PART_HASH_BYTES])
{
    for (size_t i = 0; i < FM_PART_HASH_BYTES; i++)
        g_string_append_printf(out, "%02x", hash[i]);
}

static void append_content(GString *out, const struct fm_run_info *info,
                           const uint8_t hash[FM_PART_HASH_BYTES])
{
    uint8_t of_parts[FM_PART_HASH_BYTES];
    gsize size = sizeof of_parts;
    if (info->part_count == 0) {
        append_hash(out, hash);
        return;
    }
    g_autoptr(GChecksum) sum = g_checksum_new(G_CHECKSUM_SHA256);
    for (uint32_t i = 0; i < info->part_count; i++)
        g_checksum_update(sum, info->parts[i].hash, sizeof info->parts[i].hash);
    g_checksum_get_digest(sum, of_parts, &size);
    append_hash(out, of_parts);
}

/* By which fm_merge_has_part() finds it. */
static void append_parts(GString *out, const struct fm_run_info *info,
                         const uint8_t hash[FM_PART_HASH_BYTES])
{
    if (info->part_count == 0 && info->process.command != NULL)
        append_hash(out, hash);
    for (uint32_t i = 0; i < info->part_count; i++) {
        if (info->parts[i].process.pid != 0)
            append_hash(out, info->parts[i].hash);
    }
}

void fm_merge_told_file(struct fm_merge_told *told, const struct fm_merge *merge,
                        const struct fm_profile *profile, const uint8_t hash[FM_PART_HASH_BYTES],
                        const struct fm_merge_body *body)
{
    uint8_t kind[FM_PART_HASH_BYTES];
    if (told == NULL)
        return;
    fm_merge_kind(merge, profile, kind);
    append_hash(told->line, kind);
    g_string_append_c(told->line, '\t');
    append_content(told->line, &profile->run_info, hash);
    g_string_append_printf(told->line, "\t%u\t", fm_profile_rank(profile));
    append_parts(told->line, &profile->run_info, hash);
    g_string_append_printf(told->line, "\t%d\t", profile->flavour == FM_FLAVOUR_MERCURY);
    if (body->there)
        append_hash(told->line, body->hash);
    g_string_append_c(told->line, '\t');
}

void fm_merge_told_end(struct fm_merge_told *told, const GError *error)
{
    if (told == NULL)
        return;
    bool unread = told->line->len == 0;
    fm_writer_byte(told->writer, unread          ? FM_TOLD_UNREAD
                                 : error == NULL ? FM_TOLD_ADDED
                                                 : FM_TOLD_REFUSED);
    fm_writer_byte(told->writer, '\t');
    for (int i = FM_TOLD_KIND; unread && i < FM_TOLD_WHY; i++)
        g_string_append_c(told->line, '\t');
    if (error != NULL)
        g_string_append(told->line, error->message);
    /* a message of several lines or columns would be another file's */
    for (size_t i = 0, tabs = FM_TOLD_KIND; i < told->line->len; i++) {
        char *c = &told->line->str[i];
        if (*c == '\n' || (*c == '\t' && ++tabs > FM_TOLD_WHY))
            *c = ' ';
    }
    fm_writer_bytes(told->writer, (const uint8_t *)told->line->str, told->line->len);
    fm_writer_byte(told->writer, '\n');
    g_string_truncate(told->line, 0);
}

bool fm_merge_told_finish(struct fm_merge_told *told, GError **error)
{
    if (told == NULL)
        return true;
    bool ok = fm_writer_finish(told->writer, error);
    g_string_free(told->line, TRUE);
    g_free(told);
    return ok;
}

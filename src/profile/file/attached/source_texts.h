/* SPDX-License-Identifier: Apache-2.0 */
/* The text of the source files of a C program's functions, compressed, so that a profile that is
 * viewed elsewhere, or later, still shows them. It is part of the profile; older recordings have it
 * as NAME.sources. docs/format-data.md */
#pragma once

#include "base/files/roots.h"
#include "profile/file/profile.h"

#define FM_SOURCE_TEXT_BYTES_MAX (UINT64_C(32) << 20) /* limit of one file */

/* Keeps the files of the functions that ran with the profile (attached/attached.h). Relative names
 * are below folder. root: the folder that was "/" where they were compiled, looked through first;
 * NULL. Files that cannot be read, or are not text, are left out; *ret_count: number
 * stored, *ret_left: number left out. */
void fm_source_texts_attach(struct fm_profile *profile, const char *folder, const char *root,
                            uint32_t *ret_count, uint32_t *ret_left);

struct fm_source_texts; /* immutable */
/* Reads those that are attached to the profile, or, of an older recording, NAME.sources beside
 * NAME.data; beneath roots, NULL = anywhere. Errors: FM_ERROR_IO, _NOT_FOUND (there are none),
 * _FORMAT (also: of another profile), _TRUNCATED. */
FM_MUST_USE bool fm_source_texts_find(const struct fm_roots *roots, const char *data_path,
                                      const struct fm_profile *profile,
                                      struct fm_source_texts **ret, GError **error);
/* Reads from memory; name is used in messages. */
FM_MUST_USE bool fm_source_texts_read_bytes(const char *name, const uint8_t *bytes, size_t size,
                                            const struct fm_profile *profile,
                                            struct fm_source_texts **ret, GError **error);
void fm_source_texts_free(struct fm_source_texts *texts); /* NULL is allowed */
typedef struct fm_source_texts FmSourceTexts;
G_DEFINE_AUTOPTR_CLEANUP_FUNC(FmSourceTexts, fm_source_texts_free)
/* The text of a file, as the profile names it, NUL-terminated; g_free. NULL with no error: it is
 * not stored; with FM_ERROR_FORMAT: it is damaged. Any number of threads may ask. */
char *fm_source_texts_get(const struct fm_source_texts *texts, const char *file, GError **error);

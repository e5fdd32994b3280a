/* SPDX-License-Identifier: Apache-2.0 */
/* Source lines, places of the instructions and texts of the sources, packed into the profile of a C
 * program: pages of single functions need them besides the graph. Each has a format of
 * its own (source_map.h, machine/machine_code.h, source_texts.h), which is unpacked when a profile
 * is opened for pages. Older recordings have them as files beside the profile.
 * docs/format-data.md */
#pragma once

#include "base/files/roots.h"
#include "base/files/writer.h"
#include "profile/file/profile.h"

/* Packs the bytes of a writer to memory, which it frees, and keeps them with the profile, in place
 * of earlier ones. What is over FM_ATTACHED_BYTES_MAX is left out with a note. */
void fm_profile_attach(struct fm_profile *profile, enum fm_attachment_kind kind,
                       struct fm_writer *writer);

/* One of them as it was attached, or the file beside data_path where the profile has none, or none
 * of both. */
struct fm_attached_bytes {
    char *name; /* for messages */
    const uint8_t *bytes;
    size_t size;
    uint8_t *unpacked;           /* owner of the bytes, or */
    struct fm_mapped_file *file; /* this one */
};
/* data_path: of the profile; the file has its ending in place of `.data`, and lies beneath roots,
 * NULL = anywhere. FM_ERROR_NOT_FOUND: neither is there; _FORMAT: the packed bytes are damaged;
 * _IO, _LIMIT. */
FM_MUST_USE bool fm_attached_find(const struct fm_roots *roots, const char *data_path,
                                  const struct fm_profile *profile, enum fm_attachment_kind kind,
                                  struct fm_attached_bytes *ret, GError **error);
/* Ends the use of the bytes. False: they could not be read, or the file was changed meanwhile. */
FM_MUST_USE bool fm_attached_end(struct fm_attached_bytes *found, bool was_read, GError **error);
/* Removes the files that an older fathom wrote beside data_path; others of such names stay. */
void fm_attached_remove_beside(const char *data_path);

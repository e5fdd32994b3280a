/* SPDX-License-Identifier: Apache-2.0 */
/* The pages of a profile kept without a server: as one HTML file, or as a folder of files that link
 * to each other. A link to a page that is not among them is text. */
#pragma once

#include "base/compiler.h"
#include "base/progress.h"
#include "recording/deep.h"

#define FM_SITE_FILE_BYTES 1000000u /* usual bound of one file */
#define FM_SITE_FOLDER_PAGES 2000u  /* usual bound of a folder */

struct fm_site_told {
    unsigned pages;    /* that were kept */
    unsigned left_out; /* others that the kept ones would lead to */
    uint64_t bytes;    /* of all files */
};

/* Everything of the recording must be known. Errors: FM_ERROR_IO, FM_ERROR_CANCELLED; what was at
 * the path is untouched then. told may be NULL.
 *
 * One file of at most bytes_max, notice (NULL = none) above its first page, as many pages as fit,
 * the dearest first; at least the first page, whatever its size. */
FM_MUST_USE bool fm_site_write_file(const struct fm_deep_recording *recording, const char *notice,
                                    const char *path, size_t bytes_max,
                                    const struct fm_progress *progress, struct fm_site_told *told,
                                    GError **error);
/* A folder with index.html and at most pages_max pages, those nearest to the first page. The folder
 * must not be there, or be empty. */
FM_MUST_USE bool fm_site_write_folder(const struct fm_deep_recording *recording, const char *folder,
                                      unsigned pages_max, const struct fm_progress *progress,
                                      struct fm_site_told *told, GError **error);

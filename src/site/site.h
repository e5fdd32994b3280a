/* SPDX-License-Identifier: Apache-2.0 */
/* Keeps the pages of a profile without a server: as one HTML file, or as a folder of linked files.
 * A link to a page that is not kept becomes text. */
#pragma once

#include "base/compiler.h"
#include "base/progress.h"
#include "open/deep.h"

#define FM_SITE_FILE_BYTES 1000000u /* default limit of one file */
#define FM_SITE_FOLDER_PAGES 2000u  /* default limit of a folder */

struct fm_site_told {
    unsigned pages;    /* number of pages kept */
    unsigned left_out; /* number of linked pages that were not kept */
    uint64_t bytes;    /* size of all files */
};

/* The recording must be completely computed. Errors: FM_ERROR_IO, FM_ERROR_CANCELLED; an
 * existing file at path is untouched then. told may be NULL.
 *
 * Writes one file of at most bytes_max, with notice (NULL = none) above its first page, and as
 * many pages as fit, the most important first; at least the first page, whatever its size. */
FM_MUST_USE bool fm_site_write_file(const struct fm_open_profile *recording, const char *notice,
                                    const char *path, size_t bytes_max,
                                    const struct fm_progress *progress, struct fm_site_told *told,
                                    GError **error);
/* Writes a folder with index.html and at most pages_max pages, the nearest to the first page. The
 * folder must be missing or empty. */
FM_MUST_USE bool fm_site_write_folder(const struct fm_open_profile *recording, const char *folder,
                                      unsigned pages_max, const struct fm_progress *progress,
                                      struct fm_site_told *told, GError **error);

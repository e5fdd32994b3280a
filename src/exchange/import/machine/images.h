/* SPDX-License-Identifier: Apache-2.0 */
/* Names of functions for the addresses of a process that has ended, by the list of its files in
 * memory (/proc/PID/maps). The files are those of today, which may be others than the process had.
 */
#pragma once

#include "exchange/import/machine/symbols.h"

struct fm_import_images;

/* text: lines of /proc/PID/maps; others are passed over. Free with fm_import_images_free(). */
struct fm_import_images *fm_import_images_new(const char *text, size_t size);
void fm_import_images_free(struct fm_import_images *images); /* NULL is allowed */

struct fm_import_image_place {
    const struct fm_import_symbol *symbol; /* NULL: not known */
    const char *path;                      /* path of the file; NULL: the address is in no file */
};
/* Both pointers are valid until images go. */
struct fm_import_image_place fm_import_images_at(struct fm_import_images *images, uint64_t address);
/* The program's file: the first of the list. NULL: there is none. */
const char *fm_import_images_program(const struct fm_import_images *images);

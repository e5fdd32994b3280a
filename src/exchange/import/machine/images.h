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
/* A line of Java's tables of names: " 0x00000003 name (file:line)", where addresses are numbers; or
 * of Go's: "#\t0x4a3b2c\tmain.f+0x1c\t/x/file.go:12". ret_name: g_free(). False: it is another. */
bool fm_import_named_address(const char *line, size_t size, uint64_t *ret_address, char **ret_name);
/* The program's file: the first of the list. NULL: there is none. */
const char *fm_import_images_program(const struct fm_import_images *images);

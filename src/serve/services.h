/* SPDX-License-Identifier: Apache-2.0 */
/* Runs kept by services (`fathom record --keep=N -o NAME`), in the list of recordings: all runs of
 * a NAME in a folder are one row. */
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/files/roots.h"
#include "display/display.h"

struct fm_services;

/* roots: folders in which files may be opened; borrowed. */
struct fm_services *fm_services_new(const struct fm_roots *roots);
void fm_services_free(struct fm_services *services); /* NULL is allowed */
/* Takes a file with its full path, and its modification time in ns since 1970. False: it is not a
 * profile of a kept run. */
bool fm_services_take(struct fm_services *services, const char *path, int64_t written_ns);
bool fm_services_any(const struct fm_services *services);
/* Adds the table. skip: number of leading bytes of paths to omit. */
void fm_services_show(const struct fm_services *services, struct fm_list *body, const char *title,
                      size_t skip);

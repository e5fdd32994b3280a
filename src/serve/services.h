/* SPDX-License-Identifier: Apache-2.0 */
/* Kept runs of services (`fathom record --keep=N -o NAME`) on the list of recordings: the
 * runs of one NAME in one folder are one row. */
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/files/roots.h"
#include "display/display.h"

struct fm_services;

/* roots: beneath which files may be opened; borrowed. */
struct fm_services *fm_services_new(const struct fm_roots *roots);
void fm_services_free(struct fm_services *services); /* NULL is allowed */
/* A file with its whole path, and when it was written last, in ns since 1970. False: it is no
 * profile of a run that is kept. */
bool fm_services_take(struct fm_services *services, const char *path, int64_t written_ns);
bool fm_services_any(const struct fm_services *services);
/* The table of all. skip: bytes of paths that are not shown. */
void fm_services_show(const struct fm_services *services, struct fm_list *body, const char *title,
                      size_t skip);

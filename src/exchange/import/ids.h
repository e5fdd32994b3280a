/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers that a file's own ids stand for. */
#pragma once

#include <stdint.h>

struct fm_import_ids;

struct fm_import_ids *fm_import_ids_new(void);
void fm_import_ids_free(struct fm_import_ids *ids); /* NULL is allowed */

/* number: not 0; it replaces an earlier one of the id. */
void fm_import_ids_put(struct fm_import_ids *ids, uint64_t id, uint32_t number);
/* 0: there is none. */
uint32_t fm_import_ids_find(const struct fm_import_ids *ids, uint64_t id);
/* How many ids there are. */
uint32_t fm_import_ids_count(const struct fm_import_ids *ids);

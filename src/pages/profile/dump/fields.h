/* SPDX-License-Identifier: Apache-2.0 */
/* Tables of one node's fields. */
#pragma once

#include "pages/profile/parts/page.h"

struct fm_table *fm_dump_table(struct fm_page *page, const char *name);
/* Each adds a fact, and a row unless label is NULL. */
void fm_dump_string(struct fm_page *page, struct fm_table *table, const char *name,
                    const char *label, const char *value);
void fm_dump_int(struct fm_page *page, struct fm_table *table, const char *name, const char *label,
                 int64_t value);
void fm_dump_link(struct fm_page *page, struct fm_table *table, const char *name, const char *label,
                  enum fm_command_id dump, uint32_t id);
/* A cell with an id that leads to its dump. */
void fm_dump_id_cell(struct fm_page *page, struct fm_table *table, enum fm_command_id dump,
                     uint32_t id);

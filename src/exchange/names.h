/* SPDX-License-Identifier: Apache-2.0 */
/* Functions as other tools' formats call them. */
#pragma once

#include "exchange/nodes.h"

struct fm_exchange_names {
    uint32_t count;
    char **name;         /* [count + 1] */
    const char **system; /* the linker's; "" where it is the same */
    const char **file;   /* "" = not known */
};

/* apart: for formats without a field for the file; functions of one name are told apart by
 * "name@file.c", and by their number where that is not enough. strip_path, NULL or a folder, is
 * taken off the files. All control characters are replaced by '?'. */
void fm_exchange_names_init(struct fm_exchange_names *names, const struct fm_profile *profile,
                            bool apart, const char *strip_path);
void fm_exchange_names_done(struct fm_exchange_names *names);
/* The name of a node: its function's, or how many contexts were left out. Valid until the next
 * call. */
const char *fm_exchange_node_name(struct fm_exchange_names *names,
                                  const struct fm_exchange_node *node, GString *buffer);
/* The line of the source in `file` that calls the node: 0 = not known, or in another file. */
uint32_t fm_exchange_call_line(const struct fm_profile *profile, uint32_t css);

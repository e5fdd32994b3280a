/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "base/names/name.h"

/* A function of a page. */
struct fm_named {
    struct fm_name name;
    struct fm_name_shown shown, tried;
    const char *text, *tried_text;
    struct fm_named *partner; /* used while functions around are told apart */
    bool around;              /* is a function around a local one */
    unsigned depth;           /* how many local ones it is around */
};

/* Show what tells the members of a group apart, in tried: name spaces, parameters, template
 * arguments. */
void fm_names_try_spaces(struct fm_name_pool *pool, struct fm_named *const *group, size_t count);
void fm_names_try_parameters(struct fm_name_pool *pool, struct fm_named *const *group,
                             size_t count);
void fm_names_try_arguments(struct fm_name_pool *pool, struct fm_named *const *group, size_t count);

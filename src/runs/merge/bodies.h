/* SPDX-License-Identifier: Apache-2.0 */
/* The bodies of a Mercury program, X.procrep beside X.data, carried along when profiles are added
 * up: the result has them where all that lie beside inputs are the same file. */
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/compiler.h"
#include "base/files/content_hash.h"

/* The one beside an input. */
struct fm_merge_body {
    char *path;                          /* NULL: the input's name has none */
    uint8_t hash[FM_CONTENT_HASH_BYTES]; /* zeros: it cannot be read */
    bool there, read;
};

struct fm_merge_bodies {
    char *path; /* path of the first file; NULL = none yet */
    uint8_t hash[FM_CONTENT_HASH_BYTES];
    bool differ; /* so none is of all */
};

void fm_merge_body_look(struct fm_merge_body *body, const char *data_path);
void fm_merge_body_done(struct fm_merge_body *body);
/* That of an input that was added. A file that cannot be read counts as another. */
void fm_merge_bodies_see(struct fm_merge_bodies *bodies, const struct fm_merge_body *body);
/* Copies them beside the result; nothing to do is no error. */
FM_MUST_USE bool fm_merge_bodies_write(const struct fm_merge_bodies *bodies, const char *output,
                                       GError **error);
void fm_merge_bodies_done(struct fm_merge_bodies *bodies);

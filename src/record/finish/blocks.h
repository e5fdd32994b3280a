/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "record/finish/nodes.h"

/* The pd to which the code of a body belongs that is inlined into pd's function; FM_NONE: pd's. */
typedef uint32_t (*fm_pd_of_body)(void *data, uint32_t pd, const struct fm_image_nodes *image,
                                  uint32_t scope);

/* Turns the counted blocks of the recording into counts of lines, each in the context that its body
 * has. of_body NULL: inlined code belongs to the function that exists. */
void fm_blocks_give(struct fm_raw_recording *recording, const struct fm_nodes *nodes,
                    fm_pd_of_body of_body, void *data);

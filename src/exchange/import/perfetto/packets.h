/* SPDX-License-Identifier: Apache-2.0 */
/* The packets of a trace of Perfetto's, also those that are compressed within one. */
#pragma once

#include "exchange/import/protobuf/fields.h"
#include "exchange/import/internal.h"

struct fm_perfetto_packets {
    const struct fm_import_input *input;
    GPtrArray *unpacked; /* GByteArray: packets point into them */
    size_t unpacked_size;
    uint64_t count;
    bool cut; /* the file ends within a packet */
};

typedef bool fm_perfetto_take(void *user, const struct fm_field *packet, GError **error);

void fm_perfetto_packets_init(struct fm_perfetto_packets *packets,
                              const struct fm_import_input *input);
void fm_perfetto_packets_done(struct fm_perfetto_packets *packets);
/* Calls take for each packet, in their order. Their bytes stay until packets are done. */
bool fm_perfetto_packets_walk(struct fm_perfetto_packets *packets, fm_perfetto_take *take,
                              void *user, GError **error);

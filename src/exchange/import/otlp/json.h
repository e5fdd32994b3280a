/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "exchange/import/protobuf/fields.h"
#include "exchange/import/internal.h"

/* Adds a GBytes for each object of the input: the part of the message that is read. */
FM_MUST_USE bool fm_otlp_of_json(const struct fm_import_input *input, GPtrArray *ret,
                                 GError **error);

/* SPDX-License-Identifier: Apache-2.0 */
/* The dictionary of OpenTelemetry's profiles: tables of strings, functions, places and stacks that
 * samples name by number. Entry 0 of each table is empty: none. */
#pragma once

#include "exchange/import/protobuf/fields.h"
#include "exchange/import/internal.h"

struct fm_otlp_dictionary;

/* Borrowed bytes; not terminated. */
struct fm_otlp_text {
    const char *text;
    size_t size;
};

/* The dictionary of a message whose bytes have to stay. *frames counts those of all samples, over
 * all dictionaries of a file: there is a limit. NULL: the tables are damaged. */
struct fm_otlp_dictionary *fm_otlp_dictionary_new(const struct fm_import_input *input,
                                                  struct fm_stacks *stacks,
                                                  const struct fm_field *message, uint64_t *frames,
                                                  GError **error);
void fm_otlp_dictionary_free(struct fm_otlp_dictionary *dictionary); /* NULL is allowed */

/* Whether it has stacks, which it has since version 1.9 of the format. */
bool fm_otlp_dictionary_has_stacks(const struct fm_otlp_dictionary *dictionary);
/* "" where there is none. */
struct fm_otlp_text fm_otlp_string(const struct fm_otlp_dictionary *dictionary, uint64_t index);
bool fm_otlp_attribute_is(const struct fm_otlp_dictionary *dictionary, uint64_t index,
                          const char *key);
/* The text or number of an attribute as text, g_free. */
char *fm_otlp_attribute(const struct fm_otlp_dictionary *dictionary, uint64_t index);
/* As above, of an AnyValue. */
char *fm_otlp_value(struct fm_fields value);

/* Pushes a stack's frames. thread: a name that an outermost frame repeats in fathom's own exports;
 * NULL = none does. */
bool fm_otlp_push_stack(struct fm_otlp_dictionary *dictionary, uint64_t index, const char *thread,
                        GError **error);

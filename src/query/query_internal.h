/* SPDX-License-Identifier: Apache-2.0 */
/* The words of the syntax, shared by parser and printer. */
#pragma once

#include "query/commands.h"

/* What the number of a FM_SHAPE_NUMBER is, and its limits. */
struct fm_number_form {
    const char *words;
    uint32_t min, max;
};
struct fm_number_form fm_command_number(const struct fm_command_form *form);
/* For the end of an error about a word that is no command: what is near it or tells of that, and
 * which there are. g_free. */
char *fm_command_suggestion(const char *word);

/* A list of words; a word's index is the enum's value. */
struct fm_words {
    const char *const *words;
    unsigned count;
};
extern const struct fm_words fm_words_group, fm_words_cost, fm_words_descendants, fm_words_scope,
    fm_words_contour, fm_words_ports, fm_words_time, fm_words_callseqs, fm_words_allocs,
    fm_words_memory, fm_words_box, fm_words_colour, fm_words_summarize, fm_words_time_format,
    fm_words_qualify, fm_words_developer, fm_words_measure, fm_words_direction,
    fm_words_memory_side;
/* Words of flags, joined by "-"; bit i belongs to word i. */
extern const struct fm_words fm_words_flame_flags;
/* Percent-decodes the first size bytes; the caller frees. NULL: FM_ERROR_USAGE, a bad escape. */
char *fm_query_decode_bytes(const char *text, size_t size, GError **error);

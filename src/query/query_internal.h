/* SPDX-License-Identifier: Apache-2.0 */
/* The words of the syntax, shared by parser and printer. */
#pragma once

#include "query/query.h"

/* Arguments after the word of a command. */
enum fm_command_shape {
    FM_SHAPE_PLAIN,   /* nothing */
    FM_SHAPE_NUMBER,  /* /N; for some /N/PAGE */
    FM_SHAPE_ROOT,    /* /no or /PERCENT */
    FM_SHAPE_CALLERS, /* /PS/GROUP/BUNCH/SIZE/CONTOUR */
    FM_SHAPE_MODULE,  /* /NAME, up to the end */
    FM_SHAPE_TOP,     /* /LIMIT/KIND/DESC/SCOPE */
    FM_SHAPE_TEXT,    /* /TEXT, up to the end */
    FM_SHAPE_TREE,    /* /MEASURE/DIR/DEPTH/FOCUS */
    FM_SHAPE_FLAME,   /* /MEASURE/DIR/FLAGS/FOCUS */
    FM_SHAPE_MEASURE, /* /MEASURE */
    FM_SHAPE_GRAPH,   /* /MEASURE/FOCUS */
    FM_SHAPE_MEMORY,  /* /SIDE */
};

struct fm_command_form {
    const char *name;
    enum fm_command_shape shape;
    const char *number; /* FM_SHAPE_NUMBER: what the number is */
    uint32_t number_min, number_max;
    bool named; /* FM_SHAPE_NUMBER: or a name or path */
    bool paged; /* FM_SHAPE_NUMBER: a page number may follow, from 2 */
};
extern const struct fm_command_form fm_command_forms[FM_CMD_COUNT];
/* End of an error about an unknown command: similar or related commands, and the list of commands.
 * g_free. */
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

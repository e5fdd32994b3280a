/* SPDX-License-Identifier: Apache-2.0 */
/* Terms, as Mercury writes them. They nest at most FM_TERM_DEPTH_MAX deep, which is enough for
 * goals that nest FM_FEEDBACK_DEPTH_MAX deep. So functions that walk terms may recurse. */
#pragma once

#include "mercury/feedback/internal.h"

#define FM_TERM_DEPTH_MAX (4 * FM_FEEDBACK_DEPTH_MAX)

enum fm_term_kind { TERM_COMPOUND, TERM_LIST, TERM_INT, TERM_FLOAT, TERM_STRING };

struct fm_term {
    enum fm_term_kind kind;
    unsigned line;
    char *text;      /* name or string */
    GPtrArray *args; /* struct fm_term */
    int64_t whole;
    double number;
};

struct fm_parsing {
    const char *name; /* name of the file */
    const char *at, *end;
    unsigned line, depth;
    GError **error;
    struct fm_feedback *feedback;
};

void fm_parsing_skip_blanks(struct fm_parsing *p); /* skips comments too */
/* Takes the next character that is not blank, which must be `wanted`. */
FM_MUST_USE bool fm_parsing_expect(struct fm_parsing *p, char wanted, const char *after);
/* Returns NULL after an error; fm_term_free(). */
struct fm_term *fm_term_parse(struct fm_parsing *p);
void fm_term_free(gpointer term); /* NULL is allowed */

/* --- meaning of terms: false, with an error, when they do not fit --- */

const struct fm_term *fm_term_arg(const struct fm_term *term, guint i);
/* Whether the term has that name and `count` arguments. */
bool fm_term_is(const struct fm_term *term, const char *name, guint count);
bool fm_term_wrong(struct fm_parsing *p, const struct fm_term *term, const char *expected);
FM_MUST_USE bool fm_term_int(struct fm_parsing *p, const struct fm_term *term, int64_t *ret);
FM_MUST_USE bool fm_term_u32(struct fm_parsing *p, const struct fm_term *term, uint32_t *ret);
FM_MUST_USE bool fm_term_float(struct fm_parsing *p, const struct fm_term *term, double *ret);
/* The string belongs to the feedback. */
FM_MUST_USE bool fm_term_text(struct fm_parsing *p, const struct fm_term *term, const char **ret);
FM_MUST_USE bool fm_term_check_list(struct fm_parsing *p, const struct fm_term *term);
/* Sets *ret to the index of the name among `words`. */
FM_MUST_USE bool fm_term_word(struct fm_parsing *p, const struct fm_term *term,
                              const char *const *words, unsigned count, unsigned *ret);
/* Reads variables, or no and yes(VARIABLE); g_free(*ret). */
FM_MUST_USE bool fm_term_vars(struct fm_parsing *p, const struct fm_term *term, uint32_t **ret,
                              uint32_t *ret_count);

/* read_goals.c: reads a list of goals. */
FM_MUST_USE bool fm_read_goals(struct fm_parsing *p, const struct fm_term *term, GPtrArray *to);

/* SPDX-License-Identifier: Apache-2.0 */
/* The measures that fathom knows: their names in files, addresses and other tools' profiles, their
 * words on pages, and which of them trees and flame graphs are drawn by. A profile may have others,
 * of other tools, which have their own names only. */
#pragma once

#include <stdbool.h>

#include "profile/measures/choices.h"

/* The first eight measures are Mercury's and always exist; further ones are named by the file. */
enum fm_measure_id {
    FM_EXITS,
    FM_FAILS,
    FM_REDOS,
    FM_EXCPS, /* exceptional exits: exceptions; for C also longjmp, pthread_exit, exit */
    FM_QUANTA,
    FM_CALLSEQS, /* for C: the number of calls, inherited by the callers */
    FM_ALLOCS,
    FM_WORDS, /* unit: fm_profile.word_size bytes; for C the word size is 1 */
    FM_MEASURES_MERCURY,
    FM_MEASURES_MAX = 16,
};
/* Measures from FM_QUANTA on are inherited: ancestors have them as cost of descendants. */
#define FM_FIRST_INHERITED FM_QUANTA

/* Further measures that fathom records. Each profile numbers those that it has from
 * FM_MEASURES_MERCURY (fm_profile_measure()); no such number is one of these. */
enum fm_further_measure {
    FM_FURTHER_FIRST = 2 * FM_MEASURES_MAX,
    FM_FREES = FM_FURTHER_FIRST,
    FM_FREED_BYTES,
    FM_REQUESTED_BYTES,
    FM_LIVE_BYTES,
    FM_LIVE_BLOCKS,
    FM_PEAK_BYTES,
    FM_USABLE_BYTES,
    FM_WAITS,
    FM_WAIT_NS,
    FM_FURTHER_END,
};

struct fm_measure {
    const char *name; /* stable identifier, as in JSON: "exits", "frees" */
    const char *unit; /* "calls", "bytes", "quanta" */
    double scale;     /* multiply by this to get the unit */
};

enum fm_measure_sort { FM_SORT_COUNT, FM_SORT_TIME, FM_SORT_BYTES };

struct fm_known_measure {
    struct fm_measure file;    /* as files name it */
    enum fm_measure_sort sort; /* FM_WORDS are bytes once multiplied by the word size */
    const char *title; /* heading of columns; NULL: pages choose it by flavour and preferences */
    const char *words; /* in sentences: "bytes live at the end" */
    const char *unrecorded; /* sentence of a profile without it */
    const char *exported;   /* name in exported profiles; NULL: its own */
    const char *aliases[4]; /* other names that options take */
};

/* measure: an enum fm_measure_id below FM_MEASURES_MERCURY, or an enum fm_further_measure. */
const struct fm_known_measure *fm_known_measure(unsigned measure);
/* The measure of a name, alias or exported name; FM_FURTHER_END: none. */
unsigned fm_measure_find(const char *name);
/* The words of a measure by any of its names; of an unknown one its name. */
const char *fm_measure_words(const char *name);

/* What pictures, trees and ranked paths are drawn by. C programs count calls and bytes, Mercury
 * call sequence numbers and words. Pages offer them in this order. */
enum fm_query_measure {
    FM_QUERY_BY_TIME,
    FM_QUERY_BY_CALLS,
    FM_QUERY_BY_CALLSEQS,
    FM_QUERY_BY_BYTES,
    FM_QUERY_BY_WORDS,
    FM_QUERY_BY_ALLOCS,
    FM_QUERY_BY_WAITING,
    FM_QUERY_BY_LIVE, /* bytes held at the end */
    FM_QUERY_BY_PEAK, /* bytes held when most were */
    FM_QUERY_BY_AUTO, /* the most informative measure of this profile */
};

struct fm_tree_measure {
    const char *label;             /* the switch between them has it */
    const char *name;              /* behind numbers and in headings */
    unsigned measure;              /* as fm_known_measure() takes it */
    const char *unit;              /* the columns' unit: "seconds", "bytes", "words", "count" */
    bool c, mercury;               /* which profiles have it */
    bool has_order;                /* tables can be in its order: it is that of `order` */
    enum fm_cost_kind order;       /* the nearest order of tables */
    enum fm_query_measure instead; /* where the profile does not have it */
};
/* Their words in addresses, "auto" among them. */
extern const char *const fm_tree_words[FM_QUERY_BY_AUTO + 1];
/* Without FM_QUERY_BY_AUTO. */
extern const struct fm_tree_measure fm_tree_measures[FM_QUERY_BY_AUTO];
/* By its word in addresses, or any name that fm_measure_find() takes. False: there is none. */
bool fm_tree_measure_find(const char *word, enum fm_query_measure *ret);

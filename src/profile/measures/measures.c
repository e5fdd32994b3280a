/* SPDX-License-Identifier: Apache-2.0 */
#include "profile/measures/measures.h"

#include <glib.h>
#include <string.h>

/* Places in the table: Mercury's eight, then the further ones. */
#define AT(further) (FM_MEASURES_MERCURY + (further)-FM_FURTHER_FIRST)
#define ALL AT(FM_FURTHER_END)

static const struct fm_known_measure measures[ALL] = {
    [FM_EXITS] = {.file = {"exits", "exits", 1},
                  .words = "exits",
                  .unrecorded = "numbers of calls were not recorded"},
    [FM_FAILS] = {.file = {"fails", "fails", 1},
                  .words = "fails",
                  .unrecorded = "how calls ended was not recorded"},
    [FM_REDOS] = {.file = {"redos", "redos", 1},
                  .words = "redos",
                  .unrecorded = "how calls ended was not recorded"},
    [FM_EXCPS] = {.file = {"excps", "exceptions", 1},
                  .words = "exceptions",
                  .unrecorded = "how calls ended was not recorded",
                  .exported = "exceptions"},
    [FM_QUANTA] = {.file = {"quanta", "quanta", 1},
                   .sort = FM_SORT_TIME,
                   .words = "time",
                   .unrecorded = "time was not recorded",
                   .aliases = {"time"}},
    [FM_CALLSEQS] = {.file = {"callseqs", "call sequence numbers", 1},
                     .words = "call sequence numbers",
                     .unrecorded = "numbers of calls below each call were not recorded"},
    [FM_ALLOCS] = {.file = {"allocs", "allocations", 1},
                   .words = "allocations",
                   .unrecorded = "allocations were not recorded",
                   .exported = "alloc_objects",
                   .aliases = {"allocations"}},
    [FM_WORDS] = {.file = {"words", "words", 1},
                  .sort = FM_SORT_BYTES,
                  .words = "bytes allocated",
                  .unrecorded = "allocated memory was not recorded",
                  .exported = "alloc_space",
                  .aliases = {"bytes", "allocated"}},
    [AT(FM_FREES)] = {.file = {"frees", "frees", 1},
                      .title = "Frees",
                      .words = "blocks freed",
                      .unrecorded = "frees were not recorded",
                      .exported = "free_objects"},
    [AT(FM_FREED_BYTES)] = {.file = {"freed_bytes", "bytes", 1},
                            .sort = FM_SORT_BYTES,
                            .title = "Freed bytes",
                            .words = "bytes freed",
                            .unrecorded = "freed memory was not recorded",
                            .exported = "free_space",
                            .aliases = {"freed"}},
    [AT(FM_REQUESTED_BYTES)] = {.file = {"requested_bytes", "bytes", 1},
                                .sort = FM_SORT_BYTES,
                                .title = "Requested bytes",
                                .words = "bytes requested",
                                .unrecorded = "requested memory was not recorded"},
    [AT(FM_LIVE_BYTES)] = {.file = {"live_bytes", "bytes", 1},
                           .sort = FM_SORT_BYTES,
                           .title = "Bytes live at the end",
                           .words = "bytes live at the end",
                           .unrecorded = "live memory at the end was not recorded",
                           .aliases = {"live", "held", "inuse_space"}},
    [AT(FM_LIVE_BLOCKS)] = {.file = {"live_blocks", "blocks", 1},
                            .title = "Blocks live at the end",
                            .words = "blocks live at the end",
                            .unrecorded = "live memory at the end was not recorded",
                            .aliases = {"inuse_objects"}},
    [AT(FM_PEAK_BYTES)] = {.file = {"peak_bytes", "bytes", 1},
                           .sort = FM_SORT_BYTES,
                           .title = "Bytes live at the peak",
                           .words = "bytes live at the peak",
                           .unrecorded = "peak memory was not recorded",
                           .aliases = {"peak"}},
    [AT(FM_USABLE_BYTES)] = {.file = {"usable_bytes", "bytes", 1},
                             .sort = FM_SORT_BYTES,
                             .title = "Usable bytes",
                             .words = "usable bytes of malloc",
                             .unrecorded = "usable sizes of blocks were not recorded"},
    [AT(FM_WAITS)] = {.file = {"waits", "waits", 1},
                      .title = "Waits",
                      .words = "waits",
                      .unrecorded = "waits were not recorded",
                      .aliases = {"contentions"}},
    [AT(FM_WAIT_NS)] = {.file = {"wait_ns", "s", 1e-9},
                        .sort = FM_SORT_TIME,
                        .title = "Waited",
                        .words = "nanoseconds waited",
                        .unrecorded = "waits were not recorded",
                        .aliases = {"wait", "waiting", "delay"}},
};

const char *const fm_tree_words[FM_QUERY_BY_AUTO + 1] = {
    [FM_QUERY_BY_TIME] = "time",         [FM_QUERY_BY_CALLS] = "calls",
    [FM_QUERY_BY_CALLSEQS] = "callseqs", [FM_QUERY_BY_BYTES] = "bytes",
    [FM_QUERY_BY_WORDS] = "words",       [FM_QUERY_BY_ALLOCS] = "allocs",
    [FM_QUERY_BY_WAITING] = "waiting",   [FM_QUERY_BY_LIVE] = "live",
    [FM_QUERY_BY_PEAK] = "peak",         [FM_QUERY_BY_AUTO] = "auto",
};

const struct fm_tree_measure fm_tree_measures[FM_QUERY_BY_AUTO] = {
    [FM_QUERY_BY_TIME] = {.label = "Time",
                          .name = "time",
                          .measure = FM_QUANTA,
                          .unit = "seconds",
                          .c = true,
                          .mercury = true,
                          .has_order = true,
                          .order = FM_BY_TIME,
                          .instead = FM_QUERY_BY_AUTO},
    [FM_QUERY_BY_CALLS] = {.label = "Calls",
                           .name = "calls",
                           .measure = FM_CALLSEQS,
                           .unit = "count",
                           .c = true,
                           .has_order = true,
                           .order = FM_BY_CALLSEQS,
                           .instead = FM_QUERY_BY_CALLSEQS},
    [FM_QUERY_BY_CALLSEQS] = {.label = "Call sequence numbers",
                              .name = "call sequence numbers",
                              .measure = FM_CALLSEQS,
                              .unit = "count",
                              .mercury = true,
                              .has_order = true,
                              .order = FM_BY_CALLSEQS,
                              .instead = FM_QUERY_BY_CALLS},
    [FM_QUERY_BY_BYTES] = {.label = "Bytes",
                           .name = "bytes",
                           .measure = FM_WORDS,
                           .unit = "bytes",
                           .c = true,
                           .has_order = true,
                           .order = FM_BY_WORDS,
                           .instead = FM_QUERY_BY_WORDS},
    [FM_QUERY_BY_WORDS] = {.label = "Words",
                           .name = "words",
                           .measure = FM_WORDS,
                           .unit = "words",
                           .mercury = true,
                           .has_order = true,
                           .order = FM_BY_WORDS,
                           .instead = FM_QUERY_BY_BYTES},
    [FM_QUERY_BY_ALLOCS] = {.label = "Allocations",
                            .name = "allocations",
                            .measure = FM_ALLOCS,
                            .unit = "count",
                            .c = true,
                            .mercury = true,
                            .has_order = true,
                            .order = FM_BY_ALLOCS,
                            .instead = FM_QUERY_BY_AUTO},
    [FM_QUERY_BY_WAITING] = {.label = "Waiting",
                             .name = "waiting",
                             .measure = FM_WAIT_NS,
                             .unit = "seconds",
                             .c = true,
                             .order = FM_BY_TIME,
                             .instead = FM_QUERY_BY_AUTO},
    [FM_QUERY_BY_LIVE] = {.label = "Live at the end",
                          .name = "bytes live at the end",
                          .measure = FM_LIVE_BYTES,
                          .unit = "bytes",
                          .c = true,
                          .order = FM_BY_WORDS,
                          .instead = FM_QUERY_BY_BYTES},
    [FM_QUERY_BY_PEAK] = {.label = "Live at the peak",
                          .name = "bytes live at the peak",
                          .measure = FM_PEAK_BYTES,
                          .unit = "bytes",
                          .c = true,
                          .order = FM_BY_WORDS,
                          .instead = FM_QUERY_BY_BYTES},
};

const struct fm_known_measure *fm_known_measure(unsigned measure)
{
    bool further = measure >= FM_FURTHER_FIRST;
    g_assert(further ? measure < FM_FURTHER_END : measure < FM_MEASURES_MERCURY);
    return &measures[further ? AT(measure) : measure];
}

static bool has_name(const struct fm_known_measure *measure, const char *name)
{
    if (strcmp(measure->file.name, name) == 0 ||
        (measure->exported != NULL && strcmp(measure->exported, name) == 0))
        return true;
    for (size_t i = 0; i < G_N_ELEMENTS(measure->aliases) && measure->aliases[i] != NULL; i++) {
        if (strcmp(measure->aliases[i], name) == 0)
            return true;
    }
    return false;
}

unsigned fm_measure_find(const char *name)
{
    for (unsigned i = 0; i < ALL; i++) {
        if (has_name(&measures[i], name))
            return i < FM_MEASURES_MERCURY ? i : i - FM_MEASURES_MERCURY + FM_FURTHER_FIRST;
    }
    return FM_FURTHER_END;
}

const char *fm_measure_words(const char *name)
{
    unsigned measure = fm_measure_find(name);
    return measure == FM_FURTHER_END ? name : fm_known_measure(measure)->words;
}

bool fm_tree_measure_find(const char *word, enum fm_query_measure *ret)
{
    for (unsigned i = 0; i < G_N_ELEMENTS(fm_tree_words); i++) {
        if (strcmp(fm_tree_words[i], word) == 0) {
            *ret = (enum fm_query_measure)i;
            return true;
        }
    }
    unsigned measure = fm_measure_find(word);
    for (unsigned i = 0; measure != FM_FURTHER_END && i < FM_QUERY_BY_AUTO; i++) {
        if (fm_tree_measures[i].measure == measure && fm_tree_measures[i].c) {
            *ret = (enum fm_query_measure)i;
            return true;
        }
    }
    return false;
}

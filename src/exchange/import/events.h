/* SPDX-License-Identifier: Apache-2.0 */
/* Events of a callgrind file: which measures they are. */
#pragma once

#include "exchange/import/arcs.h"
#include "exchange/figures_measures.h"

#define FM_IMPORT_EVENTS_MAX FM_MEASURES_MAX

struct fm_import_event {
    char *name; /* "Ir" */
    enum fm_measure_id measure;
};

struct fm_import_events {
    unsigned count;
    struct fm_import_event all[FM_IMPORT_EVENTS_MAX];
    GHashTable *units;  /* name -> unit, of those that were described; NULL = of none */
    GHashTable *titles; /* name -> long name, likewise */
    struct fm_import_figures figures; /* for fathom's own exports */
};

/* False: there are too many. */
bool fm_import_events_add(struct fm_import_events *events, const char *name, size_t size);
bool fm_import_events_is(const struct fm_import_events *events, unsigned event, const char *name,
                         size_t size);
/* "NAME : long name (unit)" */
void fm_import_events_describe(struct fm_import_events *events, const char *text, size_t size);
/* Makes measures of them: the first that is time, else the first of all, are the quanta; calls,
 * allocations and bytes what a recording calls so; the others further ones, as far as there is
 * room, which is told otherwise. */
void fm_import_events_choose(struct fm_import_events *events, struct fm_import_arcs *arcs);
void fm_import_events_done(struct fm_import_events *events);

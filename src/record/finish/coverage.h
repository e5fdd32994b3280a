/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "profile/file/attached/source_map.h"
#include "record/finish/nodes.h"

/* A coverage point of the profile to be. */
struct fm_node_point {
    uint32_t ps;
    const char *file;
    uint32_t line, column, ordinal;
    uint64_t address; /* address of one of its copies */
    bool entry;       /* run once a call */
    bool at_home;     /* executed in contexts of ps */
    bool met;         /* it has a count */
    bool not_counted; /* for an entry: one of bodies that were inlined, where it has no count */
    bool elsewhere;   /* executed in other contexts: if only in those, it does not belong to ps */
    uint32_t number;  /* within ps; FM_NONE = dropped */
};

struct fm_point_count {
    uint32_t pd; /* pd of the recording */
    uint32_t point;
    uint64_t count;
};

struct fm_coverage {
    struct fm_nodes *nodes;
    GArray *points;           /* struct fm_node_point; none: coverage was not recorded */
    GArray *counts;           /* struct fm_point_count */
    guint *order;             /* order of the points: by procedure, as in the source */
    uint32_t *entry_of_ps;    /* into points, FM_NONE; NULL when there are no points */
    uint32_t **node_of_point; /* per image; FM_NONE = an entry point, or of no procedure */
    GHashTable *ids;          /* key text -> point + 1 */
    bool has_losses;          /* the recording was full: points without count may have run */
    const GArray *times;      /* struct fm_line_time; borrowed; NULL = not known */
    const GArray *samples;    /* struct fm_fallen, code.h; likewise */
    unsigned unknown;         /* number of points executed in code that could not be read */
};

/* Joins the points of the recording to those of the statics. */
void fm_coverage_join(struct fm_coverage *coverage, const struct fm_raw_recording *recording,
                      struct fm_nodes *nodes, struct fm_finish_notes *notes);
void fm_coverage_done(struct fm_coverage *coverage);
char *fm_coverage_path(const struct fm_coverage *coverage, const struct fm_node_point *point);
/* The lines with code, with the points that they represent and their times. ps_ids: ids in the
 * profile, for each ps. */
struct fm_source_map *fm_coverage_lines(const struct fm_coverage *coverage, const uint32_t *ps_ids,
                                        uint32_t ps_count);

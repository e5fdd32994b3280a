/* SPDX-License-Identifier: Apache-2.0 */
/* Profiles in other tools' formats. Every format is a pure function of the profile and the
 * options: the same bytes each time. What a format has no place for is told as a note. */
#pragma once

#include "profile/analysis/analysis.h"
#include "base/files/writer.h"
#include "profile/file/attached/source_map.h"

struct fm_export_options {
    const char *measure;    /* folded: a column's name; NULL = processor time, or calls */
    const char *strip_path; /* NULL, or a folder that is taken off the names of files */
    double min_share;       /* 0 to 1: smaller contexts are joined (formats of stacks) */
    bool lines;             /* folded: frames with the line that calls on */
    unsigned callers;       /* callgrind: so many callers in the names of functions */
    const struct fm_source_map *source; /* lcov needs it; NULL = there is none */
};

struct fm_export_format {
    const char *name;    /* "pprof" */
    const char *suffix;  /* suffix of files: "pb.gz" */
    const char *summary; /* for --help */
    bool stacks;         /* min_share has a meaning */
    bool (*write)(const struct fm_analysis *a, const struct fm_export_options *options,
                  struct fm_writer *out, GPtrArray *notes, GError **error);
};

/* Ends with a NULL name. */
extern const struct fm_export_format fm_export_formats[];
const struct fm_export_format *fm_export_format_named(const char *name); /* NULL: there is none */

/* Writes the profile to out, which stays the caller's. notes: char*, g_free, what the format cannot
 * say. Errors: FM_ERROR_LIMIT, FM_ERROR_UNAVAILABLE (the profile lacks what the format is about),
 * FM_ERROR_USAGE (no such measure). */
FM_MUST_USE bool fm_export(const struct fm_export_format *format, const struct fm_analysis *a,
                           const struct fm_export_options *options, struct fm_writer *out,
                           GPtrArray *notes, GError **error);

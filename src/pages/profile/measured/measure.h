/* SPDX-License-Identifier: Apache-2.0 */
/* A measure as shown on pages of ranked rows: the unit of a column, names of columns, the word in
 * addresses. */
#pragma once

#include "display/ranked.h"
#include "pages/report.h"

struct fm_measured {
    enum fm_query_measure asked;
    enum fm_measure_id measure;
    bool is_time, is_bytes; /* time: of the processor, or waiting */
    double tick;            /* for time: seconds a quantum */
    double sample;          /* for CPU time: quanta for one sample, at least 1; 0: exact */
    enum fm_time_unit unit; /* for time: unit of the columns */
    int64_t scale;          /* for memory: bytes a word */
    int64_t whole;          /* total of the program; 0 = nothing was recorded */
    const char *name;       /* "time", "calls": in headings */
};

/* For a measure that the flavour does not have, its nearest relative. */
void fm_measured_init(struct fm_measured *ret, const struct fm_open_profile *recording,
                      enum fm_query_measure asked);
/* Whether all threads together waited more than twice as long as they worked, and not just for a
 * moment. */
bool fm_waiting_dominates(const struct fm_open_profile *recording);
/* What was never freed, by the rule of profile/digest/run/held.h, is much, and at least half of the
 * peak.
 */
bool fm_held_dominates(const struct fm_open_profile *recording);
/* The measure that pages begin with: waiting where that dominates, else time where there are 20
 * samples, else what was never freed where that dominates, else calls. Below 20 samples the order
 * of two functions, of 50 and of 25 %, is wrong in more than a tenth of all runs. */
enum fm_query_measure fm_dominant_measure(const struct fm_open_profile *recording);
/* Whether there is any of it. Of a profile that has quanta but not their length (another tool's
 * samples, instructions), time is shown as a number of them. */
bool fm_measure_is_recorded(const struct fm_open_profile *recording, enum fm_query_measure measure);
/* Whether profiles of its flavour have it. */
bool fm_measure_is_offered(const struct fm_open_profile *recording, enum fm_query_measure measure);
/* The word of the switch; belongs to the recording. */
const char *fm_measure_label(const struct fm_open_profile *recording,
                             enum fm_query_measure measure);

/* A column of the measure, "Self ms"; part: "self", "total". */
void fm_measured_column(struct fm_table *table, const struct fm_measured *measured,
                        const char *title, const char *part, unsigned priority);
void fm_measured_cell(struct fm_table *table, const struct fm_measured *measured, int64_t amount);
/* After the column and the cell of an amount of sampled time: half the width of its 95 % interval.
 * Other amounts are exact, and have no such column. */
void fm_measured_spread_column(struct fm_table *table, const struct fm_measured *measured,
                               const char *part, unsigned priority);
void fm_measured_spread_cell(struct fm_table *table, const struct fm_measured *measured,
                             int64_t amount);
/* Adds a number of calls. Calls of inlined bodies, which are not recorded, are shown as "inlined",
 * or "28 + inlined". A dash if the profile has no call counts. */
void fm_calls_cell(struct fm_table *table, const struct fm_profile *profile, int64_t calls,
                   bool inlined);
/* Adds the cost of one call; "few" when there are too few samples. */
void fm_measured_per_call(struct fm_table *table, const struct fm_measured *measured,
                          int64_t amount, int64_t calls);
/* "706 ms", "188,056,028 calls", "243.2 MiB"; g_free. */
char *fm_measured_text(const struct fm_measured *measured, int64_t amount);
/* Share of the total: 0 to 1. */
double fm_measured_share(const struct fm_measured *measured, int64_t amount);
/* Twice the standard deviation of an amount of time, in quanta: samples out of all samples. */
double fm_measured_spread(const struct fm_measured *measured, int64_t amount);
/* Whether the row has so few samples that it is shown in grey. */
bool fm_measured_is_soft(const struct fm_measured *measured, int64_t amount);

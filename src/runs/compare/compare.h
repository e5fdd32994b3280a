/* SPDX-License-Identifier: Apache-2.0 */
/* Compares two profiles of a program, possibly of two builds: the differences, their contexts,
 * and their causes.
 *
 * Procedures and call sites of the second are paired with those of the first (match.h), then
 * both graphs are joined: contexts with equal paths are one, with the costs of both. Counts are
 * exact, so every difference of counts is real; time is sampled, so a difference of time is
 * reported only when chance does not explain it. Definitions: README.md in this folder. */
#pragma once

#include "profile/file/profile.h"

enum fm_side { FM_BEFORE, FM_AFTER, FM_SIDES };

/* Properties by which two procedures were paired. */
enum fm_matched {
    FM_MATCHED_SAME,      /* all that is known of them is equal */
    FM_MATCHED_LINE,      /* all but the line */
    FM_MATCHED_FOLDER,    /* name and name of the file */
    FM_MATCHED_SIGNATURE, /* unit and name */
    FM_MATCHED_FILE,      /* the linker's name: another file */
    FM_MATCHED_RENAMED,   /* a guess: calls and is called as the other */
};
struct fm_match {
    uint32_t before, after; /* ps of the profiles that were given */
    enum fm_matched how;
    double similarity; /* FM_MATCHED_RENAMED: 0.6 to 1 */
};

struct fm_compare_options {
    bool no_renames;  /* FM_MATCHED_RENAMED is not tried */
    double variation; /* assumed of sampled amounts from run to run, in parts, until runs show more;
                         0 = 2 % */
};

/* The runs of one side, of one build. */
struct fm_compare_runs {
    const struct fm_profile *const *profiles;
    unsigned count;  /* 1 to FM_COMPARE_RUNS_MAX */
    unsigned middle; /* its counts are compared */
};
#define FM_COMPARE_RUNS_MAX 20u

struct fm_compare {
    const struct fm_profile *given[FM_SIDES]; /* borrowed: the run in the middle */
    unsigned run_count[FM_SIDES];
    const struct fm_profile **runs[FM_SIDES]; /* [run_count] borrowed: that in the middle first */
    uint32_t **run_csds[FM_SIDES]; /* [run][its csd + 1] the csd of the common graph; 0 = the root
                                      does not lead there */
    GArray *matches;               /* struct fm_match, by before */
    uint32_t only[FM_SIDES];       /* procedures without a counterpart that ran */
    bool *ps_only[FM_SIDES]; /* [ps of side[] + 1] the procedure is in one build alone: in [0] those
                                of before, in [1] of after */
    /* Both over the same graph: equal ids, other costs. Names are those of before where it has
     * the procedure. Counts are those of the run in the middle. Quanta are those of all runs of the
     * side, times the number of runs of the other: quanta_parts of them are one quantum of a mean
     * run. side[FM_AFTER] owns its costs alone, all else is the other's. */
    struct fm_profile *side[FM_SIDES];
    uint64_t quanta_parts;
    double variation;      /* as the options say */
    uint32_t *clique_size; /* [pd + 1] contexts in its recursion; 1 = it is in none */
    uint32_t *head;        /* [pd + 1] the context that entered its recursion; 0 = it is in none */
    uint32_t *tree_csd;    /* [pd + 1] leads to the pd in the spanning tree, breadth first; 0 */
    uint32_t *order;       /* pds that the root reaches, parents before children */
    uint32_t order_count;
    uint32_t *into_first; /* [pd + 2] into into */
    uint32_t *into;       /* csds by callee */
    /* [pd + 1] some calls into the context are not counted in one of the builds, or in both: its
     * body is inlined there, or the file knows of no calls. The numbers of both say nothing. */
    bool *uncounted;
    /* [pd + 1] how often the builds call its function from its frame differs because they do not
     * inline alike; then it is also uncounted */
    bool *uneven;
    bool *loops;     /* [pd + 1] one build calls the function directly from itself, the other has no
                        such call: a compiler may have made a loop of it */
    uint32_t *frame; /* [pd + 1] the nearest context above it whose calls both builds count; one
                        stands for all of a function that have one frame */
    GPtrArray *notes; /* char*: notes for the reader, a sentence each */
};

/* Both profiles must outlive *ret. Errors: FM_ERROR_UNAVAILABLE when they cannot be compared (a C
 * and a Mercury program, other words, one without contexts). O(nodes of both). */
FM_MUST_USE bool fm_compare_new(const struct fm_profile *before, const struct fm_profile *after,
                                const struct fm_compare_options *options, struct fm_compare **ret,
                                GError **error);
/* Compares several runs a side. All profiles must outlive *ret. */
FM_MUST_USE bool fm_compare_new_runs(const struct fm_compare_runs sides[FM_SIDES],
                                     const struct fm_compare_options *options,
                                     struct fm_compare **ret, GError **error);
void fm_compare_free(struct fm_compare *compare); /* NULL is allowed */

/* One number of both sides. FM_MEASURES_MAX stands for calls. */
#define FM_COMPARE_CALLS ((enum fm_measure_id)FM_MEASURES_MAX)
/* Total of the whole program. */
int64_t fm_compare_total(const struct fm_compare *compare, enum fm_measure_id measure,
                         enum fm_side side);

/* One measure of all contexts, for both sides. total: of the context and what is below it in the
 * spanning tree. calls: number of entries of the context, at least 1 if it has any cost, 0 if it
 * did not exist; if that was not counted (known[] is false), the number of the context above, so
 * that only the quotient of both sides is meaningful, and says that nothing changed. */
struct fm_compare_values {
    int64_t *own[FM_SIDES], *total[FM_SIDES], *calls[FM_SIDES]; /* [pd + 1] */
    bool *known;                                                /* [pd + 1] calls are counts */
};
void fm_compare_values_init(struct fm_compare_values *values, const struct fm_compare *compare,
                            enum fm_measure_id measure);
void fm_compare_values_done(struct fm_compare_values *values);
/* Leaves out the calls of contexts that the builds inline differently, of calls: what is left is at
 * the level that both have. ret_out: how many calls of each side that were. */
void fm_compare_values_leave_out(struct fm_compare_values *values, const struct fm_compare *compare,
                                 int64_t ret_out[FM_SIDES]);

/* Totals of all contexts on one side, of a measure whose values are known. */
struct fm_compare_totals {
    int64_t *of;   /* [pd + 1] the cost of all stacks that contain the context, each counted once */
    int64_t *adds; /* [pd + 1] its part in the sum over all contexts of its function */
    int64_t *part; /* [pd + 1] its own code and what it calls outside of its recursion: the parts of
                      a recursion add up to its total */
    bool *at_most; /* [pd + 1] it was not recorded: `of` and `adds` are those of its recursion */
};
void fm_compare_totals_init(struct fm_compare_totals *totals, const struct fm_compare *compare,
                            enum fm_side side, enum fm_measure_id measure,
                            const struct fm_compare_values *values);
void fm_compare_totals_done(struct fm_compare_totals *totals);

/* Whether both profiles have the measure and it means something to a reader. */
bool fm_compare_has(const struct fm_compare *compare, enum fm_measure_id measure);
/* Amount of a measure per independent sample: 0 if each event was counted or measured. */
double fm_compare_sample(const struct fm_compare *compare, enum fm_measure_id measure,
                         enum fm_side side);
/* "exact", "sampled", "measured", "estimated". */
const char *fm_compare_certainty(const struct fm_compare *compare, enum fm_measure_id measure);
/* "calls", "time", "bytes", "allocs"; or a measure's own name. False: the profiles do not have
 * it. */
bool fm_compare_parse_measure(const struct fm_compare *compare, const char *text,
                              enum fm_measure_id *ret);
/* "calls, time, bytes": the measures that both profiles have; g_free. */
char *fm_compare_measure_list(const struct fm_compare *compare);
const char *fm_compare_measure_title(const struct fm_compare *compare, enum fm_measure_id measure);
/* As above in words for readers: "bytes live at the peak". */
const char *fm_compare_measure_words(const struct fm_compare *compare, enum fm_measure_id measure);
/* Factor from a value to the displayed unit: seconds, bytes. */
double fm_compare_scale(const struct fm_compare *compare, enum fm_measure_id measure);
/* The measure to show first: time if it differs significantly, else the first of calls, allocations
 * and bytes that differs. */
enum fm_measure_id fm_compare_telling_measure(const struct fm_compare *compare);
/* "main › parse › expr": at most that many innermost functions of the spanning tree's path;
 * g_free. */
char *fm_compare_path(const struct fm_compare *compare, uint32_t pd, unsigned steps_max);

/* --- causes --- */

enum fm_cause_kind {
    FM_CAUSE_CALLS, /* called more or less often from there than the caller's own calls explain */
    FM_CAUSE_SELF,  /* its own code costs more or less a call */
    FM_CAUSE_APPEARED, /* is called from there now */
    FM_CAUSE_VANISHED, /* does not exist any more */
    FM_CAUSE_REPLACED, /* one is called where another was */
    FM_CAUSE_INLINED,  /* by calls: counted in one build only, inlined in the other; never reported,
                          since the program did not change */
};

struct fm_cause_context {
    uint32_t pd;
    uint32_t of[FM_SIDES];   /* pd, but before it was REPLACED */
    double net;              /* difference after subtracting its opposite parts */
    int64_t calls[FM_SIDES]; /* -1: not counted */
    int64_t value[FM_SIDES]; /* SELF: own cost, else total */
    bool at_most[FM_SIDES];  /* that total is its recursion's */
    uint32_t against;        /* how many smaller differences below are set against it */
};

struct fm_cause {
    enum fm_cause_kind kind;
    uint32_t caller; /* ps; 0 for SELF */
    uint32_t css;    /* the line that calls; 0 for SELF */
    uint32_t ps;
    uint32_t old_ps;  /* REPLACED */
    bool deeper;      /* CALLS: the calls that changed come from within its recursion */
    double net;       /* sum over contexts, in the measure's unit */
    bool told;        /* chance does not explain it; of counts: all but INLINED */
    GArray *contexts; /* struct fm_cause_context, largest first */
};

struct fm_causes {
    enum fm_measure_id measure;
    bool sampled;      /* time: differences are estimated */
    double difference; /* after - before of the whole: the sum of all net */
    double sum;        /* sum of absolute values */
    GArray *causes;    /* struct fm_cause, largest first; those that are not significant last */
    double not_told;   /* sum of net of those */
};

/* Finds the causes of the difference of a measure (FM_FIRST_INHERITED or later, or
 * FM_COMPARE_CALLS). */
void fm_causes_find(const struct fm_compare *compare, enum fm_measure_id measure,
                    struct fm_causes *ret);
void fm_causes_done(struct fm_causes *causes);
/* "second calls scan now"; g_free. */
char *fm_cause_what(const struct fm_compare *compare, const struct fm_cause *cause);
/* "made.c:12", the line that calls, or where a function itself begins; "" = not known; g_free. */
char *fm_cause_place(const struct fm_compare *compare, const struct fm_cause *cause);

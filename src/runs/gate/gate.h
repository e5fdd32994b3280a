/* SPDX-License-Identifier: Apache-2.0 */
/* Judges two profiles by limits: kept, broken (and by which contexts), or undecidable. Counts are
 * exact, so verdicts on them never depend on chance. Time is sampled, and a limit of time is broken
 * only if chance does not explain the difference. Definitions: README.md. */
#pragma once

#include "runs/compare/compare.h"
#include "runs/gate/limit.h"

enum fm_verdict {
    FM_VERDICT_KEPT,
    FM_VERDICT_NOT_TOLD, /* time: neither beyond the bound nor within it, as far as the samples show
                          */
    FM_VERDICT_BROKEN,
    FM_VERDICT_ERROR, /* the limit does not fit the profiles */
};

struct fm_judgement {
    const struct fm_limit *limit; /* borrowed */
    enum fm_verdict verdict;
    double value[FM_SIDES]; /* in the displayed unit; a NEW limit: 0 and the new amount */
    bool has_before;        /* false: there is no base profile */
    bool estimated;         /* a limit of time */
    bool at_most[FM_SIDES]; /* the value is an upper bound: the total of a function inside a
                               recursion was not recorded, so it is that of the recursion */
    double allowed;         /* maximum (for >= minimum) value that keeps the limit */
    char *why;              /* reason, in a sentence; NULL: kept without remark */
    char *note;             /* further remarks; NULL = none */
    char *path;             /* path of the context that differs most; NULL = none */
    char *cause;            /* cause of the difference there; NULL = none */
    char *file;             /* file of the function; NULL = none */
    uint32_t line;
};

struct fm_gate {
    GArray *judgements;                   /* struct fm_judgement, one for each limit, in order */
    unsigned count[FM_VERDICT_ERROR + 1]; /* by verdict */
    const char *names[FM_SIDES];          /* names of the files; before NULL: there is no base */
};

struct fm_gate_options {
    const char *names[FM_SIDES];
    const struct fm_profile *again; /* a second run of the same build as after, or NULL: exact
                                       limits on counts that differ between the two are errors */
    unsigned looks; /* runs are added until limits of time are decided, at most this many on a side;
                       0 = one look */
    bool strict;    /* undecidable limits count as broken */
};

/* The runs of each side: for counts, the middle run is judged; for time, all. before NULL: only
 * absolute bounds can be judged, others are errors. limits and the profiles must outlive *ret.
 * Errors: those of fm_compare_new. */
FM_MUST_USE bool fm_gate_judge(const struct fm_limits *limits, const struct fm_compare_runs *before,
                               const struct fm_compare_runs *after,
                               const struct fm_gate_options *options, struct fm_gate *ret,
                               GError **error);
void fm_gate_done(struct fm_gate *gate);

/* "1 of 3 limits broken, 2 kept"; g_free. */
char *fm_gate_summary(const struct fm_gate *gate);
/* A value in the unit of its measure: "1,204", "2.50 ms"; g_free. */
char *fm_judgement_text(const struct fm_judgement *judgement, double value);
/* Change as "+4.2 %", or "+3" when the old value was 0; "" without a base; g_free. */
char *fm_judgement_change(const struct fm_judgement *judgement);
const char *fm_verdict_word(enum fm_verdict verdict); /* "kept", "not told", "broken", "error" */

/* Reports for tools; each appends a whole document. */
void fm_gate_write_junit(const struct fm_gate *gate, GString *out);
void fm_gate_write_sarif(const struct fm_gate *gate, GString *out);
/* A summary for a pull request, at most 60 KB. */
void fm_gate_write_markdown(const struct fm_gate *gate, GString *out);

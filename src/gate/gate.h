/* SPDX-License-Identifier: Apache-2.0 */
/* Two profiles held against limits: what is kept, what is broken and by what, what cannot be told.
 * Counts are exact, so a verdict on them never depends on chance; time is sampled, and a limit of
 * it is broken only where chance does not explain it. Definitions: README.md. */
#pragma once

#include "compare/compare.h"
#include "gate/limit.h"

enum fm_verdict {
    FM_VERDICT_KEPT,
    FM_VERDICT_NOT_TOLD, /* time: neither that it is beyond the bound can be told, nor that it is
                            not */
    FM_VERDICT_BROKEN,
    FM_VERDICT_ERROR, /* the limit does not fit the profiles */
};

struct fm_judgement {
    const struct fm_limit *limit; /* borrowed */
    enum fm_verdict verdict;
    double value[FM_SIDES]; /* in the unit that is shown; a NEW limit: 0 and what is new */
    bool has_before;        /* false: there is no base to compare with */
    bool estimated;         /* a limit of time */
    double allowed;         /* the greatest (least, for >=) value that keeps the limit */
    char *why;              /* a sentence; NULL: kept, with nothing to say */
    char *note;             /* more that why says; NULL = nothing */
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
    const struct fm_profile *again; /* a second run of after's build, or NULL: exact limits on what
                                       differs between the two runs are errors */
    unsigned looks; /* runs are added until limits of time are decided, at most so many a side; 0 =
                       one look */
    bool strict;    /* undecidable limits are broken */
};

/* The runs of each side; of what is counted that in the middle is judged, of time all. before NULL:
 * only absolute bounds can be judged, others are errors. limits and the profiles must outlive *ret.
 * Errors: those of fm_compare_new. */
FM_MUST_USE bool fm_gate_judge(const struct fm_limits *limits, const struct fm_compare_runs *before,
                               const struct fm_compare_runs *after,
                               const struct fm_gate_options *options, struct fm_gate *ret,
                               GError **error);
void fm_gate_clear(struct fm_gate *gate);

/* "1 of 3 limits broken, 2 kept"; g_free. */
char *fm_gate_summary(const struct fm_gate *gate);
/* A value in the unit of its measure: "1,204", "2.50 ms"; g_free. */
char *fm_judgement_text(const struct fm_judgement *judgement, double value);
/* after - before as "+4.2 %", "+3" where there was nothing, "" without a base; g_free. */
char *fm_judgement_change(const struct fm_judgement *judgement);
const char *fm_verdict_word(enum fm_verdict verdict); /* "kept", "not told", "broken", "error" */

/* For machines; each appends a whole document. */
void fm_gate_write_junit(const struct fm_gate *gate, GString *out);
void fm_gate_write_sarif(const struct fm_gate *gate, GString *out);
/* A summary for a pull request, at most 60 KB. */
void fm_gate_write_markdown(const struct fm_gate *gate, GString *out);

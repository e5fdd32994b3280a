/* SPDX-License-Identifier: Apache-2.0 */
/* All that pages say differently about Mercury and C programs. */
#pragma once

#include "profile/file/profile.h"
#include "query/query.h"

struct fm_terms {
    const char *proc, *procs, *proc_title; /* "procedure", "procedures", "Procedure" */
    const char *module, *modules, *module_title, *modules_title;
    const char *runtime;        /* the caller of the program's entry: "the runtime" */
    const char *runtime_module; /* not listed as a module of the program */
    const char *site_kinds[FM_SITE_KINDS];
    const char *callseqs_title; /* heading of the columns */
    const char *callseqs_order; /* as in "By self callseqs" */
    const char *callseqs_kind;  /* as in "ordered by total call sequence numbers" */
    const char *words_kind;     /* "words allocated" */
    const char *excps_title;
    const char *qualify; /* "module qualify predicate and function names" */
    const char *higher_order_calls;
    const char *explore_root, *explore_modules;
    /* Rows of the menu: csds, pds, csss, pss. */
    const char *csd_count, *pd_count, *css_count, *ps_count, *clique_count;
    const char *ports_title;           /* over numbers of calls and exits */
    const char *ticks[4];              /* a second; of the program; of recording; in sum */
    const char *recursion;             /* of several functions: "clique" */
    const char *clique, *clique_title; /* in sentences; on controls */
    bool has_fails;                    /* fails and redos exist */
};
const struct fm_terms *fm_terms_of(enum fm_flavour flavour);
const char *fm_terms_cost_kind(const struct fm_terms *terms, enum fm_cost_kind kind);

/* SPDX-License-Identifier: Apache-2.0 */
/* Advice to Mercury's compiler on which conjunctions to run in parallel: found in a deep profile,
 * kept in a feedback file, printed as a report. Costs are call sequence numbers, times too. */
#pragma once

#include "mercury/body/bodies.h"

/* --- what was asked for --- */

enum fm_speedup_algorithm {
    FM_SPEEDUP_INDEPENDENT, /* dependent conjunctions are not made parallel */
    FM_SPEEDUP_NAIVE,       /* as if nobody waited for a shared variable */
    FM_SPEEDUP_OVERLAP,
};
enum fm_best_algorithm {
    FM_BEST_COMPLETE_BRANCHES, /* complete, up to best_limit alternatives */
    FM_BEST_COMPLETE_SIZE,     /* complete for conjunctions of at most best_limit goals */
    FM_BEST_COMPLETE,
    FM_BEST_GREEDY,
};

struct fm_feedback_params {
    double desired_parallelism;
    bool intermodule;
    int64_t spark_cost, spark_delay, barrier_cost, signal_cost, wait_cost, wakeup_delay;
    int64_t clique_threshold, call_site_threshold;
    double speedup_threshold;
    enum fm_speedup_algorithm speedup;
    enum fm_best_algorithm best;
    int64_t best_limit; /* limit of the two FM_BEST_COMPLETE_ algorithms */
};
void fm_feedback_params_default(struct fm_feedback_params *ret);
/* "overlap", "naive"; "greedy", "complete", "complete-size(N)", "complete-branches(N)". */
FM_MUST_USE bool fm_feedback_parse_speedup(const char *text, enum fm_speedup_algorithm *ret);
FM_MUST_USE bool fm_feedback_parse_best(const char *text, enum fm_best_algorithm *ret,
                                        int64_t *ret_limit);

/* --- the advice --- */

struct fm_var_time {
    uint32_t var;
    double time; /* measured from the goal's beginning */
};

/* A goal of a candidate: struct fm_goal with its children, and what it costs. Owned by its parent
 * or its list. */
struct fm_feedback_goal {
    /* its args, bound and functors are unused: the arrays below replace them */
    struct fm_goal goal;
    uint32_t *args;              /* [goal.arg_count] */
    uint32_t *bound;             /* [goal.bound_count] */
    struct fm_functor *functors; /* [goal.functor_count], of an arm of a switch */
    GPtrArray *children;         /* struct fm_feedback_goal */
    double cost;                 /* per call */
    bool above_threshold;
    GArray *productions, *consumptions; /* struct fm_var_time */
};

struct fm_push {
    char *path; /* path of the conjunction; switch steps without the number of functors: "s1-na;" */
    int64_t low, high;
    GPtrArray *targets; /* char * */
};

struct fm_parallel_metrics {
    int64_t calls;
    double sequential, parallel, spark, barrier, signals, waits, first_dead, future_dead;
};

struct fm_candidate {
    char *path;
    struct fm_push *push; /* NULL = none */
    bool dependent;
    GArray *shared;            /* uint32_t, ascending */
    GPtrArray *before, *after; /* struct fm_feedback_goal */
    double cost_before, cost_after;
    GPtrArray *conjuncts; /* GPtrArray of struct fm_feedback_goal */
    struct fm_parallel_metrics metrics;
};

struct fm_feedback_proc {
    struct fm_proc_label label;
    GArray *names;         /* struct fm_var_name, ascending by variable */
    GPtrArray *pushes;     /* struct fm_push */
    GPtrArray *candidates; /* struct fm_candidate */
};

struct fm_feedback {
    char *program;
    bool has_conjunctions; /* the file has a part about conjunctions */
    struct fm_feedback_params params;
    GPtrArray *procs; /* struct fm_feedback_proc, ascending by label */
    struct fm_strings *strings;
};

struct fm_feedback *fm_feedback_new(const char *program);
void fm_feedback_free(struct fm_feedback *feedback); /* NULL is allowed */
typedef struct fm_feedback FmFeedback;
G_DEFINE_AUTOPTR_CLEANUP_FUNC(FmFeedback, fm_feedback_free)

/* --- finding it --- */

enum fm_message_level {
    FM_MESSAGE_ERROR = 1,
    FM_MESSAGE_WARNING,
    FM_MESSAGE_NOTICE,
    FM_MESSAGE_INFO
};
struct fm_feedback_message {
    enum fm_message_level level;
    char *text; /* with its place; several lines, each with its newline */
};

/* Searches the whole profile and sets params and procs. *ret_messages: struct fm_feedback_message,
 * in the order found; g_ptr_array_unref(). Never fails: a message says what could not be
 * analysed. */
void fm_feedback_search(struct fm_feedback *feedback, struct fm_bodies *bodies,
                        const struct fm_feedback_params *params, GPtrArray **ret_messages);

/* --- the file --- */

#define FM_FEEDBACK_VERSION "19"
/* Appends the whole text of the file. */
void fm_feedback_write(const struct fm_feedback *feedback, GString *out);
/* program: must be the file's, unless NULL. Errors: FM_ERROR_IO, _NOT_FOUND (there is no such
 * file), _FORMAT, _TRUNCATED, _VERSION; the message begins with the file's name. */
FM_MUST_USE bool fm_feedback_read(const char *path, const char *program, struct fm_feedback **ret,
                                  GError **error);
FM_MUST_USE bool fm_feedback_read_text(const char *name, const char *text, size_t size,
                                       const char *program, struct fm_feedback **ret,
                                       GError **error);

/* --- the report --- */

void fm_feedback_report(const struct fm_feedback *feedback, GString *out);
/* Appends the code of one goal, without its children: "m.p(X, Y)"; for a compound goal its kind. */
void fm_feedback_append_goal(GString *out, const struct fm_feedback_proc *proc,
                             const struct fm_feedback_goal *goal);

/* SPDX-License-Identifier: Apache-2.0 */
/* Private to this folder. */
#pragma once

#include "base/text/strings.h"
#include "mercury/body/var_use.h"
#include "mercury/feedback/best.h"
#include "mercury/feedback/feedback.h"

/* --- model.c --- */

struct fm_feedback_proc *fm_feedback_proc_new(void);
struct fm_candidate *fm_candidate_new(void);
struct fm_push *fm_push_new(const char *path, int64_t low, int64_t high);
struct fm_push *fm_push_copy(const struct fm_push *push);
struct fm_feedback_goal *fm_feedback_goal_new(void);
GPtrArray *fm_feedback_goals_new(void); /* owns struct fm_feedback_goal */
void fm_feedback_proc_free(gpointer proc);
const char *fm_feedback_name(const struct fm_feedback_proc *proc, uint32_t var); /* "" = none */

/* Only hostile files have bodies that nest deeper: they are left out. */
#define FM_FEEDBACK_DEPTH_MAX 1000u

/* --- tree.c: the goals of one proc dynamic while it is searched --- */

struct fm_node {
    uint32_t origin;     /* the goal in the body; FM_NO_GOAL for a copy that was moved */
    struct fm_goal goal; /* copied from the body, or from the original of the copy */
    uint32_t source;     /* the goal of the body that its times and arguments come from */
    struct fm_node **children;
    uint32_t child_count;
    struct fm_goal_cost cost;
    bool costly;
    GArray *bound, *consumed; /* uint32_t, ascending */
    GHashTable *times;        /* variable * 2 + production -> double *: times computed so far */
    struct fm_searching *of;
};

/* State of the search in one proc dynamic. */
struct fm_searching {
    struct fm_bodies *bodies;
    const struct fm_feedback_params *params;
    struct fm_feedback *feedback; /* its string table is used */
    const struct fm_pd_body *pd;
    const struct fm_recursion *recursion;
    struct fm_var_use_search *uses;
    double depth; /* recursion depth at which variable uses are computed; negative = not known */
    GPtrArray *nodes; /* owns all nodes of the body */
    GPtrArray *messages;
    struct fm_feedback_proc *proc; /* collects the candidates found in the body */
};

struct fm_node *fm_node_tree(struct fm_searching *s);
struct fm_node *fm_node_copy(struct fm_searching *s, const struct fm_node *node);
/* computes it from the children; not for conjunctions */
void fm_node_update_cost(struct fm_node *node);
bool fm_node_is_costly(const struct fm_searching *s, const struct fm_node *node,
                       struct fm_goal_cost cost, bool any_detism);
/* Returns when it produces or first uses a variable. The answer is cached. */
double fm_node_time(struct fm_node *node, uint32_t var, bool production);
bool fm_searching_has_duplicates(const struct fm_searching *s);
struct fm_feedback_goal *fm_node_feedback(const struct fm_node *node, const GArray *shared);

/* --- conjunctions.c --- */

/* Searches the whole body; fills s->proc. */
void fm_search_body(struct fm_searching *s);

/* --- messages.c --- */

void fm_feedback_tell(GPtrArray *messages, enum fm_message_level level, const char *place,
                      const char *text);
void fm_feedback_tell_proc(GPtrArray *messages, enum fm_message_level level,
                           const struct fm_proc_label *proc, const char *text);
/* Adds a message about the procedure that is searched, and about a goal unless it is FM_NO_GOAL. */
void fm_feedback_tell_goal(struct fm_searching *s, enum fm_message_level level, uint32_t goal,
                           const char *text);

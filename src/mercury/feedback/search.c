/* SPDX-License-Identifier: Apache-2.0 */
/* Walks over the program, clique by clique from the root down, and visits what costs enough and is
 * not parallel enough already. */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "mercury/feedback/internal.h"

struct clique_to_do {
    uint32_t clique;
    double parallelism;
};

struct whole_search {
    struct fm_feedback *feedback;
    struct fm_bodies *bodies;
    const struct fm_feedback_params *params;
    GPtrArray *messages;
    GHashTable *procs; /* ps -> struct fm_feedback_proc, owned by feedback->procs */
    GArray *to_do;     /* struct clique_to_do; used as a stack */
};

/* Candidates of one proc dynamic of the current clique. */
struct found_pd {
    uint32_t ps;
    struct fm_feedback_proc *proc;
};

static void message_free(gpointer data)
{
    struct fm_feedback_message *message = data;
    g_free(message->text);
    g_free(message);
}

static void tell_proc(struct whole_search *w, uint32_t ps, enum fm_message_level level,
                      const char *text)
{
    struct fm_proc_label label;
    fm_proc_label_of_ps(&fm_bodies_analysis(w->bodies)->profile->ps[ps], &label);
    fm_feedback_tell_proc(w->messages, level, &label, text);
}

/* --- one proc dynamic --- */

/* Copies a label, with its strings in the feedback. */
static void keep_label(struct whole_search *w, uint32_t ps, struct fm_proc_label *ret)
{
    struct fm_strings *strings = w->feedback->strings;
    fm_proc_label_of_ps(&fm_bodies_analysis(w->bodies)->profile->ps[ps], ret);
    ret->decl_module = fm_strings_add(strings, ret->decl_module);
    ret->def_module = fm_strings_add(strings, ret->def_module);
    ret->name = fm_strings_add(strings, ret->name);
    ret->type_name = fm_strings_add(strings, ret->type_name);
}

static int compare_names(const void *a, const void *b)
{
    const struct fm_var_name *one = a, *other = b;
    return one->var < other->var ? -1 : one->var > other->var;
}

static void keep_names(struct whole_search *w, const struct fm_body *body,
                       struct fm_feedback_proc *proc)
{
    for (uint32_t i = 0; i < body->name_count; i++) {
        struct fm_var_name name = body->names[i];
        if (name.name[0] == '\0')
            continue;
        name.name = fm_strings_add(w->feedback->strings, name.name);
        g_array_append_val(proc->names, name);
    }
    g_array_sort(proc->names, compare_names);
}

static bool is_left_out(const struct fm_ps *ps)
{
    return strcmp(ps->def_module, "Mercury runtime") == 0 ||
           strcmp(ps->def_module, "exception") == 0;
}

/* Adds a message that says why a proc dynamic cannot be searched. */
static void tell_error(struct whole_search *w, uint32_t ps, const GError *error)
{
    if (g_error_matches(error, FM_ERROR, FM_ERROR_UNAVAILABLE)) {
        bool no_body = strstr(error->message, "representation") != NULL;
        tell_proc(w, ps, no_body ? FM_MESSAGE_WARNING : FM_MESSAGE_ERROR,
                  no_body ? "Could not look up proc defn, perhaps this procedure is built-in"
                          : "Cannot lookup coverage points");
    } else {
        tell_proc(w, ps, FM_MESSAGE_ERROR, error->message);
    }
}

static void tell_no_recursive_costs(struct whole_search *w, uint32_t clique,
                                    const struct fm_recursion *recursion)
{
    g_autofree char *why = fm_recursion_why_no_cost(recursion);
    if (why == NULL)
        return;
    g_autofree char *place = g_strdup_printf("  clique %u", clique);
    g_autofree char *text = g_strdup_printf("Cannot compute cost of recursive calls: %s", why);
    fm_feedback_tell(w->messages, FM_MESSAGE_WARNING, place, text);
}

/* Returns NULL when nothing was found. */
static struct fm_feedback_proc *search_pd(struct whole_search *w, uint32_t pd)
{
    const struct fm_profile *profile = fm_bodies_analysis(w->bodies)->profile;
    const struct fm_ps *ps = &profile->ps[profile->pd_ps[pd]];
    const struct fm_pd_body *body;
    g_autoptr(GError) error = NULL;
    if (is_left_out(ps))
        return NULL;
    if (!fm_bodies_pd(w->bodies, pd, &body, &error)) {
        tell_error(w, profile->pd_ps[pd], error);
        return NULL;
    }
    if (body->body->depth > FM_FEEDBACK_DEPTH_MAX) {
        tell_proc(w, profile->pd_ps[pd], FM_MESSAGE_ERROR, "its goals nest too deep");
        return NULL;
    }
    struct fm_feedback_proc *proc = fm_feedback_proc_new();
    struct fm_searching s = {
        .bodies = w->bodies,
        .params = w->params,
        .feedback = w->feedback,
        .pd = body,
        .recursion = fm_bodies_recursion(w->bodies, body->clique),
        .uses =
            fm_var_use_search_new(w->bodies, w->params->intermodule ? NULL : ps->def_module, true),
        .messages = w->messages,
        .proc = proc,
    };
    s.depth = s.recursion->kind == FM_RECURSION_NONE     ? 0
              : s.recursion->kind == FM_RECURSION_SINGLE ? 2
                                                         : -1;
    keep_label(w, profile->pd_ps[pd], &proc->label);
    tell_no_recursive_costs(w, body->clique, s.recursion);
    fm_search_body(&s);
    fm_var_use_search_free(s.uses);
    g_ptr_array_unref(s.nodes);
    keep_names(w, body->body, proc);
    return proc;
}

/* --- keeping what was found --- */

static int compare_targets(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static void unite_targets(struct fm_push *push, const struct fm_push *other)
{
    for (guint i = 0; other != NULL && i < other->targets->len; i++)
        g_ptr_array_add(push->targets, g_strdup(other->targets->pdata[i]));
    g_ptr_array_sort(push->targets, compare_targets);
    for (guint i = push->targets->len; i-- > 1;) {
        if (strcmp(push->targets->pdata[i], push->targets->pdata[i - 1]) == 0)
            g_ptr_array_remove_index(push->targets, i);
    }
}

/* Of several pushes out of one conjunction, only pushes of the same goals are united; otherwise the
 * first is kept. */
static void add_push(struct fm_feedback_proc *proc, const struct fm_push *push)
{
    guint at = 0;
    for (; at < proc->pushes->len; at++) {
        struct fm_push *there = proc->pushes->pdata[at];
        int order = strcmp(there->path, push->path);
        if (order < 0)
            break;
        if (order > 0)
            continue;
        if (there->low == push->low && there->high == push->high)
            unite_targets(there, push);
        return;
    }
    struct fm_push *copy = fm_push_copy(push);
    unite_targets(copy, NULL);
    g_ptr_array_insert(proc->pushes, (gint)at, copy);
}

static struct fm_feedback_proc *kept_proc(struct whole_search *w, uint32_t ps,
                                          const struct fm_feedback_proc *found)
{
    struct fm_feedback_proc *kept = g_hash_table_lookup(w->procs, GUINT_TO_POINTER(ps));
    if (kept != NULL)
        return kept;
    kept = fm_feedback_proc_new();
    kept->label = found->label;
    g_array_append_vals(kept->names, found->names->data, found->names->len);
    g_hash_table_insert(w->procs, GUINT_TO_POINTER(ps), kept);
    g_ptr_array_add(w->feedback->procs, kept);
    return kept;
}

/* Later proc dynamics of a clique come first. */
static void keep_found(struct whole_search *w, const GArray *all)
{
    for (guint i = all->len; i-- > 0;) {
        const struct found_pd *found = &g_array_index(all, struct found_pd, i);
        if (found->proc->candidates->len == 0)
            continue;
        struct fm_feedback_proc *kept = kept_proc(w, found->ps, found->proc);
        for (guint p = 0; p < found->proc->pushes->len; p++)
            add_push(kept, found->proc->pushes->pdata[p]);
        while (found->proc->candidates->len > 0)
            g_ptr_array_add(kept->candidates, g_ptr_array_steal_index(found->proc->candidates, 0));
    }
}

/* --- further down --- */

/* Returns the parallelism of the program at a call, with that of the candidate conjunctions around
 * it. */
static double parallelism_at(double parallelism, const GArray *all, uint32_t ps, const char *path)
{
    for (guint i = 0; i < all->len; i++) {
        const struct found_pd *found = &g_array_index(all, struct found_pd, i);
        for (guint c = 0; found->ps == ps && c < found->proc->candidates->len; c++) {
            const struct fm_candidate *candidate = found->proc->candidates->pdata[c];
            const struct fm_parallel_metrics *m = &candidate->metrics;
            size_t length = strlen(candidate->path);
            if (strncmp(path, candidate->path, length) != 0 || path[length] != 'c')
                continue;
            uint64_t number = g_ascii_strtoull(path + length + 1, NULL, 10);
            uint64_t first = 1 + candidate->before->len, goals = 0;
            for (guint k = 0; k < candidate->conjuncts->len; k++)
                goals += ((const GPtrArray *)candidate->conjuncts->pdata[k])->len;
            if (number <= first || number > first + goals)
                continue;
            double cpu = m->sequential + m->spark + m->barrier + m->signals + m->waits;
            parallelism += cpu / (cpu + m->first_dead + m->future_dead);
        }
    }
    return parallelism;
}

/* Goal paths of profiles may hold the number of a type's functors; paths of bodies do not. */
static char *plain_path(const char *path)
{
    GString *out = g_string_new(NULL);
    for (const char *at = path; *at != '\0'; at++) {
        g_string_append_c(out, *at);
        if (*at == '-') {
            at += strcspn(at, ";");
            g_string_append(out, "na");
            at--;
        }
    }
    return g_string_free(out, FALSE);
}

static void add_children(struct whole_search *w, uint32_t pd, double parallelism, const GArray *all)
{
    const struct fm_analysis *a = fm_bodies_analysis(w->bodies);
    const struct fm_profile *profile = a->profile;
    uint32_t ps = profile->pd_ps[pd];
    for (uint32_t slot = 0; slot < profile->ps[ps].css_count; slot++) {
        uint32_t count;
        const uint32_t *csds = fm_profile_slot(profile, pd, slot, &count);
        for (uint32_t i = 0; i < count; i++) {
            struct clique_to_do child = {fm_analysis_csd_child_clique(a, csds[i]), parallelism};
            struct fm_cost cost;
            if (child.clique == 0)
                continue;
            fm_analysis_csd_cost(a, csds[i], &cost);
            double total = (double)fm_cost_total(&cost, FM_CALLSEQS);
            if (cost.calls == 0 || total / (double)cost.calls < (double)w->params->clique_threshold)
                continue;
            g_autofree char *path = plain_path(profile->css[profile->csd_css[csds[i]]].goal_path);
            child.parallelism = parallelism_at(parallelism, all, ps, path);
            if (w->params->desired_parallelism >= child.parallelism)
                g_array_append_val(w->to_do, child);
        }
    }
}

/* Returns the proc dynamics of a clique, the one by which it is entered first; g_array_unref(). */
static GArray *members_in_order(const struct fm_analysis *a, uint32_t clique)
{
    GArray *members = g_array_new(FALSE, FALSE, sizeof(uint32_t));
    uint32_t entry = fm_analysis_clique_entry(a, clique);
    if (entry != 0)
        g_array_append_val(members, entry);
    for (uint32_t i = a->clique_first[clique]; i < a->clique_first[clique + 1]; i++) {
        if (a->clique_pds[i] != entry)
            g_array_append_val(members, a->clique_pds[i]);
    }
    return members;
}

static void search_clique(struct whole_search *w, const struct clique_to_do *at)
{
    const struct fm_analysis *a = fm_bodies_analysis(w->bodies);
    GArray *members = members_in_order(a, at->clique);
    GArray *all = g_array_new(FALSE, FALSE, sizeof(struct found_pd));
    for (guint i = 0; i < members->len; i++) {
        uint32_t pd = g_array_index(members, uint32_t, i);
        struct found_pd found = {a->profile->pd_ps[pd], search_pd(w, pd)};
        if (found.proc != NULL)
            g_array_append_val(all, found);
    }
    for (guint i = 0; i < members->len; i++)
        add_children(w, g_array_index(members, uint32_t, i), at->parallelism, all);
    keep_found(w, all);
    for (guint i = 0; i < all->len; i++)
        fm_feedback_proc_free(g_array_index(all, struct found_pd, i).proc);
    g_array_unref(all);
    g_array_unref(members);
}

static int compare_procs(const void *a, const void *b)
{
    const struct fm_feedback_proc *one = *(const struct fm_feedback_proc *const *)a,
                                  *other = *(const struct fm_feedback_proc *const *)b;
    return fm_proc_label_compare(&one->label, &other->label);
}

/* Order of candidates within a procedure: a clique's own before those of cliques further down,
 * those of its later children before those of earlier ones. So the clique added last is searched
 * first. */
void fm_feedback_search(struct fm_feedback *feedback, struct fm_bodies *bodies,
                        const struct fm_feedback_params *params, GPtrArray **ret_messages)
{
    g_return_if_fail(params != NULL && ret_messages != NULL);
    const struct fm_analysis *a = fm_bodies_analysis(bodies);
    struct whole_search w = {
        .feedback = feedback,
        .bodies = bodies,
        .params = params,
        .messages = g_ptr_array_new_with_free_func(message_free),
        .procs = g_hash_table_new(NULL, NULL),
        .to_do = g_array_new(FALSE, FALSE, sizeof(struct clique_to_do)),
    };
    g_autofree bool *seen = g_new0(bool, a->clique_count + 1u);
    struct clique_to_do at = {a->pd_clique[a->profile->root_pd], 1};
    g_ptr_array_set_size(feedback->procs, 0);
    feedback->params = *params;
    feedback->has_conjunctions = true;
    g_array_append_val(w.to_do, at);
    while (w.to_do->len > 0) {
        at = g_array_index(w.to_do, struct clique_to_do, w.to_do->len - 1);
        g_array_set_size(w.to_do, w.to_do->len - 1);
        if (seen[at.clique])
            continue;
        seen[at.clique] = true;
        search_clique(&w, &at);
    }
    g_ptr_array_sort(feedback->procs, compare_procs);
    g_hash_table_unref(w.procs);
    g_array_unref(w.to_do);
    *ret_messages = w.messages;
}

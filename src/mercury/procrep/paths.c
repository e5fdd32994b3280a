/* SPDX-License-Identifier: Apache-2.0 */
/* Paths of goals. */
#include "profile/file/goal_path.h"
#include "mercury/procrep/internal.h"

void fm_body_append_step(GString *out, const struct fm_body *body, uint32_t goal)
{
    g_return_if_fail(goal < body->goal_count);
    static const char *const branches[] = {"?;", "t;", "e;"};
    const struct fm_goal *of = &body->goals[goal];
    if (of->parent == FM_NO_GOAL)
        return;
    const struct fm_goal *parent = &body->goals[of->parent];
    switch (parent->kind) {
    case FM_GOAL_CONJ:
        g_string_append_printf(out, "c%u;", of->number);
        break;
    case FM_GOAL_DISJ:
        g_string_append_printf(out, "d%u;", of->number);
        break;
    case FM_GOAL_SWITCH:
        g_string_append_printf(out, "s%u-na;", of->number);
        break;
    case FM_GOAL_ITE:
        g_string_append(out, branches[MIN(of->number, 3u) - 1]);
        break;
    case FM_GOAL_NEGATION:
        g_string_append(out, "~;");
        break;
    default:
        g_string_append(out, parent->cut ? "q!;" : "q;");
    }
}

void fm_body_append_path(GString *out, const struct fm_body *body, uint32_t goal)
{
    g_return_if_fail(goal < body->goal_count);
    g_autoptr(GArray) chain = g_array_new(FALSE, FALSE, sizeof(uint32_t));
    for (; goal != FM_NO_GOAL; goal = body->goals[goal].parent)
        g_array_append_val(chain, goal);
    for (guint i = chain->len; i-- > 0;)
        fm_body_append_step(out, body, g_array_index(chain, uint32_t, i));
}

static bool step_fits(const struct fm_goal *parent, const struct fm_goal_step *step,
                      uint32_t *ret_number)
{
    *ret_number = step->number;
    switch (step->kind) {
    case FM_STEP_CONJ:
        return parent->kind == FM_GOAL_CONJ;
    case FM_STEP_DISJ:
        return parent->kind == FM_GOAL_DISJ;
    case FM_STEP_SWITCH:
        return parent->kind == FM_GOAL_SWITCH;
    case FM_STEP_COND:
    case FM_STEP_THEN:
    case FM_STEP_ELSE:
        *ret_number = 1u + (unsigned)(step->kind - FM_STEP_COND);
        return parent->kind == FM_GOAL_ITE;
    case FM_STEP_NEGATION:
        *ret_number = 1;
        return parent->kind == FM_GOAL_NEGATION;
    case FM_STEP_SCOPE:
    case FM_STEP_SCOPE_CUT:
        *ret_number = 1;
        return parent->kind == FM_GOAL_SCOPE && parent->cut == (step->kind == FM_STEP_SCOPE_CUT);
    default:
        return false;
    }
}

uint32_t fm_body_find(const struct fm_body *body, const char *path)
{
    struct fm_body_index *index = fm_body_index_new(body);
    uint32_t goal = fm_body_index_find(index, path);
    fm_body_index_free(index);
    return goal;
}

/* --- an index for many look-ups --- */

struct fm_body_index {
    const struct fm_body *body;
    uint32_t *first;    /* [goal_count] into children */
    uint32_t *children; /* the children of each goal, one goal after the other */
};

struct fm_body_index *fm_body_index_new(const struct fm_body *body)
{
    struct fm_body_index *index = g_new0(struct fm_body_index, 1);
    uint32_t used = 0;
    index->body = body;
    index->first = g_new(uint32_t, body->goal_count);
    index->children = g_new0(uint32_t, body->goal_count);
    for (uint32_t goal = 0; goal < body->goal_count; goal++) {
        index->first[goal] = used;
        used += body->goals[goal].child_count;
    }
    for (uint32_t goal = 1; goal < body->goal_count; goal++)
        index->children[index->first[body->goals[goal].parent] + body->goals[goal].number - 1] =
            goal;
    return index;
}

uint32_t fm_body_index_child(const struct fm_body_index *index, uint32_t goal, uint32_t number)
{
    g_return_val_if_fail(number >= 1 && number <= index->body->goals[goal].child_count, FM_NO_GOAL);
    return index->children[index->first[goal] + number - 1];
}

uint32_t fm_body_index_find(const struct fm_body_index *index, const char *path)
{
    g_return_val_if_fail(index != NULL && path != NULL, FM_NO_GOAL);
    struct fm_goal_step step;
    uint32_t goal = 0;
    while (fm_goal_path_next(&path, &step)) {
        uint32_t number;
        const struct fm_goal *parent = &index->body->goals[goal];
        if (!step_fits(parent, &step, &number) || number < 1 || number > parent->child_count)
            return FM_NO_GOAL;
        goal = fm_body_index_child(index, goal, number);
    }
    return *path == '\0' ? goal : FM_NO_GOAL;
}

void fm_body_index_free(struct fm_body_index *index)
{
    if (index == NULL)
        return;
    g_free(index->first);
    g_free(index->children);
    g_free(index);
}

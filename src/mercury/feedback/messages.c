/* SPDX-License-Identifier: Apache-2.0 */
/* Messages of a search about procedures and goals. */
#include "mercury/feedback/internal.h"

void fm_feedback_tell(GPtrArray *messages, enum fm_message_level level, const char *place,
                      const char *text)
{
    g_return_if_fail(level >= FM_MESSAGE_ERROR && level <= FM_MESSAGE_INFO && text != NULL);
    static const char *const levels[] = {"", "Error", "Warning", "Notice", "Info"};
    struct fm_feedback_message *message = g_new0(struct fm_feedback_message, 1);
    message->level = level;
    message->text = g_strdup_printf("%s:\n%s  %s\n\n", levels[level], place, text);
    g_ptr_array_add(messages, message);
}

static void append_proc_place(GString *out, const struct fm_proc_label *label)
{
    g_string_append(out, "  Proc: ");
    fm_proc_label_append(out, label);
    g_string_append_c(out, '\n');
}

void fm_feedback_tell_proc(GPtrArray *messages, enum fm_message_level level,
                           const struct fm_proc_label *proc, const char *text)
{
    g_return_if_fail(proc != NULL);
    g_autoptr(GString) place = g_string_new(NULL);
    append_proc_place(place, proc);
    fm_feedback_tell(messages, level, place->str, text);
}

void fm_feedback_tell_goal(struct fm_searching *s, enum fm_message_level level, uint32_t goal,
                           const char *text)
{
    g_return_if_fail(goal == FM_NO_GOAL || goal < s->pd->body->goal_count);
    g_autoptr(GString) place = g_string_new(NULL);
    append_proc_place(place, &s->proc->label);
    if (goal == 0) {
        g_string_append(place, "  Root goal\n");
    } else if (goal != FM_NO_GOAL) {
        g_string_append(place, "  Goal: ");
        fm_body_append_path(place, s->pd->body, goal);
        g_string_append_c(place, '\n');
    }
    fm_feedback_tell(s->messages, level, place->str, text);
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "record/outside/children.h"

#include <string.h>

#include "base/process.h"

#define LOOK_NS 100000000u

struct fm_children {
    const struct fm_target *target;
    GHashTable *seen; /* by number */
    uint64_t next_ns;
};

struct fm_children *fm_children_new(const struct fm_target *target)
{
    struct fm_children *children = g_new0(struct fm_children, 1);
    children->target = target;
    children->seen = g_hash_table_new(NULL, NULL);
    return children;
}

void fm_children_free(struct fm_children *children)
{
    if (children == NULL)
        return;
    g_hash_table_unref(children->seen);
    g_free(children);
}

void fm_children_add(struct fm_children *children, pid_t pid)
{
    g_hash_table_add(children->seen, GINT_TO_POINTER(pid));
}

/* Each thread has a list of the processes that it started. */
void fm_children_look(struct fm_children *children)
{
    uint64_t now = fm_outside_clock_ns(CLOCK_MONOTONIC);
    if (now < children->next_ns)
        return;
    children->next_ns = now + LOOK_NS;
    g_autoptr(GArray) threads = fm_target_threads(children->target);
    for (guint i = 0; i < threads->len; i++) {
        g_autofree char *name =
            g_strdup_printf("task/%d/children", (int)g_array_index(threads, pid_t, i));
        g_autofree char *text = fm_process_text(children->target->pid, name);
        char *at = text, *end;
        guint64 pid;
        while (at != NULL && (pid = g_ascii_strtoull(at, &end, 10)) > 0) {
            fm_children_add(children, (pid_t)pid);
            at = end;
        }
    }
}

char *fm_children_words(const struct fm_children *children)
{
    guint count = g_hash_table_size(children->seen);
    if (count == 0)
        return NULL;
    return g_strdup_printf("its child processes were not sampled, at least %u: "
                           "fathom record --pid samples one of them",
                           count);
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "exchange/groups.h"

#include <glib.h>

/* Tarjan's algorithm with a stack of its own. */
struct search {
    const size_t *first;
    const uint32_t *to;
    uint32_t *number, *low, *group; /* [count]; 0 = not yet */
    size_t *next;                   /* nodes still to follow */
    GArray *path, *open;            /* uint32_t */
    uint32_t numbers, groups;
};

static void enter(struct search *s, uint32_t thing)
{
    s->number[thing] = s->low[thing] = ++s->numbers;
    s->next[thing] = s->first[thing];
    g_array_append_val(s->path, thing);
    g_array_append_val(s->open, thing);
}

static void leave(struct search *s, uint32_t thing)
{
    g_array_set_size(s->path, s->path->len - 1);
    if (s->path->len > 0) {
        uint32_t above = g_array_index(s->path, uint32_t, s->path->len - 1);
        s->low[above] = MIN(s->low[above], s->low[thing]);
    }
    if (s->low[thing] != s->number[thing])
        return;
    s->groups++;
    for (uint32_t member = UINT32_MAX; member != thing;) {
        member = g_array_index(s->open, uint32_t, s->open->len - 1);
        g_array_set_size(s->open, s->open->len - 1);
        s->group[member] = s->groups;
    }
}

static void search_from(struct search *s, uint32_t start)
{
    enter(s, start);
    while (s->path->len > 0) {
        uint32_t thing = g_array_index(s->path, uint32_t, s->path->len - 1);
        if (s->next[thing] == s->first[thing + 1]) {
            leave(s, thing);
            continue;
        }
        uint32_t to = s->to[s->next[thing]++];
        if (s->number[to] == 0)
            enter(s, to);
        else if (s->group[to] == 0)
            s->low[thing] = MIN(s->low[thing], s->number[to]);
    }
}

uint32_t *fm_exchange_groups(uint32_t count, const size_t *first, const uint32_t *to,
                             uint32_t *ret_groups)
{
    g_return_val_if_fail(first != NULL && ret_groups != NULL, NULL);
    g_autofree uint32_t *number = g_new0(uint32_t, (size_t)count + 1);
    g_autofree uint32_t *low = g_new0(uint32_t, (size_t)count + 1);
    g_autofree size_t *next = g_new0(size_t, (size_t)count + 1);
    struct search s = {.first = first,
                       .to = to,
                       .number = number,
                       .low = low,
                       .group = g_new0(uint32_t, (size_t)count + 1),
                       .next = next,
                       .path = g_array_new(FALSE, FALSE, sizeof(uint32_t)),
                       .open = g_array_new(FALSE, FALSE, sizeof(uint32_t))};
    for (uint32_t thing = 0; thing < count; thing++) {
        if (number[thing] == 0)
            search_from(&s, thing);
    }
    g_array_unref(s.path);
    g_array_unref(s.open);
    *ret_groups = s.groups;
    return s.group;
}

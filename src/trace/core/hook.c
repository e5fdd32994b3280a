/* SPDX-License-Identifier: Apache-2.0 */
#include "trace/core/hook.h"

#include <string.h>

struct entry {
    fm_hook_function *function;
    void *data;
    unsigned priority;
    unsigned references; /* 0 = removed, kept only for calls under way */
};

/* A call walks the array that it found. A change made meanwhile goes to a copy of the array; the
 * old one, and entries removed, live on as garbage until no call is under way. */
struct fm_hooks {
    GPtrArray *entries; /* holds struct entry, by priority */
    unsigned depth;     /* calls under way */
    bool has_garbage;
    GPtrArray *old_arrays, *old_entries;
};

struct fm_hooks *fm_hooks_new(void)
{
    struct fm_hooks *hooks = g_new0(struct fm_hooks, 1);
    hooks->entries = g_ptr_array_new();
    hooks->old_arrays = g_ptr_array_new_with_free_func((GDestroyNotify)g_ptr_array_unref);
    hooks->old_entries = g_ptr_array_new_with_free_func(g_free);
    return hooks;
}

void fm_hooks_free(struct fm_hooks *hooks)
{
    if (hooks == NULL)
        return;
    g_assert(hooks->depth == 0);
    g_ptr_array_foreach(hooks->entries, (GFunc)(void (*)(void))g_free, NULL);
    g_ptr_array_unref(hooks->entries);
    g_ptr_array_unref(hooks->old_arrays);
    g_ptr_array_unref(hooks->old_entries);
    g_free(hooks);
}

static struct entry *entry_at(const struct fm_hooks *hooks, unsigned index)
{
    return g_ptr_array_index(hooks->entries, index);
}

/* The index of the entry, or the count when there is none; data counts when match_data. */
static unsigned find(const struct fm_hooks *hooks, fm_hook_function *function, const void *data,
                     bool match_data)
{
    unsigned i = 0;
    for (; i < hooks->entries->len; i++) {
        const struct entry *entry = entry_at(hooks, i);
        if (entry->function == function && (!match_data || entry->data == data))
            break;
    }
    return i;
}

static void make_writable(struct fm_hooks *hooks)
{
    if (hooks->depth == 0)
        return;
    hooks->has_garbage = true;
    g_ptr_array_add(hooks->old_arrays, hooks->entries);
    hooks->entries = g_ptr_array_copy(hooks->entries, NULL, NULL);
}

static void delete_at(struct fm_hooks *hooks, unsigned index)
{
    struct entry *entry = entry_at(hooks, index);
    make_writable(hooks);
    g_ptr_array_remove_index(hooks->entries, index);
    entry->references = 0;
    if (hooks->depth == 0)
        g_free(entry);
    else /* with the array that make_writable() put away */
        g_ptr_array_add(hooks->old_entries, entry);
}

bool fm_hooks_add(struct fm_hooks *hooks, fm_hook_function *function, void *hook_data,
                  unsigned priority)
{
    g_return_val_if_fail(priority <= FM_HOOK_LAST, false);
    unsigned index = find(hooks, function, hook_data, true);
    if (index < hooks->entries->len) {
        struct entry *entry = entry_at(hooks, index);
        if (entry->priority != priority)
            return false;
        entry->references++;
        return true;
    }
    unsigned place = hooks->entries->len;
    while (place > 0 && entry_at(hooks, place - 1)->priority > priority)
        place--;
    struct entry *entry = g_new(struct entry, 1);
    *entry = (struct entry){function, hook_data, priority, 1};
    make_writable(hooks);
    g_ptr_array_insert(hooks->entries, (gint)place, entry);
    return true;
}

void fm_hooks_remove(struct fm_hooks *hooks, fm_hook_function *function, void *hook_data)
{
    unsigned index = find(hooks, function, hook_data, true);
    if (index == hooks->entries->len)
        return;
    if (entry_at(hooks, index)->references > 1)
        entry_at(hooks, index)->references--;
    else
        delete_at(hooks, index);
}

void *fm_hooks_remove_function(struct fm_hooks *hooks, fm_hook_function *function)
{
    unsigned index = find(hooks, function, NULL, false);
    if (index == hooks->entries->len)
        return NULL;
    struct entry *entry = entry_at(hooks, index);
    if (entry->references > 1) {
        entry->references--;
        return NULL;
    }
    void *data = entry->data;
    delete_at(hooks, index);
    return data;
}

void fm_hooks_add_list(struct fm_hooks *hooks, const struct fm_hooks *from)
{
    for (unsigned i = 0; from != NULL && i < from->entries->len; i++) {
        const struct entry *entry = entry_at(from, i);
        fm_hooks_add(hooks, entry->function, entry->data, entry->priority);
    }
}

void fm_hooks_remove_list(struct fm_hooks *hooks, const struct fm_hooks *from)
{
    for (unsigned i = 0; from != NULL && i < from->entries->len; i++) {
        const struct entry *entry = entry_at(from, i);
        fm_hooks_remove(hooks, entry->function, entry->data);
    }
}

unsigned fm_hooks_count(const struct fm_hooks *hooks)
{
    return hooks == NULL ? 0 : hooks->entries->len;
}

unsigned fm_hooks_references(const struct fm_hooks *hooks, fm_hook_function *function,
                             const void *hook_data)
{
    unsigned index = find(hooks, function, hook_data, true);
    return index == hooks->entries->len ? 0 : entry_at(hooks, index)->references;
}

static void begin_call(struct fm_hooks *hooks)
{
    hooks->depth++;
}

static void drop_garbage(struct fm_hooks *hooks)
{
    hooks->has_garbage = false;
    g_ptr_array_set_size(hooks->old_arrays, 0);
    g_ptr_array_set_size(hooks->old_entries, 0);
}

static void end_call(struct fm_hooks *hooks)
{
    if (--hooks->depth == 0 && FM_UNLIKELY(hooks->has_garbage))
        drop_garbage(hooks);
}

static bool call_entry(const struct entry *entry, void *call_data)
{
    return entry->references > 0 && entry->function(entry->data, call_data);
}

FM_ALWAYS_INLINE bool call_list(struct fm_hooks *hooks, void *call_data, bool check)
{
    if (hooks == NULL || hooks->entries->len == 0)
        return false;
    begin_call(hooks);
    /* No array that is walked is changed. */
    void *const *at = hooks->entries->pdata, *const *end = at + hooks->entries->len;
    bool result = false;
    for (; at < end && !(check && result); at++)
        result |= call_entry(*at, call_data);
    end_call(hooks);
    return result;
}

bool fm_hooks_call(struct fm_hooks *hooks, void *call_data)
{
    return call_list(hooks, call_data, false);
}

static bool merge(struct fm_hooks *a, void *a_data, struct fm_hooks *b, void *b_data, bool check)
{
    if (fm_hooks_count(a) == 0)
        return call_list(b, b_data, check);
    if (fm_hooks_count(b) == 0)
        return call_list(a, a_data, check);
    begin_call(a);
    begin_call(b);
    const GPtrArray *left = a->entries, *right = b->entries;
    bool result = false;
    for (unsigned i = 0, j = 0; (i < left->len || j < right->len) && !(check && result);) {
        const struct entry *first = i < left->len ? g_ptr_array_index(left, i) : NULL;
        const struct entry *second = j < right->len ? g_ptr_array_index(right, j) : NULL;
        g_assert(first != NULL || second != NULL);
        if (second == NULL || (first != NULL && first->priority <= second->priority)) {
            result |= call_entry(first, a_data);
            i++;
        } else {
            result |= call_entry(second, b_data);
            j++;
        }
    }
    end_call(b);
    end_call(a);
    return result;
}

bool fm_hooks_call_merge(struct fm_hooks *a, void *a_data, struct fm_hooks *b, void *b_data)
{
    return merge(a, a_data, b, b_data, false);
}

bool fm_hooks_call_check_merge(struct fm_hooks *a, void *a_data, struct fm_hooks *b, void *b_data)
{
    return merge(a, a_data, b, b_data, true);
}

/* --- by event --- */

struct by_id_entry {
    char *channel;
    uint32_t event_id;
    struct fm_hooks *hooks;
};

struct fm_hooks_by_id {
    GPtrArray *entries; /* elements: struct by_id_entry: tens, looked at when a request begins */
};

static void free_by_id_entry(void *data)
{
    struct by_id_entry *entry = data;
    g_free(entry->channel);
    fm_hooks_free(entry->hooks);
    g_free(entry);
}

struct fm_hooks_by_id *fm_hooks_by_id_new(void)
{
    struct fm_hooks_by_id *table = g_new0(struct fm_hooks_by_id, 1);
    table->entries = g_ptr_array_new_with_free_func(free_by_id_entry);
    return table;
}

void fm_hooks_by_id_free(struct fm_hooks_by_id *table)
{
    if (table == NULL)
        return;
    g_ptr_array_unref(table->entries);
    g_free(table);
}

struct fm_hooks *fm_hooks_by_id_find(const struct fm_hooks_by_id *table, const char *channel,
                                     uint32_t event_id)
{
    for (unsigned i = 0; table != NULL && i < table->entries->len; i++) {
        struct by_id_entry *entry = g_ptr_array_index(table->entries, i);
        if (entry->event_id == event_id && strcmp(entry->channel, channel) == 0)
            return entry->hooks;
    }
    return NULL;
}

struct fm_hooks *fm_hooks_by_id_get(struct fm_hooks_by_id *table, const char *channel,
                                    uint32_t event_id)
{
    struct fm_hooks *found = fm_hooks_by_id_find(table, channel, event_id);
    if (found != NULL)
        return found;
    struct by_id_entry *entry = g_new(struct by_id_entry, 1);
    *entry = (struct by_id_entry){g_strdup(channel), event_id, fm_hooks_new()};
    g_ptr_array_add(table->entries, entry);
    return entry->hooks;
}

void fm_hooks_by_id_each(const struct fm_hooks_by_id *table, const char *channel,
                         fm_hooks_by_id_visitor *visit, void *user)
{
    for (unsigned i = 0; table != NULL && i < table->entries->len; i++) {
        struct by_id_entry *entry = g_ptr_array_index(table->entries, i);
        if (strcmp(entry->channel, channel) == 0)
            visit(entry->event_id, entry->hooks, user);
    }
}

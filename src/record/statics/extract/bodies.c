/* SPDX-License-Identifier: Apache-2.0 */
#include "record/statics/extract/bodies.h"

void fm_bodies_init(struct fm_bodies *bodies)
{
    *bodies = (struct fm_bodies){
        .procs = g_array_new(FALSE, TRUE, sizeof(struct fm_proc)),
        .scopes = g_array_new(FALSE, TRUE, sizeof(struct fm_scope)),
        .unit_of_scope = g_array_new(FALSE, TRUE, sizeof(uint32_t)),
        .intervals = g_array_new(FALSE, TRUE, sizeof(struct fm_interval)),
        .segments = g_array_new(FALSE, TRUE, sizeof(struct fm_segment)),
        .entries = g_array_new(FALSE, TRUE, sizeof(struct fm_entry)),
    };
}

void fm_bodies_done(struct fm_bodies *bodies)
{
    GArray **arrays[] = {&bodies->procs,     &bodies->scopes,   &bodies->unit_of_scope,
                         &bodies->intervals, &bodies->segments, &bodies->entries};
    for (size_t i = 0; i < G_N_ELEMENTS(arrays); i++)
        g_clear_pointer(arrays[i], g_array_unref);
}

struct fm_proc *fm_bodies_proc(const struct fm_bodies *bodies, uint32_t proc)
{
    g_assert(proc < bodies->procs->len);
    return &g_array_index(bodies->procs, struct fm_proc, proc);
}

struct fm_scope *fm_bodies_scope(const struct fm_bodies *bodies, uint32_t scope)
{
    g_assert(scope < bodies->scopes->len);
    return &g_array_index(bodies->scopes, struct fm_scope, scope);
}

uint32_t fm_bodies_add_proc(struct fm_bodies *bodies, const struct fm_proc *proc)
{
    g_array_append_vals(bodies->procs, proc, 1);
    return bodies->procs->len - 1;
}

uint32_t fm_bodies_add_scope(struct fm_bodies *bodies, const struct fm_scope *scope, uint32_t unit)
{
    g_assert(scope->proc < bodies->procs->len);
    g_assert(scope->parent == FM_NONE || scope->parent < bodies->scopes->len);
    g_array_append_vals(bodies->scopes, scope, 1);
    g_array_append_vals(bodies->unit_of_scope, &unit, 1);
    return bodies->scopes->len - 1;
}

void fm_bodies_drop_last_scope(struct fm_bodies *bodies)
{
    g_assert(bodies->scopes->len > 0);
    g_array_set_size(bodies->scopes, bodies->scopes->len - 1);
    g_array_set_size(bodies->unit_of_scope, bodies->unit_of_scope->len - 1);
}

void fm_bodies_add_interval(struct fm_bodies *bodies, uint64_t low, uint64_t high, uint32_t scope,
                            uint32_t depth)
{
    g_assert(low < high);
    struct fm_interval interval = {low, high, scope, depth};
    g_array_append_val(bodies->intervals, interval);
}

void fm_bodies_add_entry(struct fm_bodies *bodies, uint64_t address, uint32_t proc)
{
    g_assert(proc < bodies->procs->len);
    struct fm_entry entry = {address, proc};
    g_array_append_val(bodies->entries, entry);
}

static int interval_order(const void *a, const void *b)
{
    const struct fm_interval *left = a, *right = b;
    if (left->low != right->low)
        return left->low < right->low ? -1 : 1;
    if (left->depth != right->depth)
        return left->depth < right->depth ? -1 : 1;
    if (left->high != right->high)
        return left->high > right->high ? -1 : 1;
    return left->scope < right->scope ? -1 : left->scope > right->scope;
}

static void emit(GArray *segments, uint64_t low, uint64_t high, uint32_t scope)
{
    struct fm_segment segment = {low, high, scope};
    if (low < high)
        g_array_append_val(segments, segment);
}

void fm_bodies_flatten(struct fm_bodies *bodies)
{
    g_array_sort(bodies->intervals, interval_order);
    g_array_set_size(bodies->segments, 0);
    g_autoptr(GArray) stack = g_array_new(FALSE, FALSE, sizeof(struct fm_interval));
    uint64_t at = 0;
    for (guint i = 0; i <= bodies->intervals->len; i++) {
        struct fm_interval next = {UINT64_MAX, UINT64_MAX, FM_NONE, 0};
        if (i < bodies->intervals->len)
            next = g_array_index(bodies->intervals, struct fm_interval, i);
        while (stack->len > 0) {
            struct fm_interval top = g_array_index(stack, struct fm_interval, stack->len - 1);
            uint64_t until = MIN(top.high, next.low);
            emit(bodies->segments, at, until, top.scope);
            at = MAX(at, until);
            if (top.high > next.low)
                break;
            g_array_set_size(stack, stack->len - 1);
        }
        if (stack->len > 0) {
            next.high =
                MIN(next.high, g_array_index(stack, struct fm_interval, stack->len - 1).high);
            /* Two bodies at one place (identical code folded): the first represents both. */
            if (next.depth == 0)
                continue;
        }
        at = next.low;
        g_array_append_val(stack, next);
    }
}

static int entry_order(const void *a, const void *b)
{
    const struct fm_entry *left = a, *right = b;
    if (left->address != right->address)
        return left->address < right->address ? -1 : 1;
    return left->proc < right->proc ? -1 : left->proc > right->proc;
}

/* Several procedures at one address become one, the first: linker or compiler merged their code,
 * and the recording has only the address. */
void fm_bodies_fold_entries(struct fm_bodies *bodies)
{
    g_array_sort(bodies->entries, entry_order);
    g_autofree uint32_t *alias = g_new(uint32_t, bodies->procs->len + 1);
    for (guint i = 0; i < bodies->procs->len; i++)
        alias[i] = i;
    guint kept = 0;
    for (guint i = 0; i < bodies->entries->len; i++) {
        struct fm_entry entry = g_array_index(bodies->entries, struct fm_entry, i);
        entry.proc = alias[entry.proc];
        if (kept > 0) {
            struct fm_entry last = g_array_index(bodies->entries, struct fm_entry, kept - 1);
            if (last.address == entry.address) {
                if (entry.proc != last.proc)
                    alias[entry.proc] = last.proc;
                continue;
            }
        }
        g_array_index(bodies->entries, struct fm_entry, kept++) = entry;
    }
    g_array_set_size(bodies->entries, kept);
    for (guint i = 0; i < bodies->procs->len; i++) {
        while (alias[i] != alias[alias[i]])
            alias[i] = alias[alias[i]];
    }
    for (guint i = 0; i < bodies->scopes->len; i++) {
        struct fm_scope *scope = &g_array_index(bodies->scopes, struct fm_scope, i);
        scope->proc = alias[scope->proc];
    }
    for (guint i = 0; i < kept; i++) {
        struct fm_entry *entry = &g_array_index(bodies->entries, struct fm_entry, i);
        entry->proc = alias[entry->proc];
    }
}

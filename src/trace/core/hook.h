/* SPDX-License-Identifier: Apache-2.0 */
/* Ordered lists of hooks: functions with their data, a priority and a count of references.
 *
 * Two entries are the same when function and data are equal: adding one again only counts, and it
 * is still called once. Priorities go from 0 (first) to 99 (last); equal ones keep their order of
 * adding. A list may be changed while it is called: an entry removed before its turn is not called,
 * an entry added is first called the next time. */
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/compiler.h"

enum {
    FM_HOOK_FIRST = 0,
    FM_HOOK_BEFORE_STATE = 20,
    FM_HOOK_STATE = 25, /* state is updated here: default hooks see it after the event */
    FM_HOOK_AFTER_STATE = 30,
    FM_HOOK_DEFAULT = 50,
    FM_HOOK_LAST = 99,
};

/* True from an event hook means: stop reading after this event. */
typedef bool fm_hook_function(void *hook_data, void *call_data);

struct fm_hooks;

struct fm_hooks *fm_hooks_new(void);
void fm_hooks_free(struct fm_hooks *hooks); /* NULL is allowed; not while it is being called */

/* False, and nothing changed, when the same entry stands there with another priority. */
bool fm_hooks_add(struct fm_hooks *hooks, fm_hook_function *function, void *hook_data,
                  unsigned priority);
/* Gives back one reference; the last one deletes. No effect when absent. */
void fm_hooks_remove(struct fm_hooks *hooks, fm_hook_function *function, void *hook_data);
/* Removes the first entry with that function likewise. Returns its data when it was deleted, else
 * NULL. */
void *fm_hooks_remove_function(struct fm_hooks *hooks, fm_hook_function *function);
/* One reference for each entry of from, whatever its count there. */
void fm_hooks_add_list(struct fm_hooks *hooks, const struct fm_hooks *from);
void fm_hooks_remove_list(struct fm_hooks *hooks, const struct fm_hooks *from);

unsigned fm_hooks_count(const struct fm_hooks *hooks); /* 0 for NULL */
unsigned fm_hooks_references(const struct fm_hooks *hooks, fm_hook_function *function,
                             const void *hook_data);

/* Calls every entry in order; true when some entry said true. NULL lists are empty lists. */
bool fm_hooks_call(struct fm_hooks *hooks, void *call_data);
/* Two lists by priority, the first one's entries first on equal priority. */
bool fm_hooks_call_merge(struct fm_hooks *a, void *a_data, struct fm_hooks *b, void *b_data);
bool fm_hooks_call_check_merge(struct fm_hooks *a, void *a_data, struct fm_hooks *b, void *b_data);

/* --- lists by event: (channel, event id) -> list --- */

struct fm_hooks_by_id;

struct fm_hooks_by_id *fm_hooks_by_id_new(void);
void fm_hooks_by_id_free(struct fm_hooks_by_id *table);
/* The list of an event, made when it is not there. Borrowed until the table is freed. */
struct fm_hooks *fm_hooks_by_id_get(struct fm_hooks_by_id *table, const char *channel,
                                    uint32_t event_id);
/* NULL when there is none. */
struct fm_hooks *fm_hooks_by_id_find(const struct fm_hooks_by_id *table, const char *channel,
                                     uint32_t event_id);
typedef void fm_hooks_by_id_visitor(uint32_t event_id, struct fm_hooks *hooks, void *user);
/* Each list of one channel. */
void fm_hooks_by_id_each(const struct fm_hooks_by_id *table, const char *channel,
                         fm_hooks_by_id_visitor *visit, void *user);

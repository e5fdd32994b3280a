/* SPDX-License-Identifier: Apache-2.0 */
/* A piece of work in a thread beside the one that began it. What it writes nobody may look at
 * before it is done. After a fork the child has no such thread: there the waiting does the work. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct fm_worker;

/* Does some of the work, about a millisecond; false when nothing is left. */
typedef bool fm_worker_step(void *user);

/* Begins. user must outlive the worker. */
struct fm_worker *fm_worker_new(fm_worker_step *step, void *user);
/* There may be more to do: one that was done steps on. */
void fm_worker_again(struct fm_worker *worker);
/* True when it is done; waits for that at most so long. */
bool fm_worker_wait(struct fm_worker *worker, uint64_t microseconds);
/* Stops after the step that is being done. NULL is allowed. */
void fm_worker_free(struct fm_worker *worker);
/* Whether a thread beside this one would have a processor. */
bool fm_worker_pays(void);

/* SPDX-License-Identifier: Apache-2.0 */
/* A thread that does one piece of work in the background. Its results must not be read before it is
 * done. After a fork, the child has no such thread, so waiting does the work itself. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct fm_worker;

/* Does some of the work, for about a millisecond; false when nothing is left. */
typedef bool fm_worker_step(void *user);

/* Starts the thread. user must outlive the worker. */
struct fm_worker *fm_worker_new(fm_worker_step *step, void *user);
/* There may be more to do: a worker that was done continues. */
void fm_worker_again(struct fm_worker *worker);
/* True when it is done; waits at most that long. */
bool fm_worker_wait(struct fm_worker *worker, uint64_t microseconds);
/* Stops after the current step. NULL is allowed. */
void fm_worker_free(struct fm_worker *worker);
/* Whether the process may use more than one CPU. */
bool fm_worker_pays(void);

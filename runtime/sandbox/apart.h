/* SPDX-License-Identifier: Apache-2.0 */
/* Reading files such that the program sees no descriptor of them. */
#pragma once

#include <stdbool.h>

/* Has little stack. Calls SYS_open, SYS_openat, SYS_read and SYS_close alone, through
 * fm_system_call(). */
typedef void fm_apart_fn(void *argument);

/* Calls read(argument): in a process of one thread right away, else in a thread of its own, which
 * shares the memory, but not the descriptors. The caller waits for its end. false: read was not
 * called, as there can be no such thread here. */
bool fm_apart_run(fm_apart_fn *read, void *argument);

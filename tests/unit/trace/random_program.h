/* SPDX-License-Identifier: Apache-2.0 */
/* Events of programs that never were, of every kind that the models know. */
#pragma once

#include "event_trace.h"

enum { RANDOM_PROGRAM_EVENTS = 20000 };

/* The same for the same seed. event_list_free(). */
struct event_list *random_program_c(uint32_t seed);
struct event_list *random_program_haskell(uint32_t seed);

/* SPDX-License-Identifier: Apache-2.0 */
/* The log in memory. */
#pragma once
#include "lanes/deliver.h"

extern const struct fm_el_sink fm_el_memory_sink;
int fm_el_memory_start(const struct fm_eventlog_options *o);
void fm_el_memory_finish(void);

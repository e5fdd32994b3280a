/* SPDX-License-Identifier: Apache-2.0 */
/* The stream sink: a file, a pipe, a writer's functions. */
#pragma once
#include "lanes/deliver.h"

extern const struct fm_el_sink fm_el_stream_sink;
int fm_el_stream_end(void);     /* end mark, flush; close what is ours; sink NULL */
bool fm_el_stream_is_set(void); /* its fork lock held */

/* Where a log of this process goes, when nobody says. */
/* NAME.eventlog beside this process's recording; false when there is none. */
bool fm_el_path_beside_recording(char *path, size_t bytes);
/* Of a child of fork, by the options of the start; false when it is too long. */
bool fm_el_path_of_child(char *path, size_t bytes);

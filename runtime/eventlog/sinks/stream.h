/* SPDX-License-Identifier: Apache-2.0 */
/* The stream sink: a file, a pipe, a writer's functions. */
#pragma once
#include "lanes/deliver.h"

extern const struct fm_el_sink fm_el_stream_sink;
/* writes the end mark, flushes, closes the library's own sink; then there is no sink */
int fm_el_stream_end(void);
bool fm_el_stream_is_set(void); /* the sink's fork lock is held */

/* Default path of a log of this process: NAME.eventlog beside its recording; false when there is
 * none. */
bool fm_el_path_beside_recording(char *path, size_t bytes);
/* Path for a child of fork, from the options of the start; false when it is too long. */
bool fm_el_path_of_child(char *path, size_t bytes);

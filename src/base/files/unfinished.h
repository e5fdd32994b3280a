/* SPDX-License-Identifier: Apache-2.0 */
/* Files and folders that are there for a while only, and must go when the process ends before it
 * comes back to them. Of the first 64 at a time. */
#pragma once

/* path is borrowed until it is forgotten. */
void fm_unfinished_note(char *path);
void fm_unfinished_forget(char *path);
/* Removes the files, then the folders, if they are empty. Takes no lock and no memory, so it may be
 * called from a signal handler. */
void fm_unfinished_remove(void);
/* From now on also when SIGINT, SIGTERM or SIGHUP ends the process, unless they are ignored or
 * handled already; who handles them later takes over. */
void fm_unfinished_remove_at_signals(void);

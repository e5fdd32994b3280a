/* SPDX-License-Identifier: Apache-2.0 */
/* Temporary files and folders that must be removed if the process ends early. At most 64 at a
 * time. */
#pragma once

/* path is borrowed until it is forgotten. */
void fm_unfinished_note(char *path);
void fm_unfinished_forget(char *path);
/* Removes the files, then the folders that are empty. Takes no lock and allocates nothing, so a
 * signal handler may call it. */
void fm_unfinished_remove(void);
/* Also removes them when SIGINT, SIGTERM or SIGHUP ends the process from now on, unless the signal
 * is ignored or already handled; a handler installed later replaces this one. */
void fm_unfinished_remove_at_signals(void);

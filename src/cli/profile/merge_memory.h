/* SPDX-License-Identifier: Apache-2.0 */
/* `fathom merge` with too little memory ends with a message and FM_EXIT_FAILED, leaves no temporary
 * file and no core file. The library functions that it calls end the process in other ways: GLib
 * aborts, or calls itself without end while it formats its own message, until the stack is full. */
#pragma once

/* From now on for the calling thread, and for the whole process as far as GLib tells of it. */
void fm_merge_memory_watch(void);
/* The same for the thread that reads the next file: there is one at a time. */
void fm_merge_memory_watch_reader(void);

/* SPDX-License-Identifier: Apache-2.0 */
/* A log as a trace: which thread each message is shown on. Apart from the tests because the
 * library's header and those of traces are not for one file. */
#pragma once
#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

/* Each message of the log is the name of the thread that logged it, and must stand on a lane of
 * that name. gaps: blocks are missing, which may have told of a thread that has ended since; its
 * messages may stand on a lane without a name. Returns how many stand on lanes of their names. */
uint64_t owners_check(const char *path, bool gaps);
/* A log of earlier versions: a client came at 1000 ns, is told then that thread 7, "worker", logs
 * into lane 0, and gets its messages from 100 ns on. */
void owners_write_late(const char *path);

/* SPDX-License-Identifier: Apache-2.0 */
/* Opens what is at a path or address as a trace.
 *
 *   FILE.eventlog            GHC's event log format, of C or Haskell programs; may still grow
 *   unix:PATH, tcp:HOST:PORT a program's live log: grows as it arrives
 *   FOLDER with "metadata"   CTF, LTTng's traces
 *
 * Opening reads headers only. A trace that grows says so; the main loop is told by a callback. */
#pragma once

#include "base/files/roots.h"
#include "trace/core/trace.h"

/* fm_engine_opener of the engine; identity from fm_trace_identity(). */
FM_MUST_USE struct fm_trace *fm_trace_open(const char *path, const char *identity, GError **error);
/* "device:inode" of a file or folder, the address itself of an address; NULL with error. Caller
 * frees. */
FM_MUST_USE char *fm_trace_identity(const char *path, GError **error);
/* Whether the bytes there look like a trace (not a deep profile). */
bool fm_trace_recognise(const char *path);
/* As above for a path beneath roots; NULL = anywhere. Addresses are never beneath. */
bool fm_trace_recognise_below(const struct fm_roots *roots, const char *path);
/* fm_trace_open() of what lies beneath roots, now and when it is opened again; its identity is that
 * of the file that was opened. */
FM_MUST_USE struct fm_trace *fm_trace_open_below(struct fm_roots *roots, const char *path,
                                                 const char *identity, GError **error);

/* "eventlog", "ctf". */
const char *fm_trace_format(const struct fm_trace *trace);
/* Lists what could not be read, in lines, each naming file, offset and reason; "" = all could.
 * Caller frees. */
char *fm_trace_damage(const struct fm_trace *trace);

/* A file is followed, an address is listened to: looks whether more is there and extends end_time;
 * at most some milliseconds of work a call, so a caller that has time calls until it answers false.
 * Also how a large file that is damaged or has no block markers is found step by step. True when
 * the trace has grown: then fm_context_renew() is due for every context over it. ret_ended: it will
 * grow no more. trace->generation goes up when the file was replaced: then nothing that was
 * computed of it is true any more.
 *
 * Events of a live log are shown up to the time that every capability has delivered, or to two
 * seconds before the latest; what comes later than that is late, and shown at the next reading. */
bool fm_trace_grow(struct fm_trace *trace, bool *ret_ended, GError **error);
/* Whether it may: false for a log that was finished when it was opened, or whose writer has ended.
 */
bool fm_trace_grows(const struct fm_trace *trace);
/* Bytes of the log up to the end of the last block that is known to be whole; 0 = not a log. */
uint64_t fm_trace_extent(const struct fm_trace *trace);
/* Bytes behind that: of a block that is being written, or has not been found yet. Of a log that
 * nobody writes for a while the last block is taken as it is. */
uint64_t fm_trace_pending(const struct fm_trace *trace);
/* Wall clock at recorded time 0: ns since 1970. False when it is not recorded, or not known yet (of
 * an import that has not begun). */
bool fm_trace_epoch(const struct fm_trace *trace, int64_t *ret_ns);
/* Descriptor to poll before fm_trace_grow; -1 = look now and then (a file). */
int fm_trace_poll_fd(const struct fm_trace *trace);

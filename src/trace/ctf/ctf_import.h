/* SPDX-License-Identifier: Apache-2.0 */
/* Converts CTF traces to an event log: the program fathom-import-ctf.
 *
 *   folder ── source.ctf.fs, one a trace folder ──▶ streams ──▶ sink: merged by time ──▶ log
 *
 * Each event class becomes an event type, numbered from 1,024 and declared in the log's header
 * with its fields: payload, then contexts. Structures are flattened ("a.b"), an enumeration is a
 * number and its label ("x", "x.label"), and lists and other complex fields become text. The
 * capability is the CPU ("cpu_id" of the packet context) or, without one, the number of the
 * stream. Times count from the first event. Blocks are written in rounds: one for every
 * capability, even if empty, so that nothing in a later round is earlier than anything in this
 * one. */
#pragma once

#include <babeltrace2/babeltrace.h>

#include "eventlog/reader/eventlog.h"
#include "trace/format/ctf.h"

enum { CTF_NUMBER_FIRST = 1024, CTF_CAPABILITIES_MAX = 65534, CTF_FIELDS_MAX = 32 };

/* --- ctf_types.c: event classes as event types --- */

struct ctf_types;

struct ctf_types *fm_ctf_types_new(void);
void fm_ctf_types_free(struct ctf_types *types);
/* Call before the header is made. Classes with equal name and layout share a number. */
void fm_ctf_types_add(struct ctf_types *types, const bt_trace_class *trace_class);
struct fm_eventlog_header *fm_ctf_types_header(struct ctf_types *types);
/* Lists what was left out, in lines; "" when nothing. Borrowed. */
const char *fm_ctf_types_notes(const struct ctf_types *types);
/* Appends the event in the log's format; false when its class was not added. */
bool fm_ctf_types_append(const struct ctf_types *types, const bt_event *event, uint64_t time_ns,
                         GByteArray *to);

/* --- ctf_log.c: the log's blocks --- */

struct ctf_log;

struct ctf_log *fm_ctf_log_new(int fd); /* fd is borrowed */
void fm_ctf_log_free(struct ctf_log *log);
/* Written with the first round. */
void fm_ctf_log_header(struct ctf_log *log, const struct fm_eventlog_header *header);
/* Returns the place for the next event of a capability, with its time. */
GByteArray *fm_ctf_log_place(struct ctf_log *log, unsigned capability, uint64_t time_ns);
/* Ends a round when enough is buffered, or always; *ret_written: it did. */
bool fm_ctf_log_round(struct ctf_log *log, bool always, bool *ret_written, GError **error);
bool fm_ctf_log_end(struct ctf_log *log, GError **error);

/* --- ctf_folders.c: folders of links, and a CPU time limit --- */

/* Damaged files can make the library loop: SIGPROF ends the process after that much CPU time from
 * now on. */
void fm_ctf_limit_work(unsigned seconds);
/* Makes an empty folder in the temporary folder; NULL with a line in notes. The caller frees the
 * name. */
char *fm_ctf_folder_new(GString *notes);
/* Removes the folder and the files in it. */
void fm_ctf_folder_remove(const char *folder);
/* Makes a folder in the temporary folder with links to the streams of another one, without
 * metadata; NULL with a line in notes. Remove with fm_ctf_folder_remove(). */
char *fm_ctf_folder_like(const char *folder, GString *notes);
/* Whether the file may contain a trace's stream: regular, not empty, not the metadata. */
bool fm_ctf_is_stream(const char *path);
/* Target for links. Links within the path are not resolved: those to descriptors refer to the open
 * file, not to a name. */
char *fm_ctf_absolute_path(const char *path);

/* --- ctf_metadata.c: metadata that the library cannot read as it is --- */

/* Makes a folder in the temporary folder with the intact part of the trace's metadata, and links to
 * its streams; NULL when the packets are intact, or the metadata is not in packets. notes: gets a
 * line about the damage. name: the folder, for messages. Remove with fm_ctf_folder_remove(). */
char *fm_ctf_metadata_mend(const char *folder, const char *name, GString *notes);
/* Makes *ret_copy, such a folder with the metadata of CTF 1.8, for a trace in CTF 2; NULL for
 * others. False: the metadata is damaged, or CTF 1.8 cannot express it. */
FM_MUST_USE bool fm_ctf_metadata_translate(const char *folder, const char *name, char **ret_copy,
                                           GString *notes, GError **error);

/* --- ctf_private.c: opened files, independent of their names --- */

/* Trace folders: their names, and copies in the temporary folder with links to the files'
 * descriptors. Remove each copy with fm_ctf_folder_remove(). */
struct ctf_private {
    GPtrArray *names, *copies; /* holds char * */
};
/* Finds the traces in or below the folder, a descriptor that was opened as path. Files outside of
 * it are left out, with a line each in notes. The descriptors stay open: the process ends with the
 * import. */
void fm_ctf_private(int folder, const char *path, struct ctf_private *ret, GString *notes);

/* --- ctf_salvage.c: salvages damaged stream files --- */

/* Makes a folder in the temporary folder with the trace's metadata and those of its streams (or
 * packets) that the source accepts; NULL when there are none. name: the folder, for messages.
 * notes: gets a line for each thing left out. Remove with fm_ctf_folder_remove(). */
char *fm_ctf_salvage(const char *folder, const char *name, GString *notes);
/* --- ctf_graph.c --- */

struct ctf_watcher {
    void *user;
    /* The header and the first round have been written. */
    void (*begun)(void *user, bool has_epoch, int64_t epoch_ns);
    /* More can be read now. */
    void (*grown)(void *user);
    /* A line about something that could not be read. */
    void (*note)(void *user, const char *line);
};

struct ctf_graph;

/* Adds a source for a trace folder; NULL with the library's message in *ret_message (to be
 * freed). */
const bt_component_source *fm_ctf_add_source(bt_graph *graph, const char *folder, const char *name,
                                             char **ret_message);
/* Reads everything from a source, as a trial; false when a stream fails. */
bool fm_ctf_read_all(bt_graph *graph, const bt_component_source *source);

/* The watcher, which gets notes, and the descriptor, which gets events, are borrowed. */
struct ctf_graph *fm_ctf_graph_new(const struct ctf_watcher *watcher, int fd);
/* Call after freeing the library's graph. Reports what was left out. */
void fm_ctf_graph_free(struct ctf_graph *graph);
/* Call once: writes the events of all sources (const bt_component_source of the library's graph);
 * names: names of the traces for messages. */
bool fm_ctf_graph_run(struct ctf_graph *graph, bt_graph *bt, const GPtrArray *components,
                      const GPtrArray *names, GError **error);
void fm_ctf_graph_note_lines(struct ctf_graph *graph, const char *text);

/* --- ctf_import.c --- */

/* Imports all folders below path into the descriptor. folder: descriptor of path, so that nothing
 * outside is read; -1: opens path by name. careful: tries files first, and each packet of those
 * that fail, in child processes. False with an error when nothing can be read or written. Damage
 * may end the process. */
bool fm_ctf_import(const char *path, int folder, int fd, bool careful,
                   const struct ctf_watcher *watcher, GError **error);

/* SPDX-License-Identifier: Apache-2.0 */
/* CTF traces turned into an event log: the program fathom-import-ctf.
 *
 *   folder ── source.ctf.fs, one a trace folder ──▶ streams ──▶ sink: merged by time ──▶ log
 *
 * Each event class becomes an event type from number 1,024 on, declared in the log's header with
 * its fields; payload, then contexts. Structures are flat ("a.b"), an enumeration is a number and
 * its label ("x", "x.label"), lists and what else has no simple form are text. The capability is
 * the CPU ("cpu_id" of the packet context) or, where there is none, the number of the stream. Times
 * count from the first event. Blocks come in rounds: one of every capability, empty ones too, so
 * that nothing in a later round is earlier than anything in this one. */
#pragma once

#include <babeltrace2/babeltrace.h>

#include "eventlog/reader/eventlog.h"
#include "trace/format/ctf.h"

enum { CTF_NUMBER_FIRST = 1024, CTF_CAPABILITIES_MAX = 65534, CTF_FIELDS_MAX = 32 };

/* --- ctf_types.c: event classes as event types --- */

struct ctf_types;

struct ctf_types *fm_ctf_types_new(void);
void fm_ctf_types_free(struct ctf_types *types);
/* Before the header is made. Classes of one name and layout share a number. */
void fm_ctf_types_add(struct ctf_types *types, const bt_trace_class *trace_class);
struct fm_eventlog_header *fm_ctf_types_header(struct ctf_types *types);
/* Lists what was left out, in lines; "" when nothing. Borrowed. */
const char *fm_ctf_types_notes(const struct ctf_types *types);
/* Appends the event, as it stands in a log; false when its class was not added. */
bool fm_ctf_types_append(const struct ctf_types *types, const bt_event *event, uint64_t time_ns,
                         GByteArray *to);

/* --- ctf_log.c: the log's blocks --- */

struct ctf_log;

struct ctf_log *fm_ctf_log_new(int fd); /* borrowed */
void fm_ctf_log_free(struct ctf_log *log);
/* Kept back until the first round is written. */
void fm_ctf_log_header(struct ctf_log *log, const struct fm_eventlog_header *header);
/* Returns the place for the next event of a capability, with its time. */
GByteArray *fm_ctf_log_place(struct ctf_log *log, unsigned capability, uint64_t time_ns);
/* Ends a round when enough is held back, or always. *ret_written tells. */
bool fm_ctf_log_round(struct ctf_log *log, bool always, bool *ret_written, GError **error);
bool fm_ctf_log_end(struct ctf_log *log, GError **error);

/* --- ctf_folders.c: folders of links, and a limit on work --- */

/* The library may read damaged bytes without end: a process of ours that works for longer than this
 * from now on is ended by SIGPROF. */
void fm_ctf_limit_work(unsigned seconds);
/* An empty folder in the temporary folder; NULL with a line in notes. Caller frees the name. */
char *fm_ctf_folder_new(GString *notes);
/* With the files in it. */
void fm_ctf_folder_remove(const char *folder);
/* A folder in the temporary folder with links to the streams of another one, without metadata; NULL
 * with a line in notes. Remove with fm_ctf_folder_remove(). */
char *fm_ctf_folder_like(const char *folder, GString *notes);
/* A file that a trace's stream may be in: regular, not empty, not the metadata. */
bool fm_ctf_is_stream(const char *path);
/* For links to it; the links on the way stay, since those to descriptors keep more than a name. */
char *fm_ctf_absolute_path(const char *path);

/* --- ctf_metadata.c: metadata that the library would read without end --- */

/* A folder in the temporary folder with what is whole of the trace's metadata, and links to its
 * streams; NULL when nothing is wrong with the packets, or they are not in packets. notes: gets a
 * line that says what is wrong. name: the folder for people. Remove with fm_ctf_folder_remove().
 */
char *fm_ctf_metadata_mend(const char *folder, const char *name, GString *notes);
/* Whether the folder's trace is one in CTF 2, whose metadata is JSON. */
bool fm_ctf_metadata_is_2(const char *folder);

/* --- ctf_private.c: what was opened, whatever its names come to mean --- */

/* Trace folders: as people name them, and folders in the temporary folder with links to the files'
 * descriptors. Remove each copy with fm_ctf_folder_remove(). */
struct ctf_private {
    GPtrArray *names, *copies; /* holds char * */
};
/* The traces in or below the folder, a descriptor, that path named. Files that lie elsewhere are
 * left out: a line each in notes. The descriptors stay open: the process ends with the import. */
void fm_ctf_private(int folder, const char *path, struct ctf_private *ret, GString *notes);

/* --- ctf_salvage.c: what can be read of damaged stream files --- */

/* A folder in the temporary folder with the trace's metadata and those of its streams (or of their
 * packets) that the source accepts; NULL when there are none. name: the folder for people. notes:
 * gets a line for each thing left out. Remove with fm_ctf_folder_remove(). */
char *fm_ctf_salvage(const char *folder, const char *name, GString *notes);
/* --- ctf_graph.c --- */

struct ctf_watcher {
    void *user;
    /* The header and the first round are written. */
    void (*begun)(void *user, bool has_epoch, int64_t epoch_ns);
    /* More can be read. */
    void (*grown)(void *user);
    /* A line about what could not be read. */
    void (*note)(void *user, const char *line);
};

struct ctf_graph;

/* Adds a source for a trace folder; NULL with the library's words in *ret_message (to be freed). */
const bt_component_source *fm_ctf_add_source(bt_graph *graph, const char *folder, const char *name,
                                             char **ret_message);
/* Reads all that a source gives, for a trial; false when a stream fails. */
bool fm_ctf_read_all(bt_graph *graph, const bt_component_source *source);

/* Notes go to the watcher, which is borrowed; events to the descriptor, borrowed too. */
struct ctf_graph *fm_ctf_graph_new(const struct ctf_watcher *watcher, int fd);
/* After the library's graph. Tells what was left out. */
void fm_ctf_graph_free(struct ctf_graph *graph);
/* Once: writes all that the sources (of const bt_component_source, of that graph of the library's)
 * give; names: the traces for people. */
bool fm_ctf_graph_run(struct ctf_graph *graph, bt_graph *bt, const GPtrArray *components,
                      const GPtrArray *names, GError **error);
void fm_ctf_graph_note_lines(struct ctf_graph *graph, const char *text);

/* --- ctf_import.c --- */

/* Imports all folders below path into the descriptor. folder: path as it was opened, so that
 * nothing is read from elsewhere; -1: by its name. careful: files are first tried, each packet of
 * those that fail, in processes of their own. False with an error when there is nothing to read at
 * all, or it cannot be written. Damage may end the process. */
bool fm_ctf_import(const char *path, int folder, int fd, bool careful,
                   const struct ctf_watcher *watcher, GError **error);

/* SPDX-License-Identifier: Apache-2.0 */
/* An event log as a trace; seen by this folder only.
 *
 * One tracefile holds all capabilities, merged by time; event.cpu is the capability. So a log may
 * have thousands of them, and new ones may appear while it grows. */
#pragma once

#include "base/files/roots.h"
#include "eventlog/log/log.h"
#include "trace/core/trace.h"

struct fm_eventlog_trace {
    struct fm_eventlog_log *log;
    struct fm_eventlog_merge *merge;
    struct fm_trace *trace;
    struct fm_roots *roots; /* folders in which the file may be; NULL = anywhere */
    /* The cursor. */
    struct fm_event event;
    bool has_event;
    uint64_t tie;     /* events of its time that came before it */
    uint64_t horizon; /* ns: events after it are not shown yet */

    GHashTable *texts;      /* header << 32 | id -> char * */
    GHashTable *any;        /* id -> char *, of whatever header: the latest */
    GPtrArray *owned_texts; /* given out once, they live as long as the trace */
    GHashTable *labels;     /* event number -> char * */
    GArray *owners;         /* eventlog_owners.c: who logs into which lane, by lane and time */
    guint owners_blocks;    /* blocks of the log that have been read for it */
    GString *scratch;       /* texts of the values given out last */
    GString *notes;         /* damage beside the gaps of the log */
    unsigned note_count;

    bool has_epoch;
    int64_t epoch_ns; /* wall clock at time 0, since 1970 */

    /* eventlog_live.c */
    bool looked_at;        /* the header and the first blocks have been read */
    bool scanned;          /* all that the file holds has been found */
    bool live;             /* may still be written */
    bool in_rounds;        /* an import: the path is not the file's; blocks of all capabilities come
                              in rounds, each later than the one before */
    int64_t changed_us;    /* when it last grew, by the monotonic clock */
    GHashTable *delivered; /* capability -> uint64_t *: end of its last block */
    uint64_t latest;       /* ns: the greatest end of a block */
    uint64_t late_blocks;
    int socket;        /* -1 = a file, or closed */
    bool closed;       /* the other end is gone, or the program that wrote the file */
    uint64_t received; /* bytes */
};

/* The last nanosecond of a file means "none" in a trace: what stands there is one earlier. */
static inline uint64_t fm_eventlog_trace_time(uint64_t recorded_ns)
{
    return MIN(recorded_ns, FM_TIME_INF - 1);
}

/* Takes the descriptor of a regular file, from which nothing has been read yet. */
struct fm_trace *fm_eventlog_trace_new(const struct fm_trace_class *class_, const char *path,
                                       int fd);
/* Takes the descriptor of what was opened beneath roots. When the file is replaced it is opened
 * beneath them again; NULL = anywhere. */
struct fm_trace *fm_eventlog_trace_open(struct fm_roots *roots, const char *path, int fd,
                                        GError **error);
/* A nameless file (taken) that an importer writes in rounds. Without events until it grows, which
 * may be asked for when at least its header is there. */
struct fm_trace *fm_eventlog_trace_open_rounds(const char *path, int fd);
struct fm_trace *fm_eventlog_trace_connect(const char *address, GError **error);

/* The merge is made anew after blocks were added, and the cursor stands where it stood. */
void fm_eventlog_trace_renew(struct fm_eventlog_trace *self);
/* Another file (taken) instead of the one read so far: nothing is known of it yet. */
void fm_eventlog_trace_replace(struct fm_eventlog_trace *self, int fd);
/* Implements that function of the class. */
char *fm_eventlog_trace_damage(const struct fm_trace *trace);
bool fm_eventlog_trace_epoch(const struct fm_trace *trace, int64_t *ret_ns);
void fm_eventlog_trace_note(struct fm_eventlog_trace *self, const char *format, ...)
    G_GNUC_PRINTF(2, 3);

/* eventlog_live.c */
bool fm_eventlog_trace_grow(struct fm_trace *trace, bool *ret_ended, GError **error);
enum fm_trace_growth fm_eventlog_trace_growth(const struct fm_trace *trace);
uint64_t fm_eventlog_trace_extent(const struct fm_trace *trace);
uint64_t fm_eventlog_trace_pending(const struct fm_trace *trace);

/* eventlog_owners.c */
bool fm_eventlog_lane_owner(struct fm_tracefile *tracefile, uint32_t lane, uint64_t time,
                            uint32_t *ret_thread);

/* eventlog_values.c */
void fm_eventlog_trace_take_text(void *self, uint32_t header, uint32_t id, const uint8_t *text,
                                 uint32_t length);
const char *fm_eventlog_event_name(struct fm_tracefile *tracefile, uint32_t id);
unsigned fm_eventlog_event_values(struct fm_tracefile *tracefile, const struct fm_event *event,
                                  struct fm_event_value *ret);
unsigned fm_eventlog_event_fields(struct fm_tracefile *tracefile, uint32_t id,
                                  const char **ret_names);

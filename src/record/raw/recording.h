/* SPDX-License-Identifier: Apache-2.0 */
/* A recording file (NAME.rec, runtime/recording_format.h) read into arrays of nodes, with every
 * reference checked. Addresses stay those of the recorded process. */
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/compiler.h"
#include "runtime/recording_format.h"

#define FM_RAW_NONE UINT32_MAX
#define FM_RAW_FN_INSERTED UINT64_MAX

/* a - b, but at least 0. */
static inline uint64_t fm_raw_less(uint64_t a, uint64_t b)
{
    return a > b ? a - b : 0;
}

struct fm_raw_module {
    const char *path;
    uint64_t start, end, bias;
    uint32_t loaded, unloaded; /* epochs */
    uint32_t flags;            /* enum fm_rec_module_flags */
    const uint8_t *build_id;
    uint32_t build_id_size;
};

struct fm_raw_pd {
    uint64_t fn; /* 0 = root of a thread; FM_RAW_FN_INSERTED: made by finishing */
    uint32_t epoch;
    uint32_t thread;         /* into threads */
    uint32_t maker;          /* csd that made it, FM_RAW_NONE for roots */
    uint32_t depths;         /* into depths; 0 = not counted by depth */
    uint64_t depths_unknown; /* further calls of unknown depth */
    /* Quanta of the stacks that hold its function, outermost in this pd: until they were found
     * (fm_totals_find) of those that are not plain, with `moved`, see
     * FM_REC_SIDE_CHARGED. */
    uint64_t total, moved;
    bool nested; /* when found: its function is active above, on the path that made it */
};

/* There are millions, so rare data is stored elsewhere. */
struct fm_raw_csd {
    uint32_t
        caller; /* pd, FM_RAW_NONE for a thread's root csd, and when it is merged into another */
    uint32_t callee; /* pd */
    uint32_t flags;  /* enum fm_rec_csd_flags */
    uint32_t epoch;
    uint32_t css;   /* made by finishing: its site in the profile; of the recording: FM_RAW_NONE */
    uint32_t heap;  /* into heaps; 0 = it did not use the heap */
    uint32_t open;  /* frames still open, their calls counted here */
    uint32_t waits; /* into waits, a list; 0 = none */
    uint32_t durations; /* into durations, a list; 0 = its calls were not timed */
    uint64_t hook_pc, site;
    uint64_t via; /* 0 = none; FM_RAW_CSD_MERGED: the index of the one that has it all */
    uint64_t calls, excps, quanta;
};
/* In flags: it was merged into another csd. */
#define FM_RAW_CSD_MERGED (1u << 31)

/* Calls of one kind that can wait, of a csd; docs/format-recording.md, "Waiting". */
struct fm_raw_wait {
    uint32_t next; /* next of the csd, 0 = the end */
    uint32_t kind; /* enum fm_rec_wait_kind */
    uint32_t left, open;
    uint32_t first_blame; /* into blames, a list; 0 = none */
    uint64_t calls, waits, ns, longest_ns, short_ns, cpu_quanta;
};

/* Waits for one lock that one context held. */
struct fm_raw_blame {
    uint32_t next;
    uint32_t holder; /* csd, FM_RAW_NONE = not known */
    uint32_t epoch;
    uint64_t lock; /* address; 0 = one of many */
    uint64_t waits, ns, longest_ns;
};

/* Looks from outside that found a thread asleep where nothing is seen to wait. */
struct fm_raw_sleep {
    uint32_t csd; /* as read: fm_raw_recording_final_csd() says where it is now */
    uint32_t samples;
    uint64_t ns;   /* estimated time */
    bool left_out; /* left out of the lists; still part of its thread's sleep */
};

/* Bytes are as requested. From given_back on only with is_held; otherwise freed_bytes are as malloc
 * rounds them up, like usable_bytes. Only counts come before `into`. */
struct fm_raw_heap {
    uint64_t allocs, bytes, usable_bytes;
    uint64_t frees, freed_bytes;           /* blocks that the edge freed */
    uint64_t given_back, given_back_bytes; /* blocks that the edge allocated, by whomsoever */
    uint64_t live_blocks, live_bytes;      /* blocks and bytes still live */
    uint64_t peak_blocks, peak_bytes;      /* held when the program held most */
    uint64_t realloc_moved, realloc_kept;
    uint32_t into;      /* the index that these counts were added to; 0 = none */
    uint32_t lifetimes; /* lifetimes of the freed blocks: a list in durations; 0 = not known */
};
#define FM_RAW_HEAP_COUNTS (offsetof(struct fm_raw_heap, into) / sizeof(uint64_t))

/* Blocks that one edge allocated and another freed. */
struct fm_raw_flow {
    uint32_t from, to; /* into heaps, as read: `into` says where they are now. from 0: not known */
    uint64_t blocks, bytes;
    uint64_t held_ns, longest_ns; /* how long; 0 = not recorded */
};

/* How long timed calls took, or blocks were held, of one of the edges that a csd was made of. */
struct fm_raw_durations {
    uint32_t next;                   /* 0 = the end */
    uint32_t step_first, step_count; /* into steps */
    uint64_t timed, ns, shortest_ns, longest_ns, left;
};

struct fm_raw_step {
    uint32_t step; /* octave * FM_REC_DURATION_STEPS + step, see fm_rec_durations */
    uint64_t calls;
};

/* A timed call. */
struct fm_raw_span {
    uint32_t csd, thread; /* thread: into threads */
    uint64_t start_ns;    /* CLOCK_MONOTONIC */
    uint64_t ns;
    bool left; /* without its exit hook */
};

/* Quanta of a csd that fell on one address. */
struct fm_raw_sample {
    uint64_t pc, quanta;
    uint32_t csd;
    uint32_t epoch;
};

/* Quanta of a csd that fell into a module without hooks, by function. */
struct fm_raw_foreign {
    uint64_t fn;   /* where the function begins, or an address in it */
    uint64_t call; /* pc of the sample that has them, too; 0 = not known */
    uint64_t quanta;
    uint32_t csd;
    uint32_t epoch;
    bool in_kernel; /* the function was in a system call */
};

/* A block that ran in a context: one that called back, or one of those that are counted by code of
 * their own. */
struct fm_raw_point {
    uint64_t pc;    /* behind the callback; of counted ones behind the function's entry hook */
    uint64_t count; /* not valid with FM_RAW_BLOCK_ENTRY */
    uint32_t epoch;
    uint32_t pd;
    uint32_t block; /* number of the counter; FM_RAW_NONE: of a callback */
    uint32_t place; /* set by finishing, for counters: index of the image's points, FM_RAW_NONE */
};
/* The block in front of those that have counters, which runs as often as the function is called. */
#define FM_RAW_BLOCK_ENTRY (FM_RAW_NONE - 1)

struct fm_raw_thread {
    uint32_t number, tid; /* number: in order of creation, from 1 */
    bool ended;
    bool without_ticks;         /* none could be had */
    bool before;                /* for a phase: it had ended before the phase began */
    uint32_t root_pd, root_csd; /* indices */
    uint64_t started_in;
    uint64_t user_quanta, instrumentation_quanta, ticks, cpu_ns;
    /* number of ticks in user_quanta; sum of the squares of their charges */
    uint64_t charges, charge_squares;
    uint64_t calls_dropped, exits_unmatched;
    uint64_t start_ns,
        end_ns;           /* CLOCK_MONOTONIC; end 0: it had not ended, until waits are closed */
    uint64_t last_cpu_ns; /* the latest that is known, without that of stops */
    uint64_t stopped_ns;  /* while the recording was stopped; the stop that lasts: */
    uint64_t stop_since_ns;
    uint64_t wait_quanta; /* that fell into waits */
    uint64_t queued_ns;
    bool queue_known;
    bool end_known; /* end_ns is the real end, not just the last time it was seen; set when waits
                       are closed */
    uint32_t open_kind; /* kind of the open wait; 0 = none */
    uint32_t open_csd, open_holder;
    uint64_t open_since_ns, open_object;
    char name[17];
};

struct fm_raw_mark {
    const char *name;
    uint64_t ns;       /* since the start */
    uint64_t quanta;   /* user quanta until then */
    uint32_t snapshot; /* 0 = a phase begins */
};

struct fm_raw_recording {
    struct fm_rec_header header; /* a copy */
    const char *path;
    const char *program;
    const char *directory;
    char *command; /* the arguments, quoted for a shell; "" = not known */
    /* for an MPI program: rank + 1, and number of ranks; 0 = not known */
    uint32_t rank, rank_count;
    char *host; /* host of an MPI process; NULL = not known */
    uint32_t module_count, pd_count, csd_count, point_count, thread_count, mark_count;
    uint32_t foreign_count;
    uint32_t sample_count, heap_count, flow_count, depth_count, wait_count, blame_count;
    struct fm_raw_module *modules;
    struct fm_raw_pd *pds;
    struct fm_raw_csd *csds;
    struct fm_raw_heap *heaps; /* heaps[0] is all zero */
    struct fm_raw_flow *flows;
    struct fm_rec_depths *depths; /* depths[0] is all zero */
    bool is_phase;                /* events before a moment of the run are left out */
    bool has_totals;              /* pds have totals */
    bool is_held;                 /* blocks remember where they were allocated */
    struct fm_rec_held held;
    struct fm_rec_curve curve; /* shift 0: live bytes over time are not known */
    struct fm_raw_wait *waits; /* waits[0] and blames[0] are all zero */
    struct fm_raw_blame *blames;
    uint32_t sleep_count;
    struct fm_raw_sleep *sleeps;
    struct fm_raw_durations *durations; /* durations[0] is all zero */
    struct fm_raw_step *steps;
    uint32_t span_count;
    struct fm_raw_span *spans;
    uint64_t spans_dropped; /* timed, but not kept one by one */
    const char *traced;     /* the functions that were chosen; "" = none */
    struct fm_raw_point *points;
    struct fm_raw_sample *samples;
    struct fm_raw_foreign *foreigns;
    struct fm_raw_thread *threads; /* in order of their numbers */
    struct fm_raw_mark *marks;     /* in order of time */
    uint32_t forked_in; /* for a child of fork: the pd of the innermost call; FM_RAW_NONE */
    struct fm_raw_recording_storage *storage;
};

/* Name of its ticks when they are not time: "page faults"; else NULL. */
const char *fm_raw_tick_words(const struct fm_rec_header *header);

/* Reads a recording, live or ended. The caller owns *ret; fm_raw_recording_free(). Errors:
 * FM_ERROR_IO, FM_ERROR_FORMAT, FM_ERROR_TRUNCATED, FM_ERROR_VERSION, FM_ERROR_UNAVAILABLE
 * (recorded on another kind of machine). Memory is a small multiple of the file's contents. */
FM_MUST_USE bool fm_raw_recording_load(const char *path, struct fm_raw_recording **ret,
                                       GError **error);
/* As above, for fm_raw_recording_load_again(): takes half as much memory in addition. */
FM_MUST_USE bool fm_raw_recording_load_places(const char *path, struct fm_raw_recording **ret,
                                              GError **error);
/* Reads a recording loaded by the latter function again, in place: counts, lists and header become
 * the present ones. False if that is impossible, as there are other nodes, or not useful: its
 * contents are then undefined, and it may only be freed. */
FM_MUST_USE bool fm_raw_recording_load_again(const char *path, struct fm_raw_recording *recording);
/* It will not be read again. */
void fm_raw_recording_forget_places(struct fm_raw_recording *recording);
/* Loads what was counted since an earlier copy of the same recording (a snapshot) was made, at
 * since_ns of CLOCK_MONOTONIC; 0: as the marks of the later one say. Open waits are closed in it
 * (ended_ns as in fm_raw_recording_close_waits()). Nodes stay, even without counts. Live memory is
 * the increase since then, at least 0; peak memory is 0: not known. Longest waits are upper limits.
 * Errors: those of loading; FM_ERROR_USAGE: the copy is of another process, or later. */
FM_MUST_USE bool fm_raw_recording_load_since(const char *path, const char *earlier,
                                             uint64_t since_ns, uint64_t ended_ns,
                                             struct fm_raw_recording **ret, GError **error);
void fm_raw_recording_free(struct fm_raw_recording *recording); /* NULL is allowed */
/* Takes other points (struct fm_raw_point) in the place of those that it has. */
void fm_raw_recording_take_points(struct fm_raw_recording *recording, GArray *points);
/* Frees pds, csds and their side data, when finishing does not need them any more. */
void fm_raw_recording_drop_graph(struct fm_raw_recording *recording);
/* Adds a node; returns its index. Pointers into the arrays are void afterwards. */
uint32_t fm_raw_recording_add_pd(struct fm_raw_recording *recording, const struct fm_raw_pd *pd);
uint32_t fm_raw_recording_add_csd(struct fm_raw_recording *recording, const struct fm_raw_csd *csd);

/* After flows, spans, samples, foreigns, sleeps or marks were made fewer, or spans_dropped was set:
 * what lies behind the counts goes for good, else it would be back when a node is added. */
void fm_raw_recording_cut(struct fm_raw_recording *recording);

/* Waits that are not over become waits until the end: that of the file, else ended_ns (of
 * CLOCK_MONOTONIC, 0 = not known), else the latest moment that the file knows. Once. */
void fm_raw_recording_close_waits(struct fm_raw_recording *recording, uint64_t ended_ns);
/* The edge that an edge was merged into, itself if none. */
uint32_t fm_raw_recording_final_csd(const struct fm_raw_recording *recording, uint32_t csd);

/* Adds the costs of an edge, not its calls, to another, which it is merged into, and takes them
 * from it. */
void fm_raw_recording_move_costs(struct fm_raw_recording *recording, struct fm_raw_csd *to,
                                 struct fm_raw_csd *from);

/* The nodes of a recording as loaded, to distinguish it from others. */
struct fm_raw_shape;
struct fm_raw_shape *fm_raw_shape_new(const struct fm_raw_recording *recording);
void fm_raw_shape_free(struct fm_raw_shape *shape); /* NULL is allowed */
/* Whether another reading has just the same nodes, threads and modules. */
bool fm_raw_shape_is_of(const struct fm_raw_shape *shape, const struct fm_raw_recording *recording);
/* As above, for a recording that was read again: everything but the nodes. */
bool fm_raw_shape_has_lists(const struct fm_raw_shape *shape,
                            const struct fm_raw_recording *recording);
/* Updates a recording whose nodes finishing has changed, or added, with the counts and all other
 * data of another reading that has its original shape; the other one gets the old data, and must
 * outlive it. Added nodes get no counts. */
void fm_raw_recording_take_counts(struct fm_raw_recording *recording,
                                  struct fm_raw_recording *from);

/* Adds the counts. */
void fm_raw_heap_add(struct fm_raw_heap *sum, const struct fm_raw_heap *more);

typedef struct fm_raw_recording FmRawRecording;
G_DEFINE_AUTOPTR_CLEANUP_FUNC(FmRawRecording, fm_raw_recording_free)

/* The module that contained an address at an epoch; NULL = none. */
const struct fm_raw_module *fm_raw_recording_module_at(const struct fm_raw_recording *recording,
                                                       uint64_t address, uint32_t epoch);

/* Does the process that writes the recording still run? */
bool fm_raw_recording_is_live(const struct fm_raw_recording *recording);

/* The number of the process that still writes the recording at path; 0 = none, or no recording. */
int fm_raw_recording_writer(const char *path);

/* The process of a header, by its number here, also where it is in another pid namespace; 0 = it
 * has ended, or is in none that is seen from here. */
int fm_raw_header_writer(const struct fm_rec_header *header);
/* Number to show: that of fm_raw_header_writer(), else the one it had where it ran. */
uint32_t fm_raw_header_process(const struct fm_rec_header *header);
/* Whether that process still writes it. */
bool fm_raw_header_is_live(const struct fm_rec_header *header);

/* Start time of a process: ticks since boot, as in a recording's header; 0 = there is none, or it
 * has ended. */
uint64_t fm_raw_process_start(int pid);

/* enum fm_rec_grade_flags of its header; 0 = none, or no recording. *ret_start_ns (or NULL): when
 * it began, by CLOCK_MONOTONIC. */
uint32_t fm_raw_recording_grade(const char *path, uint64_t *ret_start_ns);

/* Whether the recording's header is whole: not yet in the moment in which its file is made. */
bool fm_raw_recording_has_header(const char *path);
/* Whether the file is what a process leaves that is killed just after creating it: nothing but
 * zeros, or an incomplete header. */
bool fm_raw_recording_is_void(const char *path);

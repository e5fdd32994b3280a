/* SPDX-License-Identifier: Apache-2.0 */
/* A recording file (NAME.rec, runtime/recording_format.h) read into arrays of nodes, with every
 * reference checked. Addresses stay those of the recorded process. */
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/compiler.h"
#include "runtime/recording_format.h"

#define FM_RAW_NONE UINT32_MAX
#define FM_RAW_FN_INSERTED UINT64_MAX

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
    uint32_t thread;      /* into threads */
    uint32_t maker;       /* csd that made it, FM_RAW_NONE for roots */
    uint32_t point_first; /* into points */
    uint32_t point_count;
};

/* There are millions: what few have stands elsewhere. */
struct fm_raw_csd {
    uint32_t
        caller; /* pd, FM_RAW_NONE for a thread's root csd, and when it is merged into another */
    uint32_t callee; /* pd */
    uint32_t flags;  /* enum fm_rec_csd_flags */
    uint32_t epoch;
    uint32_t css;  /* made by finishing: its site in the profile; of the recording: FM_RAW_NONE */
    uint32_t heap; /* into heaps; 0 = it did not use the heap */
    uint32_t open; /* frames still open, their calls counted here */
    uint64_t hook_pc, site;
    uint64_t via; /* 0 = none */
    uint64_t calls, excps, quanta;
};

/* bytes: as requested; usable and freed ones: as malloc rounds them up. */
struct fm_raw_heap {
    uint64_t allocs, bytes, usable_bytes, frees, freed_bytes;
};

/* Quanta of a csd that fell on one address. */
struct fm_raw_sample {
    uint64_t pc, quanta;
    uint32_t csd;
    uint32_t epoch;
};

struct fm_raw_point {
    uint64_t pc, count;
    uint32_t epoch;
};

struct fm_raw_thread {
    uint32_t number, tid; /* number: in order of creation, from 1 */
    bool ended;
    uint32_t root_pd, root_csd; /* indices */
    uint64_t started_in;
    uint64_t user_quanta, instrumentation_quanta, ticks, cpu_ns;
    uint64_t charges, charge_squares; /* ticks that made user_quanta; squares of what each added */
    uint64_t calls_dropped, exits_unmatched;
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
    uint32_t module_count, pd_count, csd_count, point_count, thread_count, mark_count;
    uint32_t sample_count, heap_count;
    struct fm_raw_module *modules;
    struct fm_raw_pd *pds;
    struct fm_raw_csd *csds;
    struct fm_raw_heap *heaps; /* heaps[0] is all zero */
    struct fm_raw_point *points;
    struct fm_raw_sample *samples;
    struct fm_raw_thread *threads; /* in order of their numbers */
    struct fm_raw_mark *marks;     /* in order of time */
    struct fm_raw_recording_storage *storage;
};

/* Reads a recording, live or ended. Caller owns *ret; fm_raw_recording_free(). Errors: FM_ERROR_IO,
 * FM_ERROR_FORMAT, FM_ERROR_TRUNCATED, FM_ERROR_VERSION, FM_ERROR_UNAVAILABLE (recorded on another
 * kind of machine). Memory is a small multiple of what the file holds. */
FM_MUST_USE bool fm_raw_recording_load(const char *path, struct fm_raw_recording **ret,
                                       GError **error);
void fm_raw_recording_free(struct fm_raw_recording *recording); /* NULL is allowed */
/* Frees pds, csds and what hangs on them, when finishing is done with them. */
void fm_raw_recording_drop_graph(struct fm_raw_recording *recording);
/* Adds a node; returns its index. Pointers into the arrays are void afterwards. */
uint32_t fm_raw_recording_add_pd(struct fm_raw_recording *recording, const struct fm_raw_pd *pd);
uint32_t fm_raw_recording_add_csd(struct fm_raw_recording *recording, const struct fm_raw_csd *csd);

/* Adds the costs of an edge, not its calls, to another, and takes them from it. */
void fm_raw_recording_move_costs(struct fm_raw_recording *recording, struct fm_raw_csd *to,
                                 struct fm_raw_csd *from);

typedef struct fm_raw_recording FmRawRecording;
G_DEFINE_AUTOPTR_CLEANUP_FUNC(FmRawRecording, fm_raw_recording_free)

/* The module that an address lay in at an epoch; NULL = none. */
const struct fm_raw_module *fm_raw_recording_module_at(const struct fm_raw_recording *recording,
                                                       uint64_t address, uint32_t epoch);

/* Does the process that writes the recording still run? */
bool fm_raw_recording_is_live(const struct fm_raw_recording *recording);

/* The number of the process that still writes the recording at path; 0 = none, or no recording. */
int fm_raw_recording_writer(const char *path);

/* SPDX-License-Identifier: Apache-2.0 */
#include "record/running/asleep.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/process.h"
#include "record/raw/of_run.h"
#include "record/raw/recording.h"

#define RECORDINGS_MAX 256u /* maximum number sampled at the same time: each has a descriptor */
#define FOLDER_US 20000     /* at least, from one look for new recordings to the next */
/* within that time, new files may leave a folder's time unchanged */
#define FOLDER_CLOCK_US 100000
#define COST_SHARE 100  /* the next look is that many times as far as this one took */
#define ALIVE_LOOKS 97u /* from one check whether a process lives to the next */

struct thread {
    uint32_t ref;
    int tid;          /* its number here: in a container it has another */
    gint64 looked_us; /* time of the last sample, or its begin */
};

/* A recording whose process runs, or has not yet written its header. */
struct recording {
    char *path;
    int file;                    /* -1: it could not be opened yet */
    unsigned tries;              /* attempts to read an incomplete header */
    struct fm_rec_header header; /* pid 0: it is not there yet */
    int writer;                  /* its process, by the number here */
    uint32_t newest;             /* thread that was the first of the list */
    GArray *threads;             /* struct thread */
    struct fm_rec_sleeps *sleeps;
    GHashTable *places; /* csd -> entry + 1 */
    bool is_over;
};

struct fm_asleep {
    char *base, *folder;
    GPtrArray *before;
    GHashTable *known; /* paths that were found */
    GPtrArray *recordings;
    struct timespec changed; /* time of the folder's last change */
    gint64 folder_us;
};

static void recording_free(gpointer data)
{
    struct recording *r = data;
    if (r->file >= 0)
        close(r->file);
    g_free(r->path);
    g_array_unref(r->threads);
    g_hash_table_unref(r->places);
    g_free(r->sleeps);
    g_free(r);
}

struct fm_asleep *fm_asleep_new(const char *base, const GPtrArray *before)
{
    g_return_val_if_fail(base != NULL, NULL);
    struct fm_asleep *asleep = g_new0(struct fm_asleep, 1);
    asleep->base = g_strdup(base);
    asleep->folder = g_path_get_dirname(base);
    asleep->before = g_ptr_array_new_with_free_func(g_free);
    for (guint i = 0; before != NULL && i < before->len; i++)
        g_ptr_array_add(asleep->before, g_strdup(g_ptr_array_index(before, i)));
    asleep->known = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    asleep->recordings = g_ptr_array_new_with_free_func(recording_free);
    return asleep;
}

void fm_asleep_free(struct fm_asleep *asleep)
{
    if (asleep == NULL)
        return;
    g_ptr_array_unref(asleep->recordings);
    g_hash_table_unref(asleep->known);
    g_ptr_array_unref(asleep->before);
    g_free(asleep->folder);
    g_free(asleep->base);
    g_free(asleep);
}

static bool read_at(int file, void *to, size_t size, uint64_t offset)
{
    return pread(file, to, size, (off_t)offset) == (ssize_t)size;
}

static uint64_t bytes_of(uint32_t ref)
{
    return (uint64_t)ref * FM_REC_UNIT;
}

/* --- which recordings there are --- */

static void find_recordings(struct fm_asleep *asleep, gint64 now_us)
{
    struct stat status;
    if (now_us - asleep->folder_us < FOLDER_US || stat(asleep->folder, &status) != 0 ||
        (status.st_mtim.tv_sec == asleep->changed.tv_sec &&
         status.st_mtim.tv_nsec == asleep->changed.tv_nsec))
        return;
    asleep->folder_us = now_us;
    g_autoptr(GPtrArray) paths = fm_raw_recordings_of_run(asleep->base, asleep->before);
    for (guint i = 0; i < paths->len && asleep->recordings->len < RECORDINGS_MAX; i++) {
        const char *path = g_ptr_array_index(paths, i);
        if (g_hash_table_contains(asleep->known, path))
            continue;
        g_hash_table_add(asleep->known, g_strdup(path));
        struct recording *r = g_new0(struct recording, 1);
        r->path = g_strdup(path);
        r->file = -1;
        r->threads = g_array_new(FALSE, FALSE, sizeof(struct thread));
        r->places = g_hash_table_new(NULL, NULL);
        r->sleeps = g_new0(struct fm_rec_sleeps, 1);
        g_ptr_array_add(asleep->recordings, r);
    }
    gint64 changed_us =
        (gint64)status.st_mtim.tv_sec * G_USEC_PER_SEC + status.st_mtim.tv_nsec / 1000;
    if (asleep->recordings->len < RECORDINGS_MAX &&
        changed_us < g_get_real_time() - FOLDER_CLOCK_US)
        asleep->changed = status.st_mtim;
}

/* False: not yet, or never: is_over. A lack of descriptors passes, for example. */
static bool is_opened(struct recording *r)
{
    if (r->file < 0)
        r->file = open(r->path, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (r->file < 0)
        r->is_over = errno == ENOENT || errno == ELOOP || errno == EISDIR;
    return r->file >= 0;
}

/* Whether its header will never be completed. */
static bool is_left(const struct recording *r, const struct fm_rec_header *header)
{
    struct stat status;
    return (header->process_start != 0 && fm_raw_header_writer(header) == 0) ||
           fstat(r->file, &status) != 0 || status.st_nlink == 0;
}

/* False: not yet, or never: is_over. The runtime sets `sleeps` and `wait_clock` some milliseconds
 * after the state; with FATHOM_WAITING=off, never. */
static bool begin(struct recording *r)
{
    struct fm_rec_header header = {.state = 0};
    if (!read_at(r->file, &header, sizeof header, 0))
        header = (struct fm_rec_header){.state = 0};
    r->is_over =
        header.state != 0 &&
        (header.state != FM_REC_RUNNING ||
         memcmp(header.magic, FM_REC_MAGIC, sizeof header.magic) != 0 || header.version < 3 ||
         header.byte_order != FM_REC_BYTE_ORDER || header.snapshot_of != 0);
    if (r->is_over)
        return false;
    bool is_complete = header.state != 0 && header.sleeps != 0 && header.wait_clock != 0;
    r->is_over = (is_complete || r->tries++ % ALIVE_LOOKS == 0) && is_left(r, &header);
    if (!is_complete || r->is_over)
        return false;
    r->is_over = !read_at(r->file, r->sleeps, sizeof *r->sleeps, bytes_of(header.sleeps)) ||
                 r->sleeps->count > FM_REC_SLEPT_MAX;
    if (r->is_over)
        return false;
    r->header = header;
    r->header.first_thread = 0;
    r->writer = fm_raw_header_writer(&header);
    for (uint32_t i = 0; i < r->sleeps->count; i++)
        g_hash_table_insert(r->places, GUINT_TO_POINTER(r->sleeps->of[i].csd),
                            GUINT_TO_POINTER(i + 1));
    return true;
}

/* The number here of a thread, 0 when it has ended. */
static int tid_here(const struct recording *r, int tid)
{
    if (r->writer == (int)r->header.pid)
        return tid;
    g_autofree char *path = g_strdup_printf("/proc/%d/task", r->writer);
    GDir *threads = g_dir_open(path, 0, NULL);
    int found = 0;
    for (const char *name;
         found == 0 && threads != NULL && (name = g_dir_read_name(threads)) != NULL;) {
        int one = (int)g_ascii_strtoll(name, NULL, 10);
        found = fm_process_inner(r->writer, one) == tid ? one : 0;
    }
    if (threads != NULL)
        g_dir_close(threads);
    return found;
}

/* New threads are at the head. */
static void find_threads(struct recording *r, gint64 now_us)
{
    struct fm_rec_thread thread;
    uint32_t first = r->header.first_thread;
    for (uint32_t ref = first; ref != 0 && ref != r->newest; ref = thread.next) {
        if (!read_at(r->file, &thread, sizeof thread, bytes_of(ref))) {
            r->is_over = true;
            return;
        }
        if (thread.state != FM_REC_THREAD_LIVE)
            continue;
        struct thread own = {
            ref, tid_here(r, (int)thread.tid),
            MAX((gint64)(thread.start_monotonic_ns / 1000), now_us - FM_ASLEEP_PERIOD_US)};
        g_array_append_val(r->threads, own);
    }
    r->newest = first;
}

/* --- one thread --- */

/* While it does not change, a sleeping thread still sleeps. */
static bool turns_of(const struct recording *r, int tid, uint64_t *ret)
{
    struct fm_process_counts counts;
    if (!fm_process_counts(r->writer, tid, &counts) || counts.turns == 0)
        return false;
    *ret = counts.turns;
    return true;
}

/* The csd of the innermost open frame; without one, that of the thread's root. 0 = not known. Above
 * the top all is zero. */
static uint32_t context_of(const struct recording *r, const struct fm_rec_thread *thread)
{
    struct fm_rec_stack stack;
    struct fm_rec_frame frame;
    if ((r->header.grade_flags & FM_REC_EXITS) != 0) /* its frames are not in the file */
        return 0;
    if (thread->current_stack == 0)
        return thread->root_csd;
    if (!read_at(r->file, &stack, sizeof stack, bytes_of(thread->current_stack)) ||
        stack.frames == 0)
        return 0;
    uint64_t frames = bytes_of(stack.frames), low = 0, high = stack.capacity;
    while (high - low > 1) {
        uint64_t middle = low + (high - low) / 2;
        if (!read_at(r->file, &frame, sizeof frame, frames + middle * sizeof frame))
            return 0;
        if (frame.cfa != 0)
            low = middle;
        else
            high = middle;
    }
    if (low == 0)
        return thread->root_csd;
    if (!read_at(r->file, &frame, sizeof frame, frames + low * sizeof frame))
        return 0;
    uint64_t offset = frame.csd - r->header.map_base;
    return offset % FM_REC_UNIT == 0 && offset >= FM_REC_HEADER_BYTES &&
                   offset < r->header.bytes_used
               ? (uint32_t)(offset / FM_REC_UNIT)
               : 0;
}

/* Whole entries, and their number when they are there. The file has room for them: no page is
 * touched that the disk might refuse. */
static void note(struct recording *r, uint32_t csd, uint64_t ns)
{
    struct fm_rec_sleeps *sleeps = r->sleeps;
    guint at = GPOINTER_TO_UINT(g_hash_table_lookup(r->places, GUINT_TO_POINTER(csd)));
    bool is_new = at == 0;
    if (is_new && sleeps->count == FM_REC_SLEPT_MAX)
        return;
    if (is_new) {
        at = sleeps->count + 1;
        g_hash_table_insert(r->places, GUINT_TO_POINTER(csd), GUINT_TO_POINTER(at));
    }
    struct fm_rec_slept *slept = &sleeps->of[at - 1];
    slept->csd = csd;
    slept->samples++;
    slept->ns += ns;
    uint64_t start = bytes_of(r->header.sleeps);
    if (pwrite(r->file, slept, sizeof *slept,
               (off_t)(start + offsetof(struct fm_rec_sleeps, of) + (at - 1) * sizeof *slept)) !=
        (ssize_t)sizeof *slept)
        return;
    sleeps->count = is_new ? at : sleeps->count;
    if (is_new && pwrite(r->file, &sleeps->count, sizeof sleeps->count,
                         (off_t)(start + offsetof(struct fm_rec_sleeps, count))) < 0)
        r->is_over = true;
}

static bool is_open(const struct fm_rec_thread *thread)
{
    return thread->wait_since != 0 || thread->stop_since_ns != 0;
}

/* False: it has ended. Data read between two equal counts of its runs belongs to one sleep. */
static bool look_at(struct recording *r, struct thread *own, gint64 now_us)
{
    struct fm_rec_thread thread;
    uint64_t before, after;
    gint64 since_us = now_us - own->looked_us;
    own->looked_us = now_us;
    if (!read_at(r->file, &thread, sizeof thread, bytes_of(own->ref)))
        return false;
    if (thread.state != FM_REC_THREAD_LIVE)
        return false;
    if (is_open(&thread) || since_us <= 0)
        return true;
    if (!turns_of(r, own->tid, &before))
        return fm_process_state(r->writer, own->tid) != 0;
    char state = fm_process_state(r->writer, own->tid);
    if (state != 'S' && state != 'D')
        return state != 0;
    if (!read_at(r->file, &thread, sizeof thread, bytes_of(own->ref)) || is_open(&thread))
        return true;
    uint32_t csd = context_of(r, &thread);
    if (csd != 0 && turns_of(r, own->tid, &after) && after == before)
        note(r, csd, (uint64_t)since_us * 1000);
    return true;
}

static void look_into(struct recording *r)
{
    struct fm_rec_header header;
    if (r->header.pid == 0 && (!is_opened(r) || !begin(r)))
        return;
    if (!read_at(r->file, &header, sizeof header, 0) || header.state != FM_REC_RUNNING) {
        r->is_over = true;
        return;
    }
    r->header.first_thread = header.first_thread;
    r->header.bytes_used = header.bytes_used;
    if (header.first_thread != r->newest)
        find_threads(r, g_get_monotonic_time());
    for (guint i = 0; i < r->threads->len && !r->is_over;) {
        struct thread *thread = &g_array_index(r->threads, struct thread, i);
        if (look_at(r, thread, g_get_monotonic_time()))
            i++;
        else
            g_array_remove_index_fast(r->threads, i);
    }
    if (r->sleeps->looks++ % ALIVE_LOOKS == 0 &&
        fm_raw_header_writer(&r->header) == 0) /* it was killed */
        r->is_over = true;
    if (pwrite(r->file, &r->sleeps->looks, sizeof r->sleeps->looks,
               (off_t)(bytes_of(r->header.sleeps) + offsetof(struct fm_rec_sleeps, looks))) < 0)
        r->is_over = true;
}

static gint64 own_us(void)
{
    struct timespec used;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
    return (gint64)used.tv_sec * G_USEC_PER_SEC + used.tv_nsec / 1000;
}

gint64 fm_asleep_look(struct fm_asleep *asleep)
{
    g_return_val_if_fail(asleep != NULL, FM_ASLEEP_PERIOD_US);
    gint64 began_us = own_us();
    find_recordings(asleep, g_get_monotonic_time());
    for (guint i = 0; i < asleep->recordings->len;) {
        struct recording *r = g_ptr_array_index(asleep->recordings, i);
        look_into(r);
        if (r->is_over)
            g_ptr_array_remove_index_fast(asleep->recordings, i);
        else
            i++;
    }
    gint64 next_us = (own_us() - began_us) * COST_SHARE;
    return CLAMP(next_us, FM_ASLEEP_PERIOD_US, G_USEC_PER_SEC);
}

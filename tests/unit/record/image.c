/* SPDX-License-Identifier: Apache-2.0 */
#include "image.h"

#include <glib/gstdio.h>
#include <string.h>
#include <unistd.h>

void *bytes_at(struct image *image, uint32_t ref)
{
    return (uint8_t *)image->aligned + (size_t)ref * FM_REC_UNIT;
}

struct fm_rec_header *header_of(struct image *image)
{
    return (struct fm_rec_header *)(void *)image->aligned;
}

uint32_t add(struct image *image, size_t size)
{
    uint32_t ref = image->used / FM_REC_UNIT;
    image->used += (uint32_t)(size + 7) & ~7u;
    g_assert_cmpuint(image->used, <=, FILE_BYTES);
    header_of(image)->bytes_used = image->used;
    return ref;
}

static uint32_t add_text(struct image *image, const char *text)
{
    size_t size = strlen(text);
    uint32_t ref = add(image, sizeof(struct fm_rec_text) + size + 1);
    struct fm_rec_text *node = bytes_at(image, ref);
    node->size = (uint32_t)size;
    memcpy(node->bytes, text, size + 1);
    return ref;
}

uint32_t add_pd(struct image *image, uint64_t fn)
{
    uint32_t ref = add(image, sizeof(struct fm_rec_pd));
    struct fm_rec_pd *pd = bytes_at(image, ref);
    pd->fn = fn;
    pd->epoch = 1;
    return ref;
}

uint32_t add_csd(struct image *image, uint32_t caller, uint32_t callee, uint64_t calls,
                 uint64_t site)
{
    uint32_t ref = add(image, sizeof(struct fm_rec_csd));
    struct fm_rec_csd *csd = bytes_at(image, ref);
    *csd = (struct fm_rec_csd){
        .calls = calls,
        .hook_pc = site + 100,
        .site = site,
        .caller = caller,
        .callee = callee,
        .epoch_flags = 1u << FM_REC_CSD_EPOCH_SHIFT | FM_REC_CSD_MADE_CALLEE,
    };
    if (caller != 0) {
        struct fm_rec_pd *pd = bytes_at(image, caller);
        csd->next = pd->first_csd;
        pd->first_csd = ref;
    }
    return ref;
}

static uint32_t add_sample(struct image *image, uint64_t pc, uint64_t quanta, uint32_t next)
{
    uint32_t ref = add(image, sizeof(struct fm_rec_sample));
    struct fm_rec_sample *sample = bytes_at(image, ref);
    *sample = (struct fm_rec_sample){pc, quanta, next, 1};
    return ref;
}

/* Of a csd: 6 calls that lock, of which 2 waited for what the other held, 30 ns; a sleep of 40 ns
 * that is not over, 100 ns after its beginning. A tick of the clock is 2 ns. */
static void add_waits(struct image *image, uint32_t csd_ref, uint32_t holder)
{
    struct fm_rec_header *header = header_of(image);
    header->grade_flags |= FM_REC_WAITING;
    header->wait_clock = FM_REC_CLOCK_TSC;
    header->wait_first = (struct fm_rec_moment){1000, 5000};
    header->wait_latest[1] = (struct fm_rec_moment){1500, 6000};
    header->wait_latest_at = 1;
    uint32_t wait_ref = add(image, sizeof(struct fm_rec_wait));
    uint32_t blame_ref = add(image, sizeof(struct fm_rec_blame));
    uint32_t side_ref = add(image, sizeof(struct fm_rec_side));
    struct fm_rec_wait *wait = bytes_at(image, wait_ref);
    *wait = (struct fm_rec_wait){.kind = FM_REC_WAIT_MUTEX,
                                 .calls = 6,
                                 .waits = 2,
                                 .ticks = 15,
                                 .longest = 10,
                                 .first_blame = blame_ref};
    struct fm_rec_blame *blame = bytes_at(image, blame_ref);
    *blame = (struct fm_rec_blame){.holder = holder,
                                   .lock = 0x3000,
                                   .epoch = 1,
                                   .wait = wait_ref,
                                   .waits = 2,
                                   .ticks = 15,
                                   .longest = 10};
    struct fm_rec_csd *csd = bytes_at(image, csd_ref);
    struct fm_rec_side *side = bytes_at(image, side_ref);
    *side = (struct fm_rec_side){0, FM_REC_SIDE_WAITS, wait_ref};
    struct fm_rec_side *last = bytes_at(image, csd->side);
    while (last->next != 0)
        last = bytes_at(image, last->next);
    last->next = side_ref;
    struct fm_rec_thread *thread = bytes_at(image, header->first_thread);
    thread->start_monotonic_ns = 5000;
    thread->cpu_last_ns = 700;
    thread->wait_kind = FM_REC_WAIT_SLEEP;
    thread->wait_since = 1430;
    thread->wait_away = 50;
    thread->wait_csd = csd_ref;
}

void make(struct image *image)
{
    memset(image, 0, sizeof *image);
    image->used = FM_REC_HEADER_BYTES;
    struct fm_rec_header *header = header_of(image);
    memcpy(header->magic, FM_REC_MAGIC, sizeof header->magic);
    header->version = FM_REC_VERSION;
    header->byte_order = FM_REC_BYTE_ORDER;
    header->header_bytes = FM_REC_HEADER_BYTES;
    header->state = FM_REC_RUNNING;
    header->map_base = MAP_BASE;
    header->pid = 4711;
    header->process_start = 1; /* no process of today began then */
    header->quantum_ns = 4000000;
    header->program = add_text(image, "/nowhere/prog");
    uint32_t path = add_text(image, "/nowhere/prog");
    header->first_module = add(image, sizeof(struct fm_rec_module));
    struct fm_rec_module *module = bytes_at(image, header->first_module);
    module->start = 0x1000;
    module->end = 0x9000;
    module->bias = 0x1000;
    module->loaded = 1;
    module->unloaded = FM_REC_STILL_LOADED;
    module->path = path;
    uint32_t root = add_pd(image, 0), start = add_pd(image, 0x1500), work = add_pd(image, 0x1600);
    uint32_t root_csd = add_csd(image, 0, root, 0, 0);
    uint32_t start_csd = add_csd(image, root, start, 1, 0x8000);
    uint32_t work_csd = add_csd(image, start, work, 7, 0x2000);
    uint32_t back = add_csd(image, work, start, 2, 0x2100);
    struct fm_rec_csd *csd = bytes_at(image, back);
    csd->epoch_flags &= ~(uint32_t)FM_REC_CSD_MADE_CALLEE;
    csd = bytes_at(image, work_csd);
    csd->quanta = 3;
    csd->excps = 2;
    csd->alloc = add(image, sizeof(struct fm_rec_alloc));
    struct fm_rec_alloc *alloc = bytes_at(image, csd->alloc);
    *alloc = (struct fm_rec_alloc){5, 500, 520, 4, 410};
    csd->side = add(image, sizeof(struct fm_rec_side));
    struct fm_rec_side *side = bytes_at(image, csd->side);
    *side = (struct fm_rec_side){0, FM_REC_SIDE_QUANTA_CARRY, 1};
    side->next = add(image, sizeof *side);
    uint32_t older = add_sample(image, 0x1610, 1, 0), newer = add_sample(image, 0x1620, 2, older);
    side = bytes_at(image, side->next);
    *side = (struct fm_rec_side){0, FM_REC_SIDE_SAMPLES, newer};
    header->first_thread = add(image, sizeof(struct fm_rec_thread));
    struct fm_rec_thread *thread = bytes_at(image, header->first_thread);
    thread->state = FM_REC_THREAD_LIVE;
    thread->tid = 4711;
    thread->number = 1;
    thread->root_pd = root;
    thread->root_csd = root_csd;
    thread->user_quanta = 3;
    thread->instrumentation_quanta = 2;
    thread->charges = 2;
    thread->charge_squares = 5;
    thread->first_stack = add(image, sizeof(struct fm_rec_stack));
    struct fm_rec_stack *stack = bytes_at(image, thread->first_stack);
    stack->capacity = 4;
    stack->frames = add(image, 4 * sizeof(struct fm_rec_frame));
    struct fm_rec_frame *frames = bytes_at(image, stack->frames);
    frames[0].cfa = UINT64_MAX;
    frames[1].cfa = 0x7ffe0000;
    frames[1].csd = MAP_BASE + (uint64_t)start_csd * FM_REC_UNIT;
    frames[2].cfa = 0x7ffd0000;
    frames[2].csd = MAP_BASE + (uint64_t)work_csd * FM_REC_UNIT;
    add_waits(image, work_csd, start_csd);
}

char *write_image(const struct image *image, size_t size)
{
    g_autoptr(GError) error = NULL;
    char *path = NULL;
    int file = g_file_open_tmp("fathom-XXXXXX.rec", &path, &error);
    g_assert_no_error(error);
    close(file);
    g_assert_true(g_file_set_contents(path, (const char *)image->aligned, (gssize)size, &error));
    return path;
}

bool finish(const struct image *image, size_t size, struct fm_profile **ret,
            struct fm_finish_notes *notes, GError **error)
{
    g_autofree char *path = write_image(image, size);
    struct fm_finish_opts opts = {0};
    bool ok = fm_finish(path, &opts, ret, notes, error);
    g_unlink(path);
    return ok;
}

struct fm_rec_sample *newest_sample(struct image *image, uint32_t *ret_ref)
{
    const struct fm_rec_thread *thread = bytes_at(image, header_of(image)->first_thread);
    const struct fm_rec_pd *root = bytes_at(image, thread->root_pd);
    const struct fm_rec_csd *start = bytes_at(image, root->first_csd);
    const struct fm_rec_pd *main_pd = bytes_at(image, start->callee);
    const struct fm_rec_csd *work = bytes_at(image, main_pd->first_csd);
    const struct fm_rec_side *side = bytes_at(image, work->side);
    side = bytes_at(image, side->next);
    g_assert_cmpuint(side->kind, ==, FM_REC_SIDE_SAMPLES);
    *ret_ref = (uint32_t)side->value;
    return bytes_at(image, *ret_ref);
}

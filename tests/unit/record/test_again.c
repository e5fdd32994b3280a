/* SPDX-License-Identifier: Apache-2.0 */
/* A recording grows by random changes: what is read again into an earlier reading must be what is
 * read from the beginning, and what has other nodes must be told. */
#include <glib.h>
#include <glib/gstdio.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "record/raw/recording.h"

#define FILE_BYTES (512u << 10)
#define FULL_BYTES (FILE_BYTES - 16384u)
#define MAP_BASE UINT64_C(0x7f0000000000)
#define EDGES_MAX 400u
#define FRAMES 16u
#define CHANGES 400u
#define SEEDS 6u

struct edge {
    uint32_t ref, callee;                   /* callee: pd */
    uint32_t samples, waits, depths, carry; /* side records; 0 = none yet */
    bool makes;
};

struct program {
    uint8_t *file;
    uint32_t used;
    GRand *random;
    struct edge edges[EDGES_MAX];
    uint32_t edge_count, thread_count;
    uint32_t held; /* what flows lead from: the first allocation record */
};

static void *at(const struct program *program, uint32_t ref)
{
    return program->file + (size_t)ref * FM_REC_UNIT;
}

static struct fm_rec_header *header_of(const struct program *program)
{
    return (struct fm_rec_header *)(void *)program->file;
}

static uint32_t below(struct program *program, uint32_t end)
{
    return (uint32_t)g_rand_int_range(program->random, 0, (gint32)end);
}

static uint32_t add(struct program *program, size_t size)
{
    uint32_t ref = program->used / FM_REC_UNIT;
    program->used += (uint32_t)(size + 7) & ~7u;
    g_assert_cmpuint(program->used, <=, FILE_BYTES);
    header_of(program)->bytes_used = program->used;
    return ref;
}

static uint32_t add_text(struct program *program, const char *text)
{
    size_t size = strlen(text);
    uint32_t ref = add(program, sizeof(struct fm_rec_text) + size + 1);
    struct fm_rec_text *node = at(program, ref);
    node->size = (uint32_t)size;
    memcpy(node->bytes, text, size + 1);
    return ref;
}

static uint32_t add_pd(struct program *program)
{
    uint32_t ref = add(program, sizeof(struct fm_rec_pd));
    struct fm_rec_pd *pd = at(program, ref);
    *pd = (struct fm_rec_pd){.fn = 0x1000 + ref, .epoch = 1};
    return ref;
}

/* From a pd (0: of a thread) to another, 0: to a new one. */
static struct edge *add_edge(struct program *program, uint32_t caller, uint32_t callee)
{
    g_assert_cmpuint(program->edge_count, <, EDGES_MAX);
    struct edge *edge = &program->edges[program->edge_count++];
    *edge = (struct edge){.makes = callee == 0, .callee = callee != 0 ? callee : add_pd(program)};
    edge->ref = add(program, sizeof(struct fm_rec_csd));
    struct fm_rec_csd *csd = at(program, edge->ref);
    *csd = (struct fm_rec_csd){
        .hook_pc = 0x2000 + edge->ref,
        .site = caller == 0 ? 0 : 0x4000 + edge->ref,
        .caller = caller,
        .callee = edge->callee,
        .epoch_flags =
            1u << FM_REC_CSD_EPOCH_SHIFT | (edge->makes ? (unsigned)FM_REC_CSD_MADE_CALLEE : 0u),
    };
    if (caller != 0) {
        struct fm_rec_pd *pd = at(program, caller);
        csd->next = pd->first_csd;
        pd->first_csd = edge->ref;
    }
    return edge;
}

static void add_thread(struct program *program)
{
    uint32_t ref = add(program, sizeof(struct fm_rec_thread));
    struct edge *root = add_edge(program, 0, 0);
    struct fm_rec_pd *root_pd = at(program, root->callee);
    root_pd->fn = 0;
    struct fm_rec_thread *thread = at(program, ref);
    *thread = (struct fm_rec_thread){.state = FM_REC_THREAD_LIVE,
                                     .tid = 9000 - 7 * program->thread_count,
                                     .number = ++program->thread_count,
                                     .root_pd = root->callee,
                                     .root_csd = root->ref};
    thread->first_stack = add(program, sizeof(struct fm_rec_stack));
    struct fm_rec_stack *stack = at(program, thread->first_stack);
    stack->capacity = FRAMES;
    stack->frames = add(program, FRAMES * sizeof(struct fm_rec_frame));
    thread->next = header_of(program)->first_thread;
    header_of(program)->first_thread = ref;
    add_edge(program, root->callee, 0);
}

static void add_module(struct program *program)
{
    uint32_t path = add_text(program, "/nowhere/prog"),
             ref = add(program, sizeof(struct fm_rec_module));
    struct fm_rec_module *module = at(program, ref);
    *module = (struct fm_rec_module){.start = 0x1000 + (uint64_t)ref * 0x100000,
                                     .end = 0x90000 + (uint64_t)ref * 0x100000,
                                     .loaded = 1,
                                     .unloaded = FM_REC_STILL_LOADED,
                                     .path = path,
                                     .build_id_bytes = 4,
                                     .next = header_of(program)->first_module};
    memcpy(module->build_id, &ref, sizeof ref);
    header_of(program)->first_module = ref;
}

static struct program *program_new(guint32 seed)
{
    struct program *program = g_new0(struct program, 1);
    program->file = g_malloc0(FILE_BYTES);
    program->random = g_rand_new_with_seed(seed);
    program->used = FM_REC_HEADER_BYTES;
    struct fm_rec_header *header = header_of(program);
    memcpy(header->magic, FM_REC_MAGIC, sizeof header->magic);
    header->version = FM_REC_VERSION;
    header->byte_order = FM_REC_BYTE_ORDER;
    header->header_bytes = FM_REC_HEADER_BYTES;
    header->state = FM_REC_RUNNING;
    header->map_base = MAP_BASE;
    header->pid = 4711;
    header->process_start = 1; /* no process of today began then */
    header->quantum_ns = 4000000;
    header->grade_flags = FM_REC_WAITING | FM_REC_LIFETIMES;
    header->wait_clock = FM_REC_CLOCK_MONOTONIC;
    header->program = add_text(program, "/nowhere/prog");
    header->sleeps = add(program, sizeof(struct fm_rec_sleeps));
    header->held = add(program, sizeof(struct fm_rec_held));
    add_module(program);
    add_thread(program);
    return program;
}

static void program_free(struct program *program)
{
    g_rand_free(program->random);
    g_free(program->file);
    g_free(program);
}

/* --- changes of counts --- */

static struct edge *any_edge(struct program *program)
{
    return &program->edges[below(program, program->edge_count)];
}

static struct fm_rec_side *add_side(struct program *program, const struct edge *edge, uint32_t kind,
                                    uint32_t *ret)
{
    *ret = add(program, sizeof(struct fm_rec_side));
    struct fm_rec_csd *csd = at(program, edge->ref);
    struct fm_rec_side *side = at(program, *ret);
    *side = (struct fm_rec_side){csd->side, kind, 0};
    csd->side = *ret;
    return side;
}

static void count(struct program *program)
{
    for (unsigned i = below(program, 20); i < 20; i++) {
        struct fm_rec_csd *csd = at(program, any_edge(program)->ref);
        csd->calls += 1 + below(program, 1000);
        csd->quanta += below(program, 5);
        csd->excps += below(program, 2);
    }
}

static void carry(struct program *program)
{
    struct edge *edge = any_edge(program);
    if (edge->carry == 0)
        add_side(program, edge, FM_REC_SIDE_QUANTA_CARRY, &edge->carry);
    ((struct fm_rec_side *)at(program, edge->carry))->value++;
}

static void sample(struct program *program)
{
    struct edge *edge = any_edge(program);
    if (edge->samples == 0)
        add_side(program, edge, FM_REC_SIDE_SAMPLES, &edge->samples);
    uint32_t ref = add(program, sizeof(struct fm_rec_sample));
    struct fm_rec_side *side = at(program, edge->samples);
    *(struct fm_rec_sample *)at(program, ref) =
        (struct fm_rec_sample){0x5000 + ref, 1 + below(program, 3), (uint32_t)side->value, 1};
    side->value = ref;
    uint32_t at_side, foreign = add(program, sizeof(struct fm_rec_foreign));
    *(struct fm_rec_foreign *)at(program, foreign) = (struct fm_rec_foreign){
        0x9000 + ref, 0x5000 + ref, 1 + below(program, 3), 0, 1 | below(program, 2) << 31};
    add_side(program, edge, FM_REC_SIDE_FOREIGN, &at_side)->value = foreign;
}

static void wait(struct program *program)
{
    struct edge *edge = any_edge(program);
    if (edge->waits == 0) {
        add_side(program, edge, FM_REC_SIDE_WAITS, &edge->waits);
        uint32_t ref = add(program, sizeof(struct fm_rec_wait));
        *(struct fm_rec_wait *)at(program, ref) = (struct fm_rec_wait){.kind = FM_REC_WAIT_MUTEX};
        ((struct fm_rec_side *)at(program, edge->waits))->value = ref;
    }
    uint32_t of = (uint32_t)((struct fm_rec_side *)at(program, edge->waits))->value;
    uint32_t ref = add(program, sizeof(struct fm_rec_blame));
    struct fm_rec_wait *made = at(program, of);
    struct fm_rec_blame *blame = at(program, ref);
    made->calls += 3;
    made->waits++;
    made->ticks += 10 + below(program, 90);
    made->longest = MAX(made->longest, below(program, 90));
    *blame = (struct fm_rec_blame){.next = made->first_blame,
                                   .holder = any_edge(program)->ref,
                                   .lock = 0x3000,
                                   .epoch = 1,
                                   .wait = of,
                                   .waits = 1,
                                   .ticks = 10};
    made->first_blame = ref;
}

static void depth(struct program *program)
{
    struct edge *edge = any_edge(program);
    if (!edge->makes)
        return;
    if (edge->depths == 0) {
        struct fm_rec_side *side = add_side(program, edge, FM_REC_SIDE_DEPTHS, &edge->depths);
        side->value = add(program, sizeof(struct fm_rec_depths));
    }
    struct fm_rec_depths *depths =
        at(program, (uint32_t)((struct fm_rec_side *)at(program, edge->depths))->value);
    depths->calls[below(program, FM_REC_DEPTH_CLASSES)]++;
    depths->greatest++;
}

static void allocate(struct program *program)
{
    struct edge *edge = any_edge(program);
    struct fm_rec_csd *csd = at(program, edge->ref);
    if (csd->alloc == 0)
        csd->alloc = add(program, sizeof(struct fm_rec_alloc));
    struct fm_rec_alloc *alloc = at(program, csd->alloc);
    alloc->allocs += 2;
    alloc->bytes += 100 + below(program, 50);
    alloc->usable_bytes += 160;
    if (program->held == 0)
        program->held = csd->alloc;
    if (below(program, 3) != 0)
        return;
    uint32_t ref = add(program, sizeof(struct fm_rec_flow));
    struct fm_rec_alloc *from = at(program, program->held);
    struct fm_rec_flow *flow = at(program, ref);
    *flow = (struct fm_rec_flow){.next = alloc->first_flow,
                                 .from = program->held,
                                 .blocks = 1,
                                 .bytes = 50,
                                 .next_out = from->first_out,
                                 .held_ns = 5,
                                 .longest_ns = 5};
    alloc->first_flow = ref;
    from->first_out = ref;
}

/* Which frames are open. */
static void stacks(struct program *program)
{
    for (uint32_t ref = header_of(program)->first_thread; ref != 0;) {
        struct fm_rec_thread *thread = at(program, ref);
        const struct fm_rec_stack *stack = at(program, thread->first_stack);
        struct fm_rec_frame *frames = at(program, stack->frames);
        uint32_t open = below(program, FRAMES);
        for (uint32_t i = 1; i < FRAMES; i++)
            frames[i] = (struct fm_rec_frame){.cfa = i <= open ? 0x7ffe0000 - 16 * i : 0,
                                              .csd = MAP_BASE + (uint64_t)any_edge(program)->ref *
                                                                    FM_REC_UNIT};
        thread->user_quanta += below(program, 9);
        thread->cpu_ns += 1000;
        thread->wait_kind = below(program, 2) != 0 ? FM_REC_WAIT_SLEEP : 0;
        thread->wait_since = 500 + below(program, 100);
        thread->wait_csd = any_edge(program)->ref;
        ref = thread->next;
    }
}

static void sleeps(struct program *program)
{
    struct fm_rec_sleeps *all = at(program, header_of(program)->sleeps);
    all->looks++;
    if (all->count < 20 && below(program, 2) == 0)
        all->of[all->count++].csd = any_edge(program)->ref;
    if (all->count > 0)
        all->of[below(program, all->count)].samples++;
}

static void mark(struct program *program)
{
    uint32_t name = add_text(program, below(program, 2) != 0 ? "one" : "another");
    uint32_t ref = add(program, sizeof(struct fm_rec_mark));
    struct fm_rec_header *header = header_of(program);
    *(struct fm_rec_mark *)at(program, ref) = (struct fm_rec_mark){
        .next = header->first_mark, .monotonic_ns = 1000 + ref, .user_quanta = ref, .name = name};
    header->first_mark = ref;
}

/* Something of the process as a whole. */
static void whole(struct program *program)
{
    struct fm_rec_header *header = header_of(program);
    struct fm_rec_held *held = at(program, header->held);
    header->peak_live_bytes += 10;
    held->unknown_frees++;
    held->rising = below(program, 2);
    header->forked_in = any_edge(program)->ref;
}

/* --- changes of nodes --- */

static void call(struct program *program)
{
    uint32_t caller = any_edge(program)->callee;
    add_edge(program, caller, below(program, 3) == 0 ? caller : 0);
}

static void come_by_another_way(struct program *program)
{
    struct edge *edge = any_edge(program);
    uint32_t ref;
    struct fm_rec_side *side = add_side(program, edge, FM_REC_SIDE_VIA, &ref);
    side->value = 0x7000 + ref;
}

static void unload(struct program *program)
{
    struct fm_rec_module *module = at(program, header_of(program)->first_module);
    module->unloaded = module->unloaded == FM_REC_STILL_LOADED ? 2 : module->unloaded + 1;
}

static void rename_thread(struct program *program)
{
    struct fm_rec_thread *thread = at(program, header_of(program)->first_thread);
    thread->name[0] = (char)('a' + (thread->name[0] - 'a' + 1) % 26);
}

typedef void change(struct program *program);
static change *const counts[] = {count, count,    count,  carry,  sample, sample, wait,
                                 depth, allocate, stacks, sleeps, mark,   whole};
static change *const nodes[] = {call,       call,   add_thread,   come_by_another_way,
                                add_module, unload, rename_thread};

/* --- what was read --- */

static void same_number(uint64_t a, uint64_t b)
{
    g_assert_cmpuint(a, ==, b);
}
#define SAME_BYTES(of, count)                                                   \
    g_assert_cmpmem(left->of, (int)(left->count * sizeof *left->of), right->of, \
                    (int)(right->count * sizeof *right->of))
#define SAME(field) same_number(a->field, b->field)

static void same_edges(const struct fm_raw_recording *left, const struct fm_raw_recording *right)
{
    g_assert_cmpuint(left->csd_count, ==, right->csd_count);
    for (uint32_t i = 0; i < left->csd_count; i++) {
        const struct fm_raw_csd *a = &left->csds[i], *b = &right->csds[i];
        SAME(caller), SAME(callee), SAME(flags), SAME(epoch), SAME(css), SAME(heap), SAME(open);
        SAME(waits), SAME(durations), SAME(hook_pc), SAME(site), SAME(via), SAME(calls);
        SAME(excps), SAME(quanta);
    }
    g_assert_cmpuint(left->pd_count, ==, right->pd_count);
    for (uint32_t i = 0; i < left->pd_count; i++) {
        const struct fm_raw_pd *a = &left->pds[i], *b = &right->pds[i];
        SAME(fn), SAME(epoch), SAME(thread), SAME(maker), SAME(depths), SAME(depths_unknown);
    }
    g_assert_cmpuint(left->forked_in, ==, right->forked_in);
}

static void same_heap(const struct fm_raw_recording *left, const struct fm_raw_recording *right)
{
    SAME_BYTES(heaps, heap_count);
    SAME_BYTES(flows, flow_count);
    g_assert_cmpuint(left->is_held, ==, right->is_held);
    g_assert_cmpint(memcmp(&left->held, &right->held, sizeof left->held), ==, 0);
    SAME_BYTES(depths, depth_count);
}

static void same_waits(const struct fm_raw_recording *left, const struct fm_raw_recording *right)
{
    g_assert_cmpuint(left->wait_count, ==, right->wait_count);
    for (uint32_t i = 0; i < left->wait_count; i++) {
        const struct fm_raw_wait *a = &left->waits[i], *b = &right->waits[i];
        SAME(next), SAME(kind), SAME(left), SAME(open), SAME(first_blame), SAME(calls);
        SAME(waits), SAME(ns), SAME(longest_ns), SAME(short_ns), SAME(cpu_quanta);
    }
    g_assert_cmpuint(left->blame_count, ==, right->blame_count);
    for (uint32_t i = 0; i < left->blame_count; i++) {
        const struct fm_raw_blame *a = &left->blames[i], *b = &right->blames[i];
        SAME(next), SAME(holder), SAME(epoch), SAME(lock), SAME(waits), SAME(ns), SAME(longest_ns);
    }
    g_assert_cmpuint(left->sleep_count, ==, right->sleep_count);
    for (uint32_t i = 0; i < left->sleep_count; i++) {
        const struct fm_raw_sleep *a = &left->sleeps[i], *b = &right->sleeps[i];
        SAME(csd), SAME(samples), SAME(ns), SAME(left_out);
    }
}

static void same_lists(const struct fm_raw_recording *left, const struct fm_raw_recording *right)
{
    g_assert_cmpint(memcmp(&left->header, &right->header, sizeof left->header), ==, 0);
    SAME_BYTES(samples, sample_count);
    g_assert_cmpuint(left->foreign_count, ==, right->foreign_count);
    for (uint32_t i = 0; i < left->foreign_count; i++) {
        const struct fm_raw_foreign *a = &left->foreigns[i], *b = &right->foreigns[i];
        SAME(fn), SAME(call), SAME(quanta), SAME(csd), SAME(in_kernel);
    }
    g_assert_cmpuint(left->thread_count, ==, right->thread_count);
    for (uint32_t i = 0; i < left->thread_count; i++) {
        const struct fm_raw_thread *a = &left->threads[i], *b = &right->threads[i];
        SAME(number), SAME(tid), SAME(ended), SAME(root_pd), SAME(root_csd), SAME(user_quanta);
        SAME(cpu_ns), SAME(last_cpu_ns), SAME(open_kind), SAME(open_csd), SAME(open_since_ns);
        g_assert_cmpstr(a->name, ==, b->name);
    }
    g_assert_cmpuint(left->mark_count, ==, right->mark_count);
    for (uint32_t i = 0; i < left->mark_count; i++) {
        const struct fm_raw_mark *a = &left->marks[i], *b = &right->marks[i];
        SAME(ns), SAME(quanta), SAME(snapshot);
        g_assert_cmpstr(a->name, ==, b->name);
    }
    g_assert_cmpuint(left->module_count, ==, right->module_count);
    g_assert_cmpuint(left->point_count, ==, right->point_count);
}

/* --- the tests --- */

static char *path_new(void)
{
    g_autoptr(GError) error = NULL;
    char *path = NULL;
    int file = g_file_open_tmp("fathom-XXXXXX.rec", &path, &error);
    g_assert_no_error(error);
    close(file);
    return path;
}

/* Over what is there: what lies behind is not used. */
static void write_to(const struct program *program, const char *path)
{
    FILE *file = fopen(path, "r+b");
    g_assert_nonnull(file);
    g_assert_cmpuint(fwrite(program->file, 1, program->used, file), ==, program->used);
    g_assert_cmpint(fclose(file), ==, 0);
}

static struct fm_raw_recording *load(const char *path, bool places)
{
    g_autoptr(GError) error = NULL;
    struct fm_raw_recording *recording = NULL;
    bool ok = places ? fm_raw_recording_load_places(path, &recording, &error)
                     : fm_raw_recording_load(path, &recording, &error);
    g_assert_no_error(error);
    g_assert_true(ok);
    return recording;
}

static void compare(const char *path, const struct fm_raw_recording *again)
{
    g_autoptr(FmRawRecording) fresh = load(path, false);
    same_lists(again, fresh);
    same_edges(again, fresh);
    same_heap(again, fresh);
    same_waits(again, fresh);
}

static bool same_shape(const struct fm_raw_shape *shape, const char *path)
{
    g_autoptr(FmRawRecording) fresh = load(path, false);
    return fm_raw_shape_is_of(shape, fresh);
}

/* One in ten changes makes other nodes. */
static void random_changes(void)
{
    g_autofree char *path = path_new();
    for (guint32 seed = 1; seed <= SEEDS; seed++) {
        struct program *program = program_new(seed);
        for (unsigned i = 0; i < 20; i++)
            call(program);
        write_to(program, path);
        struct fm_raw_recording *kept = load(path, true);
        struct fm_raw_shape *shape = fm_raw_shape_new(kept);
        unsigned again = 0, others = 0;
        for (unsigned i = 0; i < CHANGES && program->used < FULL_BYTES; i++) {
            unsigned changes = 1 + below(program, 3);
            for (unsigned k = 0; k < changes; k++)
                counts[below(program, G_N_ELEMENTS(counts))](program);
            if (below(program, 10) == 0)
                nodes[below(program, G_N_ELEMENTS(nodes))](program);
            write_to(program, path);
            bool same = same_shape(shape, path);
            bool taken =
                fm_raw_recording_load_again(path, kept) && fm_raw_shape_has_lists(shape, kept);
            g_assert_cmpint(taken, ==, same);
            if (!same) {
                fm_raw_recording_free(kept);
                fm_raw_shape_free(shape);
                kept = load(path, true);
                shape = fm_raw_shape_new(kept);
            }
            compare(path, kept);
            again += same;
            others += !same;
        }
        g_assert_cmpuint(again, >, 100);
        g_assert_cmpuint(others, >, 5);
        fm_raw_shape_free(shape);
        fm_raw_recording_free(kept);
        program_free(program);
    }
    g_unlink(path);
}

/* Whatever the bytes are: what is taken is what is read from the beginning, or that fails, too. */
static void damage_is_no_recount(void)
{
    g_autofree char *path = path_new();
    struct program *program = program_new(11);
    for (unsigned i = 0; i < 60; i++) {
        counts[i % G_N_ELEMENTS(counts)](program);
        if (i < 20)
            call(program);
    }
    uint8_t *sound = g_memdup2(program->file, FILE_BYTES);
    unsigned taken = 0, refused = 0;
    for (unsigned i = 0; i < 1500; i++) {
        write_to(program, path);
        struct fm_raw_recording *kept = load(path, true), *fresh = NULL;
        uint32_t byte = FM_REC_HEADER_BYTES + below(program, program->used - FM_REC_HEADER_BYTES);
        program->file[byte] ^= (uint8_t)(1u << below(program, 8));
        write_to(program, path);
        struct fm_raw_shape *shape = fm_raw_shape_new(kept);
        bool again = fm_raw_recording_load_again(path, kept) && fm_raw_shape_has_lists(shape, kept);
        bool sane = fm_raw_recording_load(path, &fresh, NULL);
        if (again) {
            g_assert_true(sane && fm_raw_shape_is_of(shape, fresh));
            compare(path, kept);
        }
        taken += again;
        refused += !again;
        fm_raw_recording_free(fresh);
        fm_raw_shape_free(shape);
        fm_raw_recording_free(kept);
        memcpy(program->file, sound, FILE_BYTES);
    }
    g_assert_cmpuint(taken, >, 100);
    g_assert_cmpuint(refused, >, 100);
    g_free(sound);
    program_free(program);
    g_unlink(path);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/again/random_changes", random_changes);
    g_test_add_func("/again/damage", damage_is_no_recount);
    return g_test_run();
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Writes a made-up deep profile of any size.
 *
 * A made-up program is run as the real runtime would: calls are made depth first; a call of a
 * procedure that is active in the context leads back to its proc dynamic; around higher-order and
 * method calls the caller is forgotten, so that undetected recursion occurs. Hence the profile is
 * sound: every invariant of `fathom check` holds.
 *
 * The run is made twice from the same seed: first to count, since the header stands first, then to
 * write. Memory grows with the depth and the number of procedures only. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "profile/file/encode.h"
#include "generate_names.h"

#define SITES_MAX 8
#define POINTS_MAX 4

struct site {
    uint32_t callee; /* normal sites; others call around it */
    uint8_t kind;
};

struct proc {
    uint32_t css_first;
    uint8_t site_count, point_count;
    struct site sites[SITES_MAX];
};

/* One call to come: planned when its pd is made, since the pd's node lists its csds. */
struct call {
    uint32_t csd, callee_ps, calls;
    bool zeroing;
    uint64_t budget; /* dynamic nodes that it may make */
    uint64_t path;   /* of calls from the root, as a number */
};

struct frame {
    uint32_t ps, pd;
    uint32_t outermost; /* of ps, before */
    uint64_t path;
    size_t first, next, count; /* calls in the stack of planned calls */
};

struct run {
    uint64_t seed, random;
    uint64_t number; /* 0: the run; else one of many runs of the program, alike but not the same */
    enum fm_flavour flavour;
    uint32_t fan; /* 0, or: procedures that the one call site of the first one calls once each */
    uint32_t ps_count, css_count;
    struct proc *procs;
    uint32_t *outermost; /* [ps_count + 1] active pd */
    GArray *frames, *calls;
    uint32_t pds, csds;
    struct fm_writer *writer; /* NULL while counting */
    struct fm_encoding encoding;
    unsigned measure_count;
    uint64_t quanta, callseqs;
};

static uint64_t next_random(struct run *run)
{
    uint64_t x = run->random += 0x9e3779b97f4a7c15u;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return x ^ x >> 31;
}

static uint32_t random_below(struct run *run, uint32_t below)
{
    return (uint32_t)((next_random(run) >> 32) * below >> 32);
}

/* --- the program --- */

/* Most calls lead a little deeper; some back, which makes groups of recursive procedures. */
static uint32_t choose_callee(struct run *run, uint32_t ps)
{
    uint32_t reach = MAX(3, run->ps_count / 30);
    uint32_t choice = random_below(run, 20);
    uint64_t callee = ps;
    if (choice < 2)
        callee = ps > 3 + reach ? ps - random_below(run, reach / 2 + 1) : ps;
    else if (choice > 2)
        callee =
            (uint64_t)ps + 1 + random_below(run, reach) * (uint64_t)random_below(run, 100) / 100;
    return (uint32_t)CLAMP(callee, 2, run->ps_count);
}

static uint8_t choose_kind(struct run *run)
{
    uint32_t choice = random_below(run, 100);
    return choice < 84   ? FM_SITE_NORMAL
           : choice < 86 ? FM_SITE_SPECIAL
           : choice < 96 ? FM_SITE_HIGHER_ORDER
           : choice < 99 ? FM_SITE_METHOD
                         : FM_SITE_CALLBACK;
}

static void make_program(struct run *run)
{
    run->procs = g_new0(struct proc, run->ps_count + 1u);
    uint32_t css = 1;
    for (uint32_t ps = 1; ps <= run->ps_count; ps++) {
        struct proc *proc = &run->procs[ps];
        bool leaf = ps > run->ps_count - run->ps_count / 6;
        uint32_t sites =
            leaf ? random_below(run, 2) : 1 + random_below(run, 3) + random_below(run, 4);
        if (run->fan > 0)
            sites = ps == 2;
        proc->site_count = (uint8_t)(ps == 1 ? 1 : MIN(sites, SITES_MAX));
        proc->point_count = (uint8_t)(ps == 1 ? 0 : random_below(run, POINTS_MAX + 1));
        proc->css_first = css;
        css += proc->site_count;
        for (uint32_t i = 0; i < proc->site_count; i++) {
            proc->sites[i].kind = ps == 1         ? FM_SITE_CALLBACK
                                  : run->fan == 0 ? choose_kind(run)
                                                  : FM_SITE_HIGHER_ORDER;
            proc->sites[i].callee = ps == 1 ? 2 : choose_callee(run, ps);
        }
    }
    run->css_count = css - 1;
}

/* --- one run of it --- */

/* How many calls a slot gets that holds a list. */
static uint32_t list_length(struct run *run, uint64_t budget)
{
    uint32_t few = random_below(run, 3);
    return budget > 1000 && random_below(run, 4) == 0 ? few + 1 + random_below(run, 12) : few;
}

static void plan_call(struct run *run, uint32_t ps, uint32_t site, uint32_t number, uint64_t path)
{
    const struct site *from = &run->procs[ps].sites[site];
    uint32_t callee = from->callee;
    if (run->fan > 0 && ps != 1)
        callee = 3 + number;
    else if (from->kind != FM_SITE_NORMAL && ps != 1)
        callee = choose_callee(run, callee);
    struct call call = {
        .csd = ++run->csds,
        .callee_ps = callee,
        .calls = 1 + random_below(run, 1 + random_below(run, 1 + random_below(run, 400))),
        .zeroing = from->kind == FM_SITE_HIGHER_ORDER || from->kind == FM_SITE_METHOD,
        .path = (path ^ ((uint64_t)site << 32 | callee)) * 0x9e3779b97f4a7c15u + 1,
    };
    g_array_append_val(run->calls, call);
}

/* Skewed: a call often gets most of what is left. Only calls that can make new nodes get any. */
static void share_budget(struct run *run, size_t first, uint64_t budget)
{
    size_t able = 0;
    for (size_t i = first; i < run->calls->len; i++) {
        const struct call *call = &g_array_index(run->calls, struct call, i);
        able += run->outermost[call->callee_ps] == 0 && run->procs[call->callee_ps].site_count > 0;
    }
    for (size_t i = first; i < run->calls->len && able > 0; i++) {
        struct call *call = &g_array_index(run->calls, struct call, i);
        if (run->outermost[call->callee_ps] != 0 || run->procs[call->callee_ps].site_count == 0)
            continue;
        uint32_t share = random_below(run, 100);
        call->budget = --able == 0 ? budget : budget * MIN(share * share / 80, 95) / 100;
        budget -= call->budget;
    }
}

static void write_pd(struct run *run, uint32_t pd, uint32_t ps, const uint32_t *lengths,
                     uint32_t csd, uint32_t calls)
{
    const struct proc *proc = &run->procs[ps];
    fm_encode_pd_begin(run->writer, pd, ps, proc->site_count);
    if (run->encoding.coverage == FM_COVERAGE_DYNAMIC) {
        fm_writer_num(run->writer, proc->point_count);
        for (uint32_t i = 0; i < proc->point_count; i++)
            fm_writer_num(run->writer, calls / (i + 1));
    }
    for (uint32_t i = 0; i < proc->site_count; i++) {
        g_autofree uint32_t *ids = g_new(uint32_t, lengths[i]);
        for (uint32_t j = 0; j < lengths[i]; j++)
            ids[j] = csd++;
        fm_encode_slot(run->writer, (enum fm_site_kind)proc->sites[i].kind, ids, lengths[i]);
    }
}

/* Of many runs each decides in a context as the others do, but for one context in fifty. */
static void begin_context(struct run *run, uint64_t path)
{
    if (run->number == 0)
        return;
    run->random = path;
    if (next_random(run) % 50 == (run->number ^ path >> 32) % 50)
        run->random = path ^ run->number << 40;
}

static void enter(struct run *run, uint32_t ps, uint64_t budget, uint32_t calls, uint64_t path)
{
    const struct proc *proc = &run->procs[ps];
    uint32_t pd = ++run->pds, lengths[SITES_MAX] = {0}, csd = run->csds + 1;
    struct frame frame = {.ps = ps,
                          .pd = pd,
                          .outermost = run->outermost[ps],
                          .path = path,
                          .first = run->calls->len};
    run->outermost[ps] = pd;
    begin_context(run, path);
    for (uint32_t i = 0; i < proc->site_count && budget > 0; i++) {
        bool normal = proc->sites[i].kind == FM_SITE_NORMAL;
        if (run->fan > 0)
            lengths[i] = ps == 1 ? 1 : run->fan;
        else
            lengths[i] = ps == 1 ? 5 : normal ? random_below(run, 8) > 0 : list_length(run, budget);
        for (uint32_t j = 0; j < lengths[i]; j++)
            plan_call(run, ps, i, j, path + j);
    }
    frame.next = frame.first;
    frame.count = run->calls->len - frame.first;
    share_budget(run, frame.first, budget > 2 * frame.count ? budget - 2 * frame.count : 0);
    g_array_append_val(run->frames, frame);
    if (run->writer)
        write_pd(run, pd, ps, lengths, csd, calls);
}

/* Ports balance: calls = exits + fails + exceptions - redos. */
static void make_csd(struct run *run, const struct call *call, uint32_t callee)
{
    uint64_t values[FM_MEASURES_MAX] = {0};
    uint64_t random = next_random(run);
    uint32_t calls = call->calls;
    values[FM_FAILS] = random % 5 == 0 ? calls / 3 : 0;
    values[FM_EXCPS] = random % 997 == 0;
    values[FM_REDOS] = random % 31 == 0 ? calls / 4 : 0;
    values[FM_EXITS] = calls + values[FM_REDOS] - values[FM_FAILS];
    if (values[FM_EXCPS])
        values[FM_EXITS]--;
    values[FM_CALLSEQS] = calls;
    values[FM_QUANTA] = (random >> 20) % 50 == 0 ? (random >> 32) % 9 : 0;
    values[FM_ALLOCS] = (random >> 24) % 5 < 2 ? calls * ((random >> 40) % 4) : 0;
    values[FM_WORDS] = values[FM_ALLOCS] * (2 + (random >> 44) % 4);
    for (unsigned m = FM_MEASURES_MERCURY; m < run->measure_count; m++)
        values[m] = values[m == FM_MEASURES_MERCURY ? FM_ALLOCS : FM_WORDS] / 2;
    run->quanta += values[FM_QUANTA];
    run->callseqs += values[FM_CALLSEQS];
    if (run->writer)
        fm_encode_csd(run->writer, call->csd, callee, values, run->measure_count);
}

static void leave(struct run *run)
{
    const struct frame *frame = &g_array_index(run->frames, struct frame, run->frames->len - 1);
    run->outermost[frame->ps] = frame->outermost;
    g_array_set_size(run->calls, (guint)frame->first);
    g_array_set_size(run->frames, run->frames->len - 1);
}

/* The next call of the pd on top. */
static void make_call(struct run *run)
{
    struct frame *frame = &g_array_index(run->frames, struct frame, run->frames->len - 1);
    struct call call = g_array_index(run->calls, struct call, frame->next);
    frame->next++;
    if (run->number != 0)
        run->random = call.path ^ run->number;
    if (call.zeroing)
        run->outermost[frame->ps] = 0;
    uint32_t callee = run->outermost[call.callee_ps];
    make_csd(run, &call, callee ? callee : run->pds + 1);
    if (callee == 0)
        enter(run, call.callee_ps, call.budget, call.calls, call.path);
}

static void run_program(struct run *run, uint64_t nodes)
{
    run->random = run->seed + 1;
    run->pds = run->csds = 0;
    run->quanta = run->callseqs = 0;
    enter(run, 1, nodes, 1, run->seed);
    while (run->frames->len > 0) {
        const struct frame *frame = &g_array_index(run->frames, struct frame, run->frames->len - 1);
        run->outermost[frame->ps] = frame->pd; /* a call may have forgotten it */
        if (frame->next == frame->first + frame->count)
            leave(run);
        else
            make_call(run);
    }
}

/* --- the file --- */

static void write_ps(struct run *run, uint32_t id)
{
    static const char *const paths[POINTS_MAX] = {"?;", "t;", "e;c1;", "e;c2;s1-2;"};
    static const char *const c_paths[POINTS_MAX] = {"3", "5", "9", "12"};
    const struct proc *proc = &run->procs[id];
    bool c = run->flavour == FM_FLAVOUR_C;
    struct fm_ps ps = {.decl_module = "Mercury runtime",
                       .def_module = "Mercury runtime",
                       .name = "Mercury runtime",
                       .type_name = "",
                       .file = "Mercury runtime",
                       .raw_name = "",
                       .in_interface = true};
    if (id > 1)
        name_procedure(run->seed, id, run->ps_count, run->flavour, &ps);
    ps.css_count = proc->site_count;
    ps.point_count = proc->point_count;
    uint32_t css[SITES_MAX];
    struct fm_coverage_point points[POINTS_MAX] = {{0}};
    for (uint32_t i = 0; i < proc->site_count; i++)
        css[i] = proc->css_first + i;
    for (uint32_t i = 0; i < proc->point_count; i++)
        points[i] =
            (struct fm_coverage_point){.goal_path = c ? c_paths[i] : paths[i],
                                       .type = i == 0 ? FM_POINT_AFTER : FM_POINT_BRANCH_ARM};
    fm_encode_ps(run->writer, &run->encoding, id, &ps, css, points);
    for (uint32_t i = 0; i < proc->site_count; i++) {
        char path[16];
        g_snprintf(path, sizeof(path), c ? "%u" : "c%u;", i + 1);
        struct fm_css site = {.kind = (enum fm_site_kind)proc->sites[i].kind,
                              .callee_ps = proc->sites[i].callee,
                              .type_subst = "",
                              .file = "",
                              .line = ps.line + 2 * i + 1,
                              .goal_path = id == 1 ? "" : path};
        fm_encode_css(run->writer, &run->encoding, proc->css_first + i, &site);
    }
    if (id > 1)
        name_clear(&ps);
}

static bool write_profile(struct run *run, uint64_t budget, const char *path, GError **error)
{
    struct fm_profile header = {.flavour = run->flavour,
                                .program_name = "./made-up",
                                .word_size = run->flavour == FM_FLAVOUR_C ? 1 : 8,
                                .canonical = true,
                                .ticks_per_second = 100,
                                .instrumentation_quanta = 7,
                                .user_quanta = run->quanta,
                                .callseqs = run->callseqs,
                                .root_pd = 1,
                                .measure_count = run->measure_count,
                                .measures = {{"exits", "exits", 1},
                                             {"fails", "fails", 1},
                                             {"redos", "redos", 1},
                                             {"excps", "non-local exits", 1},
                                             {"quanta", "quanta", 1},
                                             {"callseqs", "calls", 1},
                                             {"allocs", "allocations", 1},
                                             {"bytes", "bytes", 1},
                                             {"frees", "frees", 1},
                                             {"freed_bytes", "bytes", 1}},
                                .ps_count = run->ps_count,
                                .css_count = run->css_count,
                                .pd_count = run->pds,
                                .csd_count = run->csds};
    if (!fm_writer_new(path, &run->writer, error))
        return false;
    fm_encode_header(run->writer, &run->encoding, &header);
    run_program(run, budget);
    for (uint32_t ps = 1; ps <= run->ps_count; ps++)
        write_ps(run, ps);
    return fm_writer_finish(run->writer, error);
}

/* A budget that makes about the wanted number of nodes: some of it is lost where calls cannot use
 * it. A little more budget may give another run altogether, so the best of a few is taken. */
static uint64_t find_budget(struct run *run, uint64_t nodes)
{
    uint64_t budget = nodes, best = nodes, best_miss = UINT64_MAX;
    for (int i = 0; i < 12 && best_miss > nodes / 20; i++) {
        run_program(run, budget);
        uint64_t made = (uint64_t)run->pds + run->csds;
        uint64_t miss = made > nodes ? made - nodes : nodes - made;
        if (miss < best_miss) {
            best = budget;
            best_miss = miss;
        }
        double factor = CLAMP((double)nodes / (double)made, 0.2, 5.0);
        budget = (uint64_t)((double)budget * factor) + 1;
    }
    run_program(run, best);
    return best;
}

int main(int argc, char **argv)
{
    gint64 nodes = 2000, procs = 0, seed = 1, number = 0, fan = 0;
    gboolean c = FALSE, no_coverage = FALSE, old = FALSE;
    const GOptionEntry entries[] = {
        {"nodes", 'n', 0, G_OPTION_ARG_INT64, &nodes, "about so many dynamic nodes", "N"},
        {"procs", 'p', 0, G_OPTION_ARG_INT64, &procs, "so many procedures", "N"},
        {"seed", 's', 0, G_OPTION_ARG_INT64, &seed, "another seed, another program", "N"},
        {"fan", 0, 0, G_OPTION_ARG_INT64, &fan, "one call site alone, that calls so many", "N"},
        {"run", 0, 0, G_OPTION_ARG_INT64, &number, "one of many runs of the program", "N"},
        {"c", 0, 0, G_OPTION_ARG_NONE, &c, "of a C program", NULL},
        {"no-coverage", 0, 0, G_OPTION_ARG_NONE, &no_coverage, "without coverage counts", NULL},
        {"version-8", 0, 0, G_OPTION_ARG_NONE, &old, "the older form", NULL},
        G_OPTION_ENTRY_NULL};
    g_autoptr(GOptionContext) context = g_option_context_new("FILE.data");
    g_autoptr(GError) error = NULL;
    g_option_context_add_main_entries(context, entries, NULL);
    if (!g_option_context_parse(context, &argc, &argv, &error) || argc != 2 || nodes < 1) {
        fprintf(stderr, "generate-profile: %s\n", error ? error->message : "expected FILE.data");
        return 2;
    }
    if (fan > 0)
        procs = (fan = MIN(fan, 2000000)) + 2;
    else if (procs <= 0)
        procs = CLAMP(nodes / 10, 40, 20000);
    struct run run = {
        .seed = (uint64_t)seed,
        .random = (uint64_t)seed,
        .number = (uint64_t)number,
        .flavour = c ? FM_FLAVOUR_C : FM_FLAVOUR_MERCURY,
        .fan = (uint32_t)fan,
        .ps_count = (uint32_t)MIN(procs, 2000002),
        .encoding = {.flavour = c ? FM_FLAVOUR_C : FM_FLAVOUR_MERCURY,
                     .version = old ? 8 : 9,
                     .coverage = no_coverage ? FM_COVERAGE_NONE : FM_COVERAGE_DYNAMIC},
        .measure_count = c ? FM_MEASURES_MERCURY + 2 : FM_MEASURES_MERCURY,
        .frames = g_array_new(FALSE, FALSE, sizeof(struct frame)),
        .calls = g_array_new(FALSE, FALSE, sizeof(struct call)),
    };
    run.outermost = g_new0(uint32_t, run.ps_count + 1u);
    make_program(&run);
    uint64_t budget = fan > 0 ? 100 : find_budget(&run, (uint64_t)nodes);
    if (fan > 0)
        run_program(&run, budget);
    bool done = write_profile(&run, budget, argv[1], &error);
    if (done)
        printf("%s: %u proc dynamics, %u call site dynamics, %u procedures, %u call sites\n",
               argv[1], run.pds, run.csds, run.ps_count, run.css_count);
    else
        fprintf(stderr, "generate-profile: %s\n", error->message);
    g_array_unref(run.frames);
    g_array_unref(run.calls);
    g_free(run.outermost);
    g_free(run.procs);
    return done ? 0 : 1;
}

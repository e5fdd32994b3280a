/* SPDX-License-Identifier: Apache-2.0 */
#include "exchange/import/stacks.h"

#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "exchange/import/internal.h"
#include "exchange/import/memo.h"
#include "exchange/import/stacks/internal.h"
#include "exchange/import/stacks/totals.h"

#define SIDE_BITS_FIRST 10
#define SLOTS_ALWAYS ((uint64_t)1 << 22) /* 4 bytes each, 2 in the file */
#define SLOTS_PER_EDGE 32u

static void index_init(struct index *index)
{
    index->mask = (1u << SIDE_BITS_FIRST) - 1;
    index->slots = g_new0(uint32_t, index->mask + 1u);
}

/* from: a function, or a context. */
static uint64_t hash_call(uint32_t from, uint32_t callee, uint32_t line)
{
    return fm_import_mix(((uint64_t)from << 32 | callee) + line * 0x9e3779b97f4a7c15u);
}

static uint64_t hash_site(uint32_t caller, uint32_t callee, uint32_t line, uint32_t file)
{
    return hash_call(caller, callee, line) ^ file * 0xbf58476d1ce4e5b9u;
}

/* The hash of the thing that has a number, for a table that grows. */
static uint64_t hash_of(const struct fm_stacks *stacks, const struct index *index, uint32_t number)
{
    if (index == &stacks->by_name)
        return g_array_index(stacks->functions, struct function, number).hash;
    const struct site *site = &g_array_index(stacks->sites, struct site, number);
    return hash_site(site->caller, site->callee, site->line, site->file);
}

void fm_stacks_index_add(struct fm_stacks *stacks, struct index *index, uint64_t hash,
                         uint32_t number)
{
    if (++index->used > index->mask / 2) {
        struct index grown = {.mask = index->mask * 2 + 1, .used = index->used};
        grown.slots = g_new0(uint32_t, grown.mask + 1u);
        for (uint32_t i = 0; i <= index->mask; i++) {
            if (index->slots[i] == 0)
                continue;
            uint64_t at = hash_of(stacks, index, index->slots[i] - 1);
            while (grown.slots[at & grown.mask] != 0)
                at++;
            grown.slots[at & grown.mask] = index->slots[i];
        }
        g_free(index->slots);
        *index = grown;
    }
    while (index->slots[hash & index->mask] != 0)
        hash++;
    index->slots[hash & index->mask] = number + 1;
}

struct fm_stacks *fm_stacks_new(const char *program, const char *origin)
{
    g_return_val_if_fail(program != NULL && origin != NULL, NULL);
    struct fm_stacks *stacks = g_new0(struct fm_stacks, 1);
    stacks->build = fm_build_new(FM_FLAVOUR_C, program);
    stacks->program = g_strdup(program);
    stacks->texts = g_byte_array_new();
    stacks->functions = g_array_new(FALSE, FALSE, sizeof(struct function));
    stacks->sites = g_array_new(FALSE, FALSE, sizeof(struct site));
    stacks->edge_mask = (1u << SIDE_BITS_FIRST) - 1;
    stacks->edges = g_new0(struct edge, stacks->edge_mask + 1u);
    stacks->frames = g_array_new(FALSE, FALSE, sizeof(struct frame));
    stacks->measures = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    stacks->further = g_string_new(NULL);
    stacks->totals = fm_import_totals_new();
    for (unsigned m = 0; m < FM_MEASURES_MERCURY; m++)
        g_hash_table_add(stacks->measures, g_strdup(fm_known_measure(m)->file.name));
    g_hash_table_add(stacks->measures, g_strdup("bytes"));
    index_init(&stacks->by_name);
    index_init(&stacks->by_site);
    fm_build_header(stacks->build)->ticks_per_second = 0;
    fm_build_rename_measure(stacks->build, FM_WORDS, "bytes", "bytes", 1);
    fm_build_origin(stacks->build, origin);
    uint32_t root = fm_build_ps(stacks->build, &(struct fm_ps){.decl_module = "",
                                                               .def_module = "",
                                                               .name = "the program",
                                                               .type_name = "",
                                                               .arity = FM_ARITY_UNKNOWN,
                                                               .file = "",
                                                               .raw_name = ""});
    fm_build_css(
        stacks->build, root,
        &(struct fm_css){
            .kind = FM_SITE_CALLBACK, .type_subst = "", .file = "", .goal_path = "threads"});
    stacks->root_pd = fm_build_pd(stacks->build, root);
    return stacks;
}

static void clear(struct fm_stacks *stacks)
{
    fm_import_totals_free(stacks->totals);
    fm_stacks_kept_done(&stacks->kept);
    g_free(stacks->program);
    g_byte_array_unref(stacks->texts);
    g_hash_table_unref(stacks->measures);
    g_string_free(stacks->further, TRUE);
    g_array_unref(stacks->functions);
    g_array_unref(stacks->sites);
    g_free(stacks->first);
    g_free(stacks->edges);
    g_array_unref(stacks->frames);
    g_free(stacks->by_name.slots);
    g_free(stacks->by_site.slots);
    g_free(stacks);
}

void fm_stacks_free(struct fm_stacks *stacks)
{
    if (stacks == NULL)
        return;
    fm_build_free(stacks->build);
    clear(stacks);
}

struct fm_build *fm_stacks_build(struct fm_stacks *stacks)
{
    return stacks->build;
}

/* --- measures --- */

static char *own_name(struct fm_stacks *stacks, const char *name)
{
    g_autofree char *first = fm_import_measure_name(name, strlen(name));
    char *own = g_strdup(first);
    for (unsigned i = 2; g_hash_table_contains(stacks->measures, own); i++) {
        g_free(own);
        own = g_strdup_printf("%.28s_%u", first, i);
    }
    g_hash_table_add(stacks->measures, g_strdup(own));
    return own;
}

unsigned fm_stacks_add_measure(struct fm_stacks *stacks, const char *name, const char *unit)
{
    return fm_stacks_add_scaled(stacks, name, unit, 1);
}

unsigned fm_stacks_add_scaled(struct fm_stacks *stacks, const char *name, const char *unit,
                              double scale)
{
    g_autofree char *own = own_name(stacks, name);
    unsigned measure = fm_build_measure(stacks->build, own, unit != NULL ? unit : own, scale);
    static const char *const with_trees[] = {"live_bytes", "peak_bytes", "wait_ns", NULL};
    bool has_trees = g_strv_contains(with_trees, own);
    if (measure != 0 && !has_trees)
        g_string_append_printf(stacks->further, "%s%s", stacks->further->len > 0 ? ", " : "", own);
    return measure;
}

void fm_stacks_name_quanta(struct fm_stacks *stacks, const char *name, const char *unit)
{
    g_autofree char *own = own_name(stacks, name);
    fm_build_rename_measure(stacks->build, FM_QUANTA, own, unit != NULL ? unit : own, 1);
}

/* --- frames --- */

uint32_t fm_stacks_depth(const struct fm_stacks *stacks)
{
    return stacks->depth + stacks->skipped;
}

void fm_stacks_cut(struct fm_stacks *stacks, uint32_t depth)
{
    if (depth >= stacks->depth) {
        stacks->skipped = MIN(stacks->skipped, depth - stacks->depth);
        return;
    }
    stacks->skipped = 0;
    stacks->depth = depth;
}

/* Takes back what stood on the stack before. */
static void forget_frames(struct fm_stacks *stacks)
{
    for (uint32_t i = stacks->frames->len; i > stacks->depth; i--) {
        const struct frame *frame = &g_array_index(stacks->frames, struct frame, i - 1);
        g_array_index(stacks->functions, struct function, frame->function).pd = frame->pd_before;
        if (!frame->plain) /* so it is not the first */
            fm_import_totals_leave(stacks->totals, i - 1, frame->pd_before == 0 ? frame->pd : 0,
                                   (frame - 1)->plain ? (frame - 1)->pd : 0);
    }
    g_array_set_size(stacks->frames, stacks->depth);
}

uint32_t fm_stacks_site(struct fm_stacks *stacks, const struct fm_stacks_call *call)
{
    g_assert(call->caller < stacks->functions->len && call->callee < stacks->functions->len);
    uint64_t hash = hash_site(call->caller, call->callee, call->line, call->file), at = hash;
    for (uint32_t number; (number = stacks->by_site.slots[at & stacks->by_site.mask]) != 0; at++) {
        const struct site *site = &g_array_index(stacks->sites, struct site, number - 1);
        if (site->caller == call->caller && site->callee == call->callee &&
            site->line == call->line && site->file == call->file)
            return number - 1;
    }
    struct function *of = &g_array_index(stacks->functions, struct function, call->caller);
    uint32_t callee_ps = g_array_index(stacks->functions, struct function, call->callee).ps;
    struct site site = {call->caller, call->callee, call->line, call->file, of->sites++, 0};
    g_autofree char *file = call->file == 0 ? g_strdup("") : g_strndup(call->text, call->size);
    site.css = fm_build_css(stacks->build, of->ps,
                            &(struct fm_css){.kind = FM_SITE_NORMAL,
                                             .callee_ps = callee_ps,
                                             .type_subst = "",
                                             .file = file,
                                             .line = call->line,
                                             .goal_path = ""});
    g_array_append_val(stacks->sites, site);
    fm_stacks_index_add(stacks, &stacks->by_site, hash, stacks->sites->len - 1);
    return stacks->sites->len - 1;
}

void fm_stacks_site_uncounted(struct fm_stacks *stacks, uint32_t site)
{
    g_assert(site < stacks->sites->len);
    fm_build_set_site_uncounted(stacks->build, g_array_index(stacks->sites, struct site, site).css);
}

uint32_t fm_stacks_slot(const struct fm_stacks *stacks, uint32_t site)
{
    g_assert(site < stacks->sites->len);
    return g_array_index(stacks->sites, struct site, site).slot;
}

uint32_t fm_stacks_ps(const struct fm_stacks *stacks, uint32_t function)
{
    g_assert(function < stacks->functions->len);
    return g_array_index(stacks->functions, struct function, function).ps;
}

uint32_t fm_stacks_root_pd(const struct fm_stacks *stacks)
{
    return stacks->root_pd;
}

/* Room for the first call of a pd. */
static bool grow_first(struct fm_stacks *stacks, uint32_t pd)
{
    uint32_t before = stacks->first_capacity, capacity = MAX(before, 1u << SIDE_BITS_FIRST);
    while (capacity <= pd && capacity < G_MAXUINT32 / 2)
        capacity *= 2;
    struct edge *grown =
        capacity <= pd ? NULL : fm_memory_try_resize(stacks->first, capacity, sizeof *grown);
    if (grown == NULL)
        return false;
    memset(grown + before, 0, (capacity - before) * sizeof *grown);
    stacks->first = grown;
    stacks->first_capacity = capacity;
    return true;
}

static bool grow_edges(struct fm_stacks *stacks)
{
    uint32_t mask = stacks->edge_mask * 2 + 1;
    struct edge *grown = /* in huge pages */
        mask == UINT32_MAX ? NULL : fm_memory_try_array(mask + 1u, sizeof(struct edge));
    if (grown == NULL)
        return false;
    for (uint32_t i = 0; i <= stacks->edge_mask; i++) {
        const struct edge *edge = &stacks->edges[i];
        uint64_t at = hash_call(edge->pd, edge->callee, edge->line);
        while (edge->csd != 0 && grown[at & mask].csd != 0)
            at++;
        if (edge->csd != 0)
            grown[at & mask] = *edge;
    }
    g_free(stacks->edges);
    stacks->edges = grown;
    stacks->edge_mask = mask;
    return true;
}

/* Slot of the call in its caller's pd. Calls at one line may be one call through a pointer or
 * several, so each callee has its own site. Calls without line share one site: with a site for each
 * callee, every context of the function would need a slot for each callee of any of them. */
static uint32_t slot_of(struct fm_stacks *stacks, const struct frame *above, uint32_t callee,
                        uint32_t line)
{
    if (above == NULL)
        return 0;
    if (line != 0)
        return fm_stacks_slot(
            stacks,
            fm_stacks_site(stacks, &(struct fm_stacks_call){
                                       .caller = above->function, .callee = callee, .line = line}));
    struct function *caller = &g_array_index(stacks->functions, struct function, above->function);
    if (caller->unknown == 0) {
        fm_build_css(stacks->build, caller->ps,
                     &(struct fm_css){
                         .kind = FM_SITE_UNKNOWN, .type_subst = "", .file = "", .goal_path = ""});
        caller->unknown = ++caller->sites;
    }
    return caller->unknown - 1;
}

/* A free place for a further call of a pd; NULL: no memory. */
static struct edge *further_place(struct fm_stacks *stacks, uint32_t pd, uint32_t callee,
                                  uint32_t line)
{
    if (stacks->edge_used >= stacks->edge_mask / 2 && !grow_edges(stacks))
        return NULL;
    uint64_t at = hash_call(pd, callee, line);
    while (stacks->edges[at & stacks->edge_mask].csd != 0)
        at++;
    stacks->edge_used++;
    return &stacks->edges[at & stacks->edge_mask];
}

static void make_edge(struct fm_stacks *stacks, const struct frame *above, uint32_t callee,
                      uint32_t line, struct edge *ret)
{
    const struct function *function = &g_array_index(stacks->functions, struct function, callee);
    *ret = (struct edge){.pd = above == NULL ? stacks->root_pd : above->pd,
                         .callee = callee,
                         .line = line,
                         .callee_pd = function->nameless ? 0 : function->pd};
    uint32_t slot = slot_of(stacks, above, callee, line);
    if (ret->callee_pd == 0) {
        ret->made = true;
        ret->callee_pd = fm_build_pd(stacks->build, function->ps);
    }
    ret->csd = fm_build_csd(stacks->build, ret->pd, slot, ret->callee_pd);
    stacks->edge_count++;
}

static bool is_call(const struct edge *edge, uint32_t pd, uint32_t callee, uint32_t line)
{
    return edge->pd == pd && edge->callee == callee && edge->line == line;
}

/* above: the frame that calls; NULL for the first. Returns NULL: no memory. */
static const struct edge *edge_of(struct fm_stacks *stacks, const struct frame *above,
                                  uint32_t callee, uint32_t line)
{
    uint32_t pd = above == NULL ? stacks->root_pd : above->pd;
    if (stacks->no_memory || (pd >= stacks->first_capacity && !grow_first(stacks, pd))) {
        stacks->no_memory = true;
        return NULL;
    }
    struct edge *place = &stacks->first[pd];
    if (is_call(place, pd, callee, line) && place->csd != 0)
        return place;
    if (place->csd != 0) {
        for (uint64_t at = hash_call(pd, callee, line);; at++) {
            const struct edge *edge = &stacks->edges[at & stacks->edge_mask];
            if (edge->csd == 0)
                break;
            if (is_call(edge, pd, callee, line))
                return edge;
        }
        place = further_place(stacks, pd, callee, line);
    }
    if (place == NULL)
        stacks->no_memory = true;
    else
        make_edge(stacks, above, callee, line, place);
    return place;
}

void fm_stacks_push(struct fm_stacks *stacks, uint32_t function, uint32_t line)
{
    g_assert(function < stacks->functions->len);
    uint32_t depth = stacks->depth;
    if (depth == FM_STACKS_DEPTH_MAX) {
        stacks->too_deep++;
        stacks->skipped++;
        return;
    }
    line = depth == 0 ? 0 : line;
    if (depth < stacks->frames->len) {
        const struct frame *there = &g_array_index(stacks->frames, struct frame, depth);
        if (there->function == function && there->line == line) {
            stacks->depth++;
            return;
        }
        forget_frames(stacks);
    }
    const struct frame *above =
        depth == 0 ? NULL : &g_array_index(stacks->frames, struct frame, depth - 1);
    const struct edge *edge = edge_of(stacks, above, function, line);
    if (edge == NULL) {
        stacks->skipped++;
        return;
    }
    struct function *entered = &g_array_index(stacks->functions, struct function, function);
    struct frame frame = {function,
                          line,
                          edge->callee_pd,
                          edge->csd,
                          entered->pd,
                          edge->made,
                          edge->made && (above == NULL || above->plain)};
    if (!frame.plain)
        fm_import_totals_begin(stacks->totals);
    if (entered->pd != 0 && entered->pd != frame.pd)
        fm_import_totals_below_itself(stacks->totals, frame.pd);
    entered->pd = frame.pd;
    g_array_append_val(stacks->frames, frame);
    stacks->depth++;
}

void fm_stacks_add(struct fm_stacks *stacks, unsigned measure, uint64_t value)
{
    g_assert(measure < FM_MEASURES_MAX);
    if (stacks->depth == 0)
        return;
    const struct frame *frame = &g_array_index(stacks->frames, struct frame, stacks->depth - 1);
    fm_build_add(stacks->build, frame->csd, measure, value);
    if (!frame->plain)
        fm_import_totals_add(stacks->totals, stacks->depth - 1, frame->made ? frame->pd : 0,
                             measure, value);
}

uint32_t fm_stacks_call(const struct fm_stacks *stacks)
{
    if (stacks->depth == 0)
        return 0;
    const struct frame *frame = &g_array_index(stacks->frames, struct frame, stacks->depth - 1);
    return frame->plain ? frame->csd : 0;
}

uint32_t fm_stacks_keep(struct fm_stacks *stacks)
{
    uint32_t call = fm_stacks_call(stacks);
    if (call != 0 || stacks->depth == 0 || stacks->skipped > 0)
        return stacks->skipped > 0 ? 0 : call;
    struct kept_frame *kept = fm_stacks_kept_stack(&stacks->kept, stacks->depth, &call);
    for (uint32_t i = 0; kept != NULL && i < stacks->depth; i++) {
        const struct frame *frame = &g_array_index(stacks->frames, struct frame, i);
        kept[i] = (struct kept_frame){frame->function, frame->line};
    }
    return call;
}

/* Adds the values of kept stacks to their contexts. */
static void tell_kept(struct fm_stacks *stacks)
{
    const struct kept_frame *frames;
    uint32_t depth;
    for (uint32_t number = KEPT_FIRST;
         (frames = fm_stacks_kept_frames(&stacks->kept, number, &depth)) != NULL; number++) {
        fm_stacks_cut(stacks, 0);
        for (uint32_t i = 0; i < depth; i++)
            fm_stacks_push(stacks, frames[i].function, frames[i].line);
        for (unsigned m = 0; m < FM_MEASURES_MAX; m++) {
            uint64_t sum = fm_stacks_kept_sum(&stacks->kept, number, m);
            if (sum > 0)
                fm_stacks_add(stacks, m, sum);
        }
    }
}

uint32_t fm_stacks_calls(const struct fm_stacks *stacks)
{
    return stacks->edge_count;
}

void fm_stacks_add_to(struct fm_stacks *stacks, uint32_t call, unsigned measure, uint64_t value)
{
    g_assert(measure < FM_MEASURES_MAX && call > 0);
    if (call >= KEPT_FIRST)
        fm_stacks_kept_add(&stacks->kept, call, measure, value);
    else
        fm_build_add(stacks->build, call, measure, value);
}

/* Only files whose lines of calls are known come near to this. */
static void fold_sites(struct fm_stacks *stacks)
{
    uint32_t folded = fm_build_fold_sites(
        stacks->build, MAX(SLOTS_ALWAYS, (uint64_t)stacks->edge_count * SLOTS_PER_EDGE));
    if (folded == 0)
        return;
    g_autofree char *note = g_strdup_printf(
        "the lines of the calls in %u function%s are left out: contexts times lines are too many",
        folded, folded == 1 ? "" : "s");
    fm_build_note(stacks->build, note);
}

bool fm_stacks_finish(struct fm_stacks *stacks, struct fm_profile **ret, GError **error)
{
    if (stacks->no_memory) {
        g_set_error(error, FM_ERROR, FM_ERROR_LIMIT,
                    "there is not enough memory for more than %u calls in context",
                    stacks->edge_count);
        fm_stacks_free(stacks);
        return false;
    }
    fold_sites(stacks);
    if (stacks->further->len > 0 && stacks->edge_count > 0) {
        g_autofree char *note = g_strdup_printf("trees and flame graphs do not show %s: tables of "
                                                "functions do",
                                                stacks->further->str);
        fm_build_note(stacks->build, note);
    }
    if (stacks->too_deep > 0) {
        g_autofree char *note = g_strdup_printf(
            "%" G_GUINT64_FORMAT " frames stand deeper than %u: their costs are their callers'",
            (guint64)stacks->too_deep, FM_STACKS_DEPTH_MAX);
        fm_build_note(stacks->build, note);
    }
    tell_kept(stacks);
    fm_stacks_cut(stacks, 0);
    forget_frames(stacks);
    struct fm_build *build = g_steal_pointer(&stacks->build);
    struct fm_import_totals *totals = g_steal_pointer(&stacks->totals);
    clear(stacks);
    bool built = fm_build_finish(build, ret, error);
    if (built)
        fm_import_totals_tell(totals, *ret);
    fm_import_totals_free(totals);
    return built;
}

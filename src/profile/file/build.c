/* SPDX-License-Identifier: Apache-2.0 */
#include "profile/file/build.h"

#include <string.h>

#include "base/error.h"
#include "profile/file/deep_internal.h"
#include "profile/file/facts/facts.h"
#include "profile/file/goal_path.h"

/* Some may be of one point: they are added up at the end. */
struct counted_point {
    uint32_t pd, point;
    uint64_t count;
};

struct owned_point {
    uint32_t ps;
    struct fm_coverage_point point;
};

const char *fm_build_keep(struct fm_build *build, const char *string)
{
    return string ? fm_strings_add(build->profile->storage->strings, string) : "";
}

struct fm_profile *fm_build_profile(struct fm_build *build)
{
    return build->profile;
}

struct fm_build *fm_build_new(enum fm_flavour flavour, const char *program_name)
{
    g_return_val_if_fail(flavour == FM_FLAVOUR_MERCURY || flavour == FM_FLAVOUR_C, NULL);
    struct fm_build *build = g_new0(struct fm_build, 1);
    build->profile = fm_profile_alloc();
    build->profile->flavour = flavour;
    build->profile->version = flavour == FM_FLAVOUR_C ? FM_C_VERSION : 9;
    build->profile->program_name = fm_build_keep(build, program_name);
    build->header = (struct fm_build_header){
        .word_size = flavour == FM_FLAVOUR_C ? 1 : 8,
        .canonical = true,
        .ticks_per_second = 100,
    };
    if (flavour == FM_FLAVOUR_C)
        build->profile->measures[FM_WORDS] = (struct fm_measure){"bytes", "bytes", 1.0};
    build->points = g_array_new(FALSE, FALSE, sizeof(struct owned_point));
    build->pd_points = g_array_new(FALSE, FALSE, sizeof(struct counted_point));
    build->depths = g_array_new(FALSE, FALSE, sizeof(struct fm_depths));
    /* Element 0 of every id space. */
    build->ps_capacity = build->css_capacity = 64;
    build->profile->ps = g_new0(struct fm_ps, build->ps_capacity);
    build->profile->css = g_new0(struct fm_css, build->css_capacity);
    fm_u32s_push(&build->pd_ps, 0);
    fm_u32s_push(&build->csd_caller, 0);
    fm_u32s_push(&build->csd_slot, 0);
    fm_u32s_push(&build->csd_callee, 0);
    return build;
}

void fm_build_free(struct fm_build *build)
{
    if (!build)
        return;
    g_free(build->pd_ps.items);
    g_free(build->csd_caller.items);
    g_free(build->csd_slot.items);
    g_free(build->csd_callee.items);
    g_array_unref(build->points);
    g_array_unref(build->pd_points);
    g_array_unref(build->depths);
    fm_profile_free(build->profile);
    fm_profile_free(build->base);
    g_free(build->fault);
    g_free(build);
}

struct fm_build_header *fm_build_header(struct fm_build *build)
{
    return &build->header;
}

static void set_measure(struct fm_build *build, unsigned measure, const char *name,
                        const char *unit, double scale)
{
    if (!fm_measure_name_is_valid(name) || !(scale > 0))
        fm_build_fault(build,
                       "measure \"%s\" of scale %g, expected a name of a-z, 0-9, _ and a positive "
                       "scale",
                       name, scale);
    for (unsigned m = 0; m < build->profile->measure_count; m++) {
        if (m != measure && strcmp(build->profile->measures[m].name, name) == 0)
            fm_build_fault(build, "two measures are called %s", name);
    }
    build->profile->measures[measure] = (struct fm_measure){
        .name = fm_build_keep(build, name), .unit = fm_build_keep(build, unit), .scale = scale};
}

unsigned fm_build_measure(struct fm_build *build, const char *name, const char *unit, double scale)
{
    g_return_val_if_fail(name != NULL && unit != NULL, 0);
    struct fm_profile *profile = build->profile;
    if (profile->flavour != FM_FLAVOUR_C || profile->measure_count == FM_MEASURES_MAX)
        return 0;
    set_measure(build, profile->measure_count, name, unit, scale);
    return profile->measure_count++;
}

unsigned fm_build_own_measure(struct fm_build *build, enum fm_further_measure further)
{
    const struct fm_measure *file = &fm_known_measure(further)->file;
    unsigned measure = fm_build_measure(build, file->name, file->unit, file->scale);
    if (measure == 0) /* 0 is another measure's index */
        fm_build_fault(build, "measure \"%s\", but a profile has room for %u measures", file->name,
                       build->profile->measure_count);
    return measure;
}

void fm_build_rename_measure(struct fm_build *build, enum fm_measure_id measure, const char *name,
                             const char *unit, double scale)
{
    if (build->profile->flavour == FM_FLAVOUR_C && measure < FM_MEASURES_MERCURY)
        set_measure(build, measure, name, unit, scale);
}

uint32_t fm_build_ps(struct fm_build *build, const struct fm_ps *ps)
{
    struct fm_profile *profile = build->profile;
    uint32_t id = ++profile->ps_count;
    if (id >= build->ps_capacity) {
        build->ps_capacity *= 2;
        profile->ps = g_renew(struct fm_ps, profile->ps, build->ps_capacity);
    }
    bool c = profile->flavour == FM_FLAVOUR_C;
    profile->ps[id] = (struct fm_ps){
        .label_kind = c ? FM_LABEL_FUNCTION : ps->label_kind,
        .decl_module = fm_build_keep(build, ps->decl_module),
        .def_module = fm_build_keep(build, c || !ps->def_module ? ps->decl_module : ps->def_module),
        .name = fm_build_keep(build, ps->name),
        .type_name = c ? "" : fm_build_keep(build, ps->type_name),
        .arity = ps->arity,
        .mode = c ? 0 : ps->mode,
        .file = fm_build_keep(build, ps->file),
        .line = ps->line,
        .in_interface = ps->in_interface,
        .variadic = c && ps->variadic,
        .inlined = c && ps->inlined,
        .raw_name = c ? fm_build_keep(build, ps->raw_name) : "",
    };
    return id;
}

uint32_t fm_build_css(struct fm_build *build, uint32_t ps, const struct fm_css *css)
{
    struct fm_profile *profile = build->profile;
    uint32_t id = ++profile->css_count;
    if (id >= build->css_capacity) {
        build->css_capacity *= 2;
        profile->css = g_renew(struct fm_css, profile->css, build->css_capacity);
    }
    bool kind_is_known = css->kind <= FM_SITE_CALLBACK ||
                         (css->kind == FM_SITE_UNKNOWN && profile->flavour == FM_FLAVOUR_C);
    if (ps == 0 || ps > profile->ps_count || !kind_is_known) {
        fm_build_fault(build,
                       "call site static %u of kind %u belongs to proc static %u, expected 1 to %u",
                       id, css->kind, ps, profile->ps_count);
        ps = 0;
    }
    bool normal = css->kind == FM_SITE_NORMAL;
    profile->css[id] = (struct fm_css){
        .kind = css->kind,
        .callee_ps = normal ? css->callee_ps : 0,
        .type_subst = normal ? fm_build_keep(build, css->type_subst) : "",
        .file = fm_build_keep(build, css->file),
        .line = css->line,
        .goal_path = fm_build_keep(build, css->goal_path),
        .ps = ps,
        .slot = profile->ps[ps].css_count++,
        .inlined = normal && css->inlined && profile->flavour == FM_FLAVOUR_C,
    };
    if (profile->flavour == FM_FLAVOUR_MERCURY &&
        !fm_goal_path_is_valid(profile->css[id].goal_path))
        fm_build_fault(build, "call site static %u has the bad goal path \"%s\"", id,
                       profile->css[id].goal_path);
    return id;
}

void fm_build_point(struct fm_build *build, uint32_t ps, const struct fm_coverage_point *point)
{
    if (ps == 0 || ps > build->profile->ps_count) {
        fm_build_fault(build, "coverage point of proc static %u, expected 1 to %u", ps,
                       build->profile->ps_count);
        return;
    }
    struct owned_point owned = {.ps = ps, .point = *point};
    owned.point.goal_path = fm_build_keep(build, point->goal_path);
    if (build->profile->flavour == FM_FLAVOUR_MERCURY &&
        !fm_goal_path_is_valid(owned.point.goal_path))
        fm_build_fault(build, "proc static %u has a coverage point with the bad goal path \"%s\"",
                       ps, owned.point.goal_path);
    g_array_append_val(build->points, owned);
    build->profile->ps[ps].point_count++;
}

uint32_t fm_build_pd(struct fm_build *build, uint32_t ps)
{
    if (ps == 0 || ps > build->profile->ps_count)
        fm_build_fault(build, "proc dynamic %zu is of proc static %u, expected 1 to %u",
                       build->pd_ps.count, ps, build->profile->ps_count);
    fm_u32s_push(&build->pd_ps, ps);
    return (uint32_t)(build->pd_ps.count - 1);
}

void fm_build_pd_point(struct fm_build *build, uint32_t pd, uint32_t point, uint64_t count)
{
    struct counted_point counted = {pd, point, count};
    if (build->pd_points->len > 0) {
        struct counted_point *last =
            &g_array_index(build->pd_points, struct counted_point, build->pd_points->len - 1);
        if (last->pd == pd && last->point == point) {
            last->count += count;
            return;
        }
    }
    g_array_append_val(build->pd_points, counted);
}

static void grow_column(struct fm_column *column, size_t old, size_t capacity)
{
    if (column->width == 0)
        return;
    uint8_t *grown = g_realloc(column->u32, capacity * column->width);
    memset(grown + old * column->width, 0, (capacity - old) * column->width);
    column->u32 = (uint32_t *)(void *)grown;
}

/* Room in the columns for all csds so far; doubles with them. */
static void grow_columns(struct fm_build *build)
{
    size_t old = build->csd_capacity;
    build->csd_capacity = MAX((size_t)64, old * 2);
    for (unsigned m = 0; m < FM_MEASURES_MAX; m++) {
        grow_column(&build->profile->csd_own[m], old, build->csd_capacity);
        grow_column(&build->profile->csd_inclusive[m], old, build->csd_capacity);
    }
}

uint32_t fm_build_csd(struct fm_build *build, uint32_t caller_pd, uint32_t slot, uint32_t callee_pd)
{
    size_t id = build->csd_callee.count;
    fm_u32s_push(&build->csd_caller, caller_pd);
    fm_u32s_push(&build->csd_slot, slot);
    fm_u32s_push(&build->csd_callee, callee_pd);
    if (id >= build->csd_capacity)
        grow_columns(build);
    return (uint32_t)id;
}

static void add_to_column(struct fm_build *build, struct fm_column *columns, uint32_t csd,
                          unsigned measure, uint64_t value)
{
    if (csd == 0 || csd >= build->csd_callee.count || measure >= build->profile->measure_count) {
        fm_build_fault(build, "measure %u of call site dynamic %u, expected below %u and 1 to %zu",
                       measure, csd, build->profile->measure_count, build->csd_callee.count - 1);
        return;
    }
    struct fm_column *column = &columns[measure];
    if (value != 0 &&
        !fm_column_set(column, build->csd_capacity, csd, fm_column_get(column, csd) + value))
        fm_build_fault(build, "not enough memory for the measurements");
}

void fm_build_add(struct fm_build *build, uint32_t csd, unsigned measure, uint64_t value)
{
    add_to_column(build, build->profile->csd_own, csd, measure, value);
}

void fm_build_add_inclusive(struct fm_build *build, uint32_t csd, unsigned measure, uint64_t value)
{
    g_return_if_fail(measure >= FM_FIRST_INHERITED &&
                     fm_profile_is(build->profile, FM_NATURE_ARCS));
    add_to_column(build, build->profile->csd_inclusive, csd, measure, value);
}

void fm_build_set_uncounted(struct fm_build *build, uint32_t ps)
{
    g_return_if_fail(ps >= 1 && ps <= build->profile->ps_count);
    build->profile->ps[ps].inlined = true;
}

void fm_build_set_site_uncounted(struct fm_build *build, uint32_t css)
{
    g_return_if_fail(css >= 1 && css <= build->profile->css_count);
    build->profile->css[css].inlined = true;
}

void fm_build_set_line(struct fm_build *build, uint32_t ps, uint32_t line)
{
    g_return_if_fail(ps >= 1 && ps <= build->profile->ps_count);
    build->profile->ps[ps].line = line;
}

/* --- finish --- */

/* Sites and points of each ps, contiguous, in the order of adding. */
static void lay_statics(struct fm_build *build)
{
    struct fm_profile *profile = build->profile;
    profile->css_of_ps = g_new0(uint32_t, profile->css_count + 1u);
    profile->points = g_new0(struct fm_coverage_point, build->points->len + 1u);
    uint32_t css_first = 0, point_first = 0;
    for (uint32_t ps = 1; ps <= profile->ps_count; ps++) {
        profile->ps[ps].css_first = css_first;
        profile->ps[ps].point_first = point_first;
        css_first += profile->ps[ps].css_count;
        point_first += profile->ps[ps].point_count;
        profile->ps[ps].point_count = 0;
        fm_names_derive(profile->storage->strings, profile->flavour, &profile->ps[ps]);
    }
    for (uint32_t css = 1; css <= profile->css_count; css++) {
        struct fm_css *site = &profile->css[css];
        profile->css_of_ps[profile->ps[site->ps].css_first + site->slot] = css;
        site->ps = 0; /* set again by fm_profile_resolve() */
    }
    for (guint i = 0; i < build->points->len; i++) {
        const struct owned_point *owned = &g_array_index(build->points, struct owned_point, i);
        struct fm_ps *ps = &profile->ps[owned->ps];
        struct fm_coverage_point *point = &profile->points[ps->point_first + ps->point_count++];
        *point = owned->point;
        if (build->header.coverage != FM_COVERAGE_STATIC)
            point->count = 0;
    }
}

static bool check_statics(struct fm_build *build)
{
    const struct fm_profile *profile = build->profile;
    for (uint32_t css = 1; css <= profile->css_count; css++) {
        uint32_t callee = profile->css[css].callee_ps;
        if (callee > profile->ps_count ||
            (callee == 0 && profile->css[css].kind == FM_SITE_NORMAL &&
             profile->flavour == FM_FLAVOUR_MERCURY))
            fm_build_fault(build, "call site static %u calls proc static %u, expected 1 to %u", css,
                           callee, profile->ps_count);
    }
    if (build->header.coverage == FM_COVERAGE_NONE && build->points->len > 0)
        fm_build_fault(build,
                       "there are coverage points, but the header says that there is no coverage");
    if (profile->ps_count > FM_IDS_MAX || profile->css_count > FM_IDS_MAX ||
        build->pd_ps.count > FM_IDS_MAX || build->csd_callee.count > FM_IDS_MAX)
        fm_build_fault(build, "more than %u nodes of a kind", FM_IDS_MAX);
    return !build->fault;
}

static void lay_coverage(struct fm_build *build)
{
    struct fm_profile *profile = build->profile;
    if (build->header.coverage != FM_COVERAGE_DYNAMIC)
        return;
    profile->pd_point_first = g_new0(uint64_t, profile->pd_count + 2u);
    uint64_t first = 0;
    for (uint32_t pd = 1; pd <= profile->pd_count; pd++) {
        profile->pd_point_first[pd] = first;
        first += profile->ps[profile->pd_ps[pd]].point_count;
    }
    profile->pd_point_first[profile->pd_count + 1] = first;
    for (guint i = 0; i < build->pd_points->len; i++) {
        const struct counted_point *of = &g_array_index(build->pd_points, struct counted_point, i);
        if (of->pd == 0 || of->pd > profile->pd_count ||
            of->point >= profile->ps[profile->pd_ps[of->pd]].point_count) {
            fm_build_fault(build, "coverage point %u of proc dynamic %u does not exist", of->point,
                           of->pd);
            continue;
        }
        size_t place = (size_t)profile->pd_point_first[of->pd] + of->point;
        uint64_t sum = fm_column_get(&profile->pd_points, place) + of->count;
        if (!fm_column_set(&profile->pd_points, first, place, sum))
            fm_build_fault(build, "not enough memory for the coverage counts");
    }
}

static void finish_header(struct fm_build *build)
{
    struct fm_profile *profile = build->profile;
    struct fm_build_header *header = &build->header;
    for (uint32_t csd = 1; csd <= profile->csd_count && !header->has_totals; csd++) {
        header->user_quanta += fm_profile_own(profile, csd, FM_QUANTA);
        header->callseqs += fm_profile_own(profile, csd, FM_CALLSEQS);
    }
    profile->word_size = header->word_size & FM_FLAGS_WORD;
    profile->canonical = header->canonical;
    profile->coverage = header->coverage;
    profile->flags = fm_flags_make(profile->word_size, profile->canonical, profile->coverage);
    profile->ticks_per_second = header->ticks_per_second;
    profile->instrumentation_quanta = header->instrumentation_quanta;
    profile->run_info.duration_ns = header->duration_ns;
    profile->run_info.peak_bytes = header->peak_bytes;
    profile->run_info.sample_count = header->sample_count;
    profile->run_info.sample_squares = header->sample_squares;
    profile->user_quanta = header->user_quanta;
    profile->callseqs = header->callseqs;
    profile->root_pd = 1;
}

/* Everything in place; false with build->fault. */
static int compare_depths(const void *a, const void *b)
{
    uint32_t one = ((const struct fm_depths *)a)->pd, other = ((const struct fm_depths *)b)->pd;
    return one < other ? -1 : one > other;
}

static void lay_depths(struct fm_build *build)
{
    const struct fm_run_info *run_info = &build->profile->run_info;
    g_array_sort(build->depths, compare_depths);
    for (guint i = 0; i < build->depths->len; i++) {
        const struct fm_depths *depths = &g_array_index(build->depths, struct fm_depths, i);
        uint32_t count = run_info->depths_count;
        if (depths->pd == 0 || depths->pd > build->profile->pd_count)
            fm_build_fault(build, "depths of proc dynamic %u, expected 1 to %u", depths->pd,
                           build->profile->pd_count);
        else if (count > 0 && run_info->depths[count - 1].pd == depths->pd)
            fm_depths_add(&run_info->depths[count - 1], depths);
        else
            fm_run_info_add_depths(build->profile, depths);
    }
}

static bool lay_dynamics(struct fm_build *build)
{
    struct fm_profile *profile = build->profile;
    profile->pd_count = (uint32_t)(build->pd_ps.count - 1);
    profile->csd_count = (uint32_t)(build->csd_callee.count - 1);
    profile->pd_ps = fm_u32s_steal(&build->pd_ps);
    profile->csd_caller = fm_u32s_steal(&build->csd_caller);
    profile->csd_callee = fm_u32s_steal(&build->csd_callee);
    profile->csd_css = g_new0(uint32_t, profile->csd_count + 1u);
    if (!fm_build_lay_slots(build))
        return false;
    lay_coverage(build);
    fm_build_lay_facts(build);
    return !build->fault;
}

void fm_build_lay_facts(struct fm_build *build)
{
    lay_depths(build);
    g_autofree char *fault = fm_inclusive_fault(build->profile);
    if (fault != NULL)
        fm_build_fault(build, "%s", fault);
    finish_header(build);
}

void fm_build_depths(struct fm_build *build, const struct fm_depths *depths)
{
    g_return_if_fail(depths != NULL);
    if (build->profile->flavour == FM_FLAVOUR_C)
        g_array_append_vals(build->depths, depths, 1);
}

struct fm_wait_info *fm_build_wait_info(struct fm_build *build)
{
    return &build->profile->run_info.wait_info;
}

struct fm_heap_info *fm_build_heap(struct fm_build *build)
{
    return &build->profile->run_info.heap_info;
}

bool fm_build_finish(struct fm_build *build, struct fm_profile **ret, GError **error)
{
    g_return_val_if_fail(build != NULL && ret != NULL, false);
    struct fm_fault resolved = {.code = FM_ERROR_FORMAT};
    bool done = check_statics(build);
    if (done) {
        lay_statics(build);
        done = lay_dynamics(build);
    }
    if (done && !fm_profile_resolve(build->profile, &resolved)) {
        build->fault = resolved.text;
        done = false;
    }
    if (done)
        *ret = g_steal_pointer(&build->profile);
    else
        g_set_error(error, FM_ERROR, resolved.code, "cannot build the profile: %s", build->fault);
    fm_build_free(build);
    return done;
}

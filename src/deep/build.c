/* SPDX-License-Identifier: Apache-2.0 */
#include "deep/build.h"

#include <string.h>

#include "base/error.h"
#include "deep/deep_internal.h"
#include "deep/goal_path.h"

/* Lists by container are chains while building: site -> next site of the same ps, csd -> next csd
 * of the same slot follow from one counting pass at the end, in the order of adding. */
struct fm_build {
    struct fm_profile *profile; /* ps and css with room to grow */
    struct fm_build_header header;
    uint32_t ps_capacity, css_capacity;
    struct fm_u32s pd_ps, csd_caller, csd_slot, csd_callee;
    size_t csd_capacity; /* of the columns */
    GArray *points;      /* struct owned_point */
    GArray *pd_points;   /* struct counted_point, as they were added */
    char *fault;         /* the first mistake */
};

/* Some may be of one point: they are added up at the end. */
struct counted_point {
    uint32_t pd, point;
    uint64_t count;
};

struct owned_point {
    uint32_t ps;
    struct fm_coverage_point point;
};

FM_PRINTF(2, 3) static void fault(struct fm_build *build, const char *format, ...)
{
    if (build->fault)
        return;
    va_list arguments;
    va_start(arguments, format);
    build->fault = g_strdup_vprintf(format, arguments);
    va_end(arguments);
}

static const char *keep(struct fm_build *build, const char *string)
{
    return string ? fm_strings_add(build->profile->storage->strings, string) : "";
}

struct fm_build *fm_build_new(enum fm_flavour flavour, const char *program_name)
{
    g_return_val_if_fail(flavour == FM_FLAVOUR_MERCURY || flavour == FM_FLAVOUR_C, NULL);
    struct fm_build *build = g_new0(struct fm_build, 1);
    build->profile = fm_profile_alloc();
    build->profile->flavour = flavour;
    build->profile->version = flavour == FM_FLAVOUR_C ? FM_C_VERSION : 9;
    build->profile->program_name = keep(build, program_name);
    build->header = (struct fm_build_header){
        .word_size = flavour == FM_FLAVOUR_C ? 1 : 8,
        .canonical = true,
        .ticks_per_second = 100,
    };
    if (flavour == FM_FLAVOUR_C)
        build->profile->measures[FM_WORDS] = (struct fm_measure){"bytes", "bytes", 1.0};
    build->points = g_array_new(FALSE, FALSE, sizeof(struct owned_point));
    build->pd_points = g_array_new(FALSE, FALSE, sizeof(struct counted_point));
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
    fm_profile_free(build->profile);
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
        fault(build,
              "measure \"%s\" of scale %g, expected a name of a-z, 0-9, _ and a positive "
              "scale",
              name, scale);
    for (unsigned m = 0; m < build->profile->measure_count; m++) {
        if (m != measure && strcmp(build->profile->measures[m].name, name) == 0)
            fault(build, "two measures are called %s", name);
    }
    build->profile->measures[measure] =
        (struct fm_measure){.name = keep(build, name), .unit = keep(build, unit), .scale = scale};
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
        .decl_module = keep(build, ps->decl_module),
        .def_module = keep(build, c || !ps->def_module ? ps->decl_module : ps->def_module),
        .name = keep(build, ps->name),
        .type_name = c ? "" : keep(build, ps->type_name),
        .arity = ps->arity,
        .mode = c ? 0 : ps->mode,
        .file = keep(build, ps->file),
        .line = ps->line,
        .in_interface = ps->in_interface,
        .variadic = c && ps->variadic,
        .inlined = c && ps->inlined,
        .raw_name = c ? keep(build, ps->raw_name) : "",
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
    if (ps == 0 || ps > profile->ps_count || css->kind >= FM_SITE_KINDS) {
        fault(build, "call site static %u of kind %u belongs to proc static %u, expected 1 to %u",
              id, css->kind, ps, profile->ps_count);
        ps = 0;
    }
    bool normal = css->kind == FM_SITE_NORMAL;
    profile->css[id] = (struct fm_css){
        .kind = css->kind,
        .callee_ps = normal ? css->callee_ps : 0,
        .type_subst = normal ? keep(build, css->type_subst) : "",
        .file = keep(build, css->file),
        .line = css->line,
        .goal_path = keep(build, css->goal_path),
        .ps = ps,
        .slot = profile->ps[ps].css_count++,
        .inlined = normal && css->inlined && profile->flavour == FM_FLAVOUR_C,
    };
    if (profile->flavour == FM_FLAVOUR_MERCURY &&
        !fm_goal_path_is_valid(profile->css[id].goal_path))
        fault(build, "call site static %u has the bad goal path \"%s\"", id,
              profile->css[id].goal_path);
    return id;
}

void fm_build_point(struct fm_build *build, uint32_t ps, const struct fm_coverage_point *point)
{
    if (ps == 0 || ps > build->profile->ps_count) {
        fault(build, "coverage point of proc static %u, expected 1 to %u", ps,
              build->profile->ps_count);
        return;
    }
    struct owned_point owned = {.ps = ps, .point = *point};
    owned.point.goal_path = keep(build, point->goal_path);
    if (build->profile->flavour == FM_FLAVOUR_MERCURY &&
        !fm_goal_path_is_valid(owned.point.goal_path))
        fault(build, "proc static %u has a coverage point with the bad goal path \"%s\"", ps,
              owned.point.goal_path);
    g_array_append_val(build->points, owned);
    build->profile->ps[ps].point_count++;
}

uint32_t fm_build_pd(struct fm_build *build, uint32_t ps)
{
    if (ps == 0 || ps > build->profile->ps_count)
        fault(build, "proc dynamic %zu is of proc static %u, expected 1 to %u", build->pd_ps.count,
              ps, build->profile->ps_count);
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

/* Room in the columns for all csds so far; doubles with them. */
static void grow_columns(struct fm_build *build)
{
    size_t old = build->csd_capacity;
    build->csd_capacity = MAX((size_t)64, old * 2);
    for (unsigned m = 0; m < FM_MEASURES_MAX; m++) {
        struct fm_column *column = &build->profile->csd_own[m];
        if (column->width == 0)
            continue;
        uint8_t *grown = g_realloc(column->u32, build->csd_capacity * column->width);
        memset(grown + old * column->width, 0, (build->csd_capacity - old) * column->width);
        column->u32 = (uint32_t *)(void *)grown;
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

void fm_build_add(struct fm_build *build, uint32_t csd, unsigned measure, uint64_t value)
{
    if (csd == 0 || csd >= build->csd_callee.count || measure >= build->profile->measure_count) {
        fault(build, "measure %u of call site dynamic %u, expected below %u and 1 to %zu", measure,
              csd, build->profile->measure_count, build->csd_callee.count - 1);
        return;
    }
    struct fm_column *column = &build->profile->csd_own[measure];
    if (!fm_column_set(column, build->csd_capacity, csd, fm_column_get(column, csd) + value))
        fault(build, "not enough memory for the measurements");
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
            fault(build, "call site static %u calls proc static %u, expected 1 to %u", css, callee,
                  profile->ps_count);
    }
    if (build->header.coverage == FM_COVERAGE_NONE && build->points->len > 0)
        fault(build, "there are coverage points, but the header says that there is no coverage");
    if (profile->ps_count > FM_IDS_MAX || profile->css_count > FM_IDS_MAX ||
        build->pd_ps.count > FM_IDS_MAX || build->csd_callee.count > FM_IDS_MAX)
        fault(build, "more than %u nodes of a kind", FM_IDS_MAX);
    return !build->fault;
}

/* Where each pd's slots begin; how many csds stand in each slot (in ret_counts). */
static bool count_slots(struct fm_build *build, uint32_t **ret_counts)
{
    struct fm_profile *profile = build->profile;
    uint64_t slots = 0;
    profile->pd_slot_first = g_new0(uint32_t, profile->pd_count + 2u);
    for (uint32_t pd = 1; pd <= profile->pd_count; pd++) {
        profile->pd_slot_first[pd] = (uint32_t)slots;
        slots += profile->ps[profile->pd_ps[pd]].css_count;
    }
    if (slots > UINT32_MAX) {
        fault(build, "more than %u slots in all proc dynamics", UINT32_MAX);
        return false;
    }
    profile->pd_slot_first[profile->pd_count + 1] = (uint32_t)slots;
    uint32_t *counts = *ret_counts = g_new0(uint32_t, slots + 1);
    for (uint32_t csd = 1; csd <= profile->csd_count; csd++) {
        uint32_t caller = profile->csd_caller[csd], slot = build->csd_slot.items[csd];
        if (caller == 0 || caller > profile->pd_count || profile->csd_callee[csd] == 0 ||
            profile->csd_callee[csd] > profile->pd_count) {
            fault(build, "call site dynamic %u leads from proc dynamic %u to %u, expected 1 to %u",
                  csd, caller, profile->csd_callee[csd], profile->pd_count);
            return false;
        }
        if (slot >= profile->ps[profile->pd_ps[caller]].css_count) {
            fault(build, "call site dynamic %u is in slot %u of proc dynamic %u, expected below %u",
                  csd, slot, caller, profile->ps[profile->pd_ps[caller]].css_count);
            return false;
        }
        counts[profile->pd_slot_first[caller] + slot]++;
    }
    return true;
}

static enum fm_site_kind kind_of_slot(const struct fm_profile *profile, uint32_t pd, uint32_t slot)
{
    const struct fm_ps *ps = &profile->ps[profile->pd_ps[pd]];
    return profile->css[profile->css_of_ps[ps->css_first + slot]].kind;
}

/* Makes the lists of slots that are no normal site's: count 0 at first. */
static void lay_lists(struct fm_build *build, const uint32_t *counts)
{
    struct fm_profile *profile = build->profile;
    size_t words = FM_SITE_KINDS, slots = profile->pd_slot_first[profile->pd_count + 1];
    for (size_t i = 0; i < slots; i++)
        words += counts[i] > 0 ? counts[i] + 1u : 0;
    profile->slots = g_new0(uint32_t, slots + 1);
    profile->multi = g_new0(uint32_t, words);
    for (uint32_t kind = 0; kind < FM_SITE_KINDS; kind++)
        profile->multi[kind] = kind << FM_LIST_KIND_SHIFT;
    size_t at = FM_SITE_KINDS;
    for (uint32_t pd = 1; pd <= profile->pd_count; pd++) {
        uint32_t first = profile->pd_slot_first[pd];
        for (uint32_t slot = 0; slot < profile->pd_slot_first[pd + 1] - first; slot++) {
            uint32_t kind = kind_of_slot(profile, pd, slot);
            uint32_t count = counts[first + slot];
            if (kind == FM_SITE_NORMAL)
                continue;
            profile->slots[first + slot] = FM_SLOT_MULTI | (count > 0 ? (uint32_t)at : kind);
            if (count > 0)
                profile->multi[at] = kind << FM_LIST_KIND_SHIFT;
            at += count > 0 ? count + 1u : 0;
        }
    }
    if (at >= FM_SLOT_MULTI)
        fault(build, "too many call site dynamics in lists");
}

static void fill_slots(struct fm_build *build)
{
    struct fm_profile *profile = build->profile;
    for (uint32_t csd = 1; csd <= profile->csd_count && !build->fault; csd++) {
        uint32_t caller = profile->csd_caller[csd], slot = build->csd_slot.items[csd];
        uint32_t *entry = &profile->slots[profile->pd_slot_first[caller] + slot];
        if (*entry & FM_SLOT_MULTI) {
            uint32_t *list = &profile->multi[*entry & ~FM_SLOT_MULTI];
            list[1 + (list[0]++ & FM_LIST_COUNT_MAX)] = csd;
        } else if (*entry != 0) {
            fault(build,
                  "slot %u of proc dynamic %u holds call site dynamics %u and %u, expected "
                  "one, as its site is normal",
                  slot, caller, *entry, csd);
        } else {
            *entry = csd;
        }
    }
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
            fault(build, "coverage point %u of proc dynamic %u does not exist", of->point, of->pd);
            continue;
        }
        size_t place = (size_t)profile->pd_point_first[of->pd] + of->point;
        uint64_t sum = fm_column_get(&profile->pd_points, place) + of->count;
        if (!fm_column_set(&profile->pd_points, first, place, sum))
            fault(build, "not enough memory for the coverage counts");
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
static bool lay_dynamics(struct fm_build *build)
{
    struct fm_profile *profile = build->profile;
    g_autofree uint32_t *counts = NULL;
    profile->pd_count = (uint32_t)(build->pd_ps.count - 1);
    profile->csd_count = (uint32_t)(build->csd_callee.count - 1);
    profile->pd_ps = fm_u32s_steal(&build->pd_ps);
    profile->csd_caller = fm_u32s_steal(&build->csd_caller);
    profile->csd_callee = fm_u32s_steal(&build->csd_callee);
    profile->csd_css = g_new0(uint32_t, profile->csd_count + 1u);
    if (!count_slots(build, &counts))
        return false;
    lay_lists(build, counts);
    fill_slots(build);
    lay_coverage(build);
    finish_header(build);
    return !build->fault;
}

void fm_build_mark(struct fm_build *build, const struct fm_mark *mark)
{
    g_return_if_fail(mark != NULL && mark->name != NULL);
    struct fm_mark own = *mark;
    own.name = keep(build, mark->name);
    fm_run_info_add_mark(build->profile, &own);
}

void fm_build_note(struct fm_build *build, const char *note)
{
    g_return_if_fail(note != NULL);
    fm_run_info_add_note(build->profile, keep(build, note));
}

void fm_build_process(struct fm_build *build, const struct fm_process_fact *process)
{
    g_return_if_fail(process != NULL);
    build->profile->run_info.process = *process;
    build->profile->run_info.process.command = keep(build, process->command);
    build->profile->run_info.process.folder = keep(build, process->folder);
}

void fm_build_part(struct fm_build *build, const struct fm_part *part)
{
    g_return_if_fail(part != NULL && part->times > 0);
    struct fm_part own = *part;
    own.process.command = keep(build, part->process.command);
    own.process.folder = keep(build, part->process.folder);
    fm_run_info_add_part(build->profile, &own);
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

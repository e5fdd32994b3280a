/* SPDX-License-Identifier: Apache-2.0 */
/* Writes a profile in the order of the original runtime: the dynamics depth first from the root,
 * each csd followed by its callee when that comes up for the first time, then the statics. */
#include "profile/file/write.h"

#include <string.h>

#include "base/error.h"
#include "profile/file/deep_internal.h"
#include "profile/file/goal_path.h"

struct level {
    uint32_t pd, slot, item;
};

struct writing {
    const struct fm_profile *profile;
    struct fm_writer *writer;
    struct fm_encoding encoding;
    unsigned measure_count;
    bool strict_c;    /* a C profile in Mercury's form */
    uint8_t *written; /* [pd_count + 1] */
    GArray *levels;   /* struct level */
};

static void write_counts(struct writing *writing, uint32_t pd)
{
    const struct fm_profile *profile = writing->profile;
    uint64_t first = profile->pd_point_first[pd], end = profile->pd_point_first[pd + 1];
    fm_writer_num(writing->writer, end - first);
    for (uint64_t i = first; i < end; i++)
        fm_writer_num(writing->writer, fm_column_get(&profile->pd_points, i));
}

/* The pd itself; its csds and callees follow later. */
static void begin_pd(struct writing *writing, uint32_t pd)
{
    const struct fm_profile *profile = writing->profile;
    const struct fm_ps *ps = &profile->ps[profile->pd_ps[pd]];
    writing->written[pd] = 1;
    fm_encode_pd_begin(writing->writer, pd, profile->pd_ps[pd], ps->css_count);
    if (writing->encoding.coverage == FM_COVERAGE_DYNAMIC)
        write_counts(writing, pd);
    for (uint32_t slot = 0; slot < ps->css_count; slot++) {
        uint32_t count;
        const uint32_t *csds = fm_profile_slot(profile, pd, slot, &count);
        uint32_t css = profile->css_of_ps[ps->css_first + slot];
        fm_encode_slot(writing->writer, profile->css[css].kind, csds, count);
    }
    struct level level = {.pd = pd};
    g_array_append_val(writing->levels, level);
}

static void write_csd(struct writing *writing, uint32_t csd)
{
    uint64_t values[FM_MEASURES_MAX];
    for (unsigned m = 0; m < writing->measure_count; m++)
        values[m] = fm_profile_own(writing->profile, csd, (enum fm_measure_id)m);
    fm_encode_csd(writing->writer, csd, writing->profile->csd_callee[csd], values,
                  writing->measure_count);
}

/* The next csd of the pd on top, or 0. */
static uint32_t next_csd(const struct fm_profile *profile, struct level *level)
{
    uint32_t slots = profile->ps[profile->pd_ps[level->pd]].css_count;
    for (; level->slot < slots; level->slot++, level->item = 0) {
        uint32_t count;
        const uint32_t *csds = fm_profile_slot(profile, level->pd, level->slot, &count);
        if (level->item < count)
            return csds[level->item++];
    }
    return 0;
}

static void write_from(struct writing *writing, uint32_t pd)
{
    begin_pd(writing, pd);
    while (writing->levels->len > 0) {
        struct level *level =
            &g_array_index(writing->levels, struct level, writing->levels->len - 1);
        uint32_t csd = next_csd(writing->profile, level);
        if (csd == 0) {
            g_array_set_size(writing->levels, writing->levels->len - 1);
            continue;
        }
        write_csd(writing, csd);
        uint32_t callee = writing->profile->csd_callee[csd];
        if (!writing->written[callee])
            begin_pd(writing, callee);
    }
}

/* Reduces a function's or call site's description to what Mercury's tools accept. */
static void make_strict_ps(struct fm_ps *ps)
{
    ps->label_kind = FM_LABEL_PREDICATE;
    ps->arity = ps->arity == FM_ARITY_UNKNOWN ? 0 : ps->arity;
    ps->mode = 0;
}

static void write_ps(struct writing *writing, uint32_t id)
{
    const struct fm_profile *profile = writing->profile;
    struct fm_ps ps = profile->ps[id];
    if (writing->strict_c)
        make_strict_ps(&ps);
    fm_encode_ps(writing->writer, &writing->encoding, id, &ps, profile->css_of_ps + ps.css_first,
                 ps.point_count > 0 ? profile->points + ps.point_first : NULL);
    for (uint32_t slot = 0; slot < ps.css_count; slot++) {
        uint32_t css_id = profile->css_of_ps[ps.css_first + slot];
        struct fm_css css = profile->css[css_id];
        char path[16];
        if (writing->strict_c) {
            /* Mercury demands the path of a goal: the n-th call is the n-th conjunct. */
            g_snprintf(path, sizeof(path), "c%u;", slot + 1);
            css.goal_path = path;
        }
        fm_encode_css(writing->writer, &writing->encoding, css_id, &css);
    }
}

static void write_all(struct writing *writing)
{
    const struct fm_profile *profile = writing->profile;
    fm_encode_header(writing->writer, &writing->encoding, profile);
    write_from(writing, profile->root_pd);
    for (uint32_t pd = 1; pd <= profile->pd_count; pd++) {
        if (!writing->written[pd])
            write_from(writing, pd);
    }
    for (uint32_t ps = 1; ps <= profile->ps_count; ps++)
        write_ps(writing, ps);
    if (writing->encoding.flavour == FM_FLAVOUR_C)
        fm_encode_run_info(writing->writer, profile);
}

static bool points_are_mercurys(const struct fm_profile *profile)
{
    for (uint32_t ps = 1; ps <= profile->ps_count; ps++) {
        for (uint32_t i = 0; i < profile->ps[ps].point_count; i++) {
            if (!fm_goal_path_is_valid(profile->points[profile->ps[ps].point_first + i].goal_path))
                return false;
        }
    }
    return true;
}

/* A normal site of Mercury's has a callee. */
static bool check_strict(const struct fm_profile *profile, const char *name, GError **error)
{
    for (uint32_t css = 1; css <= profile->css_count; css++) {
        bool told = profile->css[css].kind != FM_SITE_NORMAL || profile->css[css].callee_ps != 0;
        if (told && profile->css[css].kind != FM_SITE_UNKNOWN)
            continue;
        g_set_error(error, FM_ERROR, FM_ERROR_UNAVAILABLE,
                    "%s: the callee of call site static %u is not known, which Mercury's form has "
                    "no place for",
                    name, css);
        return false;
    }
    return true;
}

bool fm_profile_encode(const struct fm_profile *profile, const char *name, unsigned version,
                       bool strict_mercury, struct fm_writer *writer, GError **error)
{
    g_return_val_if_fail(profile != NULL && writer != NULL, false);
    bool strict_c = strict_mercury && profile->flavour == FM_FLAVOUR_C;
    struct writing writing = {
        .profile = profile,
        .writer = writer,
        .encoding = {.flavour = strict_c ? FM_FLAVOUR_MERCURY : profile->flavour,
                     .version = version,
                     .coverage = profile->coverage},
        .measure_count = strict_c ? FM_MEASURES_MERCURY : profile->measure_count,
        .strict_c = strict_c,
    };
    if (strict_c && !check_strict(profile, name, error))
        return false;
    if (strict_c && !points_are_mercurys(profile))
        writing.encoding.coverage = FM_COVERAGE_NONE;
    writing.written = g_new0(uint8_t, profile->pd_count + 1u);
    writing.levels = g_array_new(FALSE, FALSE, sizeof(struct level));
    write_all(&writing);
    g_array_unref(writing.levels);
    g_free(writing.written);
    return true;
}

bool fm_profile_write(const struct fm_profile *profile, const char *path, bool strict_mercury,
                      GError **error)
{
    g_return_val_if_fail(profile != NULL && path != NULL, false);
    struct fm_writer *writer;
    if (!fm_writer_new(path, &writer, error))
        return false;
    if (!fm_profile_encode(profile, path, 9, strict_mercury, writer, error)) {
        fm_writer_discard(writer);
        return false;
    }
    return fm_writer_finish(writer, error);
}

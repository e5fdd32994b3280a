/* SPDX-License-Identifier: Apache-2.0 */
#include "compare.h"

static void assert_same_ps(const struct fm_profile *left, const struct fm_profile *right,
                           uint32_t id)
{
    const struct fm_ps *a = &left->ps[id], *b = &right->ps[id];
    g_assert_cmpint(a->label_kind, ==, b->label_kind);
    g_assert_cmpstr(a->decl_module, ==, b->decl_module);
    g_assert_cmpstr(a->def_module, ==, b->def_module);
    g_assert_cmpstr(a->name, ==, b->name);
    g_assert_cmpstr(a->type_name, ==, b->type_name);
    g_assert_cmpuint(a->arity, ==, b->arity);
    g_assert_cmpuint(a->mode, ==, b->mode);
    g_assert_cmpstr(a->file, ==, b->file);
    g_assert_cmpuint(a->line, ==, b->line);
    g_assert_cmpint(a->in_interface, ==, b->in_interface);
    g_assert_cmpint(a->variadic, ==, b->variadic);
    g_assert_cmpstr(a->raw_name, ==, b->raw_name);
    g_assert_cmpstr(a->unqualified_name, ==, b->unqualified_name);
    g_assert_cmpstr(a->qualified_name, ==, b->qualified_name);
    g_assert_cmpuint(a->css_count, ==, b->css_count);
    for (uint32_t i = 0; i < a->css_count; i++)
        g_assert_cmpuint(left->css_of_ps[a->css_first + i], ==, right->css_of_ps[b->css_first + i]);
    g_assert_cmpuint(a->point_count, ==, b->point_count);
    for (uint32_t i = 0; i < a->point_count; i++) {
        const struct fm_coverage_point *p = &left->points[a->point_first + i];
        const struct fm_coverage_point *q = &right->points[b->point_first + i];
        g_assert_cmpstr(p->goal_path, ==, q->goal_path);
        g_assert_cmpint(p->type, ==, q->type);
        g_assert_cmpuint(p->count, ==, q->count);
    }
}

static void assert_same_pd(const struct fm_profile *left, const struct fm_profile *right,
                           uint32_t pd)
{
    g_assert_cmpuint(left->pd_ps[pd], ==, right->pd_ps[pd]);
    g_assert_cmpuint(left->pd_slot_first[pd + 1], ==, right->pd_slot_first[pd + 1]);
    uint32_t slots = left->pd_slot_first[pd + 1] - left->pd_slot_first[pd];
    for (uint32_t slot = 0; slot < slots; slot++) {
        uint32_t count, other;
        const uint32_t *a = fm_profile_slot(left, pd, slot, &count);
        const uint32_t *b = fm_profile_slot(right, pd, slot, &other);
        g_assert_cmpuint(count, ==, other);
        for (uint32_t i = 0; i < count; i++)
            g_assert_cmpuint(a[i], ==, b[i]);
    }
    if (!left->pd_point_first)
        return;
    g_assert_cmpuint(left->pd_point_first[pd], ==, right->pd_point_first[pd]);
    for (uint64_t i = left->pd_point_first[pd]; i < left->pd_point_first[pd + 1]; i++)
        g_assert_cmpuint(fm_column_get(&left->pd_points, i), ==,
                         fm_column_get(&right->pd_points, i));
}

static void assert_same_header(const struct fm_profile *left, const struct fm_profile *right)
{
    g_assert_cmpint(left->flavour, ==, right->flavour);
    g_assert_cmpstr(left->program_name, ==, right->program_name);
    g_assert_cmphex(left->flags, ==, right->flags);
    g_assert_cmpuint(left->word_size, ==, right->word_size);
    g_assert_cmpint(left->canonical, ==, right->canonical);
    g_assert_cmpint(left->coverage, ==, right->coverage);
    g_assert_cmpuint(left->ticks_per_second, ==, right->ticks_per_second);
    g_assert_cmpuint(left->instrumentation_quanta, ==, right->instrumentation_quanta);
    g_assert_cmpuint(left->user_quanta, ==, right->user_quanta);
    g_assert_cmpuint(left->callseqs, ==, right->callseqs);
    g_assert_cmpuint(left->root_pd, ==, right->root_pd);
    g_assert_cmpuint(left->measure_count, ==, right->measure_count);
    for (unsigned m = 0; m < left->measure_count; m++) {
        g_assert_cmpstr(left->measures[m].name, ==, right->measures[m].name);
        g_assert_cmpstr(left->measures[m].unit, ==, right->measures[m].unit);
        g_assert_cmpfloat(left->measures[m].scale, ==, right->measures[m].scale);
    }
    g_assert_cmpuint(left->ps_count, ==, right->ps_count);
    g_assert_cmpuint(left->css_count, ==, right->css_count);
    g_assert_cmpuint(left->pd_count, ==, right->pd_count);
    g_assert_cmpuint(left->csd_count, ==, right->csd_count);
}

void assert_same_profile(const struct fm_profile *left, const struct fm_profile *right)
{
    assert_same_header(left, right);
    for (uint32_t ps = 1; ps <= left->ps_count; ps++)
        assert_same_ps(left, right, ps);
    for (uint32_t css = 1; css <= left->css_count; css++) {
        const struct fm_css *a = &left->css[css], *b = &right->css[css];
        g_assert_cmpint(a->kind, ==, b->kind);
        g_assert_cmpuint(a->callee_ps, ==, b->callee_ps);
        g_assert_cmpstr(a->type_subst, ==, b->type_subst);
        g_assert_cmpstr(a->file, ==, b->file);
        g_assert_cmpuint(a->line, ==, b->line);
        g_assert_cmpstr(a->goal_path, ==, b->goal_path);
        g_assert_cmpuint(a->ps, ==, b->ps);
        g_assert_cmpuint(a->slot, ==, b->slot);
    }
    for (uint32_t pd = 1; pd <= left->pd_count; pd++)
        assert_same_pd(left, right, pd);
    for (uint32_t csd = 1; csd <= left->csd_count; csd++) {
        g_assert_cmpuint(left->csd_caller[csd], ==, right->csd_caller[csd]);
        g_assert_cmpuint(left->csd_callee[csd], ==, right->csd_callee[csd]);
        g_assert_cmpuint(left->csd_css[csd], ==, right->csd_css[csd]);
        for (unsigned m = 0; m < left->measure_count; m++)
            g_assert_cmpuint(fm_profile_own(left, csd, (enum fm_measure_id)m), ==,
                             fm_profile_own(right, csd, (enum fm_measure_id)m));
    }
}

GBytes *encode(const struct fm_profile *profile, unsigned version, bool strict)
{
    g_autoptr(GError) error = NULL;
    struct fm_writer *writer = fm_writer_new_memory();
    if (!fm_profile_encode(profile, "memory", version, strict, writer, &error))
        g_error("%s", error->message);
    return fm_writer_finish_memory(writer);
}

struct fm_profile *decode(GBytes *bytes)
{
    g_autoptr(GError) error = NULL;
    struct fm_profile *profile;
    size_t size;
    const uint8_t *data = g_bytes_get_data(bytes, &size);
    if (!fm_profile_read_bytes("memory", data, size, NULL, &profile, &error))
        g_error("%s", error->message);
    return profile;
}

static void add_statics(struct fm_build *build, bool covered)
{
    fm_build_ps(build, &(struct fm_ps){.decl_module = "runtime", .name = "runtime", .arity = 0});
    fm_build_ps(build, &(struct fm_ps){.decl_module = "m",
                                       .name = "main",
                                       .raw_name = "_main",
                                       .arity = 2,
                                       .file = "m.m",
                                       .line = 300,
                                       .in_interface = true,
                                       .variadic = true});
    fm_build_ps(build, &(struct fm_ps){.label_kind = FM_LABEL_SPECIAL,
                                       .decl_module = "m",
                                       .def_module = "n",
                                       .name = "__Unify__",
                                       .type_name = "tree",
                                       .arity = 1,
                                       .mode = 1});
    fm_build_css(build, 1, &(struct fm_css){.kind = FM_SITE_CALLBACK});
    fm_build_css(build, 2, &(struct fm_css){.callee_ps = 2, .line = 302, .goal_path = "c1;"});
    fm_build_css(build, 2,
                 &(struct fm_css){.kind = FM_SITE_SPECIAL, .file = "other.m", .goal_path = "c2;"});
    fm_build_css(build, 2, &(struct fm_css){.kind = FM_SITE_HIGHER_ORDER, .goal_path = "c3;"});
    fm_build_css(build, 2, &(struct fm_css){.kind = FM_SITE_METHOD, .goal_path = "c4;"});
    fm_build_css(build, 2,
                 &(struct fm_css){.callee_ps = 3, .type_subst = "T = int", .goal_path = "c5;"});
    if (!covered)
        return;
    fm_build_point(build, 2, &(struct fm_coverage_point){.goal_path = "?;", .count = 5});
    fm_build_point(build, 2,
                   &(struct fm_coverage_point){
                       .goal_path = "t;", .type = FM_POINT_BRANCH_ARM, .count = 5000000000});
}

struct fm_profile *small_profile(enum fm_flavour flavour, enum fm_coverage_kind coverage)
{
    struct fm_build *build = fm_build_new(flavour, "./small");
    struct fm_build_header *header = fm_build_header(build);
    header->coverage = coverage;
    header->instrumentation_quanta = 3;
    add_statics(build, coverage != FM_COVERAGE_NONE);
    unsigned frees = fm_build_measure(build, "frees", "frees", 1);
    fm_build_measure(build, "freed_bytes", "bytes", 0.5);
    fm_build_pd(build, 1);
    uint32_t outer = fm_build_pd(build, 2);
    uint32_t leaf = fm_build_pd(build, 3);
    fm_build_csd(build, 1, 0, outer);
    fm_build_csd(build, 1, 0, outer);
    fm_build_csd(build, outer, 0, outer);
    fm_build_csd(build, outer, 1, leaf);
    fm_build_csd(build, outer, 1, leaf);
    fm_build_csd(build, outer, 4, leaf);
    for (uint32_t csd = 1; csd <= 6; csd++) {
        for (unsigned m = 0; m < FM_MEASURES_MERCURY; m++)
            fm_build_add(build, csd, m, (uint64_t)csd * m * 1000 % 7);
    }
    fm_build_add(build, 5, FM_ALLOCS, (uint64_t)1 << 40);
    if (frees != 0)
        fm_build_add(build, 6, frees, 77);
    if (coverage == FM_COVERAGE_DYNAMIC) {
        fm_build_pd_point(build, outer, 0, 4);
        fm_build_pd_point(build, outer, 1, (uint64_t)1 << 33);
        fm_build_pd_point(build, outer, 1, 1);
    }
    struct fm_profile *profile;
    g_autoptr(GError) error = NULL;
    if (!fm_build_finish(build, &profile, &error))
        g_error("%s", error->message);
    return profile;
}

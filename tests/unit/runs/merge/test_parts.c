/* SPDX-License-Identifier: Apache-2.0 */
/* What a merged profile keeps of its parts beside the graph: lines of the source, processes. */
#include <string.h>

#include "base/files/writer.h"
#include "profile/file/build.h"
#include "profile/file/write.h"
#include "runs/merge/merge.h"

struct part {
    struct fm_profile *profile;
    struct fm_source_map *lines; /* NULL = none */
    uint8_t hash;
};

struct line {
    uint32_t ps, line, point;
};
#define NO_POINT UINT32_MAX

/* A C program: main calls f, and g where with_g. Procedures in another order where swapped. pid 0:
 * the process is not known. */
static struct part make_part(bool with_g, bool swapped, uint32_t pid, const struct line *lines,
                             unsigned line_count)
{
    struct fm_build *build = fm_build_new(FM_FLAVOUR_C, "prog");
    struct part part = {0};
    struct fm_ps runtime = {.label_kind = FM_LABEL_FUNCTION,
                            .decl_module = "Mercury runtime",
                            .def_module = "Mercury runtime",
                            .name = "runtime",
                            .raw_name = "runtime"};
    static const char *const names[] = {"main", "f", "g"};
    uint32_t ps[3], root = fm_build_ps(build, &runtime);
    fm_build_header(build)->coverage = FM_COVERAGE_DYNAMIC;
    for (int i = 0; i < 3; i++) {
        int which = swapped ? 2 - i : i;
        struct fm_ps proc = {.label_kind = FM_LABEL_FUNCTION,
                             .decl_module = "a.c",
                             .def_module = "a.c",
                             .name = names[which],
                             .raw_name = names[which],
                             .file = "a.c",
                             .line = 10u * (unsigned)which + 1};
        ps[which] = fm_build_ps(build, &proc);
    }
    fm_build_css(build, root, &(struct fm_css){.kind = FM_SITE_CALLBACK});
    for (uint32_t i = 0; i < 2; i++)
        fm_build_css(
            build, ps[0],
            &(struct fm_css){.kind = FM_SITE_NORMAL, .callee_ps = ps[1 + i], .line = 2 + i});
    for (int i = 0; i < 2; i++)
        fm_build_point(build, ps[1], &(struct fm_coverage_point){"3", FM_POINT_BRANCH_ARM, 0});
    uint32_t root_pd = fm_build_pd(build, root), main_pd = fm_build_pd(build, ps[0]);
    fm_build_add(build, fm_build_csd(build, root_pd, 0, main_pd), FM_EXITS, 1);
    uint32_t f_pd = fm_build_pd(build, ps[1]);
    fm_build_pd_point(build, f_pd, 0, 5);
    fm_build_pd_point(build, f_pd, 1, 2);
    fm_build_pd_point(build, f_pd, 0, 1); /* adds */
    uint32_t f_csd = fm_build_csd(build, main_pd, 0, f_pd);
    fm_build_add(build, f_csd, FM_EXITS, 3);
    fm_build_add(build, f_csd, FM_CALLSEQS, 4);
    if (with_g)
        fm_build_add(build, fm_build_csd(build, main_pd, 1, fm_build_pd(build, ps[2])), FM_EXITS,
                     4);
    if (pid != 0)
        fm_build_process(build, &(struct fm_process_fact){.command = "./prog -x",
                                                          .folder = "/home/who",
                                                          .pid = pid,
                                                          .parent_pid = 7,
                                                          .forked = pid == 42,
                                                          .forked_in = pid == 42 ? "f" : NULL,
                                                          .start_ns = 1000000005});
    g_autoptr(GError) error = NULL;
    if (!fm_build_finish(build, &part.profile, &error))
        g_error("%s", error->message);
    if (line_count == 0)
        return part;
    struct fm_source_map_builder *builder = fm_source_map_builder_new();
    for (uint32_t id = 1; id <= part.profile->ps_count; id++) {
        for (unsigned i = 0; i < line_count; i++) {
            if (ps[lines[i].ps] == id)
                fm_source_map_builder_add(builder, id, lines[i].line, &lines[i].point,
                                          lines[i].point == NO_POINT ? 0 : 1);
        }
    }
    part.lines = fm_source_map_builder_finish(builder, part.profile->ps_count);
    return part;
}

static void part_clear(struct part *part)
{
    fm_profile_free(part->profile);
    fm_source_map_free(part->lines);
}

static struct part merge_parts(const struct part *parts, const unsigned *order, unsigned count,
                               bool across_builds)
{
    const struct fm_merge_options options = {.across_builds = across_builds};
    struct fm_merge *merge = fm_merge_new(&options);
    struct part result = {0};
    g_autoptr(GError) error = NULL;
    for (unsigned i = 0; i < count; i++) {
        const struct part *part = &parts[order[i]];
        if (!fm_merge_add(merge, part->profile, "part", &error))
            g_error("%s", error->message);
        uint8_t hash[FM_PART_HASH_BYTES] = {part->hash};
        fm_merge_add_part(merge, part->profile, hash);
        if (part->lines != NULL)
            fm_merge_add_lines(merge, part->lines);
    }
    if (!fm_merge_finish(merge, &result.profile, &error))
        g_error("%s", error->message);
    if (result.profile->attached[FM_ATTACHED_LINES].packed != NULL &&
        !fm_source_map_find(NULL, "sum.data", result.profile, &result.lines, &error))
        g_error("%s", error->message);
    return result;
}

/* "aa*1:41 bb*2:42 ": the hash's first byte, how often, the process. */
static char *parts_text(const struct part *part)
{
    const struct fm_run_info *run_info = &part->profile->run_info;
    GString *text = g_string_new(NULL);
    for (uint32_t i = 0; i < run_info->part_count; i++)
        g_string_append_printf(text, "%02x*%u:%u ", run_info->parts[i].hash[0],
                               (unsigned)run_info->parts[i].times, run_info->parts[i].process.pid);
    return g_string_free(text, FALSE);
}

/* "f:12(0) f:13(1) main:2()". */
static char *lines_text(const struct part *part)
{
    GString *text = g_string_new(NULL);
    for (uint32_t ps = 1; part->lines != NULL && ps <= part->lines->ps_count; ps++) {
        for (uint32_t i = part->lines->line_first[ps]; i < part->lines->line_first[ps + 1]; i++) {
            const struct fm_source_code *code = &part->lines->lines[i];
            g_string_append_printf(text, "%s:%u(", part->profile->ps[ps].name, code->line);
            for (uint32_t p = 0; p < code->point_count; p++)
                g_string_append_printf(text, "%u", part->lines->points[code->point_first + p]);
            g_string_append(text, ") ");
        }
    }
    return g_string_free(text, FALSE);
}

static char *notes_text(const struct part *part)
{
    GString *text = g_string_new(NULL);
    for (uint32_t i = 0; i < part->profile->run_info.note_count; i++)
        g_string_append_printf(text, "%s\n", part->profile->run_info.notes[i]);
    return g_string_free(text, FALSE);
}

static char *processes_text(const struct part *part)
{
    GString *text = g_string_new(NULL);
    for (uint32_t i = 0; i < part->profile->run_info.part_count; i++) {
        const struct fm_part *of = &part->profile->run_info.parts[i];
        g_string_append_printf(text, "%s in %s %u of %u at %" G_GUINT64_FORMAT, of->process.command,
                               of->process.folder, of->process.pid, of->process.parent_pid,
                               (guint64)of->process.start_ns);
        if (of->process.forked)
            g_string_append_printf(text, ", forked in %s", of->process.forked_in);
        if (of->has_cost)
            g_string_append_printf(text, ": %" G_GUINT64_FORMAT " calls", (guint64)of->calls);
        g_string_append_c(text, '\n');
    }
    return g_string_free(text, FALSE);
}

static void make_three(struct part parts[3])
{
    static const struct line first[] = {{1, 12, 0}, {1, 14, 1}, {0, 2, NO_POINT}};
    static const struct line second[] = {{1, 13, 1}, {1, 14, 0}, {2, 22, NO_POINT}};
    parts[0] = make_part(false, false, 41, first, 3);
    parts[1] = make_part(true, true, 42, second, 3);
    parts[2] = make_part(true, false, 0, NULL, 0);
    parts[0].hash = 0xcc; /* not in the order of anything else */
    parts[1].hash = 0xaa;
    parts[2].hash = 0xbb;
}

static void test_lines_and_processes(void)
{
    static const unsigned orders[][3] = {{0, 1, 2}, {2, 1, 0}, {1, 0, 2}};
    struct part parts[3];
    make_three(parts);
    for (int i = 0; i < 3; i++) {
        struct part all = merge_parts(parts, orders[i], 3, false);
        g_autofree char *lines = lines_text(&all), *notes = notes_text(&all);
        g_assert_cmpstr(lines, ==, "f:12(0) f:13(1) f:14(01) g:22() main:2() ");
        g_assert_cmpstr(notes, ==, ""); /* the parts have it */
        g_autofree char *processes = processes_text(&all);
        g_assert_cmpstr(processes, ==,
                        "./prog -x in /home/who 42 of 7 at 1000000005, forked in f: 8 calls\n"
                        " in  0 of 0 at 0: 8 calls\n"
                        "./prog -x in /home/who 41 of 7 at 1000000005: 4 calls\n");
        g_assert_null(all.profile->run_info.process.command);
        part_clear(&all);
    }
    for (int i = 0; i < 3; i++)
        part_clear(&parts[i]);
}

static void test_grouping(void)
{
    static const unsigned both[] = {0, 1}, all_three[] = {0, 1, 2};
    struct part parts[3], halves[2];
    make_three(parts);
    struct part whole = merge_parts(parts, all_three, 3, false);
    halves[0] = merge_parts(parts + 1, both, 2, false); /* the second and third first */
    halves[1] = merge_parts(parts, both, 1, false);     /* one alone, in its canonical form */
    struct part again = merge_parts(halves, both, 2, false);
    g_autofree char *lines = lines_text(&whole), *lines_again = lines_text(&again);
    g_autofree char *notes = notes_text(&whole), *notes_again = notes_text(&again);
    g_assert_cmpstr(lines, ==, lines_again);
    g_assert_cmpstr(notes, ==, notes_again);
    struct part *const all[] = {&parts[0],  &parts[1], &parts[2], &halves[0],
                                &halves[1], &whole,    &again};
    for (size_t i = 0; i < G_N_ELEMENTS(all); i++)
        part_clear(all[i]);
}

static GBytes *bytes_of(const struct part *part)
{
    struct fm_writer *writer = fm_writer_new_memory();
    g_assert_true(fm_profile_encode(part->profile, "result", 9, false, writer, NULL));
    return fm_writer_finish_memory(writer);
}

/* What is in a sum is counted, whatever the order and grouping: to the last byte. */
static void test_multiset(void)
{
    static const unsigned flat[] = {0, 1, 2, 1, 0, 1}, back[] = {1, 0, 2, 1, 1, 0};
    static const unsigned left[] = {1, 0}, right[] = {0, 1, 2, 1}, both[] = {1, 0};
    struct part parts[3], halves[2];
    make_three(parts);
    halves[0] = merge_parts(parts, left, 2, false);
    halves[1] = merge_parts(parts, right, 4, false);
    struct part all[] = {merge_parts(parts, flat, 6, false), merge_parts(parts, back, 6, false),
                         merge_parts(halves, both, 2, false)};
    g_autoptr(GBytes) first = bytes_of(&all[0]);
    for (int i = 0; i < 3; i++) {
        g_autofree char *text = parts_text(&all[i]);
        g_assert_cmpstr(text, ==, "aa*3:42 bb*1:0 cc*2:41 ");
        g_autoptr(GBytes) bytes = bytes_of(&all[i]);
        g_assert_true(g_bytes_equal(first, bytes));
    }
    gsize size; /* and they are read again */
    const uint8_t *data = g_bytes_get_data(first, &size);
    struct part again = {0};
    g_assert_true(fm_profile_read_bytes("again", data, size, NULL, &again.profile, NULL));
    g_autofree char *text = parts_text(&again);
    g_assert_cmpstr(text, ==, "aa*3:42 bb*1:0 cc*2:41 ");
    g_assert_cmpstr(again.profile->run_info.parts[0].process.command, ==, "./prog -x");
    g_assert_cmpstr(again.profile->run_info.parts[1].process.command, ==, "");
    part_clear(&again);
    for (int i = 0; i < 3; i++) {
        part_clear(&all[i]);
        part_clear(&parts[i]);
    }
    part_clear(&halves[0]);
    part_clear(&halves[1]);
}

/* A process that is in the sum, by itself or within another sum; another one may count the same. */
static void test_repeats(void)
{
    static const unsigned first[] = {0}, both[] = {0, 1};
    const struct fm_merge_options options = {0};
    const uint8_t same[FM_PART_HASH_BYTES] = {0xcc}, other[FM_PART_HASH_BYTES] = {0xdd};
    struct part parts[3];
    make_three(parts);
    struct part one = merge_parts(parts, first, 1, false), sum = merge_parts(parts, both, 2, false);
    struct fm_merge *merge = fm_merge_new(&options);
    g_assert_false(fm_merge_has_part(merge, parts[0].profile, same));
    g_assert_false(fm_merge_has_part(merge, one.profile, NULL));
    g_assert_true(fm_merge_add(merge, parts[0].profile, "part", NULL));
    fm_merge_add_part(merge, parts[0].profile, same);
    g_assert_true(fm_merge_has_part(merge, parts[0].profile, same));
    g_assert_false(fm_merge_has_part(merge, parts[0].profile, other));
    g_assert_false(fm_merge_has_part(merge, parts[2].profile, same)); /* of no known process */
    g_assert_true(fm_merge_has_part(merge, one.profile, NULL));
    g_assert_true(fm_merge_has_part(merge, sum.profile, NULL));
    fm_merge_free(merge);
    part_clear(&one);
    part_clear(&sum);
    for (int i = 0; i < 3; i++)
        part_clear(&parts[i]);
}

/* Coverage belongs to one build: without it lines have no points. */
static void test_lines_without_coverage(void)
{
    static const unsigned both[] = {0, 1};
    struct part parts[3];
    make_three(parts);
    struct part all = merge_parts(parts, both, 2, true);
    g_autofree char *lines = lines_text(&all);
    g_assert_cmpint(all.profile->coverage, ==, FM_COVERAGE_NONE);
    g_assert_cmpstr(lines, ==, "f:12() f:13() f:14() g:22() main:2() ");
    part_clear(&all);
    for (int i = 0; i < 3; i++)
        part_clear(&parts[i]);
}

static void test_points_add_up(void)
{
    static const unsigned both[] = {0, 1};
    struct part parts[3];
    make_three(parts);
    struct part all = merge_parts(parts, both, 2, false);
    const struct fm_profile *profile = all.profile;
    for (uint32_t pd = 1; pd <= profile->pd_count; pd++) {
        if (strcmp(profile->ps[profile->pd_ps[pd]].name, "f") != 0)
            continue;
        size_t first = (size_t)profile->pd_point_first[pd];
        g_assert_cmpuint(fm_column_get(&profile->pd_points, first), ==, 12);
        g_assert_cmpuint(fm_column_get(&profile->pd_points, first + 1), ==, 4);
    }
    part_clear(&all);
    for (int i = 0; i < 3; i++)
        part_clear(&parts[i]);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/merge/parts/lines_and_processes", test_lines_and_processes);
    g_test_add_func("/merge/parts/grouping", test_grouping);
    g_test_add_func("/merge/parts/lines_without_coverage", test_lines_without_coverage);
    g_test_add_func("/merge/parts/multiset", test_multiset);
    g_test_add_func("/merge/parts/repeats", test_repeats);
    g_test_add_func("/merge/parts/points_add_up", test_points_add_up);
    return g_test_run();
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Building, writing and reading back made-up profiles; mistakes in building. */
#include <glib/gstdio.h>
#include <string.h>

#include "base/error.h"
#include "compare.h"
#include "profile/file/goal_path.h"

static void test_round_trip(void)
{
    static const enum fm_coverage_kind coverages[] = {FM_COVERAGE_NONE, FM_COVERAGE_STATIC,
                                                      FM_COVERAGE_DYNAMIC};
    for (unsigned i = 0; i < G_N_ELEMENTS(coverages); i++) {
        for (unsigned flavour = FM_FLAVOUR_MERCURY; flavour <= FM_FLAVOUR_C; flavour++) {
            g_autoptr(FmProfile) profile = small_profile((enum fm_flavour)flavour, coverages[i]);
            g_autoptr(GBytes) bytes = encode(profile, 9, false);
            g_autoptr(FmProfile) again = decode(bytes);
            assert_same_profile(profile, again);
            g_autoptr(GBytes) twice = encode(again, 9, false);
            g_assert_true(g_bytes_equal(bytes, twice));
        }
    }
}

static void test_contents(void)
{
    g_autoptr(FmProfile) profile = small_profile(FM_FLAVOUR_C, FM_COVERAGE_DYNAMIC);
    uint32_t count;
    const uint32_t *csds = fm_profile_slot(profile, 1, 0, &count);
    g_assert_cmpuint(count, ==, 2);
    g_assert_cmpuint(csds[0], ==, 1);
    g_assert_cmpuint(csds[1], ==, 2);
    fm_profile_slot(profile, 2, 2, &count);
    g_assert_cmpuint(count, ==, 0);
    csds = fm_profile_slot(profile, 2, 4, &count);
    g_assert_cmpuint(count, ==, 1);
    g_assert_cmpuint(csds[0], ==, 6);
    g_assert_cmpuint(profile->csd_css[6], ==, 6);
    g_assert_cmpuint(profile->csd_caller[6], ==, 2);
    g_assert_cmpuint(profile->csd_own[FM_ALLOCS].width, ==, 8);
    g_assert_cmpuint(profile->csd_own[FM_EXITS].width, ==, 0);
    g_assert_cmpuint(fm_profile_own(profile, 5, FM_ALLOCS), ==, ((uint64_t)1 << 40) + 5 * 6000 % 7);
    g_assert_cmpuint(profile->measure_count, ==, 10);
    g_assert_cmpstr(profile->measures[8].name, ==, "frees");
    g_assert_cmpuint(fm_profile_own(profile, 6, (enum fm_measure_id)8), ==, 77);
    g_assert_cmpstr(profile->measures[FM_WORDS].name, ==, "bytes");
    g_assert_cmpuint(profile->word_size, ==, 1);
    g_assert_cmpuint(fm_column_get(&profile->pd_points, profile->pd_point_first[2] + 1), ==,
                     ((uint64_t)1 << 33) + 1);
    g_assert_cmpstr(profile->ps[2].raw_name, ==, "_main");
    g_assert_cmpstr(profile->ps[2].unqualified_name, ==, "main");
    g_assert_cmpstr(profile->ps[2].qualified_name, ==, "m:main");
    uint64_t callseqs = 0;
    for (uint32_t csd = 1; csd <= 6; csd++)
        callseqs += fm_profile_own(profile, csd, FM_CALLSEQS);
    g_assert_cmpuint(profile->callseqs, ==, callseqs);
    g_assert_cmpuint(callseqs, >, 0);
}

static struct fm_profile *profile_with_facts(void)
{
    struct fm_build *build = fm_build_new(FM_FLAVOUR_C, "x");
    fm_build_ps(build, &(struct fm_ps){.name = "f"});
    fm_build_pd(build, 1);
    fm_build_header(build)->duration_ns = 9000000000;
    fm_build_header(build)->peak_bytes = (uint64_t)1 << 40;
    fm_build_header(build)->has_totals = true;
    fm_build_header(build)->user_quanta = 290;
    fm_build_header(build)->ticks_per_second = 0;
    fm_build_header(build)->sample_count = 75;
    fm_build_header(build)->sample_squares = 1160;
    fm_build_mark(build, &(struct fm_mark){"load", 1000, 3, 0});
    fm_build_mark(build, &(struct fm_mark){"half", 2000000, 70, 4});
    fm_build_note(build, "something was lost");
    fm_build_origin(build, "folded stacks");
    fm_build_unknown(build, FM_EXITS);
    fm_build_unknown(build, FM_CALLSEQS);
    fm_build_rename_measure(build, FM_QUANTA, "page_faults", "page faults", 1);
    fm_build_tick_event(build, &(struct fm_tick_event){true, true, 1000});
    fm_build_extent(build, &(struct fm_extent){7000000001, true, true});
    fm_build_depths(build, &(struct fm_depths){1, 9, 2, {1, 3, 0, 4}});
    fm_build_depths(build, &(struct fm_depths){1, 5, 0, {[2] = UINT64_MAX}});
    fm_build_inclusive(build, 1u << FM_QUANTA | 1u << FM_WORDS);
    fm_build_pd_inclusive(build, 1, (const uint64_t[]){290, (uint64_t)1 << 40});
    fm_build_part(
        build,
        &(struct fm_part){
            .times = 1, .process = {.command = "y", .folder = "/", .rank = 1000000, .host = NULL}});
    fm_build_process(build, &(struct fm_process_fact){.command = "x 'a b'",
                                                      .folder = "/tmp",
                                                      .pid = 42,
                                                      .parent_pid = 41,
                                                      .start_ns = 1700000000000000001,
                                                      .rank = 8,
                                                      .rank_count = 64,
                                                      .host = "node3"});
    struct fm_profile *profile = NULL;
    g_autoptr(GError) error = NULL;
    g_assert_true(fm_build_finish(build, &profile, &error));
    return profile;
}

static void test_facts(void)
{
    g_autoptr(FmProfile) profile = profile_with_facts();
    g_autoptr(GBytes) bytes = encode(profile, 9, false);
    g_autoptr(FmProfile) again = decode(bytes);
    const struct fm_run_info *run_info = &again->run_info;
    g_assert_cmpuint(run_info->mark_count, ==, 2);
    g_assert_cmpstr(run_info->marks[0].name, ==, "load");
    g_assert_cmpuint(run_info->marks[0].ns, ==, 1000);
    g_assert_cmpuint(run_info->marks[0].snapshot, ==, 0);
    g_assert_cmpstr(run_info->marks[1].name, ==, "half");
    g_assert_cmpuint(run_info->marks[1].quanta, ==, 70);
    g_assert_cmpuint(run_info->marks[1].snapshot, ==, 4);
    g_assert_cmpstr(run_info->origin, ==, "folded stacks");
    const struct fm_depths *depths = fm_profile_depths(again, 1);
    g_assert_cmpuint(run_info->depths_count, ==, 1);
    g_assert_cmpuint(depths->greatest, ==, 9);
    g_assert_cmpuint(depths->unknown, ==, 2);
    g_assert_cmpuint(depths->calls[1], ==, 3);
    g_assert_cmpuint(depths->calls[2], ==, UINT64_MAX);
    g_assert_cmpuint(depths->calls[3], ==, 4);
    g_assert_null(fm_profile_depths(again, 2));
    const uint64_t *inclusive = fm_inclusive_find(&run_info->inclusive, 1);
    g_assert_cmpint(fm_inclusive_place(&run_info->inclusive, FM_QUANTA), ==, 0);
    g_assert_cmpint(fm_inclusive_place(&run_info->inclusive, FM_ALLOCS), ==, -1);
    g_assert_cmpint(fm_inclusive_place(&run_info->inclusive, FM_WORDS), ==, 1);
    g_assert_cmpuint(inclusive[0], ==, 290);
    g_assert_cmpuint(inclusive[1], ==, (uint64_t)1 << 40);
    g_assert_null(fm_inclusive_find(&run_info->inclusive, 2));
    g_assert_false(fm_profile_knows(again, FM_EXITS));
    g_assert_false(fm_profile_knows(again, FM_CALLSEQS));
    g_assert_true(fm_profile_knows(again, FM_QUANTA));
    g_assert_true(run_info->tick_event.recorded && run_info->tick_event.user_alone);
    g_assert_cmpuint(run_info->tick_event.period, ==, 1000);
    g_assert_cmpstr(fm_profile_tick_words(again), ==, "page faults");
    g_assert_true(run_info->extent.unfinished && run_info->extent.later);
    g_assert_cmpuint(run_info->extent.recorded_ns, ==, 7000000001);
    g_assert_cmpuint(fm_profile_recorded_ns(again), ==, 7000000001);
    g_assert_cmpuint(run_info->note_count, ==, 1);
    g_assert_cmpstr(run_info->notes[0], ==, "something was lost");
    g_assert_cmpuint(run_info->duration_ns, ==, 9000000000);
    g_assert_cmpuint(run_info->peak_bytes, ==, (uint64_t)1 << 40);
    g_assert_cmpuint(run_info->sample_count, ==, 75);
    g_assert_cmpuint(run_info->sample_squares, ==, 1160);
    g_assert_cmpfloat(fm_profile_samples(again, 40), ==, 10); /* four quanta each */
    g_assert_cmpstr(run_info->process.command, ==, "x 'a b'");
    g_assert_cmpstr(run_info->process.folder, ==, "/tmp");
    g_assert_cmpuint(run_info->process.pid, ==, 42);
    g_assert_cmpuint(run_info->process.parent_pid, ==, 41);
    g_assert_cmpuint(run_info->process.start_ns, ==, 1700000000000000001);
    g_assert_cmpuint(run_info->process.rank, ==, 8);
    g_assert_cmpuint(run_info->process.rank_count, ==, 64);
    g_assert_cmpstr(run_info->process.host, ==, "node3");
    g_assert_cmpuint(run_info->parts[0].process.rank, ==, 1000000);
    g_assert_cmpuint(run_info->parts[0].process.rank_count, ==, 0);
    g_assert_null(run_info->parts[0].process.host);
    struct fm_process_fact process;
    size_t size;
    const uint8_t *start = g_bytes_get_data(bytes, &size);
    g_assert_true(fm_profile_peek_process(start, size, &process));
    g_assert_cmpstr(process.command, ==, "x 'a b'");
    g_assert_cmpstr(process.folder, ==, "/tmp");
    g_assert_cmpuint(process.pid, ==, 42);
    g_assert_cmpuint(process.parent_pid, ==, 41);
    g_assert_cmpuint(process.start_ns, ==, 1700000000000000001);
    g_free((char *)(uintptr_t)process.command);
    g_free((char *)(uintptr_t)process.folder);
    for (size_t cut = 0; cut < size; cut++)
        g_assert_false(fm_profile_peek_process(start, cut, &process));
    g_assert_false(fm_profile_peek_process(start + 1, size - 1, &process));
    g_autoptr(GBytes) twice = encode(again, 9, false);
    g_assert_true(g_bytes_equal(bytes, twice));
    g_autoptr(GBytes) strict = encode(again, 9, true);
    g_autoptr(FmProfile) mercury = decode(strict);
    g_assert_cmpuint(mercury->run_info.mark_count + mercury->run_info.note_count, ==, 0);
}

/* The nodes are whole: what is behind them is facts, whole ones, or an error. */
static void test_damaged_facts(void)
{
    g_autoptr(FmProfile) profile = profile_with_facts();
    g_autoptr(GBytes) whole = encode(profile, 9, false);
    size_t size, refused = 0, accepted = 0;
    const uint8_t *bytes = g_bytes_get_data(whole, &size);
    struct fm_profile bare = *profile;
    bare.run_info = (struct fm_run_info){0};
    g_autoptr(GBytes) nodes = encode(&bare, 9, false);
    size_t nodes_end = g_bytes_get_size(nodes) + 1; /* with the token that ends them */
    for (size_t length = nodes_end; length < size; length++) {
        g_autofree uint8_t *copy = g_memdup2(bytes, length);
        g_autoptr(FmProfile) cut = NULL;
        g_autoptr(GError) error = NULL;
        if (fm_profile_read_bytes("cut", copy, length, NULL, &cut, &error)) {
            accepted++;
        } else {
            refused++;
            g_assert_error(error, FM_ERROR, FM_ERROR_TRUNCATED);
        }
    }
    g_assert_cmpuint(accepted, ==, 16); /* before each fact */
    g_assert_cmpuint(refused, >, 20);
    g_autofree uint8_t *copy = g_memdup2(bytes, size);
    copy[nodes_end] = 29;
    g_autoptr(FmProfile) none = NULL;
    g_autoptr(GError) error = NULL;
    g_assert_false(fm_profile_read_bytes("cut", copy, size, NULL, &none, &error));
    g_assert_error(error, FM_ERROR, FM_ERROR_FORMAT);
    g_assert_nonnull(strstr(error->message, "fact of kind 29, which is not known"));
}

static void assert_refused(GBytes *bytes, const char *text)
{
    size_t size;
    const uint8_t *start = g_bytes_get_data(bytes, &size);
    g_autoptr(FmProfile) none = NULL;
    g_autoptr(GError) error = NULL;
    g_assert_false(fm_profile_read_bytes("wrong", start, size, NULL, &none, &error));
    g_assert_error(error, FM_ERROR, FM_ERROR_FORMAT);
    g_assert_nonnull(strstr(error->message, text));
}

static void test_damaged_tick_event(void)
{
    g_autoptr(FmProfile) profile = profile_with_facts();
    struct fm_profile bare = *profile;
    bare.run_info = (struct fm_run_info){.tick_event = {true, false, 7}};
    g_autoptr(GBytes) bytes = encode(&bare, 9, false);
    size_t size;
    const uint8_t *start = g_bytes_get_data(bytes, &size);
    g_autofree uint8_t *copy = g_memdup2(start, size);
    g_assert_cmpuint(copy[size - 3], ==, 16);
    copy[size - 1] = 2;
    g_autoptr(GBytes) bits = g_bytes_new(copy, size);
    assert_refused(bits, "which events are sampled, bits 0x2, expected some of 0x1");
    bare.ticks_per_second = 1000;
    g_autoptr(GBytes) time = encode(&bare, 9, false);
    assert_refused(time, "samples by events in a profile of 1000 ticks per second, expected 0");
}

static void test_damaged_extent(void)
{
    g_autoptr(FmProfile) profile = profile_with_facts();
    struct fm_profile bare = *profile;
    bare.run_info = (struct fm_run_info){.extent = {.recorded_ns = 7, .later = true}};
    g_autoptr(GBytes) bytes = encode(&bare, 9, false);
    g_autoptr(FmProfile) again = decode(bytes);
    g_assert_true(again->run_info.extent.later && !again->run_info.extent.unfinished);
    size_t size;
    const uint8_t *start = g_bytes_get_data(bytes, &size);
    g_autofree uint8_t *copy = g_memdup2(start, size);
    g_assert_cmpuint(copy[size - 3], ==, 17);
    copy[size - 1] = 4;
    g_autoptr(GBytes) bits = g_bytes_new(copy, size);
    assert_refused(bits, "which part of the run this is, bits 0x4, expected some of 0x3");
    g_autoptr(FmProfile) none = NULL;
    g_autoptr(GError) error = NULL;
    g_assert_false(fm_profile_read_bytes("cut", copy, size - 1, NULL, &none, &error));
    g_assert_error(error, FM_ERROR, FM_ERROR_TRUNCATED);
}

/* A C profile in Mercury's strict form. */
static void test_strict(void)
{
    g_autoptr(FmProfile) profile = small_profile(FM_FLAVOUR_C, FM_COVERAGE_DYNAMIC);
    g_autoptr(GBytes) bytes = encode(profile, 9, true);
    g_autoptr(FmProfile) strict = decode(bytes);
    g_assert_cmpint(strict->flavour, ==, FM_FLAVOUR_MERCURY);
    g_assert_cmpuint(strict->version, ==, 9);
    g_assert_cmpuint(strict->measure_count, ==, FM_MEASURES_MERCURY);
    g_assert_cmpstr(strict->css[3].goal_path, ==, "c2;");
    g_assert_cmpstr(strict->ps[2].raw_name, ==, "m.main/2-0");
    for (uint32_t csd = 1; csd <= 6; csd++)
        g_assert_cmpuint(fm_profile_own(strict, csd, FM_WORDS), ==,
                         fm_profile_own(profile, csd, FM_WORDS));

    struct fm_build *build = fm_build_new(FM_FLAVOUR_C, "x");
    fm_build_ps(build, &(struct fm_ps){.name = "f"});
    fm_build_css(build, 1, &(struct fm_css){.kind = FM_SITE_NORMAL}); /* callee not known */
    fm_build_pd(build, 1);
    g_autoptr(FmProfile) unknown = NULL;
    g_autoptr(GError) error = NULL;
    g_assert_true(fm_build_finish(build, &unknown, &error));
    g_autofree char *path = g_build_filename(g_get_tmp_dir(), "fathom-strict.data", NULL);
    g_assert_false(fm_profile_write(unknown, path, true, &error));
    g_assert_error(error, FM_ERROR, FM_ERROR_UNAVAILABLE);
    g_assert_false(g_file_test(path, G_FILE_TEST_EXISTS));
}

static void test_file(void)
{
    g_autoptr(FmProfile) profile = small_profile(FM_FLAVOUR_MERCURY, FM_COVERAGE_DYNAMIC);
    g_autofree char *folder = g_dir_make_tmp("fathom-build-XXXXXX", NULL);
    g_autofree char *path = g_build_filename(folder, "x.data", NULL);
    g_autoptr(GError) error = NULL;
    g_assert_true(fm_profile_write(profile, path, false, &error));
    g_autoptr(FmProfile) again = NULL;
    g_assert_true(fm_profile_read(path, NULL, &again, &error));
    assert_same_profile(profile, again);
    g_unlink(path);
    g_rmdir(folder);
}

static void mistake_site(struct fm_build *build)
{
    fm_build_css(build, 9, &(struct fm_css){.kind = FM_SITE_NORMAL, .callee_ps = 1});
}
static void mistake_slot(struct fm_build *build)
{
    fm_build_csd(build, 1, 7, 1);
}
static void mistake_pd(struct fm_build *build)
{
    fm_build_csd(build, 1, 0, 9);
}
static void mistake_two(struct fm_build *build)
{
    fm_build_csd(build, 1, 1, 1);
    fm_build_csd(build, 1, 1, 1);
}
static void mistake_ps(struct fm_build *build)
{
    fm_build_pd(build, 0);
}
static void mistake_room(struct fm_build *build)
{
    /* its index would be that of exits */
    g_assert_cmpuint(fm_build_own_measure(build, FM_WAITS), ==, 0);
}

static void mistake_measure(struct fm_build *build)
{
    fm_build_add(build, 1, 12, 1);
}
static void mistake_point(struct fm_build *build)
{
    fm_build_point(build, 1, &(struct fm_coverage_point){.goal_path = "c1;"});
}
static void mistake_path(struct fm_build *build)
{
    fm_build_css(build, 1, &(struct fm_css){.kind = FM_SITE_METHOD, .goal_path = "c0;"});
}

static void test_mistakes(void)
{
    static const struct {
        void (*make)(struct fm_build *build);
        const char *message;
    } cases[] = {
        {mistake_site, "call site static 3 of kind 0 belongs to proc static 9, expected 1 to 1"},
        {mistake_slot, "call site dynamic 1 is in slot 7 of proc dynamic 1, expected below 2"},
        {mistake_pd, "call site dynamic 1 leads from proc dynamic 1 to 9, expected 1 to 1"},
        {mistake_two,
         "slot 1 of proc dynamic 1 holds call site dynamics 1 and 2, expected one, as its site is "
         "normal"},
        {mistake_ps, "proc dynamic 2 is of proc static 0, expected 1 to 1"},
        {mistake_room, "measure \"waits\", but a profile has room for 8 measures"},
        {mistake_measure, "measure 12 of call site dynamic 1, expected below 8 and 1 to 0"},
        {mistake_point, "there are coverage points, but the header says that there is no coverage"},
        {mistake_path, "call site static 3 has the bad goal path \"c0;\""},
    };
    for (unsigned i = 0; i < G_N_ELEMENTS(cases); i++) {
        struct fm_build *build = fm_build_new(FM_FLAVOUR_MERCURY, "x");
        fm_build_ps(build, &(struct fm_ps){.name = "f"});
        fm_build_css(build, 1, &(struct fm_css){.kind = FM_SITE_CALLBACK});
        fm_build_css(build, 1, &(struct fm_css){.kind = FM_SITE_NORMAL, .callee_ps = 1});
        fm_build_pd(build, 1);
        cases[i].make(build);
        struct fm_profile *none = NULL;
        g_autoptr(GError) error = NULL;
        g_assert_false(fm_build_finish(build, &none, &error));
        g_assert_null(none);
        g_assert_true(g_str_has_suffix(error->message, cases[i].message) ||
                      (g_test_message("%s", error->message), false));
    }
    struct fm_build *empty = fm_build_new(FM_FLAVOUR_C, NULL);
    struct fm_profile *none = NULL;
    g_autoptr(GError) error = NULL;
    struct fm_build *mercury = fm_build_new(FM_FLAVOUR_MERCURY, "x");
    g_assert_cmpuint(fm_build_measure(mercury, "x", "x", 1), ==, 0);
    fm_build_free(mercury);
    g_assert_false(fm_build_finish(empty, &none, &error));
    g_assert_error(error, FM_ERROR, FM_ERROR_FORMAT);
}

static void test_names(void)
{
    static const struct {
        struct fm_ps ps;
        const char *raw, *unqualified, *qualified;
    } cases[] = {
        {{.decl_module = "list", .name = "append", .arity = 3, .mode = 1},
         "list.append/3-1",
         "append/3-1",
         "list.append/3-1"},
        {{.label_kind = FM_LABEL_FUNCTION, .decl_module = "math", .name = "sqrt", .arity = 2},
         "math.sqrt/2+1-0",
         "sqrt/2+1-0",
         "math.sqrt/2+1-0"},
        {{.label_kind = FM_LABEL_SPECIAL,
          .decl_module = "m",
          .name = "__Unify__",
          .type_name = "tree",
          .arity = 2},
         "__Unify__ for m.tree/2 mode 0",
         "Unify for tree/2",
         "Unify for m.tree/2"},
        {{.label_kind = FM_LABEL_SPECIAL,
          .decl_module = "m",
          .name = "__CompareRep__",
          .type_name = "t",
          .mode = 3},
         "__CompareRep__ for m.t/0 mode 3",
         "CompareRep for t/0 mode 3",
         "CompareRep for m.t/0 mode 3"},
        {{.label_kind = FM_LABEL_SPECIAL, .decl_module = "m", .name = "__Odd__", .type_name = "t"},
         "__Odd__ for m.t/0 mode 0",
         "__Odd__ for t/0",
         "__Odd__ for m.t/0"},
        {{.decl_module = "m", .name = "TypeSpecOf__pred__insert__[K = int, V = s]__x", .arity = 4},
         "m.TypeSpecOf__pred__insert__[K = int, V = s]__x/4-0",
         "insert/4-0 [K = int, V = s]",
         "m.insert/4-0 [K = int, V = s]"},
        {{.decl_module = "m", .name = "TypeSpecOf__pred_or_func__f__[T]", .arity = 1, .mode = 2},
         "m.TypeSpecOf__pred_or_func__f__[T]/1-2",
         "f/1-2 [T]",
         "m.f/1-2 [T]"},
        {{.decl_module = "m", .name = "TypeSpecOf__pred__noBracket", .arity = 1},
         "m.TypeSpecOf__pred__noBracket/1-0",
         "TypeSpecOf__pred__noBracket/1-0",
         "m.TypeSpecOf__pred__noBracket/1-0"},
        {{.decl_module = "m", .name = "IntroducedFrom__pred__main__42__1", .arity = 2},
         "m.IntroducedFrom__pred__main__42__1/2-0",
         "main lambda line 42/2",
         "m.main lambda line 42/2"},
        {{.label_kind = FM_LABEL_FUNCTION,
          .decl_module = "m",
          .name = "IntroducedFrom__func__a__b__7__3",
          .arity = 1},
         "m.IntroducedFrom__func__a__b__7__3/1+1-0",
         "a__b lambda line 7/1+1",
         "m.a__b lambda line 7/1+1"},
        {{.decl_module = "m", .name = "IntroducedFrom__pred__x", .arity = 0},
         "m.IntroducedFrom__pred__x/0-0",
         "IntroducedFrom__pred__x/0-0",
         "m.IntroducedFrom__pred__x/0-0"},
        {{.decl_module = "m", .name = "IntroducedFrom__odd__x__1__2", .arity = 0},
         "m.IntroducedFrom__odd__x__1__2/0-0",
         "IntroducedFrom__odd__x__1__2/0-0",
         "m.IntroducedFrom__odd__x__1__2/0-0"},
    };
    struct fm_build *build = fm_build_new(FM_FLAVOUR_MERCURY, "x");
    for (unsigned i = 0; i < G_N_ELEMENTS(cases); i++)
        fm_build_ps(build, &cases[i].ps);
    fm_build_pd(build, 1);
    g_autoptr(FmProfile) profile = NULL;
    g_assert_true(fm_build_finish(build, &profile, NULL));
    for (unsigned i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_assert_cmpstr(profile->ps[i + 1].raw_name, ==, cases[i].raw);
        g_assert_cmpstr(profile->ps[i + 1].unqualified_name, ==, cases[i].unqualified);
        g_assert_cmpstr(profile->ps[i + 1].qualified_name, ==, cases[i].qualified);
    }
}

/* Functions of C++: short names, but no two that are the same. */
static void test_cxx_names(void)
{
#define OLD_STRING "std::basic_string<char, std::char_traits<char>, std::allocator<char> >"
#define NEW_STRING "std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> >"
    static const struct {
        struct fm_ps ps;
        const char *unqualified, *qualified, *brief;
    } cases[] = {
        {{.decl_module = "", .name = "the program"}, "the program", "the program", "the program"},
        {{.decl_module = "a/m.cc", .name = "f(" NEW_STRING " const&)", .raw_name = "_Z1f"},
         "f(std::string const&)",
         "a/m.cc:f(std::string const&)",
         "m.cc:f(std::string const&)"},
        {{.decl_module = "a/m.cc", .name = "g(" OLD_STRING ")", .raw_name = "_Z1g1"},
         "g(" OLD_STRING ")",
         "a/m.cc:g(" OLD_STRING ")",
         "m.cc:g(" OLD_STRING ")"},
        {{.decl_module = "a/m.cc", .name = "g(" NEW_STRING ")", .raw_name = "_Z1g2"},
         "g(" NEW_STRING ")",
         "a/m.cc:g(" NEW_STRING ")",
         "m.cc:g(" NEW_STRING ")"},
        {{.decl_module = "a/m.cc", .name = "t::t()", .raw_name = "_ZN1tC1Ev"},
         "t::t() [_ZN1tC1Ev]",
         "a/m.cc:t::t() [_ZN1tC1Ev]",
         "m.cc:t::t() [_ZN1tC1Ev]"},
        {{.decl_module = "a/m.cc", .name = "t::t()", .raw_name = "_ZN1tC2Ev"},
         "t::t() [_ZN1tC2Ev]",
         "a/m.cc:t::t() [_ZN1tC2Ev]",
         "m.cc:t::t() [_ZN1tC2Ev]"},
        {{.decl_module = "a/util.c", .name = "help"}, "help", "a/util.c:help", "a/util.c:help"},
        {{.decl_module = "b/util.c", .name = "help"}, "help", "b/util.c:help", "b/util.c:help"},
        {{.decl_module = "b/util.c", .name = "once"}, "once", "b/util.c:once", "util.c:once"},
    };
    static const char *const shown[] = {
        "the program", "f",    "g",    "g [__cxx11]", "t::t [complete]",
        "t::t [base]", "help", "help", "once"};
    static const char *const alone[] = {"the program", "f",    "g",    "g",   "t::t",
                                        "t::t",        "help", "help", "once"};
    struct fm_build *build = fm_build_new(FM_FLAVOUR_C, "x");
    for (unsigned i = 0; i < G_N_ELEMENTS(cases); i++)
        fm_build_ps(build, &cases[i].ps);
    fm_build_pd(build, 1);
    g_autoptr(FmProfile) profile = NULL;
    g_assert_true(fm_build_finish(build, &profile, NULL));
    static const uint32_t all[] = {1, 2, 3, 4, 5, 6, 7, 8, 9};
    G_STATIC_ASSERT(G_N_ELEMENTS(all) == G_N_ELEMENTS(cases));
    g_auto(GStrv) apart = fm_profile_names_apart(profile, all, G_N_ELEMENTS(all));
    for (unsigned i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_assert_cmpstr(profile->ps[i + 1].name, ==, cases[i].ps.name);
        g_assert_cmpstr(profile->ps[i + 1].unqualified_name, ==, cases[i].unqualified);
        g_assert_cmpstr(profile->ps[i + 1].qualified_name, ==, cases[i].qualified);
        g_assert_cmpstr(profile->ps[i + 1].brief_name, ==, cases[i].brief);
        g_assert_cmpstr(apart[i], ==, shown[i]);
        g_assert_cmpstr(fm_profile_short_name(profile, i + 1), ==, alone[i]);
        g_assert_true(fm_profile_short_name(profile, i + 1) ==
                      fm_profile_short_name(profile, i + 1));
    }
}

static void test_goal_paths(void)
{
    static const char *const good[] = {"", "c8;s2-2;c2;s1-na;c3;", "d1;?;t;e;~;q;q!;=;r;a;o12;"};
    static const char *const bad[] = {"c",    "c;",  "c1",      "c0;", "s1;",  "s1-;",
                                      "s-2;", "x;",  ";",       "!;",  "c1;;", "c99999999999;",
                                      "q!",   "t1;", "c1;s2-0;"};
    for (unsigned i = 0; i < G_N_ELEMENTS(good); i++)
        g_assert_true(fm_goal_path_is_valid(good[i]));
    for (unsigned i = 0; i < G_N_ELEMENTS(bad); i++) {
        g_test_message("%s", bad[i]);
        g_assert_false(fm_goal_path_is_valid(bad[i]));
    }
    const char *path = "s2-5;q!;o3;";
    struct fm_goal_step step;
    g_assert_true(fm_goal_path_next(&path, &step));
    g_assert_cmpint(step.kind, ==, FM_STEP_SWITCH);
    g_assert_cmpuint(step.number, ==, 2);
    g_assert_cmpuint(step.functors, ==, 5);
    g_assert_true(fm_goal_path_next(&path, &step));
    g_assert_cmpint(step.kind, ==, FM_STEP_SCOPE_CUT);
    g_assert_true(fm_goal_path_next(&path, &step));
    g_assert_cmpint(step.kind, ==, FM_STEP_OR_ELSE);
    g_assert_cmpuint(step.number, ==, 3);
    g_assert_false(fm_goal_path_next(&path, &step));
    g_assert_cmpstr(path, ==, "");
}

/* Calls from these contexts, at these slots, in this order: are they in the order of slots? */
static bool are_in_order(const uint32_t (*calls)[2], unsigned count)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(FmProfile) profile = NULL;
    struct fm_build *build = fm_build_new(FM_FLAVOUR_C, "order");
    uint32_t ps = fm_build_ps(build, &(struct fm_ps){.name = "f", .raw_name = "f"});
    for (unsigned site = 1; site <= 2; site++)
        fm_build_css(build, ps, &(struct fm_css){.kind = FM_SITE_HIGHER_ORDER, .line = site});
    for (unsigned pd = 1; pd <= 2; pd++)
        fm_build_pd(build, ps);
    for (unsigned i = 0; i < count; i++)
        fm_build_csd(build, calls[i][0], calls[i][1], 2);
    g_assert_true(fm_build_finish(build, &profile, &error));
    return profile->csds_in_order;
}

static void test_order(void)
{
    g_assert_true(are_in_order((const uint32_t[][2]){{1, 0}}, 1));
    g_assert_true(are_in_order((const uint32_t[][2]){{1, 0}, {1, 0}, {1, 1}, {2, 0}}, 4));
    g_assert_true(are_in_order((const uint32_t[][2]){{1, 1}, {2, 0}, {2, 0}}, 3));
    g_assert_false(are_in_order((const uint32_t[][2]){{1, 1}, {1, 0}}, 2));
    g_assert_false(are_in_order((const uint32_t[][2]){{2, 0}, {1, 0}}, 2));
    g_assert_false(are_in_order((const uint32_t[][2]){{1, 0}, {2, 0}, {1, 0}}, 3));
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/build/round-trip", test_round_trip);
    g_test_add_func("/build/contents", test_contents);
    g_test_add_func("/build/order", test_order);
    g_test_add_func("/build/facts", test_facts);
    g_test_add_func("/build/damaged facts", test_damaged_facts);
    g_test_add_func("/build/damaged tick event", test_damaged_tick_event);
    g_test_add_func("/build/damaged extent", test_damaged_extent);
    g_test_add_func("/build/strict", test_strict);
    g_test_add_func("/build/file", test_file);
    g_test_add_func("/build/mistakes", test_mistakes);
    g_test_add_func("/build/names", test_names);
    g_test_add_func("/build/cxx-names", test_cxx_names);
    g_test_add_func("/build/goal-paths", test_goal_paths);
    return g_test_run();
}

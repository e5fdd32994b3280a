/* SPDX-License-Identifier: Apache-2.0 */
/* Bad input: one clear error, nothing else. */
#include <glib/gstdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "compare.h"

static GError *read_error(const uint8_t *bytes, size_t size)
{
    struct fm_profile *profile = NULL;
    GError *error = NULL;
    bool done = fm_profile_read_bytes("bad", bytes, size, NULL, &profile, &error);
    g_assert_true(done == (error == NULL));
    g_assert_true(done == (profile != NULL));
    fm_profile_free(profile);
    return error;
}

static void assert_clear(const GError *error)
{
    g_assert_cmpuint(error->domain, ==, FM_ERROR);
    g_assert_true(g_str_has_prefix(error->message, "bad: offset "));
    g_assert_cmpuint(strlen(error->message), <, 500);
}

/* Every prefix of a profile is refused. */
static void test_truncated(void)
{
    for (unsigned flavour = FM_FLAVOUR_MERCURY; flavour <= FM_FLAVOUR_C; flavour++) {
        g_autoptr(FmProfile) profile = small_profile((enum fm_flavour)flavour, FM_COVERAGE_DYNAMIC);
        g_autoptr(GBytes) whole = encode(profile, 9, false);
        const uint8_t *bytes = g_bytes_get_data(whole, NULL);
        for (size_t size = 0; size < g_bytes_get_size(whole); size++) {
            g_autofree uint8_t *copy = g_memdup2(bytes, size); /* exact, for sanitizers */
            g_autoptr(GError) error = read_error(copy, size);
            g_assert_nonnull(error);
            assert_clear(error);
            if (size > strlen("fathom deep profile data version 1\n") + 5)
                g_assert_error(error, FM_ERROR, FM_ERROR_TRUNCATED);
        }
    }
}

/* Every bit flipped, every byte changed to some values: an error or a profile, and what is read can
 * be written. */
static void test_changed(void)
{
    unsigned refused = 0, accepted = 0;
    for (unsigned flavour = FM_FLAVOUR_MERCURY; flavour <= FM_FLAVOUR_C; flavour++) {
        g_autoptr(FmProfile) profile = small_profile((enum fm_flavour)flavour, FM_COVERAGE_DYNAMIC);
        g_autoptr(GBytes) whole = encode(profile, 9, false);
        size_t size = g_bytes_get_size(whole);
        g_autofree uint8_t *copy = g_memdup2(g_bytes_get_data(whole, NULL), size);
        for (size_t at = 0; at < size; at++) {
            uint8_t before = copy[at];
            for (unsigned i = 0; i < 13; i++) {
                const uint8_t others[] = {0, 0x80, 0xff, (uint8_t)(before + 1),
                                          (uint8_t)(before - 1)};
                uint32_t flipped = (before ^ 1u << (i & 7)) & 0xffu;
                copy[at] = i < 8 ? (uint8_t)flipped : others[i - 8];
                struct fm_profile *read = NULL;
                g_autoptr(GError) error = NULL;
                if (!fm_profile_read_bytes("bad", copy, size, NULL, &read, &error)) {
                    assert_clear(error);
                    refused++;
                    continue;
                }
                g_autoptr(GBytes) again = encode(read, 9, false);
                g_assert_cmpuint(g_bytes_get_size(again), >, 0);
                fm_profile_free(read);
                accepted++;
            }
            copy[at] = before;
        }
    }
    g_assert_cmpuint(refused, >, accepted / 4);
    g_assert_cmpuint(accepted, >, 0);
}

/* A header, then the nodes that a case gives. */
static GError *read_nodes(const uint64_t *counts, uint64_t root, const char *nodes, size_t size)
{
    struct fm_writer *writer = fm_writer_new_memory();
    fm_writer_bytes(writer, "Mercury deep profiler data version 9\n", 37);
    fm_writer_string(writer, "x");
    fm_writer_fixed(writer, 0x108);
    for (unsigned i = 0; i < 4; i++)
        fm_writer_fixed(writer, counts[i]);
    for (unsigned i = 0; i < 4; i++)
        fm_writer_num(writer, 0);
    fm_writer_num(writer, root);
    g_assert_cmpuint(fm_writer_offset(writer), ==, 84);
    fm_writer_bytes(writer, nodes, size);
    g_autoptr(GBytes) bytes = fm_writer_finish_memory(writer);
    return read_error(g_bytes_get_data(bytes, NULL), g_bytes_get_size(bytes));
}

#define PD "\4\1\1\2\0\1\4\2\0"               /* pd 1 of ps 1: csd 1, then a list of csd 2 */
#define CSD1 "\2\1\1\0"                       /* csd 1 to pd 1 */
#define CSD2 "\2\2\1\x88\x00\1"               /* csd 2 to pd 1, callseqs... */
#define PS "\3\1\0\1m\1m\1p\0\0\1f\1\0\2\1\2" /* ps 1 with css 1, 2 */
#define CSS1 "\1\1\0\1\0\0\1\0"               /* normal, callee 1 */
#define CSS2 "\1\2\4\0\1\0"                   /* callback */

static void test_nodes(void)
{
    static const struct {
        const char *why;
        const char *nodes;
        size_t size;
        int code;            /* -1: sound */
        const char *message; /* its end */
    } cases[] = {
#define CASE(why, nodes, code, message) {why, nodes, sizeof(nodes) - 1, code, message}
        CASE("sound", PD CSD1 "\2\2\1\0" PS CSS1 CSS2, -1, NULL),
        CASE("sound, statics first, end token, bytes after it",
             CSS2 CSS1 PS "\2\2\1\0" CSD1 PD "\0garbage", -1, NULL),
        CASE("sound, a call count before the exits", PD "\2\1\1\3\7\5\2\2\1\0" PS CSS1 CSS2, -1,
             NULL),
        CASE("bad token", PD "\5" CSD1 "\2\2\1\0" PS CSS1 CSS2, FM_ERROR_FORMAT,
             "offset 93: unexpected token 5, expected 0 to 4"),
        CASE("csd id 0", PD "\2\0\1\0\2\2\1\0" PS CSS1 CSS2, FM_ERROR_FORMAT,
             "offset 94: id of a call site dynamic is 0, expected 1 to 2"),
        CASE("csd id too large", PD "\2\3\1\0\2\2\1\0" PS CSS1 CSS2, FM_ERROR_FORMAT,
             "offset 94: id of a call site dynamic is 3, expected 1 to 2"),
        CASE("csd twice", PD CSD1 CSD1 PS CSS1 CSS2, FM_ERROR_FORMAT,
             "offset 97: call site dynamic 1 is defined twice"),
        CASE("csd missing", PD CSD1 PS CSS1 CSS2, FM_ERROR_TRUNCATED,
             "call site dynamic 2 is missing, expected all from 1 to 2"),
        CASE("callee 0", PD "\2\1\0\0\2\2\1\0" PS CSS1 CSS2, FM_ERROR_FORMAT,
             "offset 95: call site dynamic 1 refers to proc dynamic 0, expected 1 to 1"),
        CASE("callee too large", PD "\2\1\2\0\2\2\1\0" PS CSS1 CSS2, FM_ERROR_FORMAT,
             "offset 95: call site dynamic 1 refers to proc dynamic 2, expected 1 to 1"),
        CASE("unknown mask bit", PD "\2\1\1\x84\0\2\2\1\0" PS CSS1 CSS2, FM_ERROR_FORMAT,
             "offset 96: mask of measurements is 0x200, expected no bits but 0x1ff"),
        CASE("slot names csd 3", "\4\1\1\2\0\3\4\2\0" CSD1 "\2\2\1\0" PS CSS1 CSS2, FM_ERROR_FORMAT,
             "offset 89: proc dynamic 1 refers to call site dynamic 3, expected 0 to 2"),
        CASE("csd in two slots", "\4\1\1\2\0\1\4\1\0" CSD1 "\2\2\1\0" PS CSS1 CSS2, FM_ERROR_FORMAT,
             "offset 84: call site dynamic 1 stands in slots of proc dynamics 1 and 1"),
        CASE("csd in no slot", "\4\1\1\2\0\1\4\0" CSD1 "\2\2\1\0" PS CSS1 CSS2, FM_ERROR_FORMAT,
             "offset 96: call site dynamic 2 stands in no slot of a proc dynamic"),
        CASE("slot of another kind", "\4\1\1\2\0\1\3\2\0" CSD1 "\2\2\1\0" PS CSS1 CSS2,
             FM_ERROR_FORMAT,
             "offset 84: slot 1 of proc dynamic 1 is of kind 3, expected 4 as call site static 2"),
        CASE("slot of no kind", "\4\1\1\2\0\1\5\2\0" CSD1 "\2\2\1\0" PS CSS1 CSS2, FM_ERROR_FORMAT,
             "offset 90: unexpected call_site_kind 5, expected 0 to 4"),
        CASE("too few slots", "\4\1\1\1\4\1\2\0" CSD1 "\2\2\1\0" PS CSS1 CSS2, FM_ERROR_FORMAT,
             "offset 84: proc dynamic 1 has 1 slots, expected 2 as proc static 1 has call sites"),
        CASE("2^60 slots", "\4\1\1\x90\x80\x80\x80\x80\x80\x80\x80\0\0\1\4\2\0" CSD1,
             FM_ERROR_TRUNCATED, NULL),
        CASE("ps too large", "\4\1\2\2\0\1\4\2\0" CSD1 "\2\2\1\0" PS CSS1 CSS2, FM_ERROR_FORMAT,
             "offset 86: proc dynamic 1 refers to proc static 2, expected 1 to 1"),
        CASE("css twice", PD CSD1 "\2\2\1\0" PS CSS1 CSS1, FM_ERROR_FORMAT,
             "call site static 1 is defined twice"),
        CASE("css in two slots of a ps",
             PD CSD1 "\2\2\1\0"
                     "\3\1\0\1m\1m\1p\0\0\1f\1\0\2\1\1" CSS1 CSS2,
             FM_ERROR_FORMAT,
             "offset 101: proc static 1 has call site static 1, which already belongs to proc "
             "static 1"),
        CASE("css in no ps",
             PD CSD1 "\2\2\1\0"
                     "\3\1\0\1m\1m\1p\0\0\1f\1\0\1\1" CSS1 CSS2,
             FM_ERROR_FORMAT, "call site static 2 belongs to no proc static"),
        CASE("bad label",
             PD CSD1 "\2\2\1\0"
                     "\3\1\3\1m\1m\1p\0\0\1f\1\0\2\1\2" CSS1 CSS2,
             FM_ERROR_FORMAT, "offset 103: unexpected proclabel_kind 3, expected 0 to 2"),
        CASE("bad kind of site", PD CSD1 "\2\2\1\0" PS CSS1 "\1\2\6\0\1\0", FM_ERROR_FORMAT,
             "unexpected call_site_kind 6, expected 0 to 4"),
        CASE("bad goal path", PD CSD1 "\2\2\1\0" PS CSS1 "\1\2\4\0\1\2x;", FM_ERROR_FORMAT,
             "bad goal path \"x;\""),
        CASE("callee of a normal site", PD CSD1 "\2\2\1\0" PS "\1\1\0\2\0\0\1\0" CSS2,
             FM_ERROR_FORMAT, "call site static 1 refers to proc static 2, expected 1 to 1"),
        CASE("string of 2^60 bytes",
             PD CSD1 "\2\2\1\0"
                     "\3\1\0\x90\x80\x80\x80\x80\x80\x80\x80\0m\1m\1p\0\0\1f\1\0\2\1\2" CSS1 CSS2,
             FM_ERROR_TRUNCATED, NULL),
        CASE("value of 70 bits",
             PD "\2\1\1\2\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x7f\2\2\1\0" PS CSS1 CSS2,
             FM_ERROR_FORMAT, "offset 97: number of more than 64 bits, expected measurement"),
    };
    static const uint64_t counts[] = {2, 2, 1, 1}; /* csd, css, pd, ps */
    for (unsigned i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autoptr(GError) error = read_nodes(counts, 1, cases[i].nodes, cases[i].size);
        g_test_message("%s: %s", cases[i].why, error ? error->message : "sound");
        if (cases[i].code < 0) {
            g_assert_no_error(error);
            continue;
        }
        g_assert_error(error, FM_ERROR, cases[i].code);
        if (cases[i].message)
            g_assert_true(g_str_has_suffix(error->message, cases[i].message));
    }
}

static void test_counts(void)
{
    static const struct {
        uint64_t counts[4], root;
        int code;
        const char *message;
    } cases[] = {
        {{(uint64_t)1 << 60, 1, 1, 1},
         1,
         FM_ERROR_TRUNCATED,
         "bad: offset 47: number of call site dynamic nodes is 1152921504606846976, which take at "
         "least 4 bytes each, but unexpected end of file after"},
        {{1, (uint64_t)1 << 60, 1, 1}, 1, FM_ERROR_TRUNCATED, "bad: offset 55: "},
        {{1, 1, UINT64_MAX, 1}, 1, FM_ERROR_TRUNCATED, "bad: offset 63: "},
        {{1, 1, 1, (uint64_t)1 << 31}, 1, FM_ERROR_TRUNCATED, "bad: offset 71: "},
        {{20, 20, 20, 1}, 1, FM_ERROR_TRUNCATED, "bad: offset 79: the announced nodes take at "},
        {{0, 0, 0, 0}, 1, FM_ERROR_TRUNCATED, "bad: offset 79: all counts of nodes are 0"},
        {{1, 1, 1, 1}, 0, FM_ERROR_FORMAT, "bad: offset 83: root is proc dynamic 0"},
        {{1, 1, 1, 1}, 2, FM_ERROR_FORMAT, "bad: offset 83: root is proc dynamic 2"},
        {{0, 0, 0, 1}, 1, FM_ERROR_FORMAT, "bad: offset 83: root is proc dynamic 1"},
    };
    static const char nodes[100];
    for (unsigned i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autoptr(GError) error = read_nodes(cases[i].counts, cases[i].root, nodes, sizeof(nodes));
        g_test_message("%s", error->message);
        g_assert_error(error, FM_ERROR, cases[i].code);
        g_assert_true(g_str_has_prefix(error->message, cases[i].message));
    }
}

/* Announces as many csds as its size allows, each with sixteen 64-bit measures. */
static GBytes *greedy_file(size_t size)
{
    struct fm_profile header = {.program_name = "greedy",
                                .root_pd = 1,
                                .pd_count = 1,
                                .ps_count = 1,
                                .css_count = 1,
                                .measure_count = FM_MEASURES_MAX,
                                .csd_count = (uint32_t)(size / 4 - 200)};
    static const char *const names[FM_MEASURES_MAX] = {"a", "b", "c", "d", "e", "f", "g", "h",
                                                       "i", "j", "k", "l", "m", "n", "o", "p"};
    for (unsigned m = 0; m < FM_MEASURES_MAX; m++)
        header.measures[m] = (struct fm_measure){names[m], "", 1};
    struct fm_writer *writer = fm_writer_new_memory();
    struct fm_encoding encoding = {.flavour = FM_FLAVOUR_C};
    fm_encode_header(writer, &encoding, &header);
    uint64_t values[FM_MEASURES_MAX];
    for (unsigned m = 0; m < FM_MEASURES_MAX; m++)
        values[m] = (uint64_t)1 << 40;
    fm_encode_csd(writer, header.csd_count, 1, values, FM_MEASURES_MAX);
    while (fm_writer_offset(writer) < size)
        fm_writer_byte(writer, 9);
    return fm_writer_finish_memory(writer);
}

static size_t address_space(void)
{
    g_autofree char *text = NULL;
    g_assert_true(g_file_get_contents("/proc/self/statm", &text, NULL, NULL));
    return (size_t)strtoull(text, NULL, 10) * (size_t)sysconf(_SC_PAGESIZE);
}

/* Memory stays within a multiple of the file's size; where there is not even that, an error. */
static void test_memory(void)
{
#if defined(__SANITIZE_ADDRESS__)
    const bool sanitized = true;
#else
    const bool sanitized = false;
#endif
    if (sanitized) {
        g_test_skip("a sanitizer needs the address space that the test limits");
        return;
    }
    const size_t size = 3 << 20;
    if (!g_test_subprocess()) {
        g_test_trap_subprocess(NULL, 0, 0);
        g_test_trap_assert_passed();
        return;
    }
    g_autoptr(GBytes) bytes = greedy_file(size);
    static const struct {
        size_t multiple;
        int code;
    } cases[] = {{45, FM_ERROR_FORMAT}, {2, FM_ERROR_LIMIT}, {20, FM_ERROR_LIMIT}};
    for (unsigned i = 0; i < G_N_ELEMENTS(cases); i++) {
        struct rlimit before, limit;
        g_assert_cmpint(getrlimit(RLIMIT_AS, &before), ==, 0);
        limit = before;
        limit.rlim_cur = address_space() + cases[i].multiple * size;
        g_assert_cmpint(setrlimit(RLIMIT_AS, &limit), ==, 0);
        g_autoptr(GError) error =
            read_error(g_bytes_get_data(bytes, NULL), g_bytes_get_size(bytes));
        g_assert_cmpint(setrlimit(RLIMIT_AS, &before), ==, 0);
        g_assert_error(error, FM_ERROR, cases[i].code);
    }
}

static void test_id_line(void)
{
    static const struct {
        const char *text;
        int code;
        const char *message;
    } cases[] = {
        {"", FM_ERROR_TRUNCATED, "not a deep profiling data file: it is empty"},
        {"Mercury deep profiler data version 9", FM_ERROR_FORMAT, "not a deep profiling data file"},
        {"Mercury deep profiler data version \n", FM_ERROR_FORMAT,
         "not a deep profiling data file"},
        {"Mercury deep profiler data version 9x\n", FM_ERROR_FORMAT,
         "not a deep profiling data file"},
        {"Mercury deep profiler data version 00000000000009\n", FM_ERROR_FORMAT,
         "not a deep profiling data file"},
        {"Mercury deep profiler data version 7\n", FM_ERROR_VERSION,
         "version number mismatch: version is 7, expected 8 or 9"},
        {"Mercury deep profiler data version 10\n", FM_ERROR_VERSION, "version number mismatch"},
        {"fathom deep profile data version 2\n", FM_ERROR_VERSION,
         "version number mismatch: version is 2, expected 1"},
        {"mercury deep profiler data version 9\n", FM_ERROR_FORMAT,
         "not a deep profiling data file"},
        {"Mercury deep profiler data version 9\n", FM_ERROR_TRUNCATED,
         "offset 37: unexpected end of file, expected program name"},
        {"Mercury deep profiler data version 9\n\1x\x08\x31\0", FM_ERROR_TRUNCATED, "offset"},
        {"Mercury deep profiler data version 9\n\1x\x08\x41\1\1\1\1\1\1", FM_ERROR_FORMAT,
         "offset 39: Error parsing flags in file header, flags are 0x101010101014108"},
    };
    for (unsigned i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autoptr(GError) error = read_error((const uint8_t *)cases[i].text, strlen(cases[i].text));
        g_test_message("%s", error->message);
        g_assert_error(error, FM_ERROR, cases[i].code);
        g_assert_true(g_strrstr(error->message, cases[i].message) != NULL);
    }
}

static void test_files(void)
{
    g_autofree char *folder = g_dir_make_tmp("fathom-damage-XXXXXX", NULL);
    g_autofree char *path = g_build_filename(folder, "x.data", NULL);
    g_autofree char *fifo = g_build_filename(folder, "fifo", NULL);
    g_autofree char *missing = g_build_filename(folder, "missing", NULL);
    g_assert_cmpint(mkfifo(fifo, 0600), ==, 0);
    g_assert_true(g_file_set_contents(path, "", 0, NULL));
    const struct {
        const char *path, *message;
    } cases[] = {
        {folder, "is a directory, expected a regular file"},
        {fifo, "is a FIFO, expected a regular file"},
        {missing, "No such file or directory"},
        {path, "offset 0: not a deep profiling data file: it is empty"},
    };
    for (unsigned i = 0; i < G_N_ELEMENTS(cases); i++) {
        struct fm_profile *profile = NULL;
        g_autoptr(GError) error = NULL;
        g_assert_false(fm_profile_read(cases[i].path, NULL, &profile, &error));
        g_autofree char *expected = g_strdup_printf("%s: %s", cases[i].path, cases[i].message);
        g_assert_cmpstr(error->message, ==, expected);
    }
    g_unlink(path);
    g_unlink(fifo);
    g_rmdir(folder);
}

struct shrinking {
    const char *path;
    unsigned calls;
};

static bool shrink(void *user, const char *step, uint64_t done, uint64_t total)
{
    struct shrinking *shrinking = user;
    g_assert_cmpstr(step, ==, "reading");
    g_assert_cmpuint(done, <=, total);
    if (shrinking->calls++ == 0)
        g_assert_cmpint(truncate(shrinking->path, 50000), ==, 0);
    return true;
}

static bool refuse(void *user, const char *step, uint64_t done, uint64_t total)
{
    (void)step, (void)done, (void)total;
    ++*(unsigned *)user;
    return false;
}

/* A profile of 200,000 csds: wide enough for the progress reports in which the test acts. */
static struct fm_profile *long_profile(void)
{
    struct fm_build *build = fm_build_new(FM_FLAVOUR_MERCURY, "long");
    fm_build_ps(build, &(struct fm_ps){.name = "f"});
    fm_build_css(build, 1, &(struct fm_css){.kind = FM_SITE_CALLBACK});
    fm_build_pd(build, 1);
    for (unsigned i = 0; i < 200000; i++) {
        uint32_t csd = fm_build_csd(build, 1, 0, 1);
        fm_build_add(build, csd, FM_EXITS, i);
    }
    struct fm_profile *profile;
    g_assert_true(fm_build_finish(build, &profile, NULL));
    return profile;
}

static void test_shrinks(void)
{
    g_autoptr(FmProfile) profile = long_profile();
    g_autofree char *folder = g_dir_make_tmp("fathom-shrink-XXXXXX", NULL);
    g_autofree char *path = g_build_filename(folder, "x.data", NULL);
    g_autoptr(GError) error = NULL;
    struct fm_profile *read = NULL;
    g_assert_true(fm_profile_write(profile, path, true, &error));
    unsigned calls = 0;
    struct fm_progress stopping = {.report = refuse, .user = &calls};
    g_assert_false(fm_profile_read(path, &stopping, &read, &error));
    g_assert_error(error, FM_ERROR, FM_ERROR_CANCELLED);
    g_assert_cmpuint(calls, ==, 1);
    g_clear_error(&error);
    struct shrinking shrinking = {.path = path};
    struct fm_progress progress = {.report = shrink, .user = &shrinking};
    g_assert_false(fm_profile_read(path, &progress, &read, &error));
    g_assert_error(error, FM_ERROR, FM_ERROR_IO);
    g_assert_true(g_strrstr(error->message, "became shorter while it was being read") != NULL);
    g_assert_null(read);
    g_unlink(path);
    g_rmdir(folder);
}

/* pds and csds in reverse order of ids, with 64-bit coverage counts. */
static void test_any_order(void)
{
    g_autoptr(FmProfile) profile = small_profile(FM_FLAVOUR_C, FM_COVERAGE_DYNAMIC);
    struct fm_writer *writer = fm_writer_new_memory();
    struct fm_encoding encoding = {.flavour = FM_FLAVOUR_C, .coverage = FM_COVERAGE_DYNAMIC};
    fm_encode_header(writer, &encoding, profile);
    for (uint32_t pd = profile->pd_count; pd > 0; pd--) {
        const struct fm_ps *ps = &profile->ps[profile->pd_ps[pd]];
        fm_encode_pd_begin(writer, pd, profile->pd_ps[pd], ps->css_count);
        fm_writer_num(writer, ps->point_count);
        for (uint32_t i = 0; i < ps->point_count; i++)
            fm_writer_num(writer,
                          fm_column_get(&profile->pd_points, profile->pd_point_first[pd] + i));
        for (uint32_t slot = 0; slot < ps->css_count; slot++) {
            uint32_t count;
            const uint32_t *csds = fm_profile_slot(profile, pd, slot, &count);
            fm_encode_slot(writer, profile->css[profile->css_of_ps[ps->css_first + slot]].kind,
                           csds, count);
        }
    }
    for (uint32_t ps = profile->ps_count; ps > 0; ps--)
        fm_encode_ps(writer, &encoding, ps, &profile->ps[ps],
                     profile->css_of_ps + profile->ps[ps].css_first,
                     profile->points + profile->ps[ps].point_first);
    for (uint32_t css = profile->css_count; css > 0; css--)
        fm_encode_css(writer, &encoding, css, &profile->css[css]);
    for (uint32_t csd = profile->csd_count; csd > 0; csd--) {
        uint64_t values[FM_MEASURES_MAX];
        for (unsigned m = 0; m < profile->measure_count; m++)
            values[m] = fm_profile_own(profile, csd, (enum fm_measure_id)m);
        fm_encode_csd(writer, csd, profile->csd_callee[csd], values, profile->measure_count);
    }
    g_autoptr(GBytes) bytes = fm_writer_finish_memory(writer);
    g_autoptr(FmProfile) again = decode(bytes);
    assert_same_profile(profile, again);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/damage/truncated", test_truncated);
    g_test_add_func("/damage/changed", test_changed);
    g_test_add_func("/damage/nodes", test_nodes);
    g_test_add_func("/damage/counts", test_counts);
    g_test_add_func("/damage/memory", test_memory);
    g_test_add_func("/damage/id-line", test_id_line);
    g_test_add_func("/damage/files", test_files);
    g_test_add_func("/damage/shrinks", test_shrinks);
    g_test_add_func("/damage/any-order", test_any_order);
    return g_test_run();
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Profiles made of other tools' files: contents, what is not known, what goes out and comes back,
 * damage. */
#include <string.h>

#include "base/error.h"
#include "exchange/exchange.h"
#include "exchange/import/import.h"
#include "made.h"
#include "own.h"

static const char folded[] = "# a comment\n"
                             "main;parse;term 12\n"
                             "main;parse;term;factor 30\r\n"
                             "\n"
                             "main;parse;term;factor;parse;term 8\n"
                             "main;pars 1\n"
                             "main;write to disk 5\n"
                             "main 2\n"
                             "main;parse;term 3\n";

static const char perf[] = "# captured on: a day\n"
                           "prog one  77/78 [001]  4003.000001:   10101010 cpu-clock:pppH: \n"
                           "\t          401136 leaf+0x10 (/usr/bin/prog)\n"
                           "\tleaf.c:12\n"
                           "\t          401200 operator()(int) (inlined)\n"
                           "\t          401234 main+0x4 (/usr/bin/prog)\n"
                           "\tmain.c:7\n"
                           "\n"
                           "prog one  77/78 [001]  4003.010102:   10101011 cpu-clock:pppH: \n"
                           "\t    ffffffff8100 [unknown] ([kernel.kallsyms])\n"
                           "\t          401234 main+0x4 (/usr/bin/prog)\n"
                           "\n"
                           "prog one  77/78 [001]  4003.010102:   50 page-faults: \n"
                           "\t          401234 main+0x4 (/usr/bin/prog)\n"
                           "\n";

static const char evented[] =
    "{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\","
    "\"shared\":{\"frames\":[{\"name\":\"main\",\"file\":\"m.c\",\"line\":3},{\"name\":\"f\"}]},"
    "\"profiles\":[{\"type\":\"evented\",\"name\":\"p\",\"unit\":\"milliseconds\",\"startValue\":1,"
    "\"endValue\":10,\"events\":[{\"type\":\"O\",\"frame\":0,\"at\":1},"
    "{\"type\":\"O\",\"frame\":1,\"at\":1.5},{\"type\":\"C\",\"frame\":1,\"at\":4},"
    "{\"type\":\"O\",\"frame\":1,\"at\":5},{\"type\":\"C\",\"frame\":1,\"at\":7},"
    "{\"type\":\"C\",\"frame\":0,\"at\":10}]}]}";

static struct fm_profile *import(const char *name, const void *bytes, size_t size, const char *unit)
{
    struct fm_profile *profile = NULL;
    g_autoptr(GError) error = NULL;
    const struct fm_import_options options = {.unit = unit};
    g_autofree uint8_t *copy = g_memdup2(bytes, size); /* so that reading beyond its end shows */
    if (!fm_import_bytes(name, copy, size, &options, &profile, &error))
        g_error("%s", error->message);
    return profile;
}

static void folded_stacks_are_contexts(void)
{
    g_autoptr(FmProfile) p = import("/x/a.folded", folded, strlen(folded), NULL);
    g_assert_cmpstr(p->program_name, ==, "a");
    g_assert_cmpstr(p->run_info.origin, ==, "folded stacks");
    g_assert_cmpuint(p->ps_count, ==, 7); /* the program, main, parse, term, factor, pars, write */
    g_assert_cmpuint(p->pd_count, ==, 7); /* parse in itself is the same context */
    g_assert_cmpint(own(p, "main", FM_QUANTA), ==, 2);
    g_assert_cmpint(own(p, "main;parse", FM_QUANTA), ==, 0);
    g_assert_cmpint(own(p, "main;pars", FM_QUANTA), ==, 1);
    g_assert_cmpint(own(p, "main;parse;term", FM_QUANTA), ==, 12 + 8 + 3);
    g_assert_cmpint(own(p, "main;parse;term;factor", FM_QUANTA), ==, 30);
    g_assert_cmpint(own(p, "main;parse;term;factor;parse", FM_QUANTA), ==, 0);
    g_assert_cmpint(own(p, "main;write to disk", FM_QUANTA), ==, 5);
    g_assert_cmpuint(p->user_quanta, ==, 61);
    g_assert_cmpuint(p->ticks_per_second, ==, 0);
    g_assert_cmpstr(p->measures[FM_QUANTA].name, ==, "samples");
    g_assert_true(fm_profile_knows(p, FM_QUANTA));
    for (unsigned m = FM_EXITS; m < FM_MEASURES_MERCURY; m++)
        g_assert_true(m == FM_QUANTA || !fm_profile_knows(p, m));
}

static void folded_numbers_may_be_other_units(void)
{
    g_autoptr(FmProfile) time = import("a", folded, strlen(folded), "us");
    g_autoptr(FmProfile) bytes = import("a", folded, strlen(folded), "bytes");
    g_assert_cmpuint(time->ticks_per_second, ==, 1000000);
    g_assert_cmpint(own(time, "main;pars", FM_QUANTA), ==, 1);
    g_assert_cmpint(own(bytes, "main;pars", FM_WORDS), ==, 1);
    g_assert_true(fm_profile_knows(bytes, FM_WORDS));
    g_assert_false(fm_profile_knows(bytes, FM_QUANTA));
    g_assert_cmpuint(bytes->word_size, ==, 1);
}

static void perf_samples_have_time_threads_and_lines(void)
{
    g_autoptr(FmProfile) p = import("perf.txt", perf, strlen(perf), NULL);
    g_assert_cmpuint(p->ticks_per_second, ==, 1000000);
    g_assert_cmpint(own(p, "prog one;main;operator()(int);leaf", FM_QUANTA), ==, 10101);
    /* 10101.010 and 10101.011 microseconds are 20202 together. */
    g_assert_cmpint(own(p, "prog one;main;[unknown]", FM_QUANTA), ==, 10101);
    g_assert_cmpuint(p->measure_count, ==, 9);
    g_assert_cmpstr(p->measures[8].name, ==, "page_faults");
    g_assert_cmpint(own(p, "prog one;main", (enum fm_measure_id)8), ==, 50);
    g_assert_cmpint(own(p, "prog one;main", FM_QUANTA), ==, 0);
    g_assert_cmpuint(p->run_info.sample_count, ==, 2);
    g_assert_cmpuint(p->run_info.sample_squares, ==, 2 * 10101 * 10101);
    for (uint32_t ps = 1; ps <= p->ps_count; ps++) {
        const struct fm_ps *proc = &p->ps[ps];
        if (strcmp(proc->name, "prog one") == 0)
            g_assert_cmpstr(proc->decl_module, ==, "");
        if (strcmp(proc->name, "leaf") == 0)
            g_assert_cmpstr(proc->decl_module, ==, "/usr/bin/prog");
        if (strcmp(proc->name, "operator()(int)") == 0)
            g_assert_cmpstr(proc->decl_module, ==, "perf"); /* the input's name stands for none */
        if (strcmp(proc->name, "main") == 0)
            g_assert_cmpuint(p->css[p->css_of_ps[proc->css_first]].line, ==, 7);
    }
}

static void perf_lines_of_other_shapes(void)
{
    /* Without callers the frame stands on the line of the sample, whose name is aligned. */
    static const char alone[] =
        "         swapper     0 [000]  1.000001:     100 cycles:u:  40 f (/bin/p)\n"
        "              dd    12 [000]  1.000002:     300 cycles:u:  41 g (/bin/p)\n";
    g_autoptr(FmProfile) p = import("p", alone, strlen(alone), NULL);
    g_assert_cmpint(own(p, "swapper;f", FM_QUANTA), ==, 100);
    g_assert_cmpint(own(p, "dd;g", FM_QUANTA), ==, 300);
    g_assert_cmpstr(p->measures[FM_QUANTA].name, ==, "cycles_u");
    g_assert_cmpuint(p->ticks_per_second, ==, 0);
}

static void a_byte_order_mark_is_no_part_of_names(void)
{
    static const char *const texts[] = {"main;f 3\n",
                                        "main 1 1.000001: 3 cycles:\n\t40 f (/p)\n\n"};
    for (unsigned i = 0; i < G_N_ELEMENTS(texts); i++) {
        g_autofree char *marked = g_strconcat("\xef\xbb\xbf", texts[i], NULL);
        g_autoptr(FmProfile) p = import("p", marked, strlen(marked), NULL);
        g_assert_cmpint(own(p, "main;f", FM_QUANTA), ==, 3);
    }
    g_autofree char *json = g_strconcat("\xef\xbb\xbf", evented, NULL);
    g_autoptr(FmProfile) p = import("p", json, strlen(json), NULL);
    g_assert_cmpint(own(p, "main", FM_QUANTA), ==, 4500000);
}

#define SAMPLED(unit, weights)                                                            \
    "{\"shared\":{\"frames\":[{\"name\":\"main\"}]},\"profiles\":[{\"type\":\"sampled\"," \
    "\"name\":\"t\",\"unit\":\"" unit "\",\"samples\":[[0],[0]],\"weights\":[" weights "]}]}"
#define EVENTED(times, first, last)                                                          \
    "{\"shared\":{\"frames\":[{\"name\":\"main\"}]},\"profiles\":[{\"type\":\"evented\","    \
    "\"name\":\"t\",\"unit\":\"nanoseconds\",\"startValue\":" times ",\"events\":["          \
    "{\"type\":\"O\",\"frame\":0,\"at\":" first "},{\"type\":\"C\",\"frame\":0,\"at\":" last \
    "}]}]}"

/* Doubles hold whole numbers up to 2^53 alone. */
static void large_weights_are_exact(void)
{
    static const struct {
        const char *text;
        int64_t value;
    } exact[] = {
        {SAMPLED("none", "9007199254740993,2"), 9007199254740995},
        {SAMPLED("microseconds", "9007199254741,1"), 9007199254742000},
        {EVENTED("1763866000000000000", "1763866000000000001", "1763866000000000004"), 3},
        {SAMPLED("none", "2.5,2.5"), 5},
    };
    for (unsigned i = 0; i < G_N_ELEMENTS(exact); i++) {
        g_autoptr(FmProfile) p = import("p", exact[i].text, strlen(exact[i].text), NULL);
        g_assert_cmpint(own(p, "main", FM_QUANTA), ==, exact[i].value);
    }
}

static void evented_profiles_know_their_calls(void)
{
    g_autoptr(FmProfile) p = import("e.json", evented, strlen(evented), NULL);
    g_assert_cmpuint(p->ticks_per_second, ==, 1000000000);
    g_assert_cmpint(own(p, "main", FM_QUANTA), ==, 4500000); /* 0.5 + 1 + 3 ms */
    g_assert_cmpint(own(p, "main;f", FM_QUANTA), ==, 4500000);
    g_assert_cmpint(own(p, "main;f", FM_CALLSEQS), ==, 2);
    g_assert_cmpint(own(p, "main;f", FM_EXITS), ==, 2);
    g_assert_true(fm_profile_knows(p, FM_EXITS));
    g_assert_false(fm_profile_knows(p, FM_ALLOCS));
}

/* --- out and back --- */

static GBytes *exported(const struct made *made, const char *format)
{
    g_autoptr(GPtrArray) notes = g_ptr_array_new_with_free_func(g_free);
    g_autoptr(GError) error = NULL;
    struct fm_writer *out = fm_writer_new_memory();
    const struct fm_export_options options = {0};
    if (!fm_export(fm_export_format_named(format), made->a, &options, out, notes, &error))
        g_error("%s", error->message);
    return fm_writer_finish_memory(out);
}

static struct made imported(GBytes *bytes)
{
    struct made made;
    g_autoptr(GError) error = NULL;
    made.profile = import("again", g_bytes_get_data(bytes, NULL), g_bytes_get_size(bytes), NULL);
    if (!fm_analysis_new(made.profile, NULL, &made.a, &error))
        g_error("%s", error->message);
    return made;
}

static uint64_t sum(const struct fm_profile *p, enum fm_measure_id measure)
{
    uint64_t all = 0;
    for (uint32_t csd = 1; csd <= p->csd_count; csd++)
        all += fm_profile_own(p, csd, measure);
    return all;
}

/* Path -> number: two contexts of one path, called from two lines, are one in folded stacks. */
static GHashTable *by_path(GBytes *bytes)
{
    GHashTable *ret = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    g_autofree char *text = g_strndup(g_bytes_get_data(bytes, NULL), g_bytes_get_size(bytes));
    g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
    for (char **line = lines; **line != '\0'; line++) {
        char *blank = strrchr(*line, ' ');
        g_assert_nonnull(blank);
        *blank = '\0';
        gsize value = (gsize)g_ascii_strtoull(blank + 1, NULL, 10);
        value += GPOINTER_TO_SIZE(g_hash_table_lookup(ret, *line));
        g_hash_table_insert(ret, g_strdup(*line), GSIZE_TO_POINTER(value));
    }
    g_assert_cmpuint(g_hash_table_size(ret), >, 5);
    return ret;
}

static void assert_same_paths(GBytes *one, GBytes *two)
{
    g_autoptr(GHashTable) a = by_path(one), b = by_path(two);
    GHashTableIter iter;
    gpointer path, value;
    g_assert_cmpuint(g_hash_table_size(a), ==, g_hash_table_size(b));
    g_hash_table_iter_init(&iter, a);
    while (g_hash_table_iter_next(&iter, &path, &value)) {
        if (g_hash_table_lookup(b, path) != value)
            g_error("%s: %zu and %zu", (char *)path, GPOINTER_TO_SIZE(value),
                    GPOINTER_TO_SIZE(g_hash_table_lookup(b, path)));
    }
}

static void what_goes_out_comes_back(void)
{
    struct made made = made_program();
    g_autoptr(GBytes) lines = exported(&made, "folded");
    static const char *const formats[] = {"folded", "pprof", "speedscope"};
    for (unsigned i = 0; i < G_N_ELEMENTS(formats); i++) {
        g_autoptr(GBytes) bytes = exported(&made, formats[i]);
        struct made again = imported(bytes);
        g_autoptr(GBytes) same = exported(&again, "folded");
        assert_same_paths(lines, same);
        if (i > 0) {
            g_assert_cmpuint(sum(again.profile, FM_WORDS), ==, sum(made.profile, FM_WORDS));
            g_assert_cmpuint(sum(again.profile, FM_ALLOCS), ==, sum(made.profile, FM_ALLOCS));
            g_assert_cmpint((int64_t)sum(again.profile, FM_CALLSEQS), ==,
                            fm_profile_calls_of_all(made.profile));
            g_assert_cmpuint(again.profile->ticks_per_second, ==, made.profile->ticks_per_second);
            g_assert_cmpuint(sum(again.profile, FM_QUANTA), ==, sum(made.profile, FM_QUANTA));
        }
        if (i == 1) /* it has lines: the contexts are the same */
            g_assert_cmpuint(again.profile->pd_count, ==, made.profile->pd_count);
        made_clear(&again);
    }
    made_clear(&made);
}

/* --- damage --- */

static void refuse(const char *bytes, size_t size, const char *unit, const char *text)
{
    struct fm_profile *profile = NULL;
    g_autoptr(GError) error = NULL;
    const struct fm_import_options options = {.unit = unit};
    g_assert_false(
        fm_import_bytes("bad", (const uint8_t *)bytes, size, &options, &profile, &error));
    g_assert_nonnull(error);
    if (strstr(error->message, text) == NULL)
        g_error("'%s' is not in '%s'", text, error->message);
}

static void bad_input_is_one_clear_error(void)
{
    static const struct {
        const char *bytes, *unit, *text;
    } bad[] = {
        {"", NULL, "bad: offset 0: it is empty"},
        {"some text\n", NULL, "unknown format"},
        {"a;b 1\nc;d\n", NULL, "bad: line 2: expected frames"},
        {"a;b 1\nc 99999999999999999999\n", NULL, "bad: line 2: expected frames"},
        {"a 9223372036854775807\nb 1\n", NULL, "bad: line 2: the numbers up to here"},
        {"a 1\n", "parsecs", "no unit 'parsecs'"},
        {"p 1 1.000001: 5 cycles: \n\t40 f (x)\n\nnonsense\n", NULL,
         "bad: line 4: expected a sample"},
        {"p 1 1.000001: 5 cpu-clock: \n\t40 f (x)\n\np 1 1.000002: cpu-clock: \n\t40 f (x)\n\n",
         NULL, "bad: line 4: expected a period"},
        {"{\"shared\":{\"frames\":[]},\"profiles\":[]}", NULL, "expected \"shared\""},
        {"{\"shared\":{\"frames\":[]},\"profiles\":[{\"type\":\"sampled\",\"name\":\"t\",\"unit\":"
         "\"none\",\"samples\":[[0]],\"weights\":[1]}]}",
         NULL, "t: a frame that is none of the 0"},
        {SAMPLED("none", "1,1e18"), NULL,
         "bad: offset 127: t: a weight of 1e+18, which no fraction"},
        {SAMPLED("none", "1,9223372036854775808"), NULL,
         "bad: offset 127: t: a weight of 9.22337e+18"},
        {SAMPLED("seconds", "1,9223372037"), NULL, "bad: offset 130: t: a weight of 9.22337e+09"},
        {EVENTED("0", "1", "1.5e16"), NULL, "t: a time of 1.5e+16, which no fraction"},
    };
    for (unsigned i = 0; i < G_N_ELEMENTS(bad); i++)
        refuse(bad[i].bytes, strlen(bad[i].bytes), bad[i].unit, bad[i].text);
    g_autoptr(GString) deep = g_string_new("{\"shared\":{\"frames\":");
    for (unsigned i = 0; i < 1000000; i++)
        g_string_append_c(deep, '[');
    refuse(deep->str, deep->len, NULL, "expected no deeper nesting");
}

static void stacks_deeper_than_all_are_cut(void)
{
    g_autoptr(GString) deep = g_string_new("f0");
    for (unsigned i = 1; i < 12000; i++)
        g_string_append_printf(deep, ";f%u", i);
    gsize size = deep->len;
    g_string_append(deep, " 7\n");
    g_autofree char *stack = g_strndup(deep->str, size);
    g_string_append_len(deep, stack, (gssize)size);
    g_string_append(deep, ";g 5\nf0;h 1\n");
    g_autoptr(FmProfile) p = import("deep", deep->str, deep->len, NULL);
    g_assert_cmpuint(p->user_quanta, ==, 13);
    g_assert_cmpint(own(p, "f0;h", FM_QUANTA), ==, 1);
    g_assert_cmpuint(p->run_info.note_count, ==, 1);
    g_assert_nonnull(strstr(p->run_info.notes[0], "deeper than 10000"));
}

/* Cut at each byte, and with each bit of each byte turned: refused, or a profile that holds. */
static void damage_is_refused_or_holds(void)
{
    struct made made = made_program();
    g_autoptr(GBytes) pprof = exported(&made, "pprof");
    g_autoptr(GBytes) speedscope = exported(&made, "speedscope");
    const struct {
        const void *bytes;
        size_t size;
    } inputs[] = {{folded, strlen(folded)},
                  {perf, strlen(perf)},
                  {evented, strlen(evented)},
                  {g_bytes_get_data(pprof, NULL), g_bytes_get_size(pprof)},
                  {g_bytes_get_data(speedscope, NULL), g_bytes_get_size(speedscope)}};
    unsigned refused = 0, accepted = 0;
    for (unsigned i = 0; i < G_N_ELEMENTS(inputs); i++) {
        for (size_t at = 0; at < inputs[i].size * 2; at++) {
            size_t size = at < inputs[i].size ? at : inputs[i].size;
            g_autofree uint8_t *copy = g_memdup2(inputs[i].bytes, size);
            g_autoptr(FmProfile) profile = NULL;
            g_autoptr(GError) error = NULL;
            const struct fm_import_options options = {0};
            if (at >= inputs[i].size)
                copy[at - inputs[i].size] ^= (uint8_t)(1u << at % 8);
            if (fm_import_bytes("cut", copy, size, &options, &profile, &error)) {
                accepted++;
                g_assert_cmpuint(profile->pd_count, >=, 1);
            } else {
                refused++;
                g_assert_nonnull(error);
                if (!g_str_has_prefix(error->message, "cut: "))
                    g_error("input %u, %zu: %s", i, at, error->message);
            }
        }
    }
    g_assert_cmpuint(refused, >, 1000);
    g_assert_cmpuint(accepted, >, 100);
    made_clear(&made);
}

int main(int argc, char **argv)
{
    made_init(&argc, &argv);
    g_test_add_func("/import/folded", folded_stacks_are_contexts);
    g_test_add_func("/import/folded/units", folded_numbers_may_be_other_units);
    g_test_add_func("/import/perf", perf_samples_have_time_threads_and_lines);
    g_test_add_func("/import/perf/shapes", perf_lines_of_other_shapes);
    g_test_add_func("/import/mark", a_byte_order_mark_is_no_part_of_names);
    g_test_add_func("/import/speedscope/large", large_weights_are_exact);
    g_test_add_func("/import/speedscope/evented", evented_profiles_know_their_calls);
    g_test_add_func("/import/back", what_goes_out_comes_back);
    g_test_add_func("/import/bad", bad_input_is_one_clear_error);
    g_test_add_func("/import/deep", stacks_deeper_than_all_are_cut);
    g_test_add_func("/import/damage", damage_is_refused_or_holds);
    return g_test_run();
}

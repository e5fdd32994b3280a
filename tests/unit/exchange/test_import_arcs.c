/* SPDX-License-Identifier: Apache-2.0 */
/* Profiles made of files that know functions and their callers, and no contexts. */
#include <string.h>

#include <glib/gstdio.h>

#include "arcs.h"
#include "base/error.h"
#include "exchange/exchange.h"
#include "exchange/import/import.h"

/* main calls f twice and a cycle of a and b; b is entered from f, too. g stands in another file. */
static const char callgrind[] = "# callgrind format\n"
                                "version: 1\n"
                                "creator: callgrind-3.19.0\n"
                                "cmd: ./prog -x\n"
                                "part: 1\n"
                                "desc: I1 cache: \n"
                                "positions: instr line\n"
                                "event: Ns : time that passed\n"
                                "events: Ir Dr\n"
                                "summary: 1000 100\n"
                                "\n"
                                "ob=(1) /bin/prog\n"
                                "fl=(1) m.c\n"
                                "fn=(1) main\n"
                                "0x100 10 40 4\n"
                                "+4 +1 60\n"
                                "fi=(2) inline.h\n"
                                "+4 3 100 6\n"
                                "cfn=(2) f\n"
                                "calls=2 0x200 20\n"
                                "* * 300 30\n"
                                "fe=(1)\n"
                                "cfi=(3) lib.c\n"
                                "cob=(2) /lib/libg.so\n"
                                "cfn=(3) g\n"
                                "calls=5 0x900 7\n"
                                "+8 11 250 25\n"
                                "cfn=(4) a\n"
                                "calls=1 0x300 30\n"
                                "+4 -1 250 25\n"
                                "jump=3 0x110 12\n"
                                "* *\n"
                                "fl=(2)\n"
                                "fn=(2)\n"
                                "0x200 20 200 20\n"
                                "cfi=(1)\n"
                                "cfn=(5) b\n"
                                "calls=3 +0x10 40\n"
                                "+4 +1 100 10\n"
                                "fl=(1)\n"
                                "fn=(4)\n"
                                "0x300 30 50 5\n"
                                "cfn=(5)\n"
                                "calls=10 0x400 40\n"
                                "* * 220 20\n"
                                "fn=(5)\n"
                                "0x400 40 300 30\n"
                                "cfn=(4)\n"
                                "calls=9 0x300 30\n"
                                "* * 0 0\n"
                                "totals: 1000 100\n"
                                "\n"
                                "part: 2\n"
                                "positions: line\n"
                                "events: Ir Dr\n"
                                "ob=(2)\n"
                                "fl=(3)\n"
                                "fn=(3)\n"
                                "7 200 20\n"
                                "+0 50 5\n"
                                "fn=(below main)\n"
                                "0x1 0\n"
                                "totals: 250 25\n";

static struct fm_profile *import(const void *bytes, size_t size)
{
    struct fm_profile *profile = NULL;
    g_autoptr(GError) error = NULL;
    const struct fm_import_options options = {0};
    g_autofree uint8_t *copy = g_memdup2(bytes, size); /* so that reading beyond its end shows */
    if (!fm_import_bytes("in", copy, size, &options, &profile, &error))
        g_error("%s", error->message);
    return profile;
}

static void callgrind_has_functions_and_calls(void)
{
    g_autoptr(FmProfile) p = import(callgrind, strlen(callgrind));
    g_autoptr(FmAnalysis) a = analysed(p);
    g_assert_cmpstr(p->program_name, ==, "prog");
    g_assert_cmpstr(p->run_info.origin, ==, "callgrind");
    g_assert_cmpuint(p->run_info.nature, ==, FM_NATURE_ARCS | FM_NATURE_TIME_EXACT);
    g_assert_cmpuint(p->ps_count, ==, 7);
    g_assert_cmpuint(p->pd_count, ==, 7); /* one each */
    g_assert_cmpstr(p->measures[FM_QUANTA].name, ==, "ir");
    g_assert_cmpstr(p->measures[FM_QUANTA].unit, ==, "instructions");
    g_assert_cmpuint(p->measure_count, ==, 9);
    g_assert_cmpstr(p->measures[8].name, ==, "dr");
    g_assert_cmpstr(p->measures[8].unit, ==, "reads");
    g_assert_cmpuint(p->ticks_per_second, ==, 0);
    g_assert_true(fm_profile_knows(p, FM_EXITS));
    g_assert_true(fm_profile_knows(p, FM_QUANTA));
    g_assert_false(fm_profile_knows(p, FM_CALLSEQS));
    g_assert_false(fm_profile_knows(p, FM_WORDS));
    static const struct {
        const char *name;
        int64_t own, total, dr, calls;
        bool more; /* calls that nobody told */
    } functions[] = {{"main", 200, 1000, 10, 0, true}, {"f", 200, 300, 20, 2, false},
                     {"g", 250, 250, 25, 5, false},    {"a", 50, 250, 5, 10, false},
                     {"b", 300, 320, 30, 13, false},   {"(below main)", 0, 0, 0, 0, true}};
    /* a and b call each other: their totals are those of the calls of them, as callgrind_annotate
     * adds them up. */
    for (unsigned i = 0; i < G_N_ELEMENTS(functions); i++) {
        struct fm_cost of = cost(a, functions[i].name);
        g_assert_cmpint(of.own[FM_QUANTA], ==, functions[i].own);
        g_assert_cmpint(fm_cost_total(&of, FM_QUANTA), ==, functions[i].total);
        g_assert_cmpint(of.own[8], ==, functions[i].dr);
        g_assert_cmpint(of.calls, ==, functions[i].calls);
        g_assert_cmpint(of.inlined, ==, functions[i].more);
    }
    g_assert_cmpint(fm_cost_total(&a->root_total, FM_QUANTA), ==, 1000);
    /* The second part says that it has 250 more than it has. */
    g_assert_cmpuint(p->run_info.note_count, ==, 2);
    g_assert_nonnull(strstr(p->run_info.notes[0], "totals say 1250 Ir, its functions have 1000"));
    g_assert_nonnull(strstr(p->run_info.notes[1], "not by context"));
}

static void callgrind_says_what_calls_cost(void)
{
    g_autoptr(FmProfile) p = import(callgrind, strlen(callgrind));
    g_autoptr(FmAnalysis) a = analysed(p);
    static const struct {
        const char *caller, *callee, *file;
        int64_t total, calls;
        uint32_t line;
        bool inside;
    } calls[] = {{"main", "f", "inline.h", 300, 2, 3, false},
                 {"main", "g", "", 250, 5, 11, false},
                 {"main", "a", "", 250, 1, 10, false},
                 {"f", "b", "", 100, 3, 21, false},
                 {"a", "b", "", 0, 10, 30, true},
                 {"b", "a", "", 0, 9, 40, true}};
    for (unsigned i = 0; i < G_N_ELEMENTS(calls); i++) {
        uint32_t csd = call(p, calls[i].caller, calls[i].callee);
        struct fm_cost of;
        fm_analysis_csd_cost(a, csd, &of);
        g_assert_cmpint(of.calls, ==, calls[i].calls);
        g_assert_cmpint(fm_analysis_csd_enters(a, csd), ==, !calls[i].inside);
        if (!calls[i].inside)
            g_assert_cmpint(fm_cost_total(&of, FM_QUANTA), ==, calls[i].total);
        g_assert_true(of.shared);
        g_assert_cmpuint(p->css[p->csd_css[csd]].line, ==, calls[i].line);
        g_assert_cmpstr(p->css[p->csd_css[csd]].file, ==, calls[i].file);
    }
    g_assert_cmpuint(p->ps[function(p, "f")].line, ==, 20);
    g_assert_cmpstr(p->ps[function(p, "f")].file, ==, "inline.h");
    g_assert_cmpstr(p->ps[function(p, "g")].file, ==, "lib.c");
    /* b's 300 by what its calls cost: 100 of f, 220 of a */
    g_assert_cmpuint(fm_profile_own(p, call(p, "f", "b"), FM_QUANTA), ==, 93);
    g_assert_cmpuint(fm_profile_own(p, call(p, "a", "b"), FM_QUANTA), ==, 207);
}

/* What is written is what is read. */
static void given_costs_are_kept_in_files(void)
{
    g_autoptr(FmProfile) p = import(callgrind, strlen(callgrind));
    g_autoptr(FmProfile) again = NULL;
    g_autoptr(GError) error = NULL;
    g_autofree char *path = g_build_filename(g_get_tmp_dir(), "arcs.data", NULL);
    g_assert_true(fm_profile_write(p, path, false, &error));
    g_assert_true(fm_profile_read(path, NULL, &again, &error));
    g_assert_cmpuint(again->run_info.nature, ==, p->run_info.nature);
    g_assert_cmpuint(again->csd_count, ==, p->csd_count);
    for (unsigned m = 0; m < p->measure_count; m++) {
        for (uint32_t csd = 1; csd <= p->csd_count; csd++)
            g_assert_cmpuint(fm_column_get(&again->csd_inclusive[m], csd), ==,
                             fm_column_get(&p->csd_inclusive[m], csd));
    }
    g_autofree char *bytes = NULL;
    gsize size;
    g_assert_true(g_file_get_contents(path, &bytes, &size, &error));
    for (gsize cut = size - 60; cut < size; cut++) {
        g_autoptr(FmProfile) none = NULL;
        g_autoptr(GError) told = NULL;
        g_autofree uint8_t *copy = g_memdup2(bytes, cut);
        if (!fm_profile_read_bytes("cut", copy, cut, NULL, &none, &told))
            g_assert_true(g_str_has_prefix(told->message, "cut: "));
    }
    g_unlink(path);
}

static GBytes *exported(const struct fm_profile *p, const char *format, GError **error)
{
    g_autoptr(FmAnalysis) a = analysed(p);
    g_autoptr(GPtrArray) notes = g_ptr_array_new_with_free_func(g_free);
    struct fm_writer *out = fm_writer_new_memory();
    const struct fm_export_options options = {0};
    bool done = fm_export(fm_export_format_named(format), a, &options, out, notes, error);
    GBytes *bytes = fm_writer_finish_memory(out);
    if (!done)
        g_clear_pointer(&bytes, g_bytes_unref);
    return bytes;
}

static void callgrind_goes_out_and_comes_back(void)
{
    g_autoptr(FmProfile) p = import(callgrind, strlen(callgrind));
    g_autoptr(GError) error = NULL;
    g_autoptr(GBytes) bytes = exported(p, "callgrind", &error);
    g_assert_no_error(error);
    g_autoptr(FmProfile) again = import(g_bytes_get_data(bytes, NULL), g_bytes_get_size(bytes));
    g_autoptr(FmAnalysis) a = analysed(p), b = analysed(again);
    g_assert_cmpuint(again->ps_count, ==, p->ps_count);
    g_assert_cmpuint(again->csd_count, ==, p->csd_count);
    for (uint32_t ps = 1; ps <= p->ps_count; ps++) {
        struct fm_cost one = cost(a, p->ps[ps].name), two = cost(b, p->ps[ps].name);
        g_assert_cmpint(one.calls, ==, two.calls);
        g_assert_cmpint(one.own[FM_QUANTA], ==, two.own[FM_QUANTA]);
        g_assert_cmpint(one.desc[FM_QUANTA], ==, two.desc[FM_QUANTA]);
    }
    for (uint32_t csd = 1; csd <= p->csd_count; csd++) {
        const char *caller = p->ps[p->pd_ps[p->csd_caller[csd]]].name;
        const char *callee = p->ps[p->pd_ps[p->csd_callee[csd]]].name;
        uint32_t same = call(again, caller, callee);
        g_assert_cmpuint(fm_column_get(&p->csd_inclusive[FM_QUANTA], csd), ==,
                         fm_column_get(&again->csd_inclusive[FM_QUANTA], same));
        g_assert_cmpint(fm_profile_calls(p, csd), ==, fm_profile_calls(again, same));
    }
    g_autoptr(GError) told = NULL;
    g_assert_null(exported(p, "folded", &told));
    g_assert_error(told, FM_ERROR, FM_ERROR_UNAVAILABLE);
}

/* Of an export of contexts: time, allocations and bytes come back as what they were. */
static void exported_contexts_come_back_as_arcs(void)
{
    static const char own[] = "version: 1\ncreator: fathom\npositions: line\n"
                              "event: Calls : calls (count)\n"
                              "event: Cpu : cpu (nanoseconds)\n"
                              "event: AllocObjects : alloc_objects (count)\n"
                              "event: AllocSpace : alloc_space (bytes)\n"
                              "events: Calls Cpu AllocObjects AllocSpace\n"
                              "fl=m.c\nfn=main\n1 1 1000 2 30\n"
                              "cfn=f\ncalls=4 9\n2 4 3000 5 70\n"
                              "fn=f\n9 4 3000 5 70\n";
    g_autoptr(FmProfile) p = import(own, strlen(own));
    g_autoptr(FmAnalysis) a = analysed(p);
    g_assert_cmpuint(p->ticks_per_second, ==, 1000000000);
    g_assert_false(fm_profile_is(p, FM_NATURE_CLOCK));
    g_assert_cmpuint(p->measure_count, ==, 8);
    struct fm_cost of = cost(a, "main");
    g_assert_cmpint(of.calls, ==, 1);
    g_assert_false(of.inlined);
    g_assert_cmpint(of.own[FM_QUANTA], ==, 1000);
    g_assert_cmpint(of.desc[FM_QUANTA], ==, 3000);
    g_assert_cmpint(of.own[FM_ALLOCS], ==, 2);
    g_assert_cmpint(fm_cost_total(&of, FM_WORDS), ==, 100);
    assert_invariants(a);
}

static void what_is_not_said_is_not_known(void)
{
    static const char cachegrind[] = "desc: I1 cache: 1\ncmd: x\nevents: Ir\n"
                                     "fl=x.c\nfn=main\n1 5\nfn=f\n2 7\nsummary: 12\n";
    g_autoptr(FmProfile) p = import(cachegrind, strlen(cachegrind));
    g_autoptr(FmAnalysis) a = analysed(p);
    g_assert_false(fm_profile_knows(p, FM_EXITS)); /* it has no calls */
    struct fm_cost of = cost(a, "f");
    g_assert_cmpint(of.own[FM_QUANTA], ==, 7);
    g_assert_cmpint(fm_cost_total(&a->root_total, FM_QUANTA), ==, 12);
    assert_invariants(a);
}

static void more_events_than_measures_are_told(void)
{
    static const char many[] = "# callgrind format\nevents: A B C D E F G H I J K\n"
                               "fn=main\n1 1 2 3 4 5 6 7 8 9 10 11\n";
    g_autoptr(FmProfile) p = import(many, strlen(many));
    g_assert_cmpuint(p->measure_count, ==, FM_MEASURES_MAX);
    g_assert_cmpstr(p->measures[FM_MEASURES_MAX - 1].name, ==, "i");
    g_assert_nonnull(strstr(p->run_info.notes[0], "left out are J, K"));
}

static void refuse(const char *bytes, size_t size, const char *text)
{
    struct fm_profile *profile = NULL;
    g_autoptr(GError) error = NULL;
    const struct fm_import_options options = {.format = "callgrind"};
    g_assert_false(
        fm_import_bytes("bad", (const uint8_t *)bytes, size, &options, &profile, &error));
    if (strstr(error->message, text) == NULL)
        g_error("'%s' is not in '%s'", text, error->message);
}

static void bad_callgrind_is_one_clear_error(void)
{
    static const struct {
        const char *bytes, *text;
    } bad[] = {
        {"", "bad: there is no function in it"},
        {"events: Ir\n", "bad: there is no function in it"},
        {"events:\n", "bad: line 1: expected the names of events"},
        {"events: 1 2 3 4 5 6 7 8 9 a b c d e f g h\n", "bad: line 1: more than 16 events"},
        {"fn=main\n", "bad: line 1: expected a line with events:"},
        {"events: Ir\n1 2\n", "bad: line 2: expected fn= before"},
        {"events: Ir\nfn=(99999999999999999999) x\n", "bad: line 2: expected (NUMBER)"},
        {"events: Ir\nfn=x\n1 2 3\n", "bad: line 3: expected at most 1 costs"},
        {"events: Ir\nfn=x\n1 -2\n", "bad: line 3: expected at most 1 costs"},
        {"events: Ir\nfn=x\n0xg 2\n", "bad: line 3: expected a number, +N"},
        {"events: Ir\nfn=x\ncalls=1 2\n", "bad: line 3: expected fn= and cfn="},
        {"events: Ir\nfn=x\ncfn=y\ncalls=x 2\n", "bad: line 4: expected a number of calls"},
        {"events: Ir\nfn=x\ncfn=y\ncalls=1 2\nfn=z\n", "bad: line 5: expected what the calls"},
        {"events: Ir\nfn=x\ncfn=y\ncalls=1 2\n", "bad: line 4: unexpected end of file"},
        {"events: Ir\nfn=x\n1 9223372036854775807\n2 1\n", "bad: line 4: the costs up to here"},
        {"events: Ir\nfn=x\nwhat is this\n", "bad: line 3: expected costs, a name"},
        {"events: Ir\nfn=x\n1 1\nevents: Dr\n", "bad: line 4: expected the events of"},
        {"positions: column\nevents: Ir\n", "bad: line 1: expected the positions"},
    };
    for (unsigned i = 0; i < G_N_ELEMENTS(bad); i++)
        refuse(bad[i].bytes, strlen(bad[i].bytes), bad[i].text);
}

/* Numbers of names choose no amounts of memory; long cycles and deep ones are walked over. */
static void hostile_files_take_no_more_than_others(void)
{
    static const char huge[] = "events: Ir\nfn=(18446744073709551615) x\n18446744073709551615 5\n"
                               "cfn=(18446744073709551615)\ncalls=9 1\n-18446744073709551615 3\n";
    g_autoptr(FmProfile) p = import(huge, strlen(huge));
    g_assert_cmpuint(p->ps_count, ==, 2);
    g_autoptr(GString) ring = g_string_new("events: Ir\n");
    for (unsigned i = 0; i < 100000; i++)
        g_string_append_printf(ring, "fn=f%u\n1 1\ncfn=f%u\ncalls=1 1\n1 1\n", i, (i + 1) % 100000);
    g_autoptr(FmProfile) cycle = import(ring->str, ring->len);
    g_autoptr(FmAnalysis) a = analysed(cycle);
    g_assert_cmpint(fm_cost_total(&a->root_total, FM_QUANTA), ==, 100000);
    g_assert_cmpuint(cycle->csd_count, ==, 100001);
    assert_invariants(a);
}

/* Cut at each byte, and with a bit of each byte turned: refused, or a profile that can be analysed.
 */
static void damage_is_refused_or_holds(void)
{
    size_t all = strlen(callgrind);
    unsigned refused = 0, accepted = 0;
    for (size_t at = 0; at < all * 2; at++) {
        size_t size = at < all ? at : all;
        g_autofree uint8_t *copy = g_memdup2(callgrind, size);
        g_autoptr(FmProfile) profile = NULL;
        g_autoptr(FmAnalysis) a = NULL;
        g_autoptr(GError) error = NULL;
        const struct fm_import_options options = {.format = "callgrind"};
        if (at >= all)
            copy[at - all] ^= (uint8_t)(1u << at % 8);
        if (fm_import_bytes("cut", copy, size, &options, &profile, &error)) {
            accepted++;
            a = analysed(profile);
            g_assert_cmpint(fm_cost_total(&a->root_total, FM_QUANTA), >=, 0);
        } else {
            refused++;
            if (!g_str_has_prefix(error->message, "cut: "))
                g_error("%zu: %s", at, error->message);
        }
    }
    g_assert_cmpuint(refused, >, 100);
    g_assert_cmpuint(accepted, >, 100);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/import/callgrind", callgrind_has_functions_and_calls);
    g_test_add_func("/import/callgrind/calls", callgrind_says_what_calls_cost);
    g_test_add_func("/import/callgrind/files", given_costs_are_kept_in_files);
    g_test_add_func("/import/callgrind/back", callgrind_goes_out_and_comes_back);
    g_test_add_func("/import/callgrind/own", exported_contexts_come_back_as_arcs);
    g_test_add_func("/import/callgrind/unknown", what_is_not_said_is_not_known);
    g_test_add_func("/import/callgrind/events", more_events_than_measures_are_told);
    g_test_add_func("/import/callgrind/bad", bad_callgrind_is_one_clear_error);
    g_test_add_func("/import/callgrind/hostile", hostile_files_take_no_more_than_others);
    g_test_add_func("/import/callgrind/damage", damage_is_refused_or_holds);
    return g_test_run();
}

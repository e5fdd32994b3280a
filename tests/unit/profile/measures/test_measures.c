/* SPDX-License-Identifier: Apache-2.0 */
/* The table of measures: its names, and what profiles find by them. */
#include <glib.h>

#include "profile/file/build.h"

/* The measure behind each place of the table. */
static unsigned measure_at(unsigned place)
{
    return place < FM_MEASURES_MERCURY ? place : place - FM_MEASURES_MERCURY + FM_FURTHER_FIRST;
}

#define PLACES (FM_MEASURES_MERCURY + FM_FURTHER_END - FM_FURTHER_FIRST)

static void names_lead_back_to_their_measure(void)
{
    for (unsigned i = 0; i < PLACES; i++) {
        const struct fm_known_measure *of = fm_known_measure(measure_at(i));
        g_assert_cmpuint(fm_measure_find(of->file.name), ==, measure_at(i));
        if (of->exported != NULL)
            g_assert_cmpuint(fm_measure_find(of->exported), ==, measure_at(i));
        for (unsigned a = 0; a < G_N_ELEMENTS(of->aliases) && of->aliases[a] != NULL; a++)
            g_assert_cmpuint(fm_measure_find(of->aliases[a]), ==, measure_at(i));
    }
}

static void every_measure_has_words(void)
{
    for (unsigned i = 0; i < PLACES; i++) {
        const struct fm_known_measure *of = fm_known_measure(measure_at(i));
        g_assert_nonnull(of->words);
        g_assert_true(g_str_has_suffix(of->unrecorded, "not recorded"));
        g_assert_true(of->file.scale > 0);
        g_assert_true(i < FM_MEASURES_MERCURY || of->title != NULL);
    }
    g_assert_cmpstr(fm_measure_words("live_bytes"), ==, "bytes live at the end");
    g_assert_cmpstr(fm_measure_words("cache_misses"), ==, "cache_misses");
}

/* Each is offered for one flavour at least, and another measure stands in where it is not. */
static void trees_have_somewhere_to_go(void)
{
    for (unsigned i = 0; i < FM_QUERY_BY_AUTO; i++) {
        const struct fm_tree_measure *tree = &fm_tree_measures[i];
        g_assert_nonnull(tree->label);
        g_assert_nonnull(fm_tree_words[i]);
        g_assert_true(tree->c || tree->mercury);
        unsigned c = i, mercury = i, steps = 0;
        for (; c != FM_QUERY_BY_AUTO && !fm_tree_measures[c].c && steps < 9; steps++)
            c = fm_tree_measures[c].instead;
        for (; mercury != FM_QUERY_BY_AUTO && !fm_tree_measures[mercury].mercury && steps < 9;
             steps++)
            mercury = fm_tree_measures[mercury].instead;
        g_assert_cmpuint(steps, <, 9);
    }
    g_assert_cmpstr(fm_tree_words[FM_QUERY_BY_AUTO], ==, "auto");
}

static struct fm_profile *new_profile(uint64_t ticks_per_second)
{
    struct fm_build *build = fm_build_new(FM_FLAVOUR_C, "program");
    struct fm_profile *profile;
    fm_build_header(build)->ticks_per_second = ticks_per_second;
    fm_build_rename_measure(build, FM_WORDS, "bytes", "bytes", 1.0);
    g_assert_cmpuint(fm_build_own_measure(build, FM_LIVE_BYTES), ==, FM_MEASURES_MERCURY);
    g_assert_cmpuint(fm_build_measure(build, "cache_misses", "misses", 1), ==, 9);
    fm_build_pd(build, fm_build_ps(build, &(struct fm_ps){.name = "main"}));
    g_assert_true(fm_build_finish(build, &profile, NULL));
    return profile;
}

static void profiles_find_measures_by_any_name(void)
{
    struct fm_profile *p = new_profile(100);
    g_assert_cmpuint(fm_profile_measure(p, FM_LIVE_BYTES), ==, 8);
    g_assert_cmpuint(fm_profile_measure(p, FM_WAITS), ==, 0);
    g_assert_cmpuint(fm_profile_find_measure(p, "live_bytes"), ==, 8);
    g_assert_cmpuint(fm_profile_find_measure(p, "inuse_space"), ==, 8);
    g_assert_cmpuint(fm_profile_find_measure(p, "cache_misses"), ==, 9);
    g_assert_cmpuint(fm_profile_find_measure(p, "bytes"), ==, FM_WORDS);
    g_assert_cmpuint(fm_profile_find_measure(p, "allocations"), ==, FM_ALLOCS);
    g_assert_cmpuint(fm_profile_find_measure(p, "time"), ==, FM_QUANTA);
    g_assert_cmpuint(fm_profile_find_measure(p, "waiting"), ==, FM_MEASURES_MAX);
    g_assert_cmpuint(fm_profile_find_measure(p, "page_faults"), ==, FM_MEASURES_MAX);
    fm_profile_free(p);
}

static void quanta_without_length_are_no_time(void)
{
    struct fm_profile *p = new_profile(0);
    g_assert_cmpuint(fm_profile_find_measure(p, "time"), ==, FM_MEASURES_MAX);
    g_assert_cmpuint(fm_profile_find_measure(p, "quanta"), ==, FM_QUANTA);
    fm_profile_free(p);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/measures/names", names_lead_back_to_their_measure);
    g_test_add_func("/measures/words", every_measure_has_words);
    g_test_add_func("/measures/trees", trees_have_somewhere_to_go);
    g_test_add_func("/measures/profiles", profiles_find_measures_by_any_name);
    g_test_add_func("/measures/quanta", quanta_without_length_are_no_time);
    return g_test_run();
}

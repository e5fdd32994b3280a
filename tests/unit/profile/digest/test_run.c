/* SPDX-License-Identifier: Apache-2.0 */
#include "profile/digest/run/run.h"

#include "profile/file/build.h"
#include "profile/digest/run/held.h"
#include "made.h"

#define MS UINT64_C(1000000)

/* A run of 2 s: 0.2 s of CPU time, 1.5 s of waiting for a mutex; of the thread's rest `queued` ms
 * without a processor. */
static char *sentence(uint64_t queued, bool known, unsigned threads, uint64_t whole_ms,
                      const struct fm_extent *extent)
{
    struct fm_build *build = fm_build_new(FM_FLAVOUR_C, "run");
    struct fm_ps root = {.label_kind = FM_LABEL_FUNCTION,
                         .decl_module = "",
                         .def_module = "",
                         .name = "the program",
                         .raw_name = "the program",
                         .file = ""};
    struct fm_ps body = root;
    body.name = body.raw_name = "main";
    uint32_t root_ps = fm_build_ps(build, &root), body_ps = fm_build_ps(build, &body);
    fm_build_css(build, root_ps, &(struct fm_css){.kind = FM_SITE_HIGHER_ORDER});
    fm_build_css(build, body_ps, &(struct fm_css){.kind = FM_SITE_HIGHER_ORDER});
    uint32_t from = fm_build_pd(build, root_ps), to = fm_build_pd(build, body_ps);
    uint32_t csd = fm_build_csd(build, from, 0, to);
    fm_build_add(build, csd, FM_EXITS, 1);
    fm_build_add(build, csd, FM_CALLSEQS, 1);
    fm_build_add(build, csd, FM_QUANTA, 200);
    fm_build_add(build, csd, fm_build_measure(build, "waits", "waits", 1), 3);
    fm_build_add(build, csd, fm_build_measure(build, "wait_ns", "nanoseconds", 1), 1500 * MS);
    fm_build_waiting(build, &(struct fm_waiting){.csd = csd,
                                                 .kind = "mutex",
                                                 .calls = 4,
                                                 .waits = 3,
                                                 .ns = 1500 * MS,
                                                 .longest_ns = 600 * MS});
    for (unsigned i = 0; i < threads; i++)
        fm_build_thread_time(build, &(struct fm_thread_time){.name = "main",
                                                             .wall_ns = 2000 * MS,
                                                             .cpu_ns = 200 * MS,
                                                             .wait_ns = 1500 * MS,
                                                             .queued_ns = queued * MS,
                                                             .queue_known = known || i > 0});
    fm_build_header(build)->ticks_per_second = 1000;
    fm_build_header(build)->duration_ns = whole_ms * MS;
    fm_build_extent(build, extent);
    struct made made = made_built(build);
    char *text = fm_run_sentence(made.profile);
    made_clear(&made);
    return text;
}

static void check(uint64_t queued, bool known, unsigned threads, const char *expected)
{
    g_autofree char *text = sentence(queued, known, threads, 2000, &(struct fm_extent){0});
    g_assert_cmpstr(text, ==, expected);
}

static void test_where_the_run_was(void)
{
    check(250, true, 1,
          "2.00 s wall: 0.20 s CPU, 1.50 s waiting (mutex 1.50), up to 0.25 s ready but without a "
          "processor");
    check(250, true, 2,
          "2.00 s wall: 0.40 s CPU, 1.50 s waiting (mutex 1.50), up to 0.50 s ready but without a "
          "processor, all threads together");
    /* Not more than is left beside CPU time and waits: queueing after a wake-up is in the wait. */
    check(900, true, 1,
          "2.00 s wall: 0.20 s CPU, 1.50 s waiting (mutex 1.50), up to 0.30 s ready but without a "
          "processor");
    check(19, true, 1, "2.00 s wall: 0.20 s CPU, 1.50 s waiting (mutex 1.50)");
    check(250, false, 1, "2.00 s wall: 0.20 s CPU, 1.50 s waiting (mutex 1.50)");
    check(250, false, 2,
          "2.00 s wall: 0.40 s CPU, 1.50 s waiting (mutex 1.50), all threads together");
    /* Of samples alone it is not to the digit. */
    check(250, true, 0, "2.00 s wall: about 0.20 s CPU, 1.50 s waiting (mutex 1.50)");
}

static void check_part(uint64_t whole_ms, const struct fm_extent *extent, const char *expected)
{
    g_autofree char *text = sentence(0, true, 1, whole_ms, extent);
    g_assert_cmpstr(text, ==, expected);
}

static void test_part_of_the_run(void)
{
    check_part(9000, &(struct fm_extent){.recorded_ns = 2000 * MS},
               "recorded 2.00 s of 9.00 s: 0.20 s CPU, 1.50 s waiting (mutex 1.50)");
    check_part(2001, &(struct fm_extent){.recorded_ns = 2000 * MS},
               "2.00 s wall: 0.20 s CPU, 1.50 s waiting (mutex 1.50)");
    check_part(0, &(struct fm_extent){.recorded_ns = 2000 * MS, .unfinished = true},
               "recorded 2.00 s: 0.20 s CPU, 1.50 s waiting (mutex 1.50)");
    check_part(0, &(struct fm_extent){0}, "0.20 s CPU, 1.50 s waiting (mutex 1.50)");
}

static void test_held(void)
{
    static const struct {
        struct fm_extent extent;
        const char *held, *heading;
    } cases[] = {
        {{.recorded_ns = 1}, "never freed", "Never freed"},
        {{.unfinished = true}, "still live at that moment", "Still live at that moment"},
        {{.later = true}, "never freed", "Of this phase never freed"},
        {{.later = true, .unfinished = true},
         "still live at that moment",
         "Of this phase still live at that moment"},
    };
    for (unsigned i = 0; i < G_N_ELEMENTS(cases); i++) {
        const struct fm_profile profile = {.run_info.extent = cases[i].extent};
        const struct fm_held_words *words = fm_held_words(&profile);
        g_assert_cmpstr(words->held, ==, cases[i].held);
        g_assert_cmpstr(words->heading, ==, cases[i].heading);
    }
}

int main(int argc, char **argv)
{
    made_init(&argc, &argv);
    g_test_add_func("/digest/run/where-it-was", test_where_the_run_was);
    g_test_add_func("/digest/run/part-of-the-run", test_part_of_the_run);
    g_test_add_func("/digest/run/held", test_held);
    return g_test_run();
}

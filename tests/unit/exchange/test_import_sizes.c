/* SPDX-License-Identifier: Apache-2.0 */
/* How many nodes a file makes: a small multiple of what it says, whatever it says. */
#include <string.h>

#include "base/error.h"
#include "exchange/import/import.h"

static struct fm_profile *import(const GString *text)
{
    struct fm_profile *profile = NULL;
    g_autoptr(GError) error = NULL;
    const struct fm_import_options options = {0};
    if (!fm_import_bytes("made", (const uint8_t *)text->str, text->len, &options, &profile, &error))
        g_error("%s", error->message);
    return profile;
}

static uint32_t slots_of(const struct fm_profile *p)
{
    return p->pd_slot_first[p->pd_count + 1];
}

static uint32_t proc_named(const struct fm_profile *p, const char *name)
{
    uint32_t ps = 1;
    while (ps <= p->ps_count && strcmp(p->ps[ps].name, name) != 0)
        ps++;
    g_assert_cmpuint(ps, <=, p->ps_count);
    return ps;
}

/* The csds of the calls that a context makes, all slots together. */
static uint32_t calls_of(const struct fm_profile *p, uint32_t pd)
{
    uint32_t all = 0, count;
    for (uint32_t slot = 0; slot < p->ps[p->pd_ps[pd]].css_count; slot++) {
        fm_profile_slot(p, pd, slot, &count);
        all += count;
    }
    return all;
}

/* One function in many contexts, which in one of them calls many others. */
static void contexts_and_callees_do_not_multiply(void)
{
    enum { CONTEXTS = 5000, CALLEES = 4000 };
    g_autoptr(GString) text = g_string_new(NULL);
    for (unsigned i = 0; i < CONTEXTS; i++)
        g_string_append_printf(text, "main;a%u;f 1\n", i);
    for (unsigned i = 0; i < CALLEES; i++)
        g_string_append_printf(text, "main;a7;f;b%u 2\n", i);
    g_autoptr(FmProfile) p = import(text);
    uint32_t f = proc_named(p, "f");
    g_assert_cmpuint(p->pd_count, ==, 2 + 2 * CONTEXTS + CALLEES);
    g_assert_cmpuint(p->csd_count, ==, p->pd_count - 1);
    g_assert_cmpuint(p->user_quanta, ==, CONTEXTS + 2 * CALLEES);
    g_assert_cmpuint(p->ps[f].css_count, ==, 1);
    g_assert_cmpuint(p->css[p->css_of_ps[p->ps[f].css_first]].kind, ==, FM_SITE_UNKNOWN);
    g_assert_cmpuint(slots_of(p), <=, p->csd_count);
    g_assert_cmpuint(p->run_info.note_count, ==, 0);
    for (uint32_t pd = 1; pd <= p->pd_count; pd++) {
        uint32_t calls = calls_of(p, pd);
        if (p->pd_ps[pd] == f)
            g_assert_true(calls == 0 || calls == CALLEES);
    }
}

/* A callee that a function calls in several contexts is one of each, at the one site. */
static void one_site_has_all_callees_of_unknown_lines(void)
{
    g_autoptr(GString) text = g_string_new("main;f;g 1\nmain;f;h 2\nmain;f;g 4\nk;f;h 8\n");
    g_autoptr(FmProfile) p = import(text);
    uint32_t f = proc_named(p, "f"), contexts = 0, count;
    g_assert_cmpuint(p->ps[f].css_count, ==, 1);
    for (uint32_t pd = 1; pd <= p->pd_count; pd++) {
        if (p->pd_ps[pd] != f)
            continue;
        const uint32_t *csds = fm_profile_slot(p, pd, 0, &count);
        const char *first = p->ps[p->pd_ps[p->csd_callee[csds[0]]]].name;
        uint64_t value = fm_profile_own(p, csds[0], FM_QUANTA);
        if (contexts++ == 0) {
            g_assert_cmpuint(count, ==, 2);
            g_assert_cmpstr(first, ==, "g");
            g_assert_cmpuint(value, ==, 5);
            g_assert_cmpuint(fm_profile_own(p, csds[1], FM_QUANTA), ==, 2);
        } else {
            g_assert_cmpuint(count, ==, 1);
            g_assert_cmpstr(first, ==, "h");
            g_assert_cmpuint(value, ==, 8);
        }
    }
    g_assert_cmpuint(contexts, ==, 2);
}

static void add_sample(GString *text, const char *caller, unsigned line, const char *callee)
{
    g_string_append_printf(text,
                           "prog 7 %zu.000001: 3 cycles:\n\t40 %s (/p)\n\t30 f (/p)\n\tf.c:%u\n"
                           "\t20 %s (/p)\n\tm.c:1\n\n",
                           text->len, callee, line, caller);
}

/* The same of calls whose lines are known: each line is a site as long as there is room. */
static void contexts_and_lines_do_not_multiply(void)
{
    enum { CONTEXTS = 4000, LINES = 3000 };
    g_autoptr(GString) text = g_string_new(NULL);
    for (unsigned i = 0; i < CONTEXTS; i++) {
        g_autofree char *caller = g_strdup_printf("a%u", i);
        add_sample(text, caller, 1, "g");
    }
    for (unsigned i = 0; i < LINES; i++)
        add_sample(text, "a7", i + 1, "g");
    add_sample(text, "b", 1, "h");
    g_autoptr(FmProfile) p = import(text);
    uint32_t f = proc_named(p, "f"), b = proc_named(p, "b");
    g_assert_cmpuint(slots_of(p), <=, 4u << 20);
    g_assert_cmpuint(p->ps[f].css_count, ==, 1);
    g_assert_cmpuint(p->css[p->css_of_ps[p->ps[f].css_first]].kind, ==, FM_SITE_UNKNOWN);
    g_assert_cmpuint(p->css[p->css_of_ps[p->ps[b].css_first]].kind, ==, FM_SITE_NORMAL);
    g_assert_cmpuint(p->css[p->css_of_ps[p->ps[b].css_first]].line, ==, 1);
    g_assert_cmpuint(p->user_quanta, ==, 3 * (CONTEXTS + LINES + 1));
    g_assert_cmpuint(p->run_info.note_count, ==, 1);
    g_assert_nonnull(strstr(p->run_info.notes[0], "lines of the calls in 1 function"));
    uint32_t most = 0;
    for (uint32_t pd = 1; pd <= p->pd_count; pd++) {
        if (p->pd_ps[pd] == f)
            most = MAX(most, calls_of(p, pd));
    }
    g_assert_cmpuint(most, ==, LINES);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/import/sizes/contexts-and-callees", contexts_and_callees_do_not_multiply);
    g_test_add_func("/import/sizes/one-site", one_site_has_all_callees_of_unknown_lines);
    g_test_add_func("/import/sizes/contexts-and-lines", contexts_and_lines_do_not_multiply);
    return g_test_run();
}

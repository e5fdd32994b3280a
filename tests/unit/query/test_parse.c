/* SPDX-License-Identifier: Apache-2.0 */
/* Which texts are queries, what they mean, and what is said of those that are none. */
#include <string.h>

#include "base/error.h"
#include "query/commands.h"

#define DEFAULTS "p-q-s-_-w/box/cols/5/20/nosum/context/nc/th/mqwd/hhh/nodev"

static struct fm_query parsed(const char *text)
{
    g_autoptr(GError) error = NULL;
    struct fm_query query;

    g_assert_true(fm_query_parse(text, &query, &error));
    g_assert_no_error(error);
    return query;
}

static void commands_without_arguments(void)
{
    static const struct {
        const char *text;
        enum fm_command_id id;
    } cases[] = {{"quit", FM_CMD_QUIT},
                 {"restart", FM_CMD_RESTART},
                 {"menu", FM_CMD_MENU},
                 {"recursion_type_freq", FM_CMD_RECURSION_TYPE_FREQ},
                 {"program_modules", FM_CMD_PROGRAM_MODULES},
                 {"menu&", FM_CMD_MENU}};

    for (unsigned i = 0; i < G_N_ELEMENTS(cases); i++) {
        struct fm_query query = parsed(cases[i].text);

        g_assert_cmpint(query.command.id, ==, cases[i].id);
        g_assert_false(query.has_preferences);
    }
}

static void commands_with_a_number(void)
{
    static const struct {
        const char *text;
        enum fm_command_id id;
        uint32_t number;
    } cases[] = {{"timeout/1", FM_CMD_TIMEOUT, 1},
                 {"timeout/525600", FM_CMD_TIMEOUT, 525600},
                 {"clique/25", FM_CMD_CLIQUE, 25},
                 {"clique_rc/0", FM_CMD_CLIQUE_RC, 0},
                 {"proc/4294967295", FM_CMD_PROC, UINT32_MAX},
                 {"proc_static_coverage/7", FM_CMD_PROC_STATIC_COVERAGE, 7},
                 {"proc_dynamic_coverage/8", FM_CMD_PROC_DYNAMIC_COVERAGE, 8},
                 {"call_site_dynamic_var_use/9", FM_CMD_CALL_SITE_DYNAMIC_VAR_USE, 9},
                 {"dump_proc_static/1", FM_CMD_DUMP_PROC_STATIC, 1},
                 {"dump_proc_dynamic/2", FM_CMD_DUMP_PROC_DYNAMIC, 2},
                 {"dump_call_site_static/3", FM_CMD_DUMP_CALL_SITE_STATIC, 3},
                 {"dump_call_site_dynamic/4", FM_CMD_DUMP_CALL_SITE_DYNAMIC, 4},
                 {"dump_raw_clique/5", FM_CMD_DUMP_RAW_CLIQUE, 5}};

    for (unsigned i = 0; i < G_N_ELEMENTS(cases); i++) {
        struct fm_query query = parsed(cases[i].text);

        g_assert_cmpint(query.command.id, ==, cases[i].id);
        g_assert_cmpuint(query.command.number, ==, cases[i].number);
    }
}

/* Two numbers are a procedure's and a page's; anything else a name. */
static void pages_of_callees(void)
{
    struct fm_query query = parsed("clique/25/3"), first = parsed("proc/7/1"),
                    plain = parsed("proc/7");

    g_assert_cmpuint(query.command.number, ==, 25);
    g_assert_cmpuint(query.command.bunch, ==, 3);
    g_autofree char *printed = fm_query_print(&query), *of_first = fm_query_print(&first);
    g_assert_cmpstr(printed, ==, "clique/25/3");
    g_assert_cmpstr(of_first, ==, "proc/7");
    g_assert_true(fm_query_equal(&first, &plain));
    g_assert_false(fm_query_equal(&query, &plain));
    struct fm_query named = parsed("clique/main/2");
    g_assert_cmpstr(named.command.name, ==, "main/2");
    fm_query_done(&named);
}

static void root_and_the_action(void)
{
    struct fm_query query = parsed("root/no");

    g_assert_false(query.command.has_percent);
    query = parsed("root/90");
    g_assert_true(query.command.has_percent);
    g_assert_cmpuint(query.command.percent, ==, 90);
}

static void callers_of_a_procedure(void)
{
    struct fm_query query = parsed("proc_callers/61/pr/1/20/nc");

    g_assert_cmpint(query.command.id, ==, FM_CMD_PROC_CALLERS);
    g_assert_cmpuint(query.command.number, ==, 61);
    g_assert_cmpint(query.command.group, ==, FM_GROUP_PROC);
    g_assert_cmpuint(query.command.bunch, ==, 1);
    g_assert_cmpuint(query.command.bunch_size, ==, 20);
    g_assert_false(query.command.contour);
    query = parsed("proc_callers/0/cl/4294967295/100000/ac");
    g_assert_cmpint(query.command.group, ==, FM_GROUP_CLIQUE);
    g_assert_true(query.command.contour);
}

static void top_procedures_with_preferences(void)
{
    struct fm_query query = parsed(
        "top_procs/1-100/callseqs/self/oa&p-q-s-_-w/box/cols/5/20/nosum/context/nc/th/mqwd/hhh/"
        "nodev");
    struct fm_preferences defaults;

    fm_preferences_default(&defaults, true, false);
    g_assert_cmpint(query.command.limit, ==, FM_LIMIT_RANK);
    g_assert_cmpuint(query.command.first, ==, 1);
    g_assert_cmpuint(query.command.last, ==, 100);
    g_assert_cmpint(query.command.top.kind, ==, FM_BY_CALLSEQS);
    g_assert_false(query.command.top.with_descendants);
    g_assert_false(query.command.top.per_call);
    g_assert_true(query.has_preferences);
    g_assert_true(fm_preferences_equal(&query.preferences, &defaults));
}

static void top_procedures_above_a_threshold(void)
{
    struct fm_query query = parsed("top_procs/p0.1/words/both/pc");

    g_assert_cmpint(query.command.limit, ==, FM_LIMIT_PERCENT);
    g_assert_cmpfloat(query.command.threshold, ==, 0.1);
    g_assert_cmpint(query.command.top.kind, ==, FM_BY_WORDS);
    g_assert_true(query.command.top.with_descendants);
    g_assert_true(query.command.top.per_call);
    query = parsed("top_procs/v2.09715e+06/time/self/oa");
    g_assert_cmpint(query.command.limit, ==, FM_LIMIT_VALUE);
    g_assert_cmpfloat(query.command.threshold, ==, 2097150.0);
}

static void module_names_are_all_that_follows(void)
{
    static const struct {
        const char *text, *name;
    } cases[] = {{"module/list", "list"},
                 {"module/src/a b.c", "src/a b.c"},
                 {"module/", ""},
                 {"module/a&b&", "a&b"},
                 {"module/a&&", "a&"},
                 {"module/100%25", "100%25"},
                 {"module/\xFF\x01-", "\xFF\x01-"},
                 {"module/a&b&" DEFAULTS, "a&b"},
                 {"module/f(int const&)", "f(int const&)"},
                 {"module/f(int const&)&", "f(int const&)"},
                 {"module/f(int&, int&&)&" DEFAULTS, "f(int&, int&&)"},
                 {"module/operator&(set)", "operator&(set)"}};

    for (unsigned i = 0; i < G_N_ELEMENTS(cases); i++) {
        struct fm_query query = parsed(cases[i].text);

        g_assert_cmpstr(query.command.module, ==, cases[i].name);
        fm_query_done(&query);
        g_assert_null(query.command.module);
    }
}

static void names_stand_for_numbers(void)
{
    static const struct {
        const char *text;
        enum fm_command_id id;
        const char *name, *printed; /* NULL: as it was */
    } cases[] = {
        {"proc/buf_append", FM_CMD_PROC, "buf_append", NULL},
        {"proc/list.append/3-0", FM_CMD_PROC, "list.append/3-0", NULL},
        {"proc/0x1", FM_CMD_PROC, "0x1", NULL},
        {"clique/main/write_index", FM_CMD_CLIQUE, "main/write_index", NULL},
        {"proc_callers/a.c:f/pr/1/20/nc", FM_CMD_PROC_CALLERS, "a.c:f", NULL},
        {"proc_callers/append%2F3-0/pr/1/20/nc", FM_CMD_PROC_CALLERS, "append/3-0", NULL},
        {"proc_callers/100%25/pr/1/20/nc", FM_CMD_PROC_CALLERS, "100%", NULL},
        {"find/", FM_CMD_FIND, "", NULL},
        {"find/a b/c", FM_CMD_FIND, "a b/c", NULL},
        {"recursions/bytes", FM_CMD_RECURSIONS, NULL, NULL},
        {"about", FM_CMD_ABOUT, NULL, NULL},
        {"waits", FM_CMD_WAITS, NULL, NULL},
        {"leaks", FM_CMD_LEAKS, NULL, NULL},
        {"asm/buf_append", FM_CMD_ASM, "buf_append", NULL},
        {"functions/time/self/20", FM_CMD_FUNCTIONS, NULL, NULL},
        {"functions/alloc_space/both/1", FM_CMD_FUNCTIONS, NULL, "functions/bytes/both/1"},
        {"lines/100000", FM_CMD_LINES, NULL, NULL},
        {"lines/time/7", FM_CMD_LINES, NULL, "lines/7"},
        {"lines/alloc_space/7", FM_CMD_LINES, NULL, "lines/bytes/7"},
        {"lines/peak/7", FM_CMD_LINES, NULL, NULL},
        {"tree/inuse_space/down/3/all", FM_CMD_TREE, "all", "tree/live/down/3/all"},
        {"graph/delay/all", FM_CMD_GRAPH, "all", "graph/waiting/all"},
        {"recursions/quanta", FM_CMD_RECURSIONS, NULL, "recursions/time"},
        {"contexts/buf_append", FM_CMD_CONTEXTS, "buf_append", NULL},
        {"graph/calls/proc/buf_append", FM_CMD_GRAPH, "proc/buf_append", NULL},
        {"ranks/time/clique/main/relax", FM_CMD_RANKS, "clique/main/relax", NULL},
        {"memory/held", FM_CMD_MEMORY, NULL, NULL},
        {"source/src/lib/a.c", FM_CMD_SOURCE, "src/lib/a.c", NULL},
        {"help/per call", FM_CMD_HELP, "per call", NULL},
        {"tree/time/down/3/all", FM_CMD_TREE, "all", NULL},
        {"tree/time/down/10-p0.5/all", FM_CMD_TREE, "all", NULL},
        {"tree/bytes/up/50/clique/main/f", FM_CMD_TREE, "clique/main/f", NULL},
        {"flame/calls/up/_/proc/7", FM_CMD_FLAME, "proc/7", NULL},
        {"flame/time/down/w800-own-open/all", FM_CMD_FLAME, "all",
         "flame/time/down/open-own-w800/all"},
    };

    for (unsigned i = 0; i < G_N_ELEMENTS(cases); i++) {
        struct fm_query query = parsed(cases[i].text);
        g_autofree char *printed = fm_query_print(&query);

        g_assert_cmpint(query.command.id, ==, cases[i].id);
        g_assert_cmpstr(query.command.name, ==, cases[i].name);
        g_assert_cmpstr(printed, ==, cases[i].printed ? cases[i].printed : cases[i].text);
        fm_query_done(&query);
        g_assert_null(query.command.name);
    }
}

static void every_preference_is_read(void)
{
    struct fm_query query =
        parsed("menu&_-qtp-S-a-B/nobox/none/no/7/sum/cost-allocs-both-pc/ac/mi/mqn/shs/dev");
    const struct fm_preferences *p = &query.preferences;

    g_assert_false(p->ports);
    g_assert_cmpint(p->time, ==, FM_TIME_BOTH_PER_CALL);
    g_assert_cmpint(p->callseqs, ==, FM_COUNT_PER_CALL);
    g_assert_cmpint(p->allocs, ==, FM_COUNT_OVERALL);
    g_assert_cmpint(p->memory, ==, FM_MEMORY_BYTES_PER_CALL);
    g_assert_false(p->box);
    g_assert_false(p->colour);
    g_assert_false(p->ancestors_limited);
    g_assert_cmpuint(p->procs_per_recursion_type, ==, 7);
    g_assert_true(p->summarize);
    g_assert_cmpint(p->order, ==, FM_ORDER_COST);
    g_assert_cmpint(p->cost.kind, ==, FM_BY_ALLOCS);
    g_assert_true(p->cost.with_descendants);
    g_assert_true(p->cost.per_call);
    g_assert_true(p->contour);
    g_assert_cmpint(p->time_format, ==, FM_TIME_FORMAT_MICRO);
    g_assert_cmpint(p->qualify, ==, FM_QUALIFY_NEVER);
    g_assert_true(p->show_inactive_call_sites);
    g_assert_false(p->show_inactive_procs);
    g_assert_true(p->show_inactive_modules);
    g_assert_true(p->developer);
}

static void errors_name_the_part_and_what_was_expected(void)
{
    static const struct {
        const char *text, *message;
    } cases[] = {
        {"", "command: found \"\", expected a command such as menu, find/TEXT, "
             "proc/NAME, tree/time/down/3/all or program_modules"},
        {"Menu", "command: found \"Menu\", expected a command such as menu, find/TEXT, "
                 "proc/NAME, tree/time/down/3/all or program_modules"},
        {"menu/1", "menu: found \"1\", expected nothing after the command"},
        {"lines/calls/20", "lines: found \"calls\", expected time, bytes, allocs, live or peak"},
        {"lines/0", "rows: found \"0\", expected a number from 1 to 100000"},
        {"functions/time/20", "functions: found \"time/20\", expected MEASURE/self/ROWS or "
                              "MEASURE/both/ROWS"},
        {"functions/hours/self/20",
         "measure: found \"hours\", expected one of time, calls, callseqs, bytes, words, allocs, "
         "waiting, live, peak, auto"},
        {"help", "command: found \"help\", expected \"/\" and an argument after this word, such as "
                 "help/all"},
        {"memory",
         "command: found \"memory\", expected \"/\" and an argument after this word, such "
         "as memory/held"},
        {"clique", "command: found \"clique\", expected \"/\" and an argument after this word"},
        {"clique/", "clique: found \"\", expected a clique number or a name"},
        {"timeout/x", "timeout: found \"x\", expected minutes from 1 to 525600"},
        {"dump_proc_dynamic/-1", "dump_proc_dynamic: found \"-1\", expected a proc dynamic number "
                                 "from 0 to 4294967295"},
        {"dump_call_site_static/1/2", "dump_call_site_static: found \"1/2\", expected a call site "
                                      "static number from 0 to 4294967295"},
        {"dump_proc_dynamic/1/2/3", "dump_proc_dynamic: found \"1/2/3\", expected a proc dynamic "
                                    "number from 0 to 4294967295"},
        {"proc/1/0", "proc: found \"0\", expected a page number from 1 to 4294967295"},
        {"proc_callers//pr/1/20/nc",
         "proc_callers: found \"\", expected a procedure number or a name"},
        {"tree/time/down/3", "tree: found \"time/down/3\", expected MEASURE/down or "
                             "up/LEVELS/FOCUS, such as time/down/3/all"},
        {"tree/time/down/0/all", "levels: found \"0\", expected a number from 1 to 50"},
        {"tree/time/down/3/", "tree: found \"time/down/3/\", expected MEASURE/down or "
                              "up/LEVELS/FOCUS, such as time/down/3/all"},
        {"flame/hours/down/_/all",
         "measure: found \"hours\", expected one of time, calls, callseqs, bytes, words, allocs, "
         "waiting, live, peak, auto"},
        {"flame/time/down/open-wide/all",
         "flags: found \"ide\", expected a width from 100 to 8000"},
        {"flame/time/down/big/all", "flags: found \"big\", expected _ or some of open, shut, own, "
                                    "wPIXELS joined by \"-\""},
        {"clique/4294967296",
         "clique: found \"4294967296\", expected a clique number from 0 to 4294967295"},
        {"timeout/0", "timeout: found \"0\", expected minutes from 1 to 525600"},
        {"root/101", "root: found \"101\", expected \"no\" or a percentage from 0 to 100"},
        {"proc_callers/1/xx/1/20/nc", "group: found \"xx\", expected one of cs, pr, mo, cl"},
        {"proc_callers/1/cs/0/20/nc",
         "bunch: found \"0\", expected a page number from 1 to 4294967295"},
        {"proc_callers/1/cs/1/100001/nc",
         "size: found \"100001\", expected a number of rows from 1 to 100000"},
        {"proc_callers/1/cs/1/20",
         "proc_callers: found \"1/cs/1/20\", expected PROCEDURE/GROUP/BUNCH/SIZE/CONTOUR"},
        {"proc_callers/1/cs/1/20/nc/x",
         "proc_callers: found \"1/cs/1/20/nc/x\", expected PROCEDURE/GROUP/BUNCH/SIZE/CONTOUR"},
        {"top_procs/5-4/calls/self/oa",
         "limit: found \"4\", expected a last rank from 5 to 4294967295"},
        {"top_procs/0-4/calls/self/oa",
         "limit: found \"0\", expected a first rank from 1 to 4294967295"},
        {"top_procs/x/calls/self/oa", "limit: found \"x\", expected A-B, pPERCENT or vVALUE"},
        {"top_procs/p-1/calls/self/oa",
         "threshold: found \"-1\", expected a finite number that is not negative, such as 0.1"},
        {"top_procs/vnan/calls/self/oa",
         "threshold: found \"nan\", expected a finite number that is not negative, such as 0.1"},
        {"top_procs/v1e999/calls/self/oa",
         "threshold: found \"1e999\", expected a finite number that is not negative, such as 0.1"},
        {"top_procs/v0x10/calls/self/oa",
         "threshold: found \"0x10\", expected a finite number that is not negative, such as 0.1"},
        {"top_procs/1-2/cost/self/oa",
         "cost: found \"cost\", expected one of calls, redos, time, callseqs, allocs, words"},
        {"top_procs/1-2/calls/all/oa", "descendants: found \"all\", expected one of self, both"},
        {"top_procs/1-2/calls/self/", "scope: found \"\", expected one of oa, pc"},
        {"menu&x", "preferences: found \"x\", expected 12 items separated by \"/\""},
        {"menu&" DEFAULTS "/x",
         "preferences: found \"" DEFAULTS "/x\", expected 12 items separated by \"/\""},
        {"menu&x-q-s-_-w/box/cols/5/20/nosum/context/nc/th/mqwd/hhh/nodev",
         "port columns: found \"x\", expected one of _, p"},
        {"menu&p-q-s-_/box/cols/5/20/nosum/context/nc/th/mqwd/hhh/nodev",
         "columns: found \"p-q-s-_\", expected PORT-TIME-CALLSEQS-ALLOC-MEMORY"},
        {"menu&p-q-s-_-w/box/cols/5/20/nosum/cost/nc/th/mqwd/hhh/nodev",
         "order: found \"cost\", expected context, name or cost-KIND-DESC-SCOPE"},
        {"menu&p-q-s-_-w/box/cols/5/20/nosum/context/nc/th/mqwd/hh/nodev",
         "inactive items: found \"hh\", expected three letters h or s, for call sites, procedures "
         "and modules"},
        {"menu&p-q-s-_-w/box/cols/1000001/20/nosum/context/nc/th/mqwd/hhh/nodev",
         "ancestors: found \"1000001\", expected \"no\" or a number from 0 to 1000000"},
        {"\xFF\n\x1B[31m",
         "command: found \"\xEF\xBF\xBD??[31m\", expected a command such as menu, "
         "find/TEXT, proc/NAME, tree/time/down/3/all or program_modules"},
    };

    for (unsigned i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autoptr(GError) error = NULL;
        struct fm_query query = {.command = {.number = 77}};

        g_assert_false(fm_query_parse(cases[i].text, &query, &error));
        g_assert_error(error, FM_ERROR, FM_ERROR_USAGE);
        /* Behind it are the names of all commands. */
        if (g_str_has_suffix(cases[i].message, "or program_modules"))
            g_assert_true(g_str_has_prefix(error->message, cases[i].message));
        else
            g_assert_cmpstr(error->message, ==, cases[i].message);
        g_assert_cmpuint(query.command.number, ==, 77);
    }
}

static void errors_name_the_command_that_was_meant(void)
{
    static const struct {
        const char *text, *suggestion;
    } cases[] = {
        {"locks", "; perhaps waits is meant; the commands are menu, root, "},
        {"Heap/x", "; perhaps memory/allocated or leaks is meant; the commands"},
        {"Menu", "; perhaps menu is meant; the commands"},
        {"wait", "; perhaps waits is meant; the commands"},
        {"leeks", "; perhaps leaks is meant; the commands"},
        {"proc_calers/main", "; perhaps proc_callers is meant; the commands"},
        {"zzz", "program_modules; the commands are menu, root, "},
        {"", "program_modules; the commands are menu, root, "},
        {"of", "program_modules; the commands are menu, root, "},
    };

    for (unsigned i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autoptr(GError) error = NULL;
        struct fm_query query;

        g_assert_false(fm_query_parse(cases[i].text, &query, &error));
        g_assert_nonnull(strstr(error->message, cases[i].suggestion));
        g_assert_nonnull(strstr(error->message, ", waits, leaks, "));
        g_assert_null(strstr(error->message, "quit"));
    }
}

static void takes(enum fm_command_id id, const char *address)
{
    g_autoptr(GError) error = NULL;
    struct fm_command command;
    bool taken = fm_command_parse(address, &command, &error);
    g_assert_no_error(error);
    g_assert_true(taken);
    g_assert_cmpuint(command.id, ==, id);
    fm_command_done(&command);
}

static void addresses_of_the_table_lead_to_their_command(void)
{
    for (unsigned id = 0; id < FM_CMD_COUNT; id++) {
        const struct fm_command_form *form = &fm_command_forms[id];
        if (form->example != NULL)
            takes(id, form->example);
        for (unsigned i = 0; i < FM_COMMAND_SAMPLES_MAX && form->samples[i] != NULL; i++)
            takes(id, form->samples[i]);
        for (unsigned i = 0; i < FM_COMMAND_ALIASES_MAX && form->aliases[i].word != NULL; i++) {
            const char *address = form->aliases[i].address;
            takes(id, address != NULL         ? address
                      : form->example != NULL ? form->example
                                              : form->name);
        }
        g_assert_true(form->unlisted || form->checks_each || form->samples[0] != NULL ||
                      form->example != NULL);
    }
    for (const struct fm_command_tab *tab = fm_command_tabs_of_c; tab->label != NULL; tab++)
        takes(tab->id, tab->address);
    for (const struct fm_command_tab *tab = fm_command_tabs_of_mercury; tab->label != NULL; tab++)
        takes(tab->id, tab->address);
}

static void a_long_wrong_part_is_cut_in_the_message(void)
{
    g_autoptr(GError) error = NULL;
    g_autofree char *text = g_strnfill(100000, 'x');
    struct fm_query query;

    g_assert_false(fm_query_parse(text, &query, &error));
    g_assert_cmpuint(strlen(error->message), <, 700); /* with the names of all commands */
    g_assert_nonnull(strstr(error->message, "xxx...\""));
}

static void defaults_depend_on_the_recording(void)
{
    static const struct {
        bool times, c_program;
        const char *columns;
    } cases[] = {{true, false, "p-q-s-_-w"},
                 {false, false, "p-_-s-_-w"},
                 {true, true, "p-t-s-_-b"},
                 {false, true, "p-_-s-_-b"}};

    for (unsigned i = 0; i < G_N_ELEMENTS(cases); i++) {
        struct fm_preferences preferences;
        g_autofree char *want = g_strconcat(
            cases[i].columns, "/box/cols/5/20/nosum/context/nc/th/mqwd/hhh/nodev", NULL);

        fm_preferences_default(&preferences, cases[i].times, cases[i].c_program);
        g_autofree char *text = fm_preferences_print(&preferences);
        g_assert_cmpstr(text, ==, want);
    }
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/query/parse/plain", commands_without_arguments);
    g_test_add_func("/query/parse/number", commands_with_a_number);
    g_test_add_func("/query/parse/pages", pages_of_callees);
    g_test_add_func("/query/parse/root", root_and_the_action);
    g_test_add_func("/query/parse/callers", callers_of_a_procedure);
    g_test_add_func("/query/parse/top", top_procedures_with_preferences);
    g_test_add_func("/query/parse/threshold", top_procedures_above_a_threshold);
    g_test_add_func("/query/parse/module", module_names_are_all_that_follows);
    g_test_add_func("/query/parse/names", names_stand_for_numbers);
    g_test_add_func("/query/parse/preferences", every_preference_is_read);
    g_test_add_func("/query/parse/errors", errors_name_the_part_and_what_was_expected);
    g_test_add_func("/query/parse/meant", errors_name_the_command_that_was_meant);
    g_test_add_func("/query/parse/table", addresses_of_the_table_lead_to_their_command);
    g_test_add_func("/query/parse/long", a_long_wrong_part_is_cut_in_the_message);
    g_test_add_func("/query/defaults", defaults_depend_on_the_recording);
    return g_test_run();
}

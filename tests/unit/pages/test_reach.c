/* SPDX-License-Identifier: Apache-2.0 */
/* From the menu, by following links and controls alone, a page of every command is reached; and
 * what a profile lacks is told with what would help. */
#include <glib/gstdio.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "world.h"

#define PAGES_MAX 2000

struct walk {
    const struct fm_open_profile *recording;
    GHashTable *seen; /* texts of queries */
    GQueue waiting[FM_CMD_COUNT];
    unsigned visited[FM_CMD_COUNT];
};

static void found(struct walk *walk, const char *encoded, size_t size)
{
    g_autofree char *raw = g_strndup(encoded, size);
    g_auto(GStrv) parts = g_strsplit(raw, "&amp;", -1);
    g_autofree char *joined = g_strjoinv("&", parts);
    char *text = fm_query_percent_decode(joined, NULL);
    struct fm_query query = {0};
    g_assert_nonnull(text);
    g_assert_true(fm_query_parse(text, &query, NULL));
    if (!g_hash_table_contains(walk->seen, text)) {
        g_hash_table_add(walk->seen, text);
        g_queue_push_tail(&walk->waiting[query.command.id], text);
    } else {
        g_free(text);
    }
    fm_query_done(&query);
}

static void visit(struct walk *walk, const char *text)
{
    static const char mark[] = "href=\"?";
    struct fm_query query = {0};
    struct fm_preferences preferences;
    g_autoptr(FmDisplay) display = NULL;
    g_autoptr(GString) html = g_string_new(NULL);
    GError *error = NULL;
    g_assert_true(fm_query_parse(text, &query, NULL));
    if (!fm_pages_make(walk->recording, &query, &preferences, &display, &error))
        g_error("%s: %s", text, error->message);
    const struct fm_html_options options = {.recording_name = walk->recording->name,
                                            .url_prefix = "?",
                                            .url_suffix = "",
                                            .asset_prefix = "/assets/"};
    fm_html_write(display, &preferences, &options, html);
    for (const char *at = html->str; (at = strstr(at, mark)) != NULL;) {
        at += strlen(mark);
        found(walk, at, strcspn(at, "\""));
    }
    walk->visited[query.command.id]++;
    fm_query_done(&query);
}

/* The command that was visited least and has pages waiting. */
static unsigned next_command(const struct walk *walk)
{
    unsigned best = FM_CMD_COUNT;
    for (unsigned id = 0; id < FM_CMD_COUNT; id++) {
        bool server = id == FM_CMD_QUIT || id == FM_CMD_RESTART || id == FM_CMD_TIMEOUT;
        if (!server && walk->waiting[id].length > 0 &&
            (best == FM_CMD_COUNT || walk->visited[id] < walk->visited[best]))
            best = id;
    }
    return best;
}

static bool all_reached(const struct walk *walk, const enum fm_command_id *commands, unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        if (walk->visited[commands[i]] == 0)
            return false;
    }
    return true;
}

static void reach(const struct fm_open_profile *recording, const char *start,
                  const enum fm_command_id *commands, unsigned count)
{
    struct walk walk = {.recording = recording,
                        .seen = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL)};
    found(&walk, start, strlen(start));
    for (unsigned pages = 0; pages < PAGES_MAX && !all_reached(&walk, commands, count); pages++) {
        unsigned id = next_command(&walk);
        if (id == FM_CMD_COUNT)
            break;
        visit(&walk, g_queue_pop_head(&walk.waiting[id]));
    }
    for (unsigned i = 0; i < count; i++) {
        if (walk.visited[commands[i]] == 0)
            g_error("from %s no page of command %d is reached", start, (int)commands[i]);
    }
    for (unsigned id = 0; id < FM_CMD_COUNT; id++)
        g_queue_clear(&walk.waiting[id]);
    g_hash_table_unref(walk.seen);
}

#define DEVELOPER "menu&p-qtp-S-A-W/box/cols/5/20/nosum/context/nc/th/mqwd/sss/dev"

static void every_command_is_reached(void)
{
    static const enum fm_command_id all[] = {FM_CMD_MENU,
                                             FM_CMD_ROOT,
                                             FM_CMD_CLIQUE,
                                             FM_CMD_CLIQUE_RC,
                                             FM_CMD_RECURSION_TYPE_FREQ,
                                             FM_CMD_PROC,
                                             FM_CMD_PROC_CALLERS,
                                             FM_CMD_PROGRAM_MODULES,
                                             FM_CMD_MODULE,
                                             FM_CMD_MODULE_GETTER_SETTERS,
                                             FM_CMD_MODULE_REP,
                                             FM_CMD_TOP_PROCS,
                                             FM_CMD_PROC_STATIC_COVERAGE,
                                             FM_CMD_PROC_DYNAMIC_COVERAGE,
                                             FM_CMD_CALL_SITE_DYNAMIC_VAR_USE,
                                             FM_CMD_DUMP_PROC_STATIC,
                                             FM_CMD_DUMP_PROC_DYNAMIC,
                                             FM_CMD_DUMP_CALL_SITE_STATIC,
                                             FM_CMD_DUMP_CALL_SITE_DYNAMIC,
                                             FM_CMD_DUMP_RAW_CLIQUE};
    /* What a user who is no developer of Mercury reaches. */
    static const enum fm_command_id plain[] = {
        FM_CMD_CLIQUE,          FM_CMD_PROC,      FM_CMD_PROC_CALLERS,
        FM_CMD_PROGRAM_MODULES, FM_CMD_MODULE,    FM_CMD_MODULE_GETTER_SETTERS,
        FM_CMD_MODULE_REP,      FM_CMD_TOP_PROCS, FM_CMD_PROC_STATIC_COVERAGE};
    g_autofree char *path = sample_file("Deep.data");
    g_autoptr(FmOpenProfile) recording = NULL;
    GError *error = NULL;
    if (path == NULL)
        return;
    if (!fm_open_profile_open(path, NULL, &recording, &error))
        g_error("%s", error->message);
    reach(recording, DEVELOPER, all, G_N_ELEMENTS(all));
    reach(recording, "menu", plain, G_N_ELEMENTS(plain));
}

static void expect_words(const struct fm_open_profile *recording, const char *query,
                         const char *const *words)
{
    g_autofree char *message = page_error(recording, query, FM_ERROR_UNAVAILABLE);
    for (; *words != NULL; words++) {
        if (strstr(message, *words) == NULL)
            g_error("%s: \"%s\" does not say \"%s\"", query, message, *words);
    }
}
#define SAYS(...)         \
    (const char *const[]) \
    {                     \
        __VA_ARGS__, NULL \
    }

static struct fm_open_profile *open_alone(const char *folder, const char *data)
{
    g_autofree char *path = g_build_filename(folder, "Deep.data", NULL);
    struct fm_open_profile *recording;
    GError *error = NULL;
    g_assert_cmpint(symlink(data, path), ==, 0);
    if (!fm_open_profile_open(path, NULL, &recording, &error))
        g_error("%s", error->message);
    g_unlink(path);
    return recording;
}

/* A Mercury profile without its bodies: what needs them says so and where they come from; what the
 * counts tell is told. */
static void bodies_are_missing(void)
{
    g_autofree char *data = sample_file("Deep.data");
    if (data == NULL)
        return;
    g_autofree char *folder = g_dir_make_tmp("fathom-reach-XXXXXX", NULL);
    g_autofree char *bad = g_build_filename(folder, "Deep.procrep", NULL);
    static const char *const queries[] = {"recursion_type_freq", "module_rep/mandelbrot",
                                          "proc_static_coverage/61", "proc_dynamic_coverage/96",
                                          "call_site_dynamic_var_use/130"};
    for (int round = 0; round < 2; round++) {
        if (round == 1)
            g_assert_true(
                g_file_set_contents(bad, "Mercury deep profiler procrep version 5\n\2", -1, NULL));
        g_autoptr(FmOpenProfile) recording = open_alone(folder, data);
        for (size_t i = 0; i < G_N_ELEMENTS(queries); i++) {
            expect_words(recording, queries[i],
                         round == 0 ? SAYS("There is no readable procedure representation",
                                           "NAME.procrep beside NAME.data")
                                    : SAYS("Error reading procedure representation", "offset 40",
                                           "take NAME.procrep again"));
        }
        struct page page = page_of(recording, "clique_rc/112");
        g_assert_nonnull(strstr(page_text(&page), round == 0 ? "There is no readable procedure"
                                                             : "Error reading procedure"));
        g_assert_cmpuint(row_count(&page, "recursive_sites", "call_site"), ==, 1);
        page_done(&page);
    }
    g_unlink(bad);
    g_rmdir(folder);
}

static void other_reasons(void)
{
    g_autofree char *data = sample_file("Deep.data");
    g_autoptr(FmOpenProfile) recording = NULL;
    if (data == NULL)
        return;
    g_assert_true(fm_open_profile_open(data, NULL, &recording, NULL));
    expect_words(recording, "proc_static_coverage/8000",
                 SAYS("No coverage information available", "never called"));
    expect_words(recording, "module_rep/Mercury runtime", SAYS("no bodies of module"));
    expect_words(recording, "proc_callers/62/pr/1/20/ac",
                 SAYS("Could not read contour exclusion file", "NAME.contour", "all MODULE",
                      "internal MODULE"));
    g_autoptr(FmOpenProfile) c = world_c(NULL);
    expect_words(c, "module_rep/a.c", SAYS("source"));
    expect_words(c, "call_site_dynamic_var_use/1", SAYS("C programs"));
    expect_words(c, "proc_static_coverage/2", SAYS("--grade=coverage"));
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/reach/every command", every_command_is_reached);
    g_test_add_func("/reach/bodies are missing", bodies_are_missing);
    g_test_add_func("/reach/other reasons", other_reasons);
    return g_test_run();
}

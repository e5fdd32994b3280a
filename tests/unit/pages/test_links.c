/* SPDX-License-Identifier: Apache-2.0 */
/* Walks the pages of a recording from the menu, breadth first, through every link and control of
 * their HTML: each must be a query that parses, prints as it was, and yields a page. */
#include "base/error.h"
#include "world.h"

#include <string.h>

#define PICTURES_MAX 60 /* flame graphs and trees */
#define PAGES_MAX 1500  /* for each setting of the preferences */

struct walk {
    const struct fm_open_profile *recording;
    GHashTable *seen; /* texts of queries */
    GQueue queue;
    unsigned pages, links, pictures;
};

static void found(struct walk *walk, char *text)
{
    struct fm_query query = {0};
    GError *error = NULL;
    if (!fm_query_parse(text, &query, &error))
        g_error("link %s: %s", text, error->message);
    char *printed = fm_query_print(&query);
    struct fm_query again = {0};
    if (!fm_query_parse(printed, &again, &error))
        g_error("printed as %s: %s", printed, error->message);
    g_assert_true(fm_query_equal(&query, &again));
    g_assert_cmpstr(printed, ==, text);
    bool server = query.command.id == FM_CMD_QUIT || query.command.id == FM_CMD_RESTART;
    bool picture = query.command.id == FM_CMD_FLAME || query.command.id == FM_CMD_TREE;
    fm_query_done(&query);
    fm_query_done(&again);
    g_free(printed);
    walk->links++;
    if (picture && walk->pictures >= PICTURES_MAX)
        server = true; /* each leads to hundreds of others */
    if (server || g_hash_table_contains(walk->seen, text)) {
        g_free(text);
        return;
    }
    walk->pictures += picture;
    g_hash_table_add(walk->seen, text);
    g_queue_push_tail(&walk->queue, text);
}

static char *unescape(const char *from, size_t size)
{
    g_autofree char *text = g_strndup(from, size);
    g_auto(GStrv) parts = g_strsplit(text, "&amp;", -1);
    return g_strjoinv("&", parts);
}

/* Every href="?QUERY". */
static void collect(struct walk *walk, const char *html)
{
    static const char mark[] = "href=\"?";
    for (const char *p = html; (p = strstr(p, mark));) {
        p += strlen(mark);
        const char *end = p + strcspn(p, "\"#"); /* behind "#" stands a place on the page */
        g_assert_true(*end != '\0');
        g_autofree char *encoded = unescape(p, (size_t)(end - p));
        GError *error = NULL;
        char *text = fm_query_percent_decode(encoded, &error);
        g_assert_no_error(error);
        found(walk, text);
    }
}

static void visit(struct walk *walk, const char *text)
{
    struct fm_query query = {0};
    struct fm_preferences preferences;
    struct fm_display *display = NULL;
    GError *error = NULL;
    g_assert_true(fm_query_parse(text, &query, NULL));
    if (!fm_pages_make(walk->recording, &query, &preferences, &display, &error))
        g_error("%s: %s", text, error->message);
    const struct fm_html_options options = {.recording_name = walk->recording->name,
                                            .url_prefix = "?",
                                            .url_suffix = "",
                                            .asset_prefix = "/assets/"};
    GString *html = g_string_new(NULL);
    fm_html_write(display, &preferences, &options, html);
    collect(walk, html->str);
    g_string_free(html, TRUE);
    fm_display_free(display);
    fm_query_done(&query);
    walk->pages++;
}

/* *ret_commands: how many pages of each command were seen. */
static void walk_from(const struct fm_open_profile *recording, const char *start,
                      unsigned pages_max, unsigned ret_commands[FM_CMD_COUNT])
{
    struct walk walk = {.recording = recording,
                        .seen = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL)};
    g_queue_init(&walk.queue);
    found(&walk, g_strdup(start));
    const char *text;
    while (walk.pages < pages_max && (text = g_queue_pop_head(&walk.queue))) {
        struct fm_query query = {0};
        g_assert_true(fm_query_parse(text, &query, NULL));
        ret_commands[query.command.id]++;
        fm_query_done(&query);
        visit(&walk, text);
    }
    g_test_message("%s: %u pages, %u links", start, walk.pages, walk.links);
    g_assert_cmpuint(walk.links, >, walk.pages);
    g_queue_clear(&walk.queue);
    g_hash_table_unref(walk.seen);
}

static const char *const starts[] = {
    "menu",
    "menu&p-qtp-S-A-B/nobox/none/no/20/sum/name/nc/th/mqa/sss/dev",
    "menu&_-_-_-_-_/box/none/0/0/nosum/cost-redos-self-oa/nc/no/mqn/shs/dev",
    "program_modules&p-qt-S-a-W/box/cols/1/20/nosum/cost-time-both-pc/ac/mi/mqwd/hsh/nodev",
    "proc_callers/62/cl/1/1/nc&p-t-s-_-b/box/cols/5/20/nosum/cost-words-self-pc/nc/th/mqwd/hhh/dev",
};

static void small_recordings(void)
{
    struct fm_open_profile *recordings[] = {world_undetected_recursion(), world_two_pds(),
                                            world_c(NULL), world_many_callers("many.data")};
    for (unsigned i = 0; i < G_N_ELEMENTS(recordings); i++) {
        unsigned commands[FM_CMD_COUNT] = {0};
        walk_from(recordings[i], starts[0], 300, commands);
        walk_from(recordings[i], starts[1], 300, commands);
        g_assert_cmpuint(commands[FM_CMD_PROC], >, 0);
        g_assert_cmpuint(commands[FM_CMD_CLIQUE], >, 0);
        fm_open_profile_free(recordings[i]);
    }
}

static void sample(void)
{
    static const enum fm_command_id reached[] = {FM_CMD_MENU,
                                                 FM_CMD_ROOT,
                                                 FM_CMD_CLIQUE,
                                                 FM_CMD_PROC,
                                                 FM_CMD_PROC_CALLERS,
                                                 FM_CMD_PROGRAM_MODULES,
                                                 FM_CMD_MODULE,
                                                 FM_CMD_MODULE_GETTER_SETTERS,
                                                 FM_CMD_TOP_PROCS,
                                                 FM_CMD_DUMP_PROC_STATIC,
                                                 FM_CMD_DUMP_CALL_SITE_STATIC,
                                                 FM_CMD_DUMP_RAW_CLIQUE};
    g_autofree char *path = sample_file("Deep.data");
    if (!path)
        return;
    g_autoptr(FmOpenProfile) recording = NULL;
    GError *error = NULL;
    if (!fm_open_profile_open(path, NULL, &recording, &error))
        g_error("%s", error->message);
    unsigned commands[FM_CMD_COUNT] = {0};
    for (unsigned i = 0; i < G_N_ELEMENTS(starts); i++)
        walk_from(recording, starts[i], PAGES_MAX, commands);
    for (unsigned i = 0; i < G_N_ELEMENTS(reached); i++)
        if (commands[reached[i]] == 0)
            g_error("no page of command %d was reached", (int)reached[i]);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/links/small recordings", small_recordings);
    g_test_add_func("/links/sample", sample);
    return g_test_run();
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Every invariant of a file verified, and every page of it made once in every format. */
#include <inttypes.h>
#include <json-glib/json-glib.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/text/shell.h"
#include "cli/check_limits.h"
#include "cli/cli.h"
#include "exchange/hint/hint.h"
#include "runs/compare/compare.h"
#include "pages/check/companion.h"
#include "pages/check/pages.h"

#define PROBLEMS_SHOWN_MAX 20

struct told {
    JsonArray *json; /* NULL: they are printed */
    unsigned count;
};

static void tell_problem(void *user, const char *page, const char *what)
{
    struct told *told = user;
    if (++told->count > PROBLEMS_SHOWN_MAX)
        return;
    if (told->json != NULL) {
        g_autofree char *line = g_strdup_printf("%s: %s", page, what);
        g_autofree char *valid = g_utf8_make_valid(line, -1);
        json_array_add_string_element(told->json, valid);
        return;
    }
    printf("FAILED  %s: %s\n", page, what);
    if (told->count == PROBLEMS_SHOWN_MAX)
        printf("        further ones are only counted\n");
}

static void set_text(JsonObject *object, const char *name, const char *text)
{
    g_autofree char *valid = g_utf8_make_valid(text, -1);
    json_object_set_string_member(object, name, valid);
}

static unsigned list_invariants(const struct fm_open_profile *recording, JsonArray *list)
{
    unsigned broken = 0;
    for (unsigned i = 0; i < recording->invariant_count; i++) {
        const struct fm_invariant *invariant = &recording->invariants[i];
        JsonObject *object = json_object_new();
        set_text(object, "name", invariant->name);
        json_object_set_boolean_member(object, "holds", invariant->holds);
        set_text(object, "detail", invariant->detail);
        json_array_add_object_element(list, object);
        broken += !invariant->holds;
    }
    return broken;
}

static JsonObject *lacking_json(GHashTable *lacking)
{
    JsonObject *object = json_object_new();
    g_autoptr(GList) names = g_list_sort(g_hash_table_get_keys(lacking), (GCompareFunc)strcmp);
    for (GList *at = names; at != NULL; at = at->next) {
        g_autofree char *valid = g_utf8_make_valid(at->data, -1);
        json_object_set_int_member(
            object, valid, (gint64)GPOINTER_TO_SIZE(g_hash_table_lookup(lacking, at->data)));
    }
    return object;
}

static void list_lacking(GHashTable *lacking)
{
    g_autoptr(GList) names = g_list_sort(g_hash_table_get_keys(lacking), (GCompareFunc)strcmp);
    for (GList *at = names; at != NULL; at = at->next)
        printf("lacking %" G_GSIZE_FORMAT " pages: %s\n",
               GPOINTER_TO_SIZE(g_hash_table_lookup(lacking, at->data)), (const char *)at->data);
}

/* Bodies or a feedback file: its facts as invariants, no pages. */
static int check_companion_json(const char *path, enum fm_hint_file_kind kind, JsonArray *files)
{
    g_autoptr(GArray) facts = NULL;
    GError *error = NULL;
    JsonArray *invariants = json_array_new(), *problems = json_array_new();
    JsonObject *file = json_object_new();
    unsigned broken = 0;
    bool read = fm_companion_check(path, kind, &facts, &error);
    for (guint i = 0; read && i < facts->len; i++) {
        const struct fm_companion_fact *fact = &g_array_index(facts, struct fm_companion_fact, i);
        JsonObject *object = json_object_new();
        set_text(object, "name", fact->name);
        json_object_set_boolean_member(object, "holds", fact->holds);
        set_text(object, "detail", fact->detail);
        json_array_add_object_element(invariants, object);
        broken += !fact->holds;
    }
    if (!read) {
        g_autofree char *valid = g_utf8_make_valid(error->message, -1);
        json_array_add_string_element(problems, valid);
        fm_console_fail("check", error);
    }
    set_text(file, "file", path);
    json_object_set_array_member(file, "invariants", invariants);
    json_object_set_int_member(file, "pages", 0);
    json_object_set_int_member(file, "formats", 0);
    json_object_set_int_member(file, "unavailable", 0);
    json_object_set_object_member(file, "lacking", json_object_new());
    json_object_set_int_member(file, "problems_count", read ? 0 : 1);
    json_object_set_array_member(file, "problems", problems);
    json_array_add_object_element(files, file);
    return read && broken == 0 ? FM_EXIT_DONE : FM_EXIT_FAILED;
}

static int check_companion(const char *path, enum fm_hint_file_kind kind)
{
    g_autoptr(GArray) facts = NULL;
    GError *error = NULL;
    unsigned broken = 0;
    if (!fm_companion_check(path, kind, &facts, &error))
        return fm_console_fail("check", error);
    for (guint i = 0; i < facts->len; i++) {
        const struct fm_companion_fact *fact = &g_array_index(facts, struct fm_companion_fact, i);
        printf("%s  %s (%s)\n", fact->holds ? "ok    " : "FAILED", fact->name, fact->detail);
        broken += !fact->holds;
    }
    g_autofree char *shown = fm_text_escaped(path);
    printf("%s: %u invariants, %u broken\n", shown, facts->len, broken);
    return broken == 0 ? FM_EXIT_DONE : FM_EXIT_FAILED;
}

static bool is_companion(enum fm_hint_file_kind kind)
{
    return kind == FM_FILE_BODIES || kind == FM_FILE_FEEDBACK;
}

/* One element of "files". A file that cannot be read has that as its one problem. */
static int check_file_json(const char *path, uint32_t sample, JsonArray *files)
{
    GError *error = NULL;
    g_autoptr(FmOpenProfile) recording = NULL;
    struct fm_progress progress;
    enum fm_hint_file_kind kind = fm_hint_file_kind(path);
    if (is_companion(kind))
        return check_companion_json(path, kind, files);
    JsonArray *invariants = json_array_new(), *problems = json_array_new();
    g_autoptr(GHashTable) lacking = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    struct told told = {.json = problems};
    struct fm_page_check check = {.progress = &progress,
                                  .sample = sample,
                                  .problem = tell_problem,
                                  .user = &told,
                                  .lacking = lacking};
    unsigned broken = 0;
    fm_console_progress_begin(&progress);
    bool opened = fm_profile_open_now(path, &progress, &recording, &error);
    if (opened) {
        check.recording = recording;
        broken = list_invariants(recording, invariants);
        fm_page_check(&check);
    } else {
        g_autofree char *valid = g_utf8_make_valid(error->message, -1);
        json_array_add_string_element(problems, valid);
        check.problems = 1;
    }
    fm_console_progress_end(&progress);
    if (!opened)
        fm_hint_fail_file("check", path, FM_FILE_PROFILE, error);
    JsonObject *file = json_object_new();
    set_text(file, "file", path);
    json_object_set_array_member(file, "invariants", invariants);
    json_object_set_int_member(file, "pages", (gint64)check.pages);
    json_object_set_int_member(file, "formats", FM_PAGE_CHECK_FORMATS);
    json_object_set_int_member(file, "unavailable", (gint64)check.unavailable);
    json_object_set_object_member(file, "lacking", lacking_json(lacking));
    json_object_set_int_member(file, "problems_count", (gint64)check.problems);
    json_object_set_array_member(file, "problems", problems);
    json_array_add_object_element(files, file);
    return broken == 0 && check.problems == 0 ? FM_EXIT_DONE : FM_EXIT_FAILED;
}

static int check_files_json(char **paths, uint32_t sample)
{
    int status = FM_EXIT_DONE;
    JsonArray *files = json_array_new();
    for (char **path = paths; *path != NULL; path++) {
        if (check_file_json(*path, sample, files) != FM_EXIT_DONE)
            status = FM_EXIT_FAILED;
    }
    JsonObject *all = json_object_new();
    json_object_set_array_member(all, "files", files);
    g_autoptr(JsonNode) node = json_node_new(JSON_NODE_OBJECT);
    json_node_take_object(node, all);
    g_autofree char *text = json_to_string(node, TRUE);
    printf("%s\n", text);
    if (fflush(stdout) == 0 && !ferror(stdout))
        return status;
    fprintf(stderr, "fathom check: cannot write\n");
    return FM_EXIT_FAILED;
}

static unsigned check_invariants(const struct fm_open_profile *recording)
{
    unsigned broken = 0;
    for (unsigned i = 0; i < recording->invariant_count; i++) {
        const struct fm_invariant *invariant = &recording->invariants[i];
        printf("%s  %s (%s)\n", invariant->holds ? "ok    " : "FAILED", invariant->name,
               invariant->detail);
        broken += !invariant->holds;
    }
    return broken;
}

static int check_file(const char *path, uint32_t sample)
{
    enum fm_hint_file_kind kind = fm_hint_file_kind(path);
    if (is_companion(kind))
        return check_companion(path, kind);
    GError *error = NULL;
    struct fm_progress progress;
    g_autoptr(FmOpenProfile) recording = NULL;
    fm_console_progress_begin(&progress);
    bool opened = fm_profile_open_now(path, &progress, &recording, &error);
    fm_console_progress_end(&progress);
    if (!opened)
        return fm_hint_fail_file("check", path, FM_FILE_PROFILE, error);
    g_autofree char *shown = fm_text_escaped(path);
    g_autofree char *program = fm_text_escaped(recording->profile->program_name);
    printf("%s: %s\n", shown, program);
    unsigned broken = check_invariants(recording);
    fflush(stdout);
    fm_console_progress_begin(&progress);
    g_autoptr(GHashTable) lacking = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    struct told told = {0};
    struct fm_page_check check = {.recording = recording,
                                  .progress = &progress,
                                  .sample = sample,
                                  .problem = tell_problem,
                                  .user = &told,
                                  .lacking = lacking};
    fm_page_check(&check);
    fm_console_progress_end(&progress);
    list_lacking(lacking);
    printf("%s: %u invariants, %u broken; %" PRIu64 " pages in %d formats, %" PRIu64
           " not available for this file, %" PRIu64 " problems%s\n",
           shown, recording->invariant_count, broken, check.pages, FM_PAGE_CHECK_FORMATS,
           check.unavailable, check.problems, sample == 0 ? "" : " (a sample)");
    return broken == 0 && check.problems == 0 ? FM_EXIT_DONE : FM_EXIT_FAILED;
}

static bool has_limits(const struct fm_limits_wish *wish)
{
    return wish->against || wish->again || wish->files || wish->limits || wish->junit ||
           wish->sarif || wish->markdown || wish->strict || wish->looks != 0;
}

static int check_files(char **paths, uint32_t sample, bool json)
{
    int status = FM_EXIT_DONE;
    if (json)
        return check_files_json(paths, sample);
    for (; *paths != NULL; paths++) {
        if (check_file(*paths, sample) != FM_EXIT_DONE)
            status = FM_EXIT_FAILED;
    }
    return status;
}

static int check_limits(const struct fm_limits_wish *wish, int argc, char **argv, int sample)
{
    guint base = wish->against != NULL ? g_strv_length(wish->against) : 0;
    if ((guint)argc - 1 > FM_COMPARE_RUNS_MAX || base > FM_COMPARE_RUNS_MAX)
        return fm_console_usage("check", "limits apply to at most %u runs a side",
                                FM_COMPARE_RUNS_MAX);
    if (wish->looks < 0 || wish->looks > (int)FM_COMPARE_RUNS_MAX)
        return fm_console_usage("check", "--looks is 2 to %u", FM_COMPARE_RUNS_MAX);
    if (sample != 0)
        return fm_console_usage("check", "--sample cannot be used with limits");
    if (wish->against == NULL && wish->files == NULL && wish->limits == NULL)
        return fm_console_usage("check", "expected --against=BASE, --limit=FILE or --expect=LIMIT");
    return fm_check_limits(wish, argv + 1);
}

int fm_cmd_check(int argc, char **argv)
{
    int sample = 0;
    struct fm_limits_wish wish = {0};
    const GOptionEntry entries[] = {
        {"sample", 's', 0, G_OPTION_ARG_INT, &sample,
         "Make only N pages of each kind, spread over the file", "N"},
        {"json", 0, 0, G_OPTION_ARG_NONE, &wish.json, "Print one JSON document", NULL},
        {"against", 0, 0, G_OPTION_ARG_FILENAME_ARRAY, &wish.against,
         "Compare FILE with the profile BASE: it may not cost more; may be repeated, for more runs",
         "BASE"},
        {"limit", 0, 0, G_OPTION_ARG_FILENAME_ARRAY, &wish.files,
         "Check FILE against the limits in the file LIMITS, one a line; may be repeated", "LIMITS"},
        {"expect", 0, 0, G_OPTION_ARG_STRING_ARRAY, &wish.limits,
         "Check one limit, such as 'calls main > parse <= +0 %'; may be repeated", "LIMIT"},
        {"repeat-check", 0, 0, G_OPTION_ARG_FILENAME, &wish.again,
         "Refuse exact limits on figures that differ in FILE2, a second run of FILE's build",
         "FILE2"},
        {"looks", 0, 0, G_OPTION_ARG_INT, &wish.looks,
         "Allow for checking after 2, 3, ... N runs a side until limits of time are decided", "N"},
        {"strict", 0, 0, G_OPTION_ARG_NONE, &wish.strict,
         "Treat undecidable time limits as failures", NULL},
        {"junit", 0, 0, G_OPTION_ARG_FILENAME, &wish.junit,
         "Write the verdicts to OUT as JUnit XML (- = standard output)", "OUT"},
        {"sarif", 0, 0, G_OPTION_ARG_FILENAME, &wish.sarif,
         "Write the verdicts to OUT as SARIF 2.1.0", "OUT"},
        {"markdown", 0, 0, G_OPTION_ARG_FILENAME, &wish.markdown,
         "Write the verdicts to OUT as a summary for a pull request", "OUT"},
        {NULL},
    };
    int status = fm_cli_parse(
        &argc, &argv, entries, "FILE...",
        "Reads profiles, verifies every invariant, and makes every page once in every format. "
        "Reads bodies (.procrep) and feedback files completely and writes them again. Exit status "
        "1 if anything fails.\n\n"
        "With --against, --limit or --expect: checks one profile, or several runs of one build, "
        "against limits instead. Exit status 1 if a limit is broken, 2 if one does not fit the "
        "profiles.",
        "fathom check --sample 1000 Deep.data\n"
        "  fathom check --against=base.data --limit=limits.txt new.data");
    if (status < 0 && argc < 2)
        status = fm_console_usage("check", "expected a FILE; see --help");
    if (status < 0 && sample < 0)
        status = fm_console_usage("check", "--sample: expected a number of pages");
    if (status < 0)
        status = has_limits(&wish) ? check_limits(&wish, argc, argv, sample)
                                   : check_files(argv + 1, (uint32_t)sample, wish.json);
    fm_limits_wish_done(&wish);
    return status;
}

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
#include "cli/companion.h"
#include "console/files/hint.h"
#include "compare/compare.h"
#include "recording/profile.h"
#include "pages/render.h"
#include "query/commands.h"

#define FORMATS 4
#define PROBLEMS_SHOWN_MAX 20
#define ROWS_OF_CALLERS 100

struct check {
    const struct fm_deep_recording *recording;
    struct fm_progress *progress;
    uint32_t sample; /* pages of each kind that is made for each node; 0 = all */
    GString *page;
    JsonArray *told; /* --json: the problems go here; NULL = they are printed */
    uint64_t pages, unavailable, formats, problems;
    GHashTable *lacking;  /* data that pages lack -> number of such pages */
    uint64_t done, total; /* pages, for the progress */
};

static void tell_problem(struct check *check, const struct fm_query *query, const char *what)
{
    if (++check->problems > PROBLEMS_SHOWN_MAX)
        return;
    g_autofree char *text = fm_query_print(query);
    if (check->told != NULL) {
        g_autofree char *line = g_strdup_printf("%s: %s", text, what);
        g_autofree char *valid = g_utf8_make_valid(line, -1);
        json_array_add_string_element(check->told, valid);
        return;
    }
    printf("FAILED  %s: %s\n", text, what);
    if (check->problems == PROBLEMS_SHOWN_MAX)
        printf("        further ones are only counted\n");
}

/* Checks conditions that every page must meet; NULL = it does. */
static const char *judge(enum fm_format format, const GString *page)
{
    g_autoptr(JsonParser) parser = NULL;
    if (memchr(page->str, '\0', page->len) != NULL)
        return "there is a NUL in the page";
    switch (format) {
    case FM_FORMAT_HTML:
        if (!g_str_has_prefix(page->str, "<!DOCTYPE html>") ||
            !g_str_has_suffix(page->str, "</html>\n"))
            return "the HTML is not whole";
        break;
    case FM_FORMAT_JSON:
        parser = json_parser_new();
        if (!json_parser_load_from_data(parser, page->str, (gssize)page->len, NULL))
            return "the JSON does not parse";
        break;
    case FM_FORMAT_TEXT:
        if (page->len == 0)
            return "the text is empty";
        break;
    case FM_FORMAT_SVG:
    case FM_FORMAT_DOT:
    case FM_FORMAT_CSV:
        return NULL; /* a page need not have a table, and names keep their bytes */
    }
    return g_utf8_validate(page->str, (gssize)page->len, NULL) ? NULL : "the page is not UTF-8";
}

static void check_formats(struct check *check, const struct fm_query *query,
                          const struct fm_display *display,
                          const struct fm_preferences *preferences)
{
    for (unsigned format = 0; format < FORMATS; format++) {
        const struct fm_render_options options = {
            .format = format,
            .file = check->recording->path,
            .text = {.width = 100},
        };
        g_string_truncate(check->page, 0);
        fm_render_display(display, preferences, check->recording->name, &options, check->page);
        const char *wrong = judge(format, check->page);
        if (wrong != NULL)
            tell_problem(check, query, wrong);
        check->formats++;
    }
}

/* By what is lacking, whatever page or procedure lacks it. */
static void note_lacking(struct check *check, const char *message)
{
    static const char *const words[] = {"No coverage information available", "There is no readable",
                                        "Error reading", "Cannot find", "Could not read"};
    const char *what = strstr(message, "not available for this file: ");
    what = what == NULL ? message : what + strlen("not available for this file: ");
    for (size_t i = 0; i < G_N_ELEMENTS(words); i++) {
        const char *at = strstr(what, words[i]);
        if (at != NULL)
            what = at;
    }
    gpointer count = g_hash_table_lookup(check->lacking, what);
    g_hash_table_insert(check->lacking, g_strdup(what),
                        GSIZE_TO_POINTER(GPOINTER_TO_SIZE(count) + 1));
    check->unavailable++;
}

static void check_page(struct check *check, const struct fm_query *query)
{
    g_autoptr(FmDisplay) display = NULL;
    g_autoptr(GError) error = NULL;
    struct fm_preferences preferences;
    if (fm_report(check->recording, query, &preferences, &display, &error)) {
        check_formats(check, query, display, &preferences);
        check->pages++;
    } else if (g_error_matches(error, FM_ERROR, FM_ERROR_UNAVAILABLE)) {
        note_lacking(check, error->message);
    } else {
        tell_problem(check, query, error->message);
    }
    check->done++;
    if (check->progress->report != NULL && check->done % 64 == 0)
        check->progress->report(check->progress->user, "checking pages", check->done, check->total);
}

static void check_tops(struct check *check)
{
    for (unsigned i = 0; i < 6 * 2 * 2 * 3; i++) {
        const struct fm_query query = {
            .command = {.id = FM_CMD_TOP_PROCS,
                        .limit = i % 3,
                        .first = 1,
                        .last = 100,
                        .threshold = i % 3 == FM_LIMIT_PERCENT ? 0.1 : 1000,
                        .top = {.kind = i / 12,
                                .with_descendants = i / 3 % 2 == 1,
                                .per_call = i / 6 % 2 == 1}}};
        check_page(check, &query);
    }
}

static void check_address(struct check *check, const char *address)
{
    struct fm_query query;
    g_autoptr(GError) error = NULL;
    if (!fm_query_parse(address, &query, &error))
        g_error("%s: %s", address, error->message);
    check_page(check, &query);
    fm_query_clear(&query);
}

static uint32_t node_count(const struct check *check, enum fm_command_subject about)
{
    const struct fm_profile *profile = check->recording->profile;
    const struct fm_analysis *analysis = check->recording->analysis;
    switch (about) {
    case FM_ABOUT_CLIQUE:
        return analysis->clique_count;
    case FM_ABOUT_PS:
        return profile->ps_count;
    case FM_ABOUT_PD:
        return profile->pd_count;
    case FM_ABOUT_CSS:
        return profile->css_count;
    case FM_ABOUT_CSD:
        return profile->csd_count;
    case FM_ABOUT_MODULE:
        return analysis->module_count;
    case FM_ABOUT_NO_NODE:
        break;
    }
    return 0;
}

static uint32_t sampled(const struct check *check, uint32_t count)
{
    return check->sample == 0 ? count : MIN(count, check->sample);
}

#define GROUPS (FM_GROUP_CLIQUE + 1u)

/* number: from 1, of modules likewise. */
static void check_node(struct check *check, enum fm_command_id id, uint32_t number)
{
    const struct fm_command_form *form = &fm_command_forms[id];
    struct fm_query query = {.command = {.id = id, .number = number}};
    if (form->about == FM_ABOUT_MODULE)
        query.command.module =
            (char *)(uintptr_t)check->recording->analysis->modules[number - 1].name;
    if (form->shape == FM_SHAPE_CALLERS) {
        query.command.bunch = 1;
        query.command.bunch_size = ROWS_OF_CALLERS;
    }
    for (unsigned group = 0; group < (form->shape == FM_SHAPE_CALLERS ? GROUPS : 1); group++) {
        query.command.group = group;
        check_page(check, &query);
    }
}

static void check_nodes(struct check *check, enum fm_command_id id)
{
    uint32_t count = node_count(check, fm_command_forms[id].about);
    uint32_t wanted = sampled(check, count);
    /* Evenly spread, the first and the last among them. */
    for (uint32_t n = 0; n < wanted; n++)
        check_node(check, id,
                   wanted < 2 ? 1 : (uint32_t)(1 + (uint64_t)n * (count - 1) / (wanted - 1)));
}

static void check_all_pages(struct check *check)
{
    for (unsigned id = 0; id < FM_CMD_COUNT; id++) {
        const struct fm_command_form *form = &fm_command_forms[id];
        if (form->checks_each)
            check->total += (uint64_t)(form->shape == FM_SHAPE_CALLERS ? GROUPS : 1) *
                            sampled(check, node_count(check, form->about));
    }
    for (unsigned id = 0; id < FM_CMD_COUNT; id++) {
        const struct fm_command_form *form = &fm_command_forms[id];
        for (unsigned i = 0; i < FM_COMMAND_SAMPLES_MAX && form->samples[i] != NULL; i++)
            check_address(check, form->samples[i]);
    }
    check_tops(check);
    for (unsigned id = 0; id < FM_CMD_COUNT; id++) {
        if (fm_command_forms[id].checks_each)
            check_nodes(check, (enum fm_command_id)id);
    }
}

static void set_text(JsonObject *object, const char *name, const char *text)
{
    g_autofree char *valid = g_utf8_make_valid(text, -1);
    json_object_set_string_member(object, name, valid);
}

static unsigned list_invariants(const struct fm_deep_recording *recording, JsonArray *list)
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
static int check_companion_json(const char *path, enum fm_cli_file_kind kind, JsonArray *files)
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
        fm_cli_fail("check", error);
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

static int check_companion(const char *path, enum fm_cli_file_kind kind)
{
    g_autoptr(GArray) facts = NULL;
    GError *error = NULL;
    unsigned broken = 0;
    if (!fm_companion_check(path, kind, &facts, &error))
        return fm_cli_fail("check", error);
    for (guint i = 0; i < facts->len; i++) {
        const struct fm_companion_fact *fact = &g_array_index(facts, struct fm_companion_fact, i);
        printf("%s  %s (%s)\n", fact->holds ? "ok    " : "FAILED", fact->name, fact->detail);
        broken += !fact->holds;
    }
    g_autofree char *shown = fm_text_escaped(path);
    printf("%s: %u invariants, %u broken\n", shown, facts->len, broken);
    return broken == 0 ? FM_EXIT_DONE : FM_EXIT_FAILED;
}

static bool is_companion(enum fm_cli_file_kind kind)
{
    return kind == FM_FILE_BODIES || kind == FM_FILE_FEEDBACK;
}

/* One element of "files". A file that cannot be read has that as its one problem. */
static int check_file_json(const char *path, uint32_t sample, JsonArray *files)
{
    GError *error = NULL;
    g_autoptr(FmDeepRecording) recording = NULL;
    struct fm_progress progress;
    enum fm_cli_file_kind kind = fm_cli_file_kind(path);
    if (is_companion(kind))
        return check_companion_json(path, kind, files);
    JsonArray *invariants = json_array_new(), *problems = json_array_new();
    g_autoptr(GHashTable) lacking = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    struct check check = {
        .progress = &progress, .sample = sample, .told = problems, .lacking = lacking};
    unsigned broken = 0;
    fm_cli_progress_begin(&progress);
    bool opened = fm_profile_open_now(path, &progress, &recording, &error);
    if (opened) {
        check.recording = recording;
        check.page = g_string_new(NULL);
        broken = list_invariants(recording, invariants);
        check_all_pages(&check);
        g_string_free(check.page, TRUE);
    } else {
        g_autofree char *valid = g_utf8_make_valid(error->message, -1);
        json_array_add_string_element(problems, valid);
        check.problems = 1;
    }
    fm_cli_progress_end(&progress);
    if (!opened)
        fm_cli_fail_file("check", path, FM_FILE_PROFILE, error);
    JsonObject *file = json_object_new();
    set_text(file, "file", path);
    json_object_set_array_member(file, "invariants", invariants);
    json_object_set_int_member(file, "pages", (gint64)check.pages);
    json_object_set_int_member(file, "formats", FORMATS);
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

static unsigned check_invariants(const struct fm_deep_recording *recording)
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
    enum fm_cli_file_kind kind = fm_cli_file_kind(path);
    if (is_companion(kind))
        return check_companion(path, kind);
    GError *error = NULL;
    struct fm_progress progress;
    g_autoptr(FmDeepRecording) recording = NULL;
    fm_cli_progress_begin(&progress);
    bool opened = fm_profile_open_now(path, &progress, &recording, &error);
    fm_cli_progress_end(&progress);
    if (!opened)
        return fm_cli_fail_file("check", path, FM_FILE_PROFILE, error);
    g_autofree char *shown = fm_text_escaped(path);
    g_autofree char *program = fm_text_escaped(recording->profile->program_name);
    printf("%s: %s\n", shown, program);
    unsigned broken = check_invariants(recording);
    fflush(stdout);
    fm_cli_progress_begin(&progress);
    g_autoptr(GHashTable) lacking = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    struct check check = {
        .recording = recording, .progress = &progress, .sample = sample, .lacking = lacking};
    check.page = g_string_new(NULL);
    check_all_pages(&check);
    g_string_free(check.page, TRUE);
    fm_cli_progress_end(&progress);
    list_lacking(lacking);
    printf("%s: %u invariants, %u broken; %" PRIu64 " pages in %d formats, %" PRIu64
           " not available for this file, %" PRIu64 " problems%s\n",
           shown, recording->invariant_count, broken, check.pages, FORMATS, check.unavailable,
           check.problems, sample == 0 ? "" : " (a sample)");
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
        return fm_cli_usage("check", "limits apply to at most %u runs a side", FM_COMPARE_RUNS_MAX);
    if (wish->looks < 0 || wish->looks > (int)FM_COMPARE_RUNS_MAX)
        return fm_cli_usage("check", "--looks is 2 to %u", FM_COMPARE_RUNS_MAX);
    if (sample != 0)
        return fm_cli_usage("check", "--sample cannot be used with limits");
    if (wish->against == NULL && wish->files == NULL && wish->limits == NULL)
        return fm_cli_usage("check", "expected --against=BASE, --limit=FILE or --expect=LIMIT");
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
        status = fm_cli_usage("check", "expected a FILE; see --help");
    if (status < 0 && sample < 0)
        status = fm_cli_usage("check", "--sample: expected a number of pages");
    if (status < 0)
        status = has_limits(&wish) ? check_limits(&wish, argc, argv, sample)
                                   : check_files(argv + 1, (uint32_t)sample, wish.json);
    fm_limits_wish_clear(&wish);
    return status;
}

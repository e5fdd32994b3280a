/* SPDX-License-Identifier: Apache-2.0 */
#include "pages/check/pages.h"

#include <json-glib/json-glib.h>
#include <string.h>

#include "base/error.h"
#include "pages/render.h"
#include "query/commands.h"

#define ROWS_OF_CALLERS 100

struct check {
    struct fm_page_check *of;
    GString *page;
    uint64_t done, total; /* pages, for the progress */
};

static void tell_problem(struct check *check, const struct fm_query *query, const char *what)
{
    g_autofree char *text = fm_query_print(query);
    check->of->problems++;
    check->of->problem(check->of->user, text, what);
}

/* What must hold of a page whatever is on it; NULL = it does. */
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
    for (unsigned format = 0; format < FM_PAGE_CHECK_FORMATS; format++) {
        const struct fm_render_options options = {
            .format = format,
            .file = check->of->recording->path,
            .text = {.width = 100},
        };
        g_string_truncate(check->page, 0);
        fm_render_display(display, preferences, check->of->recording->name, &options, check->page);
        const char *wrong = judge(format, check->page);
        if (wrong != NULL)
            tell_problem(check, query, wrong);
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
    gpointer count = g_hash_table_lookup(check->of->lacking, what);
    g_hash_table_insert(check->of->lacking, g_strdup(what),
                        GSIZE_TO_POINTER(GPOINTER_TO_SIZE(count) + 1));
    check->of->unavailable++;
}

static void check_page(struct check *check, const struct fm_query *query)
{
    g_autoptr(FmDisplay) display = NULL;
    g_autoptr(GError) error = NULL;
    struct fm_preferences preferences;
    if (fm_pages_make(check->of->recording, query, &preferences, &display, &error)) {
        check_formats(check, query, display, &preferences);
        check->of->pages++;
    } else if (g_error_matches(error, FM_ERROR, FM_ERROR_UNAVAILABLE)) {
        note_lacking(check, error->message);
    } else {
        tell_problem(check, query, error->message);
    }
    check->done++;
    if (check->of->progress->report != NULL && check->done % 64 == 0)
        check->of->progress->report(check->of->progress->user, "checking pages", check->done,
                                    check->total);
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
    fm_query_done(&query);
}

static uint32_t node_count(const struct check *check, enum fm_command_subject about)
{
    const struct fm_profile *profile = check->of->recording->profile;
    const struct fm_analysis *analysis = check->of->recording->analysis;
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
    return check->of->sample == 0 ? count : MIN(count, check->of->sample);
}

#define GROUPS (FM_GROUP_CLIQUE + 1u)

/* number: from 1, of modules likewise. */
static void check_node(struct check *check, enum fm_command_id id, uint32_t number)
{
    const struct fm_command_form *form = &fm_command_forms[id];
    struct fm_query query = {.command = {.id = id, .number = number}};
    if (form->about == FM_ABOUT_MODULE)
        query.command.module =
            (char *)(uintptr_t)check->of->recording->analysis->modules[number - 1].name;
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

void fm_page_check(struct fm_page_check *of)
{
    g_return_if_fail(of->recording != NULL && of->problem != NULL && of->lacking != NULL);
    struct check check = {.of = of, .page = g_string_new(NULL)};
    check_all_pages(&check);
    g_string_free(check.page, TRUE);
}

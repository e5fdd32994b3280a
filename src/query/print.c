/* SPDX-License-Identifier: Apache-2.0 */
/* Prints queries. A number beyond its limit is printed as the limit, so that a link made by
 * doubling a setting is still accepted by the parser. */
#include <float.h>
#include <inttypes.h>
#include <string.h>

#include "base/text/number.h"
#include "query/query_internal.h"

static void append_slash_word(GString *out, const struct fm_words *words, unsigned value)
{
    g_string_append_c(out, '/');
    g_string_append(out, words->words[MIN(value, words->count - 1)]);
}

static void append_number(GString *out, uint32_t value, uint32_t min, uint32_t max)
{
    fm_append_plain_int(out, CLAMP(value, min, max));
}

/* The shortest %g that reads back as the same number. */
static void append_threshold(GString *out, double value)
{
    if (!(value > 0))
        value = 0;
    if (value > DBL_MAX)
        value = DBL_MAX;
    fm_append_shortest(out, value, 6);
}

static void append_top(GString *out, const struct fm_command *command)
{
    g_string_append_c(out, '/');
    switch (command->limit) {
    case FM_LIMIT_RANK: {
        uint32_t first = MAX(command->first, 1);

        append_number(out, first, 1, UINT32_MAX);
        g_string_append_c(out, '-');
        append_number(out, command->last, first, UINT32_MAX);
        break;
    }
    case FM_LIMIT_PERCENT:
        g_string_append_c(out, 'p');
        append_threshold(out, command->threshold);
        break;
    case FM_LIMIT_VALUE:
        g_string_append_c(out, 'v');
        append_threshold(out, command->threshold);
        break;
    }
    append_slash_word(out, &fm_words_cost, command->top.kind);
    append_slash_word(out, &fm_words_descendants, command->top.with_descendants);
    append_slash_word(out, &fm_words_scope, command->top.per_call);
}

static bool is_number(const char *text)
{
    return text[0] && text[strspn(text, "0123456789")] == '\0';
}

/* Appends a name. It may contain anything, but not be empty or look like a number. Inside a command
 * its slashes are written %2F. */
static void append_name(GString *out, const char *name, bool inside)
{
    g_string_append_c(out, '/');
    if (!name[0] || is_number(name)) /* the parser never makes such a name */
        g_string_append_c(out, '_');
    if (!inside) {
        g_string_append(out, name);
        return;
    }
    for (; *name; name++) {
        if (*name == '/' || *name == '%')
            g_string_append_printf(out, "%%%02X", (unsigned char)*name);
        else
            g_string_append_c(out, *name);
    }
}

static void append_flags(GString *out, const struct fm_command *command)
{
    size_t start = out->len;

    for (unsigned i = 0; i < fm_words_flame_flags.count; i++) {
        if (command->flags & 1u << i)
            g_string_append_printf(out, "%c%s", out->len == start ? '/' : '-',
                                   fm_words_flame_flags.words[i]);
    }
    if (command->width > 0)
        g_string_append_printf(out, "%cw%u", out->len == start ? '/' : '-',
                               CLAMP(command->width, FM_QUERY_WIDTH_MIN, FM_QUERY_WIDTH_MAX));
    if (out->len == start)
        g_string_append(out, "/_");
}

static void append_focus(GString *out, const struct fm_command *command)
{
    g_string_append_c(out, '/');
    g_string_append(out, command->name && command->name[0] ? command->name : "all");
}

static void append_view(GString *out, const struct fm_command *command)
{
    append_slash_word(out, &fm_words_measure, command->measure);
    append_slash_word(out, &fm_words_direction, command->up);
    if (command->id == FM_CMD_TREE) {
        g_string_append_c(out, '/');
        append_number(out, command->depth, 1, FM_QUERY_DEPTH_MAX);
        if (command->threshold > 0) {
            g_string_append(out, "-p");
            append_threshold(out, command->threshold);
        }
    } else {
        append_flags(out, command);
    }
    append_focus(out, command);
}

static void append_callers(GString *out, const struct fm_command *command)
{
    if (command->name) {
        append_name(out, command->name, true);
    } else {
        g_string_append_c(out, '/');
        append_number(out, command->number, 0, UINT32_MAX);
    }
    append_slash_word(out, &fm_words_group, command->group);
    g_string_append_c(out, '/');
    append_number(out, command->bunch, 1, UINT32_MAX);
    g_string_append_c(out, '/');
    append_number(out, command->bunch_size, 1, FM_QUERY_BUNCH_SIZE_MAX);
    append_slash_word(out, &fm_words_contour, command->contour);
}

static void append_rows(GString *out, const struct fm_command *command)
{
    g_string_append_c(out, '/');
    append_number(out, command->last, 1, FM_QUERY_ROWS_MAX);
}

void fm_command_append(GString *out, const struct fm_command *command)
{
    g_return_if_fail((unsigned)command->id < FM_CMD_COUNT);
    const struct fm_command_form *form = &fm_command_forms[command->id];

    g_string_append(out, form->name);
    switch (form->shape) {
    case FM_SHAPE_PLAIN:
        break;
    case FM_SHAPE_NUMBER:
        if (form->named && command->name) {
            append_name(out, command->name, false);
            break;
        }
        g_string_append_c(out, '/');
        append_number(out, command->number, fm_command_number(form).min,
                      fm_command_number(form).max);
        if (form->paged && command->bunch > 1)
            g_string_append_printf(out, "/%" PRIu32, command->bunch);
        break;
    case FM_SHAPE_ROOT:
        g_string_append_c(out, '/');
        if (command->has_percent)
            append_number(out, command->percent, 0, FM_QUERY_PERCENT_MAX);
        else
            g_string_append(out, "no");
        break;
    case FM_SHAPE_CALLERS:
        append_callers(out, command);
        break;
    case FM_SHAPE_MODULE:
        g_string_append_c(out, '/');
        g_string_append(out, command->module ? command->module : "");
        break;
    case FM_SHAPE_TOP:
        append_top(out, command);
        break;
    case FM_SHAPE_TEXT:
        g_string_append_c(out, '/');
        g_string_append(out, command->name ? command->name : "");
        break;
    case FM_SHAPE_TREE:
    case FM_SHAPE_FLAME:
        append_view(out, command);
        break;
    case FM_SHAPE_MEASURE:
        append_slash_word(out, &fm_words_measure, command->measure);
        break;
    case FM_SHAPE_GRAPH:
        append_slash_word(out, &fm_words_measure, command->measure);
        append_focus(out, command);
        break;
    case FM_SHAPE_MEMORY:
        append_slash_word(out, &fm_words_memory_side, command->memory);
        break;
    case FM_SHAPE_FUNCTIONS:
        append_slash_word(out, &fm_words_measure, command->measure);
        append_slash_word(out, &fm_words_descendants, command->top.with_descendants);
        append_rows(out, command);
        break;
    case FM_SHAPE_LINES:
        if (command->measure != FM_QUERY_BY_TIME)
            append_slash_word(out, &fm_words_measure, command->measure);
        append_rows(out, command);
        break;
    }
}

static void append_dash_word(GString *out, const struct fm_words *words, unsigned value)
{
    g_string_append_c(out, '-');
    g_string_append(out, words->words[MIN(value, words->count - 1)]);
}

static void append_order(GString *out, const struct fm_preferences *preferences)
{
    switch (preferences->order) {
    case FM_ORDER_CONTEXT:
        g_string_append(out, "/context");
        break;
    case FM_ORDER_NAME:
        g_string_append(out, "/name");
        break;
    case FM_ORDER_COST:
        g_string_append(out, "/cost");
        append_dash_word(out, &fm_words_cost, preferences->cost.kind);
        append_dash_word(out, &fm_words_descendants, preferences->cost.with_descendants);
        append_dash_word(out, &fm_words_scope, preferences->cost.per_call);
        break;
    }
}

void fm_preferences_append(GString *out, const struct fm_preferences *preferences)
{
    g_string_append(out, fm_words_ports.words[preferences->ports]);
    append_dash_word(out, &fm_words_time, preferences->time);
    append_dash_word(out, &fm_words_callseqs, preferences->callseqs);
    append_dash_word(out, &fm_words_allocs, preferences->allocs);
    append_dash_word(out, &fm_words_memory, preferences->memory);
    append_slash_word(out, &fm_words_box, preferences->box);
    append_slash_word(out, &fm_words_colour, preferences->colour);
    g_string_append_c(out, '/');
    if (preferences->ancestors_limited)
        append_number(out, preferences->ancestors, 0, FM_QUERY_ANCESTORS_MAX);
    else
        g_string_append(out, "no");
    g_string_append_c(out, '/');
    append_number(out, preferences->procs_per_recursion_type, 0, FM_QUERY_PROCS_MAX);
    append_slash_word(out, &fm_words_summarize, preferences->summarize);
    append_order(out, preferences);
    append_slash_word(out, &fm_words_contour, preferences->contour);
    append_slash_word(out, &fm_words_time_format, preferences->time_format);
    append_slash_word(out, &fm_words_qualify, preferences->qualify);
    g_string_append_c(out, '/');
    g_string_append_c(out, preferences->show_inactive_call_sites ? 's' : 'h');
    g_string_append_c(out, preferences->show_inactive_procs ? 's' : 'h');
    g_string_append_c(out, preferences->show_inactive_modules ? 's' : 'h');
    append_slash_word(out, &fm_words_developer, preferences->developer);
}

char *fm_command_print(const struct fm_command *command)
{
    GString *out = g_string_new(NULL);

    fm_command_append(out, command);
    return g_string_free(out, FALSE);
}

char *fm_preferences_print(const struct fm_preferences *preferences)
{
    GString *out = g_string_sized_new(80);

    fm_preferences_append(out, preferences);
    return g_string_free(out, FALSE);
}

char *fm_query_print(const struct fm_query *query)
{
    GString *out = g_string_sized_new(128);

    fm_command_append(out, &query->command);
    if (query->has_preferences) {
        g_string_append_c(out, '&');
        fm_preferences_append(out, &query->preferences);
    } else if (strchr(out->str, '&')) {
        /* The last "&" separates. Without it, part of the name would be taken for preferences. */
        g_string_append_c(out, '&');
    }
    return g_string_free(out, FALSE);
}

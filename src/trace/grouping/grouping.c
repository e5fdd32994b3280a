/* SPDX-License-Identifier: Apache-2.0 */
#include "trace/grouping/grouping.h"

#include <errno.h>
#include <string.h>

#include "base/error.h"

#define DEFAULT_FIELD "segment.duration"

enum { LIMIT_DEFAULT = 1000 };

static bool refuse(GError **error, const char *what, const char *text, const char *expected)
{
    g_set_error(error, FM_ERROR, FM_ERROR_USAGE, "query: %s '%.80s': expected %s", what, text,
                expected);
    return false;
}

static void clear_key(void *data)
{
    struct fm_grouping_key *key = data;
    fm_filter_path_free(key->path);
    g_free(key->title);
}

static void clear_shown(void *data)
{
    g_free(((struct fm_grouping_shown *)data)->title);
}

static void free_path(void *path)
{
    fm_filter_path_free(path);
}

void fm_grouping_free(struct fm_grouping *grouping)
{
    if (grouping == NULL)
        return;
    fm_filter_free(grouping->filter);
    g_array_unref(grouping->keys);
    g_array_unref(grouping->shown);
    g_ptr_array_unref(grouping->measured);
    g_free(grouping);
}

/* --- clauses --- */

enum clause { CLAUSE_WHERE, CLAUSE_GROUP, CLAUSE_SHOW, CLAUSE_ORDER, CLAUSE_LIMIT, CLAUSE_NONE };

static const char *after_word(const char *text, const char *word)
{
    size_t length = strlen(word);
    while (g_ascii_isspace(*text))
        text++;
    if (g_ascii_strncasecmp(text, word, length) != 0 ||
        (text[length] != '\0' && !g_ascii_isspace(text[length]) && text[length] != '|'))
        return NULL;
    return text + length;
}

/* The clause that begins there; *ret_rest is behind its words. */
static enum clause clause_at(const char *text, const char **ret_rest)
{
    static const char *const words[CLAUSE_NONE][2] = {
        {"where", NULL}, {"group", "by"}, {"show", NULL}, {"order", "by"}, {"limit", NULL}};
    for (unsigned i = 0; i < CLAUSE_NONE; i++) {
        const char *rest = after_word(text, words[i][0]);
        if (rest != NULL && words[i][1] != NULL)
            rest = after_word(rest, words[i][1]);
        if (rest != NULL) {
            *ret_rest = rest;
            return (enum clause)i;
        }
    }
    *ret_rest = text;
    return CLAUSE_NONE;
}

/* The first character of `stops` outside of quotes and brackets, where a | that joins the tests of
 * a filter is none; or the end. */
static const char *find_stop(const char *text, char stop)
{
    unsigned depth = 0;
    bool quoted = false;
    for (; *text != '\0'; text++) {
        const char *rest;
        if (quoted && *text == '\\' && text[1] != '\0')
            text++;
        else if (*text == '"')
            quoted = !quoted;
        else if (!quoted && strchr("([{", *text) != NULL)
            depth++;
        else if (!quoted && strchr(")]}", *text) != NULL)
            depth -= depth > 0;
        else if (!quoted && depth == 0 && *text == stop &&
                 (stop != '|' || clause_at(text + 1, &rest) != CLAUSE_NONE))
            break;
    }
    return text;
}

/* The parts of a list, without blanks around them. */
static GPtrArray *split(const char *text, char at)
{
    GPtrArray *parts = g_ptr_array_new_with_free_func(g_free);
    for (const char *end;; text = end + 1) {
        end = find_stop(text, at);
        g_ptr_array_add(parts, g_strstrip(g_strndup(text, (gsize)(end - text))));
        if (*end == '\0')
            return parts;
    }
}

/* --- what is counted --- */

static bool take_where(struct fm_grouping *grouping, const char *text, GError **error)
{
    if (grouping->filter != NULL)
        return fm_filter_add(grouping->filter, text, error);
    grouping->filter = grouping->of == FM_FILTER_OF_EVENTS ? fm_filter_new(text, error)
                                                           : fm_filter_new_of_segments(text, error);
    return grouping->filter != NULL;
}

static bool read_step(const struct fm_filter_path *path, const char *text, uint64_t *ret)
{
    if (fm_filter_path_type(path) == FM_FILTER_TIME)
        return fm_filter_read_time(text, ret) && *ret > 0;
    return fm_filter_path_type(path) != FM_FILTER_TEXT &&
           fm_filter_path_type(path) != FM_FILTER_WORD &&
           g_ascii_string_to_unsigned(text, 10, 1, UINT64_MAX, ret, NULL);
}

static bool take_key(struct fm_grouping *grouping, const char *text, GError **error)
{
    struct fm_grouping_key key = {0};
    size_t length = strcspn(text, " \t\n");
    g_autofree char *field = g_strndup(text, length);
    const char *step = after_word(text + length, "every");
    key.path = fm_filter_path_new(field, grouping->of, error);
    if (key.path == NULL)
        return false;
    g_autofree char *trimmed = g_strstrip(g_strdup(step == NULL ? text + length : step));
    if (step == NULL ? *trimmed != '\0' : !read_step(key.path, trimmed, &key.every)) {
        fm_filter_path_free(key.path);
        return refuse(error, "group by", text,
                      "FIELD, or FIELD every STEP, such as segment.start every 10ms");
    }
    key.title = step == NULL ? g_strdup(field) : g_strdup_printf("%s every %s", field, trimmed);
    g_array_append_val(grouping->keys, key);
    return true;
}

static bool take_keys(struct fm_grouping *grouping, const char *text, GError **error)
{
    g_autoptr(GPtrArray) parts = split(text, ',');
    if (parts->len + grouping->keys->len > FM_GROUPING_KEYS_MAX)
        return refuse(error, "group by", text, "at most 8 fields");
    for (guint i = 0; i < parts->len; i++) {
        if (!take_key(grouping, parts->pdata[i], error))
            return false;
    }
    return true;
}

/* --- what is shown --- */

static bool read_function(const char *name, struct fm_grouping_shown *shown)
{
    static const char *const names[] = {"count", "sum", "mean", "min", "max"};
    char *end;
    for (unsigned i = 0; i < G_N_ELEMENTS(names); i++) {
        if (g_ascii_strcasecmp(name, names[i]) == 0) {
            shown->function = (enum fm_grouping_function)i;
            return true;
        }
    }
    if (g_ascii_tolower(name[0]) != 'p' || !g_ascii_isdigit(name[1]))
        return false;
    shown->function = FM_GROUPING_PERCENTILE;
    shown->part = g_ascii_strtod(name + 1, &end) / 100;
    return *end == '\0' && shown->part <= 1;
}

static bool find_measured(struct fm_grouping *grouping, const char *field, unsigned *ret,
                          GError **error)
{
    for (guint i = 0; i < grouping->measured->len; i++) {
        if (strcmp(fm_filter_path_text(grouping->measured->pdata[i]), field) == 0) {
            *ret = i;
            return true;
        }
    }
    struct fm_filter_path *path = fm_filter_path_new(field, grouping->of, error);
    if (path == NULL)
        return false;
    enum fm_filter_type type = fm_filter_path_type(path);
    bool fits = type != FM_FILTER_TEXT && type != FM_FILTER_WORD &&
                grouping->measured->len < FM_GROUPING_MEASURED_MAX;
    if (!fits) {
        fm_filter_path_free(path);
        return refuse(error, "show", field, "a field with numbers, at most 8 of them");
    }
    *ret = grouping->measured->len;
    g_ptr_array_add(grouping->measured, path);
    return true;
}

/* "p99(segment.duration)", "p99" or "count". */
static bool read_what(struct fm_grouping *grouping, const char *text, struct fm_grouping_shown *ret,
                      GError **error)
{
    size_t length = strcspn(text, " (");
    g_autofree char *name = g_strndup(text, length);
    g_autofree char *rest = g_strstrip(g_strdup(text + length));
    size_t size = strlen(rest);
    bool bracketed = size >= 2 && rest[0] == '(' && rest[size - 1] == ')';
    *ret = (struct fm_grouping_shown){0};
    if (!read_function(name, ret) || (size > 0 && !bracketed) ||
        (ret->function == FM_GROUPING_COUNT && size > 0))
        return refuse(error, "show", text,
                      "count, sum, mean, min, max or a percentile as p99, each but count with a "
                      "field: sum(segment.self)");
    if (ret->function == FM_GROUPING_COUNT) {
        ret->title = g_strdup("count");
        return true;
    }
    if (!bracketed && grouping->of == FM_FILTER_OF_EVENTS)
        return refuse(error, "show", text, "a field in brackets, such as sum(event.field.size)");
    if (bracketed)
        rest[size - 1] = '\0';
    const char *field = bracketed ? g_strstrip(rest + 1) : DEFAULT_FIELD;
    if (!find_measured(grouping, field, &ret->measured, error))
        return false;
    g_autofree char *lower = g_ascii_strdown(name, -1);
    ret->title = g_strdup_printf("%s(%s)", lower, field);
    return true;
}

static bool take_shown(struct fm_grouping *grouping, const char *text, GError **error)
{
    g_autoptr(GPtrArray) parts = split(text, ',');
    if (parts->len + grouping->shown->len > FM_GROUPING_SHOWN_MAX)
        return refuse(error, "show", text, "at most 24 columns");
    for (guint i = 0; i < parts->len; i++) {
        struct fm_grouping_shown shown;
        if (!read_what(grouping, parts->pdata[i], &shown, error))
            return false;
        g_array_append_val(grouping->shown, shown);
    }
    return true;
}

/* --- order --- */

static bool has_title(const struct fm_grouping *grouping, unsigned column, const char *text)
{
    const char *title = fm_grouping_title(grouping, column);
    if (g_ascii_strcasecmp(title, text) == 0)
        return true;
    g_autofree char *whole = g_strdup_printf("%s(" DEFAULT_FIELD ")", text);
    return g_ascii_strcasecmp(title, whole) == 0;
}

static bool take_order(struct fm_grouping *grouping, const char *text, GError **error)
{
    g_autofree char *name = g_strstrip(g_strdup(text));
    int given = g_str_has_suffix(name, " asc") ? 1 : g_str_has_suffix(name, " desc") ? 2 : 0;
    if (given != 0)
        *strrchr(name, ' ') = '\0';
    g_strchomp(name);
    for (unsigned i = 0; i < fm_grouping_columns(grouping); i++) {
        if (!has_title(grouping, i, name))
            continue;
        grouping->order = i;
        grouping->ascending = given == 1 || (given == 0 && i < grouping->keys->len);
        return true;
    }
    return refuse(error, "order by", name, "one of its columns, then asc or desc");
}

/* By time where there is one, else by number: the most first. */
static void order_by_itself(struct fm_grouping *grouping)
{
    for (guint i = 0; i < grouping->shown->len; i++) {
        enum fm_grouping_function function =
            g_array_index(grouping->shown, struct fm_grouping_shown, i).function;
        if (function == FM_GROUPING_SUM || (i == 0 && function == FM_GROUPING_COUNT))
            grouping->order = grouping->keys->len + i;
        if (function == FM_GROUPING_SUM)
            return;
    }
}

/* --- the whole --- */

static bool take_clause(struct fm_grouping *grouping, const char *text, char **order,
                        GError **error)
{
    const char *rest;
    enum clause clause = clause_at(text, &rest);
    switch (clause) {
    case CLAUSE_NONE:
    case CLAUSE_WHERE:
        return take_where(grouping, rest, error);
    case CLAUSE_GROUP:
        return take_keys(grouping, rest, error);
    case CLAUSE_SHOW:
        return take_shown(grouping, rest, error);
    case CLAUSE_ORDER:
        g_free(*order);
        *order = g_strdup(rest);
        return true;
    case CLAUSE_LIMIT: {
        g_autofree char *number = g_strstrip(g_strdup(rest));
        return g_ascii_string_to_unsigned(number, 10, 1, UINT32_MAX, &grouping->limit, NULL) ||
               refuse(error, "limit", number, "a number of rows");
    }
    }
    return false;
}

static bool take_default_columns(struct fm_grouping *grouping, GError **error)
{
    if (grouping->shown->len > 0)
        return true;
    return take_shown(
        grouping,
        grouping->of == FM_FILTER_OF_EVENTS ? "count" : "count, sum, mean, min, p50, p90, p99, max",
        error);
}

static bool parse(struct fm_grouping *grouping, const char *text, GError **error)
{
    g_autofree char *order = NULL;
    g_autoptr(GPtrArray) parts = split(text, '|');
    for (guint i = 0; i < parts->len; i++) {
        const char *part = parts->pdata[i];
        if (*part != '\0' && !take_clause(grouping, part, &order, error))
            return false;
    }
    if (!take_default_columns(grouping, error))
        return false;
    if (order != NULL)
        return take_order(grouping, order, error);
    order_by_itself(grouping);
    return true;
}

/* Whether it names a field that only events have. */
static bool names_events(const char *text)
{
    static const char *const prefixes[] = {"event.", "state.", "channel.", "tracefile."};
    for (unsigned i = 0; i < G_N_ELEMENTS(prefixes); i++) {
        for (const char *at = strstr(text, prefixes[i]); at != NULL;
             at = strstr(at + 1, prefixes[i])) {
            if (at == text || !(g_ascii_isalnum(at[-1]) || at[-1] == '.' || at[-1] == '_'))
                return true;
        }
    }
    return false;
}

static bool uses_state(const struct fm_filter_path *path)
{
    const char *text = fm_filter_path_text(path);
    return g_ascii_strncasecmp(text, "state.", 6) == 0 ||
           g_ascii_strncasecmp(text, "lane.", 5) == 0;
}

struct fm_grouping *fm_grouping_new(const char *text, GError **error)
{
    struct fm_grouping *grouping = g_new0(struct fm_grouping, 1);
    const char *events = after_word(text, "events"), *segments = after_word(text, "segments");
    const char *rest = events != NULL ? events : segments != NULL ? segments : text;
    bool of_events = events != NULL || (segments == NULL && names_events(text));
    grouping->of = of_events ? FM_FILTER_OF_EVENTS : FM_FILTER_OF_SEGMENTS;
    grouping->keys = g_array_new(false, false, sizeof(struct fm_grouping_key));
    g_array_set_clear_func(grouping->keys, clear_key);
    grouping->shown = g_array_new(false, false, sizeof(struct fm_grouping_shown));
    g_array_set_clear_func(grouping->shown, clear_shown);
    grouping->measured = g_ptr_array_new_with_free_func(free_path);
    grouping->limit = LIMIT_DEFAULT;
    while (g_ascii_isspace(*rest))
        rest++;
    if (rest != text && *rest == '|')
        rest++;
    if (!parse(grouping, rest, error)) {
        fm_grouping_free(grouping);
        return NULL;
    }
    grouping->needs_state = grouping->filter != NULL && fm_filter_needs_state(grouping->filter);
    for (guint i = 0; i < grouping->keys->len; i++)
        grouping->needs_state |=
            uses_state(g_array_index(grouping->keys, struct fm_grouping_key, i).path);
    for (guint i = 0; i < grouping->measured->len; i++)
        grouping->needs_state |= uses_state(grouping->measured->pdata[i]);
    return grouping;
}

unsigned fm_grouping_columns(const struct fm_grouping *grouping)
{
    return grouping->keys->len + grouping->shown->len;
}

const char *fm_grouping_title(const struct fm_grouping *grouping, unsigned column)
{
    return column < grouping->keys->len
               ? g_array_index(grouping->keys, struct fm_grouping_key, column).title
               : g_array_index(grouping->shown, struct fm_grouping_shown,
                               column - grouping->keys->len)
                     .title;
}

enum fm_filter_type fm_grouping_type(const struct fm_grouping *grouping, unsigned column)
{
    if (column < grouping->keys->len)
        return fm_filter_path_type(
            g_array_index(grouping->keys, struct fm_grouping_key, column).path);
    const struct fm_grouping_shown *shown =
        &g_array_index(grouping->shown, struct fm_grouping_shown, column - grouping->keys->len);
    return shown->function == FM_GROUPING_COUNT
               ? FM_FILTER_NUMBER
               : fm_filter_path_type(grouping->measured->pdata[shown->measured]);
}

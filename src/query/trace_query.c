/* SPDX-License-Identifier: Apache-2.0 */
#include "query/trace_query.h"

#include <string.h>

#include "base/error.h"
#include "query/query.h"

static const char *const view_names[] = {
    [FM_TRACE_VIEW_EVENTS] = "events",       [FM_TRACE_VIEW_STATISTICS] = "statistics",
    [FM_TRACE_VIEW_RESOURCES] = "resources", [FM_TRACE_VIEW_COUNTERS] = "counters",
    [FM_TRACE_VIEW_AREA] = "area",           [FM_TRACE_VIEW_PATH] = "path",
    [FM_TRACE_VIEW_DETAILS] = "details",     [FM_TRACE_VIEW_QUERY] = "query",
    [FM_TRACE_VIEW_TIMELINE] = "timeline",   [FM_TRACE_VIEW_OVERVIEW] = "overview",
    [FM_TRACE_VIEW_STEP] = "step",           [FM_TRACE_VIEW_SET] = "set",
};
static const char *const sort_names[] = {
    [FM_TRACE_SORT_TIME] = "time",     [FM_TRACE_SORT_SELF] = "self",
    [FM_TRACE_SORT_COUNT] = "count",   [FM_TRACE_SORT_LONGEST] = "longest",
    [FM_TRACE_SORT_EVENTS] = "events", [FM_TRACE_SORT_NAME] = "name",
};
static const char *const step_names[] = {"next-name",      "previous-name", "next-state",
                                         "previous-state", "next-lane",     "previous-lane"};
static const char *const order_names[] = {"tree", "name", "number", "busy"};
static const char *const by_names[] = {"name", "state", "lane", "kind", "stack"};
static const char *const scope_names[] = {"window", "trace"};
static const char *const flag_names[] = {"0", "1"};

static int find_name(const char *const *names, unsigned count, const char *name)
{
    for (unsigned i = 0; i < count; i++) {
        if (strcmp(names[i], name) == 0)
            return (int)i;
    }
    return -1;
}

const char *fm_trace_view_name(enum fm_trace_view view)
{
    g_return_val_if_fail((unsigned)view < G_N_ELEMENTS(view_names), NULL);
    return view_names[view];
}

const char *fm_trace_sort_name(enum fm_trace_sort sort)
{
    g_return_val_if_fail((unsigned)sort < G_N_ELEMENTS(sort_names), NULL);
    return sort_names[sort];
}

const char *fm_trace_order_name(enum fm_trace_order order)
{
    g_return_val_if_fail((unsigned)order < G_N_ELEMENTS(order_names), NULL);
    return order_names[order];
}

const char *fm_trace_by_name(enum fm_trace_by by)
{
    g_return_val_if_fail((unsigned)by < G_N_ELEMENTS(by_names), NULL);
    return by_names[by];
}

/* --- times --- */

static const struct {
    const char *unit;
    uint64_t ns;
    unsigned digits;
} units[] = {{"s", 1000000000, 9}, {"ms", 1000000, 6}, {"us", 1000, 3}, {"ns", 1, 0}};

static bool refuse_time(const char *text, GError **error)
{
    g_set_error(error, FM_ERROR, FM_ERROR_USAGE,
                "'%s' is not a time: expected 1.5s, 20ms, 300us, or whole nanoseconds as 4000",
                text);
    return false;
}

/* Parses the digits after the point, in ns; digits beyond nanoseconds must be zeros. */
static bool parse_fraction(const char *digits, size_t size, unsigned places, uint64_t *ret)
{
    uint64_t value = 0;
    for (size_t i = 0; i < MAX(size, places); i++) {
        unsigned digit = i < size ? (unsigned)(digits[i] - '0') : 0;
        if (i < places)
            value = value * 10 + digit;
        else if (digit != 0)
            return false;
    }
    *ret = value;
    return true;
}

bool fm_trace_time_parse(const char *text, uint64_t *ret, GError **error)
{
    g_return_val_if_fail(text != NULL && ret != NULL, false);
    g_autofree char *copy = g_strstrip(g_strdup(text));
    size_t whole = strspn(copy, "0123456789");
    size_t fraction = copy[whole] == '.' ? strspn(copy + whole + 1, "0123456789") : 0;
    const char *unit = copy + whole + (copy[whole] == '.' ? 1 + fraction : 0);
    while (*unit == ' ')
        unit++;
    /* without unit, "1.5" is seconds */
    unsigned at = copy[whole] == '.' ? 0 : G_N_ELEMENTS(units) - 1;
    if (*unit != '\0') {
        for (at = 0; at < G_N_ELEMENTS(units) && strcmp(units[at].unit, unit) != 0;)
            at++;
    }
    uint64_t value = 0, part = 0;
    if (whole == 0 || at == G_N_ELEMENTS(units) || (copy[whole] == '.' && fraction == 0))
        return refuse_time(text, error);
    for (size_t i = 0; i < whole; i++) {
        if (__builtin_mul_overflow(value, (uint64_t)10, &value) ||
            __builtin_add_overflow(value, (uint64_t)(copy[i] - '0'), &value))
            return refuse_time(text, error);
    }
    if (__builtin_mul_overflow(value, units[at].ns, &value) ||
        !parse_fraction(copy + whole + 1, fraction, units[at].digits, &part) ||
        __builtin_add_overflow(value, part, &value) || value == FM_TRACE_TIME_UNSET)
        return refuse_time(text, error);
    *ret = value;
    return true;
}

char *fm_trace_time_print(uint64_t time)
{
    unsigned at = 0;
    while (at + 1 < G_N_ELEMENTS(units) && time < units[at].ns)
        at++;
    uint64_t whole = time / units[at].ns, part = time % units[at].ns;
    GString *out = g_string_new(NULL);
    g_string_append_printf(out, "%" G_GUINT64_FORMAT, (guint64)whole);
    if (part != 0) {
        g_string_append_printf(out, ".%0*" G_GUINT64_FORMAT, (int)units[at].digits, (guint64)part);
        while (out->str[out->len - 1] == '0')
            g_string_truncate(out, out->len - 1);
    }
    g_string_append(out, units[at].unit);
    return g_string_free(out, FALSE);
}

/* --- creation and copies --- */

void fm_trace_query_init(struct fm_trace_query *query)
{
    *query = (struct fm_trace_query){
        .files = g_ptr_array_new_with_free_func(g_free),
        .hidden = g_ptr_array_new_with_free_func(g_free),
        .chosen = g_ptr_array_new_with_free_func(g_free),
        .pinned = g_ptr_array_new_with_free_func(g_free),
        .folded = g_ptr_array_new_with_free_func(g_free),
        .area_start = FM_TRACE_TIME_UNSET,
        .area_end = FM_TRACE_TIME_UNSET,
        .least = FM_TRACE_TIME_UNSET,
        .most = FM_TRACE_TIME_UNSET,
        .start = FM_TRACE_TIME_UNSET,
        .end = FM_TRACE_TIME_UNSET,
        .cursor = FM_TRACE_TIME_UNSET,
        .at = FM_TRACE_TIME_UNSET,
    };
}

void fm_trace_query_done(struct fm_trace_query *query)
{
    g_clear_pointer(&query->files, g_ptr_array_unref);
    g_clear_pointer(&query->hidden, g_ptr_array_unref);
    g_clear_pointer(&query->chosen, g_ptr_array_unref);
    g_clear_pointer(&query->pinned, g_ptr_array_unref);
    g_clear_pointer(&query->folded, g_ptr_array_unref);
    g_free(query->event);
    g_free(query->from);
    g_free(query->until);
    g_free(query->filter);
    g_free(query->find);
    g_free(query->like);
    g_free(query->selected);
    g_free(query->query);
    g_free(query->dim);
    g_free(query->reveal);
    *query = (struct fm_trace_query){0};
}

static GPtrArray *copy_texts(const GPtrArray *texts)
{
    GPtrArray *copy = g_ptr_array_new_with_free_func(g_free);
    for (unsigned i = 0; i < texts->len; i++)
        g_ptr_array_add(copy, g_strdup(texts->pdata[i]));
    return copy;
}

void fm_trace_query_copy(const struct fm_trace_query *query, struct fm_trace_query *ret)
{
    *ret = *query;
    ret->files = copy_texts(query->files);
    ret->hidden = copy_texts(query->hidden);
    ret->chosen = copy_texts(query->chosen);
    ret->pinned = copy_texts(query->pinned);
    ret->folded = copy_texts(query->folded);
    ret->event = g_strdup(query->event);
    ret->from = g_strdup(query->from);
    ret->until = g_strdup(query->until);
    ret->filter = g_strdup(query->filter);
    ret->find = g_strdup(query->find);
    ret->like = g_strdup(query->like);
    ret->selected = g_strdup(query->selected);
    ret->query = g_strdup(query->query);
    ret->reveal = g_strdup(query->reveal);
    ret->dim = g_strdup(query->dim);
}

/* --- parsing --- */

enum kind { KIND_FILE, KIND_TIME, KIND_TEXT, KIND_LANES, KIND_NUMBER, KIND_WORD };
struct key {
    const char *name;
    enum kind kind;
    size_t offset;            /* the member's; 0 for files */
    unsigned max;             /* maximum of numbers; bytes of texts */
    const char *const *words; /* [max], for words; the member holds the index */
};

#define AT(member) offsetof(struct fm_trace_query, member)
static const struct key keys[] = {
    {"file", KIND_FILE, 0, 0, NULL},
    {"start", KIND_TIME, AT(start), 0, NULL},
    {"end", KIND_TIME, AT(end), 0, NULL},
    {"cursor", KIND_TIME, AT(cursor), 0, NULL},
    {"event", KIND_TEXT, AT(event), 8192, NULL},
    {"filter", KIND_TEXT, AT(filter), FM_TRACE_FILTER_BYTES_MAX, NULL},
    {"view", KIND_WORD, AT(view), FM_TRACE_VIEW_COUNT, view_names},
    {"from", KIND_TEXT, AT(from), 8192, NULL},
    {"until", KIND_TEXT, AT(until), 8192, NULL},
    {"at", KIND_TIME, AT(at), 0, NULL},
    {"rows", KIND_NUMBER, AT(rows), FM_TRACE_ROWS_MAX, NULL},
    {"scope", KIND_WORD, AT(whole_trace), G_N_ELEMENTS(scope_names), scope_names},
    {"sort", KIND_WORD, AT(sort), FM_TRACE_SORT_KINDS, sort_names},
    {"find", KIND_TEXT, AT(find), 200, NULL},
    {"hide", KIND_LANES, AT(hidden), 0, NULL},
    {"pin", KIND_LANES, AT(pinned), 0, NULL},
    {"fold", KIND_LANES, AT(folded), 0, NULL},
    {"order", KIND_WORD, AT(order), FM_TRACE_ORDER_COUNT, order_names},
    {"busy", KIND_WORD, AT(busy_only), G_N_ELEMENTS(flag_names), flag_names},
    {"reveal", KIND_TEXT, AT(reveal), 100, NULL},
    {"dim", KIND_TEXT, AT(dim), FM_TRACE_FILTER_BYTES_MAX, NULL},
    {"area_start", KIND_TIME, AT(area_start), 0, NULL},
    {"area_end", KIND_TIME, AT(area_end), 0, NULL},
    {"in", KIND_LANES, AT(chosen), 0, NULL},
    {"by", KIND_WORD, AT(by), FM_TRACE_BY_COUNT, by_names},
    {"step", KIND_WORD, AT(step), FM_TRACE_STEP_COUNT, step_names},
    {"like", KIND_TEXT, AT(like), 800, NULL},
    {"selected", KIND_TEXT, AT(selected), 100, NULL},
    {"query", KIND_TEXT, AT(query), FM_TRACE_FILTER_BYTES_MAX, NULL},
    {"least", KIND_TIME, AT(least), 0, NULL},
    {"most", KIND_TIME, AT(most), 0, NULL},
    {"first", KIND_NUMBER, AT(first), 10000000, NULL},
    {"lanes", KIND_NUMBER, AT(lanes), FM_TRACE_LANES_MAX, NULL},
    {"width", KIND_NUMBER, AT(width), FM_TRACE_WIDTH_MAX, NULL},
    {"arrows", KIND_WORD, AT(arrows), G_N_ELEMENTS(flag_names), flag_names},
    {"follow", KIND_WORD, AT(follow), G_N_ELEMENTS(flag_names), flag_names},
};

static bool refuse(const struct key *key, const char *value, const char *expected, GError **error)
{
    g_set_error(error, FM_ERROR, FM_ERROR_USAGE, "%s=%.100s: expected %s", key->name, value,
                expected);
    return false;
}

static bool take_texts(GPtrArray *to, const char *value, unsigned max, const struct key *key,
                       GError **error)
{
    if (to->len >= max)
        return refuse(key, value, "fewer of these", error);
    g_ptr_array_add(to, g_strdup(value));
    return true;
}

static bool take_lanes(GPtrArray *lanes, const char *value, const struct key *key, GError **error)
{
    g_auto(GStrv) parts = g_strsplit(value, ",", 0);
    for (char **part = parts; *part != NULL; part++) {
        if ((*part)[0] != '\0' && !take_texts(lanes, *part, FM_TRACE_LANES_HIDDEN_MAX, key, error))
            return false;
    }
    return true;
}

static bool take_word(void *member, const struct key *key, const char *value, GError **error)
{
    int found = find_name(key->words, key->max, value);
    if (found < 0) {
        GString *all = g_string_new("one of");
        for (unsigned i = 0; i < key->max; i++)
            g_string_append_printf(all, "%s %s", i > 0 ? "," : "", key->words[i]);
        refuse(key, value, all->str, error);
        g_string_free(all, TRUE);
        return false;
    }
    if (key->words == scope_names || key->words == flag_names)
        *(bool *)member = found == 1;
    else
        *(int *)member = found;
    return true;
}

static bool take(struct fm_trace_query *query, const struct key *key, const char *value,
                 GError **error)
{
    char *member = (char *)query + key->offset;
    guint64 number;
    switch (key->kind) {
    case KIND_FILE:
        return take_texts(query->files, value, FM_TRACE_FILES_MAX, key, error);
    case KIND_TIME:
        return value[0] == '\0' || fm_trace_time_parse(value, (uint64_t *)(void *)member, error);
    case KIND_TEXT:
        if (strlen(value) > key->max)
            return refuse(key, value, "a shorter text", error);
        g_free(*(char **)(void *)member);
        *(char **)(void *)member = value[0] == '\0' ? NULL : g_strdup(value);
        return true;
    case KIND_LANES:
        return take_lanes(*(GPtrArray **)(void *)member, value, key, error);
    case KIND_NUMBER:
        if (!g_ascii_string_to_unsigned(value, 10, 0, key->max, &number, NULL))
            return refuse(key, value, "a number within its limit", error);
        *(unsigned *)(void *)member = (unsigned)number;
        return true;
    case KIND_WORD:
        return take_word(member, key, value, error);
    }
    return false;
}

static bool take_pair(struct fm_trace_query *query, char *pair, GError **error)
{
    for (char *c = pair; *c != '\0'; c++)
        *c = *c == '+' ? ' ' : *c;
    char *equals = strchr(pair, '=');
    if (equals != NULL)
        *equals = '\0';
    if (pair[0] == '_' || pair[0] == '\0')
        return true;
    g_autofree char *value = fm_query_percent_decode(equals == NULL ? "" : equals + 1, error);
    if (value == NULL)
        return false;
    for (size_t i = 0; i < G_N_ELEMENTS(keys); i++) {
        if (strcmp(keys[i].name, pair) == 0)
            return take(query, &keys[i], value, error);
    }
    g_set_error(error, FM_ERROR, FM_ERROR_USAGE, "'%.100s' is not a part of an address of traces",
                pair);
    return false;
}

bool fm_trace_query_parse(const char *text, struct fm_trace_query *ret, GError **error)
{
    g_return_val_if_fail(ret != NULL, false);
    struct fm_trace_query query;
    fm_trace_query_init(&query);
    g_auto(GStrv) pairs = g_strsplit(text == NULL ? "" : text, "&", 0);
    for (char **pair = pairs; *pair != NULL; pair++) {
        if (!take_pair(&query, *pair, error)) {
            fm_trace_query_done(&query);
            return false;
        }
    }
    bool ordered = query.start == FM_TRACE_TIME_UNSET || query.end == FM_TRACE_TIME_UNSET ||
                   query.start < query.end;
    if (query.files->len == 0 || !ordered) {
        g_set_error(error, FM_ERROR, FM_ERROR_USAGE,
                    ordered ? "bad address: expected file=PATH"
                            : "the window's start must lie before its end");
        fm_trace_query_done(&query);
        return false;
    }
    *ret = query;
    return true;
}

/* --- printing --- */

static void append(GString *out, const char *name, const char *value)
{
    if (out->len > 0 && out->str[out->len - 1] != '?')
        g_string_append_c(out, '&');
    g_string_append_printf(out, "%s=", name);
    fm_query_append_part(out, value);
}

static void print_key(const struct fm_trace_query *query, const struct key *key, GString *out)
{
    const char *member = (const char *)query + key->offset;
    char number[24];
    switch (key->kind) {
    case KIND_FILE:
        for (unsigned i = 0; i < query->files->len; i++)
            append(out, key->name, query->files->pdata[i]);
        break;
    case KIND_TIME:
        if (*(const uint64_t *)(const void *)member != FM_TRACE_TIME_UNSET) {
            g_snprintf(number, sizeof number, "%" G_GUINT64_FORMAT,
                       (guint64) * (const uint64_t *)(const void *)member);
            append(out, key->name, number);
        }
        break;
    case KIND_TEXT:
        if (*(char *const *)(const void *)member != NULL)
            append(out, key->name, *(char *const *)(const void *)member);
        break;
    case KIND_LANES: {
        GPtrArray *lanes = *(GPtrArray *const *)(const void *)member;
        if (lanes->len > 0) {
            g_ptr_array_add(lanes, NULL);
            g_autofree char *all = g_strjoinv(",", (char **)lanes->pdata);
            g_ptr_array_set_size(lanes, (gint)lanes->len - 1);
            append(out, key->name, all);
        }
        break;
    }
    case KIND_NUMBER:
        if (*(const unsigned *)(const void *)member != 0) {
            g_snprintf(number, sizeof number, "%u", *(const unsigned *)(const void *)member);
            append(out, key->name, number);
        }
        break;
    case KIND_WORD: {
        bool flag = key->words == scope_names || key->words == flag_names;
        int value = flag ? *(const bool *)member : *(const int *)(const void *)member;
        if (value != 0)
            append(out, key->name, key->words[value]);
        break;
    }
    }
}

void fm_trace_query_print(const struct fm_trace_query *query, GString *out)
{
    for (size_t i = 0; i < G_N_ELEMENTS(keys); i++)
        print_key(query, &keys[i], out);
}

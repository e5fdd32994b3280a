/* SPDX-License-Identifier: Apache-2.0 */
/* Parses limits. The bound contains no operator and no name, so the last operator of a line is the
 * right one, whatever characters names contain. */
#include "runs/gate/limit.h"

#include <string.h>

#include "base/error.h"

#define MARGIN_MAX 1000.0 /* per cent */
#define BYTES_MAX (8u << 20)

struct parsing {
    const char *name;
    const char *line; /* NUL-terminated */
    unsigned number;
    GError **error;
};

static bool fail(const struct parsing *p, const char *at, const char *expected)
{
    glong column = g_utf8_pointer_to_offset(p->line, at) + 1;
    g_set_error(p->error, FM_ERROR, FM_ERROR_FORMAT, "%s%sline %u, column %ld: expected %s",
                p->name, *p->name == '\0' ? "" : ": ", p->number, column, expected);
    return false;
}

static const char *skip_blanks(const char *at)
{
    while (*at == ' ' || *at == '\t')
        at++;
    return at;
}

static const char *trim_end(const char *begin, const char *end)
{
    while (end > begin && (end[-1] == ' ' || end[-1] == '\t'))
        end--;
    return end;
}

/* Takes the word at *at, if it is there as a whole word. */
static bool take_word(const char **at, const char *word)
{
    size_t size = strlen(word);
    const char *begin = skip_blanks(*at);
    if (strncmp(begin, word, size) != 0 ||
        (begin[size] != '\0' && begin[size] != ' ' && begin[size] != '\t'))
        return false;
    *at = skip_blanks(begin + size);
    return true;
}

/* --- the operator --- */

struct operator_text {
    const char *text;
    enum fm_limit_operator op;
};
static const struct operator_text operators[] = {
    {"\u2264", FM_AT_MOST}, {"<=", FM_AT_MOST}, {"\u2265", FM_AT_LEAST}, {">=", FM_AT_LEAST},
    {"<", FM_BELOW},        {">", FM_ABOVE},    {"=", FM_EQUAL},
};

static const struct operator_text *operator_at(const char *at)
{
    for (size_t i = 0; i < G_N_ELEMENTS(operators); i++) {
        if (g_str_has_prefix(at, operators[i].text))
            return &operators[i];
    }
    return NULL;
}

static const char *find_operator(const char *line, const struct operator_text **ret)
{
    const char *found = NULL;
    bool quoted = false;
    for (const char *at = line; *at != '\0'; at++) {
        const struct operator_text *here = quoted ? NULL : operator_at(at);
        if (*at == '"')
            quoted = !quoted;
        if (here == NULL)
            continue;
        found = at;
        *ret = here;
        at += strlen(here->text) - 1;
    }
    return found;
}

/* --- the bound --- */

struct unit_text {
    const char *text;
    enum fm_limit_unit unit;
    int64_t factor; /* nanoseconds in the unit */
};
static const struct unit_text units[] = {
    {"KiB", FM_LIMIT_BYTES, 1024},
    {"MiB", FM_LIMIT_BYTES, INT64_C(1) << 20},
    {"GiB", FM_LIMIT_BYTES, INT64_C(1) << 30},
    {"B", FM_LIMIT_BYTES, 1},
    {"k", FM_LIMIT_COUNT, 1000},
    {"M", FM_LIMIT_COUNT, 1000000},
    {"ns", FM_LIMIT_SECONDS, 1},
    {"us", FM_LIMIT_SECONDS, 1000},
    {"\u00b5s", FM_LIMIT_SECONDS, 1000},
    {"ms", FM_LIMIT_SECONDS, 1000000},
    {"s", FM_LIMIT_SECONDS, 1000000000},
};

static bool parse_number(const struct parsing *p, const char **at, struct fm_limit *limit)
{
    const char *begin = *at;
    bool point = false, digits = false;
    for (; g_ascii_isdigit(**at) || **at == ',' || (**at == '.' && !point); ++*at) {
        if (**at == '.')
            point = true;
        if (!g_ascii_isdigit(**at))
            continue;
        digits = true;
        limit->decimals += point;
        if (limit->decimals > 6 ||
            __builtin_mul_overflow(limit->number, (int64_t)10, &limit->number) ||
            __builtin_add_overflow(limit->number, **at - '0', &limit->number))
            return fail(p, begin, "a number of at most 18 digits, six of them decimals");
    }
    return digits || fail(p, begin, "a number");
}

static bool parse_unit(const struct parsing *p, const char **at, struct fm_limit *limit)
{
    if (**at == '%' && limit->bound != FM_BOUND_ABSOLUTE) {
        limit->bound = FM_BOUND_PERCENT;
        *at = skip_blanks(*at + 1);
        return true;
    }
    if (**at == '%')
        return fail(p, *at, "+ or - before a percentage: it is relative to what was");
    for (size_t i = 0; i < G_N_ELEMENTS(units); i++) {
        if (!take_word(at, units[i].text))
            continue;
        limit->unit = units[i].unit;
        return !__builtin_mul_overflow(limit->number, units[i].factor, &limit->number) ||
               fail(p, *at, "a smaller number");
    }
    return true;
}

static bool is_time(const struct fm_limit *limit)
{
    return strcmp(limit->measure, "time") == 0;
}

static bool parse_confidence(const struct parsing *p, const char **at, struct fm_limit *limit)
{
    limit->confidence = 99;
    if (!take_word(at, "at"))
        return true;
    char *end;
    const char *begin = *at;
    limit->confidence = g_ascii_strtod(begin, &end);
    if (end == begin || !(limit->confidence >= 50 && limit->confidence < 100))
        return fail(p, begin, "a confidence of 50 to 99.99...");
    *at = skip_blanks(end);
    if (**at != '%')
        return fail(p, *at, "%");
    ++*at;
    return take_word(at, "confidence") || fail(p, *at, "confidence");
}

static bool parse_margin(const struct parsing *p, const char **at, struct fm_limit *limit)
{
    limit->margin = -1;
    const char *word = *at;
    if (!take_word(at, "margin"))
        return true;
    char *end;
    const char *begin = *at;
    limit->margin = g_ascii_strtod(begin, &end);
    if (end == begin || !(limit->margin >= 0 && limit->margin <= MARGIN_MAX))
        return fail(p, begin, "a margin of 0 to 1000 per cent");
    *at = skip_blanks(end);
    if (**at != '%')
        return fail(p, *at, "%");
    *at = skip_blanks(*at + 1);
    return is_time(limit) ||
           fail(p, word, "a limit of time: what is counted is known exactly and has no margin");
}

static bool parse_bound(const struct parsing *p, const char *at, struct fm_limit *limit)
{
    at = skip_blanks(at);
    int64_t sign = *at == '-' ? -1 : 1;
    if (*at == '+' || *at == '-') {
        limit->bound = FM_BOUND_DIFFERENCE;
        at = skip_blanks(at + 1);
    } else if (g_str_has_prefix(at, "\u2212")) { /* the typographic minus sign */
        limit->bound = FM_BOUND_DIFFERENCE;
        sign = -1;
        at = skip_blanks(at + strlen("\u2212"));
    }
    if (!parse_number(p, &at, limit))
        return false;
    limit->number *= sign;
    at = skip_blanks(at);
    if (!parse_unit(p, &at, limit))
        return false;
    at = skip_blanks(at);
    if (!parse_confidence(p, &at, limit))
        return false;
    at = skip_blanks(at);
    if (!parse_margin(p, &at, limit))
        return false;
    return *at == '\0' || fail(p, at, "the end of the line");
}

/* --- the path --- */

static void clear_step(void *data)
{
    struct fm_limit_step *step = data;
    g_free(step->name);
    g_free(step->place);
}

/* Finds the end of the step that begins at `at`: a separator or the end. */
static const char *step_end(const char *at, const char *end, size_t *ret_separator)
{
    bool quoted = false;
    *ret_separator = 0;
    for (const char *begin = at; at < end; at++) {
        if (*at == '"')
            quoted = !quoted;
        if (quoted)
            continue;
        if (g_str_has_prefix(at, "\u203a"))
            *ret_separator = strlen("\u203a");
        else if (*at == '>' && at > begin && at[-1] == ' ' && at + 1 < end && at[1] == ' ')
            *ret_separator = 1;
        if (*ret_separator > 0)
            return at;
    }
    return end;
}

/* NAME [@PLACE] [:LINE], from begin to end. */
static bool parse_step(const struct parsing *p, const char *begin, const char *end,
                       struct fm_limit_step *step)
{
    const char *name_end = end;
    bool quoted = *begin == '"';
    if (quoted) {
        const char *close = memchr(begin + 1, '"', (size_t)(end - begin - 1));
        if (close == NULL)
            return fail(p, begin, "a closing \"");
        step->name = g_strndup(begin + 1, (size_t)(close - begin - 1));
        name_end = close + 1;
    }
    const char *colon = end;
    while (colon > begin && g_ascii_isdigit(colon[-1]))
        colon--;
    if (colon < end && colon - 1 > begin && colon[-1] == ':' && colon[-2] != ':' &&
        end - colon < 10) {
        step->line = (uint32_t)g_ascii_strtoull(colon, NULL, 10);
        end = trim_end(begin, colon - 1);
    }
    const char *at =
        memchr(quoted ? name_end : begin, '@', (size_t)MAX(end - (quoted ? name_end : begin), 0));
    if (at != NULL) {
        const char *place = skip_blanks(at + 1);
        if (place >= end)
            return fail(p, at, "a file or folder behind @");
        step->place = g_strndup(place, (size_t)(end - place));
        end = trim_end(begin, at);
    }
    if (quoted)
        return end <= name_end || fail(p, name_end, "@, :LINE or the end of the step");
    step->name = g_strndup(begin, (size_t)(end - begin));
    step->any = strpbrk(step->name, "*?") != NULL;
    return *step->name != '\0' || fail(p, begin, "the name of a function");
}

static bool is_ellipsis(const char *begin, const char *end)
{
    size_t size = (size_t)(end - begin);
    return (size == strlen("\u2026") && memcmp(begin, "\u2026", size) == 0) ||
           (size == 3 && memcmp(begin, "...", 3) == 0);
}

static bool parse_path(const struct parsing *p, const char *at, const char *end,
                       struct fm_limit *limit)
{
    bool gap = false;
    limit->steps = g_array_new(FALSE, TRUE, sizeof(struct fm_limit_step));
    g_array_set_clear_func(limit->steps, clear_step);
    if (*at == '/') {
        limit->from_root = true;
        at = skip_blanks(at + 1);
    }
    for (;;) {
        size_t separator;
        at = skip_blanks(at);
        const char *stop = step_end(at, end, &separator), *step_stop = trim_end(at, stop);
        if (is_ellipsis(at, step_stop) && separator > 0) {
            gap = true;
        } else {
            struct fm_limit_step step = {.gap = gap};
            if (step_stop <= at)
                return fail(p, at, "the name of a function");
            if (limit->steps->len == FM_LIMIT_STEPS_MAX)
                return fail(p, at, "at most 64 steps");
            bool parsed = parse_step(p, at, step_stop, &step);
            g_array_append_val(limit->steps, step);
            if (!parsed)
                return false;
            gap = false;
        }
        if (separator == 0)
            return true;
        at = stop + separator;
    }
}

/* --- the subject --- */

static char *measure_named(const char *begin, const char *end)
{
    char *measure = g_strndup(begin, (size_t)(end - begin));
    if (strcmp(measure, "allocations") == 0) {
        g_free(measure);
        return g_strdup("allocs");
    }
    return measure;
}

static const char *word_end(const char *at)
{
    while (g_ascii_isalnum(*at) || *at == '_')
        at++;
    return at;
}

static bool parse_new(const struct parsing *p, const char *at, const char *end,
                      struct fm_limit *limit)
{
    const char *stop = word_end(at);
    limit->subject = FM_LIMIT_NEW;
    if (stop == at)
        return fail(p, at, "a measure, such as allocations");
    limit->measure = measure_named(at, stop);
    at = stop;
    if (!take_word(&at, "in"))
        return fail(p, at, "in, and a file or folder");
    if (at >= end)
        return fail(p, at, "a file or folder");
    limit->place = g_strndup(at, (size_t)(end - at));
    return true;
}

static bool parse_subject(const struct parsing *p, const char *at, const char *end,
                          struct fm_limit *limit)
{
    if (take_word(&at, "optional"))
        limit->optional = true;
    if (take_word(&at, "new"))
        return parse_new(p, at, end, limit);
    limit->subject = FM_LIMIT_TOTAL;
    if (g_str_has_prefix(at, "peak bytes") && trim_end(at, end) == at + strlen("peak bytes")) {
        limit->measure = g_strdup("peak bytes");
        return true;
    }
    const char *stop = word_end(at);
    if (stop == at || stop > end)
        return fail(p, at, "a measure: calls, allocations, bytes, time, peak bytes");
    limit->measure = measure_named(at, stop);
    at = skip_blanks(stop);
    limit->self = take_word(&at, "self");
    const char *before_per = at;
    if (take_word(&at, "per")) {
        limit->per_call = true;
        if (!take_word(&at, "call"))
            return fail(p, before_per, "per call");
    }
    if (at < end && end - at == 5 && memcmp(at, "total", 5) == 0) {
        if (limit->self || limit->per_call)
            return fail(p, at, "a path: the whole program has no \"self\" and no \"per call\"");
        return true;
    }
    limit->subject = FM_LIMIT_PATH;
    if (at >= end)
        return fail(p, at, "total, or a path such as main \u203a parse");
    return parse_path(p, at, end, limit);
}

static bool check_units(const struct parsing *p, const char *bound, const struct fm_limit *limit)
{
    bool relative = limit->bound == FM_BOUND_PERCENT || limit->number == 0;
    if (is_time(limit) && limit->unit != FM_LIMIT_SECONDS && !relative)
        return fail(p, bound, "a time: ns, us, ms or s behind the number");
    if (!is_time(limit) && limit->unit == FM_LIMIT_SECONDS)
        return fail(p, bound, "a count or bytes: only time is measured in seconds");
    if (limit->unit == FM_LIMIT_BYTES && strstr(limit->measure, "bytes") == NULL)
        return fail(p, bound, "a count: the measure is not in bytes");
    if (is_time(limit) && limit->op == FM_EQUAL)
        return fail(p, p->line, "\u2264 or \u2265: time is sampled, no two runs are equal");
    if (is_time(limit) && limit->subject == FM_LIMIT_NEW)
        return fail(p, p->line, "a measure that is counted: of time, single contexts tell nothing");
    return true;
}

/* --- files --- */

static void free_limit(void *data)
{
    struct fm_limit *limit = data;
    g_free(limit->text);
    g_free(limit->file);
    g_free(limit->measure);
    g_free(limit->place);
    if (limit->steps != NULL)
        g_array_unref(limit->steps);
    g_free(limit);
}

/* Finds the comment: # at the begin of the line or behind a blank, outside of quotes. */
static size_t comment_at(const char *line)
{
    bool quoted = false;
    size_t at = 0;
    for (; line[at] != '\0'; at++) {
        if (line[at] == '"')
            quoted = !quoted;
        if (line[at] == '#' && !quoted && (at == 0 || line[at - 1] == ' ' || line[at - 1] == '\t'))
            break;
    }
    return at;
}

static bool parse_line(struct fm_limits *limits, struct parsing *p)
{
    const struct operator_text *op = NULL;
    const char *begin = skip_blanks(p->line);
    if (*begin == '\0')
        return true;
    const char *at = find_operator(begin, &op);
    if (at == NULL)
        return fail(p, begin + strlen(begin), "\u2264, <, =, > or \u2265, and a bound");
    if (limits->all->len == FM_LIMITS_MAX) {
        g_set_error(p->error, FM_ERROR, FM_ERROR_LIMIT, "%s: over %u limits", p->name,
                    FM_LIMITS_MAX);
        return false;
    }
    struct fm_limit *limit = g_new0(struct fm_limit, 1);
    g_ptr_array_add(limits->all, limit);
    limit->text = g_strdup(begin);
    limit->file = g_strdup(p->name);
    limit->line = p->number;
    limit->op = op->op;
    const char *bound = at + strlen(op->text);
    return parse_subject(p, begin, trim_end(begin, at), limit) && parse_bound(p, bound, limit) &&
           check_units(p, bound, limit);
}

void fm_limits_init(struct fm_limits *ret)
{
    ret->all = g_ptr_array_new_with_free_func(free_limit);
}

void fm_limits_done(struct fm_limits *limits)
{
    g_clear_pointer(&limits->all, g_ptr_array_unref);
}

bool fm_limits_parse(struct fm_limits *limits, const char *name, const char *text, size_t size,
                     GError **error)
{
    struct parsing p = {.name = name, .error = error};
    g_assert(limits->all != NULL && name != NULL);
    const char *end = text + size;
    while (text < end) {
        const char *stop = memchr(text, '\n', (size_t)(end - text));
        if (stop == NULL)
            stop = end;
        p.number++;
        const char *bad;
        if (!g_utf8_validate(text, stop - text, &bad)) {
            g_set_error(error, FM_ERROR, FM_ERROR_FORMAT,
                        "%s: line %u, byte %td: expected UTF-8 text", name, p.number,
                        bad - text + 1);
            return false;
        }
        g_autofree char *line = g_strndup(text, (size_t)(stop - text));
        g_strdelimit(line, "\r", ' ');
        line[comment_at(line)] = '\0';
        g_strchomp(line);
        p.line = line;
        if (!parse_line(limits, &p))
            return false;
        text = stop + 1;
    }
    return true;
}

bool fm_limits_read(struct fm_limits *limits, const char *path, GError **error)
{
    g_autofree char *text = NULL;
    gsize size;
    GError *failed = NULL;
    if (!g_file_get_contents(path, &text, &size, &failed)) {
        g_set_error(error, FM_ERROR, FM_ERROR_IO, "%s", failed->message);
        g_error_free(failed);
        return false;
    }
    if (size > BYTES_MAX) {
        g_set_error(error, FM_ERROR, FM_ERROR_LIMIT, "%s: expected at most %u MiB of limits", path,
                    BYTES_MAX >> 20);
        return false;
    }
    return fm_limits_parse(limits, path, text, size, error);
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "mercury/feedback/terms.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"

/* Sets the error with the line, unless one is set; returns false. */
FM_PRINTF(3, 4)
static bool fail(struct fm_parsing *p, unsigned line, const char *format, ...)
{
    if (p->error == NULL || *p->error != NULL)
        return false;
    va_list arguments;
    va_start(arguments, format);
    g_autofree char *text = g_strdup_vprintf(format, arguments);
    va_end(arguments);
    g_set_error(p->error, FM_ERROR, FM_ERROR_FORMAT, "%s: %s on line %u", p->name, text, line);
    return false;
}

/* --- terms --- */

void fm_term_free(gpointer data)
{
    struct fm_term *term = data;
    if (term == NULL)
        return;
    g_free(term->text);
    if (term->args != NULL)
        g_ptr_array_unref(term->args);
    g_free(term);
}

static struct fm_term *term_new(const struct fm_parsing *p, enum fm_term_kind kind)
{
    struct fm_term *term = g_new0(struct fm_term, 1);
    term->kind = kind;
    term->line = p->line;
    return term;
}

void fm_parsing_skip_blanks(struct fm_parsing *p)
{
    for (; p->at < p->end; p->at++) {
        if (*p->at == '%') {
            while (p->at < p->end && *p->at != '\n')
                p->at++;
        }
        if (p->at == p->end || !g_ascii_isspace(*p->at))
            return;
        p->line += *p->at == '\n';
    }
}

static bool next_is(struct fm_parsing *p, char wanted)
{
    fm_parsing_skip_blanks(p);
    if (p->at == p->end || *p->at != wanted)
        return false;
    p->at++;
    return true;
}

bool fm_parsing_expect(struct fm_parsing *p, char wanted, const char *after)
{
    if (next_is(p, wanted))
        return true;
    if (p->at == p->end)
        return fail(p, p->line, "unexpected end of file, expected '%c' after %s", wanted, after);
    return fail(p, p->line, "found byte %u, expected '%c' after %s", (unsigned char)*p->at, wanted,
                after);
}

static bool parse_escape(struct fm_parsing *p, GString *out)
{
    static const char letters[] = "abefnrtv\\'\"";
    static const char meant[] = "\a\b\033\f\n\r\t\v\\'\"";
    if (p->at == p->end)
        return fail(p, p->line, "unexpected end of file in a string");
    const char *found = *p->at == '\0' ? NULL : strchr(letters, *p->at);
    if (found != NULL) {
        g_string_append_c(out, meant[found - letters]);
        p->at++;
        return true;
    }
    unsigned value = 0, digits = 0;
    for (; p->at < p->end && *p->at >= '0' && *p->at <= '7' && digits < 7; p->at++, digits++)
        value = value * 8 + (unsigned)(*p->at - '0');
    if (digits == 0 || p->at == p->end || *p->at != '\\' || value == 0 || value > 0x10ffff)
        return fail(p, p->line, "an escape in a string is not known");
    p->at++;
    if (value < 0x80)
        g_string_append_c(out, (char)value);
    else
        g_string_append_unichar(out, value);
    return true;
}

static struct fm_term *parse_string(struct fm_parsing *p)
{
    struct fm_term *term = term_new(p, TERM_STRING);
    GString *out = g_string_new(NULL);
    bool ok = true;
    for (p->at++; ok && p->at < p->end && *p->at != '"';) {
        char byte = *p->at++;
        p->line += byte == '\n';
        if (byte == '\\')
            ok = parse_escape(p, out);
        else if (byte == '\0')
            ok = fail(p, p->line, "a NUL byte in a string");
        else
            g_string_append_c(out, byte);
    }
    if (ok && p->at == p->end)
        ok = fail(p, term->line, "a string without end begins");
    if (ok)
        p->at++;
    term->text = g_string_free(out, FALSE);
    if (ok)
        return term;
    fm_term_free(term);
    return NULL;
}

static struct fm_term *parse_number(struct fm_parsing *p)
{
    const char *begin = p->at;
    bool fraction = false;
    if (*p->at == '-')
        p->at++;
    for (; p->at < p->end; p->at++) {
        bool sign = (*p->at == '-' || *p->at == '+') && (p->at[-1] == 'e' || p->at[-1] == 'E');
        bool point = *p->at == '.' && p->at + 1 < p->end && g_ascii_isdigit(p->at[1]);
        bool exponent = *p->at == 'e' || *p->at == 'E';
        if (!g_ascii_isdigit(*p->at) && !sign && !point && !exponent)
            break;
        fraction = fraction || point || exponent;
    }
    g_autofree char *text = g_strndup(begin, (gsize)(p->at - begin));
    char *end = NULL;
    struct fm_term *term = term_new(p, fraction ? TERM_FLOAT : TERM_INT);
    errno = 0;
    if (fraction)
        term->number = g_ascii_strtod(text, &end);
    else
        term->whole = g_ascii_strtoll(text, &end, 10);
    if (*end == '\0' && end != text && (errno == 0 || fraction))
        return term;
    fail(p, p->line, "'%.40s' is not a number", text);
    fm_term_free(term);
    return NULL;
}

/* Parses terms up to and including the closing character. */
static bool parse_arguments(struct fm_parsing *p, GPtrArray *args, char close)
{
    if (close == ']' && next_is(p, ']'))
        return true;
    for (;;) {
        struct fm_term *arg = fm_term_parse(p);
        if (arg == NULL)
            return false;
        g_ptr_array_add(args, arg);
        if (next_is(p, ','))
            continue;
        return fm_parsing_expect(p, close, "a term");
    }
}

static struct fm_term *parse_name(struct fm_parsing *p)
{
    struct fm_term *term = term_new(p, TERM_COMPOUND);
    const char *begin = p->at;
    while (p->at < p->end && (g_ascii_isalnum(*p->at) || *p->at == '_'))
        p->at++;
    term->text = g_strndup(begin, (gsize)(p->at - begin));
    term->args = g_ptr_array_new_with_free_func(fm_term_free);
    if (p->at < p->end && *p->at == '(') {
        p->at++;
        if (!parse_arguments(p, term->args, ')')) {
            fm_term_free(term);
            return NULL;
        }
    }
    return term;
}

static struct fm_term *parse_primary(struct fm_parsing *p)
{
    fm_parsing_skip_blanks(p);
    if (p->at == p->end) {
        fail(p, p->line, "unexpected end of file, expected a term");
        return NULL;
    }
    if (*p->at == '"')
        return parse_string(p);
    if (g_ascii_isdigit(*p->at) ||
        (*p->at == '-' && p->at + 1 < p->end && g_ascii_isdigit(p->at[1])))
        return parse_number(p);
    if (g_ascii_islower(*p->at))
        return parse_name(p);
    if (*p->at != '[') {
        fail(p, p->line, "found byte %u, expected a term", (unsigned char)*p->at);
        return NULL;
    }
    struct fm_term *list = term_new(p, TERM_LIST);
    list->args = g_ptr_array_new_with_free_func(fm_term_free);
    p->at++;
    if (parse_arguments(p, list->args, ']'))
        return list;
    fm_term_free(list);
    return NULL;
}

/* Parses a term, or two with a minus between them. */
struct fm_term *fm_term_parse(struct fm_parsing *p)
{
    if (p->depth >= FM_TERM_DEPTH_MAX) {
        fail(p, p->line, "terms nest deeper than %u levels", FM_TERM_DEPTH_MAX);
        return NULL;
    }
    p->depth++;
    struct fm_term *term = parse_primary(p);
    if (term != NULL && next_is(p, '-')) {
        struct fm_term *pair = term_new(p, TERM_COMPOUND);
        struct fm_term *value = parse_primary(p);
        pair->text = g_strdup("-");
        pair->args = g_ptr_array_new_with_free_func(fm_term_free);
        g_ptr_array_add(pair->args, term);
        g_ptr_array_add(pair->args, value);
        term = pair;
        if (value == NULL) {
            fm_term_free(pair);
            term = NULL;
        }
    }
    p->depth--;
    return term;
}

/* --- what terms mean --- */

const struct fm_term *fm_term_arg(const struct fm_term *term, guint i)
{
    g_return_val_if_fail(i < term->args->len, NULL);
    return term->args->pdata[i];
}

bool fm_term_is(const struct fm_term *term, const char *name, guint count)
{
    return term->kind == TERM_COMPOUND && strcmp(term->text, name) == 0 && term->args->len == count;
}

bool fm_term_wrong(struct fm_parsing *p, const struct fm_term *term, const char *expected)
{
    return fail(p, term->line, "a term is not what it should be, expected %s", expected);
}

bool fm_term_int(struct fm_parsing *p, const struct fm_term *term, int64_t *ret)
{
    *ret = term->whole;
    return term->kind == TERM_INT || fm_term_wrong(p, term, "an integer");
}

bool fm_term_u32(struct fm_parsing *p, const struct fm_term *term, uint32_t *ret)
{
    *ret = (uint32_t)term->whole;
    return (term->kind == TERM_INT && term->whole >= 0 && term->whole < UINT32_MAX) ||
           fm_term_wrong(p, term, "a number from 0 to 4294967294");
}

bool fm_term_float(struct fm_parsing *p, const struct fm_term *term, double *ret)
{
    *ret = term->number;
    return term->kind == TERM_FLOAT || fm_term_wrong(p, term, "a floating point number");
}

bool fm_term_text(struct fm_parsing *p, const struct fm_term *term, const char **ret)
{
    *ret = term->text;
    if (term->kind != TERM_STRING)
        return fm_term_wrong(p, term, "a string");
    *ret = fm_strings_add(p->feedback->strings, term->text);
    return true;
}

bool fm_term_check_list(struct fm_parsing *p, const struct fm_term *term)
{
    return term->kind == TERM_LIST || fm_term_wrong(p, term, "a list");
}

/* Sets *ret to the index of the word among `words`. The caller checks the arguments of a word that
 * has some. */
bool fm_term_word(struct fm_parsing *p, const struct fm_term *term, const char *const *words,
                  unsigned count, unsigned *ret)
{
    g_return_val_if_fail(count > 0 && ret != NULL, false);
    for (*ret = 0; *ret < count; (*ret)++) {
        if (fm_term_is(term, words[*ret], 0))
            return true;
    }
    return fm_term_wrong(p, term, words[0]);
}

bool fm_term_vars(struct fm_parsing *p, const struct fm_term *term, uint32_t **ret,
                  uint32_t *ret_count)
{
    if (!fm_term_check_list(p, term))
        return false;
    *ret = g_new(uint32_t, term->args->len + 1);
    *ret_count = term->args->len;
    for (guint i = 0; i < term->args->len; i++) {
        const struct fm_term *item = fm_term_arg(term, i);
        if (fm_term_is(item, "no", 0))
            (*ret)[i] = FM_NO_VAR;
        else if (!fm_term_u32(p, fm_term_is(item, "yes", 1) ? fm_term_arg(item, 0) : item,
                              &(*ret)[i]))
            return false;
    }
    return true;
}

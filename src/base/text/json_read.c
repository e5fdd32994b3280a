/* SPDX-License-Identifier: Apache-2.0 */
#include "base/text/json_read.h"

#include <glib.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "base/text/json_scan.h"

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static const char *skip_blanks(const char *at, const char *end)
{
    while (at < end && is_blank(*at))
        at++;
    return at;
}

/* --- checking --- */

struct checking {
    const char *at, *end;
    const char *expected;                       /* NULL = no error so far */
    uint64_t objects[FM_JSON_NESTING_MAX / 64]; /* bit n: of open values the nth is an object */
    unsigned depth;
};

static bool expect(struct checking *c, const char *what)
{
    if (c->expected == NULL)
        c->expected = what;
    return false;
}

static bool check_escape(struct checking *c)
{
    c->at++;
    if (c->at < c->end && *c->at == 'u') {
        for (unsigned i = 0; i < 4; i++) {
            if (++c->at >= c->end || !g_ascii_isxdigit(*c->at))
                return expect(c, "four hexadecimal digits behind \\u");
        }
    } else if (c->at >= c->end || strchr("\"\\/bfnrt", *c->at) == NULL || *c->at == '\0') {
        return expect(c, "one of \"\\/bfnrtu behind \\");
    }
    c->at++;
    return true;
}

static bool check_string(struct checking *c)
{
    const char *begin = c->at++, *wrong;
    bool ascii = true;
    while ((c->at = fm_json_plain_end(c->at, c->end)) < c->end && *c->at != '"') {
        if ((unsigned char)*c->at >= 0x80) {
            ascii = false;
            c->at++;
        } else if (*c->at != '\\') {
            return expect(c, "no control character in a string");
        } else if (!check_escape(c)) {
            return false;
        }
    }
    if (c->at == c->end)
        return expect(c, "the end of a string");
    if (!ascii && !g_utf8_validate(begin, c->at - begin, &wrong)) {
        c->at = wrong;
        return expect(c, "UTF-8");
    }
    c->at++;
    return true;
}

static bool check_digits(struct checking *c)
{
    const char *begin = c->at;
    while (c->at < c->end && g_ascii_isdigit(*c->at))
        c->at++;
    return c->at > begin || expect(c, "a digit");
}

static bool check_number(struct checking *c)
{
    if (*c->at == '-')
        c->at++;
    if (c->at < c->end && *c->at == '0')
        c->at++;
    else if (!check_digits(c))
        return false;
    if (c->at < c->end && *c->at == '.') {
        c->at++;
        if (!check_digits(c))
            return false;
    }
    if (c->at == c->end || (*c->at != 'e' && *c->at != 'E'))
        return true;
    c->at++;
    if (c->at < c->end && (*c->at == '+' || *c->at == '-'))
        c->at++;
    return check_digits(c);
}

static bool check_word(struct checking *c)
{
    static const char *const words[] = {"true", "false", "null"};
    for (unsigned i = 0; i < G_N_ELEMENTS(words); i++) {
        size_t size = strlen(words[i]);
        if ((size_t)(c->end - c->at) >= size && memcmp(c->at, words[i], size) == 0) {
            c->at += size;
            return true;
        }
    }
    return expect(c, "a value");
}

/* "NAME": */
static bool check_name(struct checking *c)
{
    c->at = skip_blanks(c->at, c->end);
    if (c->at == c->end || *c->at != '"')
        return expect(c, "a member's name");
    if (!check_string(c))
        return false;
    c->at = skip_blanks(c->at, c->end);
    if (c->at == c->end || *c->at != ':')
        return expect(c, "a colon");
    c->at++;
    return true;
}

/* Opens the object or array that begins here. *ret_value: a value follows; otherwise it is empty
 * and closed. */
static bool open_one(struct checking *c, bool *ret_value)
{
    bool object = *c->at == '{';
    if (c->depth == FM_JSON_NESTING_MAX)
        return expect(c, "no deeper nesting");
    c->at = skip_blanks(c->at + 1, c->end);
    *ret_value = c->at == c->end || *c->at != (object ? '}' : ']');
    if (!*ret_value) {
        c->at++;
        return true;
    }
    uint64_t bit = (uint64_t)1 << c->depth % 64;
    uint64_t *word = &c->objects[c->depth++ / 64];
    *word = object ? *word | bit : *word & ~bit;
    return !object || check_name(c);
}

/* After a value: its object or array ends, or goes on. */
static bool go_on(struct checking *c, bool *ret_value)
{
    *ret_value = false;
    while (c->depth > 0) {
        unsigned innermost = c->depth - 1;
        bool object = (c->objects[innermost / 64] >> innermost % 64 & 1) != 0;
        c->at = skip_blanks(c->at, c->end);
        if (c->at < c->end && *c->at == ',') {
            c->at++;
            *ret_value = true;
            return !object || check_name(c);
        }
        if (c->at == c->end || *c->at != (object ? '}' : ']'))
            return expect(c, object ? "a comma or }" : "a comma or ]");
        c->at++;
        c->depth--;
    }
    return true;
}

static bool check_value(struct checking *c)
{
    for (bool value = true; value;) {
        c->at = skip_blanks(c->at, c->end);
        if (c->at == c->end)
            return expect(c, "a value");
        if (*c->at == '{' || *c->at == '[') {
            if (!open_one(c, &value))
                return false;
            if (value)
                continue;
        } else if (*c->at == '"') {
            if (!check_string(c))
                return false;
        } else if (*c->at == '-' || g_ascii_isdigit(*c->at)) {
            if (!check_number(c))
                return false;
        } else if (!check_word(c)) {
            return false;
        }
        if (!go_on(c, &value))
            return false;
    }
    return true;
}

bool fm_json_check(const char *text, size_t size, struct fm_json_value *ret, size_t *ret_offset,
                   const char **ret_expected)
{
    g_return_val_if_fail(text != NULL && ret != NULL, false);
    struct checking c = {.at = text, .end = text + size};
    bool done = check_value(&c);
    *ret = (struct fm_json_value){skip_blanks(text, c.end), c.at};
    if (done && skip_blanks(c.at, c.end) != c.end) {
        c.at = skip_blanks(c.at, c.end);
        done = expect(&c, "the end");
    }
    *ret_offset = (size_t)(c.at - text);
    *ret_expected = c.expected;
    return done;
}

/* --- reading checked text --- */

bool fm_json_is_object(struct fm_json_value value)
{
    return value.at != NULL && *value.at == '{';
}

bool fm_json_is_array(struct fm_json_value value)
{
    return value.at != NULL && *value.at == '[';
}

static bool is_string(struct fm_json_value value)
{
    return value.at != NULL && *value.at == '"';
}

static const char *end_of_string(const char *at, const char *end)
{
    for (at++; *(at = fm_json_plain_end(at, end)) != '"'; at++)
        at += *at == '\\';
    return at + 1;
}

static const char *end_of_value(const char *at, const char *end)
{
    static const bool ends[UINT8_MAX + 1] = {
        [' '] = true, ['\t'] = true, ['\n'] = true, ['\r'] = true,
        [','] = true, ['}'] = true,  [']'] = true};
    if (*at == '"')
        return end_of_string(at, end);
    if (*at == '{' || *at == '[')
        return fm_json_close(at, end);
    while (at < end && !ends[(unsigned char)*at]) /* a number or a word */
        at++;
    return at;
}

struct fm_json_items fm_json_items(struct fm_json_value value)
{
    if (!fm_json_is_object(value) && !fm_json_is_array(value))
        return (struct fm_json_items){NULL, NULL, false};
    return (struct fm_json_items){value.at + 1, value.end - 1, *value.at == '{'};
}

bool fm_json_next(struct fm_json_items *items, struct fm_json_value *ret_name,
                  struct fm_json_value *ret)
{
    const char *at = items->at, *end = items->end;
    while (at < end && (is_blank(*at) || *at == ','))
        at++;
    if (at == end)
        return false;
    if (items->named) {
        const char *name_end = end_of_string(at, end);
        if (ret_name != NULL)
            *ret_name = (struct fm_json_value){at, name_end};
        at = skip_blanks(skip_blanks(name_end, end) + 1, end); /* the colon */
    }
    *ret = (struct fm_json_value){at, end_of_value(at, end)};
    items->at = ret->end;
    return true;
}

void fm_json_members(struct fm_json_value object, const char *const *names, unsigned count,
                     struct fm_json_value *ret)
{
    struct fm_json_items items = fm_json_items(object);
    struct fm_json_value found, named;
    unsigned missing = count;
    for (unsigned i = 0; i < count; i++)
        ret[i] = (struct fm_json_value){NULL, NULL};
    while (items.named && missing > 0 && fm_json_next(&items, &named, &found)) {
        for (unsigned i = 0; i < count; i++) {
            if (ret[i].at != NULL || !fm_json_equals(named, names[i]))
                continue;
            ret[i] = found;
            missing--;
        }
    }
}

struct fm_json_value fm_json_member(struct fm_json_value object, const char *name)
{
    struct fm_json_value ret;
    fm_json_members(object, &name, 1, &ret);
    return ret;
}

bool fm_json_number(struct fm_json_value value, double *ret)
{
    uint64_t whole = 0;
    if (value.at == NULL || (*value.at != '-' && !g_ascii_isdigit(*value.at)))
        return false;
    const char *at = value.at;
    while (at < value.end && at - value.at < 15 && g_ascii_isdigit(*at))
        whole = whole * 10 + (uint64_t)(*at++ - '0');
    if (at == value.end) { /* as most are; such integers are exact in a double */
        *ret = (double)whole;
        return true;
    }
    g_autofree char *text = g_strndup(value.at, (gsize)(value.end - value.at));
    *ret = g_ascii_strtod(text, NULL);
    return isfinite(*ret);
}

bool fm_json_whole(struct fm_json_value value, uint64_t *ret)
{
    uint64_t whole = 0;
    if (value.at == NULL || value.at == value.end)
        return false;
    for (const char *at = value.at; at < value.end; at++) {
        if (!g_ascii_isdigit(*at) || __builtin_mul_overflow(whole, (uint64_t)10, &whole) ||
            __builtin_add_overflow(whole, (uint64_t)(*at - '0'), &whole))
            return false;
    }
    *ret = whole;
    return true;
}

/* --- strings --- */

static unsigned unit_at(const char *at)
{
    unsigned unit = 0;
    for (unsigned i = 0; i < 4; i++)
        unit = unit << 4 | (unsigned)g_ascii_xdigit_value(at[i]);
    return unit;
}

/* at: after "\u"; returns the position after the whole character. */
static const char *append_unit(GString *to, const char *at, const char *end)
{
    unsigned unit = unit_at(at);
    at += 4;
    if (unit >= 0xd800 && unit < 0xdc00 && end - at >= 6 && at[0] == '\\' && at[1] == 'u') {
        unsigned low = unit_at(at + 2);
        if (low >= 0xdc00 && low < 0xe000) {
            g_string_append_unichar(to, 0x10000 + ((unit - 0xd800) << 10) + (low - 0xdc00));
            return at + 6;
        }
    }
    bool lone = unit >= 0xd800 && unit < 0xe000;
    g_string_append_unichar(to, unit == 0 || lone ? 0xfffd : unit);
    return at;
}

char *fm_json_string(struct fm_json_value value)
{
    static const char escapes[][2] = {
        {'b', '\b'}, {'f', '\f'}, {'n', '\n'}, {'r', '\r'}, {'t', '\t'}};
    if (!is_string(value))
        return g_strdup("");
    const char *at = value.at + 1, *end = value.end - 1;
    const char *escape = memchr(at, '\\', (size_t)(end - at));
    if (escape == NULL)
        return g_strndup(at, (gsize)(end - at));
    GString *text = g_string_sized_new((gsize)(end - at));
    while (at < end) {
        if (*at != '\\') {
            g_string_append_c(text, *at++);
            continue;
        }
        char c = at[1];
        at += 2;
        if (c == 'u') {
            at = append_unit(text, at, end);
            continue;
        }
        for (unsigned i = 0; i < G_N_ELEMENTS(escapes); i++)
            c = c == escapes[i][0] ? escapes[i][1] : c;
        g_string_append_c(text, c);
    }
    return g_string_free(text, FALSE);
}

bool fm_json_equals(struct fm_json_value value, const char *text)
{
    if (!is_string(value))
        return false;
    if (value.at[1] != text[0] && value.at[1] != '\\') /* most are unlike from the first byte */
        return text[0] == '\0' && value.at[1] == '"';
    /* An escape is longer than what it stands for. */
    size_t size = strlen(text), own = (size_t)(value.end - value.at) - 2;
    if (own == size)
        return memcmp(value.at + 1, text, size) == 0 && memchr(text, '\\', size) == NULL;
    if (own < size || memchr(value.at, '\\', own + 1) == NULL)
        return false;
    g_autofree char *string = fm_json_string(value);
    return strcmp(string, text) == 0;
}

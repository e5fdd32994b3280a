/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "trace/filter/filter_internal.h"

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f' || c == '\v';
}

static bool is_name(char c)
{
    return g_ascii_isalnum(c) || (c & 0x80) != 0 ||
           (c != '\0' && strchr("_:-@$#+/*?%~", c) != NULL);
}

/* Characters that a bare value may hold. */
static bool is_bare(char c)
{
    return c != '\0' && strchr("&|^!=<>()[]{}\"", c) == NULL &&
           ((unsigned char)c >= 0x20 || is_blank(c));
}

enum filter_token fm_filter_peek(struct filter_scanner *scanner, size_t *ret_length,
                                 enum filter_operator *ret_op)
{
    while (is_blank(scanner->text[scanner->at]))
        scanner->at++;
    const char *at = scanner->text + scanner->at;
    bool followed_by_equal = at[0] != '\0' && at[1] == '=';
    *ret_length = 1;
    switch (at[0]) {
    case '\0':
        *ret_length = 0;
        return TOKEN_END;
    case '(':
    case '[':
    case '{':
        return TOKEN_OPEN;
    case ')':
    case ']':
    case '}':
        return TOKEN_CLOSE;
    case '&':
        *ret_length = at[1] == '&' ? 2 : 1;
        return TOKEN_AND;
    case '|':
        *ret_length = at[1] == '|' ? 2 : 1;
        return TOKEN_OR;
    case '^':
        return TOKEN_XOR;
    case '=':
        *ret_length = followed_by_equal ? 2 : 1;
        *ret_op = OP_EQUAL;
        return TOKEN_OPERATOR;
    case '!':
        *ret_length = followed_by_equal ? 2 : 1;
        *ret_op = OP_UNEQUAL;
        return followed_by_equal ? TOKEN_OPERATOR : TOKEN_NOT;
    case '<':
        *ret_length = followed_by_equal ? 2 : 1;
        *ret_op = followed_by_equal ? OP_LESS_EQUAL : OP_LESS;
        return TOKEN_OPERATOR;
    case '>':
        *ret_length = followed_by_equal ? 2 : 1;
        *ret_op = followed_by_equal ? OP_GREATER_EQUAL : OP_GREATER;
        return TOKEN_OPERATOR;
    default:
        return TOKEN_OTHER;
    }
}

/* "text" with escapes, at the scanner. any: what stands for a * that is not escaped. */
static void scan_quoted(struct filter_scanner *scanner, char any, GString *out, bool *ret_whole)
{
    const char *text = scanner->text;
    size_t at = scanner->at + 1;
    while (text[at] != '\0' && text[at] != '"') {
        bool escaped = text[at] == '\\' && text[at + 1] != '\0';
        at += escaped;
        g_string_append_c(out, text[at] == '*' && !escaped ? any : text[at]);
        at++;
    }
    *ret_whole = text[at] == '"';
    scanner->at = at + (*ret_whole ? 1 : 0);
}

char *fm_filter_scan_path(struct filter_scanner *scanner)
{
    GString *path = g_string_new(NULL);
    for (;;) {
        bool whole = true;
        if (scanner->text[scanner->at] == '"') {
            scan_quoted(scanner, '*', path, &whole);
        } else {
            while (is_name(scanner->text[scanner->at]))
                g_string_append_c(path, scanner->text[scanner->at++]);
        }
        if (!whole || scanner->text[scanner->at] != '.')
            break;
        g_string_append_c(path, scanner->text[scanner->at++]);
    }
    return g_string_free(path, path->len == 0);
}

char *fm_filter_scan_value(struct filter_scanner *scanner, bool *ret_quoted, bool *ret_whole)
{
    GString *value = g_string_new(NULL);
    *ret_quoted = scanner->text[scanner->at] == '"';
    *ret_whole = true;
    if (*ret_quoted) {
        scan_quoted(scanner, FILTER_ANY, value, ret_whole);
        return g_string_free(value, FALSE);
    }
    while (is_bare(scanner->text[scanner->at])) {
        char c = scanner->text[scanner->at++];
        if (c == '\\' && scanner->text[scanner->at] == '*')
            g_string_append_c(value, scanner->text[scanner->at++]);
        else
            g_string_append_c(value, is_blank(c) ? ' ' : c == '*' ? FILTER_ANY : c);
    }
    while (value->len > 0 && value->str[value->len - 1] == ' ')
        g_string_truncate(value, value->len - 1);
    return g_string_free(value, value->len == 0);
}

/* star: a * is escaped, too. */
static void print_quoted(GString *out, const char *text, bool star, bool pattern)
{
    g_string_append_c(out, '"');
    for (const char *c = text; *c != '\0'; c++) {
        if (*c == '"' || *c == '\\' || (*c == '*' && star))
            g_string_append_c(out, '\\');
        g_string_append_c(out, pattern && *c == FILTER_ANY ? '*' : *c);
    }
    g_string_append_c(out, '"');
}

void fm_filter_print_value(GString *out, const char *text, bool pattern)
{
    size_t length = strlen(text);
    bool bare = length > 0 && text[0] != ' ' && text[length - 1] != ' ';
    for (const char *c = text; bare && *c != '\0'; c++)
        bare = is_bare(*c) && (*c == ' ' || !is_blank(*c)) && *c != '*';
    if (!bare) {
        print_quoted(out, text, true, pattern);
        return;
    }
    for (const char *c = text; *c != '\0'; c++)
        g_string_append_c(out, pattern && *c == FILTER_ANY ? '*' : *c);
}

void fm_filter_print_path_part(GString *out, const char *text)
{
    bool bare = text[0] != '\0';
    for (const char *c = text; bare && *c != '\0'; c++)
        bare = is_name(*c) || (*c == '.' && c[1] != '\0');
    if (bare)
        g_string_append(out, text);
    else
        print_quoted(out, text, false, false);
}

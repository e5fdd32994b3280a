/* SPDX-License-Identifier: Apache-2.0 */
/* One pass over a text notes the closing bracket of each opening one, which makes reading
 * linear. */
#include <string.h>

#include "base/names/reader.h"

#define DEPTH_MAX 200 /* maximum depth of brackets; compilers write less */

bool fm_name_is_letter(char c)
{
    return g_ascii_isalnum(c) || c == '_' || c == '$' || (c & 0x80) != 0;
}

bool fm_name_is_at(const struct fm_name_reader *in, size_t at, size_t end, const char *text)
{
    size_t size = strlen(text);
    return at + size <= end && memcmp(in->text + at, text, size) == 0;
}

size_t fm_name_sign_size(const struct fm_name_reader *in, size_t at)
{
    static const char *const signs[] = {"->*", "<<=", ">>=", "<=>", "()",     "[]",       "->",
                                        "<<",  ">>",  "<=",  ">=",  "==",     "!=",       "&&",
                                        "||",  "++",  "--",  "+=",  "-=",     "*=",       "/=",
                                        "%=",  "^=",  "&=",  "|=",  "<",      ">",        "+",
                                        "-",   "*",   "/",   "%",   "^",      "&",        "|",
                                        "~",   "!",   "=",   ",",   " new[]", " delete[]"};
    bool skipped = !in->second;
    for (size_t i = 0; i < G_N_ELEMENTS(signs); i++) {
        if (!fm_name_is_at(in, at, in->size, signs[i]))
            continue;
        if (skipped || strlen(signs[i]) == 1 || strchr("<>", signs[i][0]) == NULL)
            return strlen(signs[i]);
        skipped = true;
    }
    return 0;
}

size_t fm_name_behind_quote(const struct fm_name_reader *in, size_t at, size_t end)
{
    char quote = in->text[at];
    if ((quote != '\'' && quote != '"') || in->language == FM_NAME_RUST)
        return at + 1;
    for (size_t i = at + 1; i < end; i++) {
        if (in->text[i] == '\\')
            i++;
        else if (in->text[i] == quote)
            return i + 1;
    }
    return at + 1;
}

static bool begins_operator(const struct fm_name_reader *in, size_t at)
{
    return fm_name_is_at(in, at, in->size, "operator") &&
           (at == 0 || !fm_name_is_letter(in->text[at - 1]));
}

/* "(1)<(2)" within parentheses: demanglers write a comparison so. */
static bool is_comparison(const struct fm_name_reader *in, size_t at, char top)
{
    return top == '(' && at > 0 && in->text[at - 1] == ')' && in->text[at + 1] == '(';
}

bool fm_name_match_brackets(struct fm_name_reader *in)
{
    static const char opening[] = "([{<", closing[] = ")]}>";
    size_t open[DEPTH_MAX];
    unsigned depth = 0;
    for (size_t at = 0; at < in->size;) {
        char c = in->text[at];
        char top = depth > 0 ? in->text[open[depth - 1]] : '\0';
        if (c == 'o' && begins_operator(in, at)) {
            at += strlen("operator");
            at += fm_name_sign_size(in, at);
            if (fm_name_is_at(in, at, in->size, "\"\""))
                at += 2;
            continue;
        }
        if (fm_name_is_at(in, at, in->size, "->")) {
            at += 2;
            continue;
        }
        if (c == '\'' || c == '"') {
            at = fm_name_behind_quote(in, at, in->size);
            continue;
        }
        const char *kind = c == '\0' ? NULL : strchr(opening, c);
        if (kind != NULL && !(c == '<' && is_comparison(in, at, top))) {
            if (depth == DEPTH_MAX)
                return false;
            open[depth++] = at;
        }
        kind = c == '\0' ? NULL : strchr(closing, c);
        if (kind != NULL && (c != '>' || top == '<' || depth == 0)) {
            if (depth == 0 || top != opening[kind - closing])
                return false;
            in->close[open[--depth]] = (guint32)at;
        }
        at++;
    }
    return depth == 0;
}

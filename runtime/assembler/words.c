/* SPDX-License-Identifier: Apache-2.0 */
/* Words of an assembly text, not copied. */
#include <string.h>

#include "scan_internal.h"

bool fm_word_is(struct fm_word word, const char *text)
{
    return word.size == strlen(text) && memcmp(word.at, text, word.size) == 0;
}

bool fm_word_begins(struct fm_word word, const char *text)
{
    size_t size = strlen(text);
    return word.size >= size && memcmp(word.at, text, size) == 0;
}

bool fm_word_same(struct fm_word left, struct fm_word right)
{
    return left.size == right.size && memcmp(left.at, right.at, left.size) == 0;
}

static bool is_name_char(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '.' || c == '$' || (c & 0x80) != 0;
}

struct fm_word fm_word_name_at(const char *at, const char *end)
{
    const char *from = at;
    while (at < end && is_name_char(*at))
        at++;
    return (struct fm_word){from, (size_t)(at - from)};
}

struct fm_word fm_word_rest_of(const char *at, const char *end)
{
    while (at < end && (*at == ' ' || *at == '\t'))
        at++;
    return (struct fm_word){at, (size_t)(end - at)};
}

bool fm_scan_names(struct fm_word operand, struct fm_word function)
{
    static const char *const clones[] = {".constprop.", ".isra.", ".part.", ".cold", ".localalias"};
    size_t length = 0;
    while (length < operand.size && strchr("@( \n", operand.at[length]) == NULL)
        length++;
    if (length == 0 || length > function.size || memcmp(operand.at, function.at, length) != 0)
        return false;
    struct fm_word rest = {function.at + length, function.size - length};
    for (unsigned i = 0; i < sizeof clones / sizeof *clones; i++)
        if (fm_word_begins(rest, clones[i]))
            return true;
    return rest.size == 0;
}

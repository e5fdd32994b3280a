/* SPDX-License-Identifier: Apache-2.0 */
/* Whether a symbol is the function that a user calls Parser::parse. For C++ symbols only names are
 * compared, without arguments of templates and functions (Itanium C++ ABI, 5.1). Also used when a
 * recording is finished. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#define FM_SYMBOL_PARTS_MAX 16u

struct fm_symbol_part {
    const char *at;
    size_t bytes;
    char kind; /* 'C', 'D': constructor, destructor of the class of that name; 0: any other */
};

struct fm_symbol_parts {
    struct fm_symbol_part part[FM_SYMBOL_PARTS_MAX];
    unsigned count;
};

static inline bool fm_is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* Skips a length and as many bytes; NULL: they are missing. */
static inline const char *fm_symbol_word(const char *at, const char **ret_word)
{
    size_t bytes = 0;
    for (; fm_is_digit(*at) && bytes < 65536; at++)
        bytes = bytes * 10 + (size_t)(*at - '0');
    *ret_word = at;
    return bytes > 0 && strnlen(at, bytes) == bytes ? at + bytes : NULL;
}

/* Skips S_, S1A_, T_, T0_, or two letters. */
static inline const char *fm_symbol_reference(const char *at)
{
    const char *end = at + 1;
    while (fm_is_digit(*end) || (*end >= 'A' && *end <= 'Z'))
        end++;
    return *end == '_' || end == at + 1 ? end + (*end != '\0') : NULL;
}

/* Skips nested parts, beginning at 'I' (arguments of a template) or the like. NULL: not
 * understood. */
static inline const char *fm_symbol_nested(const char *at)
{
    unsigned depth = 0;
    const char *word;
    while (at != NULL && *at != '\0') {
        if (fm_is_digit(*at))
            at = fm_symbol_word(at, &word);
        else if (*at == 'S' || *at == 'T')
            at = fm_symbol_reference(at);
        else if (*at == 'L' && strncmp(at, "L_Z", 3) != 0) { /* a literal: type, value, E */
            at = at[1] == 'N'         ? fm_symbol_nested(at + 1)
                 : fm_is_digit(at[1]) ? fm_symbol_word(at + 1, &word)
                                      : at + 1;
            at = at != NULL ? strchr(at, 'E') : NULL;
            at += at != NULL;
        } else if (*at == 'A' && fm_is_digit(at[1])) { /* an array, whose length is not a word's */
            at = strchr(at, '_');
        } else {
            if (*at == 'E' && --depth == 0)
                return at + 1;
            bool pair = *at == 'D' || *at == 'U';
            depth += pair ? at[1] == 't' || at[1] == 'T' || at[1] == 'l'
                          : strchr("INFXJLZ", *at) != NULL;
            at += 1 + (pair && at[1] != '\0');
        }
    }
    return NULL;
}

static inline const char *fm_symbol_add(struct fm_symbol_parts *parts, const char *at, char kind)
{
    struct fm_symbol_part part = {.at = "std", .bytes = 3, .kind = kind};
    const char *end = at + 2; /* St, C1, D1 */
    if (parts->count == FM_SYMBOL_PARTS_MAX || (kind != '\0' && parts->count == 0))
        return NULL;
    if (kind != '\0') {
        part = parts->part[parts->count - 1];
        part.kind = kind;
    } else if (fm_is_digit(*at)) {
        end = fm_symbol_word(at, &part.at);
        if (end == NULL)
            return NULL;
        part.bytes = (size_t)(end - part.at);
        if (strncmp(part.at, "_GLOBAL__N", 10) == 0) /* a namespace without a name */
            return end;
    }
    parts->part[parts->count++] = part;
    return end;
}

/* False: not such a symbol, or without a name of its own (operators, lambdas). */
static inline bool fm_symbol_parse(const char *symbol, struct fm_symbol_parts *ret)
{
    const char *at = symbol + 2, *word;
    ret->count = 0;
    if (symbol[0] != '_' || symbol[1] != 'Z')
        return false;
    bool nested = *at == 'N';
    for (at += nested; nested && *at != '\0' && strchr("rVKRO", *at) != NULL;)
        at++;
    while (at != NULL && *at != '\0' && *at != 'E') {
        bool last = !nested && fm_is_digit(*at); /* the function's arguments follow */
        if (fm_is_digit(*at) || (at[0] == 'S' && at[1] == 't'))
            at = fm_symbol_add(ret, at, '\0');
        else if ((*at == 'C' || *at == 'D') && fm_is_digit(at[1]))
            at = fm_symbol_add(ret, at, *at);
        else if (*at == 'I')
            at = fm_symbol_nested(at);
        else if (*at == 'B' && fm_is_digit(at[1])) /* a tag such as [abi:cxx11] */
            at = fm_symbol_word(at + 1, &word);
        else if (*at == 'L' && fm_is_digit(at[1]))
            at++;
        else
            return false;
        if (last)
            break;
    }
    return at != NULL && ret->count > 0 && (!nested || *at == 'E');
}

/* Compares one part of a name; only: it is the whole name. */
static inline bool fm_symbol_part_is(const struct fm_symbol_part *part, const char *text,
                                     size_t bytes, bool only)
{
    if (part->kind == 'D') {
        if (bytes == 0 || text[0] != '~')
            return false;
        text++;
        bytes--;
    }
    return part->bytes == bytes && memcmp(part->at, text, bytes) == 0 &&
           (part->kind != 'C' || !only); /* Parser by itself is not a constructor */
}

/* The function's name, with as many of its classes and namespaces as given. */
static inline bool fm_symbol_is(const struct fm_symbol_parts *parts, const char *name)
{
    const char *end = name + strlen(name);
    for (unsigned i = parts->count; i > 0; i--) {
        const char *begin = end;
        while (begin > name && (begin - name < 2 || begin[-1] != ':' || begin[-2] != ':'))
            begin--;
        if (!fm_symbol_part_is(&parts->part[i - 1], begin, (size_t)(end - begin),
                               begin == name && end[0] == '\0'))
            return false;
        if (begin == name)
            return true;
        end = begin - 2;
    }
    return false;
}

/* As the linker knows it, or a copy that the compiler made: parse.constprop.0. */
static inline bool fm_symbol_is_as_linked(const char *symbol, const char *name)
{
    size_t bytes = strlen(name);
    return strncmp(symbol, name, bytes) == 0 && (symbol[bytes] == '\0' || symbol[bytes] == '.');
}

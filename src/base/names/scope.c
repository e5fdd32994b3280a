/* SPDX-License-Identifier: Apache-2.0 */
/* Reads scopes, types and lists. */
#include <stdlib.h>
#include <string.h>

#include "base/names/reader.h"
#include "base/names/library.h"

#define DEPTH_MAX 200

void fm_name_drop(struct fm_name_reader *in, const char *text, size_t size)
{
    g_autofree char *item = g_strndup(text, size);
    if (strstr(in->dropped->str, item) == NULL)
        g_string_append_printf(in->dropped, "%s%s", in->dropped->len > 0 ? ", " : "", item);
}

struct fm_name_component *fm_name_push(struct fm_name_pool *pool, struct fm_name_scope *scope,
                                       enum fm_name_kind kind, const char *text, size_t size,
                                       const char *separator)
{
    if ((scope->count & (scope->count - 1)) == 0) { /* full: its room is a power of two */
        struct fm_name_component *more =
            fm_name_take(pool, MAX(2, scope->count * 2) * sizeof(*more));
        if (scope->count > 0)
            memcpy(more, scope->components, scope->count * sizeof(*more));
        scope->components = more;
    }
    struct fm_name_component *made = &scope->components[scope->count++];
    *made = (struct fm_name_component){
        .kind = kind, .text = fm_name_text(pool, text, size), .separator = separator};
    return made;
}

static void append_list(GString *out, const struct fm_name_list *list, char open, char close)
{
    g_string_append_c(out, open);
    for (unsigned i = 0; i < list->count; i++)
        g_string_append_printf(out, "%s%s", i == 0 ? "" : ", ", list->types[i]->text);
    g_string_append_c(out, close);
}

void fm_name_append_scope(GString *out, const struct fm_name_scope *scope)
{
    for (unsigned i = 0; i < scope->count; i++) {
        const struct fm_name_component *c = &scope->components[i];
        g_string_append(out, c->conversion != NULL ? "operator " : c->text);
        if (c->conversion != NULL)
            g_string_append(out, c->conversion->text);
        if (c->kind == FM_NAME_LAMBDA)
            g_string_append_printf(out, "#%u", c->number);
        if (c->arguments != NULL)
            append_list(out, c->arguments, '<', '>');
        if (c->parameters != NULL)
            append_list(out, c->parameters, '(', ')');
        if (c->quals != NULL)
            g_string_append_printf(out, " %s", c->quals);
        if (i + 1 < scope->count)
            g_string_append(out, c->separator);
    }
}

/* Names of inline name spaces that tell versions of a library apart. */
static bool is_version(const char *word, size_t size)
{
    static const char *const beginnings[] = {"__ndk", "__", "_V", "lts_", "debian", "v"};
    if (size == strlen("__cxx11") && memcmp(word, "__cxx11", size) == 0)
        return true;
    for (size_t i = 0; i < G_N_ELEMENTS(beginnings); i++) {
        size_t behind = strlen(beginnings[i]);
        if (size <= behind || memcmp(word, beginnings[i], behind) != 0)
            continue;
        if (!g_ascii_isdigit(word[behind]))
            continue;
        while (behind < size && (g_ascii_isdigit(word[behind]) || word[behind] == '_'))
            behind++;
        return behind == size;
    }
    return false;
}

size_t fm_name_read_quals(struct fm_name_reader *in, size_t at, size_t end, const char **quals)
{
    static const char *const words[] = {" const", " volatile", " &&", " &", "&&", "&", " noexcept"};
    size_t start = at;
    for (bool more = true; more;) {
        more = false;
        for (size_t i = 0; i < G_N_ELEMENTS(words) && !more; i++) {
            more = fm_name_is_at(in, at, end, words[i]) &&
                   !fm_name_is_letter(in->text[at + strlen(words[i])]);
            at += more ? strlen(words[i]) : 0;
        }
    }
    if (quals != NULL && at > start) {
        size_t from = start + (in->text[start] == ' ');
        *quals = fm_name_text(in->pool, in->text + from, at - from);
    }
    return at;
}

static unsigned number_in(const struct fm_name_reader *in, size_t at, size_t end)
{
    while (at < end && in->text[at] != '#')
        at++;
    return at < end ? (unsigned)MIN(g_ascii_strtoull(in->text + at + 1, NULL, 10), 1000000) : 0;
}

/* Lambdas and unnamed entities, whose components are no words. Returns at if there is none. */
static size_t read_unnamed(struct fm_name_reader *in, size_t at, size_t end,
                           struct fm_name_scope *scope)
{
    static const struct {
        const char *text, *word;
        enum fm_name_kind kind;
    } forms[] = {{"(anonymous namespace)", "(anonymous)", FM_NAME_UNNAMED_SPACE},
                 {"(anonymous class)", "(anonymous)", FM_NAME_WORD},
                 {"{lambda", "lambda", FM_NAME_LAMBDA},
                 {"<lambda", "lambda", FM_NAME_LAMBDA},
                 {"{unnamed", "unnamed", FM_NAME_WORD},
                 {"<unnamed", "unnamed", FM_NAME_WORD},
                 {"{default arg", "default argument", FM_NAME_WORD},
                 {"{{closure}}", "closure", FM_NAME_LAMBDA},
                 {"{closure", "closure", FM_NAME_LAMBDA},
                 {"'lambda", "lambda", FM_NAME_LAMBDA},
                 {"'unnamed", "unnamed", FM_NAME_WORD}};
    for (size_t i = 0; i < G_N_ELEMENTS(forms); i++) {
        if (!fm_name_is_at(in, at, end, forms[i].text))
            continue;
        bool quoted = forms[i].text[0] == '\'';
        size_t behind = quoted ? fm_name_behind_quote(in, at, end) : in->close[at] + 1;
        struct fm_name_component *made = fm_name_push(in->pool, scope, forms[i].kind, forms[i].word,
                                                      strlen(forms[i].word), in->separator);
        if (forms[i].kind == FM_NAME_LAMBDA && quoted) { /* 'lambda' is the first, 'lambda0' next */
            const char *digits = in->text + at + strlen(forms[i].text);
            made->number = g_ascii_isdigit(*digits) ? (unsigned)strtoul(digits, NULL, 10) + 2 : 1;
            if (behind < end && in->text[behind] == '(')
                behind = in->close[behind] + 1;
        } else if (forms[i].kind == FM_NAME_LAMBDA) {
            made->number =
                number_in(in, at, behind) +
                (forms[i].word[0] == 'c' && memchr(in->text + at, '#', behind - at) != 0);
        }
        return behind;
    }
    return at;
}

/* The end of the type of a conversion operator: before the first "(…)" that no other "(" follows.
 */
static size_t conversion_end(const struct fm_name_reader *in, size_t at, size_t end)
{
    for (; at < end; at++) {
        char c = in->text[at];
        if (c == '<' && in->close[at] != 0)
            at = in->close[at];
        if (c != '(' || in->close[at] == 0)
            continue;
        size_t behind = in->close[at] + 1;
        bool unnamed = fm_name_is_at(in, at, end, "(anonymous namespace)");
        if (!unnamed && (behind >= end || in->text[behind] != '('))
            return at;
        at = behind - 1;
    }
    return end;
}

static size_t read_operator(struct fm_name_reader *in, size_t start, size_t end,
                            struct fm_name_scope *scope)
{
    static const char *const words[] = {" new", " delete", " co_await"};
    size_t at = start + strlen("operator");
    size_t sign = fm_name_sign_size(in, at);
    if (sign == 0 && fm_name_is_at(in, at, end, "\"\"")) {
        sign = 2;
        while (at + sign < end &&
               (in->text[at + sign] == ' ' || fm_name_is_letter(in->text[at + sign])))
            sign++;
    }
    for (size_t i = 0; sign == 0 && i < G_N_ELEMENTS(words); i++)
        if (fm_name_is_at(in, at, end, words[i]) &&
            (at + strlen(words[i]) == end || !fm_name_is_letter(in->text[at + strlen(words[i])])))
            sign = strlen(words[i]);
    if (sign > 0) {
        at = MIN(at + sign, end);
        fm_name_push(in->pool, scope, FM_NAME_WORD, in->text + start, at - start, in->separator);
        return fm_name_is_at(in, at, end, " <") ? at + 1 : at;
    }
    size_t behind = conversion_end(in, at, end);
    if (in->text[at] != ' ' || behind == at + 1) {
        in->wrong = true;
        return end;
    }
    struct fm_name_type *type = fm_name_read_type(in, at + 1, behind);
    struct fm_name_component *made =
        fm_name_push(in->pool, scope, FM_NAME_WORD, "operator", 8, in->separator);
    made->conversion = type;
    return behind;
}

/* "<T as Trait>::f", "<impl Trait for T>::f", "slice::<impl [T]>::f". */
static size_t read_rust_type(struct fm_name_reader *in, size_t at, size_t end,
                             struct fm_name_scope *scope)
{
    size_t close = in->close[at], from = at + 1, to = close;
    bool is_impl = fm_name_is_at(in, from, close, "impl ");
    const char *mark = is_impl ? " for " : " as ";
    size_t middle = from;
    while (middle < close && !fm_name_is_at(in, middle, close, mark))
        middle = in->close[middle] != 0 ? in->close[middle] + 1 : middle + 1;
    bool has_trait = middle < close;
    if (is_impl && !has_trait)
        return close + 1;
    if (has_trait) {
        size_t split = middle + strlen(mark);
        size_t trait = is_impl ? from + strlen("impl ") : split;
        in->trait = fm_name_read_type(in, trait, is_impl ? middle : close);
        from = is_impl ? split : from;
        to = is_impl ? close : middle;
    }
    in->type = has_trait ? fm_name_read_type(in, from, to) : NULL;
    scope->count = 0;
    scope->components = NULL;
    if (!fm_name_begins_scope(in, from, to) || fm_name_read_scope(in, from, to, scope) != to) {
        struct fm_name_type *type = fm_name_read_type(in, from, to);
        scope->count = 0;
        fm_name_push(in->pool, scope, FM_NAME_WORD, type->text, strlen(type->text), in->separator);
    }
    (void)end;
    return close + 1;
}

static size_t read_word(struct fm_name_reader *in, size_t start, size_t end,
                        struct fm_name_scope *scope)
{
    size_t at = start + (in->text[start] == '~');
    if (at > start && at < end && !fm_name_is_letter(in->text[at])) {
        size_t behind = read_unnamed(in, at, end, scope);
        if (behind == at) {
            in->wrong = true;
            return end;
        }
        if (scope->count > 1) /* the lambda itself stands before */
            scope->count--;
        fm_name_push(in->pool, scope, FM_NAME_WORD, "~", 1, in->separator);
        return behind;
    }
    while (at < end && fm_name_is_letter(in->text[at]))
        at++;
    size_t size = at - start;
    const char *word = in->text + start;
    if (size > 2 && word[0] == '$' && word[1] == '_' && g_ascii_isdigit(word[2])) {
        fm_name_push(in->pool, scope, FM_NAME_LAMBDA, "lambda", 6, in->separator)->number =
            (unsigned)MIN(g_ascii_strtoull(word + 2, NULL, 10), 1000000) + 1;
        return at;
    }
    bool scope_follows = fm_name_is_at(in, at, end, "::");
    bool of_version = scope_follows && scope->count > 0 && is_version(word, size) &&
                      !(fm_name_is_at(in, at + 2, end, "~") ||
                        (at + 2 + size <= end && memcmp(word, in->text + at + 2, size) == 0));
    if (of_version && in->language == FM_NAME_CXX)
        fm_name_drop(in, word, size);
    else
        fm_name_push(in->pool, scope, FM_NAME_WORD, word, size, in->separator);
    return at;
}

/* Uses the library's short names for a template, and for its constructors. */
static void settle(struct fm_name_reader *in, struct fm_name_scope *scope)
{
    struct fm_name_component *c = scope->components;
    if (c == NULL)
        return;
    c += scope->count - 1;
    struct fm_name_component *before = scope->count > 1 ? c - 1 : NULL;
    if (before != NULL && before->written != NULL && c->arguments == NULL) {
        bool tilde = c->text[0] == '~';
        if (strcmp(c->text + tilde, before->written) == 0) {
            GString *own = g_string_new(tilde ? "~" : "");
            g_string_append(own, before->text);
            c->text = fm_name_keep(in->pool, own);
        }
    }
    if (c->arguments == NULL || scope->count != 2 || strcmp(scope->components[0].text, "std") != 0)
        return;
    g_autofree char *name = g_strconcat("std::", c->text, NULL);
    const char *texts[FM_CXX_LIBRARY_ARGUMENTS];
    if (c->arguments->count > G_N_ELEMENTS(texts))
        return;
    for (unsigned i = 0; i < c->arguments->count; i++)
        texts[i] = c->arguments->types[i]->text;
    c->arguments->count = fm_cxx_library_arguments(name, texts, c->arguments->count);
    g_autofree char *other = c->arguments->count == 1 ? fm_cxx_library_word(name, texts[0]) : NULL;
    if (other != NULL) {
        c->written = c->text;
        c->text = fm_name_text(in->pool, other, strlen(other));
        c->arguments = NULL;
    }
}

static size_t read_tags(struct fm_name_reader *in, size_t at, size_t end)
{
    while (fm_name_is_at(in, at, end, "[abi:") && in->close[at] != 0) {
        fm_name_drop(in, in->text + at + 5, in->close[at] - at - 5);
        at = in->close[at] + 1;
    }
    if (in->language == FM_NAME_RUST && at < end && in->text[at] == '[' && in->close[at] != 0)
        at = in->close[at] + 1;
    return at;
}

static size_t read_arguments(struct fm_name_reader *in, size_t at, size_t end,
                             struct fm_name_component *of)
{
    if (in->language == FM_NAME_RUST && fm_name_is_at(in, at, end, "::<") &&
        !fm_name_is_at(in, at, end, "::<impl "))
        at += 2;
    if (in->language == FM_NAME_D && fm_name_is_at(in, at, end, "!(")) {
        of->arguments = fm_name_read_list(in, at + 2, in->close[at + 1]);
        return in->close[at + 1] + 1;
    }
    if (in->language == FM_NAME_D && at + 1 < end && in->text[at] == '!' &&
        fm_name_is_letter(in->text[at + 1])) {
        size_t behind = at + 1;
        while (behind < end && fm_name_is_letter(in->text[behind]))
            behind++;
        of->arguments = fm_name_read_list(in, at + 1, behind);
        return behind;
    }
    if (at >= end || in->text[at] != '<' || in->close[at] == 0 ||
        fm_name_is_at(in, at, end, "<lambda") || of->kind != FM_NAME_WORD)
        return at;
    of->arguments = fm_name_read_list(in, at + 1, in->close[at]);
    return in->close[at] + 1;
}

static size_t read_component(struct fm_name_reader *in, size_t at, size_t end,
                             struct fm_name_scope *scope)
{
    unsigned before = scope->count;
    size_t behind = read_unnamed(in, at, end, scope);
    if (behind > at) {
        at = behind;
    } else if (in->language == FM_NAME_RUST && in->text[at] == '<') {
        return read_rust_type(in, at, end, scope);
    } else if (in->text[at] == '{' && in->close[at] != 0) { /* {{vtable.shim}}, {impl#1} */
        size_t from = at + 1 + (in->text[at + 1] == '{');
        size_t to = in->close[from - 1];
        if (!fm_name_is_at(in, from, to, "impl#"))
            fm_name_push(in->pool, scope, FM_NAME_WORD, in->text + from, to - from, in->separator);
        at = in->close[at] + 1;
    } else if (fm_name_is_at(in, at, end, "operator") &&
               (at + 8 == end || !fm_name_is_letter(in->text[at + 8])) &&
               in->language == FM_NAME_CXX) {
        at = read_operator(in, at, end, scope);
    } else {
        at = read_word(in, at, end, scope);
    }
    if (in->wrong || scope->count == before)
        return at;
    at = read_tags(in, at, end);
    at = read_arguments(in, at, end, &scope->components[scope->count - 1]);
    at = read_tags(in, at, end);
    settle(in, scope);
    return at;
}

bool fm_name_begins_scope(const struct fm_name_reader *in, size_t at, size_t end)
{
    if (at >= end)
        return false;
    if (fm_name_is_letter(in->text[at]))
        return true;
    if (in->text[at] == '~')
        return at + 1 < end && (fm_name_is_letter(in->text[at + 1]) || in->text[at + 1] == '{');
    return fm_name_is_at(in, at, end, "(anonymous namespace)") ||
           fm_name_is_at(in, at, end, "(anonymous class)") || in->text[at] == '{' ||
           fm_name_is_at(in, at, end, "<lambda") || fm_name_is_at(in, at, end, "<unnamed") ||
           fm_name_is_at(in, at, end, "'lambda") || fm_name_is_at(in, at, end, "'unnamed") ||
           (in->language == FM_NAME_RUST && in->text[at] == '<' && in->close[at] != 0);
}

size_t fm_name_read_scope(struct fm_name_reader *in, size_t at, size_t end,
                          struct fm_name_scope *scope)
{
    size_t separator = strlen(in->separator);
    while (!in->wrong) {
        if (!fm_name_begins_scope(in, at, end)) {
            in->wrong = true;
            break;
        }
        at = read_component(in, at, end, scope);
        if (in->wrong)
            break;
        if (scope->count > 0 && at < end && in->text[at] == '(' && in->close[at] != 0) {
            const char *quals = NULL;
            size_t behind = fm_name_read_quals(in, in->close[at] + 1, end, &quals);
            if (!fm_name_is_at(in, behind, end, in->separator))
                break;
            struct fm_name_list *list = fm_name_read_list(in, at + 1, in->close[at]);
            struct fm_name_component *last = &scope->components[scope->count - 1];
            last->parameters = list;
            last->quals = quals;
            at = behind;
        }
        if (fm_name_is_at(in, at, end, in->separator))
            at += separator;
        else if (!(in->language == FM_NAME_RUST && at < end && in->text[at] == '{'))
            break;
    }
    if (scope->count == 0)
        in->wrong = true;
    return at;
}

/* "3ul": the number alone. */
static size_t read_digits(struct fm_name_reader *in, size_t at, size_t end, GString *out)
{
    size_t behind = at;
    while (behind < end && g_ascii_isdigit(in->text[behind]))
        behind++;
    g_string_append_len(out, in->text + at, (gssize)(behind - at));
    at = behind;
    while (behind < end && (in->text[behind] == 'u' || in->text[behind] == 'l'))
        behind++;
    if (behind < end && fm_name_is_letter(in->text[behind]))
        g_string_append_len(out, in->text + at, (gssize)(behind - at));
    return behind;
}

struct fm_name_type *fm_name_read_type(struct fm_name_reader *in, size_t at, size_t end)
{
    struct fm_name_type *type = fm_name_take(in->pool, sizeof(*type));
    g_autoptr(GArray) pieces = g_array_new(FALSE, TRUE, sizeof(struct fm_name_piece));
    GString *text = g_string_new(NULL), *literal = g_string_new(NULL);
    while (at < end && in->text[at] == ' ')
        at++;
    while (end > at && in->text[end - 1] == ' ')
        end--;
    if (++in->depth > DEPTH_MAX)
        in->wrong = true;
    for (size_t start = at; at < end && !in->wrong;) {
        bool inside = at > start && fm_name_is_letter(in->text[at - 1]);
        if (g_ascii_isdigit(in->text[at])) {
            at = read_digits(in, at, end, literal);
        } else if (fm_name_begins_scope(in, at, end) && !inside && in->text[at] != '~' &&
                   !(in->text[at] == '{' && !fm_name_is_at(in, at, end, "{lambda") &&
                     !fm_name_is_at(in, at, end, "{closure"))) {
            struct fm_name_scope *scope = fm_name_take(in->pool, sizeof(*scope));
            at = fm_name_read_scope(in, at, end, scope);
            if (literal->len > 0) {
                g_string_append_len(text, literal->str, (gssize)literal->len);
                struct fm_name_piece piece = {
                    .literal = fm_name_text(in->pool, literal->str, literal->len)};
                g_array_append_val(pieces, piece);
                g_string_truncate(literal, 0);
            }
            struct fm_name_piece piece = {.scope = scope};
            g_array_append_val(pieces, piece);
            fm_name_append_scope(text, scope);
        } else {
            size_t behind = fm_name_behind_quote(in, at, end);
            if (fm_name_is_at(in, at, end, "->"))
                behind = at + 2;
            g_string_append_len(literal, in->text + at, (gssize)(behind - at));
            at = behind;
        }
    }
    in->depth--;
    if (literal->len > 0) {
        g_string_append_len(text, literal->str, (gssize)literal->len);
        struct fm_name_piece piece = {.literal =
                                          fm_name_text(in->pool, literal->str, literal->len)};
        g_array_append_val(pieces, piece);
    }
    g_string_free(literal, TRUE);
    type->text = fm_name_keep(in->pool, text);
    type->count = pieces->len;
    type->pieces = fm_name_take(in->pool, pieces->len * sizeof(*type->pieces));
    if (pieces->len > 0)
        memcpy(type->pieces, pieces->data, pieces->len * sizeof(*type->pieces));
    return type;
}

struct fm_name_list *fm_name_read_list(struct fm_name_reader *in, size_t at, size_t end)
{
    struct fm_name_list *list = fm_name_take(in->pool, sizeof(*list));
    g_autoptr(GPtrArray) types = g_ptr_array_new();
    for (size_t start = at; at <= end && !in->wrong;) {
        if (at == end || in->text[at] == ',') {
            if (at > start || types->len > 0)
                g_ptr_array_add(types, fm_name_read_type(in, start, at));
            start = ++at;
        } else if (in->close[at] != 0) {
            at = in->close[at] + 1;
        } else {
            at = MIN(fm_name_behind_quote(in, at, end), end);
        }
    }
    list->count = types->len;
    list->types = fm_name_take(in->pool, types->len * sizeof(struct fm_name_type *));
    if (types->len > 0)
        memcpy(list->types, types->pdata, types->len * sizeof(gpointer));
    return list;
}

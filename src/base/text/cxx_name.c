/* SPDX-License-Identifier: Apache-2.0 */
#include "base/text/cxx_name.h"

#include <glib.h>
#include <stdbool.h>
#include <string.h>

#define ARGUMENTS_MAX 5
#define DEPTH_MAX 200 /* maximum depth of brackets; compilers write less */

/* Default values of template arguments, where they have one: ISO C++, and libstdc++'s for its
 * internal classes. $0 and $1 are the first arguments. */
static const struct {
    const char *name;
    const char *defaults[ARGUMENTS_MAX];
} templates[] = {
#define SEQUENCE(name)                 \
    {                                  \
        name,                          \
        {                              \
            NULL, "std::allocator<$0>" \
        }                              \
    }
#define SET(name)                                       \
    {                                                   \
        name,                                           \
        {                                               \
            NULL, "std::less<$0>", "std::allocator<$0>" \
        }                                               \
    }
#define MAP(name)                                                                  \
    {                                                                              \
        name,                                                                      \
        {                                                                          \
            NULL, NULL, "std::less<$0>", "std::allocator<std::pair<$0 const, $1>>" \
        }                                                                          \
    }
#define HASH_SET(name)                                                       \
    {                                                                        \
        name,                                                                \
        {                                                                    \
            NULL, "std::hash<$0>", "std::equal_to<$0>", "std::allocator<$0>" \
        }                                                                    \
    }
#define HASH_MAP(name)                                        \
    {                                                         \
        name,                                                 \
        {                                                     \
            NULL, NULL, "std::hash<$0>", "std::equal_to<$0>", \
                "std::allocator<std::pair<$0 const, $1>>"     \
        }                                                     \
    }
#define CHARACTERS(name)                                       \
    {                                                          \
        name,                                                  \
        {                                                      \
            NULL, "std::char_traits<$0>", "std::allocator<$0>" \
        }                                                      \
    }
    SEQUENCE("std::vector"),
    SEQUENCE("std::deque"),
    SEQUENCE("std::list"),
    SEQUENCE("std::forward_list"),
    SEQUENCE("std::_Vector_base"),
    SEQUENCE("std::_Deque_base"),
    SEQUENCE("std::_List_base"),
    SET("std::set"),
    SET("std::multiset"),
    MAP("std::map"),
    MAP("std::multimap"),
    HASH_SET("std::unordered_set"),
    HASH_SET("std::unordered_multiset"),
    HASH_MAP("std::unordered_map"),
    HASH_MAP("std::unordered_multimap"),
    CHARACTERS("std::basic_string"),
    CHARACTERS("std::basic_string_view"),
    CHARACTERS("std::basic_ios"),
    CHARACTERS("std::basic_istream"),
    CHARACTERS("std::basic_ostream"),
    CHARACTERS("std::basic_iostream"),
    CHARACTERS("std::basic_streambuf"),
    CHARACTERS("std::basic_filebuf"),
    CHARACTERS("std::basic_ifstream"),
    CHARACTERS("std::basic_ofstream"),
    CHARACTERS("std::basic_fstream"),
    CHARACTERS("std::basic_stringbuf"),
    CHARACTERS("std::basic_istringstream"),
    CHARACTERS("std::basic_ostringstream"),
    CHARACTERS("std::basic_stringstream"),
    CHARACTERS("std::istreambuf_iterator"),
    CHARACTERS("std::ostreambuf_iterator"),
    {"std::unique_ptr", {NULL, "std::default_delete<$0>"}},
    {"std::stack", {NULL, "std::deque<$0>"}},
    {"std::queue", {NULL, "std::deque<$0>"}},
    {"std::priority_queue", {NULL, "std::vector<$0>", "std::less<$0>"}},
    {"std::basic_regex", {NULL, "std::regex_traits<$0>"}},
    {"std::match_results", {NULL, "std::allocator<std::sub_match<$0>>"}},
    {"std::_Rb_tree", {NULL, NULL, NULL, "std::less<$0>", "std::allocator<$1>"}},
};

static const char *const basics[] = {"ios",          "istream",   "ostream",       "iostream",
                                     "streambuf",    "filebuf",   "ifstream",      "fstream",
                                     "ofstream",     "stringbuf", "istringstream", "ostringstream",
                                     "stringstream", "regex"};

struct reading {
    const char *at;
    bool wrong; /* the brackets do not match */
    unsigned depth;
};

static void read_until(struct reading *in, GString *out, const char *ends);

static bool is_letter(char c)
{
    return g_ascii_isalnum(c) || c == '_' || c == '$';
}

/* Whether text is the default `pattern`, with "$0" and "$1" replaced by the arguments. */
static bool is_default(const char *pattern, const GPtrArray *arguments, const char *text)
{
    g_autoptr(GString) expected = g_string_new(NULL);
    for (; *pattern != '\0'; pattern++) {
        if (*pattern == '$')
            g_string_append(expected, g_ptr_array_index(arguments, (guint)(*++pattern - '0')));
        else
            g_string_append_c(expected, *pattern);
    }
    return strcmp(expected->str, text) == 0;
}

static void drop_defaults(const char *name, GPtrArray *arguments)
{
    for (size_t i = 0; i < G_N_ELEMENTS(templates); i++) {
        if (strcmp(templates[i].name, name) != 0)
            continue;
        while (arguments->len > 1 && arguments->len <= ARGUMENTS_MAX) {
            const char *pattern = templates[i].defaults[arguments->len - 1];
            const char *last = g_ptr_array_index(arguments, arguments->len - 1);
            if (pattern == NULL || !is_default(pattern, arguments, last))
                return;
            g_ptr_array_set_size(arguments, (gint)arguments->len - 1);
        }
    }
}

/* The library's short name of a template with one argument; NULL = none. */
static char *other_name(const char *name, const char *argument)
{
    static const struct {
        const char *argument, *prefix;
    } characters[] = {{"char", ""},
                      {"wchar_t", "w"},
                      {"char8_t", "u8"},
                      {"char16_t", "u16"},
                      {"char32_t", "u32"}};
    const char *kind = g_str_has_prefix(name, "std::basic_") ? name + strlen("std::basic_") : NULL;
    for (size_t i = 0; kind != NULL && i < G_N_ELEMENTS(characters); i++) {
        if (strcmp(argument, characters[i].argument) != 0)
            continue;
        bool known = strcmp(kind, "string") == 0 || strcmp(kind, "string_view") == 0;
        for (size_t k = 0; i < 2 && k < G_N_ELEMENTS(basics); k++)
            known = known || strcmp(kind, basics[k]) == 0;
        return known ? g_strdup_printf("std::%s%s", characters[i].prefix, kind) : NULL;
    }
    return NULL;
}

/* Reads template arguments after the opening bracket; out ends with the template's name. */
static void read_template(struct reading *in, GString *out)
{
    g_autoptr(GPtrArray) arguments = g_ptr_array_new_with_free_func(g_free);
    for (;;) {
        GString *argument = g_string_new(NULL);
        read_until(in, argument, ",>");
        g_ptr_array_add(arguments, g_strstrip(g_string_free(argument, FALSE)));
        if (in->wrong || *in->at++ == '>')
            break;
    }
    size_t start = out->len;
    while (start > 0 && (is_letter(out->str[start - 1]) || out->str[start - 1] == ':'))
        start--;
    const char *name = out->str + start;
    drop_defaults(name, arguments);
    g_autofree char *other =
        arguments->len == 1 ? other_name(name, g_ptr_array_index(arguments, 0)) : NULL;
    if (other != NULL) {
        g_string_truncate(out, start);
        g_string_append(out, other);
        return;
    }
    for (guint i = 0; i < arguments->len; i++)
        g_string_append_printf(out, "%s%s", i == 0 ? "<" : ", ",
                               (const char *)g_ptr_array_index(arguments, i));
    g_string_append_c(out, '>');
}

static void read_bracket(struct reading *in, GString *out)
{
    char open = *in->at++;
    if (++in->depth > DEPTH_MAX) {
        in->wrong = true;
        return;
    }
    if (open == '<') {
        read_template(in, out);
    } else {
        const char *end = open == '(' ? ")" : open == '[' ? "]" : "}";
        g_string_append_c(out, open);
        read_until(in, out, end);
        if (!in->wrong)
            g_string_append_c(out, *in->at++);
    }
    in->depth--;
}

/* Length of an operator symbol that contains brackets, or characters that look like them; a
 * template's brackets may follow. */
static size_t sign_size(const char *at)
{
    static const char *const signs[] = {"()", "[]", "->*", "->", "<<=", ">>=", "<=>", "<<",
                                        ">>", "<=", ">=",  "<",  ">",   "-=",  "-",   ","};
    for (size_t i = 0; i < G_N_ELEMENTS(signs); i++)
        if (g_str_has_prefix(at, signs[i]))
            return strlen(signs[i]);
    return 0;
}

/* Reads a word; omits inline namespaces of the library's versions. */
static void read_word(struct reading *in, GString *out)
{
    static const char *const versions[] = {"std::__cxx11::", "std::__1::"};
    for (size_t i = 0; i < G_N_ELEMENTS(versions); i++) {
        if (g_str_has_prefix(in->at, versions[i]) && !g_str_has_suffix(out->str, ":")) {
            g_string_append(out, "std::");
            in->at += strlen(versions[i]);
            return;
        }
    }
    size_t size = 0;
    while (is_letter(in->at[size]))
        size++;
    bool symbol = size == strlen("operator") && strncmp(in->at, "operator", size) == 0;
    if (symbol)
        size += sign_size(in->at + size);
    g_string_append_len(out, in->at, (gssize)size);
    in->at += size;
}

/* Reads up to one of the characters in ends, without it; "" = up to the end of the text. */
static void read_until(struct reading *in, GString *out, const char *ends)
{
    while (!in->wrong) {
        char c = *in->at;
        if (c == '\0' || strchr(ends, c) != NULL) {
            in->wrong = c == '\0' && ends[0] != '\0';
            return;
        }
        if (is_letter(c)) {
            read_word(in, out);
        } else if (strncmp(in->at, "->", 2) == 0) {
            g_string_append(out, "->");
            in->at += 2;
        } else if (strchr("<([{", c) != NULL) {
            read_bracket(in, out);
        } else if (strchr(">)]}", c) != NULL) {
            in->wrong = true;
        } else {
            g_string_append_c(out, c);
            in->at++;
        }
    }
}

char *fm_cxx_name_shorten(const char *name)
{
    struct reading in = {.at = name};
    GString *out = g_string_new(NULL);
    read_until(&in, out, "");
    if (!in.wrong)
        return g_string_free(out, FALSE);
    g_string_free(out, TRUE);
    return g_strdup(name);
}

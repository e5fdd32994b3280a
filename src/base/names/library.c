/* SPDX-License-Identifier: Apache-2.0 */
#include "base/names/library.h"

#include <glib.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

/* Default values of template arguments, where they have one: ISO C++, and libstdc++'s for its
 * internal classes. $0 and $1 are the first arguments. */
static const struct {
    const char *name;
    const char *defaults[FM_CXX_LIBRARY_ARGUMENTS];
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

/* Whether text is the default `pattern`, with "$0" and "$1" replaced by the arguments. */
static bool is_default(const char *pattern, const char *const *arguments, const char *text)
{
    for (; *pattern != '\0'; pattern++) {
        if (*pattern == '$') {
            const char *argument = arguments[*++pattern - '0'];
            if (!g_str_has_prefix(text, argument))
                return false;
            text += strlen(argument);
        } else if (*text++ != *pattern) {
            return false;
        }
    }
    return *text == '\0';
}

unsigned fm_cxx_library_arguments(const char *name, const char *const *arguments, unsigned count)
{
    if (count > FM_CXX_LIBRARY_ARGUMENTS || !g_str_has_prefix(name, "std::"))
        return count;
    for (size_t i = 0; i < G_N_ELEMENTS(templates); i++) {
        if (strcmp(templates[i].name, name) != 0)
            continue;
        for (; count > 1; count--) {
            const char *pattern = templates[i].defaults[count - 1];
            if (pattern == NULL || !is_default(pattern, arguments, arguments[count - 1]))
                break;
        }
    }
    return count;
}

char *fm_cxx_library_word(const char *name, const char *argument)
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
        return known ? g_strconcat(characters[i].prefix, kind, NULL) : NULL;
    }
    return NULL;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "base/text/cxx_name.h"

#include <glib.h>
#include <stdbool.h>
#include <string.h>

#include "base/names/library.h"

#define DEPTH_MAX 200 /* maximum depth of brackets; compilers write less */

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
    const char *const *texts = (const char *const *)arguments->pdata;
    g_ptr_array_set_size(arguments, (gint)fm_cxx_library_arguments(name, texts, arguments->len));
    g_autofree char *other = arguments->len == 1 ? fm_cxx_library_word(name, texts[0]) : NULL;
    if (other != NULL) {
        g_string_truncate(out, start);
        g_string_append_printf(out, "std::%s", other);
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

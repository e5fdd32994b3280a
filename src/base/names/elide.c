/* SPDX-License-Identifier: Apache-2.0 */
/* Cuts a short form in its middle. */
#include <stdbool.h>
#include <string.h>

#include <glib.h>

#include "base/names/names.h"

#define MARK "…"
#define KEPT \
    ((size_t)6) /* characters of a scope's or list's middle that stay at each of its ends */

/* The own name: from behind the last "::" or "." outside brackets, to its list. */
static void find_own(const char *text, const char **from, const char **to)
{
    int depth = 0;
    *from = text;
    *to = text + strlen(text);
    bool ended = false;
    for (const char *at = text; *at != '\0'; at++) {
        bool opens = strchr("(<[{", *at) != NULL, closes = strchr(")>]}", *at) != NULL;
        if (g_str_has_prefix(at, "operator")) {
            at += strlen("operator");
            while (*at != '\0' && strchr("<>=-!+*/&|^%~,()[]", *at) != NULL && *at != ' ')
                at++;
            *to = at;
            return;
        }
        if (depth == 0 && strncmp(at, "::", 2) == 0) {
            *from = at + 2;
            ended = false;
            *to = text + strlen(text);
        }
        if (depth == 0 && (opens || *at == ' ') && !ended && at > *from) {
            *to = at;
            ended = true;
        }
        depth += opens ? 1 : closes && depth > 0 ? -1 : 0;
    }
}

static const char *forward(const char *at, const char *end, size_t characters)
{
    while (characters-- > 0 && at < end)
        at += g_utf8_skip[(guchar)*at];
    return MIN(at, end);
}

static const char *backward(const char *start, const char *at, size_t characters)
{
    while (characters-- > 0 && at > start)
        at = g_utf8_prev_char(at);
    return at;
}

/* Appends a part with its middle cut so that it is `over` characters shorter, or as short as it may
 * be. */
static size_t append_cut(GString *out, const char *from, const char *to, size_t over)
{
    size_t size = (size_t)g_utf8_strlen(from, to - from);
    if (over == 0 || size <= 2 * KEPT + 1) {
        g_string_append_len(out, from, to - from);
        return 0;
    }
    size_t cut = MIN(over + 1, size - 2 * KEPT);
    const char *behind = backward(from, to, MAX(KEPT, (size - cut) / 2));
    const char *before =
        forward(from, behind, size - cut - (size_t)g_utf8_strlen(behind, to - behind));
    g_string_append_len(out, from, before - from);
    g_string_append(out, MARK);
    g_string_append_len(out, behind, to - behind);
    return cut - 1;
}

char *fm_name_elide(const char *text, size_t width)
{
    g_return_val_if_fail(text != NULL, NULL);
    size_t size = (size_t)g_utf8_strlen(text, -1);
    if (size <= width || !g_utf8_validate(text, -1, NULL))
        return g_strdup(text);
    const char *from, *to, *end = text + strlen(text);
    find_own(text, &from, &to);
    size_t over = size - width;
    GString *out = g_string_new(NULL);
    size_t cut = append_cut(out, text, from, over);
    over -= MIN(over, cut);
    g_string_append_len(out, from, to - from);
    append_cut(out, to, end, over);
    return g_string_free(out, FALSE);
}

static char *elide_path(const char *path, size_t width)
{
    size_t size = (size_t)g_utf8_strlen(path, -1);
    const char *name = strrchr(path, '/');
    if (size <= width || name == NULL || !g_utf8_validate(path, -1, NULL))
        return g_strdup(path);
    GString *out = g_string_new(NULL);
    append_cut(out, path, name, size - width);
    g_string_append(out, name);
    return g_string_free(out, FALSE);
}

/* The same for texts that stand together: equal ones get more room. */
static char **elide_all(char *const *texts, size_t count, size_t width,
                        char *(*elide)(const char *, size_t))
{
    char **cut = g_new0(char *, count + 1);
    g_autofree bool *again = g_new0(bool, count + 1);
    for (size_t i = 0; i < count; i++)
        cut[i] = elide(texts[i], width);
    size_t room = width;
    for (unsigned round = 0; round <= 4; round++) { /* the last round cuts nothing */
        g_autoptr(GHashTable) known = g_hash_table_new(g_str_hash, g_str_equal);
        bool equal = false;
        for (size_t i = 0; i < count; i++) {
            gpointer other = NULL;
            again[i] = false;
            if (g_hash_table_lookup_extended(known, cut[i], NULL, &other) &&
                strcmp(texts[i], texts[GPOINTER_TO_SIZE(other)]) != 0)
                equal = again[i] = again[GPOINTER_TO_SIZE(other)] = true;
            else
                g_hash_table_insert(known, cut[i], GSIZE_TO_POINTER(i));
        }
        if (!equal)
            break;
        g_hash_table_remove_all(known);
        room += width / 2;
        for (size_t i = 0; i < count; i++) {
            if (!again[i])
                continue;
            g_free(cut[i]);
            cut[i] = round == 4 ? g_strdup(texts[i]) : elide(texts[i], room);
        }
    }
    return cut;
}

char **fm_names_elide(char *const *texts, size_t count, size_t width)
{
    return elide_all(texts, count, width, fm_name_elide);
}

char **fm_paths_elide(char *const *paths, size_t count, size_t width)
{
    return elide_all(paths, count, width, elide_path);
}

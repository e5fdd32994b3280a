/* SPDX-License-Identifier: Apache-2.0 */
/* Suggestions for an unknown command. */
#include <string.h>

#include "base/text/distance.h"
#include "query/query_internal.h"

#define NEAR_MAX 2u /* maximum edit distance */

static const char *nearest(const char *word)
{
    const char *best = NULL;
    unsigned least = NEAR_MAX + 1;
    for (unsigned id = 0; id < FM_CMD_COUNT; id++) {
        unsigned changes = fm_text_distance(word, fm_command_forms[id].name);
        if (changes < least && changes < strlen(word)) {
            least = changes;
            best = fm_command_forms[id].name;
        }
    }
    return best;
}

/* "memory/allocated or leaks"; NULL: nothing is called so. */
static char *related(const char *word)
{
    g_autoptr(GString) out = g_string_new(NULL);
    for (unsigned id = 0; id < FM_CMD_COUNT; id++) {
        const struct fm_command_form *form = &fm_command_forms[id];
        const char *usual = form->example != NULL ? form->example : form->name;
        for (unsigned i = 0; i < FM_COMMAND_ALIASES_MAX && form->aliases[i].word != NULL; i++) {
            const char *address = form->aliases[i].address;
            if (g_ascii_strcasecmp(form->aliases[i].word, word) == 0)
                g_string_append_printf(out, "%s%s", out->len > 0 ? " or " : "",
                                       address != NULL ? address : usual);
        }
    }
    return out->len > 0 ? g_string_free(g_steal_pointer(&out), FALSE) : NULL;
}

bool fm_command_is_word(const char *word)
{
    g_return_val_if_fail(word != NULL, false);
    g_autofree char *meant = related(word);
    for (unsigned id = 0; id < FM_CMD_COUNT; id++)
        if (strcmp(fm_command_forms[id].name, word) == 0)
            return true;
    return meant != NULL;
}

char *fm_command_suggestion(const char *word)
{
    g_return_val_if_fail(word != NULL, NULL);
    g_autofree char *meant = related(word);
    if (meant == NULL)
        meant = g_strdup(nearest(word));
    GString *out = g_string_new(NULL);
    if (meant != NULL)
        g_string_append_printf(out, "; perhaps %s is meant", meant);
    g_string_append(out, "; the commands are");
    const char *between = " ";
    for (unsigned id = 0; id < FM_CMD_COUNT; id++) {
        if (fm_command_forms[id].unlisted)
            continue;
        g_string_append_printf(out, "%s%s", between, fm_command_forms[id].name);
        between = ", ";
    }
    return g_string_free(out, FALSE);
}

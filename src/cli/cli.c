/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <string.h>

#include "base/text/distance.h"
#include "cli/cli.h"
#include "profile/measures/measures.h"

/* GLib takes "--switch=no" for "--switch". The name of such an option, or NULL. */
static const char *switch_with_value(const GOptionEntry *entries, char **arguments)
{
    for (char **at = arguments; *at != NULL && strcmp(*at, "--") != 0; at++) {
        const char *equals = strchr(*at, '=');
        if (equals == NULL || strncmp(*at, "--", 2) != 0)
            continue;
        size_t size = (size_t)(equals - (*at + 2));
        for (const GOptionEntry *entry = entries; entry->long_name != NULL; entry++) {
            if (entry->arg == G_OPTION_ARG_NONE && strlen(entry->long_name) == size &&
                strncmp(entry->long_name, *at + 2, size) == 0)
                return entry->long_name;
        }
    }
    return NULL;
}

void fm_cli_ask_no_server(void)
{
    g_unsetenv("DEBUGINFOD_URLS");
}

#define CHANGES_MAX 2u /* letters that may differ in a word that was meant */

/* The option most like the first of the words that is none of them; NULL = none is. */
static const char *nearest_option(const GOptionEntry *entries, char **words)
{
    for (; *words != NULL && strcmp(*words, "--") != 0; words++) {
        if (!g_str_has_prefix(*words, "--"))
            continue;
        g_autofree char *word = g_strndup(*words + 2, strcspn(*words + 2, "="));
        const char *best = NULL;
        unsigned least = CHANGES_MAX + 1;
        for (const GOptionEntry *entry = entries; entry->long_name != NULL; entry++) {
            unsigned changes = fm_text_distance(word, entry->long_name);
            if (changes < least && changes < strlen(word)) {
                least = changes;
                best = entry->long_name;
            }
        }
        if (least > 0) /* at 0 it is one of them */
            return best;
    }
    return NULL;
}

int fm_cli_parse(int *argc, char ***argv, const GOptionEntry *entries, const char *arguments,
                 const char *description, const char *example)
{
    const char *name = (*argv)[0];
    g_autofree char *program = g_strdup_printf("fathom %s", name);
    g_set_prgname(program);
    g_autoptr(GOptionContext) context = g_option_context_new(arguments);
    g_option_context_set_help_enabled(context, FALSE);
    g_option_context_set_summary(context, description);
    g_autofree char *epilogue = g_strdup_printf("Example:\n  %s", example);
    g_option_context_set_description(context, epilogue);
    gboolean help = FALSE;
    const GOptionEntry help_entry[] = {
        {"help", 'h', 0, G_OPTION_ARG_NONE, &help, "Show this help", NULL},
        {NULL},
    };
    g_option_context_add_main_entries(context, help_entry, NULL);
    g_option_context_add_main_entries(context, entries, NULL);
    g_autoptr(GError) error = NULL;
    const char *wrong = switch_with_value(entries, *argv + 1);
    if (wrong != NULL)
        return fm_console_usage(name, "--%s takes no value", wrong);
    if (!g_option_context_parse(context, argc, argv, &error)) {
        bool unknown = g_error_matches(error, G_OPTION_ERROR, G_OPTION_ERROR_UNKNOWN_OPTION);
        const char *meant = unknown ? nearest_option(entries, *argv + 1) : NULL;
        return meant != NULL
                   ? fm_console_usage(name, "%s; perhaps --%s is meant", error->message, meant)
                   : fm_console_usage(name, "%s; `fathom %s --help` lists the options",
                                      error->message, name);
    }
    if (help) {
        g_autofree char *text = g_option_context_get_help(context, TRUE, NULL);
        fputs(text, stdout);
        return FM_EXIT_DONE;
    }
    return -1;
}

bool fm_cli_parse_percent(const char *text, double *ret)
{
    char *end;
    double percent = g_ascii_strtod(text, &end);
    if (end == text || (*end != '\0' && strcmp(end, "%") != 0) || !(percent >= 0 && percent <= 100))
        return false;
    *ret = percent;
    return true;
}

int fm_cli_refuse_measure(const char *command, const char *word, const char *also)
{
    g_autoptr(GString) words = g_string_new(also);
    for (unsigned i = 0; i < G_N_ELEMENTS(fm_tree_words); i++)
        g_string_append_printf(words, "%s%s", words->len > 0 ? ", " : "", fm_tree_words[i]);
    return fm_console_usage(command, "--by=%s: expected one of %s", word, words->str);
}

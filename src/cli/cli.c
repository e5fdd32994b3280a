/* SPDX-License-Identifier: Apache-2.0 */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/text/utf8.h"
#include "cli/cli.h"

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
        return fm_cli_usage(name, "--%s takes no value", wrong);
    if (!g_option_context_parse(context, argc, argv, &error))
        return fm_cli_usage(name, "%s", error->message);
    if (help) {
        g_autofree char *text = g_option_context_get_help(context, TRUE, NULL);
        fputs(text, stdout);
        return FM_EXIT_DONE;
    }
    return -1;
}

void fm_cli_print_error(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    g_autofree char *text = g_strdup_vprintf(format, arguments);
    va_end(arguments);
    g_autoptr(GString) clean = g_string_new(NULL);
    g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
    for (unsigned i = 0; lines[i] != NULL; i++) {
        if (i > 0)
            g_string_append_c(clean, '\n');
        fm_utf8_append_clean(clean, lines[i]);
    }
    if (clean->len == 0 || clean->str[clean->len - 1] != '\n')
        g_string_append_c(clean, '\n');
    fputs(clean->str, stderr);
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

int fm_cli_fail(const char *command, GError *error)
{
    bool usage = g_error_matches(error, FM_ERROR, FM_ERROR_USAGE);
    fm_cli_print_error("fathom %s: %s", command, error->message);
    g_error_free(error);
    return usage ? FM_EXIT_USAGE : FM_EXIT_FAILED;
}

int fm_cli_usage(const char *command, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    g_autofree char *message = g_strdup_vprintf(format, arguments);
    va_end(arguments);
    fm_cli_print_error("fathom%s%s: %s", command == NULL ? "" : " ", command == NULL ? "" : command,
                       message);
    return FM_EXIT_USAGE;
}

struct progress_state {
    gint64 begun_us, shown_us;
    bool shown;
};

static bool show_progress(void *user, const char *step, uint64_t done, uint64_t total)
{
    struct progress_state *state = user;
    gint64 now = g_get_monotonic_time();
    if (now - state->begun_us < 500000 || now - state->shown_us < 100000)
        return true;
    state->shown_us = now;
    state->shown = true;
    if (total > 0)
        fprintf(stderr, "\r\033[K%s %3.0f %%", step, 100.0 * (double)done / (double)total);
    else
        fprintf(stderr, "\r\033[K%s ...", step);
    return true;
}

void fm_cli_progress_begin(struct fm_progress *ret)
{
    *ret = (struct fm_progress){NULL, NULL};
    if (!isatty(STDERR_FILENO))
        return;
    struct progress_state *state = g_new0(struct progress_state, 1);
    state->begun_us = g_get_monotonic_time();
    *ret = (struct fm_progress){show_progress, state};
}

void fm_cli_progress_end(struct fm_progress *progress)
{
    struct progress_state *state = progress->user;
    if (state == NULL)
        return;
    if (state->shown)
        fputs("\r\033[K", stderr);
    g_free(state);
    *progress = (struct fm_progress){NULL, NULL};
}

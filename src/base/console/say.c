/* SPDX-License-Identifier: Apache-2.0 */
#include "base/console/say.h"

#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

#include "base/error.h"
#include "base/text/utf8.h"

void fm_console_print_error(const char *format, ...)
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

int fm_console_fail(const char *command, GError *error)
{
    bool usage = g_error_matches(error, FM_ERROR, FM_ERROR_USAGE);
    fm_console_print_error("fathom %s: %s", command, error->message);
    g_error_free(error);
    return usage ? FM_EXIT_USAGE : FM_EXIT_FAILED;
}

int fm_console_usage(const char *command, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    g_autofree char *message = g_strdup_vprintf(format, arguments);
    va_end(arguments);
    fm_console_print_error("fathom%s%s: %s", command == NULL ? "" : " ",
                           command == NULL ? "" : command, message);
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

void fm_console_progress_begin(struct fm_progress *ret)
{
    *ret = (struct fm_progress){NULL, NULL};
    if (!isatty(STDERR_FILENO))
        return;
    struct progress_state *state = g_new0(struct progress_state, 1);
    state->begun_us = g_get_monotonic_time();
    *ret = (struct fm_progress){show_progress, state};
}

void fm_console_progress_end(struct fm_progress *progress)
{
    struct progress_state *state = progress->user;
    if (state == NULL)
        return;
    if (state->shown)
        fputs("\r\033[K", stderr);
    g_free(state);
    *progress = (struct fm_progress){NULL, NULL};
}

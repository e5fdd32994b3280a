/* SPDX-License-Identifier: Apache-2.0 */
/* Apart from the screen, as term.h has names like "lines" and "columns" for itself. */
#include "cli/top/terminal.h"

#include <curses.h>
#include <glib.h>
#include <signal.h>
#include <string.h>
#include <term.h>
#include <termios.h>
#include <unistd.h>

#define LEAVE_BYTES 256

/* After a failure of the program itself (SIGABRT, say) the handler does not return. What a terminal
 * needs is prepared in advance, as the handler may call nothing but write() and tcsetattr(). */
static const int failing[] = {SIGABRT, SIGSEGV, SIGBUS, SIGILL, SIGFPE};
static struct {
    struct termios before;
    bool known;
    bool taken[G_N_ELEMENTS(failing)]; /* these signals */
    char leave[LEAVE_BYTES];           /* the sequences that end the screen */
    size_t leave_bytes;
} terminal_before;

static void on_failure(int number)
{
    for (size_t at = 0; at < terminal_before.leave_bytes;) {
        ssize_t wrote =
            write(STDOUT_FILENO, terminal_before.leave + at, terminal_before.leave_bytes - at);
        if (wrote <= 0)
            break;
        at += (size_t)wrote;
    }
    if (terminal_before.known)
        tcsetattr(STDIN_FILENO, TCSANOW, &terminal_before.before);
    signal(number, SIG_DFL);
    raise(number);
}

void fm_terminal_note(void)
{
    terminal_before.known = tcgetattr(STDIN_FILENO, &terminal_before.before) == 0;
}

/* Delays (in "$<>") are for terminals of another age. */
void fm_terminal_guard(void)
{
    static const char *const names[] = {"sgr0", "rmkx", "cnorm", "rmcup"};
    for (size_t i = 0; i < G_N_ELEMENTS(names); i++) {
        const char *text = tigetstr(names[i]);
        if (text == NULL || text == (char *)-1)
            continue;
        while (*text != '\0' && terminal_before.leave_bytes < LEAVE_BYTES) {
            const char *delay_end = g_str_has_prefix(text, "$<") ? strchr(text, '>') : NULL;
            if (delay_end == NULL)
                terminal_before.leave[terminal_before.leave_bytes++] = *text;
            text = delay_end == NULL ? text + 1 : delay_end + 1;
        }
    }
    for (size_t i = 0; i < G_N_ELEMENTS(failing); i++) {
        struct sigaction now;
        terminal_before.taken[i] =
            sigaction(failing[i], NULL, &now) == 0 && now.sa_handler == SIG_DFL;
        if (terminal_before.taken[i]) /* else somebody knows better what it means */
            signal(failing[i], on_failure);
    }
}

void fm_terminal_release(void)
{
    for (size_t i = 0; i < G_N_ELEMENTS(failing); i++)
        if (terminal_before.taken[i])
            signal(failing[i], SIG_DFL);
}

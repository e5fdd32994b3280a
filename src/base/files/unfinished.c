/* SPDX-License-Identifier: Apache-2.0 */
#include "base/files/unfinished.h"

#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <unistd.h>

#define UNFINISHED_MAX 64u
static _Atomic(char *) unfinished[UNFINISHED_MAX];

void fm_unfinished_note(char *path)
{
    for (unsigned i = 0; i < UNFINISHED_MAX; i++) {
        char *none = NULL;
        if (atomic_compare_exchange_strong(&unfinished[i], &none, path))
            return;
    }
}

void fm_unfinished_forget(char *path)
{
    for (unsigned i = 0; i < UNFINISHED_MAX; i++) {
        char *name = path;
        if (atomic_compare_exchange_strong(&unfinished[i], &name, NULL))
            return;
    }
}

void fm_unfinished_remove(void)
{
    for (unsigned i = 0; i < UNFINISHED_MAX; i++) {
        const char *name = atomic_load(&unfinished[i]);
        if (name != NULL && (unlink(name) == 0 || errno != EISDIR))
            atomic_store(&unfinished[i], NULL);
    }
    for (unsigned i = 0; i < UNFINISHED_MAX; i++) {
        const char *name = atomic_exchange(&unfinished[i], NULL);
        if (name != NULL)
            rmdir(name);
    }
}

static void remove_and_end(int number)
{
    fm_unfinished_remove();
    signal(number, SIG_DFL);
    raise(number); /* takes effect when the handler has returned */
}

void fm_unfinished_remove_at_signals(void)
{
    static const int ending[] = {SIGINT, SIGTERM, SIGHUP};
    for (unsigned i = 0; i < sizeof ending / sizeof *ending; i++) {
        struct sigaction now;
        if (sigaction(ending[i], NULL, &now) != 0 || now.sa_handler != SIG_DFL)
            continue;
        now = (struct sigaction){.sa_handler = remove_and_end, .sa_flags = SA_RESTART};
        sigaction(ending[i], &now, NULL);
    }
}

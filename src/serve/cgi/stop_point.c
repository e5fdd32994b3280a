/* SPDX-License-Identifier: Apache-2.0 */
#include "serve/cgi/stop_point.h"

#ifdef FATHOM_TEST_HOOKS
#include <errno.h>
#include <fcntl.h>
#include <glib.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool may_act(const char *name)
{
    const char *once = getenv("FATHOM_STOP_ONCE");
    if (once == NULL)
        return true;
    g_autofree char *marker = g_strdup_printf("%s.%s", once, name);
    int fd = open(marker, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0600);
    if (fd >= 0)
        close(fd);
    return fd >= 0;
}

/* The action set for a point ("kill", "sleep:2000"), or NULL; the caller frees. */
static char *find_action(const char *name)
{
    const char *all = getenv("FATHOM_STOP");
    if (all == NULL)
        return NULL;
    g_auto(GStrv) items = g_strsplit(all, ",", -1);
    for (char **item = items; *item != NULL; item++) {
        char *equals = strchr(*item, '=');
        if (equals == NULL)
            continue;
        *equals = '\0';
        if (strcmp(*item, name) == 0)
            return g_strdup(equals + 1);
    }
    return NULL;
}

void fm_cgi_stop_point(const char *name)
{
    g_autofree char *action = find_action(name);
    if (action == NULL || g_str_has_prefix(action, "fail:") || !may_act(name))
        return;
    if (strcmp(action, "kill") == 0)
        raise(SIGKILL);
    else if (strcmp(action, "stop") == 0)
        raise(SIGSTOP);
    else if (g_str_has_prefix(action, "sleep:"))
        g_usleep(strtoul(action + 6, NULL, 10) * 1000);
}

int fm_cgi_fail_point(const char *name)
{
    g_autofree char *action = find_action(name);
    if (action == NULL || !g_str_has_prefix(action, "fail:") || !may_act(name))
        return 0;
    return atoi(action + 5);
}
#endif

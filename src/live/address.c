/* SPDX-License-Identifier: Apache-2.0 */
#include "live/address.h"

#include <glib.h>
#include <stdint.h>
#include <stdlib.h>

static bool has_display(void)
{
    const char *x11 = getenv("DISPLAY"), *wayland = getenv("WAYLAND_DISPLAY");
    return (x11 != NULL && x11[0] != '\0') || (wayland != NULL && wayland[0] != '\0');
}

static bool open_browser(const char *url)
{
    char *command[] = {(char *)(uintptr_t) "xdg-open", (char *)(uintptr_t)url, NULL};
    return has_display() &&
           g_spawn_async(NULL, command, NULL,
                         G_SPAWN_SEARCH_PATH | G_SPAWN_STDOUT_TO_DEV_NULL |
                             G_SPAWN_STDERR_TO_DEV_NULL | G_SPAWN_STDIN_FROM_DEV_NULL,
                         NULL, NULL, NULL, NULL);
}

void fm_live_show_address(const char *url, bool open, const char *hint, FILE *to)
{
    bool opened = open && open_browser(url);
    fprintf(to, "fathom: serving %s\n", url);
    if (!opened)
        fprintf(to, "%s\n", hint);
    fflush(to);
}

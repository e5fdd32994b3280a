/* SPDX-License-Identifier: Apache-2.0 */
#include "base/process.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <glib.h>

char *fm_process_text(int pid, const char *name)
{
    g_autofree char *path = g_strdup_printf("/proc/%d/%s", pid, name);
    char *text;
    return g_file_get_contents(path, &text, NULL, NULL) ? text : NULL;
}

bool fm_process_read(int pid, int tid, const char *name, char *text, size_t size)
{
    char path[96];
    g_snprintf(path, sizeof path, "/proc/%d/task/%d/%s", pid, tid, name);
    int file = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t got = file >= 0 ? read(file, text, size - 1) : -1;
    if (file >= 0)
        close(file);
    text[got > 0 ? got : 0] = '\0';
    return got > 0;
}

const char *fm_process_field(const char *stat, enum fm_process_field field)
{
    const char *at = strrchr(stat, ')');
    if (at == NULL || at[1] != ' ')
        return NULL;
    for (unsigned number = FM_PROCESS_STATE - 1; number < field && at != NULL; number++) {
        at = strchr(at, ' ');
        at = at == NULL ? NULL : at + 1;
    }
    return at;
}

char fm_process_state(int pid, int tid)
{
    char text[512];
    const char *state = fm_process_read(pid, tid, "stat", text, sizeof text)
                            ? fm_process_field(text, FM_PROCESS_STATE)
                            : NULL;
    return state == NULL ? 0 : *state;
}

bool fm_process_counts(int pid, int tid, struct fm_process_counts *ret)
{
    char text[96];
    unsigned long long ran, queued, turns;
    if (!fm_process_read(pid, tid, "schedstat", text, sizeof text) ||
        sscanf(text, "%llu %llu %llu", &ran, &queued, &turns) != 3)
        return false;
    *ret = (struct fm_process_counts){ran, queued, turns};
    return true;
}

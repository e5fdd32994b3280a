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

int fm_process_inner(int pid, int tid)
{
    char text[4096];
    if (!fm_process_read(pid, tid, "status", text, sizeof text))
        return 0;
    const char *at = strstr(text, "\nNSpid:"); /* of all namespaces, the innermost last */
    if (at == NULL)
        return tid;
    g_autofree char *line = g_strndup(at + 1, strcspn(at + 1, "\n"));
    const char *last = strrchr(line, '\t');
    return last == NULL ? tid : (int)g_ascii_strtoll(last + 1, NULL, 10);
}

static char *link_of(int pid, const char *name)
{
    g_autofree char *path = g_strdup_printf("/proc/%d/%s", pid, name);
    return g_file_read_link(path, NULL);
}

char *fm_process_root(int pid)
{
    g_autofree char *own = link_of((int)getpid(), "ns/mnt"), *other = link_of(pid, "ns/mnt");
    g_autofree char *root = link_of(pid, "root");
    if (root == NULL || (g_strcmp0(own, other) == 0 && strcmp(root, "/") == 0))
        return NULL;
    return g_strdup_printf("/proc/%d/root", pid);
}

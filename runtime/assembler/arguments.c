/* SPDX-License-Identifier: Apache-2.0 */
#include "arguments.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

bool fm_as_takes_argument(const char *option)
{
    static const char *const list[] = {"-o", "-I", "--defsym", "--MD", "-MD", NULL};
    for (unsigned i = 0; list[i] != NULL; i++)
        if (strcmp(option, list[i]) == 0)
            return true;
    return false;
}

char *fm_as_take_first_lines(int *argc, char **argv)
{
    static const char option[] = "--fathom-first=";
    size_t size = 1;
    for (int i = 1; i < *argc; i++)
        size += strlen(argv[i]) + 1;
    char *lines = calloc(size, 1), *end = lines;
    int kept = 1;
    for (int i = 1; i < *argc && lines != NULL; i++) {
        if (strncmp(argv[i], option, sizeof option - 1) == 0)
            end += sprintf(end, "%s\n", argv[i] + sizeof option - 1);
        else
            argv[kept++] = argv[i];
    }
    if (lines != NULL)
        *argc = kept;
    argv[*argc] = NULL;
    return lines;
}

char *fm_as_put_first(char *lines, char *all)
{
    if (lines == NULL || all == NULL || lines[0] == '\0') {
        free(lines);
        return all;
    }
    size_t before = strlen(lines), size = strlen(all) + 1;
    char *both = realloc(lines, before + size);
    if (both != NULL)
        memcpy(both + before, all, size);
    else
        free(lines);
    free(all);
    return both;
}

int fm_as_open_temporary(char *path, size_t size)
{
    const char *const folders[] = {getenv("TMPDIR"), getenv("TMP"), getenv("TEMP"),
                                   "/tmp",           "/var/tmp",    "."};
    for (unsigned i = 0; i < sizeof folders / sizeof *folders; i++) {
        if (folders[i] == NULL || folders[i][0] == '\0' ||
            (size_t)snprintf(path, size, "%s/fathom-XXXXXX.s", folders[i]) >= size)
            continue;
        int fd = mkstemps(path, 2);
        if (fd >= 0)
            return fd;
    }
    return -1;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "choice.h"

#include <stdlib.h>
#include <string.h>

#define PATTERN "\t.asciz \""
#define FILES_MAX 100000u

bool fm_choice_read(struct fm_choice *choice, const char *text)
{
    *choice = (struct fm_choice){0};
    if (strstr(text, "fathom_choice") == NULL)
        return true;
    for (const char *at = text; (at = strstr(at, PATTERN)) != NULL;) {
        at += strlen(PATTERN);
        if (strncmp(at, "+system:", 8) == 0)
            choice->with_system = true;
        if (strncmp(at, "-function:", 10) != 0 && strncmp(at, "-file:", 6) != 0)
            continue;
        const char **more = realloc(choice->patterns, (choice->pattern_count + 1) * sizeof *more);
        if (more == NULL)
            return false;
        choice->patterns = more;
        choice->patterns[choice->pattern_count++] = at;
    }
    return true;
}

void fm_choice_done(struct fm_choice *choice)
{
    for (size_t i = 0; i < choice->file_count; i++)
        free(choice->files[i]);
    free(choice->files);
    free(choice->patterns);
}

/* "folder" "name", or only the name; a name may be a whole path. NULL: no memory, or no path. */
static char *path_of(const char *quoted)
{
    size_t room = strcspn(quoted, "\n") + 2, used = 0;
    char *path = malloc(room);
    if (path == NULL)
        return NULL;
    path[0] = '\0';
    while (*quoted == '"') {
        size_t length = strcspn(++quoted, "\"\n");
        if (used > 0 && length > 0 && quoted[0] != '/')
            path[used++] = '/';
        else if (length > 0)
            used = 0;
        memcpy(path + used, quoted, length);
        used += length;
        path[used] = '\0';
        quoted += length + (quoted[length] == '"');
        quoted += strspn(quoted, " \t");
    }
    return path;
}

void fm_choice_note(struct fm_choice *choice, const char *line)
{
    if (strncmp(line, ".file", 5) != 0 || (line[5] != ' ' && line[5] != '\t'))
        return;
    char *rest;
    unsigned long number = strtoul(line + 6, &rest, 10);
    if (rest == line + 6 || number >= FILES_MAX)
        return;
    if (number >= choice->file_count) {
        size_t count = number * 2 + 16;
        char **more = realloc(choice->files, count * sizeof *more);
        if (more == NULL)
            return;
        for (size_t i = choice->file_count; i < count; i++)
            more[i] = NULL;
        choice->files = more;
        choice->file_count = count;
    }
    free(choice->files[number]);
    choice->files[number] = path_of(rest + strspn(rest, " \t"));
}

static bool holds(const char *text, const char *pattern)
{
    size_t length = strcspn(pattern, "\"\n");
    for (const char *at = text; length > 0 && *at != '\0'; at++)
        if (strncmp(at, pattern, length) == 0)
            return true;
    return false;
}

static bool is_system(const char *path)
{
    static const char *const folders[] = {"/usr/include/", "/usr/lib/gcc/", "/usr/lib/llvm-",
                                          "/usr/bin/../" /* clang */};
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++)
        if (strncmp(path, folders[i], strlen(folders[i])) == 0)
            return true;
    return false;
}

static const char *file_at(const struct fm_choice *choice, unsigned file)
{
    return file < choice->file_count ? choice->files[file] : NULL;
}

/* Whether the code of the function that follows contains lines of a file that is not the system's:
 * those of user functions that the compiler inlined, as lambdas, comparisons, constructors. */
static bool has_users_code(struct fm_choice *choice, const char *rest)
{
    for (; *rest != '\0'; rest += strcspn(rest, "\n"), rest += *rest == '\n') {
        rest += strspn(rest, " \t");
        if (strncmp(rest, ".cfi_endproc", 12) == 0 || strncmp(rest, ".size", 5) == 0)
            return false;
        fm_choice_note(choice, rest);
        if (strncmp(rest, ".loc", 4) != 0 || (rest[4] != ' ' && rest[4] != '\t'))
            continue;
        const char *path = file_at(choice, (unsigned)strtoul(rest + 5, NULL, 10));
        if (path != NULL && !is_system(path))
            return true;
    }
    return false;
}

bool fm_choice_leaves_out(struct fm_choice *choice, const char *function, unsigned file,
                          const char *rest)
{
    const char *path = file_at(choice, file);
    if (path != NULL && !choice->with_system && is_system(path) && !has_users_code(choice, rest))
        return true;
    path = file_at(choice, file); /* noting the files of its lines may have moved them */
    for (size_t i = 0; i < choice->pattern_count; i++) {
        const char *pattern = choice->patterns[i];
        bool by_file = strncmp(pattern, "-file:", 6) == 0;
        const char *text = by_file ? path : function;
        if (text != NULL && holds(text, pattern + (by_file ? 6 : 10)))
            return true;
    }
    return false;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/record/starting/preloading.h"

#include <glib.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/text/shell.h"
#include "cli/cli.h"
#include "record/toolchain/preloadable.h"
#include "record/toolchain/toolchain.h"

/* Caller frees; NULL after a message. The loader takes spaces and colons for ends of names. */
static char *library_path(void)
{
    GError *error = NULL;
    g_autofree char *folder = fm_toolchain_runtime_folder(&error);
    if (folder == NULL) {
        fm_console_print_error("record: %s", error->message);
        g_error_free(error);
        return NULL;
    }
    g_autofree char *whole = g_canonicalize_filename(folder, NULL);
    g_autofree char *path = g_build_filename(whole, "libfathom-preload.so", NULL);
    if (!g_file_test(path, G_FILE_TEST_IS_REGULAR)) {
        fm_console_print_error("record: %s is missing: fathom is not installed completely", path);
        return NULL;
    }
    if (strpbrk(path, " :") != NULL) {
        fm_console_print_error(
            "record: %s: cannot be loaded into programs, as its path has a space or "
            "a colon",
            path);
        return NULL;
    }
    return g_steal_pointer(&path);
}

static void tell(const char *program, const char *file, const char *words, bool outside)
{
    const char *how = outside ? "sampled from outside" : "not recorded";
    g_autofree char *shown = fm_text_escaped(program);
    g_autofree char *looked_at = fm_text_escaped(file);
    if (strcmp(program, file) == 0)
        fprintf(stderr, "fathom record: %s is %s: it %s\n", shown, how, words);
    else
        fprintf(stderr, "fathom record: %s is %s: %s %s\n", shown, how, looked_at, words);
}

/* A sanitizer that was preloaded must stay the first. */
static bool has_sanitizer(const char *preloaded)
{
    return preloaded != NULL &&
           (strstr(preloaded, "libasan") != NULL || strstr(preloaded, "libtsan") != NULL);
}

char **fm_preloading_environment(char **argv, bool children, bool *ret_told, bool *ret_outside)
{
    char **environment = g_get_environ();
    /* A path is taken as it is: the working folder may have been removed. */
    g_autofree char *path =
        strchr(argv[0], '/') != NULL ? g_strdup(argv[0]) : g_find_program_in_path(argv[0]);
    g_autofree char *file = NULL;
    *ret_told = false;
    if (path == NULL || g_strcmp0(g_environ_getenv(environment, "FATHOM_PRELOAD"), "off") == 0)
        return environment;
    if (ret_outside != NULL && *ret_outside) { /* as it was asked for */
        *ret_told = true;
        return environment;
    }
    enum fm_preloadable can = fm_toolchain_preloadable(path, &file);
    const char *before = g_environ_getenv(environment, "LD_PRELOAD");
    const char *words = can == FM_PRELOADABLE_YES && has_sanitizer(before)
                            ? "is started with a sanitizer in LD_PRELOAD, which must be the first "
                              "library: start it without"
                            : fm_preloadable_words(can);
    bool outside = ret_outside != NULL && words != NULL && can != FM_PRELOADABLE_MACHINE;
    if (words != NULL)
        tell(path, file, words, outside);
    if (outside)
        *ret_outside = true;
    *ret_told = words != NULL;
    if (can != FM_PRELOADABLE_YES || has_sanitizer(before))
        return environment;
    g_autofree char *library = library_path();
    if (library == NULL) {
        *ret_told = true;
        return environment;
    }
    if (isatty(STDERR_FILENO)) /* before a run that may be long; the summary has it for all */
        fprintf(stderr,
                "fathom record: %s is not built with `fathom cc`: time, memory and waits are "
                "recorded, calls are not counted\n",
                argv[0]);
    g_autofree char *all = before == NULL || before[0] == '\0'
                               ? g_strdup(library)
                               : g_strdup_printf("%s:%s", library, before);
    environment = g_environ_setenv(environment, "LD_PRELOAD", all, TRUE);
    if (!children)
        environment = g_environ_setenv(environment, "FATHOM_CHILDREN", "off", TRUE);
    return environment;
}

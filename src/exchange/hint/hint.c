/* SPDX-License-Identifier: Apache-2.0 */
#include "exchange/hint/hint.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/files/beside.h"
#include "base/text/shell.h"
#include "base/console/say.h"
#include "exchange/import/import.h"

#define HEAD_BYTES 64

/* Only of regular files: a pipe would wait. */
static size_t read_head(const char *path, char head[HEAD_BYTES])
{
    struct stat status;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd < 0)
        return 0;
    ssize_t size =
        fstat(fd, &status) == 0 && S_ISREG(status.st_mode) ? read(fd, head, HEAD_BYTES) : 0;
    close(fd);
    return size > 0 ? (size_t)size : 0;
}

enum fm_hint_file_kind fm_hint_file_kind(const char *path)
{
    static const struct {
        const char *begins;
        enum fm_hint_file_kind kind;
    } kinds[] = {
        {"Mercury deep profiler procrep", FM_FILE_BODIES},
        {"fathom source lines version", FM_FILE_LINES},
        {"Mercury Compiler Feedback", FM_FILE_FEEDBACK},
        {FM_PROFILE_BEGINS_MERCURY, FM_FILE_PROFILE},
        {FM_PROFILE_BEGINS_C, FM_FILE_PROFILE},
        {"FATHOMR\n", FM_FILE_RECORDING},
        {"hdrb", FM_FILE_EVENT_LOG},
    };
    char head[HEAD_BYTES];
    g_autofree char *metadata = g_build_filename(path, "metadata", NULL);
    size_t size = read_head(path, head), skipped = 0;
    if (size == 0 && g_file_test(metadata, G_FILE_TEST_IS_REGULAR))
        return FM_FILE_CTF;
    if (size == 0 && fm_import_recognises(path))
        return FM_FILE_FOREIGN;
    while (skipped < size && (head[skipped] == '\r' || head[skipped] == '\n'))
        skipped++; /* the id line of a data file is a line of its own */
    for (size_t i = 0; i < G_N_ELEMENTS(kinds); i++) {
        size_t length = strlen(kinds[i].begins);
        if (size - skipped >= length && memcmp(head + skipped, kinds[i].begins, length) == 0)
            return kinds[i].kind;
    }
    return size > 0 && fm_import_recognises(path) ? FM_FILE_FOREIGN : FM_FILE_OTHER;
}

/* The commands that read each kind of file; "%s" is the file. A command that has just failed to is
 * no help. */
struct reader {
    const char *command; /* as fm_hint_fail_file() has it; NULL: none of the commands */
    const char *help;
};

static char *helps(const struct reader *readers, const char *command, const char *path)
{
    GString *text = g_string_new(NULL);
    g_autofree char *word = fm_shell_word(path);
    for (; readers->help != NULL; readers++) {
        if (g_strcmp0(readers->command, command) == 0)
            continue;
        g_auto(GStrv) parts = g_strsplit(readers->help, "%s", -1);
        g_autofree char *help = g_strjoinv(word, parts);
        g_string_append_printf(text, "%s%s", text->len > 0 ? ", or " : "", help);
    }
    return g_string_free(text, FALSE);
}

char *fm_hint_source_help(const char *path)
{
    static const char *const endings[][2] = {{".c", "cc"},    {".cc", "c++"}, {".cpp", "c++"},
                                             {".cxx", "c++"}, {".C", "c++"},  {".c++", "c++"}};
    for (size_t i = 0; i < G_N_ELEMENTS(endings); i++) {
        if (!g_str_has_suffix(path, endings[i][0]) || !g_file_test(path, G_FILE_TEST_IS_REGULAR))
            continue;
        g_autofree char *base = g_path_get_basename(path);
        base[strlen(base) - strlen(endings[i][0])] = '\0';
        g_autofree char *source = fm_shell_word(path), *name = fm_shell_word(base);
        return g_strdup_printf("It is source code: fathom %s -g %s -o %s builds it, then "
                               "fathom record -- ./%s makes a profile",
                               endings[i][1], source, name, name);
    }
    return NULL;
}

void fm_hint_cannot_run(const char *command, const char *program, int failure)
{
    g_autofree char *source = fm_hint_source_help(program);
    g_autofree char *here = g_strconcat("./", program, NULL);
    g_autofree char *word = fm_shell_word(here);
    g_autofree char *shown = fm_text_escaped(program);
    fm_console_print_error("fathom %s: %s: %s\n", command, shown, g_strerror(failure));
    if (source != NULL)
        fm_console_print_error("%s\n", source);
    else if (failure == ENOENT && strchr(program, '/') == NULL &&
             g_file_test(here, G_FILE_TEST_IS_EXECUTABLE))
        fm_console_print_error("Programs of this folder need ./: fathom %s -- %s\n", command, word);
}

/* "prog" where "prog.data" was meant. */
static void name_profile_beside(const char *path)
{
    g_autofree char *data = g_strconcat(path, ".data", NULL);
    if (!g_file_test(data, G_FILE_TEST_IS_REGULAR))
        return;
    g_autofree char *word = fm_shell_word(data);
    fm_console_print_error("A profile lies beside it: perhaps %s is meant\n", word);
}

int fm_hint_fail_file(const char *command, const char *path, enum fm_hint_file_kind wanted,
                      GError *error)
{
    static const struct {
        const char *what;
        struct reader readers[4];
    } kinds[] = {
        [FM_FILE_PROFILE] = {"a deep profile",
                             {{"view", "fathom view %s"}, {"report", "fathom report %s"}}},
        [FM_FILE_BODIES] = {"what belongs to a profile", {{NULL, "give the .data file beside it"}}},
        [FM_FILE_LINES] = {"what belongs to a profile", {{NULL, "give the .data file beside it"}}},
        [FM_FILE_FEEDBACK] = {"advice for Mercury's compiler",
                              {{"feedback", "fathom feedback report %s"}}},
        [FM_FILE_RECORDING] = {"a recording that is not finished",
                               {{"finish", "fathom finish %s makes a profile of it"},
                                {"top", "while its program runs, fathom top %s shows it"},
                                {"view", "fathom view %s shows it"}}},
        [FM_FILE_EVENT_LOG] = {"an event log",
                               {{"view", "fathom view %s"}, {"log stat", "fathom log stat %s"}}},
        [FM_FILE_CTF] = {"a trace",
                         {{"view", "fathom view %s"}, {"log stat", "fathom log stat %s"}}},
        [FM_FILE_FOREIGN] = {"a profile of another tool",
                             {{"view", "fathom view %s"},
                              {"import", "fathom import %s makes a profile of it"}}},
    };
    int status = fm_console_fail(command, error);
    enum fm_hint_file_kind kind = fm_hint_file_kind(path);
    if (kind == FM_FILE_OTHER) {
        g_autofree char *known = fm_import_describe(path);
        g_autofree char *source = fm_hint_source_help(path);
        if (source != NULL)
            fm_console_print_error("%s\n", source);
        else if (known != NULL && strcmp(command, "import") != 0)
            fm_console_print_error("It is %s\n", known);
        if (strcmp(command, "import") != 0) /* which may have made that one, of this file */
            name_profile_beside(path);
        return status;
    }
    if (kind == wanted || (kind == FM_FILE_CTF && wanted == FM_FILE_EVENT_LOG) ||
        (kind == FM_FILE_FOREIGN && strcmp(command, "view") == 0)) /* it opens these, too */
        return status;
    g_autofree char *help = helps(kinds[kind].readers, command, path);
    fm_console_print_error("It is %s%s%s\n", kinds[kind].what, help[0] != '\0' ? ": " : "", help);
    return status;
}

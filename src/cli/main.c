/* SPDX-License-Identifier: Apache-2.0 */
#include <locale.h>
#include <stdio.h>
#include <string.h>

#include "base/files/standard_streams.h"
#include "base/files/unfinished.h"
#include "base/text/distance.h"
#include "base/text/shell.h"
#include "cli/cli.h"
#include "exchange/hint/hint.h"

#define CHANGES_MAX 2u /* letters that may differ in a word that was meant */

static fm_cli_run list_commands;

/* Ends with a NULL name. */
static const struct fm_cli_command commands[] = {
    {"record", fm_cmd_record, "run a program and make its profile", "Record"},
    {"cc", fm_cmd_cc, "compile C so that the program records itself"},
    {"c++", fm_cmd_cc, "compile C++ so that the program records itself"},
    {"finish", fm_cmd_finish, "make a profile from a raw recording"},
    {"ctl", fm_cmd_ctl, "start, stop and mark the recording of a running program"},
    {"top", fm_cmd_top, "show the functions of a recorded program while it runs"},
    {"view", fm_cmd_view, "serve the pages of profiles and open the browser", "Look at a profile"},
    {"report", fm_cmd_report, "print one page as text, JSON, CSV or HTML"},
    {"functions", fm_cmd_functions, "print the most expensive functions"},
    {"lines", fm_cmd_lines, "print the source lines that took the most time or memory"},
    {"memory", fm_cmd_memory, "print who allocated, freed or held memory"},
    {"waits", fm_cmd_waits, "print where the program waited"},
    {"recursion", fm_cmd_recursion, "print functions that call each other"},
    {"tree", fm_cmd_tree, "print time, calls or memory as a tree of contexts"},
    {"dump", fm_cmd_dump, "print every node of a profile"},
    {"check", fm_cmd_check, "verify a profile and make every page of it"},
    {"diff", fm_cmd_diff, "explain the difference between two profiles", "Compare"},
    {"history", fm_cmd_history, "show the costs of many runs of a program, over time"},
    {"merge", fm_cmd_merge, "add up profiles of one program"},
    {"import", fm_cmd_import, "make a profile from another tool's file",
     "Exchange with other tools"},
    {"export", fm_cmd_export, "write a profile in another tool's format"},
    {"convert", fm_cmd_convert, "rewrite a profile, also for Mercury's tools"},
    {"log", fm_cmd_log, "event logs: count, print, follow, cut, send, check", "Traces"},
    {"cgi", fm_cmd_cgi, "answer one request of a web server (also run as fathom.cgi)",
     "Servers and shells"},
    {"commands", list_commands, "list the commands, one on each line (for completion)"},
    {"procrep", fm_cmd_procrep, "print the bodies of a Mercury program's procedures", "Mercury"},
    {"feedback", fm_cmd_feedback, "advise Mercury's compiler on parallel conjunctions"},
    {NULL},
};

static int list_commands(int argc, char **argv)
{
    static const GOptionEntry no_options[] = {{NULL}};
    int status = fm_cli_parse(&argc, &argv, no_options, "", "Lists the commands, one on each line.",
                              "fathom commands");
    if (status >= 0)
        return status;
    for (const struct fm_cli_command *command = commands; command->name != NULL; command++)
        printf("%s\t%s\n", command->name, command->summary);
    return FM_EXIT_DONE;
}

static void print_help(FILE *stream)
{
    fprintf(stream, "fathom - deep profiler and live tracer\n\n"
                    "Usage: fathom COMMAND [OPTION...] [ARGUMENT...]\n"
                    "       fathom PROFILE                prints its summary\n");
    for (const struct fm_cli_command *command = commands; command->name != NULL; command++) {
        if (command->group != NULL)
            fprintf(stream, "\n%s:\n", command->group);
        fprintf(stream, "  %-10s %s\n", command->name, command->summary);
    }
    fprintf(stream, "\n`fathom COMMAND --help` explains a command.\n");
}

/* By letters, or as other tools call it; NULL = none is like it. */
static const char *nearest_command(const char *word)
{
    static const char *const others[][2] = {
        {"compare", "diff"},    {"show", "report"},  {"run", "record"}, {"stat", "report"},
        {"annotate", "report"}, {"script", "dump"},  {"serve", "view"}, {"open", "view"},
        {"gcc", "cc"},          {"g++", "c++"},      {"build", "cc"},   {"gate", "check"},
        {"flamegraph", "view"}, {"print", "report"}, {"attach", "ctl"},
    };
    const char *best = NULL;
    unsigned least = CHANGES_MAX + 1;
    for (size_t i = 0; i < G_N_ELEMENTS(others); i++) {
        if (strcmp(others[i][0], word) == 0)
            return others[i][1];
    }
    for (const struct fm_cli_command *command = commands; command->name != NULL; command++) {
        unsigned changes = fm_text_distance(word, command->name);
        if (changes < least && changes + 1 < strlen(command->name)) {
            least = changes;
            best = command->name;
        }
    }
    return best;
}

/* These pass their environment on to a program. */
static bool starts_programs(const struct fm_cli_command *command)
{
    return command->run == fm_cmd_record || command->run == fm_cmd_cc;
}

static int run(int argc, char **argv)
{
    for (const struct fm_cli_command *command = commands; command->name != NULL; command++) {
        if (strcmp(argv[0], command->name) != 0)
            continue;
        if (!starts_programs(command))
            fm_cli_ask_no_server();
        return command->run(argc, argv);
    }
    const char *meant = nearest_command(argv[0]);
    if (meant != NULL)
        return fm_console_usage(NULL, "there is no command '%s'; perhaps `fathom %s` is meant",
                                argv[0], meant);
    g_autofree char *source = fm_hint_source_help(argv[0]);
    if (source != NULL)
        return fm_console_usage(NULL, "there is no command '%s'\n%s", argv[0], source);
    if (g_file_test(argv[0], G_FILE_TEST_IS_REGULAR)) {
        enum fm_hint_file_kind kind = fm_hint_file_kind(argv[0]);
        bool profile = kind != FM_FILE_OTHER;
        static char report[] = "report";
        char *summary[] = {report, argv[0], NULL};
        if (kind == FM_FILE_PROFILE && argc == 1) {
            fm_cli_ask_no_server();
            return fm_cmd_report(2, summary);
        }
        bool bare = !profile && strchr(argv[0], '/') == NULL;
        g_autofree char *path = g_strconcat(bare ? "./" : "", argv[0], NULL);
        g_autofree char *word = fm_shell_word(path);
        return fm_console_usage(NULL, "there is no command '%s'; `fathom %s %s` %s", argv[0],
                                profile ? "view" : "record --", word,
                                profile ? "shows a profile or a trace" : "records a program");
    }
    return fm_console_usage(NULL, "there is no command '%s'; `fathom --help` lists them", argv[0]);
}

/* `fathom help log cat` is `fathom log cat --help`. */
static int help_of(int count, char **words)
{
    g_autofree char **argv = g_new0(char *, (size_t)count + 2);
    static char option[] = "--help";
    memcpy(argv, words, (size_t)count * sizeof *argv);
    argv[count] = option;
    return run(count + 1, argv);
}

/* Many tools take a compiler's name as one word: links to the command have such names. Returns -1
 * when the command goes by its own. */
static int run_as_compiler(int argc, char **argv)
{
    static const struct {
        const char *link;
        const char *words[2];
    } links[] = {
        {"fathom-cc", {"cc"}}, {"fathom-c++", {"c++"}}, {"fathom-fortran", {"cc", "gfortran"}}};
    g_autofree char *base = g_path_get_basename(argv[0]);
    for (unsigned i = 0; i < G_N_ELEMENTS(links); i++) {
        if (strcmp(base, links[i].link) != 0)
            continue;
        g_autofree char **words = g_new0(char *, (size_t)argc + 2);
        int count = 0;
        for (unsigned k = 0; k < 2 && links[i].words[k] != NULL; k++)
            words[count++] = (char *)(uintptr_t)links[i].words[k];
        memcpy(words + count, argv + 1, (size_t)argc * sizeof *argv);
        return run(count + argc - 1, words);
    }
    return -1;
}

int main(int argc, char **argv)
{
    fm_fill_standard_streams();
    fm_unfinished_remove_at_signals();
    setlocale(LC_ALL, "");
    int as_compiler = argc > 0 ? run_as_compiler(argc, argv) : -1;
    if (as_compiler >= 0)
        return as_compiler;
    if (argc < 2) {
        print_help(stderr);
        return FM_EXIT_USAGE;
    }
    if (strcmp(argv[1], "help") == 0 && argc > 2)
        return help_of(argc - 2, argv + 2);
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0 ||
        strcmp(argv[1], "help") == 0) {
        print_help(stdout);
        return FM_EXIT_DONE;
    }
    if (strcmp(argv[1], "--version") == 0 || strcmp(argv[1], "-V") == 0) {
        printf("fathom %s\n", FATHOM_VERSION);
        return FM_EXIT_DONE;
    }
    return run(argc - 1, argv + 1);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Shows in the terminal where a running program spends its time. */
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/text/utf8.h"
#include "cli/cli.h"
#include "live/top/table.h"
#include "record/running/control.h"
#if FM_HAVE_CURSES
#include "cli/top/screen.h"
#endif

struct options {
    gboolean batch;
    double delay;
    int rows, readings;
    char *sort, *pid, *root, *debug_path;
};

static void print_row(const struct fm_top *top, const struct fm_top_row *row)
{
    g_autoptr(GString) name = g_string_new(NULL);
    fm_utf8_append_clean(name, row->name);
    int decimals = fm_raw_tick_words(&top->watch->header) == NULL ? 3 : 0;
    printf("%.*f\t%.*f\t", decimals,
           fm_followed_ticks(top->watch, row->self.of[FM_FOLLOWED_QUANTA]), decimals,
           fm_followed_ticks(top->watch, row->total.of[FM_FOLLOWED_QUANTA]));
    if (fm_followed_has_calls(top->watch))
        printf("%" G_GUINT64_FORMAT, (guint64)row->self.of[FM_FOLLOWED_CALLS]);
    printf("\t");
    if (row->calls_a_second >= 0)
        printf("%.0f", row->calls_a_second);
    printf("\t");
    if (fm_followed_has_waits(top->watch))
        printf("%.6f", (double)row->self.of[FM_FOLLOWED_WAIT_NS] * 1e-9);
    printf("\t");
    if (fm_followed_has_allocs(top->watch))
        printf("%" G_GUINT64_FORMAT "\t%" G_GUINT64_FORMAT "\t",
               (guint64)row->self.of[FM_FOLLOWED_ALLOCS], (guint64)row->self.of[FM_FOLLOWED_BYTES]);
    else
        printf("\t\t");
    if (fm_followed_has_held(top->watch))
        printf("%" G_GINT64_FORMAT, (gint64)fm_followed_held(&row->self));
    printf("\t%s\n", name->str);
}

static void print_head(const struct fm_top *top)
{
    const struct fm_rec_header *header = &top->watch->header;
    printf("# process %u\t%s\t%.3f s\t", fm_raw_header_process(header),
           !top->running               ? "ended"
           : header->recording_on == 0 ? "stopped"
           : top->sampled != NULL      ? "sampled"
                                       : "recording",
           fm_top_seconds(top));
    if (fm_followed_has_calls(top->watch))
        printf("%" G_GUINT64_FORMAT " calls", (guint64)top->all.of[FM_FOLLOWED_CALLS]);
    else
        printf("calls not recorded");
    printf("\t%u contexts\t%u threads", top->watch->context_count, top->watch->thread_count);
    if (fm_followed_has_waits(top->watch))
        printf("\t%.3f s waited", (double)top->all.of[FM_FOLLOWED_WAIT_NS] * 1e-9);
    if (fm_followed_has_held(top->watch))
        printf("\t%" G_GINT64_FORMAT " bytes held", (gint64)fm_followed_held(&top->all));
    printf("\n");
}

/* A table with a line in front that says of what, and an empty one behind. */
static void print_table(const struct fm_top *top, const struct options *options)
{
    const struct fm_rec_header *header = &top->watch->header;
    print_head(top);
    g_autofree char *unit = g_strdup(fm_raw_tick_words(header));
    if (unit != NULL)
        g_strdelimit(unit, " ", '_');
    printf("self_%s\ttotal_%s\tcalls\tcalls_per_s\twait_s\tallocs\tbytes\theld_bytes\tfunction\n",
           unit != NULL ? unit : "s", unit != NULL ? unit : "s");
    for (guint i = 0; i < top->rows->len && (options->rows == 0 || i < (guint)options->rows); i++)
        print_row(top, &g_array_index(top->rows, struct fm_top_row, i));
    printf("\n");
    fflush(stdout);
}

/* There is nothing yet to print of a process that is sampled from now on. */
static bool batch(struct fm_top *top, const struct options *options, GError **error)
{
    if (top->sampled != NULL) {
        signal(SIGPIPE, SIG_IGN); /* `| head` ends it in order: the profile so far is removed */
        g_usleep((gulong)(options->delay * 1e6));
        if (!fm_top_read(top, error))
            return false;
    }
    for (int i = 0;; i++) {
        print_table(top, options);
        if (!top->running || (options->readings > 0 && i + 1 >= options->readings) ||
            ferror(stdout))
            return true;
        g_usleep((gulong)(options->delay * 1e6));
        if (!fm_top_read(top, error))
            return false;
    }
}

/* A process that is not recorded is sampled. */
static bool open_top(struct fm_top *top, const char *name, const struct options *options,
                     GError **error)
{
    g_autoptr(GError) refused = NULL;
    g_autofree char *path = NULL;
    uint32_t pid;
    if (fm_control_path(name, &path, &refused))
        return fm_top_open(top, path, options->root, options->debug_path, error);
    if (g_error_matches(refused, FM_ERROR, FM_ERROR_NOT_FOUND) && fm_control_pid(name, &pid))
        return fm_top_open_sampled(top, pid, error);
    g_propagate_error(error, g_steal_pointer(&refused));
    return false;
}

static int run(const char *name, const struct options *options, enum fm_top_order order)
{
    GError *error = NULL;
    struct fm_top top = {0};
    if (!open_top(&top, name, options, &error))
        return fm_console_fail("top", error);
    top.order = order;
    fm_top_arrange(&top);
    int status = FM_EXIT_DONE;
    if (options->batch)
        status = batch(&top, options, &error) ? FM_EXIT_DONE : FM_EXIT_FAILED;
#if FM_HAVE_CURSES
    else
        status = fm_top_screen(&top, options->delay, &error);
#endif
    fm_top_close(&top);
    return error == NULL ? status : fm_console_fail("top", error);
}

int fm_cmd_top(int argc, char **argv)
{
    struct options options = {.delay = 0.25};
    enum fm_top_order order = FM_TOP_SELF;
    const GOptionEntry entries[] = {
        {"batch", 0, 0, G_OPTION_ARG_NONE, &options.batch,
         "Print tables for scripts, columns separated by tabs", NULL},
        {"pid", 0, 0, G_OPTION_ARG_STRING, &options.pid, "The same as pid:N", "N"},
        {"delay", 0, 0, G_OPTION_ARG_DOUBLE, &options.delay,
         "Read the recording every SECONDS (default: 0.25)", "SECONDS"},
        {"count", 0, 0, G_OPTION_ARG_INT, &options.readings,
         "With --batch: print N tables (default: until the program ends)", "N"},
        {"rows", 0, 0, G_OPTION_ARG_INT, &options.rows,
         "With --batch: print N rows of each table; 0, the default, = all", "N"},
        {"sort", 0, 0, G_OPTION_ARG_STRING, &options.sort,
         "Sort by self (default), total, calls, rate, waiting, allocs, bytes, held or name",
         "ORDER"},
        {"debug-path", 0, 0, G_OPTION_ARG_FILENAME, &options.debug_path,
         "Also look for programs, libraries and debug files in FOLDERS, separated by ':'",
         "FOLDERS"},
        {"root", 0, 0, G_OPTION_ARG_FILENAME, &options.root,
         "Look for all files below FOLDER: a copy of the file system that the program ran in",
         "FOLDER"},
        {NULL},
    };
    int status = fm_cli_parse(&argc, &argv, entries, "pid:N|N|NAME.rec",
                              "Shows the functions of a program while it runs: time, calls, waits, "
                              "memory of one that is recorded, which this does not disturb; any "
                              "other process is sampled from outside: time and sleeps.",
                              "fathom top pid:1234\n"
                              "  fathom top --batch --count 1 --rows 10 server.rec");
    g_autofree char *name =
        options.pid != NULL ? g_strconcat("pid:", options.pid, NULL) : g_strdup(argv[argc - 1]);
    if (status < 0 && argc != (options.pid != NULL ? 1 : 2))
        status = fm_console_usage("top", "expected one pid:N or NAME.rec");
    if (status < 0 && !(options.delay >= 0.05 && options.delay <= 3600))
        status = fm_console_usage("top", "--delay: expected 0.05 to 3600 seconds");
    if (status < 0 && (options.rows < 0 || options.readings < 0))
        status = fm_console_usage("top", "--rows and --count: expected 0 or more");
    if (status < 0 && options.sort != NULL && !fm_top_order_parse(options.sort, &order))
        status = fm_console_usage("top",
                                  "--sort=%s: expected self, total, calls, rate, waiting, allocs, "
                                  "bytes, held or name",
                                  options.sort);
    bool terminal = isatty(STDIN_FILENO) && isatty(STDOUT_FILENO);
    if (status < 0 && !options.batch && !(FM_HAVE_CURSES && terminal))
        status = fm_console_usage(
            "top", FM_HAVE_CURSES ? "standard input and output are no terminal; use --batch"
                                  : "this fathom was built without ncurses; use --batch");
    if (status < 0)
        status = run(name, &options, order);
    g_free(options.sort);
    g_free(options.pid);
    g_free(options.root);
    g_free(options.debug_path);
    return status;
}

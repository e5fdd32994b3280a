/* SPDX-License-Identifier: Apache-2.0 */
/* Advice for Mercury's compiler on what to run in parallel: mdprof_create_feedback and
 * mdprof_report_feedback. We differ in that a wrong option value gives status 2, that a feedback
 * file that is there already gets new advice in place of the old, and that it is replaced only when
 * all of it is written. */
#include <assert.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/files/writer.h"
#include "cli/cli.h"
#include "mercury/feedback/tables.h"
#include "mercury/feedback/feedback.h"

#define VERBOSITY_MAX 4

/* Options write into the parameters. */
static_assert(_Generic((gint64 *)NULL, int64_t * : 1, default : 0), "gint64 is another type");

/* The options of `create`; texts are numbers and names that set_params() parses into params. */
struct creating {
    gboolean report, debug, implicit, conjunctions, intermodule, no_dependent, dependent;
    int verbosity;
    char *parallelism, *speedup_threshold, *speedup, *best;
    struct fm_feedback_params params;
};

static int print(const char *command, const GString *text)
{
    fwrite(text->str, 1, text->len, stdout);
    if (fflush(stdout) == 0 && !ferror(stdout))
        return FM_EXIT_DONE;
    fprintf(stderr, "fathom %s: cannot write: %s\n", command, g_strerror(errno));
    return FM_EXIT_FAILED;
}

/* --- options --- */

static bool parse_least(const char *text, const char *option, double least, bool above, double *ret)
{
    char *end = NULL;
    *ret = g_ascii_strtod(text, &end);
    if (end == text || *end != '\0' || !isfinite(*ret)) {
        fm_console_usage("feedback create", "--%s should be a number, not '%s'", option, text);
        return false;
    }
    if (above ? *ret > least : *ret >= least)
        return true;
    fm_console_usage("feedback create", "--%s should be %s %g, not %s", option,
                     above ? ">" : ">=", least, text);
    return false;
}

/* Levels beyond the ends mean those. */
static void check_verbosity(const char *command, int verbosity)
{
    if (verbosity < 0)
        fprintf(stderr, "fathom %s: warning: verbosity level should not be negative.\n", command);
    if (verbosity > VERBOSITY_MAX)
        fprintf(stderr, "fathom %s: warning: verbosity level should not exceed %d.\n", command,
                VERBOSITY_MAX);
}

/* Reports all wrong values, not only the first. */
static bool set_params(struct creating *options)
{
    struct fm_feedback_params *params = &options->params;
    bool ok = true;
    if (options->parallelism != NULL)
        ok &= parse_least(options->parallelism, "desired-parallelism", 1, true,
                          &params->desired_parallelism);
    if (options->speedup_threshold != NULL)
        ok &= parse_least(options->speedup_threshold, "ipar-speedup-threshold", 1, false,
                          &params->speedup_threshold);
    if (options->no_dependent) {
        params->speedup = FM_SPEEDUP_INDEPENDENT;
    } else if (options->speedup != NULL &&
               !fm_feedback_parse_speedup(options->speedup, &params->speedup)) {
        fm_console_usage("feedback create",
                         "%s is not a speedup estimate algorithm: overlap, naive",
                         options->speedup);
        ok = false;
    }
    if (options->best != NULL &&
        !fm_feedback_parse_best(options->best, &params->best, &params->best_limit)) {
        fm_console_usage(
            "feedback create",
            "%s is not an algorithm for finding the best parallelisation: greedy, complete, "
            "complete-size(N), complete-branches(N)",
            options->best);
        ok = false;
    }
    if (!options->implicit && !options->conjunctions) {
        fm_console_usage("feedback create",
                         "expected a kind of feedback, such as --implicit-parallelism");
        ok = false;
    }
    check_verbosity("feedback create", options->verbosity);
    params->intermodule = options->intermodule;
    return ok;
}

/* --- creating --- */

/* The file that is there, or an empty one. */
static bool read_old(const char *path, const char *program, GError **error)
{
    struct fm_feedback *old = NULL;
    g_autoptr(GError) found = NULL;
    if (fm_feedback_read(path, program, &old, &found)) {
        fm_feedback_free(old); /* it holds one kind of advice, which the new takes the place of */
        return true;
    }
    if (g_error_matches(found, FM_ERROR, FM_ERROR_NOT_FOUND))
        return true;
    g_propagate_error(error, g_steal_pointer(&found));
    return false;
}

static bool write_file(const char *path, const struct fm_feedback *feedback, GError **error)
{
    struct fm_writer *writer;
    g_autoptr(GString) text = g_string_new(NULL);
    if (!fm_writer_new(path, &writer, error))
        return false;
    fm_feedback_write(feedback, text);
    fm_writer_bytes(writer, text->str, text->len);
    return fm_writer_finish(writer, error);
}

static bool open_profile(const char *path, bool debug, struct fm_profile **ret_profile,
                         struct fm_analysis **ret_analysis, struct fm_procrep **ret_procrep,
                         GError **error)
{
    struct fm_progress progress;
    fm_console_progress_begin(&progress);
    if (debug)
        printf("reading %s\n", path);
    bool ok = fm_profile_read(path, &progress, ret_profile, error);
    if (ok && (*ret_profile)->flavour != FM_FLAVOUR_MERCURY) {
        g_set_error(error, FM_ERROR, FM_ERROR_UNAVAILABLE,
                    "%s: the profile of a C program, expected one of a Mercury program", path);
        ok = false;
    }
    if (ok && debug)
        printf("finding cliques and costs\n");
    ok = ok && fm_analysis_new(*ret_profile, &progress, ret_analysis, error);
    if (ok && debug)
        printf("reading the bodies of its procedures\n");
    ok = ok && fm_procrep_read_beside(NULL, path, ret_procrep, error);
    fm_console_progress_end(&progress);
    if (ok && debug)
        printf("read\n");
    return ok;
}

static int create(const struct creating *options, const char *data_path, const char *path)
{
    g_autoptr(FmProfile) profile = NULL;
    g_autoptr(FmAnalysis) analysis = NULL;
    g_autoptr(FmProcrep) procrep = NULL;
    GError *error = NULL;
    if (!open_profile(data_path, options->debug, &profile, &analysis, &procrep, &error) ||
        !read_old(path, profile->program_name, &error))
        return fm_console_fail("feedback create", error);
    g_autoptr(FmFeedback) feedback = fm_feedback_new(profile->program_name);
    g_autoptr(FmBodies) bodies = fm_bodies_new(analysis, procrep, NULL);
    GPtrArray *messages;
    fm_feedback_search(feedback, bodies, &options->params, &messages);
    int status = FM_EXIT_DONE;
    if (options->report) {
        g_autoptr(GString) text = g_string_new(NULL);
        fm_feedback_report(feedback, text);
        status = print("feedback create", text);
    }
    if (status == FM_EXIT_DONE && !write_file(path, feedback, &error))
        status = fm_console_fail("feedback create", error);
    for (guint i = 0; i < messages->len; i++) {
        const struct fm_feedback_message *message = messages->pdata[i];
        if ((int)message->level <= options->verbosity)
            fputs(message->text, stderr);
    }
    g_ptr_array_unref(messages);
    return status;
}

/* -v5 */
static void lengthen_verbosity(char **argument)
{
    const char *text = *argument;
    if (text[0] != '-' || text[1] != 'v' || !g_ascii_isdigit(text[2]))
        return;
    g_autofree char *whole = g_strconcat("--verbosity=", text + 2, NULL);
    *argument = (char *)(uintptr_t)g_intern_string(whole);
}

/* Handles options that GLib's parser does not support: -v3, and --no-NAME for a boolean, where the
 * last of --NAME and --no-NAME decides. */
static void settle(int *argc, char **argv)
{
    static const char *const booleans[] = {
        "report", "implicit-parallelism", "candidate-parallel-conjunctions", "debug-read-profile",
        "ipar-intermodule-var-use", "implicit-parallelism-intermodule-var-use",
        /* without a --no- these are the default */
        "ipar-dep-conjs", "implicit-parallelism-dependant-conjunctions"};
    for (int i = 1; i < *argc; i++) {
        if (strcmp(argv[i], "--") == 0)
            return;
        lengthen_verbosity(&argv[i]);
        for (size_t b = 0; b < G_N_ELEMENTS(booleans); b++) {
            g_autofree char *on = g_strconcat("--", booleans[b], NULL);
            g_autofree char *off = g_strconcat("--no-", booleans[b], NULL);
            bool is_on = strcmp(argv[i], on) == 0, is_off = strcmp(argv[i], off) == 0;
            int kept = 1;
            for (int j = 1; (is_on || is_off) && j < i; j++) {
                if (strcmp(argv[j], is_on ? off : on) != 0)
                    argv[kept++] = argv[j];
            }
            bool drop = is_off && b < G_N_ELEMENTS(booleans) - 2;
            if (!is_on && !is_off)
                continue;
            for (int j = drop ? i + 1 : i; j < *argc; j++)
                argv[kept++] = argv[j];
            i -= *argc - kept;
            *argc = kept;
            argv[kept] = NULL;
            break;
        }
    }
}

/* The options of `create`, which write into o; g_free. */
static GOptionEntry *create_entries(struct creating *o)
{
/* Each of these exists under a second, longer name. */
#define NAMED(name, longer, kind, where, text, value)           \
    {name, 0, 0, kind, where, text, value},                     \
    {                                                           \
        longer, 0, G_OPTION_FLAG_HIDDEN, kind, where, "", value \
    }
#define BOTH(name, kind, where, text, value) \
    NAMED("ipar-" name, "implicit-parallelism-" name, kind, where, text, value)
    const GOptionEntry entries[] = {
        {"implicit-parallelism", 0, 0, G_OPTION_ARG_NONE, &o->implicit,
         "Advise on implicit parallelism: candidate parallel conjunctions", NULL},
        {"candidate-parallel-conjunctions", 0, 0, G_OPTION_ARG_NONE, &o->conjunctions,
         "Advise on candidate parallel conjunctions", NULL},
        {"report", 0, 0, G_OPTION_ARG_NONE, &o->report, "Also print the report", NULL},
        {"verbosity", 'v', 0, G_OPTION_ARG_INT, &o->verbosity,
         "Print messages up to level N: 1 errors, 2 warnings (default), 3 notices, 4 all", "N"},
        {"debug-read-profile", 0, 0, G_OPTION_ARG_NONE, &o->debug, "Print what is being read",
         NULL},
        {"desired-parallelism", 0, 0, G_OPTION_ARG_STRING, &o->parallelism,
         "Search for at most F-fold parallelism, F > 1 (default: 8.0)", "F"},
        BOTH("intermodule-var-use", G_OPTION_ARG_NONE, &o->intermodule,
             "Follow the uses of variables into other modules", NULL),
        BOTH("sparking-cost", G_OPTION_ARG_INT64, &o->params.spark_cost,
             "Set the cost of a spark (default: 100)", "N"),
        BOTH("sparking-delay", G_OPTION_ARG_INT64, &o->params.spark_delay,
             "Set the time until a spark runs (default: 1000)", "N"),
        BOTH("barrier-cost", G_OPTION_ARG_INT64, &o->params.barrier_cost,
             "Set the cost of the barrier that ends a conjunct (default: 100)", "N"),
        BOTH("future-signal-cost", G_OPTION_ARG_INT64, &o->params.signal_cost,
             "Set the cost of signalling a variable (default: 100)", "N"),
        BOTH("future-wait-cost", G_OPTION_ARG_INT64, &o->params.wait_cost,
             "Set the cost of waiting for a variable (default: 200)", "N"),
        BOTH("context-wakeup-delay", G_OPTION_ARG_INT64, &o->params.wakeup_delay,
             "Set the time until a waiting context runs again (default: 1000)", "N"),
        BOTH("clique-cost-threshold", G_OPTION_ARG_INT64, &o->params.clique_threshold,
             "Search only cliques that cost N for each call (default: 2000)", "N"),
        BOTH("call-site-cost-threshold", G_OPTION_ARG_INT64, &o->params.call_site_threshold,
             "Parallelise only calls that cost more than N (default: 2000)", "N"),
        NAMED("ipar-dep-conjs", "implicit-parallelism-dependant-conjunctions", G_OPTION_ARG_NONE,
              &o->dependent, "Also advise on conjunctions that share variables (default)", NULL),
        NAMED("no-ipar-dep-conjs", "no-implicit-parallelism-dependant-conjunctions",
              G_OPTION_ARG_NONE, &o->no_dependent,
              "Advise only on conjunctions that share no variables", NULL),
        NAMED("ipar-speedup-alg", "implicit-parallelism-dependant-conjunctions-algorithm",
              G_OPTION_ARG_STRING, &o->speedup,
              "Estimate speedups by ALG: overlap (default), naive", "ALG"),
        BOTH("speedup-threshold", G_OPTION_ARG_STRING, &o->speedup_threshold,
             "Require a speedup of at least F >= 1 (default: 1.01)", "F"),
        NAMED("ipar-best-par-alg", "implicit-parallelism-best-parallelisation-algorithm",
              G_OPTION_ARG_STRING, &o->best,
              "Search the best cut by ALG: greedy, complete, complete-size(N), "
              "complete-branches(N) (default: complete-branches(1000))",
              "ALG"),
        {"ipar-alg-for-finding-best-par", 0, G_OPTION_FLAG_HIDDEN, G_OPTION_ARG_STRING, &o->best,
         "", "ALG"},
        {NULL},
    };
#undef BOTH
#undef NAMED
    return g_memdup2(entries, sizeof entries);
}

static int parse_create(struct creating *o, int *argc, char ***argv)
{
    g_autofree GOptionEntry *entries = create_entries(o);
    settle(argc, *argv);
    return fm_cli_parse(argc, argv, entries, "PROFILE FEEDBACK",
                        "Searches a Mercury program's profile for conjunctions that would be "
                        "faster in parallel, and writes them to FEEDBACK for the compiler. "
                        "Costs and times are call sequence numbers.",
                        "fathom feedback create --implicit-parallelism --report Deep.data "
                        "Deep.feedback");
}

static int run_create(int argc, char **argv)
{
    struct creating o = {.verbosity = 2};
    fm_feedback_params_default(&o.params);
    int status = parse_create(&o, &argc, &argv);
    if (status < 0 && argc != 3)
        status = fm_console_usage("feedback create", "expected PROFILE and FEEDBACK");
    if (status < 0)
        status = set_params(&o) ? create(&o, argv[1], argv[2]) : FM_EXIT_USAGE;
    g_free(o.parallelism);
    g_free(o.speedup_threshold);
    g_free(o.speedup);
    g_free(o.best);
    return status;
}

/* --- reporting --- */

static int run_report(int argc, char **argv)
{
    int verbosity = 2;
    gboolean json = FALSE, csv = FALSE;
    const GOptionEntry entries[] = {
        {"json", 0, 0, G_OPTION_ARG_NONE, &json, "Print one JSON document", NULL},
        {"csv", 0, 0, G_OPTION_ARG_NONE, &csv, "Print a table, one row for each conjunction", NULL},
        {"verbosity", 'v', 0, G_OPTION_ARG_INT, &verbosity, "Do nothing (accepted)", "N"},
        {NULL},
    };
    GError *error = NULL;
    g_autoptr(FmFeedback) feedback = NULL;
    g_autoptr(GString) text = g_string_new(NULL);
    for (int i = 1; i < argc; i++)
        lengthen_verbosity(&argv[i]);
    int status = fm_cli_parse(&argc, &argv, entries, "FEEDBACK", "Prints a feedback file.",
                              "fathom feedback report Deep.feedback");
    if (status >= 0)
        return status;
    if (argc != 2)
        return fm_console_usage("feedback report", "expected one FEEDBACK");
    check_verbosity("feedback report", verbosity);
    if (json && csv)
        return fm_console_usage("feedback report", "choose one of --json and --csv");
    if (!fm_feedback_read(argv[1], NULL, &feedback, &error))
        return fm_console_fail("feedback report", error);
    if (json)
        fm_feedback_json(feedback, text);
    else if (csv)
        fm_feedback_csv(feedback, text);
    else
        fm_feedback_report(feedback, text);
    return print("feedback report", text);
}

int fm_cmd_feedback(int argc, char **argv)
{
    static const char help[] =
        "Usage:\n  fathom feedback create [OPTION...] PROFILE FEEDBACK\n"
        "  fathom feedback report [--json|--csv] FEEDBACK\n\n"
        "Finds what is worth running in parallel in a Mercury program, and prints it.\n\n"
        "`fathom feedback create --help` explains the options.\n\n"
        "Example:\n  fathom feedback create --implicit-parallelism --report Deep.data "
        "Deep.feedback\n";
    bool creates = argc >= 2 && strcmp(argv[1], "create") == 0;
    if (creates || (argc >= 2 && strcmp(argv[1], "report") == 0)) {
        argv[1] = (char *)(uintptr_t)(creates ? "feedback create" : "feedback report");
        return (creates ? run_create : run_report)(argc - 1, argv + 1);
    }
    if (argc >= 2 && (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0)) {
        fputs(help, stdout);
        return FM_EXIT_DONE;
    }
    return fm_console_usage("feedback", "expected create or report");
}

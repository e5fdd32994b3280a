/* SPDX-License-Identifier: Apache-2.0 */
/* fathom log sync: the clocks of several traces. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/text/json.h"
#include "base/error.h"
#include "cli/log/cmd_log.h"
#include "cli/log/cmd_log_trace.h"
#include "trace/clock/synchronize.h"

struct sync_options {
    char *method, *messages, *round_trips;
    gboolean json, stats;
};

struct sync_input {
    unsigned count;
    char *text; /* messages from a file; NULL = from the traces */
    GPtrArray *traces;
    struct fm_message_counts counts;
};

static bool open_traces(struct sync_input *input, char **paths, GError **error)
{
    for (char **path = paths; *path != NULL; path++) {
        struct fm_cmd_log_trace reading = {0};
        bool good = fm_cmd_log_trace_open(&reading, *path, NULL, error);
        if (reading.trace != NULL)
            g_ptr_array_add(input->traces, reading.trace);
        if (!good)
            return false;
    }
    input->count = input->traces->len;
    return true;
}

static bool feed(struct sync_input *input, const struct fm_message_sink *sink, GError **error)
{
    if (input->text != NULL)
        return fm_messages_of_text(input->text, sink, &input->count, error);
    return fm_messages_of_traces((struct fm_trace *const *)input->traces->pdata, input->count, sink,
                                 NULL, NULL, &input->counts);
}

static void print_json(const struct fm_synchronize *synchronize, const struct sync_input *input,
                       const struct fm_correction *corrections,
                       const struct fm_synchronize_evaluation *evaluation)
{
    g_autoptr(GString) out = g_string_new(NULL);
    struct fm_json json;
    fm_json_init(&json, out);
    json.spaced = true;
    fm_json_object(&json, NULL);
    fm_json_array(&json, "traces");
    for (unsigned i = 0; i < input->count; i++) {
        fm_json_object(&json, NULL);
        fm_json_uint(&json, "reference", fm_synchronize_reference(synchronize, i));
        fm_json_double(&json, "drift", corrections[i].drift);
        fm_json_double(&json, "offset_ns", corrections[i].offset_ns);
        fm_json_end(&json);
    }
    fm_json_end(&json);
    fm_json_line(&json, 1);
    fm_json_array(&json, "pairs");
    for (unsigned j = 1; j < input->count; j++) {
        for (unsigned i = 0; i < j; i++) {
            const struct fm_synchronize_pair *pair = fm_synchronize_pair_of(synchronize, i, j);
            fm_json_object(&json, NULL);
            fm_json_array(&json, "traces");
            fm_json_uint(&json, NULL, i);
            fm_json_uint(&json, NULL, j);
            fm_json_end(&json);
            fm_json_text(&json, "status", fm_synchronize_status_name(pair->status));
            fm_json_uint(&json, "messages", pair->messages);
            fm_json_end(&json);
        }
    }
    fm_json_end(&json);
    fm_json_line(&json, 1);
    fm_json_uint(&json, "messages", evaluation->messages);
    fm_json_uint(&json, "inversions", evaluation->inversions);
    fm_json_end(&json);
    puts(out->str);
}

static void print_stats(const struct sync_input *input,
                        const struct fm_synchronize_evaluation *before,
                        const struct fm_synchronize_evaluation *after)
{
    if (input->text == NULL)
        printf("\nevents %" PRIu64 "  sent %" PRIu64 "  received %" PRIu64 "  matched %" PRIu64
               "  unmatched %" PRIu64 "  lost %" PRIu64 "\n",
               input->counts.events, input->counts.sent, input->counts.received,
               input->counts.matched, input->counts.unmatched, input->counts.lost);
    printf("\n%-10s  %10s  %10s  %16s  %8s\n", "", "messages", "inversions", "worst (ns)",
           "too fast");
    printf("%-10s  %10" PRIu64 "  %10" PRIu64 "  %16.0f  %8" PRIu64 "\n", "recorded",
           before->messages, before->inversions, before->worst_inversion_ns, before->too_fast);
    printf("%-10s  %10" PRIu64 "  %10" PRIu64 "  %16.0f  %8" PRIu64 "\n", "corrected",
           after->messages, after->inversions, after->worst_inversion_ns, after->too_fast);
}

static bool evaluate(struct sync_input *input, const struct sync_options *options,
                     const struct fm_correction *corrections, struct fm_synchronize_evaluation *ret,
                     GError **error)
{
    g_autofree char *round_trips = NULL;
    struct fm_evaluate *evaluation = fm_evaluate_new(input->count, corrections);
    struct fm_message_sink sink = fm_evaluate_sink(evaluation);
    bool good = (options->round_trips == NULL ||
                 (g_file_get_contents(options->round_trips, &round_trips, NULL, error) &&
                  fm_evaluate_round_trips(evaluation, round_trips, error))) &&
                feed(input, &sink, error);
    *ret = *fm_evaluate_result(evaluation);
    fm_evaluate_free(evaluation);
    return good;
}

static bool synchronize(struct sync_input *input, const struct sync_options *options, char **paths,
                        enum fm_synchronize_method method, GError **error)
{
    struct fm_synchronize_evaluation before = {0}, after = {0};
    g_autofree struct fm_correction *corrections = g_new0(struct fm_correction, input->count + 1);
    struct fm_synchronize *solver = fm_synchronize_new(input->count, method);
    struct fm_message_sink sink = fm_synchronize_sink(solver);
    bool good = feed(input, &sink, error);
    if (good) {
        fm_synchronize_solve(solver, corrections);
        good = evaluate(input, options, corrections, &after, error) &&
               (!options->stats || evaluate(input, options, NULL, &before, error));
    }
    if (good && options->json) {
        print_json(solver, input, corrections, &after);
    } else if (good) {
        g_autofree char *table = fm_synchronize_print(
            solver, corrections, input->text == NULL ? (const char *const *)paths : NULL);
        fputs(table, stdout);
        if (options->stats)
            print_stats(input, &before, &after);
    }
    fm_synchronize_free(solver);
    return good;
}

char *fm_cmd_log_synchronize(char **paths, GError **error)
{
    char *table = NULL;
    struct sync_input input = {.traces =
                                   g_ptr_array_new_with_free_func((GDestroyNotify)fm_trace_free)};
    if (open_traces(&input, paths, error)) {
        g_autofree struct fm_correction *corrections = g_new0(struct fm_correction, input.count);
        struct fm_synchronize *solver = fm_synchronize_new(input.count, FM_SYNCHRONIZE_HULL);
        struct fm_message_sink sink = fm_synchronize_sink(solver);
        if (feed(&input, &sink, error)) {
            fm_synchronize_solve(solver, corrections);
            table = fm_synchronize_print(solver, corrections, (const char *const *)paths);
            for (unsigned i = 0; i < input.count; i++) {
                const struct fm_trace *trace = input.traces->pdata[i];
                fm_trace_expect_correction(trace->identity, corrections[i]);
            }
        }
        fm_synchronize_free(solver);
    }
    g_ptr_array_unref(input.traces);
    return table;
}

static int run(const struct sync_options *options, char **paths)
{
    GError *error = NULL;
    struct sync_input input = {.traces =
                                   g_ptr_array_new_with_free_func((GDestroyNotify)fm_trace_free)};
    bool regression = g_strcmp0(options->method, "regression") == 0;
    if (options->method != NULL && !regression && strcmp(options->method, "hull") != 0)
        return fm_console_usage("log sync", "--method: expected hull or regression, not '%s'",
                                options->method);
    bool good = true;
    if (options->messages != NULL)
        good = g_file_get_contents(options->messages, &input.text, NULL, &error) &&
               fm_messages_of_text(input.text, NULL, &input.count, &error);
    else
        good = open_traces(&input, paths, &error);
    good =
        good && synchronize(&input, options, paths,
                            regression ? FM_SYNCHRONIZE_REGRESSION : FM_SYNCHRONIZE_HULL, &error);
    g_ptr_array_unref(input.traces);
    g_free(input.text);
    return good ? FM_EXIT_DONE : fm_console_fail("log sync", error);
}

int fm_cmd_log_sync(int argc, char **argv)
{
    struct sync_options options = {0};
    const GOptionEntry entries[] = {
        {"method", 0, 0, G_OPTION_ARG_STRING, &options.method,
         "Use METHOD hull (default: no message is received before it was sent) or regression",
         "METHOD"},
        {"messages", 0, 0, G_OPTION_ARG_FILENAME, &options.messages,
         "Read FILE instead of traces: the number of traces, then lines \"SENDER RECEIVER SENT "
         "RECEIVED\" in seconds",
         "FILE"},
        {"round-trips", 0, 0, G_OPTION_ARG_FILENAME, &options.round_trips,
         "Count messages faster than half the minimum round trips in FILE, lines \"A B "
         "MILLISECONDS\"",
         "FILE"},
        {"stats", 0, 0, G_OPTION_ARG_NONE, &options.stats,
         "Also count inverted messages, as recorded and as corrected", NULL},
        {"json", 0, 0, G_OPTION_ARG_NONE, &options.json, "Print a JSON object", NULL},
        {NULL},
    };
    int status = fm_cli_parse(
        &argc, &argv, entries, "TRACE...",
        "Finds drift and offset of the clocks of several hosts from the messages in their traces. "
        "Messages are asynchronous spans that begin in one trace and end in another, or TCP "
        "segments of kernel traces.",
        "fathom log sync --stats client.eventlog server.eventlog");
    if (status < 0 && options.messages == NULL && argc < 3)
        status = fm_console_usage("log sync", "expected two or more traces, got %d", argc - 1);
    if (status < 0)
        status = run(&options, argv + 1);
    g_free(options.method);
    g_free(options.messages);
    g_free(options.round_trips);
    return status;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "cli/log/cmd_log.h"
#include "eventlog/output/writer.h"

struct cut {
    uint64_t from_ns, to_ns;
    bool definitions;
    bool with_blocks; /* the header declares block markers */
    bool headed;
    uint64_t block; /* block of the input */
    uint64_t kept, events;
    struct fm_eventlog_writer *writer;
};

/* Whether later events cannot be understood without it. */
static bool is_definition(uint16_t number)
{
    static const uint16_t numbers[] = {
        FM_EVENTLOG_CREATE_THREAD,
        FM_EVENTLOG_CAPSET_CREATE,
        FM_EVENTLOG_CAPSET_ASSIGN_CAP,
        FM_EVENTLOG_RTS_IDENTIFIER,
        FM_EVENTLOG_PROGRAM_ARGS,
        FM_EVENTLOG_PROGRAM_ENV,
        FM_EVENTLOG_OS_PROCESS_PID,
        FM_EVENTLOG_OS_PROCESS_PARENT_PID,
        FM_EVENTLOG_INTERN_STRING,
        FM_EVENTLOG_WALL_CLOCK_TIME,
        FM_EVENTLOG_THREAD_LABEL,
        FM_EVENTLOG_CAP_CREATE,
        FM_EVENTLOG_HEAP_INFO_GHC,
        FM_EVENTLOG_TASK_CREATE,
        FM_EVENTLOG_PERF_NAME,
        FM_EVENTLOG_HEAP_PROF_BEGIN,
        FM_EVENTLOG_HEAP_PROF_COST_CENTRE,
        FM_EVENTLOG_PROF_BEGIN,
        FM_EVENTLOG_INFO_TABLE_PROV,
        FM_EVENTLOG_TICKY_COUNTER_DEF,
        FM_EVENTLOG_LOCK_NAME,
        FM_EVENTLOG_MODULE,
    };
    for (size_t i = 0; i < G_N_ELEMENTS(numbers); i++) {
        if (numbers[i] == number)
            return true;
    }
    return false;
}

static bool take_header(struct cut *cut, const struct fm_eventlog_header *header, GError **error)
{
    if (cut->headed && !fm_eventlog_writer_end(cut->writer, error))
        return false;
    cut->headed = true;
    const struct fm_eventlog_declared *marker =
        fm_eventlog_header_find(header, FM_EVENTLOG_BLOCK_MARKER);
    cut->with_blocks = marker != NULL && marker->size == 14;
    return fm_eventlog_writer_header(cut->writer, header, error);
}

static bool take_event(struct cut *cut, const struct fm_eventlog_event *event, GError **error)
{
    if (event->number == FM_EVENTLOG_BLOCK_MARKER)
        return true;
    /* Blocks of the input stay apart, so that each keeps its own order. */
    if (event->block != cut->block && !fm_eventlog_writer_end_block(cut->writer, error))
        return false;
    cut->block = event->block;
    cut->events++;
    bool inside = event->time_ns >= cut->from_ns && event->time_ns <= cut->to_ns;
    if (!inside &&
        !(cut->definitions && is_definition(event->number) && event->time_ns <= cut->to_ns))
        return true;
    cut->kept++;
    return cut->with_blocks && event->block != FM_EVENTLOG_NO_BLOCK
               ? fm_eventlog_writer_event(cut->writer, event, error)
               : fm_eventlog_writer_end_block(cut->writer, error) &&
                     fm_eventlog_writer_raw(cut->writer, event, error);
}

static int cut_source(struct cut *cut, struct fm_eventlog_source *source)
{
    int result = FM_EXIT_DONE;
    GError *error = NULL;
    struct fm_eventlog_reader *reader = fm_eventlog_source_reader(source);
    for (bool good = true; good;) {
        struct fm_eventlog_event event;
        enum fm_eventlog_status status = fm_eventlog_source_next(source, &event, &error);
        if (status == FM_EVENTLOG_HAS_EVENT) {
            good = take_event(cut, &event, &error);
        } else if (status == FM_EVENTLOG_HAS_HEADER) {
            good = take_header(cut, fm_eventlog_reader_header(reader), &error);
        } else if (status == FM_EVENTLOG_HAS_GAP) {
            fm_cmd_log_report_gap("log cut", fm_eventlog_source_name(source),
                                  fm_eventlog_reader_gap(reader));
            result = FM_EXIT_FAILED;
        } else if (status == FM_EVENTLOG_FAILED) {
            good = false;
        } else if (status == FM_EVENTLOG_FINISHED) {
            (void)fm_eventlog_writer_end(cut->writer, &error); /* error says why */
            break;
        }
    }
    return error != NULL ? fm_console_fail("log cut", error) : result;
}

/* Opens the output; refuses the input itself, which opening would empty. */
static int open_output(const char *path, const char *input, GError **error)
{
    struct stat in, out;
    if (path == NULL)
        return dup(STDOUT_FILENO);
    if (stat(path, &out) == 0 && stat(input, &in) == 0 && in.st_dev == out.st_dev &&
        in.st_ino == out.st_ino) {
        g_set_error(error, FM_ERROR, FM_ERROR_USAGE, "%s: is the input, expected another file",
                    path);
        return -1;
    }
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (fd < 0)
        g_set_error(error, FM_ERROR, FM_ERROR_IO, "%s: %s", path, g_strerror(errno));
    return fd;
}

static int cut_file(struct cut *cut, const char *input, const char *output)
{
    GError *error = NULL;
    struct fm_eventlog_source *source = fm_eventlog_source_open(input, &error);
    if (source == NULL)
        return fm_console_fail("log cut", error);
    int fd = open_output(output, input, &error);
    if (fd < 0) {
        fm_eventlog_source_free(source);
        return fm_console_fail("log cut", error);
    }
    cut->writer = fm_eventlog_writer_new(fm_eventlog_write_fd, &fd);
    int status = cut_source(cut, source);
    fm_eventlog_writer_free(cut->writer);
    fm_eventlog_source_free(source);
    close(fd);
    fprintf(stderr, "%" PRIu64 " of %" PRIu64 " events kept\n", cut->kept, cut->events);
    return status;
}

int fm_cmd_log_cut(int argc, char **argv)
{
    g_autofree char *from = NULL, *to = NULL, *output = NULL;
    gboolean definitions = FALSE;
    const GOptionEntry options[] = {
        {"from", 0, 0, G_OPTION_ARG_STRING, &from, "Start at TIME since the log's begin", "TIME"},
        {"to", 0, 0, G_OPTION_ARG_STRING, &to, "End at TIME since the log's begin", "TIME"},
        {"definitions", 0, 0, G_OPTION_ARG_NONE, &definitions,
         "Keep earlier events that later ones refer to: process, capabilities, threads, names",
         NULL},
        {"output", 'o', 0, G_OPTION_ARG_FILENAME, &output,
         "Write to FILE (default: standard output)", "FILE"},
        {NULL},
    };
    int status = fm_cli_parse(&argc, &argv, options, "FILE",
                              "Copies a time range, both ends included, of a log. The result "
                              "is a complete log: header, blocks, end mark.",
                              "fathom log cut --from 1.5 --to 2 -o part.eventlog program.eventlog");
    if (status >= 0)
        return status;
    struct cut cut = {.to_ns = UINT64_MAX, .definitions = definitions};
    GError *error = NULL;
    if (!fm_cmd_log_parse_range(from, to, &cut.from_ns, &cut.to_ns, &error))
        return fm_console_fail("log cut", error);
    if (argc != 2)
        return fm_console_usage("log cut", "expected one FILE, got %d arguments", argc - 1);
    if (output == NULL && isatty(STDOUT_FILENO))
        return fm_console_usage("log cut", "a log is binary and standard output is a terminal; "
                                           "give --output");
    return cut_file(&cut, argv[1], output);
}

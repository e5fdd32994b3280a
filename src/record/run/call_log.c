/* SPDX-License-Identifier: Apache-2.0 */
#include "record/run/call_log.h"

#include <errno.h>
#include <fcntl.h>
#include <glib/gstdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "eventlog/output/writer.h"

enum {
    CAPSET_CREATE = 25,
    CAPSET_ASSIGN_CAP = 27,
    OS_PROCESS_PID = 32,
    INTERN_STRING = 42,
    WALL_CLOCK_TIME = 43,
    CAP_CREATE = 45,
    TASK_CREATE = 55,
    SPAN_BEGIN = 512,
    SPAN_END = 513,
    SPAN_DETAIL = 531,
};

#define TRACED_MAX 64u
#define TRACED_BYTES_MAX 4095u
bool fm_call_log_check_names(const char *text, GError **error)
{
    g_return_val_if_fail(text != NULL, false);
    g_auto(GStrv) names = g_strsplit(text, ",", -1);
    const char *wrong = NULL;
    bool ok =
        strlen(text) <= TRACED_BYTES_MAX && g_strv_length(names) <= TRACED_MAX && text[0] != '\0';
    for (char **name = names; *name != NULL && wrong == NULL; name++)
        if (strpbrk(*name, " (){}<>\\\"\n") != NULL || (*name)[0] == '\0')
            wrong = *name;
    if (wrong != NULL && wrong[0] != '\0')
        g_set_error(error, FM_ERROR, FM_ERROR_USAGE,
                    "--trace: expected names without arguments of functions and templates, not "
                    "'%s'; for an operator or a lambda give the linker's name (nm PROGRAM)",
                    wrong);
    else if (wrong != NULL || !ok)
        g_set_error(error, FM_ERROR, FM_ERROR_USAGE,
                    "--trace: expected at most %u names of functions, separated by commas, of at "
                    "most %u bytes together, not '%s'",
                    TRACED_MAX, TRACED_BYTES_MAX, text);
    return ok && wrong == NULL;
}

char *fm_call_log_path(const char *data_path)
{
    size_t length = strlen(data_path);
    if (g_str_has_suffix(data_path, ".data"))
        length -= strlen(".data");
    return g_strdup_printf("%.*s.calls.eventlog", (int)length, data_path);
}

struct log {
    struct fm_eventlog_writer *writer;
    GByteArray *payload;
    GError **error;
    bool ok;
};

static void put(struct log *log, uint64_t number, unsigned bytes)
{
    uint8_t out[8];
    for (unsigned i = 0; i < bytes; i++)
        out[i] = (uint8_t)(number >> (8 * (bytes - 1 - i)));
    g_byte_array_append(log->payload, out, bytes);
}

static void put_text(struct log *log, const char *text)
{
    g_byte_array_append(log->payload, (const uint8_t *)text, (guint)MIN(strlen(text), 60000u));
}

/* With the payload that was put. */
static void event(struct log *log, uint16_t number, uint64_t time_ns, int32_t capability)
{
    struct fm_eventlog_event event = {.number = number,
                                      .time_ns = time_ns,
                                      .capability = capability,
                                      .payload = log->payload->data,
                                      .payload_length = log->payload->len};
    if (log->ok)
        log->ok = fm_eventlog_writer_event(log->writer, &event, log->error);
    g_byte_array_set_size(log->payload, 0);
}

static void add_types(struct fm_eventlog_header *header)
{
    fm_eventlog_header_add(header, FM_EVENTLOG_BLOCK_MARKER, 14, "Block marker");
    fm_eventlog_header_add(header, CAPSET_CREATE, 6, "Create capability set");
    fm_eventlog_header_add(header, CAPSET_ASSIGN_CAP, 6, "Add capability to capability set");
    fm_eventlog_header_add(header, OS_PROCESS_PID, 8, "Process ID");
    fm_eventlog_header_add(header, INTERN_STRING, -1, "Interned string");
    fm_eventlog_header_add(header, WALL_CLOCK_TIME, 16, "Wall clock time");
    fm_eventlog_header_add(header, CAP_CREATE, 2, "Create capability");
    fm_eventlog_header_add(header, TASK_CREATE, 18, "Task create");
    fm_eventlog_header_add_extra(header, SPAN_BEGIN, 4, "Span begin", "fields:name=name");
    fm_eventlog_header_add_extra(header, SPAN_END, 4, "Span end", "fields:name=name");
    fm_eventlog_header_add_extra(header, SPAN_DETAIL, -1, "Span detail",
                                 "fields:value=i64,text=str");
}

static uint32_t procedure_of(const struct fm_profile *profile, uint32_t csd)
{
    return profile->pd_ps[profile->csd_callee[csd]];
}

static void begin(struct log *log, const struct fm_profile *profile, const GArray *spans)
{
    const struct fm_process_fact *process = &profile->run_info.process;
    put(log, 0, 4);
    put(log, 2, 2); /* an operating system's process */
    event(log, CAPSET_CREATE, 0, FM_EVENTLOG_NO_CAPABILITY);
    if (process->command != NULL) {
        put(log, 0, 4);
        put(log, process->pid, 4);
        event(log, OS_PROCESS_PID, 0, FM_EVENTLOG_NO_CAPABILITY);
        put(log, 0, 4);
        put(log, process->start_ns / 1000000000u, 8);
        put(log, process->start_ns % 1000000000u, 4);
        event(log, WALL_CLOCK_TIME, 0, FM_EVENTLOG_NO_CAPABILITY);
    }
    g_autoptr(GHashTable) named = g_hash_table_new(NULL, NULL);
    for (guint i = 0; i < spans->len; i++) {
        uint32_t ps = procedure_of(profile, g_array_index(spans, struct fm_call_span, i).csd);
        if (!g_hash_table_add(named, GUINT_TO_POINTER(ps)))
            continue;
        put_text(log, profile->ps[ps].unqualified_name);
        put(log, ps, 4);
        event(log, INTERN_STRING, 0, FM_EVENTLOG_NO_CAPABILITY);
    }
}

static gint compare_spans(gconstpointer a, gconstpointer b)
{
    const struct fm_call_span *sa = a, *sb = b;
    if (sa->thread != sb->thread)
        return sa->thread < sb->thread ? -1 : 1;
    if (sa->start_ns != sb->start_ns)
        return sa->start_ns < sb->start_ns ? -1 : 1;
    return sa->ns > sb->ns ? -1 : sa->ns < sb->ns;
}

struct open_span {
    uint32_t name;
    uint64_t end_ns;
};

static void end_until(struct log *log, GArray *open, uint64_t time_ns, int32_t lane)
{
    while (open->len > 0) {
        struct open_span last = g_array_index(open, struct open_span, open->len - 1);
        if (last.end_ns > time_ns)
            return;
        put(log, last.name, 4);
        event(log, SPAN_END, last.end_ns, lane);
        g_array_set_size(open, open->len - 1);
    }
}

static void add_lane(struct log *log, const struct fm_call_span *first, int32_t lane)
{
    put(log, (uint64_t)lane, 2);
    event(log, CAP_CREATE, first->start_ns, FM_EVENTLOG_NO_CAPABILITY);
    put(log, 0, 4);
    put(log, (uint64_t)lane, 2);
    event(log, CAPSET_ASSIGN_CAP, first->start_ns, FM_EVENTLOG_NO_CAPABILITY);
    put(log, first->tid, 8);
    put(log, (uint64_t)lane, 2);
    put(log, first->tid, 8);
    event(log, TASK_CREATE, first->start_ns, FM_EVENTLOG_NO_CAPABILITY);
}

/* Calls of one thread nest, but for those of coroutines: these end with the one around. */
static void add_spans(struct log *log, const struct fm_profile *profile, const GArray *spans)
{
    g_autoptr(GArray) open = g_array_new(FALSE, TRUE, sizeof(struct open_span));
    int32_t lane = -1;
    uint32_t thread = 0;
    for (guint i = 0; i < spans->len && log->ok; i++) {
        const struct fm_call_span *span = &g_array_index(spans, struct fm_call_span, i);
        if (lane < 0 || span->thread != thread) {
            end_until(log, open, UINT64_MAX, lane);
            add_lane(log, span, ++lane);
            thread = span->thread;
        }
        end_until(log, open, span->start_ns, lane);
        struct open_span own = {procedure_of(profile, span->csd), span->start_ns + span->ns};
        if (open->len > 0)
            own.end_ns =
                MIN(own.end_ns, g_array_index(open, struct open_span, open->len - 1).end_ns);
        put(log, own.name, 4);
        event(log, SPAN_BEGIN, span->start_ns, lane);
        put(log, span->csd, 8);
        put_text(log, span->left ? "context, left without return" : "context");
        event(log, SPAN_DETAIL, span->start_ns, lane);
        g_array_append_val(open, own);
    }
    end_until(log, open, UINT64_MAX, lane);
}

bool fm_call_log_write(const struct fm_finish_notes *notes, const struct fm_profile *profile,
                       const char *path, GError **error)
{
    g_return_val_if_fail(notes->spans != NULL && profile != NULL && path != NULL, false);
    int fd = g_open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (fd < 0) {
        g_set_error(error, FM_ERROR, FM_ERROR_IO, "%s: %s", path, g_strerror(errno));
        return false;
    }
    if (notes->spans->len > 0)
        g_array_sort(notes->spans, compare_spans);
    struct fm_eventlog_header *header = fm_eventlog_header_begin();
    add_types(header);
    fm_eventlog_header_end(header);
    struct log log = {.writer = fm_eventlog_writer_new(fm_eventlog_write_fd, &fd),
                      .payload = g_byte_array_new(),
                      .error = error};
    log.ok = fm_eventlog_writer_header(log.writer, header, error);
    begin(&log, profile, notes->spans);
    add_spans(&log, profile, notes->spans);
    bool ok = log.ok && fm_eventlog_writer_end(log.writer, error);
    fm_eventlog_writer_free(log.writer);
    g_byte_array_unref(log.payload);
    fm_eventlog_header_unref(header);
    close(fd);
    return ok;
}

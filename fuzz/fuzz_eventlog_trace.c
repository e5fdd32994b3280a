/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as a log that is opened as a trace: reading ends; events are in order, except those
 * reported as late; seeking finds the same event again; all events are those of the reader. */
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "trace/format/eventlog_trace.h"
#include "trace/format/open.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { SEEKS = 8, EVENTS_MAX = 100000 };

static uint64_t read_all(struct fm_tracefile *tracefile)
{
    struct fm_event event;
    struct fm_event_value values[FM_EVENT_VALUES_MAX];
    uint64_t count = 0;
    tracefile->class_->seek_time(tracefile, 0);
    for (; count < EVENTS_MAX && tracefile->class_->peek(tracefile, &event); count++) {
        tracefile->class_->event_name(tracefile, event.id);
        tracefile->class_->event_values(tracefile, &event, values);
        tracefile->class_->advance(tracefile);
    }
    return count;
}

/* When all blocks of a log have been read, the order is exact, so a position is found again. */
static void seek(struct fm_tracefile *tracefile, uint64_t events)
{
    for (uint64_t i = 0; i < SEEKS && events > 0; i++) {
        struct fm_event first, second;
        tracefile->class_->seek_time(tracefile, 0);
        for (uint64_t j = 0; j < events * i / SEEKS; j++)
            tracefile->class_->advance(tracefile);
        if (!tracefile->class_->peek(tracefile, &first))
            g_error("an event was there and is not any more");
        uint64_t place = tracefile->class_->tell(tracefile);
        tracefile->class_->seek(tracefile, first.time, place);
        if (!tracefile->class_->peek(tracefile, &second) || first.time != second.time ||
            first.id != second.id || first.cpu != second.cpu)
            g_error("a place is not found again");
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    int fd = memfd_create("fuzz", MFD_CLOEXEC);
    if (fd < 0 || write(fd, data, size) != (ssize_t)size)
        g_error("cannot make the input");
    /* An old modification time: the log is not being written. */
    struct timespec times[2] = {{.tv_sec = 1000}, {.tv_sec = 1000}};
    futimens(fd, times);
    g_autofree char *path = g_strdup_printf("/proc/self/fd/%d", fd);
    GError *error = NULL;
    struct fm_trace *trace = fm_trace_open(path, "fuzz", &error);
    if (trace == NULL) {
        g_assert(error != NULL);
        g_error_free(error);
        close(fd);
        return 0;
    }
    bool ended;
    for (unsigned i = 0; i < 100 && fm_trace_grow(trace, &ended, NULL); i++) {
    }
    struct fm_tracefile *tracefile = trace->tracefiles->pdata[0];
    uint64_t count = read_all(tracefile);
    seek(tracefile, MIN(count, 2000));
    if (read_all(tracefile) != count)
        g_error("the second reading gives other events");
    g_free(fm_trace_damage(trace));
    fm_trace_free(trace);
    close(fd);
    return 0;
}

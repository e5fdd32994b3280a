/* SPDX-License-Identifier: Apache-2.0 */
/* A raw recording: read completely, and as one that is still being written and changes between two
 * readings. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "record/raw/recording.h"
#include "record/running/control.h"
#include "record/running/followed.h"

static char path[64];
static int file = -1;

/* Replaces GLib's: readers wait for programs that are just starting to record, as inputs may
 * claim. */
void g_usleep(gulong microseconds)
{
    (void)microseconds;
}

/* In memory: on a disk, truncating and rewriting would take most of the time. */
static void put(const uint8_t *data, size_t size)
{
    if (file < 0) {
        file = memfd_create("recording", MFD_CLOEXEC);
        snprintf(path, sizeof path, "/proc/self/fd/%d", file);
    }
    if (file < 0 || ftruncate(file, 0) != 0 || pwrite(file, data, size, 0) != (ssize_t)size)
        abort();
}

static void sum(const struct fm_followed *watch)
{
    struct fm_followed_counts all;
    GArray *rows = fm_followed_rows(watch, NULL, &all);
    for (guint i = 0; i < rows->len && i < 4; i++) {
        uint32_t function = g_array_index(rows, struct fm_followed_row, i).function;
        g_array_unref(fm_followed_neighbours(watch, NULL, function, i % 2 == 0));
    }
    g_array_unref(rows);
    for (uint32_t i = 0; i < watch->edge_count; i++)
        if (watch->edges[i].callee >= watch->context_count)
            abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    g_autoptr(FmRawRecording) recording = NULL;
    g_autoptr(FmFollowed) watch = NULL;
    struct fm_control_status status;
    /* The second half is zeros at the first reading. */
    put(data, size);
    if (fm_raw_recording_load(path, &recording, NULL))
        fm_raw_recording_close_waits(recording, 0);
    if (fm_control_status(path, &status, NULL))
        fm_control_status_done(&status);
    put(data, size / 2);
    if (fm_followed_open(path, &watch, NULL)) {
        sum(watch);
        put(data, size);
        if (fm_followed_read(watch, NULL))
            sum(watch);
    }
    return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "exchange/import/perfdata/live.h"

#include <sys/utsname.h>

#include "exchange/import/perfdata/reader.h"

struct fm_perf_live {
    struct fm_import_options options;
    struct fm_import_input input;
    char *root;
    struct fm_perf_reader reader;
};

struct fm_perf_live *fm_perf_live_new(const struct fm_perf_live_of *of)
{
    g_return_val_if_fail(of->program != NULL && of->origin != NULL, NULL);
    struct fm_perf_live *live = g_new0(struct fm_perf_live, 1);
    struct fm_perf_reader *reader = &live->reader;
    struct utsname running;
    live->root = g_strdup(of->root);
    live->options.symfs = live->root;
    live->input = (struct fm_import_input){.name = "samples", .options = &live->options};
    fm_perf_file_init(&reader->file, &live->input);
    if (uname(&running) == 0) { /* names of this machine's files and kernel may be used */
        reader->file.hostname = g_strdup(running.nodename);
        reader->file.release = g_strdup(running.release);
        reader->file.arch = g_strdup(running.machine);
    }
    fm_perf_reader_begin(reader, of->program, of->origin);
    reader->quality.live = true;
    reader->processes.by_path = true;
    reader->processes.changes_root = live->root != NULL;
    reader->processes.inner_pid = of->inner_pid;
    reader->measures = g_new0(struct fm_perf_measure, FM_PERF_LIVE_MEASURES);
    return live;
}

void fm_perf_live_free(struct fm_perf_live *live)
{
    if (live == NULL)
        return;
    fm_perf_reader_clear(&live->reader);
    g_free(live->root);
    g_free(live);
}

struct fm_build *fm_perf_live_build(struct fm_perf_live *live)
{
    return fm_stacks_build(live->reader.stacks);
}

void fm_perf_live_event(struct fm_perf_live *live, enum fm_perf_live_measure measure,
                        const void *attr, size_t size)
{
    struct fm_perf_reader *reader = &live->reader;
    g_return_if_fail(measure == reader->file.events->len && measure < FM_PERF_LIVE_MEASURES);
    struct fm_perf_measure *own = &reader->measures[measure];
    fm_perf_add_event(&reader->file, attr, size);
    own->time = true;
    if (measure == FM_PERF_LIVE_CPU) {
        own->number = FM_QUANTA;
        fm_build_header(fm_perf_live_build(live))->ticks_per_second = FM_PERF_NS_PER_SECOND;
    } else {
        own->number = fm_stacks_add_scaled(
            reader->stacks, measure == FM_PERF_LIVE_ASLEEP ? "wait_ns" : "ready_ns", "s", 1e-9);
    }
}

void fm_perf_live_id(struct fm_perf_live *live, enum fm_perf_live_measure measure, uint64_t id)
{
    fm_perf_add_ids(&live->reader.file, measure, (const uint8_t *)&id, sizeof id);
}

bool fm_perf_live_add(struct fm_perf_live *live, const uint8_t *record, size_t size, GError **error)
{
    struct fm_perf_file *file = &live->reader.file;
    uint64_t at = 0, before = live->reader.quality.samples;
    if (!fm_perf_count_losses(file, record, size))
        return true;
    g_byte_array_set_size(file->unpacked, 0);
    g_byte_array_append(file->unpacked, record, (guint)size);
    bool done = fm_perf_reader_add(&live->reader, FM_PERF_UNPACKED | at, error);
    g_array_index(file->events, struct fm_perf_event, FM_PERF_LIVE_CPU).samples +=
        live->reader.quality.samples - before;
    return done;
}

void fm_perf_live_script(struct fm_perf_live *live, uint64_t low, uint64_t high)
{
    live->reader.script_low = low;
    live->reader.script_high = high;
}

bool fm_perf_live_is_mapped(struct fm_perf_live *live, int32_t pid, uint64_t address)
{
    struct fm_perf_processes *processes = &live->reader.processes;
    return fm_perf_mapping_at(fm_perf_process_of(processes, pid), address) != NULL;
}

bool fm_perf_live_finish(struct fm_perf_live *live, struct fm_profile **ret, GError **error)
{
    return fm_perf_reader_finish(&live->reader, ret, error);
}

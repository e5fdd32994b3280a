/* SPDX-License-Identifier: Apache-2.0 */
/* Events of a perf.data file. */
#include <string.h>

#include "exchange/import/perfdata/file.h"

/* A machine of the other byte order fills the bits of a field from the other end. */
static uint64_t flags_of(const struct fm_perf_file *file, const uint8_t *at)
{
    uint64_t flags = 0;
    for (unsigned bit = 0; bit < 64; bit++) {
        unsigned within = file->swapped ? 7 - bit % 8 : bit % 8;
        flags |= (uint64_t)(at[bit / 8] >> within & 1) << bit;
    }
    return flags;
}

void fm_perf_add_event(struct fm_perf_file *file, const uint8_t *attr, size_t size)
{
    uint8_t known[128] = {0}; /* an older one ends before */
    memcpy(known, attr, MIN(size, sizeof known));
    uint64_t flags = flags_of(file, known + 40);
    struct fm_perf_event event = {.type = fm_perf_u32(file, known),
                                  .config = fm_perf_u64(file, known + 8),
                                  .period = fm_perf_u64(file, known + 16),
                                  .sample_type = fm_perf_u64(file, known + 24),
                                  .read_format = fm_perf_u64(file, known + 32),
                                  .by_frequency = (flags >> 10 & 1) != 0,
                                  .ids_in_all = (flags >> 18 & 1) != 0,
                                  .branches = fm_perf_u64(file, known + 72),
                                  .registers_user = fm_perf_u64(file, known + 80),
                                  .stack_user = fm_perf_u32(file, known + 88)};
    g_array_append_val(file->events, event);
}

void fm_perf_add_ids(struct fm_perf_file *file, uint32_t event, const uint8_t *ids, size_t size)
{
    for (size_t at = 0; size - at >= 8; at += 8) {
        uint64_t id = fm_perf_u64(file, ids + at);
        g_hash_table_replace(file->by_id, g_memdup2(&id, sizeof id), GUINT_TO_POINTER(event + 1));
    }
}

char *fm_perf_event_name(const struct fm_perf_event *event)
{
    static const char *const hardware[] = {"cycles",
                                           "instructions",
                                           "cache-references",
                                           "cache-misses",
                                           "branches",
                                           "branch-misses",
                                           "bus-cycles",
                                           "stalled-cycles-frontend",
                                           "stalled-cycles-backend",
                                           "ref-cycles"};
    static const char *const software[] = {
        "cpu-clock",        "task-clock",   "page-faults",  "context-switches",
        "cpu-migrations",   "minor-faults", "major-faults", "alignment-faults",
        "emulation-faults", "dummy",        "bpf-output",   "cgroup-switches"};
    if (event->name != NULL && event->name[0] != '\0')
        return g_utf8_make_valid(event->name, -1);
    if (event->type == 0 && event->config < G_N_ELEMENTS(hardware))
        return g_strdup(hardware[event->config]);
    if (event->type == 1 && event->config < G_N_ELEMENTS(software))
        return g_strdup(software[event->config]);
    return g_strdup_printf("event %u:%" G_GINT64_MODIFIER "x", event->type, (guint64)event->config);
}

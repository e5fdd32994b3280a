/* SPDX-License-Identifier: Apache-2.0 */
#include "record/outside/sample.h"

#include <string.h>

#include "base/process.h"

#define HEADER sizeof(struct perf_event_header)
#define TRAILING (3 * sizeof(uint64_t)) /* ids and time, behind records that are no samples */
#define IDS_FROM (UINT64_C(1) << 62)    /* above the kernel's */
#define SAMPLE_TYPE                                                                     \
    (PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_PERIOD | \
     PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER)
/* In a sample: the header, then the event, thread and time. */
#define PERIOD_AT (HEADER + 3 * sizeof(uint64_t))

struct perf_event_attr fm_outside_event(bool kernel, uint32_t stack_bytes)
{
    struct perf_event_attr attr = {
        .size = sizeof attr,
        .type = PERF_TYPE_SOFTWARE,
        .config = PERF_COUNT_SW_CPU_CLOCK,
        .sample_period = FM_OUTSIDE_PERIOD_NS,
        .sample_type = SAMPLE_TYPE | PERF_SAMPLE_IP | (kernel ? PERF_SAMPLE_CALLCHAIN : 0),
        .sample_regs_user = FM_OUTSIDE_ALL_REGISTERS,
        .sample_stack_user = stack_bytes,
        .exclude_kernel = !kernel,
        .exclude_hv = 1,
        .exclude_callchain_user = 1,
        .inherit = 1,
        .inherit_thread = 1,
        .mmap = 1,
        .mmap2 = 1,
        .build_id = 1,
        .comm = 1,
        .comm_exec = 1,
        .task = 1,
        .sample_id_all = 1,
        .watermark = 1,
    };
    return attr;
}

/* Samples that are built here name their event by a number of ours. */
static uint64_t id_of(enum fm_perf_live_measure measure)
{
    return IDS_FROM + measure;
}

void fm_outside_events(struct fm_perf_live *live, const struct perf_event_attr *attr)
{
    struct perf_event_attr own = {.size = sizeof own,
                                  .type = PERF_TYPE_SOFTWARE,
                                  .sample_type = SAMPLE_TYPE | PERF_SAMPLE_RAW,
                                  .sample_id_all = 1,
                                  .sample_regs_user = FM_OUTSIDE_SP_IP};
    fm_perf_live_event(live, FM_PERF_LIVE_CPU, attr, sizeof *attr);
    fm_perf_live_event(live, FM_PERF_LIVE_ASLEEP, &own, sizeof own);
    fm_perf_live_event(live, FM_PERF_LIVE_READY, &own, sizeof own);
    for (unsigned i = 0; i < FM_PERF_LIVE_MEASURES; i++)
        fm_perf_live_id(live, i, id_of(i));
}

static void put_u64(GByteArray *to, uint64_t value)
{
    g_byte_array_append(to, (const guint8 *)&value, sizeof value);
}

static void put_u32(GByteArray *to, uint32_t value)
{
    g_byte_array_append(to, (const guint8 *)&value, sizeof value);
}

static void put_header(GByteArray *to, uint32_t type, uint16_t misc, size_t size)
{
    struct perf_event_header header = {.type = type, .misc = misc, .size = (uint16_t)size};
    g_assert(size <= UINT16_MAX);
    g_byte_array_append(to, (const guint8 *)&header, sizeof header);
}

GByteArray *fm_outside_record(const struct fm_outside_sample *sample)
{
    GByteArray *record = g_byte_array_new();
    bool cpu = sample->measure == FM_PERF_LIVE_CPU;
    size_t stack = sample->stack == NULL || sample->known == 0 ? 0 : sample->stack->len / 8 * 8;
    put_header(record, PERF_RECORD_SAMPLE, PERF_RECORD_MISC_USER, 0);
    put_u64(record, id_of(sample->measure));
    if (cpu)
        put_u64(record, sample->known != 0 ? sample->registers[FM_OUTSIDE_IP] : 0);
    put_u32(record, (uint32_t)sample->pid);
    put_u32(record, (uint32_t)sample->tid);
    put_u64(record, fm_outside_clock_ns(CLOCK_MONOTONIC));
    put_u64(record, sample->ns);
    put_u32(record, sample->scripts == NULL ? 0 : sample->scripts->len);
    if (sample->scripts != NULL)
        g_byte_array_append(record, sample->scripts->data, sample->scripts->len);
    put_u64(record, sample->known != 0 ? PERF_SAMPLE_REGS_ABI_64 : PERF_SAMPLE_REGS_ABI_NONE);
    uint64_t mask = sample->known == 0 ? 0 : cpu ? FM_OUTSIDE_ALL_REGISTERS : FM_OUTSIDE_SP_IP;
    for (unsigned i = 0; i < FM_OUTSIDE_REGISTERS; i++)
        if ((mask >> i & 1) != 0)
            put_u64(record, sample->registers[i]);
    put_u64(record, stack);
    if (stack > 0) {
        g_byte_array_append(record, sample->stack->data, (guint)stack);
        put_u64(record, stack);
    }
    ((struct perf_event_header *)(void *)record->data)->size = (uint16_t)record->len;
    g_assert(record->len <= UINT16_MAX);
    return record;
}

void fm_outside_set_ns(GByteArray *record, uint64_t ns)
{
    memcpy(record->data + PERIOD_AT, &ns, sizeof ns);
}

bool fm_outside_add(struct fm_perf_live *live, uint32_t type, uint16_t misc, GByteArray *body,
                    GError **error)
{
    g_autoptr(GByteArray) record = g_byte_array_new();
    static const uint8_t zeros[8];
    g_byte_array_append(body, zeros, (8 - body->len % 8) % 8);
    put_header(record, type, misc, HEADER + body->len + TRAILING);
    g_byte_array_append(record, body->data, body->len);
    for (size_t i = 0; i < TRAILING; i += sizeof zeros)
        g_byte_array_append(record, zeros, sizeof zeros);
    return fm_perf_live_add(live, record->data, record->len, error);
}

bool fm_outside_name(struct fm_perf_live *live, const struct fm_target *target, pid_t tid,
                     GError **error)
{
    char name[64];
    g_autoptr(GByteArray) body = g_byte_array_new();
    if (!fm_process_read(target->pid, tid, "comm", name, sizeof name))
        return true;
    name[strcspn(name, "\n")] = '\0';
    put_u32(body, (uint32_t)target->pid);
    put_u32(body, (uint32_t)tid);
    g_byte_array_append(body, (const guint8 *)name, (guint)strlen(name) + 1);
    return fm_outside_add(live, PERF_RECORD_COMM, 0, body, error);
}

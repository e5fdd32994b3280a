/* SPDX-License-Identifier: Apache-2.0 */
/* A log and the file of live buffers beside it, open for recovering. */
#pragma once
#include "eventlog/input/live.h"
#include "runtime/eventlog/core/live_format.h"

struct fm_live {
    const char *log_path;
    char *path;
    int fd, log_fd;
    const uint8_t *data; /* content of path, mapped */
    uint64_t bytes, log_bytes;
    const struct fm_live_head *head;
    GPtrArray *slots; /* elements: const struct fm_live_slot, in the order of the file */
};

/* Opens both; the program has ended. Close it even after an error. */
bool fm_live_open(struct fm_live *live, const char *log_path, GError **error);
void fm_live_close(struct fm_live *live);
const struct fm_live_slot *fm_live_slot_at(const struct fm_live *live, uint64_t offset);
bool fm_live_same_boot(const struct fm_live_head *head);

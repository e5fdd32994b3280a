/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the process that is writing a recording. */
#include "record/raw/recording.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/process.h"

/* A process whose first thread called pthread_exit() is a zombie, too, while its other threads
 * run. */
uint64_t fm_raw_process_start(int pid)
{
    g_autofree char *stat = fm_process_text(pid, "stat");
    const char *state = stat == NULL ? NULL : fm_process_field(stat, FM_PROCESS_STATE);
    const char *start = stat == NULL ? NULL : fm_process_field(stat, FM_PROCESS_START);
    if (start == NULL ||
        (*state == 'Z' &&
         g_ascii_strtoull(fm_process_field(stat, FM_PROCESS_THREADS), NULL, 10) <= 1))
        return 0;
    return g_ascii_strtoull(start, NULL, 10);
}

static bool is_being_written(const struct fm_rec_header *header)
{
    if (header->state != FM_REC_RUNNING || header->snapshot_of != 0)
        return false;
    uint64_t start = fm_raw_process_start((int)header->pid);
    return start != 0 && start == header->process_start;
}

bool fm_raw_recording_is_live(const struct fm_raw_recording *recording)
{
    return is_being_written(&recording->header);
}

static bool read_header(const char *path, struct fm_rec_header *ret)
{
    int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (file < 0)
        return false;
    bool ours = read(file, ret, sizeof *ret) == (ssize_t)sizeof *ret &&
                memcmp(ret->magic, FM_REC_MAGIC, sizeof ret->magic) == 0;
    close(file);
    return ours;
}

int fm_raw_recording_writer(const char *path)
{
    struct fm_rec_header header;
    return read_header(path, &header) && is_being_written(&header) ? (int)header.pid : 0;
}

uint32_t fm_raw_recording_grade(const char *path, uint64_t *ret_start_ns)
{
    struct fm_rec_header header;
    if (!read_header(path, &header))
        header = (struct fm_rec_header){0};
    if (ret_start_ns != NULL)
        *ret_start_ns = header.start_monotonic_ns;
    return header.grade_flags;
}

bool fm_raw_recording_has_header(const char *path)
{
    struct fm_rec_header header;
    return read_header(path, &header) && header.state != 0; /* state is written last */
}

#define BEGUN_BYTES_MAX (1u << 20) /* no recording is larger before its header is whole */

bool fm_raw_recording_is_void(const char *path)
{
    struct fm_rec_header header;
    struct stat status;
    char bytes[4096];
    if (lstat(path, &status) != 0 || !S_ISREG(status.st_mode) || status.st_size > BEGUN_BYTES_MAX)
        return false;
    if (read_header(path, &header))
        return header.state == 0;
    int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    ssize_t got = file < 0 ? -1 : 0;
    bool zeros = true;
    while (zeros && file >= 0 && (got = read(file, bytes, sizeof bytes)) > 0)
        for (ssize_t i = 0; i < got && zeros; i++)
            zeros = bytes[i] == 0;
    if (file >= 0)
        close(file);
    return zeros && got == 0;
}

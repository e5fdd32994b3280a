/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the process that is writing a recording. */
#include "record/raw/recording.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define STATE_FIELD 3u
#define THREADS_FIELD 20u
#define START_FIELD 22u

/* From the state field, which is at rest, to another; NULL: there are not enough. */
static const char *field_at(const char *rest, unsigned number)
{
    for (unsigned field = STATE_FIELD; field < number && rest != NULL; field++)
        rest = strchr(rest + 1, ' ');
    return rest;
}

/* The command's name may contain anything, so fields are counted from its closing bracket. A
 * process whose first thread called pthread_exit() is a zombie, too, while its other threads
 * run. */
uint64_t fm_raw_process_start(int pid)
{
    g_autofree char *path = g_strdup_printf("/proc/%d/stat", pid);
    g_autofree char *text = NULL;
    if (!g_file_get_contents(path, &text, NULL, NULL))
        return 0;
    const char *rest = strrchr(text, ')');
    if (rest == NULL || rest[1] != ' ')
        return 0;
    rest++;
    const char *threads = field_at(rest, THREADS_FIELD), *start = field_at(rest, START_FIELD);
    if (start == NULL || (rest[1] == 'Z' && g_ascii_strtoull(threads, NULL, 10) <= 1))
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

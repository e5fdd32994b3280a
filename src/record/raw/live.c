/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the process that is writing a recording, also from outside its pid namespace (container):
 * the header has the number and the start that the process itself sees. */
#include "record/raw/recording.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
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

/* A process in a pid namespace below ours. */
struct nested {
    uint64_t start;
    int inner, outer;
};

static GMutex lock;
static GArray *all_nested;      /* struct nested */
static uint64_t nested_from_ns; /* time since boot at which the list was begun */

static uint64_t since_boot_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_BOOTTIME, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static void list_nested(void)
{
    nested_from_ns = since_boot_ns();
    if (all_nested == NULL)
        all_nested = g_array_new(FALSE, FALSE, sizeof(struct nested));
    g_array_set_size(all_nested, 0);
    GDir *processes = g_dir_open("/proc", 0, NULL);
    for (const char *name; processes != NULL && (name = g_dir_read_name(processes)) != NULL;) {
        int pid = (int)g_ascii_strtoll(name, NULL, 10);
        int inner = pid > 0 ? fm_process_inner(pid, pid) : pid;
        if (inner == pid || inner == 0)
            continue;
        struct nested one = {fm_raw_process_start(pid), inner, pid};
        g_array_append_val(all_nested, one);
    }
    if (processes != NULL)
        g_dir_close(processes);
}

static int find_nested(int inner, uint64_t start)
{
    for (guint i = 0; i < all_nested->len; i++) {
        const struct nested *one = &g_array_index(all_nested, struct nested, i);
        if (one->inner == inner && one->start == start)
            return one->outer;
    }
    return 0;
}

/* A list names all processes that began before it was made, so folders of old recordings are looked
 * through with one list. */
static int writer_in_container(int inner, uint64_t start)
{
    uint64_t tick_ns = 1000000000u / (uint64_t)sysconf(_SC_CLK_TCK);
    g_mutex_lock(&lock);
    if (all_nested == NULL || (start + 2) * tick_ns > nested_from_ns)
        list_nested();
    int outer = find_nested(inner, start);
    g_mutex_unlock(&lock);
    return outer != 0 && fm_raw_process_start(outer) == start ? outer : 0;
}

int fm_raw_header_writer(const struct fm_rec_header *header)
{
    g_return_val_if_fail(header != NULL, 0);
    int pid = (int)header->pid;
    if (header->process_start == 0 || pid <= 0)
        return 0;
    if (fm_raw_process_start(pid) == header->process_start)
        return pid;
    return writer_in_container(pid, header->process_start);
}

uint32_t fm_raw_header_process(const struct fm_rec_header *header)
{
    int writer = fm_raw_header_writer(header);
    return writer != 0 ? (uint32_t)writer : header->pid;
}

bool fm_raw_header_is_live(const struct fm_rec_header *header)
{
    g_return_val_if_fail(header != NULL, false);
    return header->state == FM_REC_RUNNING && header->snapshot_of == 0 &&
           fm_raw_header_writer(header) != 0;
}

bool fm_raw_recording_is_live(const struct fm_raw_recording *recording)
{
    return fm_raw_header_is_live(&recording->header);
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
    return read_header(path, &header) && fm_raw_header_is_live(&header)
               ? fm_raw_header_writer(&header)
               : 0;
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

/* SPDX-License-Identifier: Apache-2.0 */
/* Who writes a recording, if it is still written. */
#include "record/raw/recording.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool is_being_written(const struct fm_rec_header *header)
{
    if (header->state != FM_REC_RUNNING || header->snapshot_of != 0)
        return false;
    g_autofree char *path = g_strdup_printf("/proc/%u/stat", header->pid);
    g_autofree char *text = NULL;
    if (!g_file_get_contents(path, &text, NULL, NULL))
        return false;
    /* The command's name may hold anything, so count from its closing bracket: state is field 3. */
    const char *rest = strrchr(text, ')');
    unsigned long long start = 0;
    if (rest == NULL || rest[1] == '\0' || rest[2] == 'Z')
        return false;
    for (int field = 2; field < 22 && rest != NULL; field++)
        rest = strchr(rest + 1, ' ');
    if (rest != NULL)
        start = strtoull(rest + 1, NULL, 10);
    return start == header->process_start;
}

bool fm_raw_recording_is_live(const struct fm_raw_recording *recording)
{
    return is_being_written(&recording->header);
}

int fm_raw_recording_writer(const char *path)
{
    struct fm_rec_header header;
    int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (file < 0)
        return 0;
    bool ours = read(file, &header, sizeof header) == (ssize_t)sizeof header &&
                memcmp(header.magic, FM_REC_MAGIC, sizeof header.magic) == 0 &&
                is_being_written(&header);
    close(file);
    return ours ? (int)header.pid : 0;
}

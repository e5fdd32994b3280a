/* SPDX-License-Identifier: Apache-2.0 */
/* The library rejects a whole trace when a packet header in one of its files is wrong, or a file is
 * truncated. So each file is tried alone. A rejected one is divided at packet boundaries (each
 * packet begins like the file: magic number and the trace's identity), and accepted runs of packets
 * become files of their own. Only damaged files are copied; the others are linked. */
#include <errno.h>
#include <fcntl.h>
#include <glib/gstdio.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/files/mapped.h"
#include "trace/ctf/ctf_import.h"

enum {
    HEAD_BYTES = 20, /* magic number, identity of the trace */
    ALIGNMENT = 4,
    PACKETS_MAX = 1 << 20,
    TRIALS_MAX = 400, /* runs of the library, for one file */
    TRIAL_SECONDS = 10,
    BYTES_PER_SECOND = 8 << 20, /* minimum speed of any reading */
    ENDLESS_MAX = 3,            /* after so many trials with time-out, further ones are pointless */
};

struct salvage {
    char *good, *trial; /* folders */
    GString *notes;
    unsigned files, trials, endless;
};

static char *make_folder(const char *metadata, GString *notes)
{
    g_autofree char *absolute = fm_ctf_absolute_path(metadata);
    bool there = g_file_test(absolute, G_FILE_TEST_EXISTS);
    char *folder = there ? fm_ctf_folder_new(notes) : NULL;
    if (folder == NULL)
        return NULL;
    g_autofree char *linked = g_build_filename(folder, "metadata", NULL);
    if (symlink(absolute, linked) == 0)
        return folder;
    fm_ctf_folder_remove(folder);
    g_free(folder);
    return NULL;
}

/* Ends the process. */
static void read_trial(const struct salvage *salvage, size_t length)
{
    fm_ctf_limit_work(TRIAL_SECONDS + (unsigned)MIN(length / BYTES_PER_SECOND, 1 << 20));
    bt_graph *graph = bt_graph_create(0);
    char *message;
    const bt_component_source *source = fm_ctf_add_source(graph, salvage->trial, "trial", &message);
    bool good = source != NULL && bt_component_source_get_output_port_count(source) > 0 &&
                fm_ctf_read_all(graph, source);
    _exit(good ? 0 : 1);
}

/* Whether the library reads the folder "trial" to its end. Runs in a child process, because the
 * library may end it. This process has one thread, so forking is safe. */
static bool is_accepted(struct salvage *salvage, size_t length)
{
    int status;
    pid_t child = fork();
    if (child == 0) {
        int null = open("/dev/null", O_WRONLY | O_CLOEXEC);
        (void)dup2(null, STDERR_FILENO); /* hides its last messages */
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        read_trial(salvage, length);
    }
    if (child < 0)
        return false;
    while (waitpid(child, &status, 0) < 0) {
        if (errno != EINTR)
            return false;
    }
    salvage->endless += WIFSIGNALED(status) && WTERMSIG(status) == SIGPROF;
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

/* Puts bytes of a stream file, or (NULL) a link to it, into "trial", tries it, and moves it to
 * "good" if accepted. */
static bool try_bytes(struct salvage *salvage, const char *path, const uint8_t *bytes,
                      size_t length)
{
    g_autofree char *name = g_strdup_printf("stream%u", salvage->files);
    g_autofree char *trial = g_build_filename(salvage->trial, name, NULL);
    g_autofree char *good = g_build_filename(salvage->good, name, NULL);
    bool there = bytes == NULL ? symlink(path, trial) == 0
                               : g_file_set_contents(trial, (const char *)bytes, (gssize)length,
                                                     NULL) != FALSE;
    bool accepted = there && is_accepted(salvage, length) && g_rename(trial, good) == 0;
    if (there && !accepted)
        (void)g_unlink(trial);
    salvage->files += accepted;
    salvage->trials++;
    return accepted;
}

/* Offsets of packets, with the file's length after the last. */
static GArray *find_packets(const uint8_t *bytes, size_t length)
{
    GArray *begins = g_array_new(FALSE, FALSE, sizeof(size_t));
    size_t at = 0;
    while (at + HEAD_BYTES <= length && begins->len < PACKETS_MAX) {
        if (memcmp(bytes + at, bytes, HEAD_BYTES) == 0)
            g_array_append_val(begins, at);
        const uint8_t *next =
            at + ALIGNMENT >= length
                ? NULL
                : memmem(bytes + at + ALIGNMENT, length - at - ALIGNMENT, bytes, HEAD_BYTES);
        at = next == NULL ? length : (size_t)(next - bytes);
    }
    g_array_append_val(begins, length);
    return begins;
}

/* Keeps packets [first, last) if the library accepts them, else tries halves. Returns the number of
 * bytes kept. */
static size_t keep_packets(struct salvage *salvage, const char *path, const uint8_t *bytes,
                           const GArray *begins, guint first, guint last)
{
    g_assert(first < last && last < begins->len);
    size_t begin = g_array_index(begins, size_t, first), end = g_array_index(begins, size_t, last);
    if (salvage->trials >= TRIALS_MAX || salvage->endless >= ENDLESS_MAX)
        return 0;
    if (try_bytes(salvage, path, bytes + begin, end - begin))
        return end - begin;
    if (last - first <= 1)
        return 0;
    guint middle = first + (last - first) / 2;
    return keep_packets(salvage, path, bytes, begins, first, middle) +
           keep_packets(salvage, path, bytes, begins, middle, last);
}

static void keep_parts(struct salvage *salvage, const char *path, const char *name)
{
    struct fm_mapped_file *file;
    GError *error = NULL;
    if (!fm_mapped_file_open(path, &file, &error)) {
        g_string_append_printf(salvage->notes, "%s\n", error->message);
        g_clear_error(&error);
        return;
    }
    size_t kept = 0;
    guint packets = 0;
    if (file->size > HEAD_BYTES) {
        GArray *begins = find_packets(file->bytes, file->size);
        packets = begins->len - 1;
        /* Usually the end is damaged. */
        if (packets > 1)
            kept = keep_packets(salvage, path, file->bytes, begins, 0, packets - 1);
        kept += keep_packets(salvage, path, file->bytes, begins, packets - 1, packets);
        g_array_unref(begins);
    }
    g_string_append_printf(salvage->notes,
                           "%s: damaged: %zu of its %zu bytes could not be read (it has %u packets "
                           "that can be told apart)\n",
                           name, file->size - kept, file->size, packets);
    fm_mapped_file_free(file);
}

/* name: of the file, for messages. */
static void try_file(struct salvage *salvage, const char *path, const char *name)
{
    struct stat stat_;
    g_autofree char *absolute = fm_ctf_absolute_path(path);
    if (!fm_ctf_is_stream(path) || stat(absolute, &stat_) < 0)
        return;
    salvage->trials = 0;
    if (!try_bytes(salvage, absolute, NULL, (size_t)stat_.st_size))
        keep_parts(salvage, path, name);
}

char *fm_ctf_salvage(const char *folder, const char *folder_name, GString *notes)
{
    g_autofree char *metadata = g_build_filename(folder, "metadata", NULL);
    struct salvage salvage = {.notes = notes, .good = make_folder(metadata, notes)};
    salvage.trial = salvage.good == NULL ? NULL : make_folder(metadata, notes);
    GDir *dir = salvage.trial == NULL ? NULL : g_dir_open(folder, 0, NULL);
    const char *name;
    while (dir != NULL && (name = g_dir_read_name(dir)) != NULL) {
        g_autofree char *path = g_build_filename(folder, name, NULL);
        g_autofree char *path_name = g_build_filename(folder_name, name, NULL);
        if (salvage.endless < ENDLESS_MAX)
            try_file(&salvage, path, path_name);
    }
    if (salvage.endless >= ENDLESS_MAX)
        g_string_append_printf(notes,
                               "%s: the babeltrace2 library did not come to an end with its files; "
                               "the rest of them was not tried\n",
                               folder_name);
    if (dir != NULL)
        g_dir_close(dir);
    if (salvage.trial != NULL)
        fm_ctf_folder_remove(salvage.trial);
    g_free(salvage.trial);
    if (salvage.good != NULL && salvage.files == 0) {
        fm_ctf_folder_remove(salvage.good);
        g_clear_pointer(&salvage.good, g_free);
    }
    return salvage.good;
}

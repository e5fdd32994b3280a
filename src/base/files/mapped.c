/* SPDX-License-Identifier: Apache-2.0 */
#include "base/files/mapped.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"

/* A mapping that the signal handler knows. Guards are reused but never freed, since the handler may
 * walk the list at any moment. */
struct fm_mapped_guard {
    _Atomic uintptr_t start; /* 0 = free for reuse */
    _Atomic uintptr_t end;
    atomic_bool shrunk;
    struct fm_mapped_guard *next; /* fixed before the guard is published */
};

static _Atomic(struct fm_mapped_guard *) guards;
static GMutex guards_mutex; /* for taking and releasing guards */
static struct sigaction previous_action;

static struct fm_mapped_guard *find_guard(uintptr_t address)
{
    for (struct fm_mapped_guard *guard = atomic_load(&guards); guard; guard = guard->next) {
        uintptr_t start = atomic_load(&guard->start);
        if (start != 0 && address >= start && address < atomic_load(&guard->end))
            return guard;
    }
    return NULL;
}

static void pass_on(int number, siginfo_t *info, void *context)
{
    if ((previous_action.sa_flags & SA_SIGINFO) && previous_action.sa_sigaction) {
        previous_action.sa_sigaction(number, info, context);
    } else if (previous_action.sa_handler != SIG_DFL && previous_action.sa_handler != SIG_IGN) {
        previous_action.sa_handler(number);
    } else {
        /* returning repeats the faulting instruction, which now ends the process */
        signal(number, SIG_DFL);
    }
}

/* Replaces lost pages by zeros, from the faulting one to the end of the mapping. */
static void on_bus_error(int number, siginfo_t *info, void *context)
{
    int saved_errno = errno;
    uintptr_t address = (uintptr_t)info->si_addr;
    struct fm_mapped_guard *guard = info->si_code > 0 ? find_guard(address) : NULL;
    if (guard) {
        uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
        uintptr_t from = address & ~(page - 1);
        size_t length = atomic_load(&guard->end) - from;
        void *zeros = mmap((void *)from, length, PROT_READ,
                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE, -1, 0);
        atomic_store(&guard->shrunk, true);
        if (zeros != MAP_FAILED) {
            errno = saved_errno;
            return;
        }
    }
    pass_on(number, info, context);
    errno = saved_errno;
}

static void install_handler(void)
{
    static gsize once;
    if (!g_once_init_enter(&once))
        return;
    struct sigaction action = {.sa_sigaction = on_bus_error,
                               .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER};
    sigemptyset(&action.sa_mask);
    sigaction(SIGBUS, &action, &previous_action);
    g_once_init_leave(&once, 1);
}

static struct fm_mapped_guard *take_guard(const void *bytes, size_t size)
{
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    g_mutex_lock(&guards_mutex);
    struct fm_mapped_guard *guard = atomic_load(&guards);
    while (guard && atomic_load(&guard->start) != 0)
        guard = guard->next;
    bool fresh = !guard;
    if (fresh) {
        guard = g_new0(struct fm_mapped_guard, 1);
        guard->next = atomic_load(&guards);
    }
    atomic_store(&guard->shrunk, false);
    atomic_store(&guard->end, ((uintptr_t)bytes + size + page - 1) & ~(page - 1));
    atomic_store(&guard->start, (uintptr_t)bytes);
    if (fresh)
        atomic_store(&guards, guard);
    g_mutex_unlock(&guards_mutex);
    return guard;
}

static const char *kind_of_file(mode_t mode)
{
    if (S_ISDIR(mode))
        return "a directory";
    if (S_ISFIFO(mode))
        return "a FIFO";
    if (S_ISSOCK(mode))
        return "a socket";
    return "a device";
}

static bool map_descriptor(int descriptor, const char *path, struct fm_mapped_file *file,
                           GError **error)
{
    struct stat status;
    if (fstat(descriptor, &status) != 0) {
        g_set_error(error, FM_ERROR, FM_ERROR_IO, "%s: %s", path, g_strerror(errno));
        return false;
    }
    if (!S_ISREG(status.st_mode)) {
        g_set_error(error, FM_ERROR, FM_ERROR_IO, "%s: is %s, expected a regular file", path,
                    kind_of_file(status.st_mode));
        return false;
    }
    file->size = (size_t)status.st_size;
    if (file->size == 0)
        return true;
    void *bytes = mmap(NULL, file->size, PROT_READ, MAP_PRIVATE, descriptor, 0);
    if (bytes == MAP_FAILED) {
        g_set_error(error, FM_ERROR, FM_ERROR_IO, "%s: cannot map %zu bytes: %s", path, file->size,
                    g_strerror(errno));
        return false;
    }
    file->bytes = bytes;
    file->guard = take_guard(bytes, file->size);
    madvise(bytes, file->size, MADV_SEQUENTIAL);
    return true;
}

bool fm_mapped_file_open_below(const struct fm_roots *roots, const char *path,
                               struct fm_mapped_file **ret, GError **error)
{
    g_return_val_if_fail(path != NULL && ret != NULL, false);
    install_handler();
    int descriptor = fm_roots_open(roots, path, 0, error);
    if (descriptor < 0)
        return false;
    g_autoptr(FmMappedFile) file = g_new0(struct fm_mapped_file, 1);
    file->path = g_strdup(path);
    file->descriptor = descriptor;
    if (!map_descriptor(descriptor, path, file, error))
        return false;
    *ret = g_steal_pointer(&file);
    return true;
}

bool fm_mapped_file_open(const char *path, struct fm_mapped_file **ret, GError **error)
{
    return fm_mapped_file_open_below(NULL, path, ret, error);
}

bool fm_mapped_file_exists(const struct fm_roots *roots, const char *path)
{
    g_autofree char *real = roots == NULL ? NULL : fm_roots_find(roots, path);
    return roots == NULL ? g_file_test(path, G_FILE_TEST_EXISTS) : real != NULL;
}

bool fm_mapped_file_find(const struct fm_roots *roots, const char *path,
                         struct fm_mapped_file **ret, GError **error)
{
    g_return_val_if_fail(path != NULL && ret != NULL, false);
    if (!fm_mapped_file_exists(roots, path)) {
        g_set_error(error, FM_ERROR, FM_ERROR_NOT_FOUND, "%s: there is no such file", path);
        return false;
    }
    return fm_mapped_file_open_below(roots, path, ret, error);
}

const uint8_t *fm_mapped_file_begin(const struct fm_mapped_file *file)
{
    static const uint8_t nothing[1];
    g_assert(file->bytes != NULL || file->size == 0);
    return file->bytes == NULL ? nothing : file->bytes;
}

bool fm_mapped_file_check(const struct fm_mapped_file *file, GError **error)
{
    /* The last page of a truncated file reads as zeros without a signal, so check the size, too. */
    struct stat status;
    bool shorter = fstat(file->descriptor, &status) == 0 && (size_t)status.st_size < file->size;
    if (!shorter && !(file->guard && atomic_load(&file->guard->shrunk)))
        return true;
    g_set_error(error, FM_ERROR, FM_ERROR_IO,
                "%s: the file became shorter while it was being read, expected %zu bytes",
                file->path, file->size);
    return false;
}

void fm_mapped_file_release_before(const struct fm_mapped_file *file, size_t offset)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    size_t length = MIN(offset, file->size) & ~(page - 1);
    /* Lost pages were replaced by anonymous zeros and stay so. */
    if (length > 0)
        madvise((void *)(uintptr_t)file->bytes, length, MADV_DONTNEED);
}

void fm_mapped_file_free(struct fm_mapped_file *file)
{
    if (!file)
        return;
    if (file->bytes) {
        munmap((void *)(uintptr_t)file->bytes, file->size);
        atomic_store(&file->guard->start, (uintptr_t)0);
    }
    close(file->descriptor);
    g_free(file->path);
    g_free(file);
}

static void copy_in_order(uint8_t *to, const uint8_t *from, size_t bytes)
{
    size_t done = 0;
    for (; done < bytes && (uintptr_t)(from + done) % sizeof(uint64_t) != 0; done++)
        to[done] = __atomic_load_n(from + done, __ATOMIC_ACQUIRE);
    for (; bytes - done >= sizeof(uint64_t); done += sizeof(uint64_t)) {
        const uint64_t *word = (const uint64_t *)(const void *)(from + done);
        uint64_t value = __atomic_load_n(word, __ATOMIC_ACQUIRE);
        memcpy(to + done, &value, sizeof value);
    }
    for (; done < bytes; done++)
        to[done] = __atomic_load_n(from + done, __ATOMIC_ACQUIRE);
}

/* How many of these bytes the file has; -1 with errno. */
static ssize_t bytes_there(int descriptor, size_t bytes, uint64_t at)
{
    struct stat status;
    if (fstat(descriptor, &status) != 0)
        return -1;
    uint64_t size = (uint64_t)status.st_size;
    return at >= size ? 0 : (ssize_t)MIN(bytes, size - at);
}

ssize_t fm_mapped_read_in_order(int descriptor, void *to, size_t bytes, uint64_t at)
{
    g_assert(to != NULL && bytes <= SSIZE_MAX);
    install_handler();
    ssize_t there = bytes_there(descriptor, bytes, at);
    if (there <= 0)
        return there;
    size_t before = (size_t)(at % (uint64_t)sysconf(_SC_PAGESIZE));
    size_t mapped = before + (size_t)there;
    uint8_t *from = mmap(NULL, mapped, PROT_READ, MAP_SHARED, descriptor, (off_t)(at - before));
    if (from == MAP_FAILED)
        return -1;
    struct fm_mapped_guard *guard = take_guard(from, mapped);
    copy_in_order(to, from + before, (size_t)there);
    atomic_store(&guard->start, (uintptr_t)0);
    munmap(from, mapped);
    /* Bytes that the file lost meanwhile were read as zeros. */
    return bytes_there(descriptor, (size_t)there, at);
}

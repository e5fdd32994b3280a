/* SPDX-License-Identifier: Apache-2.0 */
/* A recording is read while its program writes: no link is met without what it leads to. The kernel
 * of this test copies the lines of each piece from the last to the first, which a processor may do,
 * and pages of a mapped recording are there when they are first looked at. */
#include <fcntl.h>
#include <glib.h>
#include <glib/gstdio.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "record/raw/bytes.h"
#include "record/raw/recording.h"
#include "record/running/control.h"

#define PAGE 4096L
#define PAGES 16
#define BYTES (PAGES * PAGE)
#define LINE 64

static uint8_t *memory;                    /* of the file, as the program has it */
static long target;                        /* what the link in front of it leads to */
static uint8_t *looked_at, *looked_at_end; /* what is mapped of it, from mapped_at on */
static long mapped_at, page_read;

static uint64_t *word(long at)
{
    return (uint64_t *)(void *)(memory + at);
}

/* The program: as soon as the target has been read it writes that, and then the link. */
static void copied(long begin, long end)
{
    if (memory == NULL || target < begin || target >= end)
        return;
    *word(target) = 1;
    *word(target - LINE) = 1;
}

static ssize_t copy_backwards(int file, char *to, size_t bytes, long at)
{
    long got = 0;
    for (long end = at + (long)bytes; end > at;) {
        long begin = MAX(at, (end - 1) / LINE * LINE);
        long more = syscall(SYS_pread64, file, to + (begin - at), end - begin, begin);
        if (more < 0)
            return more;
        copied(begin, begin + LINE);
        got += more;
        end = begin;
    }
    return got;
}

ssize_t pread64(int file, void *to, size_t bytes, off64_t at);
ssize_t pread64(int file, void *to, size_t bytes, off64_t at)
{
    return copy_backwards(file, to, bytes, at);
}

ssize_t preadv64(int file, const struct iovec *parts, int count, off64_t at);
ssize_t preadv64(int file, const struct iovec *parts, int count, off64_t at)
{
    ssize_t all = 0;
    for (int i = 0; i < count; i++) {
        ssize_t got = copy_backwards(file, parts[i].iov_base, parts[i].iov_len, at + all);
        if (got < 0)
            return got;
        all += got;
        if ((size_t)got < parts[i].iov_len)
            break;
    }
    return all;
}

/* Another page is first looked at: the one before has been read. */
static void on_fault(int number, siginfo_t *info, void *context)
{
    (void)context;
    uint8_t *page = (uint8_t *)info->si_addr - (uintptr_t)info->si_addr % PAGE;
    if (page < looked_at || page >= looked_at_end) {
        signal(number, SIG_DFL);
        return;
    }
    copied(page_read, page_read + PAGE);
    page_read = mapped_at + (page - looked_at);
    mprotect(page, PAGE, PROT_READ);
}

void *mmap64(void *at, size_t bytes, int protection, int flags, int file, off64_t offset);
void *mmap64(void *at, size_t bytes, int protection, int flags, int file, off64_t offset)
{
    bool watched = memory != NULL && file >= 0 && protection == PROT_READ;
    void *got =
        (void *)syscall(SYS_mmap, at, bytes, watched ? PROT_NONE : protection, flags, file, offset);
    if (watched && got != MAP_FAILED) {
        looked_at = got;
        looked_at_end = looked_at + bytes;
        mapped_at = offset;
        page_read = -PAGE;
    }
    return got;
}

static char *make(int *ret_file)
{
    char *path = NULL;
    *ret_file = g_file_open_tmp("in-order-XXXXXX", &path, NULL);
    g_assert_cmpint(*ret_file, >=, 0);
    g_assert_cmpint(ftruncate(*ret_file, BYTES), ==, 0);
    memory = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, *ret_file, 0);
    g_assert_true(memory != MAP_FAILED);
    struct fm_rec_header *header = (struct fm_rec_header *)(void *)memory;
    memcpy(header->magic, FM_REC_MAGIC, sizeof header->magic);
    header->byte_order = FM_REC_BYTE_ORDER;
    header->version = FM_REC_VERSION;
    header->header_bytes = FM_REC_HEADER_BYTES;
    header->bytes_used = BYTES;
    header->pid = (uint32_t)getpid();
    header->process_start = fm_raw_process_start(getpid());
    header->state = FM_REC_RUNNING;
    return path;
}

static void drop(char *path, int file)
{
    munmap(memory, BYTES);
    memory = NULL;
    close(file);
    g_unlink(path);
    g_free(path);
}

static void check(const uint8_t *bytes)
{
    uint64_t link, leads_to;
    memcpy(&link, bytes + target - LINE, sizeof link);
    memcpy(&leads_to, bytes + target, sizeof leads_to);
    g_assert_cmpuint(link, <=, leads_to);
    g_assert_cmpuint(*word(target), ==, 1); /* it was written while that was read */
}

static void test_reading(void)
{
    for (target = PAGE; target < BYTES - PAGE; target += PAGE) { /* its link is a page before */
        int file;
        char *path = make(&file);
        struct fm_raw_bytes bytes = {.path = path};
        struct fm_rec_header header;
        g_assert_true(fm_raw_bytes_read_again(&bytes, file, &header, NULL));
        g_assert_cmpuint(bytes.size, ==, BYTES);
        check(bytes.data);
        fm_raw_bytes_done(&bytes);
        drop(path, file);
    }
}

static void test_copy(void)
{
    for (target = PAGE; target < BYTES - PAGE; target += PAGE) { /* its link is a page before */
        int file;
        uint64_t ns;
        char *path = make(&file);
        g_autofree char *to = g_strconcat(path, ".copy", NULL), *copy = NULL;
        gsize size;
        g_assert_true(fm_control_copy(path, to, 1, &ns, NULL));
        g_assert_true(g_file_get_contents(to, &copy, &size, NULL));
        g_assert_cmpuint(size, ==, BYTES);
        check((const uint8_t *)copy);
        g_unlink(to);
        drop(path, file);
    }
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    struct sigaction action = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO};
    g_assert_cmpint(sigaction(SIGSEGV, &action, NULL), ==, 0);
    g_test_add_func("/record/in-order/reading", test_reading);
    g_test_add_func("/record/in-order/copy", test_copy);
    return g_test_run();
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Counts what a program allocates, from this library's constructor on; told to the file COUNTER
 * when it ends. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

extern void *__libc_malloc(size_t bytes);
extern void *__libc_calloc(size_t count, size_t bytes);
extern void *__libc_realloc(void *block, size_t bytes);
static unsigned long blocks, bytes_sum;

static void *counted(void *block, size_t bytes)
{
    if (block != NULL) {
        __atomic_fetch_add(&blocks, 1, __ATOMIC_RELAXED);
        __atomic_fetch_add(&bytes_sum, bytes, __ATOMIC_RELAXED);
    }
    return block;
}

void *malloc(size_t bytes)
{
    return counted(__libc_malloc(bytes), bytes);
}
void *calloc(size_t count, size_t bytes)
{
    return counted(__libc_calloc(count, bytes), count * bytes);
}
void *realloc(void *block, size_t bytes)
{
    return counted(__libc_realloc(block, bytes), bytes);
}

__attribute__((constructor)) static void begin(void)
{
    blocks = bytes_sum = 0;
}

__attribute__((destructor)) static void tell(void)
{
    char line[64];
    const char *path = getenv("COUNTER");
    int fd = path != NULL ? open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666) : -1;
    int size = snprintf(line, sizeof line, "%lu %lu\n", blocks, bytes_sum);
    if (fd < 0 || write(fd, line, (size_t)size) != size)
        _exit(99);
    close(fd);
}

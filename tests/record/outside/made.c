/* SPDX-License-Identifier: Apache-2.0 */
/* Makes code while it runs, and writes its name down: in /tmp/perf-PID.map, or in the jitdump file
 * that is its argument. Runs it until a line of standard input. */
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* push %rbp; mov %rsp,%rbp; mov $1000000,%ecx; 1: dec %ecx; jnz 1b; pop %rbp; ret */
static const uint8_t code[] = {0x55, 0x48, 0x89, 0xe5, 0xb9, 0x40, 0x42, 0x0f,
                               0x00, 0xff, 0xc9, 0x75, 0xfc, 0x5d, 0xc3};
static void (*made)(void);
static volatile int over, count;

struct load {
    uint32_t id, size;
    uint64_t time;
    uint32_t process, thread;
    uint64_t address, code_address, code_size, number;
};

static void write_map(const char *older, const char *name)
{
    char path[64];
    snprintf(path, sizeof path, "/tmp/perf-%d.map", (int)getpid());
    FILE *file = fopen(path, "w");
    if (file == NULL)
        return;
    fprintf(file, "%lx %zx %s\n", (unsigned long)made, sizeof code, older);
    fprintf(file, "%lx %zx %s\n", (unsigned long)made, sizeof code, name);
    fclose(file);
}

static void write_load(int file, const char *name)
{
    uint64_t address = (uint64_t)made;
    size_t length = strlen(name) + 1;
    struct load load = {0,       (uint32_t)(sizeof load + length + sizeof code),
                        0,       (uint32_t)getpid(),
                        0,       address,
                        address, sizeof code,
                        1};
    if (write(file, &load, sizeof load) < 0 || write(file, name, length) < 0 ||
        write(file, code, sizeof code) < 0)
        perror("write");
}

static void write_dump(const char *path, const char *older, const char *name)
{
    uint32_t header[10] = {0x4A695444, 1, sizeof header, 62, 0, (uint32_t)getpid()};
    int file = open(path, O_RDWR | O_CREAT, 0600);
    if (file < 0 || write(file, header, sizeof header) < 0)
        return;
    if (mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, file, 0) == MAP_FAILED)
        perror("mmap");
    write_load(file, older);
    write_load(file, name);
    close(file);
}

__attribute__((noinline)) static void caller(void)
{
    made();
    count++;
}

static void *worker(void *none)
{
    while (!over)
        caller();
    return none;
}

int main(int words, char **word)
{
    pthread_t thread;
    char line[8];
    void *page =
        mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (page == MAP_FAILED)
        return 1;
    memcpy(page, code, sizeof code);
    memcpy(&made, &page, sizeof made);
    if (words > 1)
        write_dump(word[1], "older", "MadeOfDump");
    else
        write_map("older", "MadeOfMap");
    pthread_create(&thread, NULL, worker, NULL);
    puts("ready");
    fflush(stdout);
    int end = fgets(line, sizeof line, stdin) == NULL;
    over = 1;
    pthread_join(thread, NULL);
    return end || count == 0;
}

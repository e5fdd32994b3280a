/* SPDX-License-Identifier: Apache-2.0 */
/* Follows a program instruction by instruction through its own functions, as a debugger does, and
 * writes down where the stack stood: an account of its calls that owes nothing to hooks.
 *
 *   body_trace RANGES OUTPUT PROGRAM ARGUMENTS...
 *
 * RANGES: lines "START END ENTRY" in hexadecimal, by the addresses in the file; ENTRY is 1 for the
 * range of a function, 0 for a part of one that stands elsewhere. OUTPUT: three 64-bit words a
 * step: the address, as in the file; the stack pointer; the word there, if a function begins here.
 * What runs outside the ranges runs at full speed: while it does, the ranges are full of
 * breakpoints. One thread only. Exit status: the program's; 125 with a message, if tracing is not
 * allowed. */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/personality.h>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#define RANGES_MAX 4096

struct range {
    uint64_t start, end;
    bool entry;
    uint8_t *code, *breaks;
};

static struct range ranges[RANGES_MAX];
static unsigned range_count;
static uint64_t base; /* where the program is loaded */
static pid_t child;
static int memory = -1;
static bool planted;

static _Noreturn void fail(const char *what)
{
    fprintf(stderr, "body_trace: %s: %s\n", what, strerror(errno));
    if (child > 0)
        kill(child, SIGKILL);
    exit(125);
}

static void read_ranges(const char *path)
{
    FILE *file = fopen(path, "r");
    if (file == NULL)
        fail(path);
    unsigned long start, end;
    unsigned entry;
    while (fscanf(file, "%lx %lx %u", &start, &end, &entry) == 3) {
        if (range_count == RANGES_MAX)
            fail("too many ranges");
        ranges[range_count++] = (struct range){.start = start, .end = end, .entry = entry != 0};
    }
    fclose(file);
}

/* By the entry point: as it runs (auxiliary vector) less as it stands in the file. */
static uint64_t find_base(const char *program)
{
    Elf64_Ehdr header;
    int file = open(program, O_RDONLY | O_CLOEXEC);
    if (file < 0 || read(file, &header, sizeof header) != sizeof header)
        fail(program);
    close(file);
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/auxv", (int)child);
    file = open(path, O_RDONLY | O_CLOEXEC);
    Elf64_auxv_t entry;
    while (file >= 0 && read(file, &entry, sizeof entry) == sizeof entry)
        if (entry.a_type == AT_ENTRY) {
            close(file);
            return entry.a_un.a_val - header.e_entry;
        }
    fail(path);
}

static void read_code(void)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/mem", (int)child);
    memory = open(path, O_RDWR | O_CLOEXEC);
    if (memory < 0)
        fail(path);
    for (unsigned i = 0; i < range_count; i++) {
        struct range *r = &ranges[i];
        size_t size = r->end - r->start;
        r->code = malloc(size);
        r->breaks = malloc(size);
        if (r->code == NULL || r->breaks == NULL ||
            pread(memory, r->code, size, (off_t)(base + r->start)) != (ssize_t)size)
            fail("reading code");
        memset(r->breaks, 0xcc, size);
    }
}

static void plant(bool breaks)
{
    if (planted == breaks)
        return;
    planted = breaks;
    for (unsigned i = 0; i < range_count; i++) {
        const struct range *r = &ranges[i];
        size_t size = r->end - r->start;
        if (pwrite(memory, breaks ? r->breaks : r->code, size, (off_t)(base + r->start)) !=
            (ssize_t)size)
            fail("writing code");
    }
}

static const struct range *range_of(uint64_t address)
{
    for (unsigned i = 0; i < range_count; i++)
        if (ranges[i].start <= address && address < ranges[i].end)
            return &ranges[i];
    return NULL;
}

static int start(char **command)
{
    child = fork();
    if (child == 0) {
        if (personality(ADDR_NO_RANDOMIZE) < 0 || ptrace(PTRACE_TRACEME, 0, NULL, NULL) < 0)
            _exit(125);
        execv(command[0], command);
        _exit(125);
    }
    int status;
    if (child < 0 || waitpid(child, &status, 0) != child)
        fail("starting the program");
    if (!WIFSTOPPED(status)) {
        errno = EPERM;
        fail("tracing");
    }
    return status;
}

/* One stop: notes where the program stands, unless it stopped for a signal. The signal to deliver.
 */
static int note(int status, FILE *output, bool *inside)
{
    struct user_regs_struct registers;
    int signal = WSTOPSIG(status) == SIGTRAP ? 0 : WSTOPSIG(status);
    if (ptrace(PTRACE_GETREGS, child, NULL, &registers) < 0)
        fail("reading registers");
    uint64_t at = registers.rip - base;
    if (signal == 0 && planted && range_of(at - 1) != NULL) {
        registers.rip--;
        at--;
        if (ptrace(PTRACE_SETREGS, child, NULL, &registers) < 0)
            fail("writing registers");
    }
    const struct range *range = range_of(at);
    *inside = range != NULL;
    if (signal != 0)
        return signal;
    uint64_t record[3] = {at, registers.rsp, 0};
    if (range != NULL && range->entry && range->start == at &&
        pread(memory, &record[2], 8, (off_t)registers.rsp) != 8)
        fail("reading the stack");
    if (fwrite(record, sizeof record, 1, output) != 1)
        fail("writing the log");
    return 0;
}

int main(int argc, char **argv)
{
    if (argc < 4) {
        fputs("usage: body_trace RANGES OUTPUT PROGRAM ARGUMENTS...\n", stderr);
        return 125;
    }
    read_ranges(argv[1]);
    FILE *output = fopen(argv[2], "w");
    if (output == NULL)
        fail(argv[2]);
    /* Both on one processor: a step is a switch to and fro, without waking another. */
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET((size_t)sched_getcpu(), &one);
    (void)sched_setaffinity(0, sizeof one, &one);
    int status = start(argv + 3);
    base = find_base(argv[3]);
    read_code();
    bool inside = false;
    int signal = 0;
    do {
        plant(!inside);
        if (ptrace(inside ? PTRACE_SINGLESTEP : PTRACE_CONT, child, NULL, (void *)(long)signal) < 0)
            fail("going on");
        if (waitpid(child, &status, 0) != child)
            fail("waiting");
        if (WIFSTOPPED(status))
            signal = note(status, output, &inside);
    } while (WIFSTOPPED(status));
    if (fclose(output) != 0)
        fail(argv[2]);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

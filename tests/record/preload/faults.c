/* SPDX-License-Identifier: Apache-2.0 */
/* Things that programs do to what runs within them, one for each argument. Says what it saw. */
#include <dlfcn.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define BLOCKS 1000

static volatile unsigned long work;

__attribute__((noinline)) static void spin(long count)
{
    while (count-- > 0)
        work++;
}

__attribute__((noinline)) static void *allocate(void)
{
    void *block = malloc(24);
    work++;
    return block;
}

static int closes(void)
{
    for (int i = 0; i < 1024; i++)
        if (i != STDOUT_FILENO)
            close(i);
    int next = dup(STDOUT_FILENO);
    for (int i = 0; i < BLOCKS; i++)
        free(allocate());
    spin(30000000);
    return next; /* 0: none was kept open, or opened meanwhile */
}

/* A library whose own malloc comes first, and one with a libc of its own. */
static int loads(void)
{
    void *(*make)(void);
    void (*drop)(void *);
    void *deep = dlopen("./liba.so", RTLD_NOW | RTLD_DEEPBIND);
    void *apart = dlmopen(LM_ID_NEWLM, "./libb.so", RTLD_NOW);
    void *all[] = {deep, apart};
    for (int i = 0; i < 2; i++) {
        if (all[i] == NULL)
            return 1;
        *(void **)&make = dlsym(all[i], "make");
        *(void **)&drop = dlsym(all[i], "drop");
        for (int k = 0; k < BLOCKS; k++)
            drop(make());
        if (i == 0) /* of one libc */
            free(make());
    }
    return dlclose(deep) + dlclose(apart);
}

/* Two libraries at one address by turns, with frames of different sizes. */
static int reuses(void)
{
    uintptr_t first = 0, same = 0;
    for (int i = 0; i < 20; i++) {
        void *library = dlopen(i % 2 == 0 ? "./liba.so" : "./libb.so", RTLD_NOW);
        void *(*make)(void);
        if (library == NULL)
            return 1;
        *(void **)&make = dlsym(library, "make");
        same += first == (uintptr_t)make;
        first = (uintptr_t)make;
        for (int k = 0; k < 50; k++)
            free(make());
        dlclose(library);
    }
    return same == 0; /* else nothing is tested */
}

static int executes(char **word, int left)
{
    char number[16], *words[] = {word[0], "executes", number, NULL};
    free(allocate());
    spin(5000000); /* a clock tick comes, or is to come */
    if (left == 0)
        return 0;
    snprintf(number, sizeof number, "%d", left - 1);
    execv("/proc/self/exe", words);
    return 1;
}

static int shared(void *none)
{
    (void)none;
    spin(20000000);
    return 5;
}

/* A child in the same memory, which no thread library knows. */
static int clones(void)
{
    size_t size = 1 << 16;
    char *stack =
        mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
    int status = 0;
    if (stack == MAP_FAILED)
        return 1;
    pid_t pid = clone(shared, stack + size, CLONE_VM | SIGCHLD, NULL);
    for (int i = 0; i < BLOCKS; i++)
        free(allocate());
    return pid < 0 || waitpid(pid, &status, 0) != pid || WEXITSTATUS(status) != 5;
}

static void ends(int number)
{
    (void)number;
    static const char text[] = "overflow\n";
    _exit(write(STDOUT_FILENO, text, sizeof text - 1) > 0 ? 9 : 1);
}

__attribute__((noinline)) static int deeper(int depth)
{
    volatile char room[1000];
    room[0] = (char)depth;
    free(allocate());
    return deeper(depth + 1) + room[0];
}

static int overflows(void)
{
    static char own[1 << 16];
    stack_t stack = {.ss_sp = own, .ss_size = sizeof own};
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = ends;
    action.sa_flags = SA_ONSTACK;
    sigaltstack(&stack, NULL);
    sigaction(SIGSEGV, &action, NULL);
    return deeper(0);
}

/* Calls a function from code that has no tables and no frame. */
static int makes(void)
{
    /* sub $24,%rsp; call *%rdi; add $24,%rsp; ret */
    static const uint8_t code[] = {0x48, 0x83, 0xec, 0x18, 0xff, 0xd7,
                                   0x48, 0x83, 0xc4, 0x18, 0xc3};
    void *page =
        mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    void *(*made)(void *(*)(void));
    if (page == MAP_FAILED)
        return 1;
    memcpy(page, code, sizeof code);
    memcpy(&made, &page, sizeof made);
    for (int i = 0; i < BLOCKS; i++)
        free(made(allocate));
    return 0;
}

int main(int words, char **word)
{
    const char *what = words > 1 ? word[1] : "";
    int status = 2;
    setvbuf(stdout, NULL, _IONBF, 0);
    if (strcmp(what, "closes") == 0)
        status = closes();
    else if (strcmp(what, "loads") == 0)
        status = loads();
    else if (strcmp(what, "reuses") == 0)
        status = reuses();
    else if (strcmp(what, "executes") == 0)
        status = executes(word, words > 2 ? atoi(word[2]) : 0);
    else if (strcmp(what, "clones") == 0)
        status = clones();
    else if (strcmp(what, "overflows") == 0)
        status = overflows();
    else if (strcmp(what, "makes") == 0)
        status = makes();
    printf("%s %d\n", what, status);
    return status;
}

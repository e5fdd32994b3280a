/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <ucontext.h>

int execvp(const char *file, char *const argv[])
{
    (void)argv;
    printf("execvp %s\n", file);
    return -11;
}

int execve(const char *file, char *const argv[], char *const envp[])
{
    (void)argv;
    (void)envp;
    printf("execve %s\n", file);
    return -12;
}

int dlclose(void *handle)
{
    printf("dlclose %p\n", handle);
    return -13;
}

void makecontext(ucontext_t *context, void (*function)(void), int count, ...)
{
    (void)context;
    printf("makecontext %d %d\n", function != NULL, count);
}

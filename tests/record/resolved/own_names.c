/* SPDX-License-Identifier: Apache-2.0 */
/* Calls functions that the program has by libc's names (own_names_functions.c). */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <ucontext.h>
#include <unistd.h>

static void nothing(void)
{
}

int main(void)
{
    char *const none[] = {NULL};
    ucontext_t context;
    printf("%d %d %d\n", execvp("/bin/true", none), execve("/bin/true", none, none), dlclose(NULL));
    makecontext(&context, nothing, 0);
    return 0;
}

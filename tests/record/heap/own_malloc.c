/* SPDX-License-Identifier: Apache-2.0 */
/* A program with a malloc of its own: prints how often that was called. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

extern int own_calls;

__attribute__((noinline)) void user(void)
{
    for (int i = 0; i < 50; i++) {
        void *volatile block = malloc(64);
        block = realloc(block, 128);
        free(block);
        block = calloc(2, 8);
        free(block);
    }
    void *volatile grown = reallocarray(NULL, 3, 5);
    free(grown);
#if !defined(FOUR)
    void *volatile aligned = aligned_alloc(64, 128);
    free(aligned);
#endif
}

int main(void)
{
    int before = own_calls;
    user();
    int during = own_calls - before;
    char line[64];
    int bytes = snprintf(line, sizeof line, "%d\n", during);
    return write(1, line, (size_t)bytes) == bytes ? 0 : 1;
}

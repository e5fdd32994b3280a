/* Functions that call each other in a chain, each of which works for a while; a thread does
 * likewise. None of it is compiled for fathom. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static volatile unsigned long sink;
static long part = 1;

/* Until the thread has used so much CPU time more. */
static __attribute__((noinline)) void spin(long ms)
{
    struct timespec from, now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &from);
    do {
        for (int i = 0; i < 20000; i++)
            sink += (unsigned long)i;
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    } while ((now.tv_sec - from.tv_sec) * 1000 + (now.tv_nsec - from.tv_nsec) / 1000000 <
             ms / part);
}

#define STEP(name, next, ms)                             \
    __attribute__((noinline)) int name(int n)            \
    {                                                    \
        char room[64];                                   \
        memset(room, n, sizeof room);                    \
        spin(ms);                                        \
        return next(n + 1) + room[n % 64] - room[0] + 1; \
    }
static __attribute__((noinline)) int last(int n)
{
    spin(400);
    return n;
}
STEP(third, last, 300)
STEP(second, third, 200)
STEP(first, second, 100)

/* Each time deeper by itself, and works at the end. */
__attribute__((noinline)) int again(int n)
{
    int result = n > 0 ? again(n - 1) + 1 : (spin(300), 0);
    __asm__ volatile("" ::: "memory");
    return result;
}

static void *work(void *argument)
{
    spin(400);
    return argument;
}

int main(int words, char **word)
{
    pthread_t thread;
    if (words > 1 && strcmp(word[1], "abort") == 0)
        abort();
    if (words > 2)
        part = atoi(word[2]);
    printf("%d\n", first(1));
    printf("%d\n", again(40));
    pthread_create(&thread, NULL, work, NULL);
    pthread_join(thread, NULL);
    return words > 1 ? atoi(word[1]) : 0;
}

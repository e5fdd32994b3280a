/* SPDX-License-Identifier: Apache-2.0 */
/* Does the same again and again, so that soon nothing is new but counts: calls by pointers, that
 * recurse, of bodies that are inlined, memory that is held and given back elsewhere, locks that are
 * waited for. Until its input ends. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#define PART __attribute__((noinline))
#define HELD 64

static atomic_bool over;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static void *held[HELD];

static inline unsigned mix(unsigned value)
{
    for (int i = 0; i < 400; i++)
        value = value * 1664525u + (value >> 7);
    return value;
}

PART static unsigned leaf(unsigned n)
{
    return mix(n) + 1;
}

PART static unsigned other(unsigned n)
{
    return mix(n + 1) ^ leaf(n);
}

PART static unsigned down(unsigned depth)
{
    return depth == 0 ? leaf(depth) : down(depth - 1) + leaf(depth);
}

PART static unsigned odd(unsigned n);
PART static unsigned even(unsigned n)
{
    return n == 0 ? 1 : odd(n - 1) + 1;
}

PART static unsigned odd(unsigned n)
{
    return n == 0 ? 0 : even(n - 1) + 1;
}

PART static void hold(unsigned n)
{
    void *block = malloc(24 + n % 40);
    pthread_mutex_lock(&lock);
    void *before = held[n % HELD];
    held[n % HELD] = block;
    mix(n);
    pthread_mutex_unlock(&lock);
    free(before);
}

PART static void twice(unsigned n)
{
    hold(n);
    hold(n + 1); /* two sites of one line */
    for (int i = 0; i < 3; i++)
        leaf(n);
}

static unsigned (*const parts[])(unsigned) = {leaf, other, down, even};

static void *work(void *unused)
{
    for (unsigned n = 0; !over; n++) {
        volatile unsigned sum = 0;
        for (unsigned i = 0; i < 4; i++)
            sum += parts[i](n % 9);
        twice(n);
        if (n % 50 == 0) {
            struct timespec moment = {.tv_nsec = 1000000};
            nanosleep(&moment, NULL);
        }
    }
    return unused;
}

int main(void)
{
    char byte;
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, work, NULL);
    while (read(0, &byte, 1) > 0)
        ;
    over = true;
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* A planted fault: account() holds the one lock while write_log() waits for the log to be stored,
 * so four workers take as long as one. Little CPU time is used: what is missing is in waiting. */
#include <pthread.h>
#include <stdio.h>
#include <time.h>

#define WORKERS 4
#define ROUNDS 200

static pthread_mutex_t big = PTHREAD_MUTEX_INITIALIZER;
static long balance[WORKERS];

/* Stands for a disk that says when a line is safe. */
__attribute__((noinline)) static void write_log(void)
{
    nanosleep(&(struct timespec){.tv_nsec = 600000}, NULL);
}

__attribute__((noinline)) static long prepare(int worker, int round)
{
    long sum = 0;
    for (int i = 0; i < 2000; i++)
        sum += (long)worker * round ^ i;
    return sum;
}

__attribute__((noinline)) static void account(int worker, long amount)
{
    pthread_mutex_lock(&big);
    balance[worker] += amount;
    write_log(); /* would do behind the unlock */
    pthread_mutex_unlock(&big);
}

static void *worker(void *argument)
{
    int number = *(int *)argument;
    for (int round = 0; round < ROUNDS; round++)
        account(number, prepare(number, round));
    return NULL;
}

int main(void)
{
    pthread_t threads[WORKERS];
    int numbers[WORKERS];
    long sum = 0;
    for (int i = 0; i < WORKERS; i++) {
        numbers[i] = i;
        pthread_create(&threads[i], NULL, worker, &numbers[i]);
    }
    for (int i = 0; i < WORKERS; i++)
        pthread_join(threads[i], NULL);
    for (int i = 0; i < WORKERS; i++)
        sum += balance[i];
    printf("%ld\n", sum);
    return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Works for ever in steps of a thousand calls; counts the steps in a file that it shares with
 * whoever looks. Arguments: the file, threads. */
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

static _Atomic uint64_t *steps; /* one a thread */

static int leaf(int n)
{
    return n & 1;
}

static int step(int n)
{
    int sum = 0;
    for (int i = 0; i < 1000; i++)
        sum += leaf(n + i);
    return sum;
}

static void *work(void *argument)
{
    long index = (long)argument;
    volatile int sum = 0;
    for (int n = 0;; n++) {
        sum += step(n);
        steps[index]++;
    }
    return NULL;
}

int main(int argc, char **argv)
{
    if (argc < 3)
        return 2;
    int file = open(argv[1], O_RDWR | O_CREAT, 0600);
    if (file < 0 || ftruncate(file, 4096) != 0)
        return 2;
    steps = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    for (long i = 1; i < atol(argv[2]); i++) {
        pthread_t thread;
        pthread_create(&thread, NULL, work, (void *)i);
    }
    work((void *)0);
    return 0;
}

/* A thread that waits for a lock of the runtime is asleep until it is given back. */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

#include "internal.h"

static fm_lock lock;
static volatile int tid, done;

static void *waiter(void *unused)
{
    tid = gettid();
    fm_lock_take(&lock);
    done = 1;
    fm_lock_give(&lock);
    return unused;
}

static char state_of(int thread)
{
    char path[64], name[32], state = '?';
    int number;
    snprintf(path, sizeof path, "/proc/self/task/%d/stat", thread);
    FILE *file = fopen(path, "r");
    if (file == NULL)
        return '?';
    if (fscanf(file, "%d (%31[^)]) %c", &number, name, &state) != 3)
        state = '?';
    fclose(file);
    return state;
}

int main(void)
{
    pthread_t thread;
    fm_lock_take(&lock);
    if (pthread_create(&thread, NULL, waiter, NULL) != 0)
        return 1;
    unsigned asleep = 0;
    for (unsigned tries = 0; tries < 1000 && asleep < 20; tries++) {
        usleep(10000);
        asleep = tid != 0 && state_of(tid) == 'S' ? asleep + 1 : 0;
    }
    if (done)
        return 2;
    fm_lock_give(&lock);
    pthread_join(thread, NULL);
    return !done ? 3 : asleep < 20 ? 4 : 0;
}

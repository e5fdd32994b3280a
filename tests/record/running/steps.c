/* SPDX-License-Identifier: Apache-2.0 */
/* Does what it is told on standard input, and says when it has: "w N" calls leaf() N times, "t N"
 * the same in a thread of its own, "f N" in a child that waits for the next word of its own, "s"
 * spins until the file "go" is there, "c" takes a snapshot of its own, "m N" allocates N bytes and
 * keeps them, "e N" ends with that status. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fathom/fathom.h>

__attribute__((noinline)) int leaf(int x)
{
    __asm__ volatile("");
    return x + 1;
}

__attribute__((noinline)) int work(int n)
{
    int sum = 0;
    for (int i = 0; i < n; i++)
        sum += leaf(i);
    return sum;
}

__attribute__((noinline)) int phase(int n)
{
    return work(n);
}

static void *body(void *n)
{
    work((int)(long)n);
    return NULL;
}

static int threads(int n)
{
    pthread_t all[3];
    for (int i = 0; i < 3; i++)
        if (pthread_create(&all[i], NULL, body, (void *)(long)n) != 0)
            return 1;
    for (int i = 0; i < 3; i++)
        pthread_join(all[i], NULL);
    return 0;
}

static void *kept;

static int keep(int n)
{
    void **block = malloc((size_t)n + sizeof(void *));
    if (block == NULL)
        return 1;
    *block = kept;
    kept = block;
    return 0;
}

static int ready(void)
{
    return write(1, "k", 1) == 1;
}

static int step(const char *order)
{
    int n = atoi(order + 1);
    pid_t child;
    switch (order[0]) {
    case 'w':
        work(n);
        break;
    case 'p':
        phase(n);
        break;
    case 't':
        threads(n);
        break;
    case 'f':
        child = fork();
        if (child == 0) {
            work(n);
            return 0; /* it goes on with the words; the parent waits */
        }
        waitpid(child, NULL, 0);
        break;
    case 'c':
        fathom_snapshot("own");
        break;
    case 'm':
        return keep(n);
    case 'e':
        exit(n);
    case 's':
        while (access("go", F_OK) != 0)
            work(100);
        break;
    }
    return 0;
}

int main(void)
{
    char order[64];
    ssize_t got;
    while ((got = read(0, order, sizeof order - 1)) > 0 && order[0] != 'q') {
        order[got] = '\0';
        if (step(order) != 0 || !ready())
            return 1;
    }
    return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* a library is loaded, calls back and is closed, three times; blocks that stay; sleep; work of some milliseconds */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>
#define NI __attribute__((noinline))
static volatile long sink;
static void *volatile kept[10];
NI int mine(int x) { return x * 5; }
NI int calling(int x) { return mine(x) + mine(x + 1); }
NI int keep(int n) { kept[n] = malloc(1000 + n); free(malloc(50)); return n; }
NI void napping(void) { struct timespec nap = {0, 20000000}; nanosleep(&nap, NULL); }
NI long spin(long s) { for (int i = 0; i < 1000000; i++) s += i ^ (s << 1); return s; }
NI void working(int ms)
{
    struct timespec now;
    do {
        sink += spin(sink);
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    } while (now.tv_sec * 1000 + now.tv_nsec / 1000000 < ms);
}
int main(int argc, char **argv)
{
    int r = 0;
    for (int k = 0; k < 3; k++) {
        void *h = dlopen(argv[1], RTLD_LAZY);
        int (*call)(int (*)(int), int) = h != NULL ? (int (*)(int (*)(int), int))dlsym(h, "so_call") : NULL;
        for (int i = 0; call != NULL && i < 100; i++)
            r += call(mine, i) + call(calling, i);
        if (h != NULL)
            dlclose(h);
    }
    for (int i = 0; i < 10; i++)
        r += keep(i);
    for (int i = 0; i < 3; i++)
        napping();
    if (argc > 2)
        working(atoi(argv[2]));
    printf("%d\n", r);
    return 0;
}

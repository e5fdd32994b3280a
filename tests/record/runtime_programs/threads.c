/* SPDX-License-Identifier: Apache-2.0 */
/* Threads with different work; two end by pthread_exit below other frames. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
static long node(int depth)
{
    return depth == 0 ? 1 : node(depth - 1) + node(depth - 1);
}
static void leave(int depth)
{
    if (depth == 0)
        pthread_exit((void *)7);
    leave(depth - 1);
    puts("never");
}
static void *work(void *data)
{
    int n = (int)(size_t)data;
    long sum = 0;
    for (int i = 0; i <= n; i++)
        sum += node(i);
    if (n >= 4)
        leave(n);
    return (void *)sum;
}
int main(void)
{
    pthread_t id[6];
    size_t sum = 0;
    for (size_t i = 0; i < 6; i++)
        pthread_create(&id[i], NULL, work, (void *)(i + 1));
    for (size_t i = 0; i < 6; i++) {
        void *result;
        pthread_join(id[i], &result);
        sum += (size_t)result;
    }
    printf("%zu\n", sum);
    return 0;
}

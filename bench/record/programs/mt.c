/* SPDX-License-Identifier: Apache-2.0 */
/* Threads that build and evaluate expression trees, and sort with a callback. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

struct tree {
    int op;
    long value;
    struct tree *left, *right;
};

static struct tree *leaf(long value)
{
    struct tree *t = malloc(sizeof *t);
    *t = (struct tree){.op = 0, .value = value};
    return t;
}

static struct tree *build(int depth, unsigned *seed)
{
    *seed = *seed * 1103515245u + 12345u;
    if (depth == 0)
        return leaf((long)(*seed >> 16 & 255));
    struct tree *t = leaf(0);
    t->op = 1 + (int)(*seed >> 20) % 3;
    t->left = build(depth - 1, seed);
    t->right = build(depth - 1, seed);
    return t;
}

static long apply(int op, long a, long b)
{
    return op == 1 ? a + b : op == 2 ? a - b : (a ^ b) + 1;
}

static long evaluate(const struct tree *t)
{
    return t->op == 0 ? t->value : apply(t->op, evaluate(t->left), evaluate(t->right));
}

static void release(struct tree *t)
{
    if (t == NULL)
        return;
    release(t->left);
    release(t->right);
    free(t);
}

static int compare(const void *a, const void *b)
{
    long x = *(const long *)a, y = *(const long *)b;
    return (x > y) - (x < y);
}

static int rounds = 120;

static void *work(void *data)
{
    unsigned seed = (unsigned)(size_t)data;
    long *values = malloc(4000 * sizeof *values), sum = 0;
    for (int r = 0; r < rounds; r++) {
        struct tree *t = build(11, &seed);
        for (int i = 0; i < 12; i++)
            sum += evaluate(t);
        release(t);
        for (int i = 0; i < 4000; i++)
            values[i] = (long)((seed = seed * 1103515245u + 12345u) >> 8);
        qsort(values, 4000, sizeof *values, compare);
        sum += values[7];
    }
    free(values);
    return (void *)(size_t)sum;
}

int main(int argc, char **argv)
{
    if (argc > 1)
        rounds = atoi(argv[1]);
    int threads = argc > 2 ? atoi(argv[2]) : 4;
    pthread_t id[64];
    size_t sum = 0;
    for (int i = 0; i < threads && i < 64; i++)
        pthread_create(&id[i], NULL, work, (void *)(size_t)(i + 1));
    for (int i = 0; i < threads && i < 64; i++) {
        void *result;
        pthread_join(id[i], &result);
        sum += (size_t)result;
    }
    printf("%zu\n", sum);
    return 0;
}

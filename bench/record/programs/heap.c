/* SPDX-License-Identifier: Apache-2.0 */
/* Malloc-heavy: a linked hash map of strings, filled, looked up and emptied again. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct item {
    struct item *next;
    char *key;
    unsigned value;
};
#ifndef KEYS
#define KEYS 16000
#define BUCKETS 8192u
#endif
static struct item *buckets[BUCKETS];

static unsigned hash(const char *key)
{
    unsigned h = 5381;
    for (; *key != '\0'; key++)
        h = h * 33 + (unsigned char)*key;
    return h;
}

static void put(const char *key, unsigned value)
{
    struct item **at = &buckets[hash(key) % BUCKETS];
    for (struct item *i = *at; i != NULL; i = i->next)
        if (strcmp(i->key, key) == 0) {
            i->value += value;
            return;
        }
    struct item *fresh = malloc(sizeof *fresh);
    *fresh = (struct item){.next = *at, .key = strdup(key), .value = value};
    *at = fresh;
}

static unsigned drop_all(void)
{
    unsigned sum = 0;
    for (unsigned b = 0; b < BUCKETS; b++)
        for (struct item *i = buckets[b], *next; i != NULL; i = next) {
            next = i->next;
            sum += i->value;
            free(i->key);
            free(i);
            buckets[b] = NULL;
        }
    return sum;
}

int main(int argc, char **argv)
{
    int rounds = argc > 1 ? atoi(argv[1]) : 120;
    unsigned sum = 0, seed = 1;
    for (int r = 0; r < rounds; r++) {
        for (int i = 0; i < KEYS; i++) {
            char key[32];
            unsigned n = (seed = seed * 1103515245u + 12345u) >> 8;
            int used = 0;
            do
                key[used++] = (char)('a' + n % 26);
            while ((n /= 26) != 0);
            key[used] = '\0';
            put(key, (unsigned)i);
        }
        sum += drop_all();
    }
    printf("%u\n", sum);
    return 0;
}

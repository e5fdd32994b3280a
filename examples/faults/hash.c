/* SPDX-License-Identifier: Apache-2.0 */
/* A planted fault: hash() adds letters, and all keys have the same letters, so all lie in one
 * chain and find() compares its key with hundreds of others by same(). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BUCKETS 1024
#define KEYS 400

struct entry {
    struct entry *next;
    char key[8];
};

static struct entry *buckets[BUCKETS];

__attribute__((noinline)) static unsigned hash(const char *key)
{
    unsigned sum = 0;
    while (*key)
        sum += (unsigned char)*key++;
    return sum % BUCKETS;
}

__attribute__((noinline)) static int same(const char *a, const char *b)
{
    while (*a && *a == *b) {
        a++;
        b++;
    }
    return *a == *b;
}

__attribute__((noinline)) static struct entry *find(const char *key)
{
    for (struct entry *at = buckets[hash(key)]; at; at = at->next)
        if (same(at->key, key))
            return at;
    return NULL;
}

__attribute__((noinline)) static void insert(const char *key)
{
    struct entry *entry = malloc(sizeof *entry);
    unsigned bucket = hash(key);
    strcpy(entry->key, key);
    entry->next = buckets[bucket];
    buckets[bucket] = entry;
}

/* Digits that add up to the same sum whatever the number. */
static void make_key(int number, char *key)
{
    int a = number % 20, b = number / 20;
    key[0] = (char)('A' + a);
    key[1] = (char)('Z' - a);
    key[2] = (char)('A' + b);
    key[3] = (char)('Z' - b);
    key[4] = '\0';
}

__attribute__((noinline)) static int lookup_all(int rounds)
{
    char key[8];
    int found = 0;
    for (int round = 0; round < rounds; round++) {
        for (int i = 0; i < KEYS; i++) {
            make_key(i, key);
            found += find(key) != NULL;
        }
    }
    return found;
}

int main(void)
{
    char key[8];
    for (int i = 0; i < KEYS; i++) {
        make_key(i, key);
        insert(key);
    }
    printf("%d\n", lookup_all(40));
    return 0;
}

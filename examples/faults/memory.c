/* SPDX-License-Identifier: Apache-2.0 */
/* A planted fault: remember() keeps every request for ever. All is allocated through xmalloc(), so
 * what matters is who calls it; parse_request() allocates more, but all of that is given back. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct node {
    struct node *next;
    char text[4000];
};

static struct node *cache;

__attribute__((noinline)) static void *xmalloc(size_t size)
{
    void *memory = malloc(size);
    if (memory == NULL)
        abort();
    return memory;
}

__attribute__((noinline)) static char *parse_request(int number)
{
    char *request = xmalloc(8000 + (size_t)number % 64);
    snprintf(request, 64, "request %d", number);
    return request;
}

__attribute__((noinline)) static struct node *cons(const char *text, struct node *next)
{
    struct node *node = xmalloc(sizeof *node);
    node->next = next;
    strncpy(node->text, text, sizeof node->text - 1);
    node->text[sizeof node->text - 1] = '\0';
    return node;
}

__attribute__((noinline)) static void remember(const char *text)
{
    cache = cons(text, cache);
}

__attribute__((noinline)) static void handle(int number)
{
    char *request = parse_request(number);
    remember(request);
    free(request);
}

int main(void)
{
    int kept = 0;
    for (int i = 0; i < 3000; i++)
        handle(i);
    for (struct node *node = cache; node; node = node->next)
        kept++;
    printf("%d\n", kept);
    return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* examples/faults/report.c, mended: a buffer knows how much it holds, and grows by half. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct buffer {
    char *text;
    size_t size, room;
};

__attribute__((noinline)) static void buf_append(struct buffer *buffer, const char *more)
{
    size_t size = strlen(more);
    if (buffer->size + size + 1 > buffer->room) {
        buffer->room = (buffer->size + size + 1) * 3 / 2;
        buffer->text = realloc(buffer->text, buffer->room);
    }
    memcpy(buffer->text + buffer->size, more, size + 1);
    buffer->size += size;
}

__attribute__((noinline)) static void format_line(struct buffer *to, int number)
{
    char line[32];
    snprintf(line, sizeof line, "%d;", number);
    buf_append(to, line);
}

__attribute__((noinline)) static size_t write_page(int page)
{
    struct buffer buffer = {NULL, 0, 0};
    for (int i = 0; i < 20; i++)
        format_line(&buffer, page * i);
    size_t size = strlen(buffer.text);
    free(buffer.text);
    return size;
}

__attribute__((noinline)) static size_t write_title(int page)
{
    struct buffer buffer = {NULL, 0, 0};
    buf_append(&buffer, "page ");
    format_line(&buffer, page);
    size_t size = strlen(buffer.text);
    free(buffer.text);
    return size;
}

__attribute__((noinline)) static size_t write_index(int entries)
{
    struct buffer buffer = {NULL, 0, 0};
    for (int i = 0; i < entries; i++)
        format_line(&buffer, i);
    size_t size = strlen(buffer.text);
    free(buffer.text);
    return size;
}

int main(void)
{
    size_t size = 0;
    for (int page = 0; page < 2000; page++)
        size += write_title(page) + write_page(page);
    size += write_index(60000);
    printf("%zu\n", size);
    return 0;
}

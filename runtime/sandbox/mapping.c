/* SPDX-License-Identifier: Apache-2.0 */
/* The mapping that an address lies in, by /proc/self/maps. */
#include "../files.h"
#include "../internal.h"
#include "apart.h"

#include <fcntl.h>
#include <string.h>
#include <sys/types.h>

/* One line of /proc/self/maps, read digit by digit: "low-high perms offset dev inode path". */
struct maps_line {
    uint64_t low, high;
    unsigned field; /* 0 low, 1 high, 2 the rest */
    unsigned tail_used;
    char tail[8]; /* the last characters: "[stack]" */
};

static bool maps_line_feed(struct maps_line *line, char c, uint64_t address)
{
    if (c == '\n') {
        bool found = line->low <= address && address < line->high;
        if (!found)
            *line = (struct maps_line){0};
        return found;
    }
    if (line->field < 2) {
        uint64_t *number = line->field == 0 ? &line->low : &line->high;
        if (c >= '0' && c <= '9')
            *number = *number << 4 | (uint64_t)(c - '0');
        else if (c >= 'a' && c <= 'f')
            *number = *number << 4 | (uint64_t)(c - 'a' + 10);
        else
            line->field++;
        return false;
    }
    if (line->tail_used == 7) {
        memmove(line->tail, line->tail + 1, 6);
        line->tail_used--;
    }
    line->tail[line->tail_used++] = c;
    return false;
}

struct mapping_search {
    uint64_t address;
    struct maps_line line;
    bool found;
    char buffer[1024];
};

static void mapping_search(void *argument)
{
    struct mapping_search *search = argument;
    int fd = fm_file_open("/proc/self/maps", O_RDONLY);
    ssize_t got;
    if (fd < 0)
        return;
    while (!search->found && (got = fm_file_read(fd, search->buffer, sizeof search->buffer)) > 0)
        for (ssize_t i = 0; i < got && !search->found; i++)
            search->found = maps_line_feed(&search->line, search->buffer[i], search->address);
    fm_file_close(fd);
}

bool fm_mapping_find(uint64_t address, uint64_t *ret_low, uint64_t *ret_high, bool *ret_main_stack)
{
    struct mapping_search search = {.address = address};
    if (!fm_apart_run(mapping_search, &search))
        mapping_search(&search);
    if (!search.found)
        return false;
    const struct maps_line *line = &search.line;
    *ret_low = line->low;
    *ret_high = line->high;
    *ret_main_stack = line->tail_used == 7 && memcmp(line->tail, "[stack]", 7) == 0;
    return true;
}

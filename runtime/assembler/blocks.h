/* SPDX-License-Identifier: Apache-2.0 */
/* --grade=coverage: finds the beginnings of code blocks in gcc's text, and the places where r11
 * must be reloaded. gcc does not use r11; it holds the address of the running context's counters.
 * AT&T or Intel syntax. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* maximum for a function; fm_uncounted_v1 of the runtime has the same size */
#define FM_BLOCKS_MAX (1u << 17)

enum fm_block_act {
    FM_BLOCK_COUNT = 1,      /* before the line: a block begins */
    FM_BLOCK_KEEP_FLAGS = 2, /* and the flags are live there */
    FM_BLOCK_TAKE = 4,       /* after the line: r11 is lost */
    FM_BLOCK_LAND = 8,       /* after the line, a label: control comes from a deeper function */
};

/* Action at a line of the text. */
struct fm_block_line {
    const char *line; /* its start */
    unsigned acts;
};

struct fm_blocks {
    struct fm_block_line *lines; /* in the order of the text */
    size_t line_count, passed;
    const char **careful; /* labels of functions that use r11, likewise */
    size_t careful_count;
};

/* False: no memory. Release with fm_blocks_done() either way. O(n). */
bool fm_blocks_read(struct fm_blocks *blocks, const char *text);
void fm_blocks_done(struct fm_blocks *blocks);
/* The actions of a line; lines must be asked for in the order of the text. */
unsigned fm_blocks_at(struct fm_blocks *blocks, const char *line);
/* Whether the function, whose label is at line, uses r11 itself. */
bool fm_blocks_is_careful(const struct fm_blocks *blocks, const char *line);

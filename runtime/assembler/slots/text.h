/* SPDX-License-Identifier: Apache-2.0 */
/* Private to this folder: a text by lines, with its functions. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FM_SLOTS_NONE UINT32_MAX

/* An action for a line. */
enum fm_slots_act {
    FM_SLOTS_COPY,
    FM_SLOTS_ENTRY,      /* the nop at an entry */
    FM_SLOTS_CALL,       /* leaves hooked code, or may */
    FM_SLOTS_SET,        /* the canary is read, to be stored */
    FM_SLOTS_SET_MORE,   /* it is stored */
    FM_SLOTS_TEST,       /* it is loaded again */
    FM_SLOTS_TEST_MORE,  /* compared, and the branch if it differs */
    FM_SLOTS_TEST_ALWAYS /* the branch if it does not differ */
};

struct fm_slots_line {
    const char *at; /* without leading blanks */
    uint32_t size;
    bool label; /* begins in the first column */
    bool app;   /* the program's own assembly */
    uint8_t act;
    uint32_t function; /* or none */
};

struct fm_slots_function {
    const char *name;
    size_t name_size;
    const char *group; /* its section's; NULL: none */
    size_t group_size;
    uint32_t entry, set; /* lines; or none */
    uint32_t calls;      /* that leave, i.e. sites */
    unsigned file;       /* its number in .loc */
    bool has_file;
    bool hooked;
    bool has_calls; /* else it is a leaf: its hook is at the entry alone */
    bool late;      /* its hook is where the canary is set */
    bool weak;
    bool has_frame;    /* by rbp */
    bool realigned;    /* its frame begins with a copy of its return address */
    const char *place; /* operand of the canary, up to the end of the line */
    uint32_t sites;    /* written so far */
};

struct fm_slots_text {
    struct fm_slots_line *lines;
    size_t line_count;
    struct fm_slots_function *functions;
    size_t function_count;
    bool executable;
};

/* False: an error was printed. Release with fm_slots_text_done() either way. */
bool fm_slots_text_read(struct fm_slots_text *text, const char *all);
void fm_slots_text_done(struct fm_slots_text *text);
static inline bool fm_slots_is(const struct fm_slots_line *line, const char *word)
{
    size_t size = __builtin_strlen(word);
    return line->size >= size && __builtin_memcmp(line->at, word, size) == 0;
}
bool fm_slots_has(const struct fm_slots_line *line, const char *part);
/* The function with that name that the text defines; or none. */
uint32_t fm_slots_find(const struct fm_slots_text *text, const char *name, size_t size);

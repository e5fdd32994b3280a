/* SPDX-License-Identifier: Apache-2.0 */
/* A compiler's assembly text, reduced to control flow and hooks: labels, jumps, calls, and the
 * markers of inline_hooks.h. AT&T syntax. One list for each section, since a function's cold part
 * is in another one. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FM_SCAN_NONE UINT32_MAX

/* Bytes of the text. */
struct fm_word {
    const char *at;
    size_t size;
};

enum fm_item_kind {
    FM_ITEM_LABEL,
    FM_ITEM_MARKER,
    FM_ITEM_CALL, /* also a jump to another function */
    FM_ITEM_RETURN,
    FM_ITEM_STOP,   /* ud2, hlt */
    FM_ITEM_JUMP,   /* always */
    FM_ITEM_BRANCH, /* or not */
    FM_ITEM_TABLE,  /* an indirect jump */
};

struct fm_item {
    enum fm_item_kind kind;
    uint32_t value;    /* label: itself; marker; jump, branch: label; table: label, or none = any of
                          the function's; call: landing region, or none */
    uint32_t next;     /* in its section, or none */
    uint32_t function; /* or none */
    bool ends;         /* call: nothing follows for certain */
    bool harmless;     /* call: the callee runs none of the program's functions */
};

struct fm_label {
    struct fm_word name;
    uint32_t item; /* none: not in this text's code */
    uint32_t function;
    uint32_t table; /* first of its entries, or none: data that name code */
    uint32_t table_entries;
    bool is_start; /* something leads here */
    bool is_entry; /* true for a function, false for a cold part */
    bool is_cold;
};

struct fm_marker {
    const char *line;         /* position of fathom_... */
    struct fm_word operand;   /* "$f" or "%rbx" */
    struct fm_word symbol;    /* f, also if the register was loaded with it; size 0: not known */
    uint32_t function, label; /* label: of the function */
    bool enter, full;
    bool names_function; /* names the function that contains it, or a clone */
};

/* Calls between .LEHB and .LEHE go on at a landing pad when they throw. */
struct fm_region {
    uint32_t landing; /* label, or none */
    bool has_call;
};

struct fm_scan {
    struct fm_item *items;
    struct fm_label *labels;
    struct fm_marker *markers;
    struct fm_region *regions;
    uint32_t *entries; /* tables' entries: labels */
    bool *calls;       /* by function: it has a call, or a jump that may lead out of it */
    uint32_t *starts;  /* by function: its label */
    uint32_t item_count, label_count, marker_count, region_count, entry_count, function_count;
    bool odd; /* something in it that is not understood: nothing may be concluded */
};

/* False: no memory. Release with fm_scan_done() either way. O(n). */
bool fm_scan_read(struct fm_scan *scan, const char *text);
void fm_scan_done(struct fm_scan *scan);

/* f, f(%rip), f@GOTPCREL(%rip) name f; in code, clones of f have a suffix: f.constprop.0 */
bool fm_scan_names(struct fm_word operand, struct fm_word function);

/* gcc before 11 puts the nop at an entry in front of the function's begin (.LFB1, .cfi_startproc),
 * so hooks there would belong to no function. Moves it behind that, as newer ones have it. */
void fm_scan_put_nops_inside(char *all);

/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the parts of the scan: words.c < scan_labels.c < scan_code.c, scan_data.c < scan.c. */
#pragma once

#include "scan.h"

#define FM_SECTIONS_DEEP 16
#define FM_REGISTERS 16

struct fm_section {
    struct fm_word name;
    bool code, debug;
    uint32_t last; /* item */
};

struct fm_reader {
    struct fm_scan *scan;
    bool failed;
    uint32_t *slots; /* label + 1 by name: open addressing */
    uint32_t slot_mask;
    struct fm_section *sections;
    uint32_t section_count, section, previous;
    uint32_t pushed[FM_SECTIONS_DEEP];
    unsigned depth;
    struct fm_word announced; /* by .type NAME, @function */
    uint32_t function, function_label;
    uint32_t data_label; /* label of the table being read */
    uint32_t region;     /* landing region that is open, or none */
    bool in_app;
    /* Contents of registers, in the order of the text: a table's label, or an entry of one. */
    uint32_t table_in[FM_REGISTERS];
    bool is_entry[FM_REGISTERS];
    struct fm_word symbol_in[FM_REGISTERS];
    /* The exception table's call-site records: .uleb128 lines */
    uint32_t record_region;
    unsigned record_line;
};

/* words.c */
bool fm_word_is(struct fm_word word, const char *text);
bool fm_word_begins(struct fm_word word, const char *text);
bool fm_word_same(struct fm_word left, struct fm_word right);
struct fm_word fm_word_name_at(const char *at, const char *end);
struct fm_word fm_word_rest_of(const char *at, const char *end); /* after blanks */

/* scan_labels.c. Failures, of memory, are noted in the reader. */
void *fm_scan_grow(struct fm_reader *reader, void *array, uint32_t count, size_t size);
uint32_t fm_scan_label_of(struct fm_reader *reader, struct fm_word name);
void fm_scan_mark_start(struct fm_reader *reader, struct fm_word name);
uint32_t fm_scan_add_item(struct fm_reader *reader, enum fm_item_kind kind, uint32_t value,
                          bool ends);
void fm_scan_forget_registers(struct fm_reader *reader);
void fm_scan_define_label(struct fm_reader *reader, struct fm_word name);

/* scan_data.c, scan_code.c */
void fm_scan_enter_section(struct fm_reader *reader, struct fm_word name, bool code);
void fm_scan_directive(struct fm_reader *reader, struct fm_word name, struct fm_word rest);
void fm_scan_instruction(struct fm_reader *reader, const char *at, const char *end);

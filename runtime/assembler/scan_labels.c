/* SPDX-License-Identifier: Apache-2.0 */
/* Labels by name, items in the order of their section, and the functions that labels begin. */
#include <stdlib.h>
#include <string.h>

#include "scan_internal.h"

#include "check.h"

/* Makes room for one more element; the arrays grow by doubling. */
void *fm_scan_grow(struct fm_reader *reader, void *array, uint32_t count, size_t size)
{
    if (count != 0 && (count & (count - 1)) != 0)
        return array;
    void *more = realloc(array, (count == 0 ? 1 : 2 * (size_t)count) * size);
    if (more == NULL) {
        reader->failed = true;
        return array;
    }
    return more;
}

static uint64_t hash_of(struct fm_word name)
{
    uint64_t hash = 14695981039346656037u;
    for (size_t i = 0; i < name.size; i++)
        hash = (hash ^ (unsigned char)name.at[i]) * 1099511628211u;
    return hash ^ hash >> 29;
}

static void slots_double(struct fm_reader *reader)
{
    uint32_t count = reader->slot_mask == 0 ? 1024 : (reader->slot_mask + 1) * 2;
    uint32_t *slots = calloc(count, sizeof *slots);
    if (slots == NULL) {
        reader->failed = true;
        return;
    }
    for (uint32_t i = 0; i < reader->scan->label_count; i++) {
        uint32_t at = (uint32_t)hash_of(reader->scan->labels[i].name) & (count - 1);
        while (slots[at] != 0)
            at = (at + 1) & (count - 1);
        slots[at] = i + 1;
    }
    free(reader->slots);
    reader->slots = slots;
    reader->slot_mask = count - 1;
}

uint32_t fm_scan_label_of(struct fm_reader *reader, struct fm_word name)
{
    struct fm_scan *scan = reader->scan;
    if (reader->slot_mask == 0 || scan->label_count >= reader->slot_mask / 2)
        slots_double(reader);
    if (reader->failed)
        return FM_SCAN_NONE;
    FM_AS_ASSERT(scan->label_count <= reader->slot_mask / 2 + 1); /* a slot is free */
    uint32_t at = (uint32_t)hash_of(name) & reader->slot_mask;
    for (; reader->slots[at] != 0; at = (at + 1) & reader->slot_mask)
        if (fm_word_same(scan->labels[reader->slots[at] - 1].name, name))
            return reader->slots[at] - 1;
    scan->labels = fm_scan_grow(reader, scan->labels, scan->label_count, sizeof *scan->labels);
    if (reader->failed)
        return FM_SCAN_NONE;
    scan->labels[scan->label_count] = (struct fm_label){
        .name = name, .item = FM_SCAN_NONE, .function = FM_SCAN_NONE, .table = FM_SCAN_NONE};
    reader->slots[at] = ++scan->label_count;
    return scan->label_count - 1;
}

void fm_scan_mark_start(struct fm_reader *reader, struct fm_word name)
{
    uint32_t label = fm_scan_label_of(reader, name);
    if (label != FM_SCAN_NONE)
        reader->scan->labels[label].is_start = true;
}

uint32_t fm_scan_add_item(struct fm_reader *reader, enum fm_item_kind kind, uint32_t value,
                          bool ends)
{
    struct fm_scan *scan = reader->scan;
    scan->items = fm_scan_grow(reader, scan->items, scan->item_count, sizeof *scan->items);
    if (reader->failed)
        return FM_SCAN_NONE;
    FM_AS_ASSERT(scan->item_count < FM_SCAN_NONE);
    uint32_t index = scan->item_count++;
    scan->items[index] = (struct fm_item){.kind = kind,
                                          .value = value,
                                          .next = FM_SCAN_NONE,
                                          .function = reader->function,
                                          .ends = ends};
    struct fm_section *section = &reader->sections[reader->section];
    if (section->last != FM_SCAN_NONE)
        scan->items[section->last].next = index;
    section->last = index;
    return index;
}

void fm_scan_forget_registers(struct fm_reader *reader)
{
    for (unsigned i = 0; i < FM_REGISTERS; i++) {
        reader->table_in[i] = FM_SCAN_NONE;
        reader->is_entry[i] = false;
        reader->symbol_in[i] = (struct fm_word){0};
    }
}

/* The cold part of a function belongs to it. */
static void begin_function(struct fm_reader *reader, uint32_t label)
{
    FM_AS_ASSERT(label < reader->scan->label_count);
    struct fm_scan *scan = reader->scan;
    struct fm_word name = scan->labels[label].name;
    uint32_t whole = FM_SCAN_NONE;
    for (size_t i = 1; i + 5 <= name.size; i++)
        if (memcmp(name.at + i, ".cold", 5) == 0 && (i + 5 == name.size || name.at[i + 5] == '.'))
            whole = fm_scan_label_of(reader, (struct fm_word){name.at, i});
    if (whole != FM_SCAN_NONE && scan->labels[whole].function != FM_SCAN_NONE) {
        reader->function = scan->labels[whole].function;
        reader->function_label = whole;
        scan->labels[label].is_cold = true;
    } else {
        scan->starts =
            fm_scan_grow(reader, scan->starts, scan->function_count, sizeof *scan->starts);
        if (reader->failed)
            return;
        scan->starts[scan->function_count] = label;
        reader->function = scan->function_count++;
        reader->function_label = label;
        scan->labels[label].is_entry = true;
    }
    scan->labels[label].is_start = true;
    fm_scan_forget_registers(reader);
}

void fm_scan_define_label(struct fm_reader *reader, struct fm_word name)
{
    struct fm_scan *scan = reader->scan;
    bool code = reader->sections[reader->section].code;
    if (fm_word_begins(name, ".LEHB") && code) {
        reader->region = (uint32_t)strtoul(name.at + 5, NULL, 10);
        return;
    }
    if (fm_word_begins(name, ".LEHE") && code) {
        reader->region = FM_SCAN_NONE;
        return;
    }
    /* Labels of debug information, and of inline assembler, which stay inside of it. */
    if (fm_word_begins(name, ".LVL") || fm_word_begins(name, ".LBB") ||
        fm_word_begins(name, ".LBE") || fm_word_begins(name, ".LFE") ||
        (name.at[0] >= '0' && name.at[0] <= '9'))
        return;
    if (reader->sections[reader->section].debug)
        return;
    uint32_t label = fm_scan_label_of(reader, name);
    if (label == FM_SCAN_NONE)
        return;
    if (!code) {
        reader->data_label = label;
        return;
    }
    if (fm_word_same(name, reader->announced))
        begin_function(reader, label);
    scan->labels[label].function = reader->function;
    scan->labels[label].item = fm_scan_add_item(reader, FM_ITEM_LABEL, label, false);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Directives: sections, jump tables, exception tables. */
#include <stdlib.h>
#include <string.h>

#include "scan_internal.h"

void fm_scan_enter_section(struct fm_reader *reader, struct fm_word name, bool code)
{
    reader->previous = reader->section;
    reader->data_label = FM_SCAN_NONE;
    for (uint32_t i = 0; i < reader->section_count; i++) {
        if (fm_word_same(reader->sections[i].name, name)) {
            reader->section = i;
            return;
        }
    }
    reader->sections =
        fm_scan_grow(reader, reader->sections, reader->section_count, sizeof *reader->sections);
    if (reader->failed)
        return;
    reader->section = reader->section_count++;
    reader->sections[reader->section] =
        (struct fm_section){name, code, fm_word_begins(name, ".debug"), FM_SCAN_NONE};
}

/* .section NAME,"flags",... Groups of one name are different sections: the whole line counts as the
 * name. */
static void section_directive(struct fm_reader *reader, struct fm_word rest)
{
    bool code = fm_word_begins(rest, ".text") || fm_word_begins(rest, ".init") ||
                fm_word_begins(rest, ".fini");
    const char *flags = memchr(rest.at, '"', rest.size);
    if (fm_word_begins(rest, ".init_array") || fm_word_begins(rest, ".fini_array"))
        code = false;
    for (const char *at = flags; at != NULL && ++at < rest.at + rest.size && *at != '"';)
        code = code || *at == 'x';
    fm_scan_enter_section(reader, rest, code);
}

static void add_table_entry(struct fm_reader *reader, struct fm_word label_name)
{
    struct fm_scan *scan = reader->scan;
    if (reader->data_label == FM_SCAN_NONE)
        return;
    uint32_t label = fm_scan_label_of(reader, label_name);
    if (label == FM_SCAN_NONE)
        return;
    scan->entries = fm_scan_grow(reader, scan->entries, scan->entry_count, sizeof *scan->entries);
    if (reader->failed)
        return;
    struct fm_label *table = &scan->labels[reader->data_label];
    if (table->table == FM_SCAN_NONE)
        table->table = scan->entry_count;
    table->table_entries = scan->entry_count + 1 - table->table;
    scan->entries[scan->entry_count++] = label;
    scan->labels[label].is_start = true;
}

/* Four lines of .uleb128 for each region: begin, length, landing pad or 0, action. */
static void exception_line(struct fm_reader *reader, struct fm_word rest)
{
    struct fm_scan *scan = reader->scan;
    if (fm_word_begins(rest, ".LEHB")) {
        reader->record_region = (uint32_t)strtoul(rest.at + 5, NULL, 10);
        reader->record_line = 0;
        return;
    }
    if (reader->record_region == FM_SCAN_NONE || ++reader->record_line != 2)
        return;
    uint32_t region = reader->record_region;
    reader->record_region = FM_SCAN_NONE;
    if (!fm_word_begins(rest, ".L"))
        return;
    uint32_t label = fm_scan_label_of(reader, fm_word_name_at(rest.at, rest.at + rest.size));
    while (scan->region_count <= region && !reader->failed) {
        scan->regions =
            fm_scan_grow(reader, scan->regions, scan->region_count, sizeof *scan->regions);
        if (!reader->failed)
            scan->regions[scan->region_count++] = (struct fm_region){.landing = FM_SCAN_NONE};
    }
    if (reader->failed || label == FM_SCAN_NONE)
        return;
    scan->regions[region].landing = label;
    scan->labels[label].is_start = true;
}

static void push_section(struct fm_reader *reader, struct fm_word rest)
{
    if (reader->depth == FM_SECTIONS_DEEP) {
        reader->scan->odd = true;
        return;
    }
    reader->pushed[reader->depth++] = reader->section;
    section_directive(reader, rest);
}

void fm_scan_directive(struct fm_reader *reader, struct fm_word name, struct fm_word rest)
{
    bool code = reader->sections[reader->section].code;
    if (fm_word_is(name, ".type")) {
        const char *end = rest.at + rest.size;
        bool function = false;
        for (const char *at = rest.at; at + 9 <= end; at++)
            function = function || memcmp(at, "@function", 9) == 0;
        if (function)
            reader->announced = fm_word_name_at(rest.at, end);
    } else if (fm_word_is(name, ".text") || fm_word_is(name, ".data") || fm_word_is(name, ".bss")) {
        fm_scan_enter_section(reader, name, fm_word_is(name, ".text"));
    } else if (fm_word_is(name, ".section")) {
        section_directive(reader, rest);
    } else if (fm_word_is(name, ".pushsection")) {
        push_section(reader, rest);
    } else if (fm_word_is(name, ".popsection")) {
        if (reader->depth > 0)
            reader->section = reader->pushed[--reader->depth];
    } else if (fm_word_is(name, ".previous")) {
        uint32_t now = reader->section;
        reader->section = reader->previous;
        reader->previous = now;
    } else if (fm_word_is(name, ".uleb128")) {
        exception_line(reader, rest);
    } else if (!code && (fm_word_is(name, ".quad") || fm_word_is(name, ".long") ||
                         fm_word_is(name, ".value"))) {
        if (fm_word_begins(rest, ".L") && !fm_word_begins(rest, ".LEH") &&
            !fm_word_begins(rest, ".LC"))
            add_table_entry(reader, fm_word_name_at(rest.at, rest.at + rest.size));
    } else if (fm_word_is(name, ".intel_syntax") || fm_word_is(name, ".macro") ||
               fm_word_is(name, ".include") || fm_word_is(name, ".subsection")) {
        reader->scan->odd = true;
    }
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the text line by line, and facts about whole functions. */
#include "scan.h"

#include <stdlib.h>
#include <string.h>

#include "scan_internal.h"

static void statement(struct fm_reader *reader, const char *at, const char *end)
{
    for (;;) {
        struct fm_word text = fm_word_rest_of(at, end);
        if (text.size == 0 || text.at[0] == '#')
            return;
        struct fm_word name = fm_word_name_at(text.at, end);
        const char *behind = name.at + name.size;
        if (name.size == 0 || behind >= end || *behind != ':') {
            if (text.at[0] == '.')
                fm_scan_directive(reader, name, fm_word_rest_of(behind, end));
            else if (reader->sections[reader->section].code)
                fm_scan_instruction(reader, text.at, end);
            return;
        }
        fm_scan_define_label(reader, name);
        at = behind + 1;
    }
}

static void line_read(struct fm_reader *reader, const char *at, const char *end)
{
    struct fm_word text = fm_word_rest_of(at, end);
    if (fm_word_begins(text, "#APP"))
        reader->in_app = true;
    else if (fm_word_begins(text, "#NO_APP"))
        reader->in_app = false;
    while (reader->in_app && at < end) {
        const char *cut = memchr(at, ';', (size_t)(end - at));
        if (cut == NULL)
            break;
        statement(reader, at, cut);
        at = cut + 1;
    }
    statement(reader, at, end);
}

static void find_calls(struct fm_scan *scan)
{
    scan->calls = calloc(scan->function_count + 1u, sizeof *scan->calls);
    for (uint32_t i = 0; scan->calls != NULL && i < scan->item_count; i++) {
        const struct fm_item *item = &scan->items[i];
        const struct fm_label *label = NULL;
        bool out = item->kind == FM_ITEM_CALL && !item->harmless;
        if (item->kind == FM_ITEM_JUMP || item->kind == FM_ITEM_BRANCH) {
            label = &scan->labels[item->value];
            out = label->item == FM_SCAN_NONE || label->is_entry;
        } else if (item->kind == FM_ITEM_TABLE) {
            out = item->value == FM_SCAN_NONE || scan->labels[item->value].table == FM_SCAN_NONE;
        }
        if (out && item->function != FM_SCAN_NONE)
            scan->calls[item->function] = true;
    }
}

bool fm_scan_read(struct fm_scan *scan, const char *text)
{
    *scan = (struct fm_scan){0};
    struct fm_reader reader = {.scan = scan,
                               .function = FM_SCAN_NONE,
                               .function_label = FM_SCAN_NONE,
                               .data_label = FM_SCAN_NONE,
                               .region = FM_SCAN_NONE,
                               .record_region = FM_SCAN_NONE};
    fm_scan_forget_registers(&reader);
    fm_scan_enter_section(&reader, (struct fm_word){".text", 5}, true);
    while (*text != '\0' && !reader.failed) {
        const char *end = strchr(text, '\n');
        end = end != NULL ? end : text + strlen(text);
        line_read(&reader, text, end);
        text = *end == '\0' ? end : end + 1;
    }
    free(reader.slots);
    free(reader.sections);
    if (!reader.failed)
        find_calls(scan);
    return !reader.failed && scan->calls != NULL;
}

void fm_scan_done(struct fm_scan *scan)
{
    free(scan->items);
    free(scan->labels);
    free(scan->markers);
    free(scan->regions);
    free(scan->entries);
    free(scan->calls);
    free(scan->starts);
}

static const char *line_behind(const char *line)
{
    const char *end = strchr(line, '\n');
    return end == NULL ? line + strlen(line) : end + 1;
}

/* The end of a function's begin, which its debug information and unwind table describe from here
 * on; NULL: none begins at line. */
static const char *behind_begin(const char *line)
{
    while (strncmp(line, ".LVL", 4) == 0)
        line = line_behind(line);
    if (strncmp(line, ".LFB", 4) != 0)
        return NULL;
    const char *behind = line_behind(line);
    for (line = behind; strncmp(line, "\t.file", 6) == 0 || strncmp(line, "\t.loc ", 6) == 0;)
        line = line_behind(line);
    if (strncmp(line, "\t.cfi_startproc\n", 16) == 0)
        behind = line_behind(line);
    return strncmp(behind, "\tendbr64\n", 9) == 0 ? line_behind(behind) : behind;
}

void fm_scan_put_nops_inside(char *all)
{
    static const char nop[] = "\tnop\n";
    const size_t size = sizeof nop - 1;
    for (char *at = all; (at = strstr(at, "\n.LPFE")) != NULL; at++) {
        char *line = all + (line_behind(at + 1) - all);
        const char *begin = strncmp(line, nop, size) == 0 ? behind_begin(line + size) : NULL;
        if (begin == NULL)
            continue;
        size_t between = (size_t)(begin - line) - size;
        memmove(line, line + size, between);
        memcpy(line + between, nop, size);
    }
}

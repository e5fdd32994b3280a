/* SPDX-License-Identifier: Apache-2.0 */
/* Instructions: calls, jumps, markers, and contents of registers before an indirect jump. */
#define _GNU_SOURCE 1 /* memmem */
#include <stdlib.h>
#include <string.h>

#include "scan_internal.h"

static int register_number(struct fm_word text)
{
    static const char *const names[] = {"ax", "bx", "cx", "dx", "si", "di", "bp", "sp"};
    if (text.size < 3 || text.at[0] != '%')
        return -1;
    const char *at = text.at + 1;
    if ((*at == 'r' || *at == 'e') && text.size >= 4) {
        for (int i = 0; i < 8; i++)
            if (memcmp(at + 1, names[i], 2) == 0)
                return i;
    }
    if (*at == 'r' && at[1] >= '0' && at[1] <= '9') {
        int number = atoi(at + 1);
        return number >= 8 && number < FM_REGISTERS ? number : -1;
    }
    for (int i = 0; i < 8; i++)
        if (memcmp(at, names[i], 2) == 0)
            return i;
    static const char low[] = "abcd";
    const char *found = text.size == 3 ? strchr(low, at[0]) : NULL; /* al, bh */
    static const int of_low[] = {0, 1, 2, 3};
    return found != NULL && (at[1] == 'l' || at[1] == 'h') ? of_low[found - low] : -1;
}

/* Finds the last operand. */
static struct fm_word last_operand(struct fm_word operands)
{
    size_t from = 0;
    int nesting = 0;
    for (size_t i = 0; i < operands.size; i++) {
        if (operands.at[i] == '#') {
            operands.size = i;
            break;
        }
        nesting += operands.at[i] == '(' ? 1 : operands.at[i] == ')' ? -1 : 0;
        if (operands.at[i] == ',' && nesting == 0)
            from = i + 1;
    }
    while (operands.size > from && strchr(" \t", operands.at[operands.size - 1]) != NULL)
        operands.size--;
    return fm_word_rest_of(operands.at + from, operands.at + operands.size);
}

/* Tracks values loaded into the last operand: tables, their entries, addresses of functions. */
static void follow_registers(struct fm_reader *reader, struct fm_word name, struct fm_word operands)
{
    struct fm_word last = last_operand(operands);
    int to = register_number(last);
    struct fm_word symbol = fm_word_name_at(operands.at, operands.at + operands.size);
    bool address = fm_word_begins(name, "lea");
    if (address && fm_word_begins(symbol, ".L"))
        fm_scan_mark_start(reader, symbol);
    if (operands.size > 1 && operands.at[0] == '$' && fm_word_begins(name, "mov")) {
        symbol = fm_word_name_at(operands.at + 1, operands.at + operands.size);
        address = symbol.size > 0 && !(symbol.at[0] >= '0' && symbol.at[0] <= '9');
        if (fm_word_begins(symbol, ".L"))
            fm_scan_mark_start(reader, symbol);
    }
    if (to < 0)
        return;
    uint32_t table = FM_SCAN_NONE;
    struct fm_word held = {0};
    bool entry = false;
    if (address && fm_word_begins(symbol, ".L"))
        table = fm_scan_label_of(reader, symbol);
    else if (address && symbol.size > 0)
        held = symbol;
    else if (fm_word_begins(name, "movq") && symbol.size > 0 &&
             memmem(operands.at, operands.size, "@GOTPCREL", 9) != NULL)
        held = symbol;
    if (fm_word_begins(name, "movs") && operands.size > 0 && operands.at[0] == '(') {
        const char *end = operands.at + operands.size;
        const char *comma = memchr(operands.at, ',', operands.size);
        if (comma != NULL && end > comma) {
            int base = register_number(
                (struct fm_word){operands.at + 1, (size_t)(comma - operands.at - 1)});
            if (base >= 0 && !reader->is_entry[base] && reader->table_in[base] != FM_SCAN_NONE) {
                table = reader->table_in[base];
                entry = true;
            }
        }
    } else if (fm_word_begins(name, "add") && reader->is_entry[to]) {
        return; /* the entry's distance, and the table's address to it */
    } else if (fm_word_begins(name, "add") && operands.at[0] == '%') {
        /* or the other order */
        int other = register_number(operands);
        if (other >= 0 && reader->is_entry[other]) {
            reader->table_in[to] = reader->table_in[other];
            reader->is_entry[to] = true;
            return;
        }
    } else if (fm_word_begins(name, "cmp") || fm_word_begins(name, "test") ||
               fm_word_begins(name, "push")) {
        return;
    }
    reader->table_in[to] = table;
    reader->is_entry[to] = entry;
    reader->symbol_in[to] = held;
}

static void add_call(struct fm_reader *reader, struct fm_word operands)
{
    /* Only reserved and standard names: a program may have its own function err. */
    static const char *const final[] = {"abort",
                                        "exit",
                                        "_exit",
                                        "_Exit",
                                        "quick_exit",
                                        "longjmp",
                                        "_longjmp",
                                        "siglongjmp",
                                        "__longjmp_chk",
                                        "__assert_fail",
                                        "__stack_chk_fail",
                                        "__chk_fail",
                                        "__fortify_fail",
                                        "__cxa_throw",
                                        "__cxa_rethrow",
                                        "_Unwind_Resume",
                                        "__cxa_bad_cast",
                                        "_ZSt9terminatev",
                                        "pthread_exit",
                                        "__assert_perror_fail",
                                        "__cxa_throw_bad_array_new_length",
                                        "__cxa_call_unexpected",
                                        "_ZSt17__throw_bad_allocv"};
    struct fm_word name = fm_word_name_at(operands.at, operands.at + operands.size);
    bool ends = false;
    for (unsigned i = 0; i < sizeof final / sizeof *final; i++)
        ends = ends || fm_word_is(name, final[i]);
    uint32_t item = fm_scan_add_item(reader, FM_ITEM_CALL, reader->region, ends);
    if (item != FM_SCAN_NONE)
        reader->scan->items[item].harmless = fm_word_is(name, "__stack_chk_fail") ||
                                             fm_word_is(name, "__chk_fail") ||
                                             fm_word_is(name, "__fentry__"); /* a mark, see as.c */
    for (unsigned i = 0; i < FM_REGISTERS; i++) {
        if (i == 1 || i == 6 || i >= 12)
            continue; /* preserved by calls */
        reader->table_in[i] = FM_SCAN_NONE;
        reader->is_entry[i] = false;
        reader->symbol_in[i] = (struct fm_word){0};
    }
}

static void add_indirect_jump(struct fm_reader *reader, struct fm_word operands)
{
    struct fm_word target = {operands.at + 1, operands.size - 1};
    struct fm_word table = fm_word_name_at(target.at, target.at + target.size);
    uint32_t label = FM_SCAN_NONE;
    int number = register_number(target);
    if (fm_word_begins(table, ".L"))
        label = fm_scan_label_of(reader, table);
    else if (table.size == 0 && number >= 0 && reader->is_entry[number])
        label = reader->table_in[number];
    else if (table.size != 0)
        label = fm_scan_label_of(reader, table);
    fm_scan_add_item(reader, FM_ITEM_TABLE, label, true);
}

static void add_jump(struct fm_reader *reader, struct fm_word operands, bool always)
{
    struct fm_word name = fm_word_name_at(operands.at, operands.at + operands.size);
    /* Numbered labels stay inside their piece of inline assembler. */
    if (name.size == 0 || (name.at[0] >= '0' && name.at[0] <= '9'))
        return;
    uint32_t label = fm_scan_label_of(reader, name);
    if (label == FM_SCAN_NONE)
        return;
    reader->scan->labels[label].is_start = true;
    fm_scan_add_item(reader, always && !reader->in_app ? FM_ITEM_JUMP : FM_ITEM_BRANCH, label,
                     false);
}

static void add_marker(struct fm_reader *reader, const char *line, const char *end, bool enter)
{
    struct fm_scan *scan = reader->scan;
    scan->markers = fm_scan_grow(reader, scan->markers, scan->marker_count, sizeof *scan->markers);
    if (reader->failed)
        return;
    const char *at = line;
    while (at < end && *at != ' ' && *at != '\t')
        at++;
    struct fm_word word = {line, (size_t)(at - line)};
    struct fm_word operand = fm_word_rest_of(at, end);
    at = operand.at;
    while (at < end && *at != ' ' && *at != '\t')
        at++;
    operand.size = (size_t)(at - operand.at);
    struct fm_marker marker = {.line = line,
                               .operand = operand,
                               .function = reader->function,
                               .label = reader->function_label,
                               .enter = enter,
                               .full = memmem(word.at, word.size, "_full", 5) != NULL};
    int number = register_number(operand);
    if (operand.size > 1 && operand.at[0] == '$')
        marker.symbol = fm_word_name_at(operand.at + 1, operand.at + operand.size);
    else if (number >= 0)
        marker.symbol = reader->symbol_in[number];
    if (marker.symbol.size > 0 && reader->function_label != FM_SCAN_NONE)
        marker.names_function =
            fm_scan_names(marker.symbol, scan->labels[reader->function_label].name);
    scan->markers[scan->marker_count] = marker;
    fm_scan_add_item(reader, FM_ITEM_MARKER, scan->marker_count++, false);
}

void fm_scan_instruction(struct fm_reader *reader, const char *at, const char *end)
{
    static const char *const prefixes[] = {"rep",  "repz", "repnz",   "repe",  "repne",
                                           "lock", "bnd",  "notrack", "data16"};
    struct fm_word name = fm_word_name_at(at, end), rest = fm_word_rest_of(at + name.size, end);
    for (unsigned i = 0; i < sizeof prefixes / sizeof *prefixes;) {
        if (!fm_word_is(name, prefixes[i++]))
            continue;
        name = fm_word_name_at(rest.at, end);
        rest = fm_word_rest_of(rest.at + name.size, end);
        i = 0;
    }
    if (name.size == 0)
        return;
    if (fm_word_begins(name, "fathom_enter"))
        add_marker(reader, at, end, true);
    else if (fm_word_begins(name, "fathom_exit"))
        add_marker(reader, at, end, false);
    else if (fm_word_begins(name, "call"))
        add_call(reader, rest);
    else if (fm_word_begins(name, "ret") || fm_word_begins(name, "iret"))
        fm_scan_add_item(reader, FM_ITEM_RETURN, 0, true);
    else if (fm_word_is(name, "ud2") || fm_word_is(name, "hlt"))
        fm_scan_add_item(reader, FM_ITEM_STOP, 0, true);
    else if (fm_word_is(name, "jmp") && rest.size > 1 && rest.at[0] == '*')
        add_indirect_jump(reader, rest);
    else if (name.at[0] == 'j' || fm_word_begins(name, "loop") || fm_word_is(name, "xbegin"))
        add_jump(reader, rest, fm_word_is(name, "jmp"));
    else
        follow_registers(reader, name, rest);
}

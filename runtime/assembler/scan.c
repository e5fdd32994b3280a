/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE 1 /* memmem */
#include "scan.h"

#include <stdlib.h>
#include <string.h>

#define SECTIONS_DEEP 16
#define REGISTERS 16

struct section {
    struct fm_word name;
    bool code, debug;
    uint32_t last; /* item */
};

struct reader {
    struct fm_scan *scan;
    bool failed;
    uint32_t *slots; /* label + 1 by name: open addressing */
    uint32_t slot_mask;
    struct section *sections;
    uint32_t section_count, section, previous;
    uint32_t pushed[SECTIONS_DEEP];
    unsigned depth;
    struct fm_word announced; /* by .type NAME, @function */
    uint32_t function, function_label;
    uint32_t data_label; /* of the table being read */
    uint32_t region;     /* landing region that is open, or none */
    bool in_app;
    /* What registers hold, in the order of the text: a table's label, or an entry of one. */
    uint32_t table_in[REGISTERS];
    bool is_entry[REGISTERS];
    struct fm_word symbol_in[REGISTERS];
    /* The exception table's call-site records: .uleb128 lines */
    uint32_t record_region;
    unsigned record_line;
};

/* Room for one more element; the arrays grow by doubling. */
static void *grow(struct reader *reader, void *array, uint32_t count, size_t size)
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

static bool is_word(struct fm_word word, const char *text)
{
    return word.size == strlen(text) && memcmp(word.at, text, word.size) == 0;
}

static bool begins(struct fm_word word, const char *text)
{
    size_t size = strlen(text);
    return word.size >= size && memcmp(word.at, text, size) == 0;
}

static bool same(struct fm_word left, struct fm_word right)
{
    return left.size == right.size && memcmp(left.at, right.at, left.size) == 0;
}

static bool is_name_char(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '.' || c == '$' || (c & 0x80) != 0;
}

static struct fm_word name_at(const char *at, const char *end)
{
    const char *from = at;
    while (at < end && is_name_char(*at))
        at++;
    return (struct fm_word){from, (size_t)(at - from)};
}

static struct fm_word rest_of(const char *at, const char *end)
{
    while (at < end && (*at == ' ' || *at == '\t'))
        at++;
    return (struct fm_word){at, (size_t)(end - at)};
}

bool fm_scan_names(struct fm_word operand, struct fm_word function)
{
    static const char *const clones[] = {".constprop.", ".isra.", ".part.", ".cold", ".localalias"};
    size_t length = 0;
    while (length < operand.size && strchr("@( \n", operand.at[length]) == NULL)
        length++;
    if (length == 0 || length > function.size || memcmp(operand.at, function.at, length) != 0)
        return false;
    struct fm_word rest = {function.at + length, function.size - length};
    for (unsigned i = 0; i < sizeof clones / sizeof *clones; i++)
        if (begins(rest, clones[i]))
            return true;
    return rest.size == 0;
}

/* --- labels --- */

static uint64_t hash_of(struct fm_word name)
{
    uint64_t hash = 14695981039346656037u;
    for (size_t i = 0; i < name.size; i++)
        hash = (hash ^ (unsigned char)name.at[i]) * 1099511628211u;
    return hash ^ hash >> 29;
}

static void slots_double(struct reader *reader)
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

static uint32_t label_of(struct reader *reader, struct fm_word name)
{
    struct fm_scan *scan = reader->scan;
    if (reader->slot_mask == 0 || scan->label_count >= reader->slot_mask / 2)
        slots_double(reader);
    if (reader->failed)
        return FM_SCAN_NONE;
    uint32_t at = (uint32_t)hash_of(name) & reader->slot_mask;
    for (; reader->slots[at] != 0; at = (at + 1) & reader->slot_mask)
        if (same(scan->labels[reader->slots[at] - 1].name, name))
            return reader->slots[at] - 1;
    scan->labels = grow(reader, scan->labels, scan->label_count, sizeof *scan->labels);
    if (reader->failed)
        return FM_SCAN_NONE;
    scan->labels[scan->label_count] = (struct fm_label){
        .name = name, .item = FM_SCAN_NONE, .function = FM_SCAN_NONE, .table = FM_SCAN_NONE};
    reader->slots[at] = ++scan->label_count;
    return scan->label_count - 1;
}

static void mark_start(struct reader *reader, struct fm_word name)
{
    uint32_t label = label_of(reader, name);
    if (label != FM_SCAN_NONE)
        reader->scan->labels[label].is_start = true;
}

/* --- items --- */

static uint32_t add_item(struct reader *reader, enum fm_item_kind kind, uint32_t value, bool ends)
{
    struct fm_scan *scan = reader->scan;
    scan->items = grow(reader, scan->items, scan->item_count, sizeof *scan->items);
    if (reader->failed)
        return FM_SCAN_NONE;
    uint32_t index = scan->item_count++;
    scan->items[index] = (struct fm_item){.kind = kind,
                                          .value = value,
                                          .next = FM_SCAN_NONE,
                                          .function = reader->function,
                                          .ends = ends};
    struct section *section = &reader->sections[reader->section];
    if (section->last != FM_SCAN_NONE)
        scan->items[section->last].next = index;
    section->last = index;
    return index;
}

static void forget_registers(struct reader *reader)
{
    for (unsigned i = 0; i < REGISTERS; i++) {
        reader->table_in[i] = FM_SCAN_NONE;
        reader->is_entry[i] = false;
        reader->symbol_in[i] = (struct fm_word){0};
    }
}

/* The cold part of a function is one with it. */
static void begin_function(struct reader *reader, uint32_t label)
{
    struct fm_scan *scan = reader->scan;
    struct fm_word name = scan->labels[label].name;
    uint32_t whole = FM_SCAN_NONE;
    for (size_t i = 1; i + 5 <= name.size; i++)
        if (memcmp(name.at + i, ".cold", 5) == 0 && (i + 5 == name.size || name.at[i + 5] == '.'))
            whole = label_of(reader, (struct fm_word){name.at, i});
    if (whole != FM_SCAN_NONE && scan->labels[whole].function != FM_SCAN_NONE) {
        reader->function = scan->labels[whole].function;
        reader->function_label = whole;
        scan->labels[label].is_cold = true;
    } else {
        scan->starts = grow(reader, scan->starts, scan->function_count, sizeof *scan->starts);
        if (reader->failed)
            return;
        scan->starts[scan->function_count] = label;
        reader->function = scan->function_count++;
        reader->function_label = label;
        scan->labels[label].is_entry = true;
    }
    scan->labels[label].is_start = true;
    forget_registers(reader);
}

static void define_label(struct reader *reader, struct fm_word name)
{
    struct fm_scan *scan = reader->scan;
    bool code = reader->sections[reader->section].code;
    if (begins(name, ".LEHB") && code) {
        reader->region = (uint32_t)strtoul(name.at + 5, NULL, 10);
        return;
    }
    if (begins(name, ".LEHE") && code) {
        reader->region = FM_SCAN_NONE;
        return;
    }
    /* Debug information's own, and those of inline assembler, which stay inside of it. */
    if (begins(name, ".LVL") || begins(name, ".LBB") || begins(name, ".LBE") ||
        begins(name, ".LFE") || (name.at[0] >= '0' && name.at[0] <= '9'))
        return;
    if (reader->sections[reader->section].debug)
        return;
    uint32_t label = label_of(reader, name);
    if (label == FM_SCAN_NONE)
        return;
    if (!code) {
        reader->data_label = label;
        return;
    }
    if (same(name, reader->announced))
        begin_function(reader, label);
    scan->labels[label].function = reader->function;
    scan->labels[label].item = add_item(reader, FM_ITEM_LABEL, label, false);
}

/* --- directives --- */

static void enter_section(struct reader *reader, struct fm_word name, bool code)
{
    reader->previous = reader->section;
    reader->data_label = FM_SCAN_NONE;
    for (uint32_t i = 0; i < reader->section_count; i++) {
        if (same(reader->sections[i].name, name)) {
            reader->section = i;
            return;
        }
    }
    reader->sections =
        grow(reader, reader->sections, reader->section_count, sizeof *reader->sections);
    if (reader->failed)
        return;
    reader->section = reader->section_count++;
    reader->sections[reader->section] =
        (struct section){name, code, begins(name, ".debug"), FM_SCAN_NONE};
}

/* .section NAME,"flags",... Groups of one name are apart: the whole line counts as the name. */
static void section_directive(struct reader *reader, struct fm_word rest)
{
    bool code = begins(rest, ".text") || begins(rest, ".init") || begins(rest, ".fini");
    const char *flags = memchr(rest.at, '"', rest.size);
    if (begins(rest, ".init_array") || begins(rest, ".fini_array"))
        code = false;
    for (const char *at = flags; at != NULL && ++at < rest.at + rest.size && *at != '"';)
        code = code || *at == 'x';
    enter_section(reader, rest, code);
}

static void add_table_entry(struct reader *reader, struct fm_word label_name)
{
    struct fm_scan *scan = reader->scan;
    if (reader->data_label == FM_SCAN_NONE)
        return;
    uint32_t label = label_of(reader, label_name);
    if (label == FM_SCAN_NONE)
        return;
    scan->entries = grow(reader, scan->entries, scan->entry_count, sizeof *scan->entries);
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
static void exception_line(struct reader *reader, struct fm_word rest)
{
    struct fm_scan *scan = reader->scan;
    if (begins(rest, ".LEHB")) {
        reader->record_region = (uint32_t)strtoul(rest.at + 5, NULL, 10);
        reader->record_line = 0;
        return;
    }
    if (reader->record_region == FM_SCAN_NONE || ++reader->record_line != 2)
        return;
    uint32_t region = reader->record_region;
    reader->record_region = FM_SCAN_NONE;
    if (!begins(rest, ".L"))
        return;
    uint32_t label = label_of(reader, name_at(rest.at, rest.at + rest.size));
    while (scan->region_count <= region && !reader->failed) {
        scan->regions = grow(reader, scan->regions, scan->region_count, sizeof *scan->regions);
        if (!reader->failed)
            scan->regions[scan->region_count++] = (struct fm_region){.landing = FM_SCAN_NONE};
    }
    if (reader->failed || label == FM_SCAN_NONE)
        return;
    scan->regions[region].landing = label;
    scan->labels[label].is_start = true;
}

static void push_section(struct reader *reader, struct fm_word rest)
{
    if (reader->depth == SECTIONS_DEEP) {
        reader->scan->odd = true;
        return;
    }
    reader->pushed[reader->depth++] = reader->section;
    section_directive(reader, rest);
}

static void directive(struct reader *reader, struct fm_word name, struct fm_word rest)
{
    bool code = reader->sections[reader->section].code;
    if (is_word(name, ".type")) {
        const char *end = rest.at + rest.size;
        bool function = false;
        for (const char *at = rest.at; at + 9 <= end; at++)
            function = function || memcmp(at, "@function", 9) == 0;
        if (function)
            reader->announced = name_at(rest.at, end);
    } else if (is_word(name, ".text") || is_word(name, ".data") || is_word(name, ".bss")) {
        enter_section(reader, name, is_word(name, ".text"));
    } else if (is_word(name, ".section")) {
        section_directive(reader, rest);
    } else if (is_word(name, ".pushsection")) {
        push_section(reader, rest);
    } else if (is_word(name, ".popsection")) {
        if (reader->depth > 0)
            reader->section = reader->pushed[--reader->depth];
    } else if (is_word(name, ".previous")) {
        uint32_t now = reader->section;
        reader->section = reader->previous;
        reader->previous = now;
    } else if (is_word(name, ".uleb128")) {
        exception_line(reader, rest);
    } else if (!code &&
               (is_word(name, ".quad") || is_word(name, ".long") || is_word(name, ".value"))) {
        if (begins(rest, ".L") && !begins(rest, ".LEH") && !begins(rest, ".LC"))
            add_table_entry(reader, name_at(rest.at, rest.at + rest.size));
    } else if (is_word(name, ".intel_syntax") || is_word(name, ".macro") ||
               is_word(name, ".include") || is_word(name, ".subsection")) {
        reader->scan->odd = true;
    }
}

/* --- instructions --- */

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
        return number >= 8 && number < REGISTERS ? number : -1;
    }
    for (int i = 0; i < 8; i++)
        if (memcmp(at, names[i], 2) == 0)
            return i;
    static const char low[] = "abcd";
    const char *found = text.size == 3 ? strchr(low, at[0]) : NULL; /* al, bh */
    static const int of_low[] = {0, 1, 2, 3};
    return found != NULL && (at[1] == 'l' || at[1] == 'h') ? of_low[found - low] : -1;
}

/* Where the last operand begins. */
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
    return rest_of(operands.at + from, operands.at + operands.size);
}

/* Follows what the last operand is loaded with: tables, their entries, addresses of functions. */
static void follow_registers(struct reader *reader, struct fm_word name, struct fm_word operands)
{
    struct fm_word last = last_operand(operands);
    int to = register_number(last);
    struct fm_word symbol = name_at(operands.at, operands.at + operands.size);
    bool address = begins(name, "lea");
    if (address && begins(symbol, ".L"))
        mark_start(reader, symbol);
    if (operands.size > 1 && operands.at[0] == '$' && begins(name, "mov")) {
        symbol = name_at(operands.at + 1, operands.at + operands.size);
        address = symbol.size > 0 && !(symbol.at[0] >= '0' && symbol.at[0] <= '9');
        if (begins(symbol, ".L"))
            mark_start(reader, symbol);
    }
    if (to < 0)
        return;
    uint32_t table = FM_SCAN_NONE;
    struct fm_word held = {0};
    bool entry = false;
    if (address && begins(symbol, ".L"))
        table = label_of(reader, symbol);
    else if (address && symbol.size > 0)
        held = symbol;
    else if (begins(name, "movq") && symbol.size > 0 &&
             memmem(operands.at, operands.size, "@GOTPCREL", 9) != NULL)
        held = symbol;
    if (begins(name, "movs") && operands.size > 0 && operands.at[0] == '(') {
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
    } else if (begins(name, "add") && reader->is_entry[to]) {
        return; /* the entry's distance, and the table's address to it */
    } else if (begins(name, "add") && operands.at[0] == '%') {
        /* or the other way round */
        int other = register_number(operands);
        if (other >= 0 && reader->is_entry[other]) {
            reader->table_in[to] = reader->table_in[other];
            reader->is_entry[to] = true;
            return;
        }
    } else if (begins(name, "cmp") || begins(name, "test") || begins(name, "push")) {
        return;
    }
    reader->table_in[to] = table;
    reader->is_entry[to] = entry;
    reader->symbol_in[to] = held;
}

static void add_call(struct reader *reader, struct fm_word operands)
{
    /* Reserved and standard names alone: a program may have a function err of its own. */
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
    struct fm_word name = name_at(operands.at, operands.at + operands.size);
    bool ends = false;
    for (unsigned i = 0; i < sizeof final / sizeof *final; i++)
        ends = ends || is_word(name, final[i]);
    uint32_t item = add_item(reader, FM_ITEM_CALL, reader->region, ends);
    if (item != FM_SCAN_NONE)
        reader->scan->items[item].harmless =
            is_word(name, "__stack_chk_fail") || is_word(name, "__chk_fail");
    for (unsigned i = 0; i < REGISTERS; i++) {
        if (i == 1 || i == 6 || i >= 12)
            continue; /* kept over calls */
        reader->table_in[i] = FM_SCAN_NONE;
        reader->is_entry[i] = false;
        reader->symbol_in[i] = (struct fm_word){0};
    }
}

static void add_indirect_jump(struct reader *reader, struct fm_word operands)
{
    struct fm_word target = {operands.at + 1, operands.size - 1};
    struct fm_word table = name_at(target.at, target.at + target.size);
    uint32_t label = FM_SCAN_NONE;
    int number = register_number(target);
    if (begins(table, ".L"))
        label = label_of(reader, table);
    else if (table.size == 0 && number >= 0 && reader->is_entry[number])
        label = reader->table_in[number];
    else if (table.size != 0)
        label = label_of(reader, table);
    add_item(reader, FM_ITEM_TABLE, label, true);
}

static void add_jump(struct reader *reader, struct fm_word operands, bool always)
{
    struct fm_word name = name_at(operands.at, operands.at + operands.size);
    /* Numbered labels stay inside their piece of inline assembler. */
    if (name.size == 0 || (name.at[0] >= '0' && name.at[0] <= '9'))
        return;
    uint32_t label = label_of(reader, name);
    if (label == FM_SCAN_NONE)
        return;
    reader->scan->labels[label].is_start = true;
    add_item(reader, always && !reader->in_app ? FM_ITEM_JUMP : FM_ITEM_BRANCH, label, false);
}

static void add_marker(struct reader *reader, const char *line, const char *end, bool enter)
{
    struct fm_scan *scan = reader->scan;
    scan->markers = grow(reader, scan->markers, scan->marker_count, sizeof *scan->markers);
    if (reader->failed)
        return;
    const char *at = line;
    while (at < end && *at != ' ' && *at != '\t')
        at++;
    struct fm_word word = {line, (size_t)(at - line)};
    struct fm_word operand = rest_of(at, end);
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
        marker.symbol = name_at(operand.at + 1, operand.at + operand.size);
    else if (number >= 0)
        marker.symbol = reader->symbol_in[number];
    if (marker.symbol.size > 0 && reader->function_label != FM_SCAN_NONE)
        marker.names_function =
            fm_scan_names(marker.symbol, scan->labels[reader->function_label].name);
    scan->markers[scan->marker_count] = marker;
    add_item(reader, FM_ITEM_MARKER, scan->marker_count++, false);
}

static void instruction(struct reader *reader, const char *at, const char *end)
{
    static const char *const prefixes[] = {"rep",  "repz", "repnz",   "repe",  "repne",
                                           "lock", "bnd",  "notrack", "data16"};
    struct fm_word name = name_at(at, end), rest = rest_of(at + name.size, end);
    for (unsigned i = 0; i < sizeof prefixes / sizeof *prefixes;) {
        if (!is_word(name, prefixes[i++]))
            continue;
        name = name_at(rest.at, end);
        rest = rest_of(rest.at + name.size, end);
        i = 0;
    }
    if (name.size == 0)
        return;
    if (begins(name, "fathom_enter"))
        add_marker(reader, at, end, true);
    else if (begins(name, "fathom_exit"))
        add_marker(reader, at, end, false);
    else if (begins(name, "call"))
        add_call(reader, rest);
    else if (begins(name, "ret") || begins(name, "iret"))
        add_item(reader, FM_ITEM_RETURN, 0, true);
    else if (is_word(name, "ud2") || is_word(name, "hlt"))
        add_item(reader, FM_ITEM_STOP, 0, true);
    else if (is_word(name, "jmp") && rest.size > 1 && rest.at[0] == '*')
        add_indirect_jump(reader, rest);
    else if (name.at[0] == 'j' || begins(name, "loop") || is_word(name, "xbegin"))
        add_jump(reader, rest, is_word(name, "jmp"));
    else
        follow_registers(reader, name, rest);
}

static void statement(struct reader *reader, const char *at, const char *end)
{
    for (;;) {
        struct fm_word text = rest_of(at, end);
        if (text.size == 0 || text.at[0] == '#')
            return;
        struct fm_word name = name_at(text.at, end);
        const char *behind = name.at + name.size;
        if (name.size == 0 || behind >= end || *behind != ':') {
            if (text.at[0] == '.')
                directive(reader, name, rest_of(behind, end));
            else if (reader->sections[reader->section].code)
                instruction(reader, text.at, end);
            return;
        }
        define_label(reader, name);
        at = behind + 1;
    }
}

static void line_read(struct reader *reader, const char *at, const char *end)
{
    struct fm_word text = rest_of(at, end);
    if (begins(text, "#APP"))
        reader->in_app = true;
    else if (begins(text, "#NO_APP"))
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
    struct reader reader = {.scan = scan,
                            .function = FM_SCAN_NONE,
                            .function_label = FM_SCAN_NONE,
                            .data_label = FM_SCAN_NONE,
                            .region = FM_SCAN_NONE,
                            .record_region = FM_SCAN_NONE};
    forget_registers(&reader);
    enter_section(&reader, (struct fm_word){".text", 5}, true);
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

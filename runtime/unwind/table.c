/* SPDX-License-Identifier: Apache-2.0 */
#include "table.h"

#include "bytes.h"

/* Encodings of pointers: the low 4 bits give the size, the others the base to add. */
#define ENCODING_RELATIVE 0x10
#define ENCODING_OMITTED 0xff
#define ENCODING_FORMAT 0x0f
#define ENCODING_ADDED 0xf0
#define ENCODING_UDATA4 0x03
#define ENCODING_SDATA4_FROM_HEADER 0x3b
#define HEADER_BYTES 12u /* before the sorted table */
#define ROW_BYTES 8u     /* size of a row: start and entry, both relative to the header */

/* Reads a number of an encoding's format; sets bad for unknown ones. */
static uint64_t read_format(struct fm_bytes *bytes, uint8_t encoding)
{
    switch (encoding & ENCODING_FORMAT) {
    case 0x0: /* absolute */
    case 0x4:
    case 0xc:
        return fm_bytes_number(bytes, 8);
    case 0x1:
        return fm_bytes_uleb(bytes);
    case 0x2:
        return fm_bytes_number(bytes, 2);
    case 0x3:
        return fm_bytes_number(bytes, 4);
    case 0x9:
        return (uint64_t)fm_bytes_sleb(bytes);
    case 0xa:
        return (uint64_t)fm_bytes_signed(bytes, 2);
    case 0xb:
        return (uint64_t)fm_bytes_signed(bytes, 4);
    default:
        bytes->bad = true;
        return 0;
    }
}

/* An address of code. Linkers for x86-64 write them absolute or relative to the place. */
static uint64_t read_address(struct fm_bytes *bytes, uint8_t encoding)
{
    uint64_t place = (uint64_t)bytes->at;
    uint64_t number = read_format(bytes, encoding);
    if ((encoding & ENCODING_ADDED) == ENCODING_RELATIVE)
        return number + place;
    if ((encoding & ENCODING_ADDED) != 0)
        bytes->bad = true;
    return number;
}

/* The bytes after a length of 4 bytes at `at`. The long form of lengths (64-bit DWARF) is rejected:
 * it is not used in practice. */
static bool unit_at(struct fm_unwind_bounds frames, const uint8_t *at, struct fm_bytes *ret)
{
    if (at < frames.low || at >= frames.high)
        return false;
    struct fm_bytes bytes = {.at = at, .end = frames.high};
    uint64_t length = fm_bytes_number(&bytes, 4);
    if (bytes.bad || length < 4 || length > fm_bytes_left(&bytes))
        return false;
    bytes.end = bytes.at + length;
    *ret = bytes;
    return true;
}

/* Reads the meaning of a CIE's augmentation letters. */
static void read_augmentation(struct fm_bytes *bytes, const char *letters, uint64_t count,
                              struct fm_unwind_entry *entry)
{
    uint64_t size = fm_bytes_uleb(bytes);
    if (size > fm_bytes_left(bytes)) {
        bytes->bad = true;
        return;
    }
    struct fm_bytes data = {.at = bytes->at, .end = bytes->at + size};
    for (uint64_t i = 0; i < count; i++) {
        switch (letters[i]) {
        case 'R':
            entry->encoding = (uint8_t)fm_bytes_number(&data, 1);
            break;
        case 'L':
            fm_bytes_skip(&data, 1);
            break;
        case 'P': {
            uint8_t encoding = (uint8_t)fm_bytes_number(&data, 1);
            if (encoding != ENCODING_OMITTED)
                read_format(&data, encoding);
            break;
        }
        case 'S':
            entry->signal = true;
            break;
        default: /* others may change how instructions are read */
            data.bad = true;
        }
    }
    bytes->bad |= data.bad;
    bytes->at += size;
}

static bool read_common(const uint8_t *at, struct fm_unwind_entry *entry, bool *ret_augmented)
{
    struct fm_bytes bytes;
    if (!unit_at(entry->frames, at, &bytes) || fm_bytes_number(&bytes, 4) != 0)
        return false; /* an FDE has something else there */
    uint64_t version = fm_bytes_number(&bytes, 1);
    const char *letters = (const char *)bytes.at;
    uint64_t count = 0;
    while (fm_bytes_number(&bytes, 1) != 0)
        count++;
    if (bytes.bad || (version != 1 && version != 3))
        return false;
    entry->code_unit = fm_bytes_uleb(&bytes);
    entry->data_unit = fm_bytes_sleb(&bytes);
    uint64_t column = version == 1 ? fm_bytes_number(&bytes, 1) : fm_bytes_uleb(&bytes);
    entry->encoding = 0;
    entry->signal = false;
    *ret_augmented = count > 0 && letters[0] == 'z';
    if (*ret_augmented)
        read_augmentation(&bytes, letters + 1, count - 1, entry);
    else if (count > 0) /* "eh" of gcc 2 */
        return false;
    entry->common = (struct fm_unwind_bounds){bytes.at, bytes.end};
    return !bytes.bad && column == FM_UNWIND_RIP;
}

static bool read_entry(const uint8_t *at, struct fm_unwind_entry *entry)
{
    struct fm_bytes bytes;
    if (!unit_at(entry->frames, at, &bytes))
        return false;
    const uint8_t *place = bytes.at;
    uint64_t back = fm_bytes_number(&bytes, 4);
    bool augmented;
    if (back == 0 || back > (uint64_t)(place - entry->frames.low) ||
        !read_common(place - back, entry, &augmented))
        return false;
    entry->start = read_address(&bytes, entry->encoding);
    uint64_t size = read_format(&bytes, entry->encoding & ENCODING_FORMAT);
    entry->end = entry->start + size;
    if (augmented)
        fm_bytes_skip(&bytes, fm_bytes_uleb(&bytes));
    entry->own = (struct fm_unwind_bounds){bytes.at, bytes.end};
    return !bytes.bad && entry->end >= entry->start;
}

static int32_t table_number(const uint8_t *at)
{
    int32_t number;
    memcpy(&number, at, sizeof number);
    return number;
}

bool fm_unwind_entry_find(const struct fm_unwind_table *table, uint64_t pc,
                          struct fm_unwind_entry *ret, uint64_t *ret_below)
{
    if (ret_below != NULL)
        *ret_below = 0;
    struct fm_bytes bytes = {.at = table->header, .end = table->around.high};
    uint64_t version = fm_bytes_number(&bytes, 1);
    fm_bytes_skip(&bytes, 1); /* how the pointer to .eh_frame is written: not needed */
    uint64_t count_encoding = fm_bytes_number(&bytes, 1);
    uint64_t row_encoding = fm_bytes_number(&bytes, 1);
    fm_bytes_skip(&bytes, 4);
    uint64_t count = fm_bytes_number(&bytes, 4);
    if (bytes.bad || version != 1 || count_encoding != ENCODING_UDATA4 ||
        row_encoding != ENCODING_SDATA4_FROM_HEADER || count == 0 ||
        count > fm_bytes_left(&bytes) / ROW_BYTES)
        return false;
    const uint8_t *rows = table->header + HEADER_BYTES;
    int64_t want = (int64_t)(pc - (uint64_t)table->header);
    if (table_number(rows) > want)
        return false;
    uint64_t low = 0, high = count; /* the answer is in [low, high) */
    while (high - low > 1) {
        uint64_t middle = low + (high - low) / 2;
        if (table_number(rows + middle * ROW_BYTES) <= want)
            low = middle;
        else
            high = middle;
    }
    const uint8_t *row = rows + low * ROW_BYTES;
    uint64_t start = (uint64_t)table->header + (uint64_t)(int64_t)table_number(row);
    if (ret_below != NULL)
        *ret_below = start;
    int64_t distance = table_number(row + 4);
    if (distance < table->frames.low - table->header ||
        distance >= table->frames.high - table->header)
        return false;
    ret->frames = table->frames;
    /* The entry found may be for other code further down. */
    return read_entry(table->header + distance, ret) && ret->start == start && pc < ret->end &&
           pc >= start;
}

#define ROWS_KEPT_MAX 8u /* compilers nest one or two */

/* The instructions' machine. */
struct run {
    const struct fm_unwind_entry *entry;
    uint64_t pc, at; /* wanted; reached */
    struct fm_unwind_row *row;
    const struct fm_unwind_row *first; /* after those of the CIE; NULL while they run */
    struct fm_unwind_row kept[ROWS_KEPT_MAX];
    unsigned kept_count;
    bool bad;
};

static int32_t small(struct run *run, int64_t value)
{
    if (value != (int32_t)value)
        run->bad = true;
    return (int32_t)value;
}

static int32_t scaled(struct run *run, int64_t number)
{
    int64_t product;
    if (__builtin_mul_overflow(number, run->entry->data_unit, &product))
        run->bad = true;
    return run->bad ? 0 : small(run, product);
}

static void set(struct run *run, uint64_t column, enum fm_unwind_how how, int32_t value)
{
    if (column >= FM_UNWIND_REGISTERS) /* vectors and flags: no frame depends on them */
        return;
    run->row->how[column] = (uint8_t)how;
    run->row->value[column] = value;
}

static void set_cfa(struct run *run, enum fm_unwind_how how, uint64_t column, int32_t value)
{
    if (column >= FM_UNWIND_REGISTERS)
        run->bad = true;
    run->row->cfa_how = (uint8_t)how;
    run->row->cfa_register = (uint8_t)column;
    run->row->cfa_value = value;
}

/* Offset of an expression (of its length field) from the segment's start. */
static int32_t read_expression(struct run *run, struct fm_bytes *bytes)
{
    int64_t from = bytes->at - run->entry->frames.low;
    fm_bytes_skip(bytes, fm_bytes_uleb(bytes));
    return small(run, from);
}

struct fm_unwind_bounds fm_unwind_expression(const struct fm_unwind_entry *entry, int32_t value)
{
    struct fm_bytes bytes = {.at = entry->frames.low + value, .end = entry->frames.high};
    uint64_t size = fm_bytes_uleb(&bytes);
    if (size > fm_bytes_left(&bytes))
        size = 0;
    return (struct fm_unwind_bounds){bytes.at, bytes.at + size};
}

static void restore(struct run *run, uint64_t column)
{
    if (run->first == NULL)
        run->bad = true;
    else if (column < FM_UNWIND_REGISTERS)
        set(run, column, run->first->how[column], run->first->value[column]);
}

static void remember(struct run *run)
{
    if (run->kept_count == ROWS_KEPT_MAX)
        run->bad = true;
    else
        run->kept[run->kept_count++] = *run->row;
}

static void recall(struct run *run)
{
    if (run->kept_count == 0)
        run->bad = true;
    else
        *run->row = run->kept[--run->kept_count];
}

static void advance(struct run *run, uint64_t units)
{
    uint64_t distance;
    if (__builtin_mul_overflow(units, run->entry->code_unit, &distance) ||
        __builtin_add_overflow(run->at, distance, &run->at))
        run->bad = true;
}

/* Instructions that say where a register is. */
static bool run_register(struct run *run, uint8_t code, struct fm_bytes *bytes)
{
    uint64_t column = fm_bytes_uleb(bytes);
    switch (code) {
    case 0x05: /* DW_CFA_offset_extended */
        set(run, column, FM_UNWIND_AT_CFA, scaled(run, (int64_t)fm_bytes_uleb(bytes)));
        return true;
    case 0x06: /* DW_CFA_restore_extended */
        restore(run, column);
        return true;
    case 0x07: /* DW_CFA_undefined */
        set(run, column, FM_UNWIND_UNDEFINED, 0);
        return true;
    case 0x08: /* DW_CFA_same_value */
        set(run, column, FM_UNWIND_SAME, 0);
        return true;
    case 0x09: /* DW_CFA_register */
        set(run, column, FM_UNWIND_IN_REGISTER, small(run, (int64_t)fm_bytes_uleb(bytes)));
        return true;
    case 0x10: /* DW_CFA_expression */
        set(run, column, FM_UNWIND_AT_EXPRESSION, read_expression(run, bytes));
        return true;
    case 0x11: /* DW_CFA_offset_extended_sf */
        set(run, column, FM_UNWIND_AT_CFA, scaled(run, fm_bytes_sleb(bytes)));
        return true;
    case 0x14: /* DW_CFA_val_offset */
        set(run, column, FM_UNWIND_IS_CFA, scaled(run, (int64_t)fm_bytes_uleb(bytes)));
        return true;
    case 0x15: /* DW_CFA_val_offset_sf */
        set(run, column, FM_UNWIND_IS_CFA, scaled(run, fm_bytes_sleb(bytes)));
        return true;
    case 0x16: /* DW_CFA_val_expression */
        set(run, column, FM_UNWIND_IS_EXPRESSION, read_expression(run, bytes));
        return true;
    case 0x2f: /* DW_CFA_GNU_negative_offset_extended */
        set(run, column, FM_UNWIND_AT_CFA, scaled(run, (int64_t)(0 - fm_bytes_uleb(bytes))));
        return true;
    default:
        return false;
    }
}

static bool run_cfa(struct run *run, uint8_t code, struct fm_bytes *bytes)
{
    uint64_t column = run->row->cfa_register;
    bool by_register = run->row->cfa_how == FM_UNWIND_REGISTER_OFFSET;
    switch (code) {
    case 0x0c: /* DW_CFA_def_cfa */
        column = fm_bytes_uleb(bytes);
        set_cfa(run, FM_UNWIND_REGISTER_OFFSET, column, small(run, (int64_t)fm_bytes_uleb(bytes)));
        return true;
    case 0x0d: /* DW_CFA_def_cfa_register */
        run->bad |= !by_register;
        set_cfa(run, FM_UNWIND_REGISTER_OFFSET, fm_bytes_uleb(bytes), run->row->cfa_value);
        return true;
    case 0x0e: /* DW_CFA_def_cfa_offset */
        run->bad |= !by_register;
        set_cfa(run, FM_UNWIND_REGISTER_OFFSET, column, small(run, (int64_t)fm_bytes_uleb(bytes)));
        return true;
    case 0x0f: /* DW_CFA_def_cfa_expression */
        set_cfa(run, FM_UNWIND_IS_EXPRESSION, 0, read_expression(run, bytes));
        return true;
    case 0x12: /* DW_CFA_def_cfa_sf */
        column = fm_bytes_uleb(bytes);
        set_cfa(run, FM_UNWIND_REGISTER_OFFSET, column, scaled(run, fm_bytes_sleb(bytes)));
        return true;
    case 0x13: /* DW_CFA_def_cfa_offset_sf */
        run->bad |= !by_register;
        set_cfa(run, FM_UNWIND_REGISTER_OFFSET, column, scaled(run, fm_bytes_sleb(bytes)));
        return true;
    default:
        return false;
    }
}

static void run_one(struct run *run, struct fm_bytes *bytes)
{
    uint8_t code = (uint8_t)fm_bytes_number(bytes, 1), low = code & 0x3f;
    switch (code >> 6) {
    case 1: /* DW_CFA_advance_loc */
        advance(run, low);
        return;
    case 2: /* DW_CFA_offset */
        set(run, low, FM_UNWIND_AT_CFA, scaled(run, (int64_t)fm_bytes_uleb(bytes)));
        return;
    case 3: /* DW_CFA_restore */
        restore(run, low);
        return;
    default:
        break;
    }
    switch (code) {
    case 0x00: /* DW_CFA_nop */
        return;
    case 0x01: /* DW_CFA_set_loc */
        run->at = read_address(bytes, run->entry->encoding);
        return;
    case 0x02: /* DW_CFA_advance_loc1, 2, 4 */
    case 0x03:
    case 0x04:
        advance(run, fm_bytes_number(bytes, 1u << (code - 2)));
        return;
    case 0x0a:
        remember(run);
        return;
    case 0x0b:
        recall(run);
        return;
    case 0x2e: /* DW_CFA_GNU_args_size: for exceptions */
        fm_bytes_uleb(bytes);
        return;
    default:
        if (!run_cfa(run, code, bytes) && !run_register(run, code, bytes))
            run->bad = true;
    }
}

static bool run_all(struct run *run, struct fm_unwind_bounds instructions)
{
    struct fm_bytes bytes = fm_bytes_of(instructions);
    while (bytes.at < bytes.end && run->at <= run->pc && !run->bad) {
        run_one(run, &bytes);
        run->bad |= bytes.bad;
    }
    return !run->bad;
}

bool fm_unwind_row_find(const struct fm_unwind_entry *entry, uint64_t pc, struct fm_unwind_row *ret)
{
    struct run run;
    run.entry = entry;
    run.pc = pc;
    run.at = entry->start;
    run.row = ret;
    run.first = NULL;
    run.kept_count = 0;
    run.bad = false;
    memset(ret, 0, sizeof *ret);
    if (!run_all(&run, entry->common))
        return false;
    struct fm_unwind_row first = *ret;
    run.first = &first;
    run.at = entry->start;
    return run_all(&run, entry->own);
}

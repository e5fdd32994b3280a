/* SPDX-License-Identifier: Apache-2.0 */
#include "kept.h"

#include <stdlib.h>
#include <string.h>

/* --- clang's debug information --- */

static size_t word_length(const char *at)
{
    return strcspn(at, " \t\n,");
}

/* Whether the text up to the end of line contains `what`. */
static const char *in_line(const char *line, const char *end, const char *what)
{
    size_t length = strlen(what);
    for (const char *at = line; at + length <= end; at++) {
        at = memchr(at, what[0], (size_t)(end - at));
        if (at == NULL || at + length > end)
            return NULL;
        if (memcmp(at, what, length) == 0)
            return at;
    }
    return NULL;
}

static struct fm_kept_entry *new_entry(struct fm_kept *kept, unsigned long place)
{
    if ((kept->count & (kept->count - 1)) == 0) {
        size_t room = kept->count == 0 ? 1 : kept->count * 2;
        struct fm_kept_entry *more = realloc(kept->entries, room * sizeof *more);
        if (more == NULL) {
            kept->failed = true;
            return NULL;
        }
        kept->entries = more;
    }
    kept->entries[kept->count] = (struct fm_kept_entry){.place = place};
    return &kept->entries[kept->count++];
}

/* A line "directive value  # meaning". */
static void read_fact(struct fm_kept_entry *entry, const char *line, const char *comment,
                      const char *end)
{
    const char *value = line + strspn(line, " \t");
    value += word_length(value);
    value += strspn(value, " \t");
    if (in_line(comment, end, "DW_AT_low_pc") != NULL)
        entry->begin = value;
    else if (in_line(comment, end, "DW_AT_abstract_origin") != NULL ||
             in_line(comment, end, "DW_AT_specification") != NULL)
        entry->origin = strtoul(value, NULL, 0);
    else if (in_line(comment, end, "DW_AT_calling_convention") != NULL)
        entry->convention = true;
}

static void read_information(struct fm_kept *kept, const char *text)
{
    /* Without any, as nearly always, there is nothing to read. */
    if (strstr(text, "# DW_AT_calling_convention") == NULL)
        return;
    struct fm_kept_entry *entry = NULL;
    for (const char *line = text; *line != '\0' && !kept->failed;) {
        const char *end = line + strcspn(line, "\n");
        const char *comment = memchr(line, '#', (size_t)(end - line));
        const char *abbreviation = comment != NULL ? in_line(comment, end, "# Abbrev [") : NULL;
        if (abbreviation != NULL) {
            const char *place = in_line(abbreviation, end, "] ");
            bool function = in_line(abbreviation, end, "DW_TAG_subprogram") != NULL;
            entry = function && place != NULL ? new_entry(kept, strtoul(place + 2, NULL, 0)) : NULL;
        } else if (comment != NULL && entry != NULL) {
            read_fact(entry, line, comment, end);
        }
        line = *end == '\n' ? end + 1 : end;
    }
}

static bool has_convention(const struct fm_kept *kept, const struct fm_kept_entry *entry)
{
    enum { STEPS = 3 }; /* code, body inlined elsewhere, declaration in a class */
    for (unsigned step = 0; step < STEPS; step++) {
        if (entry->convention)
            return true;
        size_t i = 0;
        while (i < kept->count && (entry->origin == 0 || kept->entries[i].place != entry->origin))
            i++;
        if (i == kept->count)
            return false;
        entry = &kept->entries[i];
    }
    return false;
}

static bool is_told(const struct fm_kept *kept, const char *begin)
{
    size_t length = begin != NULL ? strcspn(begin, ":\n") : 0;
    for (size_t i = 0; length > 0 && i < kept->count; i++) {
        const struct fm_kept_entry *entry = &kept->entries[i];
        if (entry->begin != NULL && word_length(entry->begin) == length &&
            memcmp(entry->begin, begin, length) == 0)
            return has_convention(kept, entry);
    }
    return false;
}

/* --- the function's text --- */

enum { RAX, RCX, RDX, RSI, RDI, R8, R9, R10, R11, WATCHED, OTHER };

/* Uses of each register, in the order of the text. That is the order of control except for moved
 * code, and only a few instructions depend on it. */
struct uses {
    bool read_first[WATCHED], seen[WATCHED], pushed[WATCHED], popped[WATCHED];
    bool rax_leaves, r10_leaves; /* a jump to another function passes it on */
    bool strange;                /* returns from an interrupt */
    bool written[WATCHED];
    bool calls_out;  /* calls code outside of this text */
    bool bare_names; /* register names without %, as in Intel syntax */
};

struct operand {
    const char *at;
    size_t size;
};

static int register_of(const char *at, size_t size)
{
    static const char *const names[] = {"rax", "rcx", "rdx", "rsi", "rdi"};
    static const char *const low[] = {"al", "cl", "dl", "sil", "dil"};
    for (int i = 0; i < 5; i++) {
        if (size == 3 && (at[0] == 'r' || at[0] == 'e') && memcmp(at + 1, names[i] + 1, 2) == 0)
            return i;
        if (size == 2 && memcmp(at, names[i] + 1, 2) == 0)
            return i;
        if (size == strlen(low[i]) && memcmp(at, low[i], size) == 0)
            return i;
        if (size == 2 && i < 3 && at[0] == low[i][0] && at[1] == 'h')
            return i;
    }
    if (size < 2 || size > 4 || at[0] != 'r')
        return OTHER;
    int number = at[1] - '0';
    size_t digits = 1;
    if (number == 1 && size > 2 && at[2] >= '0' && at[2] <= '9') {
        number = 10 + at[2] - '0';
        digits = 2;
    }
    bool whole =
        size == 1 + digits || (size == 2 + digits && strchr("bwd", at[1 + digits]) != NULL);
    return whole && number >= 8 && number <= 11 ? R8 + number - 8 : OTHER;
}

static bool begins(const char *name, size_t size, const char *const *list)
{
    for (; *list != NULL; list++)
        if (size >= strlen(*list) && memcmp(name, *list, strlen(*list)) == 0)
            return true;
    return false;
}

/* The operands of an instruction; the last one is changed. */
static unsigned divide(const char *at, const char *end, bool intel, struct operand *operands)
{
    enum { MOST = 4 };
    unsigned count = 0;
    int nesting = 0;
    const char *from = at;
    for (; at <= end && count < MOST; at++) {
        bool stop = at == end || *at == '#';
        nesting += !stop && strchr("([", *at) != NULL ? 1 : 0;
        nesting -= !stop && strchr(")]", *at) != NULL ? 1 : 0;
        if (!stop && (*at != ',' || nesting != 0))
            continue;
        from += strspn(from, " \t");
        size_t size = at > from ? (size_t)(at - from) : 0;
        while (size > 0 && strchr(" \t", from[size - 1]) != NULL)
            size--;
        if (size > 0)
            operands[count++] = (struct operand){from, size};
        from = at + 1;
        if (stop)
            break;
    }
    if (intel && count > 1) {
        struct operand first = operands[0];
        operands[0] = operands[count - 1];
        operands[count - 1] = first;
    }
    return count;
}

/* The register that an operand is, if it is nothing else. */
static int whole_register(const struct operand *operand)
{
    bool sign = operand->at[0] == '%';
    return register_of(operand->at + sign, operand->size - sign);
}

static void read_register(struct uses *uses, int number)
{
    if (number >= WATCHED || uses->seen[number])
        return;
    uses->seen[number] = uses->read_first[number] = true;
}

/* Every register that is named in it; a variable may be called ch. */
static void read_all_of(struct uses *uses, const struct operand *operand)
{
    const char *end = operand->at + operand->size;
    for (const char *at = operand->at; at < end;) {
        size_t size = 0;
        while (at + size < end &&
               ((at[size] >= 'a' && at[size] <= 'z') || (at[size] >= '0' && at[size] <= '9') ||
                (at[size] >= 'A' && at[size] <= 'Z') || at[size] == '_' || at[size] == '.'))
            size++;
        if (size > 0 && (uses->bare_names || (at > operand->at && at[-1] == '%')))
            read_register(uses, register_of(at, size));
        at += size > 0 ? size : 1;
    }
}

static void jump(struct uses *uses, const struct operand *target)
{
    bool inside = memcmp(target->at, ".L", target->size < 2 ? target->size : 2) == 0 ||
                  (target->at[0] >= '0' && target->at[0] <= '9');
    read_all_of(uses, target);
    if (inside)
        return;
    uses->rax_leaves |= !uses->seen[RAX];
    /* A jump by table stays in the function, as a rule, and then r10 is free as usual. */
    bool direct = target->at[0] != '*' && memchr(target->at, '[', target->size) == NULL &&
                  whole_register(target) == OTHER;
    uses->r10_leaves |= direct && !uses->seen[R10];
}

static const char *const clears[] = {"xor", "sub", NULL};

/* Whether the instruction ignores the old value of its last operand, a register. */
static bool is_replaced(const char *at, size_t size, const struct operand *operands, unsigned count,
                        int last)
{
    static const char *const replaces[] = {"mov",    "lea",  "set",   "cvt",   "vmov",   "vcvt",
                                           "bsf",    "bsr",  "tzcnt", "lzcnt", "popcnt", "pextr",
                                           "vpextr", "rorx", "shlx",  "shrx",  "sarx",   NULL};
    if (begins(at, size, replaces))
        return true;
    if (count == 3) /* the product of the others */
        return size >= 4 && memcmp(at, "imul", 4) == 0;
    if (count != 2)
        return false;
    if (begins(at, size, clears))
        return whole_register(&operands[0]) == last;
    /* All bits set: orl $-1, %ecx. */
    return size <= 3 && memcmp(at, "or", 2) == 0 && operands[0].size >= 2 &&
           memcmp(operands[0].at + operands[0].size - 2, "-1", 2) == 0 && operands[0].size <= 3;
}

static void instruction(struct uses *uses, const char *at, const char *end, bool intel)
{
    size_t size = word_length(at);
    struct operand operands[4];
    uses->bare_names = intel;
    if (in_line(at, end, "__fentry__") != NULL) /* a mark, see as.c */
        return;
    unsigned count = divide(at + size, end, intel, operands);
    int last = count > 0 ? whole_register(&operands[count - 1]) : OTHER;
    uses->strange |= size >= 4 && memcmp(at, "iret", 4) == 0;
    if (size >= 4 && memcmp(at, "push", 4) == 0 && count == 1 && last < WATCHED) {
        uses->pushed[last] |= !uses->seen[last];
        return;
    }
    if (size >= 3 && memcmp(at, "pop", 3) == 0 && last < WATCHED) {
        uses->popped[last] = uses->seen[last] = true;
        return;
    }
    if (at[0] == 'j' && count == 1) {
        jump(uses, &operands[0]);
        return;
    }
    bool writes = last < WATCHED && count > 0 && is_replaced(at, size, operands, count, last);
    for (unsigned i = 0; i < count - writes; i++)
        if (!writes || whole_register(&operands[i]) != last || !begins(at, size, clears))
            read_all_of(uses, &operands[i]);
    if (writes)
        uses->seen[last] = uses->written[last] = true;
    if (size < 4 || memcmp(at, "call", 4) != 0)
        return;
    /* Called functions may change registers that are not passed to them. */
    for (int i = 0; i < WATCHED; i++)
        uses->seen[i] = true;
    uses->calls_out |= in_line(at, end, "@") != NULL;
}

/* Whether the line is in Intel syntax (or AT&T). Ignores comments. */
static bool is_intel(const char *line, const char *end)
{
    const char *comment = memchr(line, '#', (size_t)(end - line));
    return memchr(line, '%', (size_t)((comment != NULL ? comment : end) - line)) == NULL;
}

/* Up to the function's end. Inline assembler after a semicolon counts as reading. */
static void read_function(struct uses *uses, const char *line)
{
    bool intel = false;
    for (const char *end; *line != '\0'; line = *end == '\n' ? end + 1 : end) {
        end = line + strcspn(line, "\n");
        const char *at = line + strspn(line, " \t");
        if (strncmp(at, ".size", 5) == 0)
            return;
        if (at == line || *at == '.' || *at == '#' || at >= end)
            continue;
        intel = is_intel(line, end);
        struct operand rest = {at, (size_t)(end - at)};
        const char *more = memchr(at, ';', rest.size);
        uses->bare_names = true;
        if (more != NULL)
            read_all_of(uses, &rest);
        else
            instruction(uses, at, end, intel);
    }
}

/* Labels without jumps to them do not end straight code: those of debug information, of regions. */
static bool is_mark(const char *label)
{
    static const char *const marks[] = {".Ltmp", ".LVL", ".LBE", ".LEHB", ".LEHE", NULL};
    size_t size = strcspn(label, ":\n");
    return begins(label, size, marks) ||
           (strncmp(label, ".LBB", 4) == 0 && memchr(label, '_', size) == NULL);
}

/* Whether this straight code, after a call, uses registers that calls may change. */
static bool counts_on_kept(const char *line)
{
    struct uses uses = {0};
    for (const char *end; *line != '\0'; line = *end == '\n' ? end + 1 : end) {
        end = line + strcspn(line, "\n");
        const char *at = line + strspn(line, " \t");
        if (at >= end || *at == '#') {
            if (strncmp(at, "#APP", 4) == 0)
                return false;
            continue;
        }
        if (at == line ? is_mark(line) : *at == '.' && strncmp(at, ".size", 5) != 0)
            continue;
        if (at == line || *at == '.' || *at == 'j' || strncmp(at, "call", 4) == 0 ||
            strncmp(at, "ret", 3) == 0)
            return false;
        instruction(&uses, at, end, is_intel(line, end));
        if (uses.read_first[RCX] || uses.read_first[R8] || uses.read_first[R9] ||
            uses.read_first[R10] || uses.read_first[R11])
            return true;
    }
    return false;
}

/* Functions that preserve all registers (no_caller_saved_registers) look like others, but their
 * callers do not. */
static bool callers_count_on_it(const char *text)
{
    static const char *const keeping[] = {"mcount", "__fentry__", "@TLSCALL", ".L", NULL};
    for (const char *at = text; (at = strstr(at, "\tcall")) != NULL;) {
        const char *end = at + strcspn(at, "\n");
        bool known = false;
        for (unsigned i = 0; keeping[i] != NULL; i++)
            known = known || in_line(at, end, keeping[i]) != NULL;
        if (!known && *end == '\n' && counts_on_kept(end + 1))
            return true;
        at = end;
    }
    return false;
}

void fm_kept_read(struct fm_kept *kept, const char *text)
{
    *kept = (struct fm_kept){0};
    read_information(kept, text);
    kept->callers_count_on_it = callers_count_on_it(text);
}

/* Whether it changes a register that is not its result, or makes calls, and saves none. When the
 * stack may need alignment, gcc lets r10 point to the arguments, and saves it though no caller
 * relies on that. */
static bool is_ordinary(const struct uses *uses)
{
    bool changes = uses->calls_out;
    for (int i = RCX; i < WATCHED; i++) {
        if (uses->pushed[i] && uses->popped[i] && i != R10)
            return false;
        changes |= uses->written[i] && !uses->popped[i];
    }
    return changes;
}

unsigned fm_kept_of(const struct fm_kept *kept, const char *begin, const char *rest)
{
    struct uses uses = {0};
    read_function(&uses, rest);
    if (uses.strange)
        return FM_KEPT_NO_HOOK;
    if (is_told(kept, begin))
        return FM_KEPT_ALL | FM_KEPT_SURELY;
    unsigned passed = (uses.read_first[RAX] || uses.rax_leaves ? FM_KEPT_RAX : 0u) |
                      (uses.read_first[R10] || uses.r10_leaves ? FM_KEPT_R10 : 0u);
    if (kept->callers_count_on_it) /* at least one of the text's functions is such a one */
        return passed | FM_KEPT_ALL | (is_ordinary(&uses) ? 0u : FM_KEPT_SURELY);
    for (int i = WATCHED - 1; i >= 0; i--)
        if (uses.pushed[i] && uses.popped[i]) /* compilers align stacks by the first three */
            return passed | FM_KEPT_ALL | (i >= R8 && !is_ordinary(&uses) ? FM_KEPT_SURELY : 0u);
    return passed | (uses.read_first[R11] ? FM_KEPT_ALL : 0u);
}

void fm_kept_done(struct fm_kept *kept)
{
    free(kept->entries);
}

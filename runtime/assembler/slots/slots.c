/* SPDX-License-Identifier: Apache-2.0 */
#include "slots.h"

#include <stdlib.h>
#include <string.h>

#include "../../slots/node.h"
#include "text.h"

#define WORD_OF(x) WORD_OF_(x)
#define WORD_OF_(x) #x
#define TLS_OFFSET WORD_OF(FM_SLOTS_TLS)
#define SITE WORD_OF(FM_SLOTS_SITE)
#define CSD WORD_OF(FM_SLOTS_CSD)
#define NEXT WORD_OF(FM_SLOTS_NEXT)
#define SPECIAL WORD_OF(FM_SLOTS_SPECIAL)
#define ANY WORD_OF(FM_SLOTS_ANY_FUNCTION)
#define EXITS WORD_OF(FM_SLOTS_EXITS)

struct writing {
    struct fm_slots_text *text;
    FILE *out;
    uint64_t hash; /* hash of the text and the salt */
};

bool fm_slots_wanted(const char *text)
{
    return strstr(text, "\n\t# fathom: slots\n") != NULL ||
           strncmp(text, "\t# fathom: slots\n", 17) == 0 ||
           strstr(text, "\n# fathom: slots\n") != NULL;
}

static uint64_t mix(uint64_t hash, const char *bytes, size_t size)
{
    for (size_t i = 0; i < size; i++)
        hash = (hash ^ (uint8_t)bytes[i]) * 0x100000001B3ull;
    return hash ^ hash >> 29;
}

/* The function's number, which nodes are compared with. */
static uint32_t number_of(const struct writing *to, const struct fm_slots_function *function)
{
    uint64_t hash = mix(to->hash, function->name, function->name_size);
    return (uint32_t)(hash ^ hash >> 32) | 1;
}

static uint32_t index_of(const struct writing *to, const struct fm_slots_function *function)
{
    return (uint32_t)(function - to->text->functions);
}

/* instruction: up to the thread's word, with its comma; behind: the rest. spare: a register, for
 * code that may be in a shared object. */
static void write_word(const struct writing *to, const char *before, const char *behind,
                       const char *spare)
{
    if (to->text->executable)
        fprintf(to->out, "\t%s%%fs:fm_tls_v2@tpoff+" TLS_OFFSET "%s\n", before, behind);
    else
        fprintf(to->out, "\tmovq fm_tls_v2@gottpoff(%%rip), %s\n\t%s%%fs:" TLS_OFFSET "(%s)%s\n",
                spare, before, spare, behind);
}

static void write_entry(const struct writing *to, const struct fm_slots_function *function)
{
    uint32_t index = index_of(to, function), number = number_of(to, function);
    write_word(to, "cmpq ", ", %r15", "%r11");
    fprintf(to->out,
            "\tjne 9771f\n"
            "\tmovslq " SITE "(%%r15), %%r11\n"
            "\tmovl (%%r15, %%r11), %%r11d\n"
            ".Lfathom_in_%u:\n"
            "\tcmpl $%d, (%%r11)\n"
            "\tjne 9772f\n"
            "9773:\n",
            index, (int)number);
    if (!function->has_calls)
        fputs("\tmovq " CSD "(%r11), %r11\n\tincq (%r11)\n", to->out);
    fprintf(to->out, ".Lfathom_hook_%u:\n\t.subsection 1\n9772:\n", index);
    if (function->calls <= FM_SLOTS_STAND_IN_SITES)
        fputs("\ttestb $" ANY ", " SPECIAL "(%r11)\n\tjne 9773b\n", to->out);
    for (unsigned i = 0; i < 2; i++)
        fprintf(to->out,
                "\tmovl " NEXT "(%%r11), %%r11d\n"
                "\tcmpl $%d, (%%r11)\n"
                "\tje 9773b\n",
                (int)number);
    fprintf(to->out,
            "9771:\tleaq .Lfathom_of_%u(%%rip), %%r11\n"
            "\tcall *%s@GOTPCREL(%%rip)\n"
            "\tjmp 9773b\n"
            "\t.subsection 0\n",
            index, function->has_calls ? "fm_slots_enter_v2" : "fm_slots_leaf_v2");
}

/* The register of "movq %fs:40, %rax" or "movq PLACE, %rax", with its 32-bit name. */
static bool register_of(const struct fm_slots_line *line, char name[8], char half[8])
{
    const char *at = line->at + line->size;
    while (at > line->at && *at != '%')
        at--;
    size_t size = strcspn(at, " \t\n#");
    if (size < 3 || size > 4)
        return false;
    snprintf(name, 8, "%.*s", (int)size, at);
    if (at[2] >= '0' && at[2] <= '9')
        snprintf(half, 8, "%sd", name);
    else
        snprintf(half, 8, "%%e%s", name + 2);
    return true;
}

static unsigned sleb(uint8_t *to, long value)
{
    unsigned used = 0;
    for (bool more = true; more;) {
        uint8_t byte = value & 0x7f;
        value >>= 7;
        more = !((value == 0 && (byte & 0x40) == 0) || (value == -1 && (byte & 0x40) != 0));
        to[used++] = byte | (more ? 0x80 : 0);
    }
    return used;
}

/* The place is at a distance from the stack pointer of a frame that is aligned: the pushes before
 * `andq $-A, %rsp` are known, and what was subtracted after it. */
static bool aligned_place(const struct writing *to, const struct fm_slots_function *function,
                          long offset, uint8_t *bytes, unsigned *used)
{
    long pushed = 0, below = 0, alignment = 0;
    bool frame = false;
    for (uint32_t i = function->entry + 1; i < function->set; i++) {
        const struct fm_slots_line *line = &to->text->lines[i];
        const char *amount = line->at + 5;
        bool takes =
            line->size > 6 && *amount == '$' && memmem(line->at, line->size, ", %rsp", 6) != NULL;
        if (fm_slots_is(line, "movq\t%rsp, %rbp"))
            frame = true;
        else if (fm_slots_is(line, "pushq\t") && frame && alignment == 0)
            pushed += 8;
        else if (fm_slots_is(line, "pushq\t") && frame)
            below += 8;
        else if (fm_slots_is(line, "andq\t") && takes)
            alignment = strtol(amount + 1, NULL, 0);
        else if (fm_slots_is(line, "subq\t") && takes && alignment != 0)
            below += strtol(amount + 1, NULL, 0);
        else if (fm_slots_is(line, "subq\t") && takes)
            pushed += strtol(amount + 1, NULL, 0);
        else if (fm_slots_is(line, "addq\t") && takes && alignment != 0)
            below -= strtol(amount + 1, NULL, 0);
        else if (line->size > 6 && memmem(line->at, line->size, ", %rsp", 6) != NULL)
            return false;
    }
    if (alignment >= 0 || !frame || function->realigned)
        return false;
    bytes[(*used)++] = 0x76; /* DW_OP_breg6: rbp */
    *used += sleb(bytes + *used, -pushed);
    bytes[(*used)++] = 0x11; /* DW_OP_consts */
    *used += sleb(bytes + *used, alignment);
    bytes[(*used)++] = 0x1a; /* DW_OP_and */
    bytes[(*used)++] = 0x11;
    *used += sleb(bytes + *used, offset - below);
    bytes[(*used)++] = 0x22; /* DW_OP_plus */
    return true;
}

/* Tells unwinders where the caller's r15 is. */
static bool write_rule(const struct writing *to, const struct fm_slots_function *function)
{
    char *end;
    long offset = strtol(function->place, &end, 10);
    uint8_t bytes[40];
    unsigned used = 0;
    if (strncmp(end, "(%rbp)", 6) == 0 && !function->realigned && function->has_frame) {
        fprintf(to->out, "\t.cfi_offset 15, %ld\n", offset - 16);
        return true;
    }
    if (strncmp(end, "(%rbp)", 6) == 0) {
        bytes[used++] = 0x76;
        used += sleb(bytes + used, offset);
    } else if (strncmp(end, "(%rsp)", 6) != 0 ||
               !aligned_place(to, function, offset, bytes, &used)) {
        fprintf(stderr, "fathom: %.*s: an unknown form of frame: --hooks=slots cannot record it\n",
                (int)function->name_size, function->name);
        return false;
    }
    fprintf(to->out, "\t.cfi_escape 0x10, 15, %u", used); /* DW_CFA_expression */
    for (unsigned i = 0; i < used; i++)
        fprintf(to->out, ", %u", bytes[i]);
    fputs("\n", to->out);
    return true;
}

static int place_size(const struct fm_slots_function *function)
{
    return (int)strcspn(function->place, " \t\n#");
}

/* The whole hook where the canary is set: its register alone is free there. */
static void write_late(const struct writing *to, const struct fm_slots_function *function,
                       const char *spare, const char *half)
{
    uint32_t index = index_of(to, function);
    write_word(to, "cmpq ", ", %r15", spare);
    fprintf(to->out,
            "\tjne 9771f\n"
            "\tmovslq " SITE "(%%r15), %s\n"
            "\tmovl (%%r15, %s), %s\n"
            "\tcmpl $%d, (%s)\n"
            "\tje 9773f\n"
            "9771:\tleaq %.*s, %s\n"
            "\tpushq %s\n"
            "\tleaq .Lfathom_of_%u(%%rip), %s\n"
            "\tpushq %s\n"
            "\tcall *fm_slots_late_v2@GOTPCREL(%%rip)\n"
            "\tpopq %s\n"
            "\tpopq %s\n"
            "9773:\n"
            ".Lfathom_hook_%u:\n",
            spare, spare, half, (int)number_of(to, function), spare, place_size(function),
            function->place, spare, spare, index, spare, spare, spare, spare, index);
}

static bool write_set(const struct writing *to, const struct fm_slots_function *function,
                      const struct fm_slots_line *line)
{
    char spare[8], half[8];
    if (!register_of(line, spare, half))
        return false;
    if (function->late)
        write_late(to, function, spare, half);
    fprintf(to->out, "\tmovq %%r15, %.*s\n\tmovl %s, %%r15d\n", place_size(function),
            function->place, function->late ? half : "%r11d");
    fprintf(to->out, "\tmovq " CSD "(%%r15), %s\n\tincq (%s)\n", spare, spare);
    return write_rule(to, function);
}

static bool write_exit(const struct writing *to, const struct fm_slots_function *function,
                       const struct fm_slots_line *line)
{
    char spare[8], half[8];
    if (!register_of(line, spare, half))
        return false;
    fprintf(to->out,
            "\ttestb $1, " SPECIAL "(%%r15)\n"
            "\tjne 9775f\n"
            "\tmovq " CSD "(%%r15), %s\n"
            "\tincq " EXITS "(%s)\n"
            "\tmovq %.*s, %%r15\n",
            spare, spare, place_size(function), function->place);
    write_word(to, "movq %r15, ", "", spare);
    fprintf(to->out,
            "9776:\n"
            "\t.subsection 1\n"
            "9775:\tmovq " CSD "(%%r15), %s\n"
            "\tincq " EXITS "(%s)\n"
            "\tmovq %.*s, %%r15\n"
            "\tleaq %.*s, %s\n"
            "\tpushq %s\n"
            "\tcall *fm_slots_exit_v2@GOTPCREL(%%rip)\n"
            "\tpopq %s\n"
            "\tjmp 9776b\n"
            "\t.subsection 0\n",
            spare, spare, place_size(function), function->place,
            function->late ? place_size(function) : 7, function->late ? function->place : "8(%rbp)",
            spare, spare, spare);
    return true;
}

/* The function of this file that is called by its name, and whose hook is entered by the caller's
 * slot; NULL: none. */
static const struct fm_slots_function *callee_of(const struct writing *to,
                                                 const struct fm_slots_line *line)
{
    if (!fm_slots_is(line, "call\t"))
        return NULL;
    const char *name = line->at + 5;
    uint32_t found = fm_slots_find(to->text, name, strcspn(name, " \t\n#"));
    if (found == FM_SLOTS_NONE)
        return NULL;
    const struct fm_slots_function *callee = &to->text->functions[found];
    return callee->hooked && !callee->late && !callee->weak && callee->group == NULL ? callee
                                                                                     : NULL;
}

static void write_line(const struct writing *to, const struct fm_slots_line *line)
{
    const char *begin = line->at;
    fprintf(to->out, "%s%.*s\n", line->label ? "" : "\t", (int)line->size, begin);
}

static void write_call(const struct writing *to, struct fm_slots_function *function,
                       const struct fm_slots_line *line)
{
    uint32_t index = index_of(to, function), site = function->sites++;
    unsigned offset = FM_SLOTS_HEADER + 4 * site;
    const struct fm_slots_function *callee = callee_of(to, line);
    bool uses_r11 = fm_slots_has(line, "r11");
    if (callee != NULL) {
        fprintf(to->out, "\tmovl %u(%%r15), %%r11d\n\tcall .Lfathom_in_%u\n", offset,
                index_of(to, callee));
    } else {
        fprintf(to->out, "\tmovl $%u, " SITE "(%%r15)\n", offset);
        /* Into the red zone, which is free there: the call writes it next. */
        if (!to->text->executable && uses_r11)
            fputs("\tmovq %r11, -8(%rsp)\n", to->out);
        write_word(to, "movq %r15, ", "", "%r11");
        if (!to->text->executable && uses_r11)
            fputs("\tmovq -8(%rsp), %r11\n", to->out);
        write_line(to, line);
    }
    fprintf(to->out, ".Lfathom_back_%u_%u:\n", index, site);
}

/* fm_slots_about of runtime/slots/node.h */
static void write_description(const struct writing *to, const struct fm_slots_function *function)
{
    uint32_t index = index_of(to, function);
    char *unit = NULL;
    long place = function->has_calls ? strtol(function->place, &unit, 10) : 0;
    bool by_rbp = unit != NULL && strncmp(unit, "(%rbp)", 6) == 0;
    if (function->group != NULL)
        fprintf(to->out, "\t.pushsection fm_slots,\"aGo\",@progbits,%.*s,%.*s,comdat\n",
                (int)function->name_size, function->name, (int)function->group_size,
                function->group);
    else
        fprintf(to->out, "\t.pushsection fm_slots,\"ao\",@progbits,%.*s\n",
                (int)function->name_size, function->name);
    fprintf(to->out,
            "\t.p2align 2\n"
            ".Lfathom_of_%u:\n"
            "\t.long %d, %u, .Lfathom_hook_%u - ., %ld\n",
            index, (int)number_of(to, function), function->sites << 1 | !function->has_calls, index,
            by_rbp ? place | function->late : 0);
    for (uint32_t i = 0; i < function->sites; i++)
        fprintf(to->out, "\t.long .Lfathom_back_%u_%u - .\n", index, i);
    fputs("\t.popsection\n", to->out);
}

/* Whether the program's assembly that begins or ends there makes calls. */
static bool app_calls(const struct fm_slots_text *text, size_t at)
{
    size_t begin = at;
    while (begin > 0 && !fm_slots_is(&text->lines[begin], "#APP"))
        begin--;
    for (size_t i = begin + 1; i < text->line_count; i++) {
        const struct fm_slots_line *line = &text->lines[i];
        if (fm_slots_is(line, "#NO_APP"))
            return false;
        if (fm_slots_has(line, "call") || fm_slots_has(line, "jmp"))
            return true;
    }
    return false;
}

/* Such calls may change r15: the compiler does not save it there. */
static bool write_around_app(const struct writing *to, size_t at, bool begins)
{
    if (!app_calls(to->text, at))
        return true;
    if (!to->text->executable) {
        fprintf(stderr, "fathom: inline assembly makes calls in code that may become a shared "
                        "object: --hooks=slots cannot record it\n");
        return false;
    }
    write_word(to, begins ? "movq %r15, " : "movq ", begins ? "" : ", %r15", "%r11");
    return true;
}

static bool is_cold_label(const struct fm_slots_function *function,
                          const struct fm_slots_line *line)
{
    return line->label && line->size > function->name_size &&
           memcmp(line->at, function->name, function->name_size) == 0 &&
           strncmp(line->at + function->name_size, ".cold", 5) == 0;
}

static bool is_size_of(const struct fm_slots_function *function, const struct fm_slots_line *line)
{
    return fm_slots_is(line, ".size\t") && line->size > 6 + function->name_size &&
           memcmp(line->at + 6, function->name, function->name_size) == 0 &&
           line->at[6 + function->name_size] == ',';
}

/* A line of a function that has hooks. */
static bool write_hooked(struct writing *to, size_t at, struct fm_slots_function *function)
{
    const struct fm_slots_line *line = &to->text->lines[at];
    bool frame = function->has_calls;
    switch ((enum fm_slots_act)line->act) {
    case FM_SLOTS_ENTRY:
        if (!function->late)
            write_entry(to, function);
        return true;
    case FM_SLOTS_CALL:
        write_call(to, function, line);
        return true;
    case FM_SLOTS_SET:
        return !frame || write_set(to, function, line);
    case FM_SLOTS_TEST:
        return !frame || write_exit(to, function, line);
    case FM_SLOTS_SET_MORE:
    case FM_SLOTS_TEST_MORE:
        return true;
    case FM_SLOTS_TEST_ALWAYS:
        fprintf(to->out, "\tjmp%.*s\n", (int)line->size - 2, line->at + 2);
        return true;
    case FM_SLOTS_COPY:
        break;
    }
    bool leaves = fm_slots_is(line, "#NO_APP"), enters = fm_slots_is(line, "#APP");
    if (enters && frame && !write_around_app(to, at, true))
        return false;
    write_line(to, line);
    if (leaves && frame && !write_around_app(to, at, false))
        return false;
    if (is_cold_label(function, line) && frame)
        return write_rule(to, function);
    if (is_size_of(function, line))
        write_description(to, function);
    return true;
}

/* The lines of the table of nops refer to functions that the linker may take from elsewhere. */
static bool is_in_table(bool *in_table, const struct fm_slots_line *line)
{
    bool inside = *in_table;
    if (fm_slots_is(line, ".section")) {
        inside = fm_slots_has(line, "__patchable_function_entries");
        *in_table = inside;
    } else if (fm_slots_is(line, ".quad")) {
        *in_table = false;
    }
    return inside;
}

/* One of it is in the program: its runtime is asked for slots. */
static const char present[] = "\t.section .rodata.fm_slots_present_v1,\"aG\",@progbits,"
                              "fm_slots_present_v1,comdat\n"
                              "\t.weak fm_slots_present_v1\n"
                              "\t.hidden fm_slots_present_v1\n"
                              "\t.type fm_slots_present_v1, @object\n"
                              "\t.size fm_slots_present_v1, 1\n"
                              "fm_slots_present_v1:\n"
                              "\t.byte 1\n";

bool fm_slots_filter(const char *all, const char *salt, FILE *out)
{
    struct fm_slots_text text;
    struct writing to = {.text = &text, .out = out};
    bool ok = fm_slots_text_read(&text, all), in_table = false;
    to.hash = mix(mix(0xCBF29CE484222325ull, all, strlen(all)), salt, strlen(salt));
    for (size_t i = 0; ok && i < text.line_count; i++) {
        const struct fm_slots_line *line = &text.lines[i];
        struct fm_slots_function *function =
            line->function != FM_SLOTS_NONE ? &text.functions[line->function] : NULL;
        if (is_in_table(&in_table, line))
            continue;
        if (function != NULL && function->hooked)
            ok = write_hooked(&to, i, function);
        else if (line->act != FM_SLOTS_ENTRY)
            write_line(&to, line);
    }
    if (ok)
        fputs(present, out);
    fm_slots_text_done(&text);
    return ok;
}

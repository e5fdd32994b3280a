/* SPDX-License-Identifier: Apache-2.0 */
/* Blocks begin at labels that control may reach, after branches, and after calls that return twice,
 * or return only to a landing pad. In doubtful cases the more expensive alternative is assumed: a
 * further block, flags that are live. */
#include "blocks.h"

#include <stdlib.h>
#include <string.h>

enum kind { KIND_NONE, KIND_LABEL, KIND_FUNCTION, KIND_CODE, KIND_ASM };

/* A line of code, or a label in it. */
struct line {
    const char *at;   /* its begin */
    const char *text; /* its first word */
    size_t size;      /* from text on */
    uint32_t label;   /* KIND_LABEL: its number, of .L12 */
    uint8_t kind;
    uint8_t acts;
    bool may_throw;    /* a call here may throw to a landing pad of this function */
    bool behind_jumps; /* asm that may jump to C labels precedes it */
};

struct reader {
    struct line *lines;
    size_t count, room;
    uint32_t *line_of; /* by number of label: the line + 1, 0 = not in the code */
    uint8_t *marks;    /* by label number: 1 = its address is taken, or it is a landing pad */
    size_t labels;
    bool failed, code, in_app, in_region;
    bool begins_asm, asm_jumps; /* a statement begins here; the last asm may jump */
    bool macros;                /* words of asm may be macros */
    bool was_code[16], previous;
    unsigned depth;
};

static bool begins(const char *at, const char *text)
{
    return strncmp(at, text, strlen(text)) == 0;
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* The number of a label .L12 here; UINT32_MAX: another kind of label. */
static uint32_t number_at(const char *at)
{
    if (at[0] != '.' || at[1] != 'L' || !is_digit(at[2]))
        return UINT32_MAX;
    char *end;
    unsigned long number = strtoul(at + 2, &end, 10);
    bool whole = (*end < 'a' || *end > 'z') && (*end < 'A' || *end > 'Z') && *end != '_';
    return whole && number < (1u << 26) ? (uint32_t)number : UINT32_MAX;
}

static bool has_label(struct reader *reader, uint32_t number)
{
    if (number == UINT32_MAX)
        return false;
    if (number < reader->labels)
        return true;
    size_t labels = reader->labels == 0 ? 1024 : reader->labels;
    while (labels <= number)
        labels *= 2;
    uint32_t *lines = realloc(reader->line_of, labels * sizeof *lines);
    if (lines != NULL)
        reader->line_of = lines;
    uint8_t *marks = realloc(reader->marks, labels);
    if (marks != NULL)
        reader->marks = marks;
    if (lines == NULL || marks == NULL) {
        reader->failed = true;
        return false;
    }
    memset(lines + reader->labels, 0, (labels - reader->labels) * sizeof *lines);
    memset(marks + reader->labels, 0, labels - reader->labels);
    reader->labels = labels;
    return true;
}

static void mark(struct reader *reader, uint32_t number)
{
    if (has_label(reader, number))
        reader->marks[number] = 1;
}

static void add(struct reader *reader, const struct line *line)
{
    if (reader->count == reader->room) {
        size_t room = reader->room == 0 ? 4096 : reader->room * 2;
        struct line *lines = realloc(reader->lines, room * sizeof *lines);
        if (lines == NULL) {
            reader->failed = true;
            return;
        }
        reader->lines = lines;
        reader->room = room;
    }
    reader->lines[reader->count] = *line;
    if (line->kind != KIND_ASM || reader->begins_asm) {
        reader->lines[reader->count].behind_jumps = reader->asm_jumps;
        reader->asm_jumps = reader->begins_asm = false;
    }
    reader->count++;
}

static void enter_section(struct reader *reader, bool code)
{
    reader->previous = reader->code;
    reader->code = code;
}

/* .section NAME,"flags",... */
static bool is_code_section(const char *rest, size_t size)
{
    bool code = begins(rest, ".text") && rest[5] != '_';
    const char *flags = memchr(rest, '"', size);
    for (const char *at = flags; at != NULL && ++at < rest + size && *at != '"';)
        code = code || *at == 'x';
    return code;
}

static void directive(struct reader *reader, const char *text, size_t size)
{
    size_t word = strcspn(text, " \t\n");
    const char *rest = text + word + strspn(text + word, " \t");
    size_t left = size - (size_t)(rest - text);
    if (word > size)
        return;
    if (word == 5 && begins(text, ".text")) {
        enter_section(reader, true);
    } else if (word == 5 && begins(text, ".data")) {
        enter_section(reader, false);
    } else if (word == 4 && begins(text, ".bss")) {
        enter_section(reader, false);
    } else if (begins(text, ".section")) {
        enter_section(reader, is_code_section(rest, left));
    } else if (begins(text, ".pushsection")) {
        if (reader->depth < 16)
            reader->was_code[reader->depth] = reader->code;
        reader->depth++;
        enter_section(reader, is_code_section(rest, left));
    } else if (begins(text, ".popsection")) {
        if (reader->depth > 0 && --reader->depth < 16)
            reader->code = reader->was_code[reader->depth];
    } else if (begins(text, ".previous")) {
        enter_section(reader, reader->previous);
    } else if (word == 8 && begins(text, ".uleb128")) {
        mark(reader, number_at(rest)); /* a landing pad, as offset: .L5-.LFB0 */
    }
}

static bool is_data(const char *text)
{
    static const char *const words[] = {".byte", ".value", ".word", ".long",
                                        ".quad", ".short", ".int"};
    size_t word = strcspn(text, " \t\n");
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (strlen(words[i]) == word && begins(text, words[i]))
            return true;
    return false;
}

static bool is_jump(const char *text)
{
    return text[0] == 'j' || begins(text, "loop") || begins(text, "notrack j") ||
           begins(text, "bnd j") || begins(text, "xbegin");
}

static bool names_label(const char *text, size_t size)
{
    for (const char *at = text; (at = memchr(at, '.', size - (size_t)(at - text))) != NULL; at++)
        if (number_at(at) != UINT32_MAX)
            return true;
    return false;
}

/* Lines of the program's own asm statements. gcc puts # 12 "file" 1 in front of each. */
static void asm_line(struct reader *reader, struct line *line)
{
    if (*line->text == '#') {
        reader->begins_asm |= begins(line->text, "# ") && is_digit(line->text[2]) &&
                              memchr(line->text, '"', line->size) != NULL;
        return;
    }
    reader->asm_jumps |= names_label(line->text, line->size);
    reader->macros |= begins(line->text, ".macro") || begins(line->text, ".include");
    if (*line->text == '.')
        directive(reader, line->text, line->size);
    if (reader->code) {
        line->kind = KIND_ASM;
        add(reader, line);
    }
}

static void code_line(struct reader *reader, struct line *line)
{
    line->kind = KIND_CODE;
    line->may_throw = reader->in_region;
    if (!is_jump(line->text)) {
        for (const char *at = line->text;
             (at = memchr(at, '.', line->size - (size_t)(at - line->text))); at++)
            mark(reader, number_at(at));
    }
    add(reader, line);
}

static void read_line(struct reader *reader, const char *at, size_t size)
{
    struct line line = {.at = at, .text = at + strspn(at, " \t")};
    const char *end = at + size;
    line.size = line.text < end ? (size_t)(end - line.text) : 0;
    if (line.size == 0)
        return;
    if (begins(line.text, "#APP") || begins(line.text, "#NO_APP")) {
        reader->in_app = line.text[1] == 'A';
        return;
    }
    if (reader->in_app) {
        asm_line(reader, &line);
        return;
    }
    if (*line.text == '#')
        return;
    if (is_digit(*at)) { /* 1: call *mcount@GOTPCREL(%rip) */
        const char *colon = memchr(at, ':', size);
        line.text = colon != NULL ? colon + 1 + strspn(colon + 1, " \t") : end;
        line.size = line.text < end ? (size_t)(end - line.text) : 0;
        if (line.size > 0 && reader->code)
            code_line(reader, &line);
        return;
    }
    bool label = line.text == at && memchr(at, ':', size) != NULL && *at != '"';
    if (label && *at == '.') {
        if (begins(at, ".LEHB") || begins(at, ".LEHE"))
            reader->in_region = at[4] == 'B';
        line.label = number_at(at);
        if (!reader->code || !has_label(reader, line.label))
            return;
        line.kind = KIND_LABEL;
        reader->line_of[line.label] = (uint32_t)reader->count + 1;
        add(reader, &line);
    } else if (label) {
        line.kind = KIND_FUNCTION;
        if (reader->code)
            add(reader, &line);
    } else if (*line.text == '.' && !(reader->code && is_data(line.text))) {
        directive(reader, line.text, line.size);
    } else if (reader->code) {
        code_line(reader, &line);
    }
}

static bool mentions(const struct line *line, const char *word)
{
    size_t size = strlen(word);
    for (const char *at = line->text; at + size <= line->text + line->size; at++)
        if (memcmp(at, word, size) == 0)
            return true;
    return false;
}

static bool word_is(const struct line *line, const char *const *words)
{
    size_t word = strcspn(line->text, " \t\n;");
    for (; *words != NULL; words++)
        if (strlen(*words) == word && begins(line->text, *words))
            return true;
    return false;
}

/* The instruction's suffix of size is passed over: cmpq, cmpl. */
static bool word_is_sized(const struct line *line, const char *const *words)
{
    size_t word = strcspn(line->text, " \t\n;");
    for (; *words != NULL; words++) {
        size_t size = strlen(*words);
        if (begins(line->text, *words) &&
            (word == size || (word == size + 1 && strchr("bwlq", line->text[size]) != NULL)))
            return true;
    }
    return false;
}

static bool reads_flags(const struct line *line)
{
    static const char *const words[] = {"adc", "sbb",  "rcl",  "rcr",  "pushf", "lahf",
                                        "cmc", "adcx", "adox", "into", NULL};
    const char *text = line->text;
    return (text[0] == 'j' && !begins(text, "jmp")) || begins(text, "set") ||
           begins(text, "cmov") || begins(text, "fcmov") || begins(text, "loop") ||
           word_is_sized(line, words) || memchr(text, ';', line->size) != NULL;
}

/* Whether the instruction sets all flags, whatever they were. */
static bool sets_flags(const struct line *line)
{
    static const char *const words[] = {"add", "sub",  "and", "or", "xor",
                                        "cmp", "test", "neg", NULL};
    static const char *const others[] = {"comiss",  "comisd",   "ucomiss",  "ucomisd", "vcomiss",
                                         "vcomisd", "vucomiss", "vucomisd", NULL};
    return word_is_sized(line, words) || word_is(line, others);
}

/* TLS descriptor calls, which find a thread-local variable, preserve all registers but rax. */
static bool is_call(const struct line *line)
{
    return (begins(line->text, "call") || begins(line->text, "notrack call") ||
            begins(line->text, "bnd call")) &&
           !mentions(line, "@TLSCALL") && !mentions(line, "@tlscall");
}

static bool is_end(const struct line *line)
{
    static const char *const words[] = {"ret", "retq",  "ud2",    "hlt",
                                        "rep", "leave", "leaveq", NULL};
    if (begins(line->text, "rep") || begins(line->text, "leave"))
        return begins(line->text, "rep ret") || begins(line->text, "repz ret");
    return word_is(line, words) || begins(line->text, "jmp") || begins(line->text, "notrack jmp") ||
           begins(line->text, "bnd jmp");
}

#define FLAG_LINES_MAX 4096 /* limit of lines examined for one block */

/* Whether the flags before the line are used by it or later. */
static bool flags_are_used(const struct reader *reader, size_t line)
{
    for (unsigned steps = 0; line < reader->count && steps < FLAG_LINES_MAX; steps++) {
        const struct line *at = &reader->lines[line];
        if (at->kind == KIND_FUNCTION || at->kind == KIND_ASM)
            return false; /* asm cannot take flags as input */
        if (at->kind == KIND_CODE) {
            if (reads_flags(at))
                return true;
            if (sets_flags(at) || is_call(at))
                return false;
            if (is_end(at)) {
                uint32_t target = begins(at->text, "jmp") && at->text[3] != '\0'
                                      ? number_at(at->text + 3 + strspn(at->text + 3, " \t"))
                                      : UINT32_MAX;
                if (target >= reader->labels || reader->line_of[target] == 0)
                    return false; /* out of the function, or through a table */
                line = reader->line_of[target] - 1;
                continue;
            }
        }
        line++;
    }
    return true;
}

/* Calls like setjmp: the code after them is run again. */
static bool returns_twice(const struct line *line)
{
    static const char *const names[] = {"setjmp", "savectx", "vfork", "getcontext", "swapcontext"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (mentions(line, names[i]))
            return true;
    return false;
}

/* After asm that may call, and after code that uses the register itself, nothing is known of it. */
static bool spoils(const struct line *line)
{
    if (mentions(line, "r11") || mentions(line, "__fentry__") || mentions(line, "mcount"))
        return true;
    return line->kind == KIND_ASM && (mentions(line, "syscall") || mentions(line, "sysenter") ||
                                      mentions(line, "call") || mentions(line, "int"));
}

/* Is r11 wanted before the next call? A block that ends in a return wants it no more. */
static bool is_wanted(const struct reader *reader, size_t line)
{
    for (; line < reader->count; line++) {
        const struct line *at = &reader->lines[line];
        if (at->kind == KIND_LABEL || at->kind == KIND_FUNCTION || at->acts != 0)
            return true; /* a call may begin a block, too */
        if (at->kind == KIND_CODE && is_call(at))
            return false;
        if (at->kind == KIND_CODE && is_end(at))
            return mentions(at, "jmp");
        if (at->kind == KIND_CODE && is_jump(at->text))
            return true;
    }
    return false;
}

static void find_blocks(struct reader *reader)
{
    bool pending = false;
    for (size_t i = 0; i < reader->count; i++) {
        struct line *line = &reader->lines[i];
        pending = line->kind != KIND_FUNCTION && (pending || line->behind_jumps);
        if (line->kind == KIND_LABEL) {
            pending = true;
            if (reader->marks[line->label] != 0)
                line->acts |= FM_BLOCK_LAND;
        }
        if (line->kind != KIND_CODE && line->kind != KIND_ASM)
            continue;
        if (pending)
            line->acts |= FM_BLOCK_COUNT | (flags_are_used(reader, i) ? FM_BLOCK_KEEP_FLAGS : 0u);
        pending = line->kind == KIND_CODE &&
                  ((is_jump(line->text) && !is_end(line)) ||
                   (is_call(line) && (line->may_throw || returns_twice(line))));
    }
    for (size_t i = 0; i < reader->count; i++) {
        struct line *line = &reader->lines[i];
        if (line->kind == KIND_CODE && is_call(line) && is_wanted(reader, i + 1))
            line->acts |= FM_BLOCK_TAKE;
    }
}

/* Adds the action of a line. */
static bool keep(const struct reader *reader, struct fm_blocks *blocks)
{
    size_t acts = 0, functions = 0;
    for (size_t i = 0; i < reader->count; i++) {
        acts += reader->lines[i].acts != 0;
        functions += reader->lines[i].kind == KIND_FUNCTION;
    }
    blocks->lines = malloc((acts + 1) * sizeof *blocks->lines);
    blocks->careful = malloc((functions + 1) * sizeof *blocks->careful);
    if (blocks->lines == NULL || blocks->careful == NULL)
        return false;
    const char *function = NULL;
    for (size_t i = 0; i < reader->count; i++) {
        const struct line *line = &reader->lines[i];
        if (line->acts != 0)
            blocks->lines[blocks->line_count++] = (struct fm_block_line){line->at, line->acts};
        if (line->kind == KIND_FUNCTION && !mentions(line, ".cold"))
            function = line->at;
        bool spoilt = line->kind == KIND_ASM ? reader->macros || spoils(line)
                                             : line->kind == KIND_CODE && spoils(line);
        if (function != NULL && spoilt) {
            blocks->careful[blocks->careful_count++] = function;
            function = NULL;
        }
    }
    return true;
}

bool fm_blocks_read(struct fm_blocks *blocks, const char *text)
{
    struct reader reader = {.code = true};
    *blocks = (struct fm_blocks){0};
    for (const char *at = text, *next; *at != '\0' && !reader.failed; at = next) {
        const char *end = strchr(at, '\n');
        next = end != NULL ? end + 1 : at + strlen(at);
        read_line(&reader, at, end != NULL ? (size_t)(end - at) : strlen(at));
    }
    if (!reader.failed)
        find_blocks(&reader);
    bool ok = !reader.failed && keep(&reader, blocks);
    free(reader.lines);
    free(reader.line_of);
    free(reader.marks);
    return ok;
}

void fm_blocks_done(struct fm_blocks *blocks)
{
    free(blocks->lines);
    free(blocks->careful);
    *blocks = (struct fm_blocks){0};
}

unsigned fm_blocks_at(struct fm_blocks *blocks, const char *line)
{
    while (blocks->passed < blocks->line_count && blocks->lines[blocks->passed].line < line)
        blocks->passed++;
    bool found = blocks->passed < blocks->line_count && blocks->lines[blocks->passed].line == line;
    return found ? blocks->lines[blocks->passed].acts : 0;
}

bool fm_blocks_is_careful(const struct fm_blocks *blocks, const char *line)
{
    size_t low = 0, high = blocks->careful_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (blocks->careful[middle] < line)
            low = middle + 1;
        else
            high = middle;
    }
    return low < blocks->careful_count && blocks->careful[low] == line;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* gcc's text: its functions, calls, and the places of the stack protector's canary. */
#include "text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../choice.h"
#include "../kept.h"

#define CANARY "%fs:40, "

bool fm_slots_has(const struct fm_slots_line *line, const char *part)
{
    return line->size > 0 && memmem(line->at, line->size, part, strlen(part)) != NULL;
}

static bool is_instruction(const struct fm_slots_line *line)
{
    return !line->label && line->size > 0 && *line->at != '.' && *line->at != '#';
}

static bool read_lines(struct fm_slots_text *text, const char *all)
{
    size_t count = 1;
    for (const char *at = all; (at = strchr(at, '\n')) != NULL; at++)
        count++;
    text->lines = calloc(count, sizeof *text->lines);
    for (const char *at = all; text->lines != NULL && *at != '\0';) {
        struct fm_slots_line *line = &text->lines[text->line_count++];
        size_t size = strcspn(at, "\n"), blank = strspn(at, " \t");
        *line = (struct fm_slots_line){.at = at + blank,
                                       .size = (uint32_t)(size - blank),
                                       .label = blank == 0 && size > 0 && *at != '#',
                                       .function = FM_SLOTS_NONE};
        at += size + (at[size] == '\n');
    }
    return text->lines != NULL;
}

static struct fm_slots_function *function_add(struct fm_slots_text *text)
{
    if ((text->function_count & (text->function_count - 1)) == 0) {
        size_t room = text->function_count > 0 ? text->function_count * 2 : 1;
        void *more = realloc(text->functions, room * sizeof *text->functions);
        if (more == NULL)
            return NULL;
        text->functions = more;
    }
    struct fm_slots_function *function = &text->functions[text->function_count++];
    *function = (struct fm_slots_function){.entry = FM_SLOTS_NONE, .set = FM_SLOTS_NONE};
    return function;
}

uint32_t fm_slots_find(const struct fm_slots_text *text, const char *name, size_t size)
{
    for (size_t i = 0; i < text->function_count; i++)
        if (text->functions[i].name_size == size &&
            memcmp(text->functions[i].name, name, size) == 0)
            return (uint32_t)i;
    return FM_SLOTS_NONE;
}

/* The group in ".section .text.f,"axG",@progbits,GROUP,comdat"; NULL: none. */
static const char *group_of(const struct fm_slots_line *line, size_t *ret_size)
{
    const char *end = line->at + line->size, *flags = memchr(line->at, '"', line->size);
    const char *behind = flags == NULL ? NULL : memchr(flags + 1, '"', (size_t)(end - flags - 1));
    if (behind == NULL || memchr(flags, 'G', (size_t)(behind - flags)) == NULL)
        return NULL;
    const char *at = behind;
    for (unsigned commas = 0; commas < 2 && at != NULL; commas++) {
        at = memchr(at, ',', (size_t)(end - at));
        at = at != NULL ? at + 1 : NULL;
    }
    if (at == NULL)
        return NULL;
    const char *comma = memchr(at, ',', (size_t)(end - at));
    *ret_size = (size_t)((comma != NULL ? comma : end) - at);
    return at;
}

struct reading {
    struct fm_slots_text *text;
    const char *announced; /* by .type NAME, @function */
    size_t announced_size;
    const char *group;
    size_t group_size;
    uint32_t function;
    bool in_app;
};

static bool names_cold_part(const struct fm_slots_function *of, const struct fm_slots_line *line)
{
    return line->size > of->name_size && memcmp(line->at, of->name, of->name_size) == 0 &&
           strncmp(line->at + of->name_size, ".cold", 5) == 0;
}

static bool follow(struct reading *in, struct fm_slots_line *line)
{
    struct fm_slots_text *text = in->text;
    if (fm_slots_is(line, "#APP") || fm_slots_is(line, "#NO_APP"))
        in->in_app = line->at[1] == 'A';
    line->app = in->in_app;
    if (fm_slots_is(line, "# fathom: executable"))
        text->executable = true;
    if (in->in_app && !line->label)
        return true;
    if (fm_slots_is(line, ".section") || fm_slots_is(line, ".text")) {
        in->group = group_of(line, &in->group_size);
    } else if (fm_slots_is(line, ".type") && fm_slots_has(line, "@function")) {
        in->announced = line->at + 5 + strspn(line->at + 5, " \t");
        in->announced_size = strcspn(in->announced, ", \t\n");
    } else if (line->label && in->announced != NULL && line->size > in->announced_size &&
               line->at[in->announced_size] == ':' &&
               memcmp(line->at, in->announced, in->announced_size) == 0) {
        bool cold =
            in->function != FM_SLOTS_NONE && names_cold_part(&text->functions[in->function], line);
        struct fm_slots_function *function = cold ? NULL : function_add(text);
        if (!cold && function == NULL)
            return false;
        if (!cold) {
            function->name = line->at;
            function->name_size = in->announced_size;
            function->group = in->group;
            function->group_size = in->group_size;
            in->function = (uint32_t)(text->function_count - 1);
        }
        in->announced = NULL;
    }
    line->function = in->function;
    return true;
}

static bool fail(const struct fm_slots_function *function, const char *why)
{
    fprintf(stderr, "fathom: %.*s%s: --hooks=slots cannot record the file\n",
            (int)function->name_size, function->name, why);
    return false;
}

/* The next instruction from a line on; NULL: there is none. */
static struct fm_slots_line *next_instruction(const struct fm_slots_text *text, size_t from)
{
    for (size_t i = from; i < text->line_count; i++)
        if (is_instruction(&text->lines[i]))
            return &text->lines[i];
    return NULL;
}

/* The canary: it is set by "movq %fs:40, %rax; movq %rax, PLACE", and tested by "movq PLACE, %rax;
 * subq %fs:40, %rax; jne" to the failing call, or je over it. */
static bool find_canary(struct fm_slots_text *text, size_t at)
{
    struct fm_slots_line *line = &text->lines[at];
    struct fm_slots_function *function = &text->functions[line->function];
    if (fm_slots_is(line, "movq\t" CANARY)) {
        struct fm_slots_line *store = next_instruction(text, at + 1);
        if (store == NULL || !fm_slots_is(store, "movq\t%") || function->set != FM_SLOTS_NONE)
            return fail(function, ": an unknown form of the stack protector");
        line->act = FM_SLOTS_SET;
        store->act = FM_SLOTS_SET_MORE;
        function->set = (uint32_t)at;
        function->place = store->at + strcspn(store->at, " \n");
        function->place += strspn(function->place, " ");
    } else if (fm_slots_is(line, "subq\t" CANARY)) {
        size_t before = at;
        while (before-- > 0 && !is_instruction(&text->lines[before]))
            ;
        struct fm_slots_line *load = &text->lines[before], *branch = next_instruction(text, at + 1);
        if (!fm_slots_is(load, "movq\t") || branch == NULL || !fm_slots_is(branch, "j"))
            return fail(function, ": an unknown form of the stack protector");
        load->act = FM_SLOTS_TEST;
        line->act = FM_SLOTS_TEST_MORE;
        branch->act = fm_slots_is(branch, "je") ? FM_SLOTS_TEST_ALWAYS : FM_SLOTS_TEST_MORE;
    } else if (fm_slots_has(line, "%fs:40")) {
        return fail(function, ": an unknown form of the stack protector");
    }
    return true;
}

static bool is_call(const struct fm_slots_line *line)
{
    return fm_slots_is(line, "call") || fm_slots_is(line, "notrack call");
}

/* Calls that the linker rewrites by their bytes, and the one that is never made. */
static bool is_call_let_alone(const struct fm_slots_line *line)
{
    return fm_slots_has(line, "__tls_get_addr") || fm_slots_has(line, "__stack_chk_fail");
}

/* A jump out of the function: to a name that is no local label. */
static bool is_tail_jump(const struct fm_slots_line *line)
{
    if (!fm_slots_is(line, "j"))
        return false;
    const char *to = line->at + strcspn(line->at, " \t\n");
    to += strspn(to, " \t");
    return *to != '.' && *to != '*' && (*to < '0' || *to > '9');
}

static bool examine_line(struct fm_slots_text *text, size_t at)
{
    struct fm_slots_line *line = &text->lines[at];
    struct fm_slots_function *function = &text->functions[line->function];
    if (fm_slots_is(line, ".loc") && !function->has_file) {
        function->file = (unsigned)strtoul(line->at + 4, NULL, 10);
        function->has_file = true;
    }
    if (line->app || !is_instruction(line)) {
        bool own = line->app && !fm_slots_is(line, "#") && !fm_slots_is(line, ".");
        if (own && (fm_slots_has(line, ", %rsp") || fm_slots_has(line, ",%rsp")))
            return fail(function, ": inline assembly changes the stack pointer");
        function->has_calls |= own && (fm_slots_has(line, "call") || fm_slots_has(line, "jmp"));
        return true;
    }
    if (is_call(line)) {
        if (is_call_let_alone(line))
            return true;
        line->act = FM_SLOTS_CALL;
        function->calls++;
        function->has_calls = true;
    } else if (is_tail_jump(line)) {
        bool cold = names_cold_part(
            function, &(struct fm_slots_line){.at = line->at + strcspn(line->at, " \t") + 1,
                                              .size = line->size});
        function->has_calls |= !cold;
    }
    return find_canary(text, at);
}

/* Whether a function's entry hook can pass the node on in r11 to where the canary is set, and knows
 * its frame. */
static bool is_early(const struct fm_slots_text *text, struct fm_slots_function *function)
{
    bool frame = false, early = true;
    for (uint32_t i = function->entry + 1; i < function->set; i++) {
        const struct fm_slots_line *line = &text->lines[i];
        function->realigned |= fm_slots_is(line, "leaq\t8(%rsp), %r10");
        frame |= fm_slots_is(line, "movq\t%rsp, %rbp");
        function->has_frame = frame;
        early &= !fm_slots_has(line, "r11") && !is_call(line);
        early &= !line->label || fm_slots_is(line, ".L");
        early &= !fm_slots_is(line, "j") || !is_instruction(line);
    }
    return early && frame && !function->realigned;
}

/* Finds the nops of the entries, and leaves out what has no hook. */
static bool find_entries(struct fm_slots_text *text, struct fm_choice *choice,
                         const struct fm_kept *kept)
{
    bool at_entry = false;
    for (size_t i = 0; i < text->line_count; i++) {
        struct fm_slots_line *line = &text->lines[i];
        fm_choice_note(choice, line->at);
        if (fm_slots_is(line, ".LPFE"))
            at_entry = true;
        if (!at_entry || !is_instruction(line) || fm_slots_is(line, "endbr64"))
            continue;
        at_entry = false;
        if (!fm_slots_is(line, "nop") || line->function == FM_SLOTS_NONE)
            continue;
        struct fm_slots_function *function = &text->functions[line->function];
        char name[1024];
        snprintf(name, sizeof name, "%.*s", (int)function->name_size, function->name);
        line->act = FM_SLOTS_ENTRY;
        function->entry = (uint32_t)i;
        const char *rest = line->at + line->size;
        if (fm_choice_leaves_out(choice, name, function->has_file ? function->file : UINT32_MAX,
                                 rest))
            continue;
        unsigned keeps = fm_kept_of(kept, NULL, rest);
        if ((keeps & FM_KEPT_NO_HOOK) != 0)
            continue;
        if ((keeps & FM_KEPT_ALL) != 0)
            return fail(function, " keeps all registers");
        function->hooked = true;
    }
    return true;
}

static bool decide(struct fm_slots_text *text, struct fm_slots_function *function)
{
    if (function->hooked && function->has_calls && function->set == FM_SLOTS_NONE)
        return fail(function, " has no stack protector");
    if (function->hooked && function->has_calls)
        function->late = !is_early(text, function);
    if (function->late && !function->has_frame)
        return fail(function, " has no frame pointer");
    return true;
}

static bool examine(struct fm_slots_text *text, struct fm_choice *choice,
                    const struct fm_kept *kept)
{
    for (size_t i = 0; i < text->line_count; i++)
        if (text->lines[i].function != FM_SLOTS_NONE && !examine_line(text, i))
            return false;
    if (!find_entries(text, choice, kept))
        return false;
    for (size_t i = 0; i < text->line_count; i++) {
        const struct fm_slots_line *line = &text->lines[i];
        if (!fm_slots_is(line, ".weak"))
            continue;
        const char *name = line->at + 5 + strspn(line->at + 5, " \t");
        uint32_t found = fm_slots_find(text, name, strcspn(name, " \t\n"));
        if (found != FM_SLOTS_NONE)
            text->functions[found].weak = true;
    }
    for (size_t i = 0; i < text->function_count; i++)
        if (!decide(text, &text->functions[i]))
            return false;
    return true;
}

/* Things that no file may contain. */
static bool check(const struct fm_slots_text *text)
{
    static const struct {
        const char *part, *why;
    } list[] = {
        {"%r15", "the code uses register r15 itself"},
        {"@gnu_indirect_function", "it has a function that is chosen as the program is loaded"},
        {".intel_syntax", "it is in Intel's syntax"},
        {"fathom_enter", "it has hooks of another kind"},
    };
    for (size_t i = 0; i < text->line_count; i++)
        for (size_t k = 0; k < sizeof list / sizeof *list; k++) {
            const struct fm_slots_line *line = &text->lines[i];
            if (!fm_slots_has(line, list[k].part) || fm_slots_is(line, ".string") ||
                fm_slots_is(line, ".asci"))
                continue;
            fprintf(stderr, "fathom: --hooks=slots cannot record the file: %s (\"%.*s\")\n",
                    list[k].why, (int)line->size, line->at);
            return false;
        }
    return true;
}

bool fm_slots_text_read(struct fm_slots_text *text, const char *all)
{
    struct fm_choice choice;
    struct fm_kept kept;
    *text = (struct fm_slots_text){0};
    struct reading in = {.text = text, .function = FM_SLOTS_NONE};
    bool ok = read_lines(text, all);
    for (size_t i = 0; ok && i < text->line_count; i++)
        ok = follow(&in, &text->lines[i]);
    if (!ok) {
        fprintf(stderr, "fathom: no memory to find the functions of the file\n");
        return false;
    }
    if (!fm_choice_read(&choice, all))
        choice.pattern_count = 0;
    fm_kept_read(&kept, all);
    ok = check(text) && examine(text, &choice, &kept);
    fm_choice_done(&choice);
    fm_kept_done(&kept);
    return ok;
}

void fm_slots_text_done(struct fm_slots_text *text)
{
    free(text->lines);
    free(text->functions);
}

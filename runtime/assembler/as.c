/* SPDX-License-Identifier: Apache-2.0 */
/* The assembler front end: gcc (-B) finds it as "as". It expands the hooks to instructions, then
 * runs the real assembler on the result. Works for C and C++, with LTO too, since every object
 * passes through it.
 *
 *   fathom_enter $f %rax %rdx %rcx    by inline_hooks.h: the function, registers that are free
 *   fathom_exit $f %rax %rdx
 *   fathom_enter_full, fathom_exit_full    --grade=full: hooks of inlined bodies are kept
 *   nop at a function's entry            --grade=deep (-fpatchable-function-entry=1)
 *
 * The end of the expansion is the hook pc: the slow path returns there, so unwinding and debug
 * information see a call made at that place. */
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "arguments.h"
#include "blocks.h"
#include "choice.h"
#include "expand.h"
#include "flow.h"
#include "kept.h"
#include "naked.h"
#include "slots/slots.h"

static const char *skip_space(const char *at)
{
    while (*at == ' ' || *at == '\t')
        at++;
    return at;
}

/* Facts about the function that the lines belong to. */
struct state {
    char function[1024];  /* its symbol */
    char announced[1024]; /* by .type NAME, @function */
    bool has_own_hook;    /* a hook of its own body was found before */
    bool at_entry;
    bool has_exits;    /* its returns have hooks */
    bool refused;      /* the text contains something that cannot be expanded */
    bool marked;       /* the text has markers */
    bool called;       /* clang has written calls of hooks (called_hooks.h) */
    bool naked;        /* the function has no frame */
    bool keeps_all;    /* its hooks change no register */
    const char *begin; /* the label of its code that debug information names; NULL: none */
    uint32_t number;   /* number of the function in scan */
    bool intel;        /* the file's syntax */
    bool executable;   /* the code is not a shared object's (entry_hooks.h) */
    bool in_app;       /* in code that the program's author wrote (asm) */
    bool told;         /* functions that want hooks have a call of a profiler at their entry */
    bool in_thunk;     /* -mindirect-branch=thunk-inline: the next ret is a jump */
    bool has_file;
    unsigned file; /* the function's: its number in .loc */
    struct fm_choice choice;
    struct fm_kept kept;
    struct fm_scan scan;
    enum fm_verdict *verdicts; /* verdicts for its markers; NULL: none */
    uint32_t markers_passed;
    /* --grade=coverage */
    bool wants_blocks; /* the file requests block counts */
    bool counting;     /* the function's blocks are counted; */
    bool careful;      /* it uses r11 itself */
    uint32_t counted;  /* functions so far */
    uint32_t block_count;
    bool too_many; /* blocks in a function; its name is in too_large */
    char too_large[1024];
    struct fm_blocks blocks;
};

static void copy_name(char *to, size_t size, const char *from, const char *until)
{
    size_t length = strcspn(from, until);
    if (length >= size)
        length = 0;
    memcpy(to, from, length);
    to[length] = '\0';
}

/* Whether the hook belongs to the function's own body, or to a body inlined into a function that
 * has its own hook. A wrong guess costs time, but counts stay exact. */
static enum fm_hook_kind kind_of_hook(struct state *state, bool enter, const char *function,
                                      enum fm_verdict verdict)
{
    struct fm_word operand = {function + 1, strlen(function) - 1};
    struct fm_word symbol = {state->function, strlen(state->function)};
    bool known = function[0] == '$', own = known && fm_scan_names(operand, symbol);
    if (verdict == FM_VERDICT_OWN || verdict == FM_VERDICT_LEAF)
        known = own = true;
    if (verdict == FM_VERDICT_LEAF)
        return FM_HOOK_ENTER_LEAF;
    if (!enter)
        return own ? FM_HOOK_EXIT_OWN : FM_HOOK_EXIT_ANY;
    if (verdict != FM_VERDICT_OWN && verdict != FM_VERDICT_LEAF && known && state->has_own_hook)
        return FM_HOOK_ENTER_INLINED;
    state->has_own_hook |= own;
    return own ? FM_HOOK_ENTER_OWN : FM_HOOK_ENTER_ANY;
}

static void write_hook(FILE *out, const struct state *state, enum fm_hook_kind kind,
                       const struct fm_hook_place *place)
{
    if (state->intel)
        fputs("\t.att_syntax\n", out);
    fm_hook_write(out, kind, place);
    if (state->intel)
        fputs("\t.intel_syntax noprefix\n", out);
}

/* The line of the next instruction, without leading blanks; "": there is none. */
static const char *next_instruction(const char *rest)
{
    for (; *rest != '\0'; rest += strcspn(rest, "\n"), rest += *rest == '\n') {
        const char *text = skip_space(rest);
        if (text != rest && *text != '.' && *text != '#' && *text != '\n' && *text != '\0')
            return text;
    }
    return rest;
}

/* The verdict for the marker of this line. */
static enum fm_verdict verdict_at(struct state *state, const char *text)
{
    const struct fm_scan *scan = &state->scan;
    while (state->markers_passed < scan->marker_count &&
           scan->markers[state->markers_passed].line < text)
        state->markers_passed++;
    if (state->verdicts == NULL || state->markers_passed == scan->marker_count ||
        scan->markers[state->markers_passed].line != text)
        return FM_VERDICT_UNKNOWN;
    return state->verdicts[state->markers_passed];
}

/* "fathom_enter $f %rax %rdx %rcx", or %rbx for $f; a fourth register in position independent code.
 */
static bool expand_marker(FILE *out, struct state *state, const char *text)
{
    static const char *const names[] = {"fathom_enter ", "fathom_enter_full ", "fathom_exit ",
                                        "fathom_exit_full "};
    unsigned name = 0;
    while (name < 4 && strncmp(text, names[name], strlen(names[name])) != 0)
        name++;
    if (name == 4)
        return false;
    bool enter = name < 2;
    enum fm_verdict verdict = verdict_at(state, text);
    if (verdict == FM_VERDICT_DROP || (verdict == FM_VERDICT_LEAF && !enter))
        return true;
    char words[5][1024], operand[1040];
    unsigned count = 0;
    for (text += strlen(names[name]); count < 5 && *text != '\n' && *text != '\0'; count++) {
        if (*text == '\t' || *text == '#') /* comments of -fverbose-asm */
            break;
        copy_name(words[count], sizeof words[count], text, " \t#\n");
        text += strcspn(text, " \t#\n");
        text += strspn(text, " ");
    }
    unsigned registers = enter ? 3 : 2;
    if (count <= registers)
        return false;
    snprintf(operand, sizeof operand, words[0][0] == '$' ? "%s(%%rip)" : "(%s)",
             words[0] + (words[0][0] == '$'));
    struct fm_hook_place place = {.function = operand,
                                  .registers = {words[1], words[2], words[3]},
                                  .thread = count > registers + 1 ? words[registers + 1] : NULL};
    write_hook(out, state, kind_of_hook(state, enter, words[0], verdict), &place);
    return true;
}

/* Does the function that the lines belong to call nothing? */
static bool is_leaf(struct state *state)
{
    const struct fm_scan *scan = &state->scan;
    for (uint32_t i = state->number; i < scan->function_count; i++) {
        struct fm_word name = scan->labels[scan->starts[i]].name;
        if (name.size != strlen(state->function) ||
            memcmp(name.at, state->function, name.size) != 0)
            continue;
        state->number = i;
        return !scan->odd && !scan->calls[i];
    }
    return false;
}

/* A plain "ret": not one that pops arguments or replaces another one, nor one that must be followed
 * by a trap (-mharden-sls=return). */
static bool is_plain_return(const char *text, const char *rest)
{
    const char *behind = text + (strncmp(text, "retq", 4) == 0 ? 4 : 3);
    if (strncmp(text, "ret", 3) != 0 || strchr("\n#", *skip_space(behind)) == NULL)
        return false;
    return strncmp(next_instruction(rest), "int3", 4) != 0;
}

static void expand_return(FILE *out, const struct state *state, const char *text, const char *rest)
{
    /* Registers that calls may change in the Windows convention, too, and that are not results. */
    struct fm_hook_place place = {.registers = {"%r11", "%r8", NULL},
                                  .thread = state->executable ? NULL : "%r10",
                                  .keep_all = !state->counting && state->keeps_all,
                                  .plain_return = is_plain_return(text, rest)};
    write_hook(out, state, state->counting ? FM_HOOK_COUNTED_RETURN : FM_HOOK_RETURN, &place);
}

/* Whether the line is clang's call after the nop of a function that has hooks (grades.h). */
static bool is_profiler_call(const char *text)
{
    if (strncmp(text, "call", 4) != 0)
        return false;
    return strncmp(skip_space(text + 4 + (text[4] == 'q')), "__fentry__", 10) == 0;
}

/* Is that the next instruction? */
static bool is_told(const char *rest)
{
    return is_profiler_call(next_instruction(rest));
}

static void expand_entry(FILE *out, struct state *state, const char *rest)
{
    unsigned file = state->has_file ? state->file : UINT32_MAX;
    state->has_exits = false;
    if (state->told && !is_told(rest))
        return;
    if (fm_choice_leaves_out(&state->choice, state->function, file, rest))
        return;
    unsigned kept = fm_kept_of(&state->kept, state->begin, rest);
    if ((kept & FM_KEPT_NO_HOOK) != 0 || (state->wants_blocks && (kept & FM_KEPT_SURELY) != 0))
        return;
    state->keeps_all = (kept & FM_KEPT_ALL) != 0;
    state->counting = state->wants_blocks;
    state->counted += state->counting;
    state->block_count = 0;
    state->has_exits = (state->counting && state->careful) || !is_leaf(state);
    /* A function's own name may end in .0: it is nested then, and uses its static chain. */
    struct fm_hook_place place = {.registers = {"%r11", "%r10", "%rax"},
                                  .thread = state->executable ? NULL : "%rcx",
                                  .keep_rax = (kept & FM_KEPT_RAX) != 0,
                                  .keep_chain = (kept & FM_KEPT_R10) != 0 ||
                                                strrchr(state->function, '.') != NULL,
                                  .keep_all = !state->counting && state->keeps_all,
                                  .counted = state->counted};
    if (state->counting)
        write_hook(out, state, state->has_exits ? FM_HOOK_COUNTED_BODY : FM_HOOK_COUNTED_LEAF,
                   &place);
    else
        write_hook(out, state, state->has_exits ? FM_HOOK_BODY : FM_HOOK_LEAF, &place);
}

/* The blocks of the function that ends are counted. */
static void end_counting(FILE *out, struct state *state)
{
    if (!state->counting)
        return;
    fm_counts_write(out, state->counted, state->block_count);
    state->counting = false;
    if (state->block_count > FM_BLOCKS_MAX && !state->too_many) {
        state->too_many = true;
        memcpy(state->too_large, state->function, sizeof state->too_large);
    }
}

static void count_block(FILE *out, struct state *state, bool keep_flags)
{
    uint32_t number = state->block_count++;
    if (state->intel)
        fputs("\t.att_syntax\n", out);
    if (state->careful)
        fm_count_write_careful(out, state->counted, number, state->executable);
    else
        fm_count_write(out, number, keep_flags);
    if (state->intel)
        fputs("\t.intel_syntax noprefix\n", out);
}

static void take_counters(FILE *out, const struct state *state, bool behind_call)
{
    if (state->careful)
        return;
    if (state->intel)
        fputs("\t.att_syntax\n", out);
    fm_take_write(out, state->counted, state->executable, behind_call);
    if (state->intel)
        fputs("\t.intel_syntax noprefix\n", out);
}

/* Follows the functions' labels. */
static void follow(FILE *out, struct state *state, const char *line, const char *text,
                   const char *rest)
{
    if (strncmp(text, ".intel_syntax", 13) == 0) {
        state->intel = true;
    } else if (strncmp(text, ".att_syntax", 11) == 0) {
        state->intel = false;
    } else if (strncmp(text, ".type", 5) == 0 && strstr(text, "@function") != NULL) {
        copy_name(state->announced, sizeof state->announced, skip_space(text + 5), ", \t");
        if (strstr(state->announced, "@@") != NULL && !state->refused) {
            state->refused = true;
            fprintf(stderr,
                    "fathom: %s: the assembler takes no names of the vectorcall convention; "
                    "--grade=full records the file\n",
                    state->announced);
        }
    } else if (strncmp(text, ".loc", 4) == 0 && (text[4] == ' ' || text[4] == '\t') &&
               !state->has_file) {
        state->file = (unsigned)strtoul(text + 4, NULL, 10);
        state->has_file = true;
    } else if (strncmp(line, ".Lfunc_begin", 12) == 0) {
        state->begin = line;
    } else if (strncmp(text, "#APP", 4) == 0 || strncmp(text, "#NO_APP", 7) == 0) {
        state->in_app = text[1] == 'A';
    } else if (line == text && state->announced[0] != '\0') {
        size_t length = strlen(state->announced);
        if (strncmp(line, state->announced, length) == 0 && line[length] == ':') {
            size_t whole = strlen(state->function);
            bool cold = strncmp(state->function, line, whole) == 0 && whole > 0 &&
                        strncmp(line + whole, ".cold", 5) == 0;
            if (!cold) {
                end_counting(out, state);
                memcpy(state->function, state->announced, length + 1);
                state->careful = fm_blocks_is_careful(&state->blocks, line);
            }
            state->has_exits &= cold;
            state->has_file &= cold;
            state->begin = cold ? state->begin : NULL;
            state->announced[0] = '\0';
            state->has_own_hook = false;
            state->naked &= cold;
            if (!cold && state->marked)
                state->naked = fm_naked_has_marker(rest);
            if (!cold && state->called)
                state->naked |= fm_naked_has_call(rest);
        }
    }
}

/* Reads the rest of the file, with a NUL after it; NULL: see errno. NULs within are replaced by
 * blanks: clang copies bytes of comments unchanged. */
static char *read_all(FILE *in)
{
    size_t used = 0, room = 1u << 20;
    char *all = malloc(room + 1);
    while (all != NULL) {
        used += fread(all + used, 1, room - used, in);
        if (used < room)
            break;
        room *= 2;
        char *more = realloc(all, room + 1);
        if (more == NULL)
            free(all);
        all = more;
    }
    if (all != NULL && ferror(in)) {
        free(all);
        return NULL;
    }
    for (size_t i = 0; all != NULL && i < used; i++)
        if (all[i] == '\0')
            all[i] = ' ';
    if (all != NULL)
        all[used] = '\0';
    return all;
}

/* text is a line without leading blanks. A label begins in the first column, and may be called
 * retry. */
static bool is_return(const char *line, const char *text)
{
    if (text == line)
        return false;
    if (strncmp(text, "jmp", 3) == 0)
        return strncmp(skip_space(text + 3), "__x86_return_thunk", 18) == 0;
    if (strncmp(text, "rep", 3) == 0)
        text = skip_space(text + strcspn(text, " \t"));
    return strncmp(text, "ret", 3) == 0;
}

/* After a label .LIND1, a ret jumps to the address just stored. But if that is popped (leaq
 * 8(%rsp), %rsp), it is a return, with -mfunction-return=thunk-inline. */
static bool is_jump_of_thunk(struct state *state, const char *line, const char *text)
{
    if (strncmp(line, ".LIND", 5) == 0)
        state->in_thunk = true;
    else if (strncmp(text, "lea", 3) == 0)
        state->in_thunk = false;
    bool jump = state->in_thunk && text != line && strncmp(text, "ret", 3) == 0;
    state->in_thunk &= !jump;
    return jump;
}

/* Whether this line is the nop to be replaced by a hook. gcc puts a label before it. */
static bool is_nop_at_entry(struct state *state, const char *line, const char *text)
{
    if (strncmp(line, ".LPFE", 5) == 0 || strncmp(line, "# %bb.0:", 8) == 0) {
        state->at_entry = true;
        return false;
    }
    if (!state->at_entry || text == line || *text == '.' || *text == '#' || *text == '\0' ||
        strncmp(text, "endbr64", 7) == 0)
        return false;
    state->at_entry = false;
    const char *behind = text + 3;
    if (state->marked || state->called || strncmp(text, "nop", 3) != 0)
        return false;
    return *behind == '\0' || strchr(" \t", *behind) != NULL;
}

/* Whether the line belongs to an entry of the table of nops, which is not used. It would refer to
 * functions of templates and inline functions that the linker takes from another unit, and fail to
 * link. An entry is from the directive of its section to its address; the next section begins with
 * a directive of its own. */
static bool is_in_table(bool *in_table, const char *text)
{
    bool inside = *in_table;
    if (strncmp(text, ".section", 8) == 0) {
        inside = strncmp(skip_space(text + 8), "__patchable_function_entries", 28) == 0;
        *in_table = inside;
    } else if (strncmp(text, ".quad", 5) == 0) {
        *in_table = false;
    }
    return inside;
}

/* Whether the line is a marker or a hook call in a naked function, or an instruction that prepares
 * it. */
static bool is_of_hook_in_naked(const struct state *state, const char *line, const char *text)
{
    if (!state->naked || text == line || *text == '.' || *text == '#' || *text == '\0')
        return false;
    return state->in_app ? strncmp(text, "fathom_", 7) == 0 : strncmp(text, "endbr64", 7) != 0;
}

/* clang names a type of sections that GNU's assembler knows by its number alone. */
static void put_line(FILE *out, const char *line)
{
    static const char type[] = "@llvm_linker_options";
    const char *found = strncmp(line, "\t.section", 9) == 0 ? strstr(line, type) : NULL;
    if (found == NULL)
        fprintf(out, "%s\n", line);
    else
        fprintf(out, "%.*s@0x6fff4c01%s\n", (int)(found - line), line, found + sizeof type - 1);
}

/* False: the text cannot be expanded as requested; an error was printed. */
static bool filter(char *all, FILE *out)
{
    static struct state state;
    bool in_table = false;
    state.wants_blocks = strstr(all, "\n\t# fathom: blocks\n") != NULL;
    if (state.wants_blocks && !fm_blocks_read(&state.blocks, all)) {
        fprintf(stderr, "fathom: no memory to find the blocks to count\n");
        return false;
    }
    if (!fm_choice_read(&state.choice, all)) /* on failure, finishing excludes them */
        state.choice.pattern_count = 0;
    state.marked = strstr(all, "fathom_enter") != NULL;
    state.called = strstr(all, "# fathom: hooks are called\n") != NULL;
    fm_kept_read(&state.kept, all);
    if (fm_scan_read(&state.scan, all))
        state.verdicts = fm_flow_decide(&state.scan);
    for (char *line = all, *next; *line != '\0'; line = next) {
        char *end = strchr(line, '\n');
        next = end != NULL ? end + 1 : line + strlen(line);
        if (end != NULL)
            *end = '\0';
        const char *text = skip_space(line);
        follow(out, &state, line, text, next);
        fm_choice_note(&state.choice, text);
        unsigned acts = state.counting ? fm_blocks_at(&state.blocks, line) : 0;
        if ((acts & FM_BLOCK_COUNT) != 0)
            count_block(out, &state, (acts & FM_BLOCK_KEEP_FLAGS) != 0);
        bool jump = is_jump_of_thunk(&state, line, text);
        if (is_in_table(&in_table, text) || is_of_hook_in_naked(&state, line, text)) {
            continue;
        } else if (is_nop_at_entry(&state, line, text)) {
            expand_entry(out, &state, next);
            continue;
        } else if (state.has_exits && !state.in_app && !jump && is_return(line, text)) {
            expand_return(out, &state, text, next);
        } else if (state.told && is_profiler_call(text)) {
            continue;
        } else if (expand_marker(out, &state, text)) {
            continue;
        } else if (strncmp(text, "# fathom: executable", 20) == 0) {
            state.executable = true;
        } else if (strncmp(text, "# fathom: entries are told", 26) == 0) {
            state.told = true;
        }
        put_line(out, line);
        if ((acts & (FM_BLOCK_TAKE | FM_BLOCK_LAND)) != 0)
            take_counters(out, &state, (acts & FM_BLOCK_TAKE) != 0);
    }
    end_counting(out, &state);
    if (state.too_many)
        fprintf(stderr, "fathom: %s has more than %u blocks of code, which cannot be counted\n",
                state.too_large, FM_BLOCKS_MAX);
    fm_blocks_done(&state.blocks);
    free(state.verdicts);
    fm_scan_done(&state.scan);
    fm_choice_done(&state.choice);
    fm_kept_done(&state.kept);
    return !state.too_many && !state.refused;
}

/* The first "as" of PATH that is not this program. */
static void run_real(char **argv)
{
    static const char *const places[] = {"/usr/bin/as", "/bin/as", "/usr/local/bin/as", NULL};
    const char *given = getenv("FATHOM_AS");
    if (given != NULL)
        execv(given, argv);
    for (unsigned i = 0; places[i] != NULL; i++)
        execv(places[i], argv);
    fprintf(stderr, "fathom: cannot run the assembler as: %s\n", strerror(errno));
    _exit(127);
}

int main(int argc, char **argv)
{
    int input = 0;
    const char *object = "";
    char *first = fm_as_take_first_lines(&argc, argv);
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "-o") == 0 && i + 1 < argc)
            object = argv[i + 1];
        if (fm_as_takes_argument(argv[i]))
            i++;
        else if (argv[i][0] != '-')
            input = i;
    }
    bool from_stdin = input == 0;
    for (int i = 1; i < argc; i++)
        if (strcmp(argv[i], "--version") == 0 || strcmp(argv[i], "--help") == 0)
            run_real(argv);
    FILE *in = from_stdin ? stdin : fopen(argv[input], "r");
    char path[4096];
    int fd = fm_as_open_temporary(path, sizeof path);
    FILE *out = fd >= 0 ? fdopen(fd, "w") : NULL;
    char *all = in != NULL && first != NULL ? fm_as_put_first(first, read_all(in)) : NULL;
    if (all == NULL || out == NULL) {
        fprintf(stderr, "fathom: cannot read %s or write %s: %s\n",
                from_stdin ? "standard input" : argv[input], path, strerror(errno));
        if (fd >= 0)
            unlink(path);
        return 1;
    }
    fm_scan_put_nops_inside(all);
    bool filtered = fm_slots_wanted(all) ? fm_slots_filter(all, object, out) : filter(all, out);
    free(all);
    if (!filtered) {
        unlink(path);
        return 1;
    }
    if (fflush(out) != 0 || ferror(out) || fclose(out) != 0) {
        fprintf(stderr, "fathom: cannot write %s: %s\n", path, strerror(errno));
        unlink(path);
        return 1;
    }
    char **arguments = calloc((size_t)argc + 2, sizeof *arguments);
    if (arguments == NULL)
        return 1;
    memcpy(arguments, argv, (size_t)argc * sizeof *arguments);
    arguments[from_stdin ? argc : input] = path;
    pid_t child = fork();
    if (child == 0)
        run_real(arguments);
    int status = 1;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR)
        ;
    unlink(path);
    free(arguments);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "expand.h"

#include <string.h>

/* In the texts below, @A @B @C are registers, @F is the function's operand, @0 @8 ... are fields of
 * fm_tls_v2 (hot.h). Local labels 9771.. are not used by compilers or programmers; 9777 ends the
 * hook and is its hook pc. Rarely run code is at the end of the section. The multiplication shows
 * finishing that there is a hook. */

/* A hook leaves the top in r11, where the next one often still finds it: waiting for the store of
 * the last top would take longer than everything else. The contents of r11 are always compared with
 * the top. */
#define TAKE_TOP        \
    "\tmovq %r11, @A\n" \
    "\tcmpq @8, @A\n"   \
    "\tjne 9778f\n"     \
    "9779:\n"
#define TAKE_TOP_COLD      \
    "9778:\tmovq @8, @A\n" \
    "\tjmp 9779b\n"
/* FM_HOOK_BEGINS and FM_HOOK_ENDS of hot.h. */
#define HOOK_BEGINS "\t.quad 0x4246544600841f0f\n"
#define HOOK_ENDS "\t.quad 0x4546544600841f0f\n"
/* Tells a signal handler that it interrupted a function without a frame of its own. */
#define HOOK_ENDS_OF_LEAF "\t.quad 0x4c46544600841f0f\n"
#define UNLESS_STOPPED  \
    "\tcmpq @0, %rbp\n" \
    "\tjnc 9777f\n"
#define IDENTITY_OF_HOOK       \
    "\tleaq 9777f(%rip), @B\n" \
    "\timulq $-0x61C8864F, @B, @B\n"
#define ADD_SITE "\tleaq (@B, @C, 8), @B\n"
/* @C becomes the index entry of the identity @B below the frame @A. */
#define LOOK_UP                          \
    "\timulq $-0x7A143595, 16(@A), @C\n" \
    "\taddq @C, @B\n"                    \
    "\tmovq @24, @C\n"                   \
    "\tandq @B, @C\n"                    \
    "\taddq @16, @C\n"                   \
    "\tcmpq @B, (@C)\n"                  \
    "\tjne 9773f\n"                      \
    "9774:"
/* The fast path needs no frame. @B becomes the edge. */
#define LOOK_UP_AND_COUNT LOOK_UP "\tmovq 8(@C), @B\n\tincq (@B)\n"
/* When the edge is found: counts, and fills the frame except its address; @C is the index entry.
 * The callee's key is the identity, unless the edge closes a recursion. */
#define LOOK_UP_AND_FILL               \
    LOOK_UP "\tcmpq @B, 16(@C)\n"      \
            "\tjne 9770f\n"            \
            "9761:\tmovq @B, 48(@A)\n" \
            "\tmovq 8(@C), @B\n"       \
            "\tincq (@B)\n"            \
            "\tmovq @B, 40(@A)\n"
#define STORE_FUNCTION \
    "\tleaq @F, @B\n"  \
    "\tmovq @B, 56(@A)\n"
/* The key of an edge that closes a recursion; the second place of the pair; places further on. The
 * stack below the pointer may be in use (red zone). Calls go by the GOT, as the dynamic linker
 * changes r11 when it binds a function at its first call. */
#define TAKE_KEY               \
    "9770:\tmovq 16(@C), @B\n" \
    "\tjmp 9761b\n"
/* At a function's entry, a call that closes a recursion counts its depth. */
#define DEEPER "\tcall *fm_deeper_v1@GOTPCREL(%rip)\n"
#define TAKE_KEY_OF_BODY  \
    "\tmovq 16(@C), @B\n" \
    "\tjmp 9761b\n"
#define LOOK_FURTHER                            \
    "9773:\txorq $32, @C\n"                     \
    "\tcmpq @B, (@C)\n"                         \
    "\tje 9774b\n"                              \
    "\tleaq -128(%rsp), %rsp\n"                 \
    "\tpushq @B\n"                              \
    "\tcall *fm_index_find_v1@GOTPCREL(%rip)\n" \
    "\tpopq @C\n"                               \
    "\tsubq $-128, %rsp\n"                      \
    "\ttestq @C, @C\n"                          \
    "\tjne 9774b\n"
/* Otherwise out of line, with all registers preserved but @A. */
#define PUSH_AND_COLD                                                                        \
    "\taddq $32, @A\n"                                                                       \
    "\tmovq @A, @8\n"                                                                        \
    "\tmovq @A, %r11\n" HOOK_ENDS "9777:\n"                                                  \
    "\t.subsection 1\n" TAKE_TOP_COLD TAKE_KEY LOOK_FURTHER "9772:\tleaq -128(%rsp), %rsp\n" \
    "\tleaq @F, @A\n"                                                                        \
    "\tpushq @A\n"                                                                           \
    "\tleaq 9777b(%rip), @A\n"                                                               \
    "\tpushq @A\n"                                                                           \
    "\tjmp *fm_enter_slow_at_v1@GOTPCREL(%rip)\n"                                            \
    "\t.subsection 0\n"

static const char enter_own[] =
    UNLESS_STOPPED "\tjno 9772f\n" TAKE_TOP "\tcmpq (@A), %rbp\n"
                   "\tjae 9772f\n"
                   "\tcmpq @32, @A\n"
                   "\tjae 9772f\n" IDENTITY_OF_HOOK "\tmovq 8(%rbp), @C\n" ADD_SITE LOOK_UP_AND_FILL
                   "\tmovq %rbp, 32(@A)\n" PUSH_AND_COLD;

/* A leaf function, which calls nothing, needs no frame and no exit hook: it is only counted. A
 * signal handler finds out which function it interrupted (hooks.c). */
static const char enter_leaf[] = UNLESS_STOPPED
    "\tjno 9772f\n" TAKE_TOP "\tcmpq (@A), %rbp\n"
    "\tjae 9772f\n" IDENTITY_OF_HOOK "\tmovq 8(%rbp), @C\n" ADD_SITE LOOK_UP_AND_COUNT
    "\tmovq @A, %r11\n" HOOK_ENDS_OF_LEAF "9777:\n"
    "\t.subsection 1\n" TAKE_TOP_COLD LOOK_FURTHER "9772:\tleaq -128(%rsp), %rsp\n"
    "\tleaq @F, @A\n"
    "\tpushq @A\n"
    "\tleaq 9777b(%rip), @A\n"
    "\tpushq @A\n"
    "\tjmp *fm_enter_leaf_slow_at_v1@GOTPCREL(%rip)\n"
    "\t.subsection 0\n";

/* The enclosing frame is the top's, or that of another body inlined there (4 lower), so the stack
 * is the right one. */
static const char enter_inlined[] = UNLESS_STOPPED TAKE_TOP
    "\tmovq %rbp, @B\n"
    "\tsubq (@A), @B\n"
    "\tcmpq $4, @B\n"
    "\tja 9772f\n"
    "\tcmpq @32, @A\n"
    "\tjae 9772f\n" IDENTITY_OF_HOOK LOOK_UP_AND_FILL STORE_FUNCTION "\tleaq -4(%rbp), @B\n"
    "\tmovq @B, 32(@A)\n" PUSH_AND_COLD;

static const char enter_any[] = UNLESS_STOPPED
    "\tjno 9772f\n" TAKE_TOP "\tcmpq @32, @A\n"
    "\tjae 9772f\n"
    "\tmovq 8(%rbp), @C\n"
    "\tmovq %rbp, @B\n"
    "\tsubq (@A), @B\n"
    "\tjb 9775f\n"
    "\tcmpq $4, @B\n"
    "\tja 9772f\n"
    "\tsubq @C, @C\n"
    "9775:\n" IDENTITY_OF_HOOK ADD_SITE LOOK_UP_AND_FILL STORE_FUNCTION "\tmovq %rbp, @B\n"
    "\tsubq (@A), @B\n"
    "\tsbbq @B, @B\n" /* all ones: push a new frame */
    "\tandq $4, @B\n"
    "\tleaq -4(%rbp, @B), @B\n"
    "\tmovq @B, 32(@A)\n" PUSH_AND_COLD;

/* At a function's entry, before the prologue. After label 9771, which it defines, and 9772,
 * write_entry restores registers. @A is r11, which often still has the top (TAKE_TOP), and keeps it
 * from there on. */
#define BODY_CHECK             \
    "\tcmpq @0, %rsp\n"        \
    "\tjnc 9771f\n"            \
    "\tjno 9772f\n"            \
    "\tcmpq @8, @A\n"          \
    "\tjne 9767f\n"            \
    "9766:\tcmpq (@A), %rsp\n" \
    "\tjae 9772f\n"
#define SITE_OF_BODY "\tmovq (%rsp), @C\n"
static const char body_begin[] = BODY_CHECK
    "\tcmpq @32, @A\n"
    "\tjae 9772f\n" IDENTITY_OF_HOOK SITE_OF_BODY ADD_SITE LOOK_UP_AND_FILL "\tleaq -8(%rsp), @B\n"
    "\tmovq @B, 32(@A)\n"
    "\taddq $32, @A\n"
    "\tmovq @A, @8\n";
static const char leaf_begin[] =
    BODY_CHECK IDENTITY_OF_HOOK SITE_OF_BODY ADD_SITE LOOK_UP_AND_COUNT;
#define BODY_COLD          \
    "9777:\n"              \
    "\t.subsection 1\n"    \
    "9767:\tmovq @8, @A\n" \
    "\tjmp 9766b\n"
static const char body_cold[] = BODY_COLD "9770:\n" DEEPER TAKE_KEY_OF_BODY LOOK_FURTHER "9772:\n";
/* The saved registers are below the stack pointer. */
static const char body_cold_kept[] =
    BODY_COLD "9770:\tleaq -128(%rsp), %rsp\n" DEEPER
              "\tsubq $-128, %rsp\n" TAKE_KEY_OF_BODY LOOK_FURTHER "9772:\n";
static const char leaf_cold[] = BODY_COLD LOOK_FURTHER "9772:\n";
/* The hook pc onto the stack, r11 free or not. */
#define PUSH_PC                  \
    "\tleaq 9777b(%rip), %r11\n" \
    "\tpushq %r11\n"
#define PUSH_PC_KEEPING          \
    "\tsubq $8, %rsp\n"          \
    "\tpushq %r11\n"             \
    "\tleaq 9777b(%rip), %r11\n" \
    "\tmovq %r11, 8(%rsp)\n"     \
    "\tpopq %r11\n"
static const char body_end[] = "\tjmp *fm_enter_slow_body_v1@GOTPCREL(%rip)\n"
                               "\t.subsection 0\n";
static const char leaf_end[] = "\tjmp *fm_enter_leaf_slow_body_v1@GOTPCREL(%rip)\n"
                               "\t.subsection 0\n";

#define POP                                   \
    "9774:\tsubq $32, @A\n"                   \
    "\tmovq @A, @8\n"                         \
    "\tmovq @A, %r11\n"                       \
    "\tmovq $0, 32(@A)\n" HOOK_ENDS "9777:\n" \
    "\t.subsection 1\n" TAKE_TOP_COLD
/* The top is a frame further out, as always while recording is stopped, or one of another stack. */
#define OLDER                  \
    "9771:\tcmpq (@A), %rbp\n" \
    "\tjae 9776f\n"            \
    "\tcmpq @0, %rbp\n"        \
    "\tjnc 9777b\n"            \
    "\tjmp 9772f\n"
#define EXIT_COLD                                 \
    "9772:\tleaq -128(%rsp), %rsp\n"              \
    "\tleaq @F, @A\n"                             \
    "\tpushq @A\n"                                \
    "\tleaq 9777b(%rip), @A\n"                    \
    "\tpushq @A\n"                                \
    "\tjmp *fm_leave_slow_at_v1@GOTPCREL(%rip)\n" \
    "\t.subsection 0\n"

/* If the same function is inlined into itself, its exit looks the same. */
static const char exit_own[] = "\tcmpq @80, %rbp\n"
                               "\tjno 9777f\n" TAKE_TOP "\tcmpq %rbp, (@A)\n"
                               "\tjne 9771f\n" POP OLDER "9776:\tleaq -4(%rbp), @B\n"
                               "\tcmpq @B, (@A)\n"
                               "\tjne 9772f\n"
                               "\tleaq @F, @B\n"
                               "\tcmpq @B, 24(@A)\n"
                               "\tje 9774b\n" EXIT_COLD;

static const char exit_any[] = "\tcmpq @88, %rbp\n"
                               "\tjno 9777f\n" TAKE_TOP "\tmovq %rbp, @B\n"
                               "\tsubq (@A), @B\n"
                               "\tjb 9771f\n"
                               "\ttestq $-5, @B\n"
                               "\tjne 9772f\n"
                               "\tleaq @F, @B\n"
                               "\tcmpq @B, 24(@A)\n"
                               "\tjne 9772f\n" POP OLDER "9776:\n" EXIT_COLD;

/* Before the return. @A is r11, as at the entry. done, in_cold: labels for frames that are not
 * recorded, as seen from here and from the cold code. */
#define IS_RETURN_RECORDED "\tcmpq @80, %rsp\n" /* frames that it calls are 16 lower */
#define POP_BODY             \
    "\tleaq -8(%rsp), @B\n"  \
    "\tcmpq @8, @A\n"        \
    "\tjne 9778f\n"          \
    "9779:\tcmpq @B, (@A)\n" \
    "\tjne 9771f\n"          \
    "\tsubq $32, @A\n"       \
    "\tmovq @A, @8\n"        \
    "\tmovq $0, 32(@A)\n"
#define RETURN_OF_BODY(done) IS_RETURN_RECORDED "\tjno " done "\n" POP_BODY
#define RETURN_COLD(in_cold)                                             \
    HOOK_ENDS "9777:\n"                                                  \
              "\t.subsection 1\n" TAKE_TOP_COLD "9771:\tcmpq (@A), @B\n" \
              "\tjae 9772f\n"                                            \
              "\tcmpq @0, @B\n"                                          \
              "\tjnc " in_cold "\n"                                      \
              "9772:\n"
static const char return_end[] = "\tjmp *fm_leave_slow_body_v1@GOTPCREL(%rip)\n"
                                 "\t.subsection 0\n";
static const char body_return[] = RETURN_OF_BODY("9777f") RETURN_COLD("9777b");
/* As above, with a separate return for the case that the frame is not recorded: a stopped program
 * then takes no jump. The hook's begin is after it, since control never falls through. */
static const char early_return[] =
    IS_RETURN_RECORDED "\tjo 9764f\n"
                       "\tret\n" HOOK_BEGINS "9764:" POP_BODY RETURN_COLD("9777b");
/* As above, when no register is free. */
static const char kept_return[] = RETURN_OF_BODY("9765f") "9765:\n";
static const char kept_return_cold[] = RETURN_COLD("9765b");

/* --grade=coverage. Offset 64 of the edge has the address of the callee's counters, which is left
 * in @A, i.e. r11. */
#define COUNTED_CHECK     \
    "\tcmpq @0, %rsp\n"   \
    "\tjnc 9771f\n"       \
    "\tjno 9772f\n"       \
    "\tmovq @8, @A\n"     \
    "\tcmpq (@A), %rsp\n" \
    "\tjae 9772f\n"
#define UNCOUNTED "\tmovq fm_uncounted_v1@GOTPCREL(%rip), %r11\n"
static const char counted_begin[] = COUNTED_CHECK
    "\tcmpq @32, @A\n"
    "\tjae 9772f\n" IDENTITY_OF_HOOK SITE_OF_BODY ADD_SITE LOOK_UP_AND_FILL "\tleaq -8(%rsp), @C\n"
    "\tmovq @C, 32(@A)\n"
    "\taddq $32, @A\n"
    "\tmovq @A, @8\n"
    "\tmovq 64(@B), @A\n"
    "9768:\n";
static const char counted_leaf_begin[] =
    COUNTED_CHECK IDENTITY_OF_HOOK SITE_OF_BODY ADD_SITE LOOK_UP_AND_COUNT "\tmovq 64(@B), @A\n"
                                                                           "9768:\n";
#define COUNTED_COLD    \
    "9777:\n"           \
    "\t.subsection 1\n" \
    "9771:" UNCOUNTED "\tjmp 9768b\n"
static const char counted_cold[] =
    COUNTED_COLD "9770:\n" DEEPER TAKE_KEY_OF_BODY LOOK_FURTHER "9772:\n";
static const char counted_cold_kept[] =
    COUNTED_COLD "9770:\tleaq -128(%rsp), %rsp\n" DEEPER
                 "\tsubq $-128, %rsp\n" TAKE_KEY_OF_BODY LOOK_FURTHER "9772:\n";
static const char counted_leaf_cold[] = COUNTED_COLD LOOK_FURTHER "9772:\n";
static const char counted_end[] = "\tleaq 9777b(%rip), %r11\n"
                                  "\tpushq %r11\n"
                                  "\tjmp *fm_enter_slow_counted_v1@GOTPCREL(%rip)\n"
                                  "\t.subsection 0\n";
static const char counted_leaf_end[] = "\tleaq 9777b(%rip), %r11\n"
                                       "\tpushq %r11\n"
                                       "\tjmp *fm_enter_leaf_slow_counted_v1@GOTPCREL(%rip)\n"
                                       "\t.subsection 0\n";
static const char counted_return[] = "\tcmpq @80, %rsp\n"
                                     "\tjno 9777f\n"
                                     "\tleaq -8(%rsp), @B\n"
                                     "\tmovq @8, @A\n"
                                     "\tcmpq @B, (@A)\n"
                                     "\tjne 9771f\n"
                                     "\tsubq $32, @A\n"
                                     "\tmovq @A, @8\n"
                                     "\tmovq $0, 32(@A)\n" HOOK_ENDS "9777:\n"
                                     "\t.subsection 1\n"
                                     "9771:\tcmpq (@A), @B\n"
                                     "\tjae 9772f\n"
                                     "\tcmpq @0, @B\n"
                                     "\tjnc 9777b\n"
                                     "9772:\tleaq 9777b(%rip), @A\n"
                                     "\tpushq @A\n"
                                     "\tjmp *fm_leave_slow_body_v1@GOTPCREL(%rip)\n"
                                     "\t.subsection 0\n";

static void write_field(FILE *out, const char *thread, unsigned offset)
{
    if (thread != NULL)
        fprintf(out, "%%fs:%u(%s)", offset, thread);
    else
        fprintf(out, "%%fs:fm_tls_v2@tpoff+%u", offset);
}

static void write_text(FILE *out, const char *text, const struct fm_hook_place *place)
{
    for (const char *at = text; *at != '\0'; at++) {
        if (*at != '@' || strchr("ABCF0123456789", at[1]) == NULL) {
            putc(*at, out);
            continue;
        }
        at++;
        if (*at == 'A' || *at == 'B' || *at == 'C') {
            fputs(place->registers[*at - 'A'], out);
        } else if (*at == 'F') {
            fputs(place->function, out);
        } else {
            unsigned offset = (unsigned)(*at - '0');
            for (; at[1] >= '0' && at[1] <= '9'; at++)
                offset = offset * 10 + (unsigned)(at[1] - '0');
            write_field(out, place->thread, offset);
        }
    }
}

static void load_thread(FILE *out, const struct fm_hook_place *place)
{
    if (place->thread != NULL)
        fprintf(out, "\tmovq fm_tls_v2@gottpoff(%%rip), %s\n", place->thread);
}

/* At a function's entry rax, r10 and r11 are free, but rax may hold the number of vector arguments
 * and r10 a static chain. Saved values are below the stack pointer, in the red zone, where signal
 * handlers do not write. */
static void give_back(FILE *out, const struct fm_hook_place *place)
{
    if (place->keep_rax || place->keep_all)
        fputs("\tmovq -16(%rsp), %rax\n", out);
    if (place->keep_chain || place->keep_all)
        fputs("\tmovq -24(%rsp), %r10\n", out);
    if (place->thread != NULL)
        fprintf(out, "\tmovq -32(%%rsp), %s\n", place->thread);
    if (place->keep_all)
        fputs("\tmovq -40(%rsp), %r11\n", out);
}

static bool gives_back(const struct fm_hook_place *place)
{
    return place->keep_rax || place->keep_chain || place->keep_all || place->thread != NULL;
}

static void keep(FILE *out, const struct fm_hook_place *place)
{
    if (place->keep_rax || place->keep_all)
        fputs("\tmovq %rax, -16(%rsp)\n", out);
    if (place->keep_chain || place->keep_all)
        fputs("\tmovq %r10, -24(%rsp)\n", out);
    if (place->thread != NULL)
        fprintf(out, "\tmovq %s, -32(%%rsp)\n", place->thread);
    if (place->keep_all)
        fputs("\tmovq %r11, -40(%rsp)\n", out);
    load_thread(out, place);
}

static void write_entry(FILE *out, const struct fm_hook_place *place, bool leaf)
{
    static const char end_of_hook[] = HOOK_ENDS, end_of_leaf[] = HOOK_ENDS_OF_LEAF;
    keep(out, place);
    write_text(out, leaf ? leaf_begin : body_begin, place);
    /* A stopped program continues here; when nothing is restored, after the hook's end. */
    if (gives_back(place)) {
        fputs("9771:\n", out);
        give_back(out, place);
    }
    fputs(leaf ? end_of_leaf : end_of_hook, out);
    if (!gives_back(place))
        fputs("9771:\n", out);
    write_text(out, leaf ? leaf_cold : gives_back(place) ? body_cold_kept : body_cold, place);
    give_back(out, place);
    fputs(place->keep_all ? PUSH_PC_KEEPING : PUSH_PC, out);
    fputs(leaf ? leaf_end : body_end, out);
}

/* FM_HOOK_COUNTS of hot.h comes before the end mark, with the number of blocks. */
static void write_counted_entry(FILE *out, const struct fm_hook_place *place, bool leaf)
{
    static const char end_of_hook[] = HOOK_ENDS, end_of_leaf[] = HOOK_ENDS_OF_LEAF;
    keep(out, place);
    write_text(out, leaf ? counted_leaf_begin : counted_begin, place);
    give_back(out, place);
    fprintf(out, "\t.long 0x40841f0f, .Lfathom_count_%u\n", place->counted);
    fputs(leaf ? end_of_leaf : end_of_hook, out);
    write_text(out,
               leaf                ? counted_leaf_cold
               : gives_back(place) ? counted_cold_kept
                                   : counted_cold,
               place);
    give_back(out, place);
    fputs(leaf ? counted_leaf_end : counted_end, out);
    fprintf(out, ".Lfathom_hook_%u:\n", place->counted);
}

/* The prefix, which has no effect, shows finishing that a block is counted here. */
void fm_count_write(FILE *out, uint32_t number, bool keep_flags)
{
    unsigned long offset = number * 8ul;
    if (!keep_flags) {
        fprintf(out, "\tds incq %lu(%%r11)\n", offset);
        return;
    }
    fprintf(out,
            "\tleaq -128(%%rsp), %%rsp\n"
            "\tpushq %%rax\n"
            "\tmovq %lu(%%r11), %%rax\n"
            "\tleaq 1(%%rax), %%rax\n"
            "\tds movq %%rax, %lu(%%r11)\n"
            "\tpopq %%rax\n"
            "\tleaq 128(%%rsp), %%rsp\n",
            offset, offset);
}

static void take(FILE *out, uint32_t counted, bool executable, bool behind_call, const char *slow)
{
    static const char look[] = "\tcmpq @0, %rbp\n"
                               "\tjnc 9771f\n"
                               "\tmovq @8, %r11\n"
                               "\tmovq 8(%r11), %r11\n";
    static const char cold[] = "\tjne 9772f\n"
                               "\tmovq 64(%r11), %r11\n"
                               "9777:\n"
                               "\t.subsection 1\n"
                               "9771:" UNCOUNTED "\tjmp 9777b\n"
                               "9772:";
    struct fm_hook_place place = {.thread = executable ? NULL : "%r11"};
    if (behind_call) {
        load_thread(out, &place);
        write_text(out, look, &place);
        fprintf(out, "\tleaq .Lfathom_hook_%u(%%rip), %%r10\n\tcmpq %%r10, 8(%%r11)\n", counted);
        fputs(cold, out);
    } else {
        fputs("\tjmp 9772f\n9777:\n\t.subsection 1\n9772:", out);
    }
    fprintf(out,
            "\tleaq -128(%%rsp), %%rsp\n"
            "\tleaq .Lfathom_hook_%u(%%rip), %%r11\n"
            "\tpushq %%r11\n"
            "\tleaq 9777b(%%rip), %%r11\n"
            "\tpushq %%r11\n"
            "\tjmp *%s@GOTPCREL(%%rip)\n"
            "\t.subsection 0\n",
            counted, slow);
}

void fm_take_write(FILE *out, uint32_t counted, bool executable, bool behind_call)
{
    take(out, counted, executable, behind_call, "fm_counters_slow_v1");
}

void fm_count_write_careful(FILE *out, uint32_t counted, uint32_t number, bool executable)
{
    fputs("\tleaq -128(%rsp), %rsp\n"
          "\tpushfq\n"
          "\tpushq %r10\n"
          "\tpushq %r11\n",
          out);
    take(out, counted, executable, true, "fm_counters_slow_careful_v1"); /* 152 bytes further */
    fprintf(out, "\tds incq %lu(%%r11)\n", number * 8ul);
    fputs("\tpopq %r11\n"
          "\tpopq %r10\n"
          "\tpopfq\n"
          "\tleaq 128(%rsp), %rsp\n",
          out);
}

void fm_counts_write(FILE *out, uint32_t counted, uint32_t blocks)
{
    fprintf(out, "\t.set .Lfathom_count_%u, %u\n", counted, blocks);
}

/* Results may be in any register. */
static void give_back_results(FILE *out, const struct fm_hook_place *place)
{
    fprintf(out, "\tmovq -16(%%rsp), %s\n", place->registers[0]);
    fprintf(out, "\tmovq -24(%%rsp), %s\n", place->registers[1]);
    if (place->thread != NULL)
        fprintf(out, "\tmovq -32(%%rsp), %s\n", place->thread);
}

static void write_return(FILE *out, const struct fm_hook_place *place)
{
    if (!place->keep_all) {
        write_text(out, place->plain_return ? early_return : body_return, place);
        fputs(PUSH_PC, out);
        fputs(return_end, out);
        return;
    }
    fprintf(out, "\tmovq %s, -16(%%rsp)\n", place->registers[0]);
    fprintf(out, "\tmovq %s, -24(%%rsp)\n", place->registers[1]);
    if (place->thread != NULL)
        fprintf(out, "\tmovq %s, -32(%%rsp)\n", place->thread);
    load_thread(out, place);
    write_text(out, kept_return, place);
    give_back_results(out, place);
    write_text(out, kept_return_cold, place);
    give_back_results(out, place);
    fputs(PUSH_PC_KEEPING, out);
    fputs(return_end, out);
}

void fm_hook_write(FILE *out, enum fm_hook_kind kind, const struct fm_hook_place *place)
{
    if (kind != FM_HOOK_RETURN || place->keep_all || !place->plain_return)
        fputs(HOOK_BEGINS, out);
    if ((kind < FM_HOOK_BODY && !place->keep_all) || kind == FM_HOOK_COUNTED_RETURN)
        load_thread(out, place);
    switch (kind) {
    case FM_HOOK_ENTER_LEAF:
        write_text(out, enter_leaf, place);
        break;
    case FM_HOOK_ENTER_OWN:
        write_text(out, enter_own, place);
        break;
    case FM_HOOK_ENTER_INLINED:
        write_text(out, enter_inlined, place);
        break;
    case FM_HOOK_ENTER_ANY:
        write_text(out, enter_any, place);
        break;
    case FM_HOOK_EXIT_OWN:
        write_text(out, exit_own, place);
        break;
    case FM_HOOK_EXIT_ANY:
        write_text(out, exit_any, place);
        break;
    case FM_HOOK_BODY:
        write_entry(out, place, false);
        break;
    case FM_HOOK_LEAF:
        write_entry(out, place, true);
        break;
    case FM_HOOK_RETURN:
        write_return(out, place);
        break;
    case FM_HOOK_COUNTED_RETURN:
        write_text(out, counted_return, place);
        break;
    case FM_HOOK_COUNTED_BODY:
        write_counted_entry(out, place, false);
        break;
    case FM_HOOK_COUNTED_LEAF:
        write_counted_entry(out, place, true);
        break;
    }
}

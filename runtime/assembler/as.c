/* SPDX-License-Identifier: Apache-2.0 */
/* The assembler's front: found as "as" by the compiler (-B), it expands calls of the hooks into
 * the hooks' fast paths, then runs the real assembler on the result. Works behind gcc and clang
 * (-fno-integrated-as), for C and C++, with LTO too, since every object passes through it.
 *
 *   call __cyg_profile_func_enter/exit   -> the fast path; else on to the called hook
 *   nop at a .LPFE label                 -> the fast path of --grade=fast
 *     (-fpatchable-function-entry=1)
 *
 * The expansion ends in a label that is its hook pc: the slow path returns there, so unwinding
 * and debug information see a call made at that place. Steps and layouts: hooks.S, hot.h. */
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* Local labels 9771.. do not meet those of compilers or of people. All caller-saved registers are
 * free at a call but rdi and rsi, its arguments. */
static const char enter_text[] = "\tmovq fm_tls_v1@gottpoff(%rip), %rcx\n"
                                 "\tleaq 9777f(%rip), %rdx\n"
                                 "\txorl %r11d, %r11d\n"
                                 "\tmovq %fs:(%rcx), %rax\n"
                                 "\tcmpq %rax, %rbp\n"
                                 "\tjb 9771f\n"
                                 "\tmovq %fs:8(%rcx), %r8\n"
                                 "\tcmpq (%r8), %rbp\n"
                                 "\tja 9772f\n"
                                 "\tcmovneq %rsi, %r11\n"
                                 "\timulq $-0x61C8864F, %rdx, %r9\n"
                                 "\tshlq $5, %r11\n"
                                 "\taddq %r9, %r11\n"
                                 "\taddq 16(%r8), %r11\n"
                                 "\tmovq %fs:24(%rcx), %r10\n"
                                 "\tandq %r11, %r10\n"
                                 "\taddq %fs:16(%rcx), %r10\n"
                                 "\tcmpq %r11, (%r10)\n"
                                 "\tjne 9773f\n"
                                 "9774:\n"
                                 "\tcmpq %fs:32(%rcx), %r8\n"
                                 "\tjae 9772f\n"
                                 "\tmovq 16(%r10), %r9\n"
                                 "\tmovq 8(%r10), %r10\n"
                                 "\tincq (%r10)\n"
                                 "\tmovq %r10, 40(%r8)\n"
                                 "\tmovq %r9, 48(%r8)\n"
                                 "\tmovq %rdi, 56(%r8)\n"
                                 "\tmovq %rbp, 32(%r8)\n"
                                 "\taddq $32, %r8\n"
                                 "\tmovq %r8, %fs:8(%rcx)\n"
                                 "\tjmp 9777f\n"
                                 "9772:\tcall __cyg_profile_func_enter@PLT\n"
                                 "9777:\n"
                                 "\t.subsection 1\n"
                                 "9773:\txorq $32, %r10\n"
                                 "\tcmpq %r11, (%r10)\n"
                                 "\tje 9774b\n"
                                 "\tjmp 9772b\n"
                                 "9771:\tcmpq $-2, %rax\n"
                                 "\tje 9777b\n"
                                 "\tjmp 9772b\n"
                                 "\t.subsection 0\n";

static const char exit_text[] = "\tmovq fm_tls_v1@gottpoff(%rip), %rcx\n"
                                "\tmovq %fs:8(%rcx), %r8\n"
                                "\tcmpq (%r8), %rbp\n"
                                "\tjne 9771f\n"
                                "\tcmpq %rdi, 24(%r8)\n"
                                "\tjne 9772f\n"
                                "\tleaq -32(%r8), %r9\n"
                                "\tmovq %r9, %fs:8(%rcx)\n"
                                "\tmovq $0, (%r8)\n"
                                "\tjmp 9777f\n"
                                "9772:\tcall __cyg_profile_func_exit@PLT\n"
                                "9777:\n"
                                "\t.subsection 1\n"
                                "9771:\tja 9772b\n"
                                "\tcmpq $-2, %fs:(%rcx)\n"
                                "\tje 9777b\n"
                                "\tjmp 9772b\n"
                                "\t.subsection 0\n";

/* At a function's entry r10, r11 and rax are free; r10 is the static chain of a nested function
 * and al the number of vector arguments of a variadic one, so both are kept below the stack
 * pointer, where a signal handler does not write. Frames whose address is not above ours are dead.
 * The frame's fields are written together, at the end. */
static const char entry_text[] = "\tmovq %rax, -16(%rsp)\n"
                                 "\tmovq %r10, -24(%rsp)\n"
                                 "\tmovq fm_tls_v1@gottpoff(%rip), %r11\n"
                                 "\tleaq -8(%rsp), %r10\n"
                                 "\tmovq %fs:8(%r11), %rax\n"
                                 "\tcmpq %fs:(%r11), %r10\n"
                                 "\tjb 9771f\n"
                                 "\tcmpq (%rax), %r10\n"
                                 "\tjb 9775f\n"
                                 "9776:\tsubq $32, %rax\n"
                                 "\tcmpq (%rax), %r10\n"
                                 "\tjae 9776b\n"
                                 "9775:\tcmpq %fs:32(%r11), %rax\n"
                                 "\tjae 9779f\n"
                                 "\tmovq (%rsp), %r11\n"
                                 "\tleaq 9777f(%rip), %r10\n"
                                 "\timulq $-0x61C8864F, %r10, %r10\n"
                                 "\tshlq $5, %r11\n"
                                 "\taddq %r11, %r10\n"
                                 "\tmovq fm_tls_v1@gottpoff(%rip), %r11\n"
                                 "\taddq 16(%rax), %r10\n"
                                 "\tmovq %r10, -32(%rsp)\n"
                                 "\tandq %fs:24(%r11), %r10\n"
                                 "\taddq %fs:16(%r11), %r10\n"
                                 "\tmovq -32(%rsp), %r11\n"
                                 "\tcmpq %r11, (%r10)\n"
                                 "\tjne 9773f\n"
                                 "9774:\tmovq 16(%r10), %r11\n"
                                 "\tmovq 8(%r10), %r10\n"
                                 "\tincq (%r10)\n"
                                 "\tmovq %r11, 48(%rax)\n"
                                 "\tmovq %r10, 40(%rax)\n"
                                 "\tleaq -8(%rsp), %r10\n"
                                 "\tmovq fm_tls_v1@gottpoff(%rip), %r11\n"
                                 "\tmovq %r10, 32(%rax)\n"
                                 "\taddq $32, %rax\n"
                                 "\tmovq %rax, %fs:8(%r11)\n"
                                 "9778:\tmovq -16(%rsp), %rax\n"
                                 "\tmovq -24(%rsp), %r10\n"
                                 "\tjmp 9777f\n"
                                 "9772:\tcall fm_entry_hook_v1@PLT\n"
                                 "9777:\n"
                                 "\t.subsection 1\n"
                                 "9771:\tcmpq $-2, %fs:(%r11)\n"
                                 "\tje 9778b\n"
                                 "\tjmp 9779f\n"
                                 "9773:\txorq $32, %r10\n"
                                 "\tcmpq %r11, (%r10)\n"
                                 "\tje 9774b\n"
                                 "9779:\tmovq -16(%rsp), %rax\n"
                                 "\tmovq -24(%rsp), %r10\n"
                                 "\tjmp 9772b\n"
                                 "\t.subsection 0\n";

static const char *skip_space(const char *at)
{
    while (*at == ' ' || *at == '\t')
        at++;
    return at;
}

/* "call f", "callq f@PLT", "call *f@GOTPCREL(%rip)": is f the name? */
static bool is_call_of(const char *line, const char *name)
{
    const char *at = skip_space(line);
    if (strncmp(at, "call", 4) != 0)
        return false;
    at += 4 + (at[4] == 'q');
    if (*at != ' ' && *at != '\t')
        return false;
    at = skip_space(at);
    at += *at == '*';
    size_t size = strlen(name);
    return strncmp(at, name, size) == 0 && strchr("@\n (", at[size]) != NULL;
}

static void filter(FILE *in, FILE *out)
{
    char *line = NULL;
    size_t room = 0;
    bool at_entry = false;
    while (getline(&line, &room, in) >= 0) {
        const char *text = skip_space(line);
        if (strncmp(line, ".LPFE", 5) == 0) {
            fputs(line, out);
            at_entry = true;
        } else if (at_entry && strncmp(text, "nop", 3) == 0) {
            fputs(entry_text, out);
            at_entry = false;
        } else if (is_call_of(line, "__cyg_profile_func_enter")) {
            fputs(enter_text, out);
        } else if (is_call_of(line, "__cyg_profile_func_exit")) {
            fputs(exit_text, out);
        } else {
            fputs(line, out);
        }
    }
    free(line);
}

/* The options of as that take the next argument. */
static bool takes_argument(const char *option)
{
    static const char *const list[] = {"-o", "-I", "--defsym", "--MD", "-MD", NULL};
    for (unsigned i = 0; list[i] != NULL; i++)
        if (strcmp(option, list[i]) == 0)
            return true;
    return false;
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
    for (int i = 1; i < argc; i++) {
        if (takes_argument(argv[i]))
            i++;
        else if (argv[i][0] != '-')
            input = i;
    }
    bool from_stdin = input == 0;
    for (int i = 1; i < argc; i++)
        if (strcmp(argv[i], "--version") == 0 || strcmp(argv[i], "--help") == 0)
            run_real(argv);
    FILE *in = from_stdin ? stdin : fopen(argv[input], "r");
    char path[] = "/tmp/fathom-XXXXXX.s";
    int fd = mkstemps(path, 2);
    FILE *out = fd >= 0 ? fdopen(fd, "w") : NULL;
    if (in == NULL || out == NULL) {
        fprintf(stderr, "fathom: cannot read %s or write %s: %s\n",
                from_stdin ? "standard input" : argv[input], path, strerror(errno));
        return 1;
    }
    filter(in, out);
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

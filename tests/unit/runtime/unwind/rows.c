/* SPDX-License-Identifier: Apache-2.0 */
/* Every row of the unwind tables of the libraries that this test has loaded, against elfutils: the
 * caller's registers that follow from made-up registers and memory are the same, by a rule and by
 * the row. */
#include <dlfcn.h>
#include <dwarf.h>
#include <elfutils/libdwfl.h>
#include <glib.h>
#include <link.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "unwind/leave.h"
#include "unwind/rules.h"
#include "unwind/unwind.h"

/* Memory that made-up registers point into, in the middle of an unreadable range that is larger
 * than any frame. */
#define RANGE_BYTES (1ull << 32)
#define MEMORY_BYTES (4ull << 20)
static uint64_t memory_low, memory_high;

static struct fm_unwind_registers made_up;
static uint64_t counts[FM_RULE_INTERPRETED + 1], rows, stored_elsewhere;

static void make_up(void)
{
    char *range =
        mmap(NULL, RANGE_BYTES, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    g_assert_true(range != MAP_FAILED);
    char *memory = range + RANGE_BYTES / 2;
    g_assert_cmpint(mprotect(memory, MEMORY_BYTES, PROT_READ | PROT_WRITE), ==, 0);
    memory_low = (uint64_t)memory;
    memory_high = memory_low + MEMORY_BYTES;
    g_autoptr(GRand) random = g_rand_new_with_seed(7);
    uint64_t *words = (uint64_t *)(void *)memory;
    for (uint64_t i = 0; i < MEMORY_BYTES / 8; i++)
        words[i] = memory_low + (MEMORY_BYTES / 2 + g_rand_int_range(random, 0, 1 << 20)) / 8 * 8;
    for (unsigned i = 0; i < FM_UNWIND_REGISTERS; i++)
        made_up.value[i] = memory_low + MEMORY_BYTES / 2 + (i + 1) * 512;
    made_up.value[FM_UNWIND_RSP] = memory_low + MEMORY_BYTES / 2; /* the lowest */
    made_up.known = (1u << FM_UNWIND_REGISTERS) - 1;
}

static bool read_word(uint64_t address, uint64_t *ret)
{
    if (address < memory_low || address > memory_high - 8 || address % 8 != 0)
        return false;
    memcpy(ret, (const void *)address, 8);
    return true;
}

/* elfutils' operations, evaluated here. False: memory was not readable. */
static bool evaluate(const Dwarf_Op *ops, size_t count, uint64_t cfa, uint64_t ip, uint64_t *ret,
                     bool *ret_is_value)
{
    uint64_t stack[16] = {0};
    unsigned used = 0;
    *ret_is_value = false;
    for (size_t i = 0; i < count; i++) {
        const Dwarf_Op *op = &ops[i];
        g_assert_cmpuint(used, <, 15);
        uint64_t a = used > 0 ? stack[used - 1] : 0, b = used > 1 ? stack[used - 2] : 0;
        unsigned breg = op->atom - DW_OP_breg0;
        if (op->atom == DW_OP_bregx || breg < 32) {
            uint64_t column = op->atom == DW_OP_bregx ? op->number : breg;
            uint64_t offset = op->atom == DW_OP_bregx ? op->number2 : op->number;
            stack[used++] = (column == FM_UNWIND_RIP ? ip : made_up.value[column]) + offset;
        } else if (op->atom >= DW_OP_lit0 && op->atom <= DW_OP_lit31) {
            stack[used++] = op->atom - DW_OP_lit0;
        } else if (op->atom == DW_OP_call_frame_cfa) {
            stack[used++] = cfa;
        } else if (op->atom == DW_OP_plus_uconst) {
            stack[used - 1] = a + op->number;
        } else if (op->atom == DW_OP_deref) {
            if (!read_word(a, &stack[used - 1]))
                return false;
        } else if (op->atom == DW_OP_stack_value) {
            *ret_is_value = true;
        } else if (op->atom == DW_OP_regx || (op->atom >= DW_OP_reg0 && op->atom <= DW_OP_reg31)) {
            uint64_t column = op->atom == DW_OP_regx ? op->number : (uint64_t)op->atom - DW_OP_reg0;
            stack[used++] = made_up.value[column];
            *ret_is_value = true;
        } else {
            used--;
            switch (op->atom) {
            case DW_OP_and:
                stack[used - 1] = b & a;
                break;
            case DW_OP_ge:
                stack[used - 1] = (int64_t)b >= (int64_t)a;
                break;
            case DW_OP_shl:
                stack[used - 1] = b << a;
                break;
            case DW_OP_plus:
                stack[used - 1] = b + a;
                break;
            case DW_OP_mul:
                stack[used - 1] = b * a;
                break;
            case DW_OP_minus:
                stack[used - 1] = b - a;
                break;
            default:
                g_error("operation 0x%x is not known here", op->atom);
            }
        }
    }
    g_assert_cmpuint(used, >, 0);
    *ret = stack[used - 1];
    return true;
}

/* False: not known. */
static bool register_of(Dwarf_Frame *frame, unsigned column, uint64_t cfa, uint64_t ip,
                        uint64_t *ret, bool *ret_undefined)
{
    Dwarf_Op memory[3], *ops;
    size_t count;
    bool is_value;
    g_assert_cmpint(dwarf_frame_register(frame, (int)column, memory, &ops, &count), ==, 0);
    *ret_undefined = count == 0 && ops == memory;
    if (*ret_undefined)
        return false;
    if (count == 0) {
        *ret = made_up.value[column];
        return true;
    }
    return evaluate(ops, count, cfa, ip, ret, &is_value) && (is_value || read_word(*ret, ret));
}

struct expected {
    enum fm_unwind_result result;
    struct fm_unwind_registers caller;
};

static struct expected expect(Dwarf_Frame *frame, uint64_t ip, bool signal)
{
    struct expected expected = {.result = FM_UNWIND_CUT};
    struct fm_unwind_registers *caller = &expected.caller;
    Dwarf_Op *ops;
    size_t count;
    bool is_value, undefined;
    uint64_t cfa = 0;
    bool has_cfa = dwarf_frame_cfa(frame, &ops, &count) == 0 && count > 0 &&
                   evaluate(ops, count, 0, ip, &cfa, &is_value);
    for (unsigned i = 0; i < FM_UNWIND_REGISTERS; i++) {
        if (register_of(frame, i, cfa, ip, &caller->value[i], &undefined))
            caller->known |= 1u << i;
        if (i == FM_UNWIND_RIP && undefined) {
            expected.result = FM_UNWIND_END;
            return expected;
        }
    }
    uint32_t needed = 1u << FM_UNWIND_RIP | 1u << FM_UNWIND_RSP;
    uint64_t sp = caller->value[FM_UNWIND_RSP];
    if (has_cfa && (caller->known & needed) == needed &&
        (signal || sp >= made_up.value[FM_UNWIND_RSP] + 8))
        expected.result = FM_UNWIND_FRAME;
    return expected;
}

static void check_row(uint64_t pc, const struct expected *expected, uint64_t ip)
{
    static const unsigned kept[] = {3, 12, 13, 14, 15};
    struct fm_unwind_entry entry;
    struct fm_unwind_row row;
    struct fm_unwind_memory memory = {.low = memory_low, .high = memory_high};
    struct fm_unwind_registers registers = made_up;
    const struct fm_unwind_registers *want = &expected->caller;
    registers.value[FM_UNWIND_RIP] = ip;
    g_assert_true(fm_unwind_row_at(pc, false, &entry, &row));
    counts[fm_rule_kind_of(fm_unwind_rule_of(&entry, &row))]++;
    enum fm_unwind_result result = fm_unwind_leave(&entry, &row, false, &registers, &memory);
    g_assert_cmpint(result, ==, expected->result);

    struct fm_unwind walk;
    struct fm_unwind_registers start = made_up;
    start.value[FM_UNWIND_RIP] = ip;
    fm_unwind_begin(&walk, &start, memory_low, memory_high);
    walk.exact = walk.all_exact = false;
    g_assert_cmpint(fm_unwind_step(&walk), ==, expected->result);
    if (expected->result != FM_UNWIND_FRAME)
        return;
    uint64_t bp = (want->known & 1u << FM_UNWIND_RBP) != 0 ? want->value[FM_UNWIND_RBP] : 0;
    g_assert_cmphex(walk.ip, ==, want->value[FM_UNWIND_RIP]);
    g_assert_cmphex(walk.sp, ==, want->value[FM_UNWIND_RSP]);
    g_assert_cmphex(walk.bp, ==, bp);
    g_assert_cmpuint(walk.guesses, ==, 0);
    g_assert_cmphex(registers.value[FM_UNWIND_RIP], ==, walk.ip);
    g_assert_cmphex(registers.value[FM_UNWIND_RSP], ==, walk.sp);
    g_assert_cmphex(registers.value[FM_UNWIND_RBP], ==, bp);
    for (unsigned i = 0; i < G_N_ELEMENTS(kept); i++) {
        unsigned bit = 1u << kept[i];
        /* elfutils takes rbx for lost where nothing is said of it. */
        if (row.how[kept[i]] == FM_UNWIND_UNSET)
            continue;
        g_assert_cmphex(registers.known & bit, ==, want->known & bit);
        if ((want->known & bit) != 0)
            g_assert_cmphex(registers.value[kept[i]], ==, want->value[kept[i]]);
        stored_elsewhere +=
            (want->known & bit) != 0 && want->value[kept[i]] != made_up.value[kept[i]];
    }
    if (walk.ip_slot != 0) {
        uint64_t word = 0;
        g_assert_true(read_word(walk.ip_slot, &word));
        g_assert_cmphex(word, ==, walk.ip);
    }
    if (walk.bp_slot != 0) {
        uint64_t word = 0;
        g_assert_true(read_word(walk.bp_slot, &word));
        g_assert_cmphex(word, ==, walk.bp);
    }
}

/* Rows of code from low to high; where elfutils knows none, there must be none. */
static void check_code(Dwarf_CFI *cfi, uint64_t bias, uint64_t low, uint64_t high)
{
    uint64_t pc = low;
    while (pc < high) {
        Dwarf_Frame *frame = NULL;
        struct fm_unwind_entry entry;
        struct fm_unwind_row row;
        if (dwarf_cfi_addrframe(cfi, pc - bias, &frame) != 0) {
            g_assert_false(fm_unwind_row_at(pc, false, &entry, &row));
            pc++;
            continue;
        }
        Dwarf_Addr start, end;
        bool signal;
        g_assert_cmpint(dwarf_frame_info(frame, &start, &end, &signal), >=, 0);
        end += bias;
        g_assert_cmpuint(end, >, pc);
        /* An instruction pointer is part of a procedure linkage table's row. */
        for (uint64_t at = pc; at < end; at += at == pc && end - 1 > pc ? end - 1 - pc : 1) {
            struct expected expected = expect(frame, at + 1, signal);
            check_row(at, &expected, at + 1);
            rows++;
        }
        free(frame);
        pc = end;
    }
}

static int check_module(Dwfl_Module *module, void **user, const char *name, Dwarf_Addr start,
                        void *data)
{
    (void)user;
    (void)start;
    GHashTable *wanted = data;
    GElf_Addr elf_bias;
    Dwarf_Addr cfi_bias;
    g_autofree char *base = g_path_get_basename(name);
    const char *key = NULL; /* the file may have a longer version in its name */
    GHashTableIter all;
    g_hash_table_iter_init(&all, wanted);
    for (gpointer one; key == NULL && g_hash_table_iter_next(&all, &one, NULL);)
        key = g_str_has_prefix(base, one) ? one : NULL;
    if (strncmp(name, "[vdso", 5) != 0 && key == NULL)
        return DWARF_CB_OK;
    Elf *elf = dwfl_module_getelf(module, &elf_bias);
    Dwarf_CFI *cfi = dwfl_module_eh_cfi(module, &cfi_bias);
    size_t count;
    if (elf == NULL || cfi == NULL || elf_getphdrnum(elf, &count) != 0)
        return DWARF_CB_OK;
    uint64_t before = rows;
    for (size_t i = 0; i < count; i++) {
        GElf_Phdr segment;
        g_assert_nonnull(gelf_getphdr(elf, (int)i, &segment));
        if (segment.p_type == PT_LOAD && (segment.p_flags & PF_X) != 0)
            check_code(cfi, cfi_bias, elf_bias + segment.p_vaddr,
                       elf_bias + segment.p_vaddr + segment.p_filesz);
    }
    g_test_message("%s: %" G_GUINT64_FORMAT " rows", base, rows - before);
    if (key != NULL)
        g_hash_table_remove(wanted, key);
    return DWARF_CB_OK;
}

struct aligned {
    char bytes[128];
} __attribute__((aligned(64)));

/* gcc finds the frame again by a word in it: CFA = *(rbp - 8). */
static __attribute__((noinline)) int realigned(int n, ...)
{
    struct aligned local;
    char *room = __builtin_alloca((size_t)n + 1);
    memset(&local, n, sizeof local);
    memset(room, n, (size_t)n + 1);
    __asm__ volatile("" : : "r"(&local), "r"(room) : "memory");
    return local.bytes[n] + room[n];
}

static void every_row_is_as_elfutils_reads_it(void)
{
    static const char *const more[] = {"libstdc++.so.6", "libcrypto.so.3", "libgcc_s.so.1"};
    static const Dwfl_Callbacks callbacks = {.find_elf = dwfl_linux_proc_find_elf,
                                             .find_debuginfo = dwfl_standard_find_debuginfo};
    g_autoptr(GHashTable) wanted = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    for (unsigned i = 0; i < G_N_ELEMENTS(more); i++) /* where they are installed */
        if (dlopen(more[i], RTLD_LAZY) != NULL)
            g_hash_table_add(wanted, g_strdup(more[i]));
    g_hash_table_add(wanted, g_strdup("libc.so.6"));
    g_hash_table_add(wanted, g_strdup("libm.so.6"));
    g_hash_table_add(wanted, g_strdup("ld-linux-x86-64.so.2"));
    g_autofree char *self = g_file_read_link("/proc/self/exe", NULL);
    g_hash_table_add(wanted, g_path_get_basename(self));
    g_assert_nonnull(dlopen("libm.so.6", RTLD_LAZY));
    g_assert_cmpint(realigned(3), ==, 6);
    make_up();
    Dwfl *dwfl = dwfl_begin(&callbacks);
    g_assert_nonnull(dwfl);
    g_assert_cmpint(dwfl_linux_proc_report(dwfl, getpid()), ==, 0);
    g_assert_cmpint(dwfl_report_end(dwfl, NULL, NULL), ==, 0);
    g_assert_cmpint(dwfl_getmodules(dwfl, check_module, wanted, 0), ==, 0);
    dwfl_end(dwfl);
    static const char *const kinds[] = {
        "none", "register + offset", "loaded", "loaded + 8", "PLT", "signal", "end", "interpreted"};
    for (unsigned i = 0; i < G_N_ELEMENTS(kinds); i++)
        g_test_message("%s: %" G_GUINT64_FORMAT, kinds[i], counts[i]);
    g_assert_cmpuint(g_hash_table_size(wanted), ==, 0);
    g_assert_cmpuint(rows, >, 40000); /* libc alone has 28,000 */
    g_assert_cmpuint(counts[FM_RULE_NONE], ==, 0);
#ifndef __clang__
    g_assert_cmpuint(counts[FM_RULE_LOADED], >, 0);
#endif
    g_assert_cmpuint(counts[FM_RULE_PLT], >, 0);
    g_assert_cmpuint(counts[FM_RULE_SIGNAL], >, 0);
    g_assert_cmpuint(counts[FM_RULE_END], >, 0);
    g_assert_cmpuint(counts[FM_RULE_INTERPRETED], <, rows / 500);
    g_assert_cmpuint(stored_elsewhere, >, 10000);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/unwind/every row is as elfutils reads it", every_row_is_as_elfutils_reads_it);
    return g_test_run();
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Stacks from the copies that --call-graph dwarf makes: the registers of the thread and the
 * innermost bytes of its stack, followed by elfutils with the unwind tables of the files. Nothing
 * of the copies is kept: they may hold anything. */
#include <elfutils/libdwfl.h>
#include <stdlib.h>
#include <string.h>

#include "exchange/import/machine/code.h"
#include "exchange/import/perfdata/processes.h"

#define ABI_64_BITS 2u
#define FRAMES_MAX 4096u
#define GUESSES_MAX 16u
#define RETURN_ADDRESS 16 /* column */
#define X86_REGISTERS 24u
#define X86_COLUMNS 17u
#define X86_BP 6u
#define X86_IP 8u
#define X86_SP 7u
#define ARM_SP 31u
#define ARM_PC 32u
#define NO_COLUMN UINT8_MAX

struct unwinder {
    Dwfl *dwfl;
    Dwfl_Callbacks callbacks;
    char *debug_path;
    bool attached;
    /* The sample. */
    struct fm_perf_processes *processes;
    struct fm_perf_process *process;
    const struct fm_perf_sample *sample;
    uint64_t low; /* address of the first byte that was copied */
    bool is_arm;
    bool missed;            /* something that was not copied was asked for */
    uint64_t frame_pointer; /* a guess; 0 = none */
    GArray *frames;
};

/* The register with a number of perf's. */
static bool register_of(const struct unwinder *unwinder, unsigned number, uint64_t *ret)
{
    const struct fm_perf_sample *sample = unwinder->sample;
    uint64_t mask = sample->event->registers_user, bit = (uint64_t)1 << number;
    if (number == X86_BP && (mask & bit) == 0 && unwinder->frame_pointer != 0) {
        *ret = unwinder->frame_pointer;
        return true;
    }
    if ((mask & bit) == 0)
        return false;
    int before = __builtin_popcountll(mask & (bit - 1));
    *ret = fm_perf_u64(unwinder->processes->file, sample->registers + (size_t)before * 8);
    return true;
}

/* --- what elfutils asks --- */

static pid_t next_thread(Dwfl *dwfl, void *of, void **thread)
{
    (void)dwfl;
    if (*thread != NULL)
        return 0;
    *thread = of;
    return 1; /* any number does */
}

static bool read_word(Dwfl *dwfl, Dwarf_Addr address, Dwarf_Word *ret, void *of)
{
    struct unwinder *unwinder = of;
    uint64_t offset = address - unwinder->low;
    (void)dwfl;
    if (address < unwinder->low || offset > unwinder->sample->stack_used ||
        unwinder->sample->stack_used - offset < 8) {
        unwinder->missed = true;
        return false;
    }
    *ret = fm_perf_u64(unwinder->processes->file, unwinder->sample->stack + offset);
    return true;
}

static bool set_x86(Dwfl_Thread *thread, const struct unwinder *unwinder)
{
    static const uint8_t columns[X86_REGISTERS] = {
        0,  3,         2,         1,         4,         5,         6,         7,
        16, NO_COLUMN, NO_COLUMN, NO_COLUMN, NO_COLUMN, NO_COLUMN, NO_COLUMN, NO_COLUMN,
        8,  9,         10,        11,        12,        13,        14,        15};
    for (unsigned i = 0; i < X86_REGISTERS; i++) {
        Dwarf_Word value;
        if (columns[i] != NO_COLUMN && register_of(unwinder, i, &value) &&
            !dwfl_thread_state_registers(thread, columns[i], 1, &value))
            return false;
    }
    return true;
}

static bool set_arm(Dwfl_Thread *thread, const struct unwinder *unwinder)
{
    Dwarf_Word value;
    for (unsigned i = 0; i <= ARM_SP; i++) {
        if (register_of(unwinder, i, &value) &&
            !dwfl_thread_state_registers(thread, (int)i, 1, &value))
            return false;
    }
    if (register_of(unwinder, ARM_PC, &value))
        dwfl_thread_state_register_pc(thread, value);
    return true;
}

static bool set_registers(Dwfl_Thread *thread, void *of)
{
    const struct unwinder *unwinder = of;
    return unwinder->is_arm ? set_arm(thread, unwinder) : set_x86(thread, unwinder);
}

static const Dwfl_Thread_Callbacks callbacks = {
    .next_thread = next_thread, .memory_read = read_word, .set_initial_registers = set_registers};

/* --- the walk --- */

static bool is_anonymous(const struct fm_perf_image *image)
{
    return !image->kernel && !image->module && (image->path[0] != '/' || image->path[1] == '/');
}

/* Tells of the file whose code an address is in, when it is met first. */
static bool report(struct unwinder *unwinder, uint64_t address)
{
    const struct fm_perf_mapping *mapping = fm_perf_mapping_at(unwinder->process, address);
    uint64_t linked;
    if (dwfl_addrmodule(unwinder->dwfl, address) != NULL)
        return true;
    if (mapping == NULL)
        return false;
    struct fm_import_code *code =
        fm_perf_code_of(unwinder->processes, fm_perf_image_of(unwinder->processes, mapping->image));
    /* Code that the program made keeps frame pointers, mostly: elfutils follows them. */
    if (code == NULL)
        return is_anonymous(fm_perf_image_of(unwinder->processes, mapping->image));
    if (!fm_import_code_address(code, address - mapping->low + mapping->offset, &linked))
        return false;
    const char *path = fm_import_code_path(code);
    dwfl_report_begin_add(unwinder->dwfl);
    const Dwfl_Module *module =
        dwfl_report_elf(unwinder->dwfl, path, path, -1, address - linked, true);
    dwfl_report_end(unwinder->dwfl, NULL, NULL);
    return module != NULL;
}

static int take_frame(Dwfl_Frame *state, void *of)
{
    struct unwinder *unwinder = of;
    Dwarf_Addr pc;
    bool exact;
    if (!dwfl_frame_pc(state, &pc, &exact) || unwinder->frames->len >= FRAMES_MAX)
        return DWARF_CB_ABORT;
    struct fm_perf_frame frame = {pc, FM_PERF_IN_USER, exact};
    if (pc == 0)
        return DWARF_CB_ABORT;
    g_array_append_val(unwinder->frames, frame);
    return report(unwinder, pc - !exact) ? DWARF_CB_OK : DWARF_CB_ABORT;
}

static void unwinder_free(void *of)
{
    struct unwinder *unwinder = of;
    if (unwinder == NULL)
        return;
    if (unwinder->dwfl != NULL)
        dwfl_end(unwinder->dwfl);
    g_free(unwinder);
}

/* Of the files that the process has now: it is made anew when they change. */
static struct unwinder *unwinder_of(struct fm_perf_process *process)
{
    if (process->unwinder != NULL && process->unwinder_version == process->versions)
        return process->unwinder;
    unwinder_free(process->unwinder);
    struct unwinder *unwinder = g_new0(struct unwinder, 1);
    unwinder->callbacks = (Dwfl_Callbacks){.find_elf = dwfl_build_id_find_elf,
                                           .find_debuginfo = dwfl_standard_find_debuginfo,
                                           .section_address = dwfl_offline_section_address,
                                           .debuginfo_path = &unwinder->debug_path};
    unwinder->dwfl = dwfl_begin(&unwinder->callbacks);
    process->unwinder = unwinder;
    process->unwinder_free = unwinder_free;
    process->unwinder_version = process->versions;
    return unwinder;
}

/* False: the registers are not there, or mean something else. */
static bool begin(struct unwinder *unwinder, const char *arch, uint64_t *ret_ip)
{
    unwinder->is_arm = arch != NULL && strcmp(arch, "aarch64") == 0;
    if (arch != NULL && strcmp(arch, "x86_64") != 0 && !unwinder->is_arm)
        return false;
    return register_of(unwinder, unwinder->is_arm ? ARM_SP : X86_SP, &unwinder->low) &&
           register_of(unwinder, unwinder->is_arm ? ARM_PC : X86_IP, ret_ip);
}

/* elfutils takes the machine from a file: any will do, where the code itself is in none. */
static bool attach(struct unwinder *unwinder)
{
    const GArray *mappings = unwinder->process->mappings;
    Dwarf_Addr any = 0;
    for (guint i = 0; i < mappings->len && any == 0; i++) {
        const struct fm_perf_mapping *mapping = &g_array_index(mappings, struct fm_perf_mapping, i);
        if (report(unwinder, mapping->low) && dwfl_addrmodule(unwinder->dwfl, mapping->low) != NULL)
            any = mapping->low;
    }
    return dwfl_attach_state(unwinder->dwfl, NULL, 1, &callbacks, unwinder);
}

static bool walk(struct unwinder *unwinder)
{
    unwinder->missed = false;
    return dwfl_getthread_frames(unwinder->dwfl, 1, take_frame, unwinder) == 0 && !unwinder->missed;
}

/* --- where the frame pointer is not known --- */

/* Whether the last frame is a thread's first one: its tables say that it has no caller. */
static bool is_at_end(const struct unwinder *unwinder)
{
    const struct fm_perf_frame *last =
        &g_array_index(unwinder->frames, struct fm_perf_frame, unwinder->frames->len - 1);
    uint64_t address = last->address - !last->exact;
    Dwfl_Module *module = dwfl_addrmodule(unwinder->dwfl, address);
    Dwarf_Addr bias;
    Dwarf_CFI *tables = module == NULL ? NULL : dwfl_module_eh_cfi(module, &bias);
    Dwarf_Frame *row = NULL;
    Dwarf_Op room[3], *how = NULL;
    size_t count = 1;
    if (tables == NULL || dwarf_cfi_addrframe(tables, address - bias, &row) != 0)
        return false;
    bool undefined = dwarf_frame_register(row, RETURN_ADDRESS, room, &how, &count) == 0 &&
                     how == room && count == 0;
    free(row);
    return undefined;
}

/* The frame of a function with a frame pointer has its caller's frame pointer, then an address in
 * code. Tried from the inside on, until one leads to the thread's begin. */
static bool guess_frame_pointer(struct unwinder *unwinder, guint before)
{
    g_autoptr(GArray) found = g_steal_pointer(&unwinder->frames);
    uint64_t end = unwinder->low + unwinder->sample->stack_used, word, caller;
    GArray *const all = found;
    unsigned guesses = 0;
    bool done = false;
    unwinder->frames = g_array_new(FALSE, FALSE, sizeof(struct fm_perf_frame));
    for (uint64_t at = (unwinder->low + 7) & ~(uint64_t)7;
         !done && at + 16 <= end && guesses < GUESSES_MAX; at += 8) {
        if (!read_word(NULL, at, &word, unwinder) || !read_word(NULL, at + 8, &caller, unwinder) ||
            word <= at || word >= end || word % 8 != 0 ||
            fm_perf_mapping_at(unwinder->process, caller) == NULL)
            continue;
        guesses++;
        unwinder->frame_pointer = at;
        g_array_set_size(unwinder->frames, 0);
        done = walk(unwinder) && is_at_end(unwinder);
    }
    unwinder->processes->guessed += done;
    if (done) {
        g_array_set_size(all, before);
        g_array_append_vals(all, unwinder->frames->data, unwinder->frames->len);
    }
    g_array_unref(unwinder->frames);
    unwinder->frames = g_steal_pointer(&found);
    unwinder->frame_pointer = 0;
    return done;
}

bool fm_perf_unwind(struct fm_perf_processes *processes, struct fm_perf_process *process,
                    const struct fm_perf_sample *sample, GArray *frames, bool *ret_cut)
{
    uint64_t ip;
    *ret_cut = true;
    if (process == NULL || sample->registers == NULL || sample->stack == NULL ||
        sample->registers_abi != ABI_64_BITS || processes->file->swapped)
        return false;
    struct unwinder *unwinder = unwinder_of(process);
    unwinder->processes = processes;
    unwinder->process = process;
    unwinder->sample = sample;
    unwinder->frames = frames;
    unwinder->frame_pointer = 0;
    if (unwinder->dwfl == NULL || !begin(unwinder, processes->file->arch, &ip))
        return false;
    guint before = frames->len;
    if (!report(unwinder, ip))
        return false;
    unwinder->attached = unwinder->attached || attach(unwinder);
    *ret_cut = !unwinder->attached || !walk(unwinder);
    bool has_bp = unwinder->is_arm || register_of(unwinder, X86_BP, &ip);
    if (!has_bp && unwinder->attached && frames->len > before && (*ret_cut || !is_at_end(unwinder)))
        *ret_cut = !guess_frame_pointer(unwinder, before);
    return frames->len > before;
}

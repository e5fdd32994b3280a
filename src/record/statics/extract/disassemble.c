/* SPDX-License-Identifier: Apache-2.0 */
/* Call sites are found in the instructions: at -O0 there are no call-site entries in the debug
 * information, and clang omits calls of library functions at any level. */
#include "record/statics/extract/disassemble.h"

#include <capstone/capstone.h>
#include <string.h>

#include "base/error.h"
#include "record/statics/hooks_named.h"

/* Contents of a register, as far as needed to recognise a virtual call: a value loaded from offset
 * 0 of an object (perhaps its vtable), then one loaded from that table. */
enum held { HELD_OTHER, HELD_TABLE, HELD_FUNCTION };

struct disassembly {
    const struct fm_elf *elf;
    struct fm_units *units;
    const struct fm_bodies *bodies;
    GArray *machine_sites;
    GArray *bounds, *counters; /* NULL = not wanted */
    csh handle;
    cs_insn *instruction;
    enum held held[16];
};

/* The parts of an instruction that are needed here. */
struct decoded {
    const uint8_t *opcode; /* after the prefixes */
    size_t size;           /* from the opcode on */
    uint8_t rex;
    bool has_modrm;
    unsigned mod, reg, base; /* base 16 = rip or none */
    int32_t displacement;
};

struct call {
    bool is_call, direct;
    bool is_jump;     /* counts only if it leads to a hook */
    uint64_t target;  /* address called, 0 = not known */
    const char *name; /* through the linkage table */
    bool virtual_call;
};

static int32_t signed_byte(uint8_t byte)
{
    return byte < 0x80 ? byte : byte - 0x100;
}

static void decode(const uint8_t *bytes, size_t size, struct decoded *ret)
{
    size_t at = 0;
    while (at < size &&
           (bytes[at] == 0x66 || bytes[at] == 0x67 || bytes[at] == 0xf2 || bytes[at] == 0xf3 ||
            bytes[at] == 0x2e || bytes[at] == 0x3e || bytes[at] == 0x64 || bytes[at] == 0x65))
        at++;
    *ret = (struct decoded){0};
    if (at < size && (bytes[at] & 0xf0) == 0x40)
        ret->rex = bytes[at++];
    ret->opcode = bytes + at;
    ret->size = size - at;
    if (ret->size < 2)
        return;
    uint8_t op = ret->opcode[0];
    ret->has_modrm = op == 0xff || op == 0x8b || op == 0x89 || op == 0x83 || op == 0x81;
    if (!ret->has_modrm)
        return;
    uint8_t modrm = ret->opcode[1];
    ret->mod = modrm >> 6;
    ret->reg = ((modrm >> 3) & 7u) | ((ret->rex & 4u) ? 8u : 0);
    unsigned low = modrm & 7u;
    ret->base = low | ((ret->rex & 1u) ? 8u : 0);
    size_t next = 2;
    if (ret->mod == 3)
        return;
    if (low == 4) {
        next++;
        ret->base = 4; /* an index: no table of virtual functions is read in this form */
    }
    if (ret->mod == 0 && low == 5)
        ret->base = 16;
    if (ret->mod == 1 && ret->size > next)
        ret->displacement = signed_byte(ret->opcode[next]);
    else if ((ret->mod == 2 || ret->base == 16) && ret->size >= next + 4)
        memcpy(&ret->displacement, ret->opcode + next, 4);
}

static void forget(struct disassembly *run)
{
    memset(run->held, 0, sizeof run->held);
}

/* Follows loads only: enough to tell object -> table -> function. */
static void follow(struct disassembly *run, const struct decoded *d)
{
    if (!d->has_modrm)
        return;
    enum held *held = run->held;
    if (d->opcode[0] == 0x8b && d->mod == 3) {
        held[d->reg] = held[d->base];
    } else if (d->opcode[0] == 0x89 && d->mod == 3) {
        held[d->base] = held[d->reg];
    } else if (d->opcode[0] == 0x8b) {
        bool local = d->base == 4 || d->base == 5 || d->base == 16;
        if (!local && held[d->base] == HELD_TABLE)
            held[d->reg] = HELD_FUNCTION;
        else if (!local && d->displacement == 0)
            held[d->reg] = HELD_TABLE;
        else
            held[d->reg] = HELD_OTHER;
    }
}

/* --hooks=slots: calls within a file enter a function behind the first part of its hook, where the
 * comparison is: its begin then. */
static uint64_t behind_slot(const struct disassembly *run, uint64_t target)
{
    static const uint8_t load[] = {0x47, 0x8b, 0x1c, 0x1f, 0x41, 0x81, 0x3b};
    size_t available;
    const uint8_t *bytes = fm_elf_bytes_at(run->elf, target - 4, &available);
    if (bytes == NULL || available < sizeof load || memcmp(bytes, load, sizeof load) != 0)
        return target;
    const GArray *intervals = run->bodies->intervals;
    guint low = 0, high = intervals->len;
    while (low < high) {
        guint middle = low + (high - low) / 2;
        if (g_array_index(intervals, struct fm_interval, middle).low <= target)
            low = middle + 1;
        else
            high = middle;
    }
    for (guint i = low; i-- > 0;) {
        const struct fm_interval *interval = &g_array_index(intervals, struct fm_interval, i);
        if (interval->depth == 0)
            return target < interval->high ? interval->low : target;
    }
    return target;
}

static void through_got(const struct fm_got_entry *entry, struct call *ret)
{
    ret->direct = true;
    ret->name = entry->name;
    ret->target = entry->address;
}

static void decode_call(struct disassembly *run, uint64_t next, const struct decoded *d,
                        struct call *ret)
{
    *ret = (struct call){0};
    /* The assembler's expansion of a hook jumps to the called form, its return address pushed. */
    bool jump = d->size >= 5 && d->opcode[0] == 0xe9;
    if (jump || (d->size >= 5 && d->opcode[0] == 0xe8)) {
        int32_t displacement;
        memcpy(&displacement, d->opcode + 1, sizeof displacement);
        ret->is_call = ret->direct = true;
        ret->is_jump = jump;
        ret->target = next + (uint64_t)(int64_t)displacement;
        const struct fm_got_entry *entry = fm_elf_stub_entry(run->elf, ret->target);
        if (entry != NULL)
            through_got(entry, ret);
        else
            ret->target = behind_slot(run, ret->target);
        return;
    }
    if (!d->has_modrm || d->opcode[0] != 0xff || (d->reg & 7u) != 2)
        return;
    ret->is_call = true;
    if (d->mod != 3 && d->base == 16) {
        uint64_t slot = next + (uint64_t)(int64_t)d->displacement;
        const struct fm_got_entry *entry = fm_elf_got_entry(run->elf, slot);
        if (entry != NULL)
            through_got(entry, ret);
        return;
    }
    ret->virtual_call =
        d->mod == 3 ? run->held[d->base] == HELD_FUNCTION : run->held[d->base & 15u] == HELD_TABLE;
}

static struct fm_scope *scope_of(struct disassembly *run, uint32_t scope)
{
    return fm_bodies_scope(run->bodies, scope);
}

static struct fm_proc *proc_of_scope(struct disassembly *run, uint32_t scope)
{
    return fm_bodies_proc(run->bodies, scope_of(run, scope)->proc);
}

/* A hook may itself be inlined: the body that contains it is the one around the hook's. */
static void mark_live(struct disassembly *run, uint32_t scope)
{
    while (scope != FM_NONE && fm_statics_is_hook(proc_of_scope(run, scope)->linkage))
        scope = scope_of(run, scope)->parent;
    if (scope == FM_NONE)
        return;
    scope_of(run, scope)->live = true;
    proc_of_scope(run, scope)->instrumented = true;
}

/* The name of the hook that is called, NULL if it is another function. */
static const char *hook_called(const struct disassembly *run, const struct call *call)
{
    if (!call->direct)
        return NULL;
    if (call->name != NULL)
        return fm_statics_is_hook(call->name) ? call->name : NULL;
    return g_hash_table_lookup(run->elf->hooks, &call->target);
}

static void add_bound(struct disassembly *run, uint64_t address, enum fm_bound_kind kind,
                      uint32_t scope)
{
    struct fm_block_bound bound = {.address = address, .kind = kind, .scope = scope};
    if (run->bounds != NULL)
        g_array_append_val(run->bounds, bound);
}

/* Jumps and returns, with the place that a direct jump leads to. */
static void note_branch(struct disassembly *run, uint64_t next, const struct decoded *d)
{
    uint8_t op = d->size > 0 ? d->opcode[0] : 0;
    bool two = op == 0x0f && d->size > 1 && (d->opcode[1] & 0xf0) == 0x80;
    bool byte = (op & 0xf0) == 0x70 || op == 0xeb || (op >= 0xe0 && op <= 0xe3);
    bool word = op == 0xe9 || two;
    bool other = op == 0xc3 || op == 0xc2 || (d->has_modrm && op == 0xff && (d->reg & 7u) == 4);
    if (!byte && !word && !other)
        return;
    add_bound(run, next, FM_BOUND_BRANCH, FM_NONE);
    int64_t distance = 0;
    int32_t displacement = 0;
    if (byte && d->size >= 2)
        distance = signed_byte(d->opcode[1]);
    else if (word && d->size >= (two ? 6u : 5u))
        distance = memcpy(&displacement, d->opcode + (two ? 2 : 1), 4) != NULL ? displacement : 0;
    if (distance != 0)
        add_bound(run, next + (uint64_t)distance, FM_BOUND_TARGET, FM_NONE);
}

static void add_call(struct disassembly *run, uint64_t next, const struct call *call,
                     uint32_t scope)
{
    const char *hook = hook_called(run, call);
    if (hook != NULL && fm_statics_is_coverage(hook)) {
        add_bound(run, next, FM_BOUND_POINT, scope);
        return;
    }
    if (hook != NULL) {
        mark_live(run, scope);
        if (strstr(hook, "enter") != NULL)
            add_bound(run, next, FM_BOUND_ENTER, scope);
        else
            add_bound(run, next, FM_BOUND_EXIT, scope);
        return;
    }
    if (call->is_jump)
        return;
    struct fm_machine_site site = {
        .return_address = next,
        .target = call->target,
        .target_name =
            call->name == NULL ? NULL : g_string_chunk_insert_const(run->elf->strings, call->name),
        .scope = scope,
        .site = FM_NONE,
        .indirect = !call->direct,
        .virtual_call = call->virtual_call && proc_of_scope(run, scope)->cplusplus,
    };
    struct fm_place place;
    uint64_t begin;
    fm_units_place(run->units, g_array_index(run->bodies->unit_of_scope, uint32_t, scope), next - 1,
                   &place, &begin);
    site.file = place.file;
    site.line = place.line;
    site.column = place.column;
    g_array_append_val(run->machine_sites, site);
}

/* --hooks=slots: the callee's node is loaded from the caller's, which is in r15, and compared:
 * movl (%r15, R), R; cmpl $NUMBER, (R). */
static bool is_slots_hook(const struct decoded *d, const uint8_t *begin, size_t before)
{
    if (before < 4 || !d->has_modrm || d->opcode[0] != 0x81 || (d->reg & 7u) != 7 || d->mod != 0)
        return false;
    const uint8_t *load = begin - 4;
    unsigned index = ((load[3] >> 3) & 7u) | ((load[0] & 2u) ? 8u : 0);
    return (load[0] & 0xf1) == 0x41 && load[1] == 0x8b && (load[2] & 0xc7) == 4 &&
           (load[3] & 0xc7) == 7 && index == d->base;
}

/* A hook that the assembler's front wrote out has no call in the body; this it has:
 * lea hook_pc(%rip), R; imul $-0x61C8864F, R, R. The runtime's own code multiplies, too, but not
 * the address of an instruction. behind: bytes of the body before the multiplication. */
static bool is_written_hook(const struct decoded *d, const uint8_t *begin, size_t behind)
{
    static const uint8_t factor[] = {0xb1, 0x79, 0x37, 0x9e};
    if (d->size != 6 || (d->rex & 8) == 0 || d->opcode[0] != 0x69 || d->opcode[1] < 0xc0 ||
        memcmp(d->opcode + 2, factor, sizeof factor) != 0 || behind < 7)
        return false;
    const uint8_t *lea = begin - 7;
    return (lea[0] & 0xf8) == 0x48 && lea[1] == 0x8d && (lea[2] & 0xc7) == 5 &&
           (lea[2] & 0x38) == (d->opcode[1] & 0x38) && ((lea[0] ^ d->rex) & 4) == 0;
}

/* How far before the instruction, which counts a block, the code begins that belongs to it: where
 * flags or registers are in use, they are kept around it. behind, left: bytes of the body before
 * and from the instruction on. */
static size_t counting_before(const struct decoded *d, const uint8_t *begin, size_t size,
                              size_t behind, size_t left)
{
    static const uint8_t ends[] = {0x41, 0x5b, 0x41, 0x5a, 0x9d}; /* pop r11, r10, flags */
    static const uint8_t begins[] = {0x48, 0x8d, 0x64, 0x24, 0x80, 0x9c, 0x41, 0x52, 0x41, 0x53};
    size_t before = 5 + 1 + (size - 1) + 4; /* lea, push, load without the prefix, lea */
    if (d->opcode[0] == 0x89)
        return before <= behind ? before : 0;
    if (left < size + sizeof ends || memcmp(begin + size, ends, sizeof ends) != 0)
        return 0;
    for (before = sizeof begins; before <= behind && before < 200; before++)
        if (memcmp(begin - before, begins, sizeof begins) == 0)
            return before;
    return 0;
}

/* ds incq N(%r11), ds movq %rax, N(%r11): the prefix distinguishes them from the program's own. */
static bool is_counting(const struct decoded *d, const uint8_t *begin)
{
    return begin[0] == 0x3e && d->has_modrm && (d->rex & 9) == 9 && d->mod != 3 && d->base == 11 &&
           d->displacement >= 0 && d->displacement % 8 == 0 &&
           ((d->opcode[0] == 0xff && (d->reg & 7u) == 0) || (d->opcode[0] == 0x89 && d->reg == 0));
}

/* The end's mark of an entry hook, with the number of blocks before it. */
static bool is_end_of_counted_hook(const uint8_t *begin, size_t size, size_t behind)
{
    static const uint8_t ends[] = {0x0f, 0x1f, 0x84, 0x00, 'F', 'T', 'F', 'E'};
    static const uint8_t leaf[] = {0x0f, 0x1f, 0x84, 0x00, 'F', 'T', 'F', 'L'};
    static const uint8_t counts[] = {0x0f, 0x1f, 0x84, 0x40};
    return size == sizeof ends && behind >= 8 &&
           (memcmp(begin, ends, size) == 0 || memcmp(begin, leaf, size) == 0) &&
           memcmp(begin - 8, counts, sizeof counts) == 0;
}

/* jmp *R. */
static bool is_indirect_jump(const uint8_t *bytes, size_t left)
{
    size_t at = left > 0 && bytes[0] == 0x3e; /* notrack */
    at += left > at && bytes[at] == 0x41;
    return left > at + 1 && bytes[at] == 0xff && (bytes[at + 1] & 0xf8) == 0xe0;
}

/* Does it count, or begin to? */
static bool find_counter(const struct decoded *d, const uint8_t *start, const uint8_t *begin,
                         const uint8_t *end, size_t left, struct fm_counter *ret)
{
    size_t size = (size_t)(end - begin), behind = (size_t)(begin - start);
    if (is_end_of_counted_hook(begin, size, behind)) {
        ret->begin = behind + size;
        ret->block = FM_POINT_ENTRY;
        ret->shared = false;
        return true;
    }
    if (!is_counting(d, begin))
        return false;
    ret->begin = size + counting_before(d, begin, size, behind, left + size);
    ret->block = (uint32_t)d->displacement / 8;
    ret->shared = is_indirect_jump(end, left);
    return true;
}

/* Disassembles one stretch of a body. *segment = where in the segments to look for scopes. */
static void disassemble_range(struct disassembly *run, uint64_t low, uint64_t high, guint *segment)
{
    size_t available;
    const uint8_t *bytes = fm_elf_bytes_at(run->elf, low, &available);
    if (bytes == NULL)
        return;
    const uint8_t *start = bytes;
    size_t size = MIN(available, (size_t)(high - low));
    uint64_t address = low;
    const GArray *segments = run->bodies->segments;
    forget(run);
    while (size > 0) {
        const uint8_t *begin = bytes;
        if (!cs_disasm_iter(run->handle, &bytes, &size, &address, run->instruction)) {
            bytes++, address++, size--;
            continue;
        }
        struct decoded decoded;
        struct call call;
        decode(begin, (size_t)(bytes - begin), &decoded);
        decode_call(run, address, &decoded, &call);
        if (run->bounds != NULL)
            note_branch(run, address, &decoded);
        size_t before = (size_t)(begin - start);
        bool hook =
            is_written_hook(&decoded, begin, before) || is_slots_hook(&decoded, begin, before);
        struct fm_counter counter;
        bool counts =
            run->counters != NULL && find_counter(&decoded, start, begin, bytes, size, &counter);
        if (!call.is_call && !hook && !counts) {
            follow(run, &decoded);
            continue;
        }
        while (*segment + 1 < segments->len &&
               g_array_index(segments, struct fm_segment, *segment).high < address)
            (*segment)++;
        const struct fm_segment *found = &g_array_index(segments, struct fm_segment, *segment);
        bool inside = address - 1 >= found->low && address - 1 < found->high;
        if (counts && inside) {
            counter.begin = address - counter.begin;
            counter.address = address;
            counter.limit = high;
            counter.scope = found->scope;
            g_array_append_val(run->counters, counter);
        } else if (hook && inside)
            mark_live(run, found->scope);
        else if (inside)
            add_call(run, address, &call, found->scope);
        if (!call.is_jump && !counts)
            forget(run);
    }
}

bool fm_disassemble(const struct fm_elf *elf, struct fm_units *units,
                    const struct fm_bodies *bodies, GArray *machine_sites, GArray *bounds,
                    GArray *counters, GError **error)
{
    g_assert(bodies->scopes->len == bodies->unit_of_scope->len);
    struct disassembly run = {.elf = elf,
                              .units = units,
                              .bodies = bodies,
                              .machine_sites = machine_sites,
                              .bounds = bounds,
                              .counters = counters};
    if (cs_open(CS_ARCH_X86, CS_MODE_64, &run.handle) != CS_ERR_OK) {
        g_set_error(error, FM_ERROR, FM_ERROR_UNAVAILABLE,
                    "%s: the capstone library has no disassembler for x86-64", elf->path);
        return false;
    }
    run.instruction = cs_malloc(run.handle);
    const GArray *intervals = bodies->intervals;
    uint64_t done = 0;
    guint segment = 0;
    for (guint i = 0; i < intervals->len && bodies->segments->len > 0; i++) {
        const struct fm_interval *interval = &g_array_index(intervals, struct fm_interval, i);
        if (interval->depth != 0 || interval->high <= done)
            continue;
        disassemble_range(&run, MAX(interval->low, done), interval->high, &segment);
        done = interval->high;
    }
    cs_free(run.instruction, 1);
    cs_close(&run.handle);
    return true;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Durations of single calls of chosen functions.
 *
 * Edges to these functions are put into the index where hooks do not find them, so each of their
 * calls takes the slow path, and a flag in their frames makes the exit take it, too. Very
 * frequent calls are not timed until the thread's next tick, or its next wait that ends some
 * milliseconds later. So calls are left untimed only if many come within a short wall time.
 * Calls of other functions cost nothing extra. */
#include "../internal.h"
#include "../slots/slots.h"
#include "names.h"

#include <elf.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#define TEXT_BYTES 4096
#define NAMES_MAX 64u
#define FUNCTIONS_MAX 1024u
#define MODULES_SCANNED_MAX 256u
#define RECENT_MAX 100u      /* timed calls of an edge within RECENT_NS */
#define RECENT_NS 4000000u   /* as long as ticks of a thread that computes are apart, mostly */
#define SPANS_MAX (1u << 20) /* maximum stored for a thread */

static struct {
    char text[TEXT_BYTES];
    const char *names[NAMES_MAX];
    unsigned name_count;
    fm_lock lock;
    uint64_t functions[FUNCTIONS_MAX];
    unsigned function_count;
    const struct fm_rec_module *scanned[MODULES_SCANNED_MAX];
    unsigned scanned_count;
} chosen;

/* Names in objects compiled with `fathom cc --trace`, one after the other. Weak, because usually
 * there are none. */
extern const char __start_fm_traced_names[] __attribute__((weak)) FM_HIDDEN;
extern const char __stop_fm_traced_names[] __attribute__((weak)) FM_HIDDEN;

static void add_names(const char *names)
{
    size_t used = strlen(chosen.text), bytes = strlen(names);
    if (bytes == 0 || used + 1 + bytes >= sizeof chosen.text)
        return;
    if (used > 0)
        chosen.text[used++] = ',';
    memcpy(chosen.text + used, names, bytes + 1);
}

void fm_traced_prepare(void)
{
    const char *wish = fm_getenv("FATHOM_TRACE");
    const char *at_link = __start_fm_traced_names;
    memset(&chosen, 0, sizeof chosen);
    if (wish != NULL)
        add_names(wish);
    while (at_link != NULL && at_link < __stop_fm_traced_names) {
        add_names(at_link);
        at_link += strlen(at_link) + 1;
    }
    if (chosen.text[0] == '\0')
        return;
    if (fm_slots_are_used()) {
        fm_complain("calls of a program built with --hooks=slots cannot be timed one by one",
                    chosen.text);
        return;
    }
    fm_process.header->traced = fm_arena_text(chosen.text, strlen(chosen.text));
    for (char *at = chosen.text; at != NULL && chosen.name_count < NAMES_MAX;) {
        char *comma = strchr(at, ',');
        if (comma != NULL)
            *comma++ = '\0';
        chosen.names[chosen.name_count] = at;
        chosen.name_count += at[0] != '\0';
        at = comma;
    }
    fm_process.traced = chosen.name_count > 0;
}

static bool is_chosen(const char *symbol)
{
    struct fm_symbol_parts parts;
    bool parsed = fm_symbol_parse(symbol, &parts);
    for (unsigned i = 0; i < chosen.name_count; i++)
        if (fm_symbol_is_as_linked(symbol, chosen.names[i]) ||
            (parsed && fm_symbol_is(&parts, chosen.names[i])))
            return true;
    return false;
}

static void scan_symbols(const char *file, uint64_t size, const Elf64_Shdr *symbols,
                         const Elf64_Shdr *texts, uint64_t bias)
{
    if (symbols->sh_offset > size || symbols->sh_size > size - symbols->sh_offset ||
        texts->sh_offset > size || texts->sh_size > size - texts->sh_offset ||
        texts->sh_size == 0 || file[texts->sh_offset + texts->sh_size - 1] != '\0')
        return;
    for (uint64_t at = 0; at + sizeof(Elf64_Sym) <= symbols->sh_size; at += sizeof(Elf64_Sym)) {
        Elf64_Sym symbol;
        memcpy(&symbol, file + symbols->sh_offset + at, sizeof symbol);
        if (ELF64_ST_TYPE(symbol.st_info) != STT_FUNC || symbol.st_value == 0 ||
            symbol.st_name >= texts->sh_size || chosen.function_count == FUNCTIONS_MAX)
            continue;
        if (is_chosen(file + texts->sh_offset + symbol.st_name))
            chosen.functions[chosen.function_count++] = bias + symbol.st_value;
    }
}

static void scan_file(const char *file, uint64_t size, uint64_t bias)
{
    Elf64_Ehdr header;
    if (size < sizeof header)
        return;
    memcpy(&header, file, sizeof header);
    if (memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_shentsize != sizeof(Elf64_Shdr) ||
        header.e_shoff > size || (size - header.e_shoff) / sizeof(Elf64_Shdr) < header.e_shnum)
        return;
    const Elf64_Shdr *sections = (const Elf64_Shdr *)(const void *)(file + header.e_shoff);
    for (unsigned i = 0; i < header.e_shnum; i++)
        if ((sections[i].sh_type == SHT_SYMTAB || sections[i].sh_type == SHT_DYNSYM) &&
            sections[i].sh_link < header.e_shnum)
            scan_symbols(file, size, &sections[i], &sections[sections[i].sh_link], bias);
}

static void scan(const struct fm_rec_module *module)
{
    const struct fm_rec_text *path = fm_at(module->path);
    long fd = fm_system_call(2 /* open */, (long)path->bytes, O_RDONLY | O_CLOEXEC, 0, 0);
    if (fd < 0)
        return;
    long size = fm_system_call(8 /* lseek */, fd, 0, 2 /* SEEK_END */, 0);
    void *file =
        size > 0 ? fm_memory_map(NULL, (size_t)size, PROT_READ, MAP_PRIVATE, (int)fd, 0) : NULL;
    fm_system_call(3 /* close */, fd, 0, 0, 0);
    if (file == NULL)
        return;
    scan_file(file, (uint64_t)size, module->bias);
    fm_memory_unmap(file, (size_t)size);
}

bool fm_traced_is(uint64_t fn)
{
    const struct fm_rec_module *module = fm_module_record(fn);
    bool found = false, known = false;
    if (module == NULL)
        return false;
    fm_lock_take(&chosen.lock);
    for (unsigned i = 0; i < chosen.scanned_count && !known; i++)
        known = chosen.scanned[i] == module;
    if (!known && chosen.scanned_count < MODULES_SCANNED_MAX) {
        chosen.scanned[chosen.scanned_count++] = module;
        scan(module);
    }
    for (unsigned i = 0; i < chosen.function_count && !found; i++)
        found = chosen.functions[i] == fn;
    fm_lock_give(&chosen.lock);
    return found;
}

static struct fm_rec_side *side_of(struct fm_thread *thread, struct fm_rec_csd *csd, uint32_t kind,
                                   size_t bytes)
{
    for (uint32_t ref = csd->side; ref != 0;) {
        struct fm_rec_side *side = fm_at(ref);
        if (side->kind == kind)
            return side;
        ref = side->next;
    }
    void *record = fm_arena_alloc(&thread->bump, bytes);
    if (record == NULL)
        return NULL;
    fm_side_add(thread, csd, kind, fm_ref(record));
    struct fm_rec_side *side = csd->side != 0 ? fm_at(csd->side) : NULL;
    return side != NULL && side->kind == kind ? side : NULL;
}

static struct fm_rec_durations *durations_of(struct fm_thread *thread, struct fm_rec_csd *csd)
{
    const struct fm_rec_side *side =
        side_of(thread, csd, FM_REC_SIDE_DURATIONS, sizeof(struct fm_rec_durations));
    return side != NULL ? fm_at((uint32_t)side->value) : NULL;
}

void fm_traced_leaf(struct fm_thread *thread, struct fm_rec_csd *csd)
{
    durations_of(thread, csd);
}

/* Often called: the hooks find the edge until all are hidden again. */
static void let_through(struct fm_thread *thread, uint64_t identity, uint64_t now_ns)
{
    struct fm_traced *traced = &thread->traced;
    struct fm_entry *entry = fm_entry_find(thread->tls, identity ^ FM_TRACED_HIDDEN);
    if (entry == NULL || traced->fast_count == FM_TRACED_FAST_MAX)
        return;
    if (traced->fast_count == 0)
        traced->fast_since_ns = now_ns;
    traced->fast[traced->fast_count++] = identity;
    entry->identity = identity;
}

void fm_traced_on_tick(struct fm_thread *thread)
{
    struct fm_traced *traced = &thread->traced;
    for (uint32_t i = 0; i < traced->fast_count; i++) {
        struct fm_entry *entry = fm_entry_find(thread->tls, traced->fast[i]);
        if (entry != NULL)
            entry->identity = traced->fast[i] ^ FM_TRACED_HIDDEN;
    }
    traced->fast_count = 0;
}

void fm_traced_on_wait(struct fm_thread *thread)
{
    if (fm_now_ns(CLOCK_MONOTONIC) - thread->traced.fast_since_ns >= RECENT_NS)
        fm_traced_on_tick(thread);
}

bool fm_traced_enter(struct fm_thread *thread, struct fm_rec_csd *csd, uint64_t identity,
                     uint64_t cfa)
{
    struct fm_traced *traced = &thread->traced;
    struct fm_rec_durations *durations = durations_of(thread, csd);
    if (traced->open == NULL)
        traced->open = fm_private_alloc(FM_TRACED_OPEN_MAX * sizeof *traced->open);
    traced->fresh = false;
    if (durations == NULL || traced->open == NULL || traced->open_count == FM_TRACED_OPEN_MAX)
        return false;
    uint64_t now_ns = fm_now_ns(CLOCK_MONOTONIC);
    if (now_ns - durations->recent_since >= RECENT_NS) {
        durations->recent_since = now_ns;
        durations->recent = 0;
    }
    if (++durations->recent >= RECENT_MAX && (thread->rec->tick_source == FM_REC_TICK_CPU_TIMER ||
                                              thread->rec->tick_source == FM_REC_TICK_PERF))
        let_through(thread, identity, now_ns);
    traced->open[traced->open_count++] =
        (struct fm_traced_open){.cfa = cfa, .csd = csd, .start_ns = now_ns};
    traced->fresh = true;
    return true;
}

static void count(struct fm_thread *thread, struct fm_rec_durations *durations, uint64_t ns,
                  bool left)
{
    struct fm_duration_place place = fm_duration_place(ns);
    if (durations->octaves[place.octave] == 0) {
        uint64_t *steps = fm_arena_alloc(&thread->bump, FM_REC_DURATION_STEPS * sizeof(uint64_t));
        if (steps == NULL)
            return;
        __atomic_store_n(&durations->octaves[place.octave], fm_ref(steps), __ATOMIC_RELEASE);
    }
    ((uint64_t *)fm_at(durations->octaves[place.octave]))[place.step]++;
    if (durations->timed == 0 || ns < durations->shortest)
        durations->shortest = ns;
    if (ns > durations->longest)
        durations->longest = ns;
    durations->ns += ns;
    durations->left += left;
    durations->timed++;
}

static void keep(struct fm_thread *thread, const struct fm_rec_span *span)
{
    struct fm_traced *traced = &thread->traced;
    if (traced->spans == NULL) {
        const struct fm_rec_side *side =
            side_of(thread, fm_at(thread->rec->root_csd), FM_REC_SIDE_SPANS, sizeof *traced->spans);
        if (side == NULL)
            return;
        traced->spans = fm_at((uint32_t)side->value);
    }
    struct fm_rec_spans *spans = traced->spans;
    struct fm_rec_span_block *block = spans->newest != 0 ? fm_at(spans->newest) : NULL;
    if (spans->count < SPANS_MAX && (block == NULL || block->count == FM_REC_SPANS_BLOCK)) {
        block = fm_arena_alloc(&thread->bump, sizeof *block);
        if (block != NULL) {
            block->next = spans->newest;
            __atomic_store_n(&spans->newest, fm_ref(block), __ATOMIC_RELEASE);
        }
    }
    if (spans->count >= SPANS_MAX || block == NULL) {
        spans->dropped++;
        return;
    }
    block->spans[block->count] = *span;
    __atomic_store_n(&block->count, block->count + 1, __ATOMIC_RELEASE);
    spans->count++;
}

/* Calls on several stacks may end in any order. */
void fm_traced_leave(struct fm_thread *thread, struct fm_rec_csd *csd, uint64_t cfa, bool left)
{
    struct fm_traced *traced = &thread->traced;
    traced->fresh = false;
    uint32_t i = traced->open_count;
    while (i > 0 && (traced->open[i - 1].cfa != cfa || traced->open[i - 1].csd != csd))
        i--;
    if (i == 0)
        return;
    struct fm_traced_open open = traced->open[i - 1];
    memmove(&traced->open[i - 1], &traced->open[i],
            (traced->open_count - i) * sizeof *traced->open);
    traced->open_count--;
    uint64_t now = traced->exit_ns != 0 ? traced->exit_ns : fm_now_ns(CLOCK_MONOTONIC);
    uint64_t ns = now > open.start_ns ? now - open.start_ns : 0;
    struct fm_rec_durations *durations = durations_of(thread, csd);
    if (durations != NULL)
        count(thread, durations, ns, left);
    struct fm_rec_span span = {
        .start_ns = open.start_ns, .ns = ns, .csd = fm_ref(csd), .left = left};
    keep(thread, &span);
}

void fm_traced_reset(struct fm_thread *thread)
{
    struct fm_traced *traced = &thread->traced;
    traced->open_count = traced->fast_count = 0;
    traced->fresh = false;
    traced->spans = NULL;
}

void fm_traced_end_thread(struct fm_thread *thread)
{
    if (thread->traced.open != NULL)
        fm_private_free(thread->traced.open, FM_TRACED_OPEN_MAX * sizeof *thread->traced.open);
    thread->traced.open = NULL;
    thread->traced.open_count = 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Loaded objects by address, and unwind data of their functions and stacks. */
#include "files.h"
#include "internal.h"
#include "unwind/loaded.h"
#include "unwind/rules.h"
#include "unwind/unwind.h"
#include "unwound/unwound.h"

#include <elf.h>
#include <link.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The list in use is a copy in private memory, published as a whole, so that lookups take no
 * lock. */
struct module {
    uint64_t start, end;
    struct fm_rec_module *rec;
};
struct module_list {
    uint32_t count;
    struct module modules[];
};
static struct module_list *current;
static fm_lock refresh_lock;

struct refresh {
    struct module_list *list; /* being built */
    const struct module_list *old;
    uint32_t capacity;
    uint32_t epoch;
    bool changed;
};

static void note_build_id(struct fm_rec_module *rec, const struct dl_phdr_info *info,
                          const ElfW(Phdr) * segment)
{
    const char *at = (const char *)(info->dlpi_addr + segment->p_vaddr);
    const char *end = at + segment->p_memsz;
    while (end - at >= (ptrdiff_t)sizeof(ElfW(Nhdr))) {
        ElfW(Nhdr) note;
        memcpy(&note, at, sizeof note);
        const char *name = at + sizeof note;
        const char *value = name + ((note.n_namesz + 3u) & ~3u);
        const char *next = value + ((note.n_descsz + 3u) & ~3u);
        if (next > end)
            return;
        if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 && memcmp(name, "GNU", 4) == 0 &&
            note.n_descsz <= sizeof rec->build_id) {
            rec->build_id_bytes = note.n_descsz;
            memcpy(rec->build_id, value, note.n_descsz);
            return;
        }
        at = next;
    }
}

static struct fm_rec_module *module_record(const struct dl_phdr_info *info, uint64_t start,
                                           uint64_t end, bool first, uint32_t epoch)
{
    char path[4096];
    size_t used = 0;
    uint32_t flags = 0;
    if (first) {
        flags = FM_REC_MODULE_EXECUTABLE;
        long got = fm_system_call(89 /* readlink */, (long)"/proc/self/exe", (long)path,
                                  sizeof path - 1, 0);
        used = got > 0 ? (size_t)got : 0;
        path[used] = '\0';
    } else if (info->dlpi_name != NULL && info->dlpi_name[0] != '\0') {
        if (info->dlpi_name[0] != '/' && strchr(info->dlpi_name, '/') != NULL &&
            fm_folder_of_process(path, sizeof path)) {
            used = strlen(path);
            used = fm_text_append(path, sizeof path, used, "/");
        }
        used = fm_text_append(path, sizeof path, used, info->dlpi_name);
    }
    struct stat status;
    bool has_file = used > 0 && path[0] == '/' &&
                    fm_system_call(4 /* stat */, (long)path, (long)&status, 0, 0) == 0;
    if (!has_file && !first && (used == 0 || strchr(path, '/') == NULL))
        flags |= FM_REC_MODULE_VDSO;
    uint32_t text = fm_arena_text(path, used);
    struct fm_rec_module *rec = fm_arena_alloc_shared(sizeof *rec);
    if (rec == NULL || text == 0) {
        fm_process.header->dropped_modules++;
        return NULL;
    }
    rec->flags = flags;
    rec->start = start;
    rec->end = end;
    rec->bias = info->dlpi_addr;
    rec->loaded = epoch;
    rec->unloaded = FM_REC_STILL_LOADED;
    rec->path = text;
    rec->file_inode = has_file ? status.st_ino : 0;
    for (unsigned i = 0; i < info->dlpi_phnum; i++)
        if (info->dlpi_phdr[i].p_type == PT_NOTE && rec->build_id_bytes == 0)
            note_build_id(rec, info, &info->dlpi_phdr[i]);
    rec->next = fm_process.header->first_module;
    __atomic_store_n(&fm_process.header->first_module, fm_ref(rec), __ATOMIC_RELEASE);
    return rec;
}

static int visit(struct dl_phdr_info *info, size_t size, void *data)
{
    struct refresh *refresh = data;
    (void)size;
    uint64_t start = UINT64_MAX, end = 0;
    for (unsigned i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
        if (segment->p_type != PT_LOAD)
            continue;
        uint64_t low = info->dlpi_addr + segment->p_vaddr;
        start = low < start ? low : start;
        end = low + segment->p_memsz > end ? low + segment->p_memsz : end;
    }
    struct module_list *list = refresh->list;
    if (start >= end || list->count == refresh->capacity)
        return 0;
    bool first = list->count == 0;
    struct fm_rec_module *rec = NULL;
    for (uint32_t i = 0; refresh->old != NULL && i < refresh->old->count; i++) {
        const struct module *m = &refresh->old->modules[i];
        if (m->start == start && m->end == end && m->rec != NULL &&
            m->rec->unloaded == FM_REC_STILL_LOADED && m->rec->bias == info->dlpi_addr)
            rec = m->rec;
    }
    if (rec == NULL) {
        refresh->changed = true;
        rec = module_record(info, start, end, first, refresh->epoch);
    }
    list->modules[list->count++] = (struct module){.start = start, .end = end, .rec = rec};
    return 0;
}

static bool has_record(const struct module_list *list, const struct fm_rec_module *rec)
{
    for (uint32_t i = 0; i < list->count; i++)
        if (list->modules[i].rec == rec)
            return true;
    return false;
}

void fm_modules_refresh(void)
{
    uint64_t mask = fm_block_signals();
    fm_lock_take(&refresh_lock);
    struct module_list *old = current;
    uint32_t capacity = old == NULL ? 128 : old->count + 64;
    struct module_list *list = fm_private_alloc(sizeof *list + capacity * sizeof(struct module));
    if (list != NULL) {
        struct refresh refresh = {.list = list,
                                  .old = old,
                                  .capacity = capacity,
                                  .epoch = fm_process.header->module_epoch + 1};
        dl_iterate_phdr(visit, &refresh);
        for (uint32_t i = 0; old != NULL && i < old->count; i++) {
            struct fm_rec_module *rec = old->modules[i].rec;
            if (rec != NULL && !has_record(list, rec)) {
                rec->unloaded = refresh.epoch;
                refresh.changed = true;
                fm_graph_purge(rec->start, rec->end);
            }
        }
        fm_unwind_forget(); /* including modules that left before any of their hooks ran */
        if (refresh.changed)
            fm_process.header->module_epoch = refresh.epoch;
        /* The old list stays: another thread may be reading it. It is small and changes seldom. */
        __atomic_store_n(&current, list, __ATOMIC_RELEASE);
    }
    fm_lock_give(&refresh_lock);
    fm_restore_signals(mask);
}

/* Its headers lie in the first page of all that linkers make by default. */
static bool describe(const struct fm_loaded *loaded, struct dl_phdr_info *ret)
{
    const ElfW(Ehdr) *elf = (const ElfW(Ehdr) *)loaded->start;
    if (loaded->name == NULL || memcmp(elf->e_ident, ELFMAG, SELFMAG) != 0 ||
        elf->e_phentsize != sizeof(ElfW(Phdr)) ||
        elf->e_phoff + (uint64_t)elf->e_phnum * sizeof(ElfW(Phdr)) > 4096)
        return false;
    *ret = (struct dl_phdr_info){
        .dlpi_addr = loaded->bias,
        .dlpi_name = loaded->name,
        .dlpi_phdr = (const ElfW(Phdr) *)(const void *)((const char *)elf + elf->e_phoff),
        .dlpi_phnum = elf->e_phnum,
    };
    return true;
}

bool fm_module_meet(uint64_t address)
{
    struct fm_loaded loaded;
    struct dl_phdr_info info;
    if (!fm_loaded_at(address, &loaded) || !describe(&loaded, &info) || current == NULL ||
        !fm_lock_try(&refresh_lock))
        return false;
    const struct module_list *old = current;
    uint32_t capacity = old->count + 1;
    struct module_list *list = fm_private_alloc(sizeof *list + capacity * sizeof(struct module));
    struct refresh refresh = {.list = list,
                              .old = old,
                              .capacity = capacity,
                              .epoch = fm_process.header->module_epoch + 1};
    if (list != NULL) {
        memcpy(list->modules, old->modules, old->count * sizeof(struct module));
        list->count = old->count;
        visit(&info, sizeof info, &refresh);
        if (refresh.changed)
            fm_process.header->module_epoch = refresh.epoch;
        __atomic_store_n(&current, list, __ATOMIC_RELEASE);
    }
    fm_lock_give(&refresh_lock);
    return list != NULL && fm_module_known(address);
}

/* A shared object that is still mapped says that it will be unloaded (library.c). If a hook in it
 * runs again, it is listed again. */
FM_EXPORT void fm_module_leaves_v1(const void *inside)
{
    if (fm_process.state != FM_RECORDING || fm_process_is_copy() ||
        fm_process.header->state != FM_REC_RUNNING)
        return;
    uint64_t address = (uint64_t)inside;
    uint64_t mask = fm_block_signals();
    fm_lock_take(&refresh_lock);
    const struct module_list *old = current;
    size_t bytes = sizeof *old + (old == NULL ? 0 : old->count) * sizeof(struct module);
    struct module_list *list = old == NULL ? NULL : fm_private_alloc(bytes);
    struct fm_rec_module *gone = NULL;
    for (uint32_t i = 0; list != NULL && i < old->count; i++) {
        if (old->modules[i].start <= address && address < old->modules[i].end)
            gone = old->modules[i].rec;
        else
            list->modules[list->count++] = old->modules[i];
    }
    if (gone != NULL) {
        gone->unloaded = fm_process.header->module_epoch + 1;
        fm_graph_purge(gone->start, gone->end);
        fm_unwind_forget();
        fm_process.header->module_epoch = gone->unloaded;
        __atomic_store_n(&current, list, __ATOMIC_RELEASE);
    } else if (list != NULL) {
        fm_private_free(list, bytes);
    }
    fm_lock_give(&refresh_lock);
    fm_restore_signals(mask);
}

/* Copies a record from the parent's file to the child's. */
static struct fm_rec_module *record_copy(const struct fm_rec_module *old, const char *old_base,
                                         uint32_t epoch)
{
    const struct fm_rec_text *path = (const void *)(old_base + (uint64_t)old->path * FM_REC_UNIT);
    uint32_t text = fm_arena_text(path->bytes, path->size);
    struct fm_rec_module *rec = fm_arena_alloc_shared(sizeof *rec);
    if (rec == NULL || text == 0) {
        fm_process.header->dropped_modules++;
        return NULL;
    }
    *rec = *old;
    rec->path = text;
    rec->loaded = epoch;
    rec->unloaded = FM_REC_STILL_LOADED;
    rec->next = fm_process.header->first_module;
    __atomic_store_n(&fm_process.header->first_module, fm_ref(rec), __ATOMIC_RELEASE);
    return rec;
}

/* The child continues with its parent's list. The loader is not asked: another thread of the parent
 * may have held its lock, which is never released here; and after chroot() its names are wrong. */
void fm_modules_after_fork(const char *old_base)
{
    const struct module_list *old = current;
    size_t bytes = sizeof *old + (old == NULL ? 0 : old->count) * sizeof(struct module);
    struct module_list *list = fm_private_alloc(bytes);
    uint32_t epoch = fm_process.header->module_epoch + 1;
    for (uint32_t i = 0; list != NULL && old != NULL && i < old->count; i++) {
        struct module *copy = &list->modules[list->count++];
        *copy = old->modules[i];
        if (copy->rec != NULL)
            copy->rec = record_copy(copy->rec, old_base, epoch);
    }
    fm_process.header->module_epoch = epoch;
    current = list;
}

static const struct module *module_of(uint64_t address)
{
    const struct module_list *list = __atomic_load_n(&current, __ATOMIC_ACQUIRE);
    for (uint32_t i = 0; list != NULL && i < list->count; i++)
        if (list->modules[i].start <= address && address < list->modules[i].end)
            return &list->modules[i];
    return NULL;
}

const struct fm_rec_module *fm_module_record(uint64_t address)
{
    const struct module *m = module_of(address);
    return m != NULL ? m->rec : NULL;
}

bool fm_module_known(uint64_t address)
{
    return module_of(address) != NULL;
}

static void set_flag(uint64_t address, uint32_t flag)
{
    const struct module *m = module_of(address);
    if (m != NULL && m->rec != NULL && (m->rec->flags & flag) == 0)
        __atomic_fetch_or(&m->rec->flags, flag, __ATOMIC_RELAXED);
}

void fm_module_set_instrumented(uint64_t address)
{
    set_flag(address, FM_REC_MODULE_INSTRUMENTED);
}

void fm_module_set_unwound(uint64_t address)
{
    set_flag(address, FM_REC_MODULE_UNWOUND);
}

bool fm_module_is_instrumented(uint64_t address)
{
    const struct module *m = module_of(address);
    return m != NULL && m->rec != NULL && (m->rec->flags & FM_REC_MODULE_INSTRUMENTED) != 0;
}

uint64_t fm_function_start(uint64_t pc)
{
    struct fm_unwind_table table;
    struct fm_unwind_entry entry;
    bool found = fm_unwind_table_of(pc, &table) && fm_unwind_entry_find(&table, pc, &entry, NULL);
    return found ? entry.start : 0;
}

#define UNWIND_STEPS_MAX 1024u

uint64_t fm_unwind_to(const struct fm_stack *stack, uint64_t cfa, uint64_t function)
{
    struct fm_unwind_registers registers;
    struct fm_unwind walk;
    fm_unwind_registers_here(&registers);
    /* Only bounds that are known; below the stack pointer nothing is to be read. */
    bool known = !stack->guessed && registers.value[FM_UNWIND_RSP] >= stack->low;
    fm_unwind_begin(&walk, &registers, known ? registers.value[FM_UNWIND_RSP] : 0,
                    known ? stack->high : 0);
    for (unsigned i = 0; i < UNWIND_STEPS_MAX; i++) {
        uint64_t ip = walk.ip;
        if (walk.guesses > 0 && function != 0 && fm_function_start(ip - 1) == function)
            return ip; /* the frame pointer is a guess, too, so the CFA may not be met */
        if (fm_unwind_step(&walk) != FM_UNWIND_FRAME)
            return 0;
        if (walk.sp == cfa)
            return walk.guesses == 0 ? ip : 0;
    }
    return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Which shared object an address belongs to, where functions begin, and unwinding. */
#include "internal.h"

#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <unwind.h>

/* The list in use is a copy in private memory, published whole, so that lookups take no lock. */
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
            getcwd(path, sizeof path) != NULL) {
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
        if (refresh.changed)
            fm_process.header->module_epoch = refresh.epoch;
        /* The old list stays: another thread may be reading it. It is small and changes seldom. */
        __atomic_store_n(&current, list, __ATOMIC_RELEASE);
    }
    fm_lock_give(&refresh_lock);
    fm_restore_signals(mask);
}

/* A shared object that is still mapped says that it leaves (library.c). Should a hook in it run
 * once more, it is listed anew. */
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
        fm_process.header->module_epoch = gone->unloaded;
        __atomic_store_n(&current, list, __ATOMIC_RELEASE);
    } else if (list != NULL) {
        fm_private_free(list, bytes);
    }
    fm_lock_give(&refresh_lock);
    fm_restore_signals(mask);
}

/* Of the parent's file into the child's. */
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

/* The child goes on with the list that its parent had. The loader is not asked: another thread of
 * the parent's may have held its lock, which then nobody gives back here; and after chroot() its
 * names lead nowhere. */
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

void fm_module_set_instrumented(uint64_t address)
{
    const struct module *m = module_of(address);
    if (m != NULL && m->rec != NULL && (m->rec->flags & FM_REC_MODULE_INSTRUMENTED) == 0)
        __atomic_fetch_or(&m->rec->flags, FM_REC_MODULE_INSTRUMENTED, __ATOMIC_RELAXED);
}

bool fm_module_is_instrumented(uint64_t address)
{
    const struct module *m = module_of(address);
    return m != NULL && m->rec != NULL && (m->rec->flags & FM_REC_MODULE_INSTRUMENTED) != 0;
}

/* The sorted table that linkers write for unwinding: .eh_frame_hdr version 1, offsets of 4 bytes
 * relative to the table's start (Linux Standard Base, "Exception Frames"). */
struct eh_frame_header {
    uint8_t version, frame_encoding, count_encoding, table_encoding;
    int32_t frame;
    uint32_t count;
    struct {
        int32_t start, entry;
    } table[];
};
#define EH_UDATA4 0x03
#define EH_SDATA4_FROM_TABLE 0x3b

/* Whether pc is in the function that begins at start, by the entry for it (an FDE: length, CIE,
 * start, size). Linkers write start and size in 4 bytes, relative to the place, or in 8. */
static bool entry_contains(const char *entry, uint64_t start, uint64_t pc)
{
    int32_t start4;
    uint32_t bytes4;
    int64_t start8;
    uint64_t bytes8;
    const char *place = entry + 8;
    memcpy(&start4, place, sizeof start4);
    if ((uint64_t)place + (uint64_t)(int64_t)start4 == start) {
        memcpy(&bytes4, place + 4, sizeof bytes4);
        return pc - start < bytes4;
    }
    memcpy(&start8, place, sizeof start8);
    memcpy(&bytes8, place + 8, sizeof bytes8);
    if ((uint64_t)place + (uint64_t)start8 == start || (uint64_t)start8 == start)
        return pc - start < bytes8;
    return true; /* not known */
}

uint64_t fm_function_start(uint64_t pc)
{
    struct dl_find_object object;
    if (_dl_find_object((void *)pc, &object) != 0 || object.dlfo_eh_frame == NULL)
        return 0;
    const struct eh_frame_header *header = object.dlfo_eh_frame;
    if (header->version != 1 || header->count_encoding != EH_UDATA4 ||
        header->table_encoding != EH_SDATA4_FROM_TABLE || header->count == 0)
        return 0;
    int64_t want = (int64_t)(pc - (uint64_t)header);
    uint32_t low = 0, high = header->count; /* the answer is in [low, high) */
    while (high - low > 1) {
        uint32_t middle = low + (high - low) / 2;
        if (header->table[middle].start <= want)
            low = middle;
        else
            high = middle;
    }
    if (header->table[low].start > want)
        return 0;
    uint64_t start = (uint64_t)header + (uint64_t)(int64_t)header->table[low].start;
    /* Below code without unwind tables stands another's entry. */
    const char *entry = (const char *)header + header->table[low].entry;
    return entry_contains(entry, start, pc) ? start : 0;
}

/* The unwinder is libgcc's. Programs in C need not have it: then it is loaded, once, at the start
 * (loading is not possible later, inside a signal handler). A fully static program has it linked
 * in: a loaded one would bring a second libc. The linker warns of that wherever it reads the name
 * dlopen, so it is looked up. */
#pragma weak dlsym
#pragma weak _Unwind_Backtrace
#pragma weak _Unwind_GetCFA
#pragma weak _Unwind_GetIP
typedef _Unwind_Reason_Code (*backtrace_fn)(_Unwind_Trace_Fn, void *);
static backtrace_fn unwind_backtrace;
static _Unwind_Word (*unwind_cfa)(struct _Unwind_Context *);
static _Unwind_Ptr (*unwind_ip)(struct _Unwind_Context *);

void fm_unwind_prepare(void)
{
    if (_Unwind_Backtrace != NULL && _Unwind_GetCFA != NULL && _Unwind_GetIP != NULL) {
        unwind_cfa = _Unwind_GetCFA;
        unwind_ip = _Unwind_GetIP;
        unwind_backtrace = _Unwind_Backtrace;
        return;
    }
    void *(*load)(const char *, int);
    void *found = dlsym != NULL ? dlsym(RTLD_DEFAULT, "dlopen") : NULL;
    memcpy(&load, &found, sizeof load);
    if (found == NULL)
        return;
    void *library = load("libgcc_s.so.1", RTLD_LAZY | RTLD_LOCAL);
    if (library == NULL)
        return;
    void *backtrace = dlsym(library, "_Unwind_Backtrace");
    void *cfa = dlsym(library, "_Unwind_GetCFA");
    void *ip = dlsym(library, "_Unwind_GetIP");
    if (backtrace == NULL || cfa == NULL || ip == NULL)
        return;
    memcpy(&unwind_cfa, &cfa, sizeof cfa);
    memcpy(&unwind_ip, &ip, sizeof ip);
    memcpy(&unwind_backtrace, &backtrace, sizeof backtrace);
}

#define UNWIND_STEPS 256u
struct unwind {
    uint64_t cfa;
    uint64_t inner_pc;
    uint64_t found;
    unsigned steps;
};

/* A context's "CFA" is the stack pointer in its frame, that is the CFA of the frame inside it. */
static _Unwind_Reason_Code unwind_step(struct _Unwind_Context *context, void *data)
{
    struct unwind *unwind = data;
    if (unwind_cfa(context) == unwind->cfa && unwind->inner_pc != 0) {
        unwind->found = unwind->inner_pc;
        return _URC_END_OF_STACK;
    }
    unwind->inner_pc = unwind_ip(context);
    return ++unwind->steps < UNWIND_STEPS ? _URC_NO_REASON : _URC_END_OF_STACK;
}

uint64_t fm_unwind_to(uint64_t cfa)
{
    if (unwind_backtrace == NULL)
        return 0;
    struct unwind unwind = {.cfa = cfa};
    unwind_backtrace(unwind_step, &unwind);
    return unwind.found;
}

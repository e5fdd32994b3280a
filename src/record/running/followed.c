/* SPDX-License-Identifier: Apache-2.0 */
#include "record/running/followed.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "record/raw/bytes.h"

/* In the map from references: 0 = not seen, else 1 + index, with this bit for an edge. */
#define EDGE_MARK 0x80000000u
#define FLOWS_MAX 4096u /* limit for one record: the runtime keeps the rest in sums */

struct fm_followed_private {
    int file;
    struct fm_raw_bytes bytes;
    GArray *edges, *contexts, *functions, *modules;
    GArray *seen;            /* uint32_t per reference */
    GHashTable *by_function; /* struct fm_followed_function -> index + 1 */
    GStringChunk *texts;
    uint32_t newest_module;
};

static guint hash_function(gconstpointer key)
{
    const struct fm_followed_function *function = key;
    return (guint)(function->address * 0x9E3779B97F4A7C15u >> 32) ^ function->module;
}

static gboolean equal_functions(gconstpointer left, gconstpointer right)
{
    const struct fm_followed_function *a = left, *b = right;
    return a->address == b->address && a->module == b->module &&
           (a->module != FM_FOLLOWED_NONE || a->epoch == b->epoch);
}

static void publish(struct fm_followed *watch)
{
    struct fm_followed_private *own = watch->own;
    watch->edges = (const struct fm_followed_edge *)(void *)own->edges->data;
    watch->edge_count = own->edges->len;
    watch->contexts = (const struct fm_followed_context *)(void *)own->contexts->data;
    watch->context_count = own->contexts->len;
    watch->functions = (const struct fm_followed_function *)(void *)own->functions->data;
    watch->function_count = own->functions->len;
    watch->modules = (const struct fm_raw_module *)(void *)own->modules->data;
    watch->module_count = own->modules->len;
}

/* New modules are at the head; others may have ended. */
static bool read_modules(struct fm_followed *watch, GError **error)
{
    struct fm_followed_private *own = watch->own;
    const struct fm_raw_bytes *bytes = &own->bytes;
    g_autoptr(GArray) refs = g_array_new(FALSE, FALSE, sizeof(uint32_t));
    for (uint32_t ref = watch->header.first_module; ref != 0;) {
        const struct fm_rec_module *module = fm_raw_bytes_at(bytes, ref, sizeof *module);
        if (module == NULL || refs->len > bytes->size / sizeof *module)
            return fm_raw_bytes_fail(bytes, ref, "no module", "the next module", error);
        g_array_append_val(refs, ref);
        ref = module->next;
    }
    for (guint i = 0; i < refs->len; i++) { /* oldest first: indices stay */
        uint32_t ref = g_array_index(refs, uint32_t, refs->len - 1 - i);
        const struct fm_rec_module *module = fm_raw_bytes_at(bytes, ref, sizeof *module);
        if (i < own->modules->len) {
            g_array_index(own->modules, struct fm_raw_module, i).unloaded = module->unloaded;
            continue;
        }
        uint32_t id_size = MIN(module->build_id_bytes, (uint32_t)sizeof module->build_id);
        struct fm_raw_module raw = {
            .path = g_string_chunk_insert(own->texts, fm_raw_bytes_text(bytes, module->path)),
            .start = module->start,
            .end = module->end,
            .bias = module->bias,
            .loaded = module->loaded,
            .unloaded = module->unloaded,
            .flags = module->flags,
            .build_id = (const uint8_t *)g_string_chunk_insert_len(
                own->texts, (const char *)module->build_id, (gssize)id_size),
            .build_id_size = id_size,
        };
        g_array_append_val(own->modules, raw);
    }
    return true;
}

static uint32_t module_at(const struct fm_followed_private *own, uint64_t address, uint32_t epoch)
{
    for (guint i = own->modules->len; i-- > 0;) {
        const struct fm_raw_module *module = &g_array_index(own->modules, struct fm_raw_module, i);
        if (module->start <= address && address < module->end && module->loaded <= epoch &&
            epoch < module->unloaded)
            return i;
    }
    return FM_FOLLOWED_NONE;
}

static uint32_t function_at(struct fm_followed_private *own, uint64_t address, uint32_t epoch)
{
    bool special = address <= FM_REC_FN_SPECIAL_MAX;
    struct fm_followed_function key = {address, special ? 0 : epoch,
                                       special ? FM_FOLLOWED_NONE : module_at(own, address, epoch)};
    gpointer found = g_hash_table_lookup(own->by_function, &key);
    if (found != NULL)
        return GPOINTER_TO_UINT(found) - 1;
    g_array_append_val(own->functions, key);
    g_hash_table_insert(own->by_function, g_memdup2(&key, sizeof key),
                        GUINT_TO_POINTER(own->functions->len));
    return own->functions->len - 1;
}

static uint32_t *seen_at(const struct fm_followed_private *own, uint32_t ref)
{
    return &g_array_index(own->seen, uint32_t, ref);
}

static uint32_t context_at(struct fm_followed_private *own, uint32_t ref, uint32_t thread)
{
    const struct fm_rec_pd *pd = fm_raw_bytes_at(&own->bytes, ref, sizeof *pd);
    if (ref == 0 || pd == NULL || (*seen_at(own, ref) & EDGE_MARK) != 0)
        return FM_FOLLOWED_NONE;
    if (*seen_at(own, ref) == 0) {
        struct fm_followed_context context = {
            .maker = FM_FOLLOWED_NONE,
            .function = function_at(own, pd->fn, pd->epoch),
            .thread = thread,
            .ref = ref,
        };
        g_array_append_val(own->contexts, context);
        *seen_at(own, ref) = own->contexts->len;
    }
    return *seen_at(own, ref) - 1;
}

static const struct fm_followed_context *context_of(const struct fm_followed_private *own,
                                                    uint32_t context)
{
    return &g_array_index(own->contexts, struct fm_followed_context, context);
}

/* Whether it may have created the callee: creators must not form a cycle. Usually a context is
 * first found by the edge that created it; one in a recursion may be found by another edge to
 * it. */
static bool may_make(const struct fm_followed_private *own, uint32_t caller, uint32_t callee)
{
    if (caller == FM_FOLLOWED_NONE || caller < callee)
        return true;
    while (caller != callee) {
        uint32_t maker = context_of(own, caller)->maker;
        caller = maker == FM_FOLLOWED_NONE
                     ? FM_FOLLOWED_NONE
                     : g_array_index(own->edges, struct fm_followed_edge, maker).caller;
        if (caller == FM_FOLLOWED_NONE)
            return true;
    }
    return false;
}

static bool add_edge(struct fm_followed_private *own, uint32_t ref, uint32_t caller,
                     uint32_t thread, GError **error)
{
    const struct fm_rec_csd *csd = fm_raw_bytes_at(&own->bytes, ref, sizeof *csd);
    if (csd == NULL || *seen_at(own, ref) != 0)
        return fm_raw_bytes_fail(&own->bytes, ref,
                                 csd == NULL ? "outside the file" : "a node seen before",
                                 "a call edge", error);
    struct fm_followed_edge edge = {
        .caller = caller,
        .callee = context_at(own, csd->callee, thread),
        .ref = ref,
        .made = (csd->epoch_flags & FM_REC_CSD_MADE_CALLEE) != 0,
    };
    if (edge.callee == FM_FOLLOWED_NONE)
        return fm_raw_bytes_fail(&own->bytes, csd->callee, "no procedure",
                                 "the callee of a call edge", error);
    struct fm_followed_context *callee =
        &g_array_index(own->contexts, struct fm_followed_context, edge.callee);
    edge.made =
        edge.made && callee->maker == FM_FOLLOWED_NONE && may_make(own, caller, edge.callee);
    if (edge.made)
        callee->maker = own->edges->len;
    g_array_append_val(own->edges, edge);
    *seen_at(own, ref) = own->edges->len | EDGE_MARK;
    return true;
}

static bool read_threads(struct fm_followed *watch, GError **error)
{
    struct fm_followed_private *own = watch->own;
    size_t size = offsetof(struct fm_rec_thread, charges);
    uint64_t steps = 0;
    for (uint32_t ref = watch->header.first_thread; ref != 0;) {
        const struct fm_rec_thread *thread = fm_raw_bytes_at(&own->bytes, ref, size);
        if (thread == NULL || ++steps > own->bytes.size / size)
            return fm_raw_bytes_fail(&own->bytes, ref, "no thread", "the next thread", error);
        uint32_t *seen = seen_at(own, ref);
        /* One without root has just begun. */
        if (*seen == 0 && thread->root_pd != 0 && thread->root_csd != 0) {
            *seen = EDGE_MARK; /* no edge: just seen */
            uint32_t index = watch->thread_count++;
            if (context_at(own, thread->root_pd, index) == FM_FOLLOWED_NONE)
                return fm_raw_bytes_fail(&own->bytes, thread->root_pd, "no procedure",
                                         "the root of a thread", error);
            if (!add_edge(own, thread->root_csd, FM_FOLLOWED_NONE, index, error))
                return false;
        }
        ref = thread->next;
    }
    return true;
}

/* Reads edges before the known ones, and their callees. */
static bool read_nodes(struct fm_followed_private *own, GError **error)
{
    for (guint i = 0; i < own->contexts->len; i++) {
        struct fm_followed_context context =
            g_array_index(own->contexts, struct fm_followed_context, i);
        const struct fm_rec_pd *pd = fm_raw_bytes_at(&own->bytes, context.ref, sizeof *pd);
        if (pd == NULL)
            return fm_raw_bytes_fail(&own->bytes, context.ref, "outside the file", "a procedure",
                                     error);
        for (uint32_t ref = pd->first_csd; ref != context.newest;) {
            if (ref == 0)
                return fm_raw_bytes_fail(&own->bytes, context.ref, "edges that were there are gone",
                                         "a list that only grows", error);
            if (!add_edge(own, ref, i, context.thread, error))
                return false;
            ref = ((const struct fm_rec_csd *)fm_raw_bytes_at(&own->bytes, ref,
                                                              sizeof(struct fm_rec_csd)))
                      ->next;
        }
        g_array_index(own->contexts, struct fm_followed_context, i).newest = pd->first_csd;
    }
    return true;
}

/* --- counters --- */

struct wait_clock {
    double ns_per_tick;
};

static struct wait_clock clock_of(const struct fm_rec_header *header)
{
    const struct fm_rec_moment *first = &header->wait_first;
    const struct fm_rec_moment *last = &header->wait_latest[header->wait_latest_at & 1];
    bool known = header->version > 2 && header->wait_clock == FM_REC_CLOCK_TSC &&
                 last->ticks > first->ticks && last->ns > first->ns;
    return (struct wait_clock){
        known ? (double)(last->ns - first->ns) / (double)(last->ticks - first->ticks) : 1};
}

static uint64_t ticks_waited(const struct fm_raw_bytes *bytes, uint64_t ref)
{
    uint64_t sum = 0;
    for (uint64_t steps = 0; ref != 0 && ref <= UINT32_MAX && steps < FM_REC_WAIT_KINDS_END;
         steps++) {
        const struct fm_rec_wait *wait = fm_raw_bytes_at(bytes, (uint32_t)ref, sizeof *wait);
        if (wait == NULL)
            break;
        sum += wait->ticks;
        ref = wait->next;
    }
    return sum;
}

static uint64_t bytes_given_back(const struct fm_raw_bytes *bytes, const struct fm_rec_alloc *alloc)
{
    uint64_t sum = alloc->own_freed + alloc->far_freed, steps = 0;
    for (uint32_t ref = alloc->first_out; ref != 0 && steps < FLOWS_MAX; steps++) {
        const struct fm_rec_flow *flow = fm_raw_bytes_at(bytes, ref, sizeof *flow);
        if (flow == NULL)
            break;
        sum += flow->bytes;
        ref = flow->next_out;
    }
    return sum;
}

static void take_max(uint64_t *value, uint64_t now)
{
    if (now > *value)
        *value = now;
}

/* A counter with overflow in another place lags for a moment: the previous value stays. */
static void count_edge(const struct fm_followed *watch, struct fm_followed_edge *edge,
                       struct wait_clock clock)
{
    const struct fm_raw_bytes *bytes = &watch->own->bytes;
    const struct fm_rec_csd *csd = fm_raw_bytes_at(bytes, edge->ref, sizeof *csd);
    if (csd == NULL)
        return;
    uint64_t quanta = csd->quanta, *of = edge->counts.of;
    for (uint32_t ref = csd->side, steps = 0; ref != 0 && steps < 16; steps++) {
        const struct fm_rec_side *side = fm_raw_bytes_at(bytes, ref, sizeof *side);
        if (side == NULL)
            break;
        if (side->kind == FM_REC_SIDE_QUANTA_CARRY)
            quanta += side->value << 32;
        else if (side->kind == FM_REC_SIDE_CHARGED)
            of[FM_FOLLOWED_CHARGED] = side->value;
        else if (side->kind == FM_REC_SIDE_MOVED)
            of[FM_FOLLOWED_MOVED] = side->value;
        else if (side->kind == FM_REC_SIDE_WAITS && watch->header.version > 2)
            take_max(&of[FM_FOLLOWED_WAIT_NS],
                     (uint64_t)((double)ticks_waited(bytes, side->value) * clock.ns_per_tick));
        ref = side->next;
    }
    take_max(&of[FM_FOLLOWED_CALLS], csd->calls);
    take_max(&of[FM_FOLLOWED_QUANTA], quanta);
    const struct fm_rec_alloc *alloc =
        csd->alloc == 0 ? NULL : fm_raw_bytes_at(bytes, csd->alloc, FM_REC_ALLOC_BYTES_OLD);
    if (alloc == NULL)
        return;
    /* The file was not read in one moment: allocations are read later than frees. */
    const struct fm_rec_alloc *whole =
        fm_followed_has_held(watch) ? fm_raw_bytes_at(bytes, csd->alloc, sizeof *whole) : NULL;
    uint64_t given_back = whole == NULL ? 0 : bytes_given_back(bytes, whole);
    take_max(&of[FM_FOLLOWED_ALLOCS], alloc->allocs);
    take_max(&of[FM_FOLLOWED_BYTES], alloc->bytes);
    take_max(&of[FM_FOLLOWED_GIVEN_BACK], MIN(given_back, of[FM_FOLLOWED_BYTES]));
}

static void count_all(struct fm_followed *watch)
{
    struct fm_followed_private *own = watch->own;
    struct wait_clock clock = clock_of(&watch->header);
    for (guint i = 0; i < own->edges->len; i++)
        count_edge(watch, &g_array_index(own->edges, struct fm_followed_edge, i), clock);
}

/* --- reading --- */

/* Another file in the place of the recording, or a truncated one, cannot be followed. */
static bool check_same(const struct fm_followed *watch, const struct fm_rec_header *header,
                       size_t bytes, GError **error)
{
    if (watch->readings > 0 && (header->pid != watch->header.pid ||
                                header->start_monotonic_ns != watch->header.start_monotonic_ns)) {
        g_set_error(error, FM_ERROR, FM_ERROR_FORMAT,
                    "%s: offset 0: it is the recording of another process now", watch->path);
        return false;
    }
    if (bytes / FM_REC_UNIT + 1 < watch->own->seen->len) {
        g_set_error(error, FM_ERROR, FM_ERROR_TRUNCATED,
                    "%s: offset %zu: the file ends here now, expected %zu bytes", watch->path,
                    bytes, (size_t)(watch->own->seen->len - 1) * FM_REC_UNIT);
        return false;
    }
    return true;
}

bool fm_followed_read(struct fm_followed *watch, GError **error)
{
    g_return_val_if_fail(watch != NULL, false);
    struct fm_followed_private *own = watch->own;
    struct fm_rec_header header;
    if (!fm_raw_bytes_read_again(&own->bytes, own->file, &header, error) ||
        !check_same(watch, &header, own->bytes.size, error))
        return false;
    watch->header = header;
    g_array_set_size(own->seen, (guint)(own->bytes.size / FM_REC_UNIT + 1));
    bool ok = read_modules(watch, error) && read_threads(watch, error) && read_nodes(own, error);
    publish(watch);
    if (!ok)
        return false;
    count_all(watch);
    watch->readings++;
    return true;
}

bool fm_followed_open(const char *path, struct fm_followed **ret, GError **error)
{
    g_return_val_if_fail(path != NULL && ret != NULL, false);
    int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (file < 0) {
        g_set_error(error, FM_ERROR, FM_ERROR_IO, "%s: %s", path, g_strerror(errno));
        return false;
    }
    g_autoptr(FmFollowed) watch = g_new0(struct fm_followed, 1);
    struct fm_followed_private *own = watch->own = g_new0(struct fm_followed_private, 1);
    watch->path = g_strdup(path);
    own->file = file;
    own->bytes.path = watch->path;
    own->edges = g_array_new(FALSE, FALSE, sizeof(struct fm_followed_edge));
    own->contexts = g_array_new(FALSE, FALSE, sizeof(struct fm_followed_context));
    own->functions = g_array_new(FALSE, FALSE, sizeof(struct fm_followed_function));
    own->modules = g_array_new(FALSE, FALSE, sizeof(struct fm_raw_module));
    own->seen = g_array_new(FALSE, TRUE, sizeof(uint32_t));
    own->by_function = g_hash_table_new_full(hash_function, equal_functions, g_free, NULL);
    own->texts = g_string_chunk_new(4096);
    publish(watch);
    if (!fm_followed_read(watch, error))
        return false;
    *ret = g_steal_pointer(&watch);
    return true;
}

void fm_followed_free(struct fm_followed *watch)
{
    if (watch == NULL)
        return;
    struct fm_followed_private *own = watch->own;
    close(own->file);
    fm_raw_bytes_done(&own->bytes);
    g_array_unref(own->edges);
    g_array_unref(own->contexts);
    g_array_unref(own->functions);
    g_array_unref(own->modules);
    g_array_unref(own->seen);
    g_hash_table_unref(own->by_function);
    g_string_chunk_free(own->texts);
    g_free(own);
    g_free(watch->path);
    g_free(watch);
}

bool fm_followed_is_running(const struct fm_followed *watch)
{
    return fm_raw_header_is_live(&watch->header);
}

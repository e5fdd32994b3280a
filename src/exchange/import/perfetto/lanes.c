/* SPDX-License-Identifier: Apache-2.0 */
#include "exchange/import/perfetto/lanes.h"

#include "base/hash.h"
#include "exchange/import/ids.h"

enum { TRACK_ID = 1, TRACK_NAME, TRACK_PROCESS, TRACK_THREAD, TRACK_PARENT };
enum { THREAD_PID = 1, THREAD_TID, THREAD_NAME = 5 };
enum { PROCESS_PID = 1, PROCESS_COMMAND, PROCESS_NAME = 6 };
enum { TREE_PROCESSES = 1, TREE_THREADS };
enum { TREE_THREAD_TID = 1, TREE_THREAD_NAME, TREE_THREAD_PID };

struct lane {
    char *name; /* NULL = not known */
    uint64_t pid, tid, parent;
    uint32_t spans;
    bool used, threaded;
};

struct fm_perfetto_lanes {
    struct fm_spans *spans;
    GArray *lanes;                 /* struct lane */
    struct fm_import_ids *tracks;  /* by uuid: lane + 1 */
    struct fm_import_ids *threads; /* by pid and tid: lane + 1 */
    GHashTable *processes;         /* pid -> name */
};

static void clear_lane(gpointer data)
{
    g_free(((struct lane *)data)->name);
}

struct fm_perfetto_lanes *fm_perfetto_lanes_new(struct fm_spans *spans)
{
    struct fm_perfetto_lanes *l = g_new0(struct fm_perfetto_lanes, 1);
    l->spans = spans;
    l->lanes = g_array_new(FALSE, TRUE, sizeof(struct lane));
    g_array_set_clear_func(l->lanes, clear_lane);
    l->tracks = fm_import_ids_new();
    l->threads = fm_import_ids_new();
    l->processes = g_hash_table_new_full(fm_int64_hash, g_int64_equal, g_free, g_free);
    return l;
}

void fm_perfetto_lanes_free(struct fm_perfetto_lanes *l)
{
    if (l == NULL)
        return;
    g_array_unref(l->lanes);
    fm_import_ids_free(l->tracks);
    fm_import_ids_free(l->threads);
    g_hash_table_unref(l->processes);
    g_free(l);
}

static void remember(struct fm_import_ids *ids, uint64_t key, uint32_t lane)
{
    fm_import_ids_put(ids, key, lane + 1);
}

/* UINT32_MAX: there is none yet. */
static uint32_t find(const struct fm_import_ids *ids, uint64_t key)
{
    return fm_import_ids_find(ids, key) - 1;
}

static uint32_t lane_in(struct fm_perfetto_lanes *l, struct fm_import_ids *table, uint64_t key)
{
    uint32_t lane = find(table, key);
    if (lane != UINT32_MAX)
        return lane;
    struct lane made = {.spans = fm_spans_add_lane(l->spans)};
    g_array_append_val(l->lanes, made);
    remember(table, key, l->lanes->len - 1);
    return l->lanes->len - 1;
}

static struct lane *at(const struct fm_perfetto_lanes *l, uint32_t lane)
{
    return &g_array_index(l->lanes, struct lane, lane);
}

uint32_t fm_perfetto_lanes_track(struct fm_perfetto_lanes *l, uint64_t track)
{
    return lane_in(l, l->tracks, track);
}

static uint64_t key_of(uint64_t pid, uint64_t tid)
{
    return pid << 32 | (tid & UINT32_MAX);
}

uint32_t fm_perfetto_lanes_thread(struct fm_perfetto_lanes *l, uint64_t pid, uint64_t tid)
{
    uint32_t lane = lane_in(l, l->threads, key_of(pid, tid));
    at(l, lane)->pid = pid;
    at(l, lane)->tid = tid;
    at(l, lane)->threaded = true;
    return lane;
}

static void set_name(struct lane *lane, const struct fm_field *name)
{
    if (name->wire != FM_WIRE_BYTES || name->size == 0)
        return;
    g_free(lane->name);
    lane->name = g_strndup((const char *)name->bytes, name->size);
}

static void set_process(struct fm_perfetto_lanes *l, uint64_t pid, const struct fm_field *name)
{
    if (name->wire == FM_WIRE_BYTES && name->size > 0)
        g_hash_table_replace(l->processes, g_memdup2(&pid, sizeof pid),
                             g_strndup((const char *)name->bytes, name->size));
}

void fm_perfetto_lanes_process_named(struct fm_perfetto_lanes *l, const struct fm_field *process)
{
    struct fm_field field, name = {0}, command = {0};
    uint64_t pid = 0;
    for (struct fm_fields fields = fm_fields_in(process); fm_fields_next(&fields, &field);) {
        if (field.number == PROCESS_PID)
            pid = field.value;
        else if (field.number == PROCESS_NAME)
            name = field;
        else if (field.number == PROCESS_COMMAND && command.number == 0)
            command = field;
    }
    set_process(l, pid, name.number != 0 ? &name : &command);
}

static void read_thread(const struct fm_field *thread, uint64_t *pid, uint64_t *tid,
                        struct fm_field *name)
{
    struct fm_field field;
    *pid = *tid = 0;
    *name = (struct fm_field){0};
    for (struct fm_fields fields = fm_fields_in(thread); fm_fields_next(&fields, &field);) {
        if (field.number == THREAD_PID)
            *pid = field.value;
        else if (field.number == THREAD_TID)
            *tid = field.value;
        else if (field.number == THREAD_NAME)
            *name = field;
    }
}

void fm_perfetto_lanes_thread_named(struct fm_perfetto_lanes *l, const struct fm_field *thread)
{
    uint64_t pid, tid;
    struct fm_field name;
    read_thread(thread, &pid, &tid, &name);
    set_name(at(l, fm_perfetto_lanes_thread(l, pid, tid)), &name);
}

void fm_perfetto_lanes_describe(struct fm_perfetto_lanes *l, const struct fm_field *track)
{
    struct fm_field field, of[TRACK_PARENT + 1] = {{0}};
    for (struct fm_fields fields = fm_fields_in(track); fm_fields_next(&fields, &field);) {
        if (field.number <= TRACK_PARENT)
            of[field.number] = field;
    }
    uint64_t track_id = of[TRACK_ID].value;
    uint32_t lane = find(l->tracks, track_id);
    if (of[TRACK_THREAD].wire == FM_WIRE_BYTES) {
        uint64_t pid, tid;
        struct fm_field name;
        read_thread(&of[TRACK_THREAD], &pid, &tid, &name);
        if (lane == UINT32_MAX) {
            lane = fm_perfetto_lanes_thread(l, pid, tid);
            remember(l->tracks, track_id, lane);
        } else if (find(l->threads, key_of(pid, tid)) == UINT32_MAX) {
            remember(l->threads, key_of(pid, tid), lane);
        }
        at(l, lane)->pid = pid;
        at(l, lane)->tid = tid;
        at(l, lane)->threaded = true;
        set_name(at(l, lane), &name);
    }
    lane = fm_perfetto_lanes_track(l, track_id);
    at(l, lane)->parent = of[TRACK_PARENT].value;
    set_name(at(l, lane), &of[TRACK_NAME]);
    if (of[TRACK_PROCESS].wire == FM_WIRE_BYTES) {
        fm_perfetto_lanes_process_named(l, &of[TRACK_PROCESS]);
        for (struct fm_fields of_it = fm_fields_in(&of[TRACK_PROCESS]);
             fm_fields_next(&of_it, &field);) {
            if (field.number == PROCESS_PID)
                at(l, lane)->pid = field.value;
        }
    }
}

void fm_perfetto_lanes_tree(struct fm_perfetto_lanes *l, const struct fm_field *tree)
{
    struct fm_field field, inner;
    for (struct fm_fields fields = fm_fields_in(tree); fm_fields_next(&fields, &field);) {
        struct fm_field name = {0};
        uint64_t pid = 0, tid = 0;
        for (struct fm_fields of = fm_fields_in(&field); fm_fields_next(&of, &inner);) {
            bool process = field.number == TREE_PROCESSES;
            if (process && inner.number == 1)
                pid = inner.value;
            else if (process ? inner.number == 3 && name.number == 0
                             : inner.number == TREE_THREAD_NAME)
                name = inner;
            else if (!process && inner.number == TREE_THREAD_TID)
                tid = inner.value;
            else if (!process && inner.number == TREE_THREAD_PID)
                pid = inner.value;
        }
        if (field.number == TREE_PROCESSES)
            set_process(l, pid, &name);
        else if (field.number == TREE_THREADS)
            set_name(at(l, fm_perfetto_lanes_thread(l, pid, tid)), &name);
    }
}

uint32_t fm_perfetto_lanes_spans(const struct fm_perfetto_lanes *l, uint32_t lane)
{
    return at(l, lane)->spans;
}

void fm_perfetto_lanes_use(struct fm_perfetto_lanes *l, uint32_t lane)
{
    at(l, lane)->used = true;
}

static bool is_used(const struct fm_perfetto_lanes *l, uint32_t lane)
{
    return at(l, lane)->used || !fm_spans_is_empty(l->spans, at(l, lane)->spans);
}

/* The process of a track that is no thread is that of the track around it. */
static uint64_t pid_of(const struct fm_perfetto_lanes *l, const struct lane *lane)
{
    for (unsigned i = 0; i < 16 && lane->pid == 0 && lane->parent != 0; i++) {
        uint32_t parent = find(l->tracks, lane->parent);
        if (parent == UINT32_MAX)
            break;
        lane = at(l, parent);
    }
    return lane->pid;
}

static char *name_of(const struct fm_perfetto_lanes *l, const struct lane *lane, bool many)
{
    uint64_t pid = pid_of(l, lane);
    const char *process = g_hash_table_lookup(l->processes, &pid);
    g_autofree char *base = process == NULL ? NULL : g_path_get_basename(process);
    g_autofree char *own = lane->name != NULL ? g_strdup(lane->name)
                           : lane->threaded
                               ? g_strdup_printf("thread %" G_GUINT64_FORMAT, (guint64)lane->tid)
                           : base != NULL ? g_strdup(base)
                                          : g_strdup("(no track)");
    if (!many || pid == 0)
        return g_steal_pointer(&own);
    return base == NULL ? g_strdup_printf("%s (process %" G_GUINT64_FORMAT ")", own, (guint64)pid)
                        : g_strdup_printf("%s (%s %" G_GUINT64_FORMAT ")", own, base, (guint64)pid);
}

GPtrArray *fm_perfetto_lanes_names(const struct fm_perfetto_lanes *l)
{
    GPtrArray *names = g_ptr_array_new_with_free_func(g_free);
    g_autoptr(GHashTable) taken = g_hash_table_new(g_str_hash, g_str_equal);
    guint used = 0;
    uint64_t process = 0;
    bool many = false;
    for (guint i = 0; i < l->lanes->len; i++) {
        if (!is_used(l, i))
            continue;
        uint64_t pid = pid_of(l, at(l, i));
        used++;
        many = many || (process != 0 && pid != 0 && pid != process);
        process = pid != 0 ? pid : process;
    }
    for (guint i = 0; i < l->lanes->len; i++) {
        char *name = used < 2 || !is_used(l, i) ? NULL : name_of(l, at(l, i), many);
        if (name != NULL && g_hash_table_contains(taken, name)) {
            char *more = g_strdup_printf("%s, track %u", name, i + 1);
            g_free(name);
            name = more;
        }
        if (name != NULL)
            g_hash_table_add(taken, name);
        g_ptr_array_add(names, name);
    }
    return names;
}

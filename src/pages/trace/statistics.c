/* SPDX-License-Identifier: Apache-2.0 */
#include "pages/trace/statistics.h"

#include <string.h>

#include "base/error.h"

enum { NAME_INDENT_MAX = 60 };

/* "soft-interrupt" for "soft interrupt". */
static char *kind_word(unsigned kind)
{
    return g_strdelimit(g_strdup(fm_lane_kind_name((enum fm_lane_kind)kind)), " ", '-');
}

/* The words "state", "type", ..., separated by ", ". The caller frees it. */
static char *statistics_words(void)
{
    GString *words = g_string_new("state, type, tree");
    for (unsigned i = 0; i < FM_LANE_KIND_COUNT; i++) {
        char *word = kind_word(i);
        g_string_append_printf(words, ", %s", word);
        g_free(word);
    }
    return g_string_free(words, false);
}

static double seconds(uint64_t ns)
{
    return (double)ns / 1e9;
}

static guint child_count(const struct fm_statistics_node *node)
{
    return node == NULL || node->children == NULL ? 0 : node->children->len;
}

static const struct fm_statistics_node *child_at(const struct fm_statistics_node *node, guint i)
{
    return g_ptr_array_index(node->children, i);
}

/* For pages about one trace: readers may colour its columns. */
static struct fm_table *add_table(struct fm_list *body, const char *name,
                                  const struct fm_column_head *columns, size_t count)
{
    struct fm_table *table = fm_add_table(body, FM_BOX_IF_PREFERRED, name);
    fm_table_columns(table, columns, count, FM_COLOUR_IF_PREFERRED);
    return table;
}

static bool is_marks(const struct fm_statistics_node *node)
{
    return node->time == 0 && strcmp(node->name, "marks") == 0;
}

/* --- by state: lanes of a kind together --- */

struct state_row {
    const char *name;
    const char *kind;
    const uint64_t *of; /* time of all states of these lanes, if their states are known */
    enum fm_state_class state_class;
    uint64_t count, self_time, longest, longest_at, events;
};

struct state_rows {
    GHashTable *by_key; /* kind, class and name -> struct state_row */
    GPtrArray *rows;
};

/* Neither work nor waiting: a thread that has ended, or of which nothing is recorded. */
static bool is_no_activity(enum fm_state_class state_class)
{
    return state_class == FM_STATE_UNKNOWN || state_class == FM_STATE_FINISHED;
}

static void collect_states(struct state_rows *rows, const char *kind, uint64_t *of,
                           const struct fm_statistics_node *node)
{
    for (guint i = 0; i < child_count(node); i++) {
        const struct fm_statistics_node *child = child_at(node, i);
        if (is_marks(child))
            continue;
        char *key = g_strdup_printf("%s\n%u\n%s", kind, child->state_class, child->name);
        struct state_row *row = g_hash_table_lookup(rows->by_key, key);
        if (row == NULL) {
            row = g_new0(struct state_row, 1);
            *row = (struct state_row){
                .kind = kind, .of = of, .name = child->name, .state_class = child->state_class};
            g_ptr_array_add(rows->rows, row);
            g_hash_table_insert(rows->by_key, g_steal_pointer(&key), row);
        }
        g_free(key);
        row->count += child->count;
        row->self_time += child->self_time;
        row->events += child->events;
        *of += is_no_activity(child->state_class) ? 0 : child->self_time;
        if (child->longest > row->longest) {
            row->longest = child->longest;
            row->longest_at = child->longest_at;
        }
        collect_states(rows, kind, of, child);
    }
}

static int by_self_time(const void *a, const void *b)
{
    const struct state_row *x = *(struct state_row *const *)a, *y = *(struct state_row *const *)b;
    if (is_no_activity(x->state_class) != is_no_activity(y->state_class))
        return is_no_activity(x->state_class) ? 1 : -1;
    if (x->self_time != y->self_time)
        return x->self_time > y->self_time ? -1 : 1;
    if (x->count != y->count)
        return x->count > y->count ? -1 : 1;
    int order = strcmp(x->name, y->name);
    return order != 0 ? order : strcmp(x->kind, y->kind);
}

static void add_states(struct fm_list *body, const struct fm_statistics_node *root)
{
    struct state_rows rows = {
        .by_key = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL),
        .rows = g_ptr_array_new_with_free_func(g_free),
    };
    g_autofree uint64_t *times = g_new0(uint64_t, child_count(root));
    for (guint i = 0; i < child_count(root); i++) {
        const struct fm_statistics_node *kind = child_at(root, i);
        for (guint j = 0; strcmp(kind->name, "event types") != 0 && j < child_count(kind); j++)
            collect_states(&rows, kind->name, &times[i], child_at(kind, j));
    }
    g_ptr_array_sort(rows.rows, by_self_time);
    static const struct fm_column_head columns[] = {
        {"Lanes", "lanes", FM_COLUMN_FIELD_NAME},
        {"State", "state", FM_COLUMN_PROC},
        {"Class", "class", FM_COLUMN_FIELD_NAME},
        {"Count", "count", FM_COLUMN_NUMBER},
        {"Own time", "own_time_seconds", FM_COLUMN_TICKS_AND_TIMES},
        {"Of these lanes", "share_percent", FM_COLUMN_TICKS_AND_TIMES},
        {"Longest", "longest_seconds", FM_COLUMN_TICKS_AND_TIMES},
        {"At", "longest_at_ns", FM_COLUMN_NUMBER},
        {"Events", "events", FM_COLUMN_NUMBER},
    };
    struct fm_table *table = add_table(body, "states", columns, G_N_ELEMENTS(columns));
    for (guint i = 0; i < rows.rows->len; i++) {
        const struct state_row *row = g_ptr_array_index(rows.rows, i);
        fm_table_row(table, "state", false);
        fm_cell_string(table, row->kind, FM_STYLE_PLAIN);
        fm_cell_string(table, row->name, FM_STYLE_PLAIN);
        fm_cell_string(table, fm_state_class_name(row->state_class), FM_STYLE_PLAIN);
        fm_cell_int(table, (int64_t)row->count);
        fm_cell_time(table, seconds(row->self_time));
        if (is_no_activity(row->state_class) || *row->of == 0)
            fm_cell_empty(table);
        else
            fm_cell_percent(table, (double)row->self_time / (double)*row->of);
        fm_cell_time(table, seconds(row->longest));
        fm_cell_int(table, (int64_t)row->longest_at);
        fm_cell_int(table, (int64_t)row->events);
    }
    g_hash_table_unref(rows.by_key);
    g_ptr_array_unref(rows.rows);
}

/* --- by type of event --- */

static void add_types(struct fm_list *body, const struct fm_statistics_node *root)
{
    const struct fm_statistics_node *types = fm_statistics_find(root, "event types", NULL);
    static const struct fm_column_head columns[] = {
        {"Type", "type", FM_COLUMN_PROC},
        {"Events", "events", FM_COLUMN_NUMBER},
        {"Share", "share_percent", FM_COLUMN_NUMBER},
    };
    struct fm_table *table = add_table(body, "types", columns, G_N_ELEMENTS(columns));
    for (guint i = 0; i < child_count(types); i++) {
        const struct fm_statistics_node *type = child_at(types, i);
        fm_table_row(table, "type", false);
        fm_cell_string(table, type->name, FM_STYLE_PLAIN);
        fm_cell_int(table, (int64_t)type->count);
        fm_cell_percent(table, (double)type->count / (double)types->count);
    }
}

/* --- by lane --- */

static uint64_t class_time(const struct fm_statistics_node *node, unsigned classes)
{
    uint64_t time = 0;
    for (guint i = 0; i < child_count(node); i++) {
        const struct fm_statistics_node *child = child_at(node, i);
        if (!is_marks(child))
            time += class_time(child, classes) +
                    (classes >> child->state_class & 1 ? child->self_time : 0);
    }
    return time;
}

static uint64_t class_count(const struct fm_statistics_node *node, const char *name,
                            uint64_t *ret_time, uint64_t *ret_longest)
{
    uint64_t count = 0;
    for (guint i = 0; i < child_count(node); i++) {
        const struct fm_statistics_node *child = child_at(node, i);
        if (child->state_class == FM_STATE_WAITING && strcmp(child->name, name) == 0) {
            count += child->count;
            *ret_time += child->time;
            *ret_longest = MAX(*ret_longest, child->longest);
        }
        count += class_count(child, name, ret_time, ret_longest);
    }
    return count;
}

static void add_numbers(struct fm_list *body, const struct fm_statistics_node *kind)
{
    static const struct fm_column_head columns[] = {
        {"Name", "name", FM_COLUMN_PROC},          {"Set", "count", FM_COLUMN_NUMBER},
        {"Minimum", "least", FM_COLUMN_NUMBER},    {"Mean over time", "mean", FM_COLUMN_NUMBER},
        {"Maximum", "greatest", FM_COLUMN_NUMBER}, {"Last", "last", FM_COLUMN_NUMBER},
    };
    struct fm_table *table = add_table(body, "numbers", columns, G_N_ELEMENTS(columns));
    for (guint i = 0; i < child_count(kind); i++) {
        const struct fm_statistics_node *lane = child_at(kind, i);
        if (lane->numbers == 0)
            continue;
        fm_table_row(table, "lane", false);
        fm_cell_string(table, lane->name, FM_STYLE_PLAIN);
        fm_cell_int(table, (int64_t)lane->numbers);
        fm_cell_float(table, lane->least);
        fm_cell_float(table, lane->mean);
        fm_cell_float(table, lane->greatest);
        fm_cell_float(table, lane->last);
    }
}

/* Adds waits for a lock to the threads' rows, under the lock's name. */
static void add_waits(struct fm_table *table, const struct fm_statistics_node *root,
                      const char *lock)
{
    char *name = g_strconcat("waiting for ", lock, NULL);
    uint64_t time = 0, longest = 0;
    uint64_t count = class_count(fm_statistics_find(root, "thread", NULL), name, &time, &longest);
    fm_cell_int(table, (int64_t)count);
    fm_cell_time(table, seconds(time));
    fm_cell_time(table, seconds(longest));
    g_free(name);
}

static void add_locks(struct fm_list *body, const struct fm_statistics_node *root,
                      const struct fm_statistics_node *kind)
{
    static const struct fm_column_head columns[] = {
        {"Lock", "name", FM_COLUMN_PROC},
        {"Held", "held_count", FM_COLUMN_NUMBER},
        {"Time held", "held_seconds", FM_COLUMN_TICKS_AND_TIMES},
        {"Longest", "held_longest_seconds", FM_COLUMN_TICKS_AND_TIMES},
        {"Waits", "wait_count", FM_COLUMN_NUMBER},
        {"Time waited", "wait_seconds", FM_COLUMN_TICKS_AND_TIMES},
        {"Longest", "wait_longest_seconds", FM_COLUMN_TICKS_AND_TIMES},
    };
    struct fm_table *table = add_table(body, "locks", columns, G_N_ELEMENTS(columns));
    for (guint i = 0; i < child_count(kind); i++) {
        const struct fm_statistics_node *lane = child_at(kind, i);
        fm_table_row(table, "lane", false);
        fm_cell_string(table, lane->name, FM_STYLE_PLAIN);
        fm_cell_int(table, (int64_t)lane->count);
        fm_cell_time(table, seconds(lane->time));
        fm_cell_time(table, seconds(lane->longest));
        add_waits(table, root, lane->name);
    }
}

static void add_collection(struct fm_table *table, const struct fm_statistics_node *node)
{
    fm_table_row(table, "lane", false);
    fm_cell_string(table, node->name, FM_STYLE_PLAIN);
    fm_cell_int(table, (int64_t)node->count);
    fm_cell_time(table, seconds(node->time));
    if (node->count == 0)
        fm_cell_empty(table);
    else
        fm_cell_time(table, seconds(node->time) / (double)node->count);
    fm_cell_time(table, seconds(node->longest));
    fm_cell_int(table, (int64_t)node->longest_at);
}

/* Pauses, then those of each generation, which are parts of them. */
static void add_collections(struct fm_list *body, const struct fm_statistics_node *kind)
{
    static const struct fm_column_head columns[] = {
        {"Collector", "name", FM_COLUMN_PROC},
        {"Count", "count", FM_COLUMN_NUMBER},
        {"Time", "time_seconds", FM_COLUMN_TICKS_AND_TIMES},
        {"Mean", "mean_seconds", FM_COLUMN_TICKS_AND_TIMES},
        {"Longest", "longest_seconds", FM_COLUMN_TICKS_AND_TIMES},
        {"At", "longest_at_ns", FM_COLUMN_NUMBER},
    };
    struct fm_table *table = add_table(body, "collections", columns, G_N_ELEMENTS(columns));
    for (guint i = 0; i < child_count(kind); i++) {
        const struct fm_statistics_node *lane = child_at(kind, i);
        add_collection(table, lane);
        for (guint j = 0; j < child_count(lane); j++)
            for (guint k = 0; !is_marks(child_at(lane, j)) && k < child_count(child_at(lane, j));
                 k++)
                add_collection(table, child_at(child_at(lane, j), k));
    }
}

enum {
    WORKING = 1 << FM_STATE_RUNNING | 1 << FM_STATE_SPAN | 1 << FM_STATE_SYSTEM_CALL |
              1 << FM_STATE_TRAP | 1 << FM_STATE_INTERRUPT | 1 << FM_STATE_SOFT_INTERRUPT |
              1 << FM_STATE_READING | 1 << FM_STATE_WRITING,
    READY = 1 << FM_STATE_READY | 1 << FM_STATE_CREATED,
};

/* What lanes did, added up. */
struct lane_sums {
    const char *name;
    unsigned lanes;
    uint64_t number, count, time, working, waiting, ready, collecting, idle, longest, events;
};

static void add_lane(struct lane_sums *sums, const struct fm_statistics_node *lane)
{
    sums->lanes++;
    sums->number = lane->number;
    sums->count += lane->count;
    sums->time += lane->time;
    sums->working += class_time(lane, WORKING);
    sums->waiting += class_time(lane, 1 << FM_STATE_WAITING);
    sums->ready += class_time(lane, READY);
    sums->collecting += class_time(lane, 1 << FM_STATE_COLLECTING);
    sums->idle += class_time(lane, 1 << FM_STATE_IDLE);
    sums->longest = MAX(sums->longest, lane->longest);
    sums->events += lane->all_events;
}

/* number: what stands in the second column; NULL = there is none. */
static void add_sums(struct fm_table *table, const struct lane_sums *sums, const uint64_t *number)
{
    fm_table_row(table, "lane", false);
    fm_cell_string(table, sums->name, FM_STYLE_PLAIN);
    if (number != NULL)
        fm_cell_int(table, (int64_t)*number);
    fm_cell_int(table, (int64_t)sums->count);
    const uint64_t times[] = {sums->time,       sums->working, sums->waiting, sums->ready,
                              sums->collecting, sums->idle,    sums->longest};
    for (size_t i = 0; i < G_N_ELEMENTS(times); i++)
        fm_cell_time(table, seconds(times[i]));
    fm_cell_int(table, (int64_t)sums->events);
}

/* number NULL: without a second column. */
static struct fm_table *sums_table(struct fm_list *body, const char *number, const char *number_id)
{
    struct fm_column_head columns[] = {
        {"Name", "name", FM_COLUMN_PROC},
        {number, number_id, FM_COLUMN_NUMBER},
        {"States", "count", FM_COLUMN_NUMBER},
        {"Time", "time_seconds", FM_COLUMN_TICKS_AND_TIMES},
        {"Working", "working_seconds", FM_COLUMN_TICKS_AND_TIMES},
        {"Waiting", "waiting_seconds", FM_COLUMN_TICKS_AND_TIMES},
        {"Ready", "ready_seconds", FM_COLUMN_TICKS_AND_TIMES},
        {"Collecting", "collecting_seconds", FM_COLUMN_TICKS_AND_TIMES},
        {"Idle", "idle_seconds", FM_COLUMN_TICKS_AND_TIMES},
        {"Longest", "longest_seconds", FM_COLUMN_TICKS_AND_TIMES},
        {"Events", "events", FM_COLUMN_NUMBER},
    };
    if (number != NULL)
        return add_table(body, "lanes", columns, G_N_ELEMENTS(columns));
    columns[1] = columns[0];
    return add_table(body, "lanes", columns + 1, G_N_ELEMENTS(columns) - 1);
}

/* Numbers of threads are those of the system or the program; other lanes have theirs in the name.
 */
static void add_lanes(struct fm_list *body, const struct fm_statistics_node *kind, bool threads)
{
    struct fm_table *table = sums_table(body, threads ? "Number" : NULL, "number");
    for (guint i = 0; i < child_count(kind); i++) {
        struct lane_sums sums = {.name = child_at(kind, i)->name};
        add_lane(&sums, child_at(kind, i));
        add_sums(table, &sums, threads ? &sums.number : NULL);
    }
}

static int by_lanes_time(const void *a, const void *b)
{
    const struct lane_sums *x = *(struct lane_sums *const *)a, *y = *(struct lane_sums *const *)b;
    if (x->time != y->time)
        return x->time > y->time ? -1 : 1;
    if (x->events != y->events)
        return x->events > y->events ? -1 : 1;
    return strcmp(x->name, y->name);
}

/* Processes do nothing themselves: what their threads did. */
static void add_processes(struct fm_list *body, const struct fm_statistics_node *threads)
{
    g_autoptr(GHashTable) by_name = g_hash_table_new(g_str_hash, g_str_equal);
    g_autoptr(GPtrArray) rows = g_ptr_array_new_with_free_func(g_free);
    for (guint i = 0; i < child_count(threads); i++) {
        const struct fm_statistics_node *thread = child_at(threads, i);
        if (thread->process == NULL)
            continue;
        struct lane_sums *sums = g_hash_table_lookup(by_name, thread->process);
        if (sums == NULL) {
            sums = g_new0(struct lane_sums, 1);
            sums->name = thread->process;
            g_ptr_array_add(rows, sums);
            g_hash_table_insert(by_name, (void *)(uintptr_t)sums->name, sums);
        }
        add_lane(sums, thread);
    }
    g_ptr_array_sort(rows, by_lanes_time);
    struct fm_table *table = sums_table(body, "Threads", "threads");
    for (guint i = 0; i < rows->len; i++) {
        const struct lane_sums *sums = g_ptr_array_index(rows, i);
        const uint64_t lanes = sums->lanes;
        add_sums(table, sums, &lanes);
    }
}

/* --- all --- */

static void add_branch(struct fm_table *table, const struct fm_statistics_node *node,
                       unsigned depth)
{
    for (guint i = 0; i < child_count(node); i++) {
        const struct fm_statistics_node *child = child_at(node, i);
        char *name =
            g_strdup_printf("%*s%s", (int)MIN(2 * depth, NAME_INDENT_MAX), "", child->name);
        fm_table_row(table, "node", false);
        fm_cell_int(table, depth);
        fm_cell_string(table, name, FM_STYLE_PLAIN);
        fm_cell_int(table, (int64_t)child->count);
        fm_cell_time(table, seconds(child->time));
        fm_cell_time(table, seconds(child->self_time));
        fm_cell_time(table, seconds(child->longest));
        fm_cell_int(table, (int64_t)child->all_events);
        g_free(name);
        add_branch(table, child, depth + 1);
    }
}

static void add_tree(struct fm_list *body, const struct fm_statistics_node *root)
{
    static const struct fm_column_head columns[] = {
        {"Depth", "depth", FM_COLUMN_NUMBER},
        {"Name", "name", FM_COLUMN_PROC},
        {"Count", "count", FM_COLUMN_NUMBER},
        {"Time", "time_seconds", FM_COLUMN_TICKS_AND_TIMES},
        {"Own time", "own_time_seconds", FM_COLUMN_TICKS_AND_TIMES},
        {"Longest", "longest_seconds", FM_COLUMN_TICKS_AND_TIMES},
        {"Events", "events", FM_COLUMN_NUMBER},
    };
    struct fm_table *table = add_table(body, "tree", columns, G_N_ELEMENTS(columns));
    add_branch(table, root, 0);
}

/* --- the page --- */

static int find_kind(const char *by)
{
    for (unsigned i = 0; i < FM_LANE_KIND_COUNT; i++) {
        char *word = kind_word(i);
        bool same = strcmp(word, by) == 0;
        g_free(word);
        if (same)
            return (int)i;
    }
    return -1;
}

static bool has_numbers(const struct fm_statistics_node *kind)
{
    for (guint i = 0; i < child_count(kind); i++) {
        if (child_at(kind, i)->numbers > 0)
            return true;
    }
    return false;
}

static void add_kind(struct fm_list *body, const struct fm_statistics_node *root, int number)
{
    const char *name = fm_lane_kind_name((enum fm_lane_kind)number);
    const struct fm_statistics_node *kind = fm_statistics_find(root, name, NULL);
    if (number == FM_LANE_COUNTER || number == FM_LANE_HEAP || has_numbers(kind))
        add_numbers(body, kind);
    else if (number == FM_LANE_LOCK)
        add_locks(body, root, kind);
    else if (number == FM_LANE_COLLECTOR)
        add_collections(body, kind);
    else if (number == FM_LANE_PROCESS && child_count(kind) == 0)
        add_processes(body, fm_statistics_find(root, "thread", NULL));
    else
        add_lanes(body, kind, number == FM_LANE_THREAD);
}

struct fm_display *fm_trace_page_statistics_page(const struct fm_statistics_node *root,
                                                 const char *by, uint64_t start, uint64_t end,
                                                 GError **error)
{
    g_return_val_if_fail(root != NULL && by != NULL && start <= end, NULL);
    int kind = find_kind(by);
    bool tree = strcmp(by, "tree") == 0, type = strcmp(by, "type") == 0;
    if (kind < 0 && !tree && !type && strcmp(by, "state") != 0) {
        char *words = statistics_words();
        g_set_error(error, FM_ERROR, FM_ERROR_USAGE, "'%s': expected one of %s", by, words);
        g_free(words);
        return NULL;
    }
    struct fm_display *display = fm_display_new(NULL);
    fm_display_set_name(display, "fm_viewer_statistics");
    fm_display_fact_string(display, "by", by);
    fm_display_fact_int(display, "start_ns", (int64_t)start);
    fm_display_fact_int(display, "end_ns", (int64_t)end);
    fm_display_fact_int(display, "events", (int64_t)root->all_events);
    struct fm_list *body = fm_display_body(display);
    if (kind >= 0)
        add_kind(body, root, kind);
    else if (tree)
        add_tree(body, root);
    else if (type)
        add_types(body, root);
    else
        add_states(body, root);
    return display;
}

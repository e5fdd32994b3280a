/* SPDX-License-Identifier: Apache-2.0 */
#include "live/top/table.h"

#include <math.h>
#include <string.h>
#include <time.h>

static const char *const order_words[FM_TOP_ORDERS] = {
    [FM_TOP_SELF] = "self",   [FM_TOP_TOTAL] = "total",     [FM_TOP_CALLS] = "calls",
    [FM_TOP_RATE] = "rate",   [FM_TOP_WAITING] = "waiting", [FM_TOP_ALLOCS] = "allocs",
    [FM_TOP_BYTES] = "bytes", [FM_TOP_HELD] = "held",       [FM_TOP_NAME] = "name",
};

bool fm_top_order_parse(const char *word, enum fm_top_order *ret)
{
    for (int i = 0; i < FM_TOP_ORDERS; i++) {
        if (strcmp(word, order_words[i]) != 0)
            continue;
        *ret = (enum fm_top_order)i;
        return true;
    }
    return false;
}

const char *fm_top_order_word(enum fm_top_order order)
{
    return order_words[order];
}

char *fm_top_bytes_text(int64_t bytes)
{
    static const char *const units[] = {"KiB", "MiB", "GiB", "TiB"};
    double value = (double)bytes;
    size_t unit = 0;
    if (bytes > -10240 && bytes < 10240)
        return g_strdup_printf("%" G_GINT64_FORMAT, (gint64)bytes);
    for (value /= 1024; fabs(value) >= 1023.95 && unit + 1 < G_N_ELEMENTS(units); unit++)
        value /= 1024;
    return g_strdup_printf("%.1f %s", value, units[unit]);
}

static uint64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static void begin(struct fm_top *top, bool running)
{
    top->search = g_strdup("");
    top->rows = g_array_new(FALSE, FALSE, sizeof(struct fm_top_row));
    top->callees = g_array_new(FALSE, FALSE, sizeof(struct fm_top_row));
    top->calls_before = g_hash_table_new_full(NULL, NULL, NULL, g_free);
    top->read_ns = now_ns();
    top->running = running;
    top->alive_ns = top->running ? top->read_ns : 0;
    fm_top_arrange(top);
}

bool fm_top_open(struct fm_top *top, const char *path, const char *root, const char *debug_path,
                 GError **error)
{
    *top = (struct fm_top){.function = FM_FOLLOWED_NONE};
    if (!fm_followed_open(path, &top->followed, error))
        return false;
    top->watch = top->followed;
    top->names = fm_followed_names_new(top->watch, root, debug_path);
    begin(top, fm_followed_is_running(top->watch));
    return true;
}

bool fm_top_open_sampled(struct fm_top *top, uint32_t pid, GError **error)
{
    *top = (struct fm_top){.function = FM_FOLLOWED_NONE};
    if (!fm_top_sampled_new(pid, &top->sampled, error))
        return false;
    top->watch = fm_top_sampled_watch(top->sampled);
    begin(top, true);
    return true;
}

void fm_top_close(struct fm_top *top)
{
    if (top->watch == NULL)
        return;
    g_array_unref(top->rows);
    g_array_unref(top->callees);
    g_array_unref(top->found);
    g_hash_table_unref(top->calls_before);
    g_free(top->search);
    fm_followed_moment_free(top->since);
    fm_followed_names_free(top->names);
    fm_followed_free(top->followed);
    if (top->sampled != NULL)
        fm_top_sampled_free(top->sampled);
    top->watch = NULL;
}

static const char *name_of(const struct fm_top *top, uint32_t function)
{
    return top->sampled != NULL ? fm_top_sampled_name(top->sampled, function)
                                : fm_followed_name(top->names, function);
}

static double value_of(const struct fm_top *top, const struct fm_top_row *row)
{
    switch (top->order) {
    case FM_TOP_SELF:
        return fm_followed_ticks(top->watch, row->self.of[FM_FOLLOWED_QUANTA]);
    case FM_TOP_TOTAL:
        return fm_followed_ticks(top->watch, row->total.of[FM_FOLLOWED_QUANTA]);
    case FM_TOP_CALLS:
        return (double)row->self.of[FM_FOLLOWED_CALLS];
    case FM_TOP_RATE:
        return row->calls_a_second;
    case FM_TOP_WAITING:
        return (double)row->self.of[FM_FOLLOWED_WAIT_NS];
    case FM_TOP_ALLOCS:
        return (double)row->self.of[FM_FOLLOWED_ALLOCS];
    case FM_TOP_BYTES:
        return (double)row->self.of[FM_FOLLOWED_BYTES];
    case FM_TOP_HELD:
        return (double)fm_followed_held(&row->self);
    default:
        return 0;
    }
}

/* Equal ones by total time, calls, and their names, so that rows do not jump. */
static gint compare(gconstpointer left, gconstpointer right, gpointer data)
{
    const struct fm_top *top = data;
    const struct fm_top_row *a = left, *b = right;
    double first = value_of(top, a), second = value_of(top, b);
    if (first > second || first < second)
        return first > second ? -1 : 1;
    uint64_t time_a = a->total.of[FM_FOLLOWED_QUANTA], time_b = b->total.of[FM_FOLLOWED_QUANTA];
    if (top->order != FM_TOP_NAME && time_a != time_b)
        return time_a > time_b ? -1 : 1;
    uint64_t calls_a = a->self.of[FM_FOLLOWED_CALLS], calls_b = b->self.of[FM_FOLLOWED_CALLS];
    if (top->order != FM_TOP_NAME && calls_a != calls_b)
        return calls_a > calls_b ? -1 : 1;
    int names = strcmp(a->name, b->name);
    return names != 0 ? names : (a->function > b->function) - (a->function < b->function);
}

static bool is_searched(const struct fm_top *top, const char *name)
{
    if (top->search[0] == '\0')
        return true;
    g_autofree char *folded = g_utf8_casefold(name, -1);
    g_autofree char *wanted = g_utf8_casefold(top->search, -1);
    return strstr(folded, wanted) != NULL;
}

static double rate_of(const struct fm_top *top, const struct fm_followed_row *row)
{
    const uint64_t *before =
        g_hash_table_lookup(top->calls_before, GUINT_TO_POINTER(row->function + 1));
    uint64_t calls = row->self.of[FM_FOLLOWED_CALLS];
    if (!fm_followed_has_calls(top->watch) || top->before_ns == 0 || top->read_ns <= top->before_ns)
        return -1;
    uint64_t less = before == NULL ? 0 : *before;
    return calls < less ? -1
                        : (double)(calls - less) * 1e9 / (double)(top->read_ns - top->before_ns);
}

static void take_rows(struct fm_top *top, const GArray *found, bool with_rates, GArray *into)
{
    g_array_set_size(into, 0);
    for (guint i = 0; i < found->len; i++) {
        const struct fm_followed_row *row = &g_array_index(found, struct fm_followed_row, i);
        struct fm_top_row shown = {
            .function = row->function,
            .name = name_of(top, row->function),
            .self = row->self,
            .total = row->total,
            .calls_a_second = with_rates ? rate_of(top, row) : -1,
        };
        if (is_searched(top, shown.name))
            g_array_append_val(into, shown);
    }
    g_array_sort_with_data(into, compare, top);
}

static void take_one(struct fm_top *top, const GArray *found)
{
    top->one = (struct fm_top_row){.function = top->function, .calls_a_second = -1};
    top->one.name = name_of(top, top->function);
    for (guint i = 0; i < found->len; i++) {
        const struct fm_followed_row *row = &g_array_index(found, struct fm_followed_row, i);
        if (row->function != top->function)
            continue;
        top->one.self = row->self;
        top->one.total = row->total;
        top->one.calls_a_second = rate_of(top, row);
    }
}

void fm_top_arrange(struct fm_top *top)
{
    g_clear_pointer(&top->found, g_array_unref);
    top->found = fm_followed_rows(top->watch, top->since, &top->all);
    const GArray *found = top->found;
    if (top->function == FM_FOLLOWED_NONE) {
        take_rows(top, found, true, top->rows);
        g_array_set_size(top->callees, 0);
        return;
    }
    g_autoptr(GArray) callers = fm_followed_neighbours(top->watch, top->since, top->function, true);
    g_autoptr(GArray) callees =
        fm_followed_neighbours(top->watch, top->since, top->function, false);
    take_one(top, found);
    take_rows(top, callers, false, top->rows);
    take_rows(top, callees, false, top->callees);
}

static void keep_calls(struct fm_top *top)
{
    const GArray *found = top->found;
    g_hash_table_remove_all(top->calls_before);
    for (guint i = 0; i < found->len; i++) {
        const struct fm_followed_row *row = &g_array_index(found, struct fm_followed_row, i);
        uint64_t *calls = g_new(uint64_t, 1);
        *calls = row->self.of[FM_FOLLOWED_CALLS];
        g_hash_table_insert(top->calls_before, GUINT_TO_POINTER(row->function + 1), calls);
    }
    top->before_ns = top->read_ns;
}

static bool read_followed(struct fm_top *top, GError **error)
{
    /* Asked first: what it did at its end is then in what is read. */
    bool running = fm_followed_is_running(top->watch);
    if (!fm_followed_read(top->followed, error))
        return false;
    top->running = running && fm_followed_is_running(top->watch);
    return true;
}

bool fm_top_read(struct fm_top *top, GError **error)
{
    keep_calls(top);
    if (top->sampled != NULL ? !fm_top_sampled_read(top->sampled, &top->running, error)
                             : !read_followed(top, error))
        return false;
    top->read_ns = now_ns();
    if (top->running)
        top->alive_ns = top->read_ns;
    fm_top_arrange(top);
    return true;
}

void fm_top_since_now(struct fm_top *top, bool now)
{
    g_clear_pointer(&top->since, fm_followed_moment_free);
    if (now)
        top->since = fm_followed_moment_new(top->watch);
    top->since_ns = now ? top->read_ns : 0;
    top->before_ns = 0; /* rates are known at the next reading */
    fm_top_arrange(top);
}

double fm_top_seconds(const struct fm_top *top)
{
    const struct fm_rec_header *header = &top->watch->header;
    uint64_t begin = top->since != NULL ? top->since_ns : header->start_monotonic_ns;
    uint64_t end = header->end_monotonic_ns;
    if (top->running)
        end = top->read_ns;
    else if (end == 0) /* it was killed */
        end = MAX(top->alive_ns, header->wait_latest[header->wait_latest_at & 1].ns);
    return end > begin ? (double)(end - begin) * 1e-9 : 0;
}

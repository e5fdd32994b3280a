/* SPDX-License-Identifier: Apache-2.0 */
/* callgrind.out: functions with their own costs and, for each line that calls, the callee with the
 * number of calls and what they cost in all. Calls that go back into a recursion have their number
 * and no cost, so nothing adds up to more than the whole. */
#include <string.h>

#include "exchange/arcs.h"
#include "exchange/export/internal.h"
#include "exchange/figures.h"

/* For an arc whose calls were not counted: the format cannot express that. */
#define LEAST_CALLS 1

struct callgrind {
    const struct fm_exchange_nodes *nodes;
    const struct fm_profile *profile;
    struct fm_exchange_names names;
    struct fm_exchange_arcs arcs;
    struct fm_writer *out;
    GHashTable *files; /* borrowed names -> their number */
    bool *function_known;
};

/* "alloc_space" -> "AllocSpace": letters and digits alone are allowed. */
static void append_event(GString *line, const char *name)
{
    bool upper = true;
    for (; *name != '\0'; name++) {
        if (*name == '_') {
            upper = true;
            continue;
        }
        g_string_append_c(line, upper ? g_ascii_toupper(*name) : *name);
        upper = false;
    }
}

static void put_costs(struct callgrind *x, const char *begin, const int64_t *costs)
{
    g_autoptr(GString) line = g_string_new(begin);
    for (unsigned i = 0; i < x->nodes->column_count; i++)
        g_string_append_printf(line, "%s%" G_GINT64_FORMAT, line->len > 0 ? " " : "", costs[i]);
    g_string_append_c(line, '\n');
    fm_writer_bytes(x->out, line->str, line->len);
}

/* Writes the totals of the program: the root is not a function of the file. */
static void put_totals(struct callgrind *x, const char *begin)
{
    int64_t all[FM_EXCHANGE_COLUMNS_MAX];
    for (unsigned i = 0; i < x->nodes->column_count; i++)
        all[i] = fm_exchange_total(x->nodes, i, 0) - fm_exchange_own(x->nodes, i, 0);
    put_costs(x, begin, all);
}

static void put_head(struct callgrind *x, const GPtrArray *notes)
{
    g_autoptr(GString) events = g_string_new("events:");
    const char *command = x->profile->run_info.process.command;
    fm_export_put(x->out, "# callgrind format\nversion: 1\ncreator: fathom\ncmd: %s\n",
                  command != NULL && *command != '\0' ? command : x->profile->program_name);
    g_autofree char *figures = fm_figures_text(x->nodes);
    fm_export_put(x->out, "desc: fathom: %s\n", figures);
    for (guint i = 0; i < notes->len; i++)
        fm_export_put(x->out, "desc: fathom: %s\n", (const char *)g_ptr_array_index(notes, i));
    fm_export_put(x->out, "positions: line\n");
    for (unsigned i = 0; i < x->nodes->column_count; i++) {
        const struct fm_exchange_column *c = &x->nodes->columns[i];
        g_autoptr(GString) event = g_string_new(NULL);
        append_event(event, c->name);
        fm_export_put(x->out, "event: %s : %s (%s)\n", event->str, c->name, c->unit);
        g_string_append_printf(events, " %s", event->str);
    }
    fm_export_put(x->out, "%s\n", events->str);
    put_totals(x, "summary: ");
}

/* "fl=(3) src/a.c": a name is spelled out the first time. */
static void put_file(struct callgrind *x, const char *key, uint32_t ps)
{
    g_assert(ps >= 1 && ps <= x->profile->ps_count);
    const char *file = *x->names.file[ps] != '\0' ? x->names.file[ps] : "???";
    guint number = GPOINTER_TO_UINT(g_hash_table_lookup(x->files, file));
    if (number != 0) {
        fm_export_put(x->out, "%s=(%u)\n", key, number);
        return;
    }
    number = g_hash_table_size(x->files) + 1;
    g_hash_table_insert(x->files, (gpointer)(uintptr_t)file, GUINT_TO_POINTER(number));
    fm_export_put(x->out, "%s=(%u) %s\n", key, number, file);
}

/* A function with callers in its name: "leaf'work'main". */
static void put_function(struct callgrind *x, const char *key, uint32_t function)
{
    g_assert(function < x->arcs.function_count);
    g_autoptr(GString) name = g_string_new(NULL);
    if (x->function_known[function]) {
        fm_export_put(x->out, "%s=(%u)\n", key, function + 1);
        return;
    }
    x->function_known[function] = true;
    for (uint32_t f = function; f != FM_EXCHANGE_NO_FUNCTION; f = x->arcs.functions[f].caller)
        g_string_append_printf(name, "%s%s", name->len > 0 ? "'" : "",
                               x->names.name[x->arcs.functions[f].ps]);
    fm_export_put(x->out, "%s=(%u) %s\n", key, function + 1, name->str);
}

static void put_arc(struct callgrind *x, const struct fm_exchange_arc *arc, size_t index)
{
    g_assert(index < x->arcs.arc_count && arc->caller < x->arcs.function_count);
    g_autofree char *line = g_strdup_printf("%u ", fm_exchange_call_line(x->profile, arc->css));
    uint32_t caller = x->arcs.functions[arc->caller].ps;
    uint32_t callee = x->arcs.functions[arc->callee].ps;
    if (strcmp(x->names.file[caller], x->names.file[callee]) != 0)
        put_file(x, "cfi", callee);
    put_function(x, "cfn", arc->callee);
    if (arc->calls < LEAST_CALLS)
        fm_writer_bytes(x->out, FM_FIGURES_UNCOUNTED "\n", strlen(FM_FIGURES_UNCOUNTED) + 1);
    fm_export_put(x->out, "calls=%" G_GINT64_FORMAT " %u\n", MAX(arc->calls, LEAST_CALLS),
                  x->profile->ps[callee].line);
    put_costs(x, line, &x->arcs.costs[index * x->nodes->column_count]);
}

static void put_body(struct callgrind *x)
{
    const struct fm_exchange_arcs *arcs = &x->arcs;
    size_t next = 0;
    for (uint32_t f = 0; f < arcs->function_count; f++) {
        uint32_t ps = arcs->functions[f].ps;
        g_autofree char *line = g_strdup_printf("%u ", x->profile->ps[ps].line);
        fm_export_put(x->out, "\n");
        put_file(x, "fl", ps);
        put_function(x, "fn", f);
        put_costs(x, line, &arcs->own[(size_t)f * x->nodes->column_count]);
        for (; next < arcs->arc_count && arcs->arcs[next].caller == f; next++)
            put_arc(x, &arcs->arcs[next], next);
    }
}

static void note_merged_cycles(const struct callgrind *x, GPtrArray *notes)
{
    bool arcs = fm_profile_is(x->profile, FM_NATURE_ARCS); /* nobody merged them here */
    uint32_t merged = arcs ? 0 : fm_exchange_merged_cycles(&x->arcs, x->nodes);
    if (merged > 0)
        fm_export_note(notes,
                       "%u cycle%s below exist%s only because contexts are merged: no run had them",
                       merged, merged == 1 ? "" : "s", merged == 1 ? "s" : "");
}

/* Readers take an arc that was called 0 times for one that is not there. */
static void note_uncounted(const struct callgrind *x, GPtrArray *notes)
{
    size_t arcs = 0;
    for (size_t i = 0; i < x->arcs.arc_count; i++)
        arcs += x->arcs.arcs[i].calls <= 0;
    if (!fm_profile_knows(x->profile, FM_EXITS))
        fm_export_note(notes, "numbers of calls are not known: they are all written as 1");
    else if (arcs > 0)
        fm_export_note(notes,
                       "the calls of %zu arc%s were not counted (inlined, or never returned): they "
                       "are written as 1",
                       arcs, arcs == 1 ? "" : "s");
}

bool fm_export_callgrind(const struct fm_analysis *a, const struct fm_export_options *options,
                         struct fm_writer *out, GPtrArray *notes, GError **error)
{
    struct fm_exchange_nodes nodes;
    if (!fm_exchange_nodes_init(&nodes, a, 0, error))
        return false;
    struct callgrind x = {.nodes = &nodes, .profile = a->profile, .out = out};
    fm_exchange_names_init(&x.names, a->profile, true, options->strip_path);
    fm_exchange_arcs_init(&x.arcs, &nodes, options->callers);
    x.files = g_hash_table_new(g_str_hash, g_str_equal);
    x.function_known = g_new0(bool, x.arcs.function_count);
    fm_export_note_folding(notes, &nodes);
    note_uncounted(&x, notes);
    note_merged_cycles(&x, notes);
    put_head(&x, notes);
    put_body(&x);
    put_totals(&x, "\ntotals: ");
    g_hash_table_destroy(x.files);
    g_free(x.function_known);
    fm_exchange_arcs_done(&x.arcs);
    fm_exchange_names_done(&x.names);
    fm_exchange_nodes_done(&nodes);
    return true;
}

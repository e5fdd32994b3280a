/* SPDX-License-Identifier: Apache-2.0 */
#include "exchange/import/perfdata/kernel.h"

#include <string.h>

struct symbol {
    uint64_t address;
    const char *name;
};

struct fm_perf_kernel {
    GArray *symbols; /* ascending */
    GStringChunk *names;
};

static int by_address(const void *a, const void *b)
{
    const struct symbol *x = a, *y = b;
    return x->address < y->address ? -1 : x->address > y->address;
}

/* "ffffffff81000000 T _text", with a module's name behind: code only. */
static void read_line(struct fm_perf_kernel *kernel, const char *line)
{
    char *end;
    struct symbol symbol = {.address = g_ascii_strtoull(line, &end, 16)};
    if (end == line || end[0] != ' ' || end[1] == '\0' || end[2] != ' ' || symbol.address == 0 ||
        strchr("tTwW", end[1]) == NULL)
        return;
    size_t size = strcspn(end + 3, "\t \n");
    symbol.name = g_string_chunk_insert_len(kernel->names, end + 3, (gssize)size);
    g_array_append_val(kernel->symbols, symbol);
}

/* By its build id; where none was recorded, by the machine. */
static bool is_same_build(const struct fm_perf_processes *processes)
{
    g_autofree char *notes = NULL;
    size_t size;
    GBytes *recorded = g_hash_table_lookup(processes->file->build_ids, "[kernel.kallsyms]");
    if (recorded == NULL)
        return fm_perf_is_this_machine(processes->file);
    return g_file_get_contents("/sys/kernel/notes", &notes, &size, NULL) &&
           memmem(notes, size, g_bytes_get_data(recorded, NULL), g_bytes_get_size(recorded)) !=
               NULL;
}

/* Its addresses may be drawn at each start: one of them tells. */
static bool is_same_place(const struct fm_perf_processes *processes,
                          const struct fm_perf_kernel *kernel)
{
    for (guint i = 0; i < kernel->symbols->len; i++) {
        const struct symbol *symbol = &g_array_index(kernel->symbols, struct symbol, i);
        if (strcmp(symbol->name, processes->kernel_symbol_name) == 0)
            return symbol->address == processes->kernel_symbol;
    }
    return false;
}

struct fm_perf_kernel *fm_perf_kernel_new(const struct fm_perf_processes *processes)
{
    g_autofree char *text = NULL;
    if (processes->kernel_symbol_name == NULL || processes->kernel_symbol == 0 ||
        !is_same_build(processes) || !g_file_get_contents("/proc/kallsyms", &text, NULL, NULL))
        return NULL;
    struct fm_perf_kernel *kernel = g_new0(struct fm_perf_kernel, 1);
    kernel->symbols = g_array_new(FALSE, FALSE, sizeof(struct symbol));
    kernel->names = g_string_chunk_new(1 << 16);
    for (const char *line = text; line[0] != '\0';) {
        read_line(kernel, line);
        line += strcspn(line, "\n");
        line += line[0] == '\n';
    }
    if (is_same_place(processes, kernel)) {
        g_array_sort(kernel->symbols, by_address);
        return kernel;
    }
    fm_perf_kernel_free(kernel);
    return NULL;
}

void fm_perf_kernel_free(struct fm_perf_kernel *kernel)
{
    if (kernel == NULL)
        return;
    g_array_unref(kernel->symbols);
    g_string_chunk_free(kernel->names);
    g_free(kernel);
}

const char *fm_perf_kernel_name(const struct fm_perf_kernel *kernel, uint64_t address)
{
    guint first = 0, end = kernel->symbols->len;
    while (first < end) {
        guint middle = first + (end - first) / 2;
        if (g_array_index(kernel->symbols, struct symbol, middle).address <= address)
            first = middle + 1;
        else
            end = middle;
    }
    return first == 0 ? NULL : g_array_index(kernel->symbols, struct symbol, first - 1).name;
}

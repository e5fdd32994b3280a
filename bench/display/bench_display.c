/* SPDX-License-Identifier: Apache-2.0 */
/* CPU time of building a page of a procedure table and writing it in each format. Each figure is
 * the median of repeated, interleaved rounds. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "display/display.h"

#define ROUNDS_MAX 21
#define NUMBERS 17

enum step { STEP_BUILD, STEP_HTML, STEP_TEXT, STEP_JSON, STEP_CSV, STEP_COUNT };

static const char *const step_names[] = {"build", "html", "text", "json", "csv"};

static double cpu_ms(void)
{
    struct timespec now;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec * 1e3 + (double)now.tv_nsec * 1e-6;
}

static struct fm_display *build_page(const struct fm_preferences *preferences, unsigned rows)
{
    static const char *const groups[] = {"Port counts", "Call sequence numbers", "Memory words"};
    struct fm_display *display = fm_display_new("The procedures of module list:");
    struct fm_table *table =
        fm_add_table(fm_display_body(display), FM_BOX_IF_PREFERRED, "procedures");
    struct fm_query query = {
        .command = {.id = FM_CMD_PROC}, .has_preferences = true, .preferences = *preferences};

    fm_table_group(table, "Source", FM_COLUMN_SOURCE_CONTEXT, FM_COLOUR_NEVER);
    fm_table_column(table, NULL, "source", &query);
    fm_table_group(table, "Procedure", FM_COLUMN_PROC, FM_COLOUR_NEVER);
    fm_table_column(table, NULL, "procedure", &query);
    for (unsigned i = 0; i < NUMBERS; i++) {
        if (i % 6 == 0)
            fm_table_group(table, groups[i / 6], FM_COLUMN_NUMBER, FM_COLOUR_IF_PREFERRED);
        fm_table_column(table, i % 2 ? "%" : "Self", NULL, i % 2 ? NULL : &query);
    }
    for (unsigned row = 0; row < rows; row++) {
        char name[64], source[64];

        snprintf(source, sizeof source, "module_%u.m:%u", row % 97, row);
        snprintf(name, sizeof name, "hlds.module_%u.a_procedure_name_%u/4-0", row % 97, row);
        query.command.number = row;
        fm_table_row(table, "proc", false);
        fm_cell_string(table, source, FM_STYLE_PLAIN);
        fm_cell_link(table, &query, name, FM_STYLE_PLAIN);
        for (unsigned i = 0; i < NUMBERS; i++) {
            if (i % 2)
                fm_cell_percent(table, 1.0 / (1 + row + i));
            else
                fm_cell_int(table, 202594363 / (1 + row + i));
        }
    }
    return display;
}

static void run_round(unsigned rows, double *ret_ms, size_t *ret_bytes)
{
    struct fm_preferences preferences;
    struct fm_html_options html = {.url_prefix = "/view?", .url_suffix = "&/data/Deep.data"};
    struct fm_text_options text = {.width = 160};
    GString *out = g_string_new(NULL);
    double start;

    fm_preferences_default(&preferences, true, false);
    start = cpu_ms();
    struct fm_display *display = build_page(&preferences, rows);
    ret_ms[STEP_BUILD] = cpu_ms() - start;
    for (unsigned step = STEP_HTML; step < STEP_COUNT; step++) {
        g_string_truncate(out, 0);
        start = cpu_ms();
        if (step == STEP_HTML)
            fm_html_write(display, &preferences, &html, out);
        else if (step == STEP_TEXT)
            fm_text_write(display, &preferences, &text, out);
        else if (step == STEP_JSON)
            fm_json_write(display, &preferences, out);
        else
            fm_csv_write(display, &preferences, out);
        ret_ms[step] = cpu_ms() - start;
        ret_bytes[step] = out->len;
    }
    g_string_free(out, TRUE);
    fm_display_free(display);
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return x < y ? -1 : x > y;
}

static void measure(unsigned rows, unsigned rounds)
{
    double ms[ROUNDS_MAX][STEP_COUNT], one[ROUNDS_MAX];
    size_t bytes[STEP_COUNT] = {0};

    for (unsigned i = 0; i < rounds; i++)
        run_round(rows, ms[i], bytes);
    for (unsigned step = 0; step < STEP_COUNT; step++) {
        for (unsigned i = 0; i < rounds; i++)
            one[i] = ms[i][step];
        qsort(one, rounds, sizeof *one, compare);
        printf("rows %6u  %-5s  %9.3f ms CPU  %11zu bytes\n", rows, step_names[step],
               one[rounds / 2], bytes[step]);
    }
}

int main(void)
{
    measure(100, ROUNDS_MAX);
    measure(1000, ROUNDS_MAX);
    measure(100000, 3);
    return EXIT_SUCCESS;
}

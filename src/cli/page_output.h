/* SPDX-License-Identifier: Apache-2.0 */
/* Commands that print one page: their options of format, and the printing. */
#pragma once

#include <glib.h>

#include "pages/render.h"

struct fm_page_output {
    const char *command; /* its name, for messages */
    gboolean text, json, csv, html, dot, no_pager, full_names;
    bool no_names;   /* has no --full-names: set before its entries are asked for */
    int width;       /* -1 = not given */
    char *colour;    /* owned */
    GArray *entries; /* private */
};

void fm_page_output_init(struct fm_page_output *output, const char *command);
void fm_page_output_done(struct fm_page_output *output);
/* The command's own options (ending with a NULL long_name; NULL if it has none) and those of the
 * output, as fm_cli_parse() wants them; belongs to output. */
const GOptionEntry *fm_page_output_entries(struct fm_page_output *output, const GOptionEntry *own);
/* Opens the profile, or makes that of now of a program that runs (cli/live/now.h), and prints the
 * page that the query asks for. Returns an exit status. */
int fm_page_output_run(const struct fm_page_output *output, const struct fm_query *query,
                       const char *path);
/* Prints a page that is at hand and belongs to no one recording. Returns an exit status. */
int fm_page_output_display(const struct fm_page_output *output, const struct fm_display *display,
                           bool c_program);

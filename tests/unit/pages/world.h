/* SPDX-License-Identifier: Apache-2.0 */
/* Small recordings made in memory, and pages of them read back from their JSON. */
#pragma once

#include <json-glib/json-glib.h>

#include "profile/file/build.h"
#include "pages/report.h"

/* Undetected recursion: 1 runtime, 2 main, 3 map (higher-order site, recursive site), 4 f, 5 g;
 * map is active twice. Call sequence numbers only. */
struct fm_open_profile *world_undetected_recursion(void);
/* Cliques 1 = {leaf}, 2 = {p, q, q'}, 3 = {runtime}. q has two proc dynamics in clique 2. */
struct fm_open_profile *world_two_pds(void);
/* A C program: main calls insert 3 times in a loop and qsort's callback compare; a second thread;
 * one function never called. source_folder: where its files are named to be. */
struct fm_open_profile *world_c(const char *source_folder);
/* main calls expr, which calls term, which calls expr again, and scan. Bytes: expr 100, term 200,
 * scan 50; how many while term was active was not recorded. */
struct fm_open_profile *world_c_recursion(void);
/* A C program that mostly waits: main calls parse (0.6 s of CPU time in 60 samples, 7 calls), await
 * (3 s in poll) and get (50 calls, neither). */
struct fm_open_profile *world_waiting(void);
/* Many callers of one procedure: callers p01 .. p45 in modules m0 .. m8; p07 calls it 7 times. */
struct fm_open_profile *world_many_callers(const char *path);

/* 2 hub, called from 5,000 contexts of one procedure at one site, twice as often from another by a
 * closure, at whose other site a second closure is called too, and by itself; it calls a leaf. */
struct fm_open_profile *world_hub(void);

/* One page, through fm_pages_make() and the JSON writer. */
struct page {
    JsonParser *parser;
    JsonObject *root;
};
struct page page_of(const struct fm_open_profile *recording, const char *query);
/* As a browser is shown it: columns of one measure, where none are chosen. */
struct page window_of(const struct fm_open_profile *recording, const char *query);
void page_done(struct page *page);
/* The page is refused: its error's code must be this one. Returns the message; g_free. */
char *page_error(const struct fm_open_profile *recording, const char *query, int code);

const char *page_title(const struct page *page);
const char *page_text(const struct page *page); /* all texts and headings; "" = none */
gint64 fact_int(const struct page *page, const char *name);
bool fact_is_null(const struct page *page, const char *name);
const char *fact_string(const struct page *page, const char *name);
gboolean fact_bool(const struct page *page, const char *name);
/* Cells of the n-th row (from 0) with this role; NULL role: of any. NULL when there is none. */
JsonObject *row_at(const struct page *page, const char *table, const char *role, unsigned n);
unsigned row_count(const struct page *page, const char *table, const char *role);
/* The first row where this column says so; fails the test when there is none. */
JsonObject *row_where(const struct page *page, const char *table, const char *column,
                      const char *value);
gboolean has_column(const struct page *page, const char *table, const char *column);
const char *cell_string(JsonObject *cells, const char *column); /* NULL when empty */
gint64 cell_int(JsonObject *cells, const char *column);
double cell_double(JsonObject *cells, const char *column);
/* The query of the control with this id, NULL when the page has none. */
const char *control(const struct page *page, const char *id);

/* The folder of the real recordings; NULL (and the test is skipped) when it is not there. */
char *sample_file(const char *name);

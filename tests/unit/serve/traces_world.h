/* SPDX-License-Identifier: Apache-2.0 */
/* A server with a small log in a folder of its own, asked without sockets. */
#pragma once

#include <glib.h>

#include "serve/serve.h"

struct fixture {
    char *folder, *log;
    struct fm_server *server;
};

struct traces_test {
    const char *name;
    void (*run)(struct fixture *f, gconstpointer user);
};
int traces_run(int argc, char **argv, const struct traces_test *tests, unsigned count_of_tests);

void write_log(const char *path, const GByteArray *bytes);
void write_small(const char *path, bool end);

/* Each body is the caller's to free. */
char *ask(struct fixture *f, const char *path, const char *query, unsigned status);
/* The path, with "file=LOG&" before the query. */
char *ask_log(struct fixture *f, const char *path, const char *query, unsigned status);
void assert_has(const char *body, const char *text);
void assert_has_not(const char *body, const char *text);
unsigned count(const char *body, const char *text);
/* The text between two others; caller frees. */
char *between(const char *body, const char *before, const char *after);

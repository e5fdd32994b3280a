/* SPDX-License-Identifier: Apache-2.0 */
/* Short names of functions, told apart where they stand together. Reads the text that demanglers
 * write, of any language; the linker's name adds what the text does not say. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/names/language.h"

/* A function's names. The text is never NULL; the rest may be NULL or 0. */
struct fm_name_source {
    const char *text; /* demangled: "parse::Node::eval(int) const" */
    const char *raw;  /* the linker's name */
    const char *file; /* the definition's; the last element of the path is shown */
    uint32_t line;
    const char *object; /* "libfoo.so" */
    enum fm_name_language language;
};

/* The short form of one name: "Node::eval". Newly allocated, never empty but for an empty text. */
char *fm_name_short(const struct fm_name_source *source);

/* The short form, with the place of a lambda left out even if it is known: the same for equal texts
 * anywhere. Newly allocated. */
char *fm_name_short_text(const char *text, const char *raw);

/* Short forms of the different functions of a page. Equal ones get the least addition that tells
 * them apart there, so no two are equal. The order of the sources has no influence on a text, but
 * on the numbers of functions that differ in nothing. An array of count texts, NULL behind them,
 * for g_strfreev(). */
char **fm_names_apart(const struct fm_name_source *sources, size_t count);

/* Cuts a short form in its middle to a width in characters: first its scope, then its lists. Its
 * own name is never cut, so the text may stay wider. Newly allocated. */
char *fm_name_elide(const char *text, size_t width);
/* The same for the texts of a page: different ones stay different, if need be by more room. As
 * fm_names_apart(). */
char **fm_names_elide(char *const *texts, size_t count, size_t width);
/* The same for the paths of files: folders are cut in their middle, a file's name never. */
char **fm_paths_elide(char *const *paths, size_t count, size_t width);

/* SPDX-License-Identifier: Apache-2.0 */
/* Strings that live together and die together; equal strings are stored once. Not thread-safe. */
#pragma once

#include <glib.h>
#include <stddef.h>

struct fm_strings;

struct fm_strings *fm_strings_new(void); /* fm_strings_free() */
void fm_strings_free(struct fm_strings *strings);

/* The one copy of these bytes, terminated; belongs to strings. The bytes must hold no NUL. */
const char *fm_strings_add_bytes(struct fm_strings *strings, const char *bytes, size_t length);
const char *fm_strings_add(struct fm_strings *strings, const char *string);
/* Bytes of memory that it holds, for tests and figures. */
size_t fm_strings_memory_bytes(const struct fm_strings *strings);

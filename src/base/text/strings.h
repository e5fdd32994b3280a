/* SPDX-License-Identifier: Apache-2.0 */
/* Strings that are freed together; equal strings are stored once. Not thread-safe. */
#pragma once

#include <glib.h>
#include <stddef.h>

struct fm_strings;

struct fm_strings *fm_strings_new(void); /* fm_strings_free() */
void fm_strings_free(struct fm_strings *strings);

/* The one copy of these bytes, terminated; owned by strings. The bytes must not contain NUL. */
const char *fm_strings_add_bytes(struct fm_strings *strings, const char *bytes, size_t length);
const char *fm_strings_add(struct fm_strings *strings, const char *string);
/* Memory in use, in bytes; for tests and statistics. */
size_t fm_strings_memory_bytes(const struct fm_strings *strings);

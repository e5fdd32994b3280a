/* SPDX-License-Identifier: Apache-2.0 */
/* Files that belong to a profile: bodies of Mercury procedures and feedback files. */
#pragma once

#include <glib.h>
#include <stdbool.h>

#include "exchange/hint/hint.h"

struct fm_companion_fact {
    const char *name; /* condition that must be true */
    bool holds;
    char *detail;
};

/* Reads the whole file and writes it again to compare. facts: elements: struct fm_companion_fact;
 * their details are freed with the array. False when the file cannot be read. */
bool fm_companion_check(const char *path, enum fm_hint_file_kind kind, GArray **ret_facts,
                        GError **error);

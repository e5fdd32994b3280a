/* SPDX-License-Identifier: Apache-2.0 */
/* Metadata of CTF 2 (CTF2-SPEC-2.0) as that of CTF 1.8 (TSDL), which every version of the
 * babeltrace2 library reads. The data streams of both have one encoding.
 *
 *   fragments ── read ──▶ fields, as trees ── link ──▶ lengths and selectors ── write ──▶ TSDL
 *
 * TSDL has identifiers for names, meanings by name instead of roles, and selects a variant's option
 * by an enumeration's label: names and labels that only this translation needs begin with
 * FM_CTF2_OWN. */
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/compiler.h"

#define FM_CTF2_OWN "fathom_own_"
/* The option of an optional field that is not there. */
#define FM_CTF2_ABSENT FM_CTF2_OWN "absent_"

/* Appends the TSDL. notes: gets a line when the last fragment is truncated and left out. False: it
 * is damaged, or cannot be expressed in CTF 1.8; the error has the offset in the text. */
FM_MUST_USE bool fm_ctf2_to_tsdl(const char *text, size_t size, GString *ret, GString *notes,
                                 GError **error);

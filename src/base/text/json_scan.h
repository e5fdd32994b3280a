/* SPDX-License-Identifier: Apache-2.0 */
/* Finds ends in JSON that fm_json_check() has accepted, many bytes at a time: every level of a
 * file looks for the end of each value in it, so most bytes are passed several times. */
#pragma once

/* at: a [ or {; returns the position after the bracket that closes it. end: of the text, which may
 * go on behind that bracket. */
const char *fm_json_close(const char *at, const char *end);

/* The first byte of a string that is not plain: a quote, a backslash, a control character, or one
 * that is not ASCII; end if there is none. The text need not have been checked. */
const char *fm_json_plain_end(const char *at, const char *end);

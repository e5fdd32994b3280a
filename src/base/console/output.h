/* SPDX-License-Identifier: Apache-2.0 */
/* The output of a command that writes a document: a file, or standard output for "-". */
#pragma once

#include "base/files/writer.h"

/* Errors of both: FM_ERROR_IO. The caller ends *ret with finish or fm_writer_discard(). */
FM_MUST_USE bool fm_console_output_begin(const char *output, struct fm_writer **ret,
                                         GError **error);
/* Puts the new file in its place, where until now nothing was written; frees the writer. */
FM_MUST_USE bool fm_console_output_finish(const char *output, struct fm_writer *writer,
                                          GError **error);

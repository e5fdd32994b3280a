/* SPDX-License-Identifier: Apache-2.0 */
#include "base/console/output.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"

bool fm_console_output_begin(const char *output, struct fm_writer **ret, GError **error)
{
    if (strcmp(output, "-") != 0)
        return fm_writer_new(output, ret, error);
    *ret = fm_writer_new_memory();
    return true;
}

bool fm_console_output_finish(const char *output, struct fm_writer *writer, GError **error)
{
    if (strcmp(output, "-") != 0)
        return fm_writer_finish(writer, error);
    g_autoptr(GBytes) bytes = fm_writer_finish_memory(writer);
    if (fwrite(g_bytes_get_data(bytes, NULL), 1, g_bytes_get_size(bytes), stdout) ==
            g_bytes_get_size(bytes) &&
        fflush(stdout) == 0)
        return true;
    g_set_error(error, FM_ERROR, FM_ERROR_IO, "standard output: %s", g_strerror(errno));
    return false;
}

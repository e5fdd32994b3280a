/* SPDX-License-Identifier: Apache-2.0 */
/* Metadata of CTF 2: refused with an offset, or TSDL whose braces and quotes are balanced, so that
 * no name of the trace ends a declaration. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "trace/ctf/ctf2.h"
#include "trace/format/ctf.h"

static void check_tsdl(const char *text)
{
    unsigned depth = 0;
    bool quoted = false;
    for (const char *c = text; *c != '\0'; c++) {
        if (*c == '\\' && quoted) {
            c++;
        } else if (*c == '"') {
            quoted = !quoted;
        } else if (!quoted) {
            depth += *c == '{';
            depth -= *c == '}';
        }
        if ((*c == '\n' && quoted) || depth > 1u << 20)
            abort();
    }
    if (quoted || depth != 0)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    g_autoptr(GString) tsdl = g_string_new(NULL), notes = g_string_new(NULL);
    g_autoptr(GError) error = NULL;
    if (fm_ctf2_to_tsdl((const char *)data, size, tsdl, notes, &error))
        check_tsdl(tsdl->str);
    else if (error == NULL || !g_str_has_prefix(error->message, "offset ") || tsdl->len > 0)
        abort();
    g_free(fm_ctf_clock_2((const char *)data, size));
    return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "base/text/demangle.h"

#include <glib.h>
#include <stdlib.h>
#include <string.h>

/* The C++ ABI's own function, from the compiler's C++ library. */
char *__cxa_demangle(const char *mangled, char *buffer, size_t *length, int *status);

char *fm_demangle(const char *symbol)
{
    if (strncmp(symbol, "_Z", 2) != 0)
        return g_strdup(symbol);
    int status = 0;
    char *plain = __cxa_demangle(symbol, NULL, NULL, &status);
    if (plain == NULL)
        return g_strdup(symbol);
    char *result = g_strdup(plain);
    free(plain);
    return result;
}

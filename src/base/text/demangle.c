/* SPDX-License-Identifier: Apache-2.0 */
#include "base/text/demangle.h"

#include <glib.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* Function of the C++ ABI, from the compiler's C++ library. */
char *__cxa_demangle(const char *mangled, char *buffer, size_t *length, int *status);

/* clang numbers unnamed classes: main::$_0. Those with an operator(), and those passed as
 * arguments, are lambdas: they are renamed as gcc names them. */
static char *name_lambdas(const char *plain)
{
    if (strstr(plain, "$_") == NULL)
        return g_strdup(plain);
    GString *named = g_string_new(NULL);
    for (const char *at = plain; *at != '\0';) {
        size_t digits = strncmp(at, "$_", 2) == 0 ? strspn(at + 2, "0123456789") : 0;
        const char *behind = digits > 0 ? at + 2 + digits : at;
        bool has_member = strncmp(behind, "::", 2) == 0 && strncmp(behind, "::operator()", 12) != 0;
        if (digits > 0 && !has_member) {
            g_string_append_printf(named, "{lambda#%lu}", strtoul(at + 2, NULL, 10) + 1);
            at = behind;
        } else {
            g_string_append_c(named, *at++);
        }
    }
    return g_string_free(named, FALSE);
}

/* gfortran: __alpha_MOD_work of module alpha. */
static char *name_fortran(const char *symbol)
{
    const char *module = symbol + 2, *mark = strstr(module, "_MOD_");
    if (mark == NULL || mark == module || mark[5] == '\0')
        return g_strdup(symbol);
    return g_strdup_printf("%.*s::%s", (int)(mark - module), module, mark + 5);
}

char *fm_demangle(const char *symbol)
{
    if (strncmp(symbol, "__", 2) == 0)
        return name_fortran(symbol);
    if (strncmp(symbol, "_Z", 2) != 0)
        return g_strdup(symbol);
    int status = 0;
    char *plain = __cxa_demangle(symbol, NULL, NULL, &status);
    if (plain == NULL)
        return g_strdup(symbol);
    char *result = name_lambdas(plain);
    free(plain);
    return result;
}

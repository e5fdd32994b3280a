/* SPDX-License-Identifier: Apache-2.0 */
#include "base/text/number.h"

#include <math.h>

char *fm_number_digits(uint64_t value, char *end)
{
    do {
        *--end = (char)('0' + value % 10);
        value /= 10;
    } while (value);
    return end;
}

void fm_append_plain_int(GString *out, int64_t value)
{
    char digits[21];
    char *end = digits + sizeof digits;
    char *at = fm_number_digits(value < 0 ? -(uint64_t)value : (uint64_t)value, end);

    if (value < 0)
        *--at = '-';
    g_string_append_len(out, at, end - at);
}

void fm_append_shortest(GString *out, double value, int least_digits)
{
    g_return_if_fail(least_digits >= 1 && least_digits <= 17);
    char text[G_ASCII_DTOSTR_BUF_SIZE];

    for (int digits = least_digits; digits <= 17; digits++) {
        char format[8];

        g_snprintf(format, sizeof format, "%%.%dg", digits);
        g_ascii_formatd(text, sizeof text, format, value);
        double back = g_ascii_strtod(text, NULL);
        if (!(back < value) && !(back > value))
            break;
    }
    g_string_append(out, text);
}

bool fm_append_plain_double(GString *out, double value)
{
    if (!isfinite(value))
        return false;
    if (fabs(value) < 1e15 && !(trunc(value) < value) && !(trunc(value) > value))
        fm_append_plain_int(out, (int64_t)value);
    else
        fm_append_shortest(out, value, 15);
    return true;
}

char *fm_number_utc(int64_t ns)
{
    enum { SECOND_NS = 1000000000 };
    int64_t seconds = ns / SECOND_NS, rest = ns % SECOND_NS;
    if (rest < 0) {
        seconds--;
        rest += SECOND_NS;
    }
    g_autoptr(GDateTime) moment = g_date_time_new_from_unix_utc(seconds);
    g_autofree char *text = g_date_time_format(moment, "%Y-%m-%dT%H:%M:%S");
    return g_strdup_printf("%s.%09" G_GINT64_FORMAT "Z", text, (gint64)rest);
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "base/files/kept_name.h"

#include <glib.h>
#include <string.h>

#include "base/files/beside.h"

size_t fm_kept_stamp_length(const char *text)
{
    static const char form[] = "dddddddd-ddddddZ";
    size_t at = 0;
    for (; form[at] != '\0'; at++) {
        if (form[at] == 'd' ? !g_ascii_isdigit(text[at]) : text[at] != form[at])
            return 0;
    }
    size_t digits = text[at] == '-' ? strspn(text + at + 1, "0123456789") : 0;
    at += digits > 0 ? digits + 1 : 0;
    return text[at] == '.' ? at : 0;
}

static int number(const char *digits, unsigned count)
{
    int value = 0;
    for (unsigned i = 0; i < count; i++)
        value = 10 * value + g_ascii_digit_value(digits[i]);
    return value;
}

/* False: no such date. */
static bool parse_stamp(const char *stamp, int64_t *ret_s)
{
    g_autoptr(GDateTime) began =
        g_date_time_new_utc(number(stamp, 4), number(stamp + 4, 2), number(stamp + 6, 2),
                            number(stamp + 9, 2), number(stamp + 11, 2), number(stamp + 13, 2));
    if (began == NULL)
        return false;
    *ret_s = g_date_time_to_unix(began);
    return true;
}

bool fm_kept_name_parse(const char *file, struct fm_kept_name *ret)
{
    g_return_val_if_fail(file != NULL && ret != NULL, false);
    if (!g_str_has_suffix(file, FM_PROFILE_ENDING))
        return false;
    for (const char *dot = strchr(file + 1, '.'); dot != NULL; dot = strchr(dot + 1, '.')) {
        size_t length = fm_kept_stamp_length(dot + 1);
        if (length == 0 || !parse_stamp(dot + 1, &ret->began_s))
            continue;
        ret->name_length = (size_t)(dot - file);
        ret->stem_length = ret->name_length + 1 + length;
        return true;
    }
    return false;
}

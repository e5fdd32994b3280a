/* SPDX-License-Identifier: Apache-2.0 */
#include "exchange/import/browser/chrome_text.h"

#include <math.h>
#include <string.h>

#include "base/text/demangle.h"

bool fm_chrome_nanoseconds(struct fm_json_value value, int64_t *ret)
{
    const char *at = value.at, *end = value.end;
    int64_t whole = 0;
    double number;
    if (at == NULL)
        return false;
    if (*at == '"') {
        at++;
        end--;
    }
    bool negative = at < end && *at == '-';
    at += negative;
    if (at == end)
        return false;
    const char *digits = at;
    for (; at < end && g_ascii_isdigit(*at); at++) {
        if (__builtin_mul_overflow(whole, 10, &whole) ||
            __builtin_add_overflow(whole, *at - '0', &whole))
            return false;
    }
    if (at == digits || __builtin_mul_overflow(whole, 1000, &whole))
        return false;
    if (at < end && *at == '.') {
        static const int64_t weights[] = {100, 10, 1};
        at++;
        for (unsigned i = 0; at < end && g_ascii_isdigit(*at); at++, i++) {
            if (i < 3)
                whole += weights[i] * (*at - '0');
            else if (i == 3)
                whole += *at >= '5';
        }
    }
    if (at < end) { /* an exponent: no tracer that was met writes one */
        if (!fm_json_number(value, &number) || !(fabs(number) < 9e15))
            return false;
        *ret = llround(number * 1000);
        return true;
    }
    *ret = negative ? -whole : whole;
    return true;
}

char *fm_chrome_closed(const struct fm_import_input *input)
{
    size_t size = input->size;
    while (size > 0 && (g_ascii_isspace((char)input->bytes[size - 1]) ||
                        input->bytes[size - 1] == ',' || input->bytes[size - 1] == '\0'))
        size--;
    if (size == 0 || input->bytes[size - 1] != '}')
        return NULL;
    char *text = g_malloc(size + 2);
    memcpy(text, input->bytes, size);
    text[size] = ']';
    text[size + 1] = '\0';
    return text;
}

char *fm_chrome_build_name(const char *name, struct fm_json_value args)
{
    g_autofree char *detail = fm_json_string(fm_json_member(args, "detail"));
    g_autofree char *told = strcmp(name, "Source") == 0 && detail[0] == '/'
                                ? g_canonicalize_filename(detail, "/")
                                : fm_demangle(detail);
    return told[0] == '\0' ? g_strdup(name) : g_strdup_printf("%s %s", name, told);
}

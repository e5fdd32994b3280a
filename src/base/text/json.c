/* SPDX-License-Identifier: Apache-2.0 */
#include "base/text/json.h"

#include <math.h>
#include <string.h>

#include "base/text/json_read.h"
#include "base/text/number.h"

void fm_json_init(struct fm_json *json, GString *out)
{
    g_return_if_fail(json != NULL && out != NULL);
    *json = (struct fm_json){.out = out};
}

static void append_escaped(GString *out, const char *bytes, size_t size)
{
    const char *end = bytes + size;
    while (bytes < end) {
        const char *run = bytes;
        while (bytes < end && (unsigned char)*bytes >= 0x20 && (unsigned char)*bytes < 0x7F &&
               *bytes != '"' && *bytes != '\\')
            bytes++;
        g_string_append_len(out, run, bytes - run);
        if (bytes == end)
            return;
        gunichar character = (unsigned char)*bytes;
        if (character >= 0x80)
            character = g_utf8_get_char_validated(bytes, MIN(end - bytes, 6));
        bool valid = character <= 0x10FFFF;
        if (character == '"' || character == '\\')
            g_string_append_printf(out, "\\%c", (char)character);
        else if (character == '\n')
            g_string_append(out, "\\n");
        else if (character == '\t')
            g_string_append(out, "\\t");
        else if (character < 0xA0 || character == 0x2028 || character == 0x2029)
            g_string_append_printf(out, "\\u%04x", character);
        else if (valid)
            g_string_append_len(out, bytes, g_utf8_skip[(unsigned char)*bytes]);
        else
            g_string_append(out, "\xEF\xBF\xBD");
        bytes += valid ? g_utf8_skip[(unsigned char)*bytes] : 1;
    }
}

/* Writes the prefix of an item: comma and name. */
static void begin_item(struct fm_json *json, const char *name)
{
    uint64_t bit = (uint64_t)1 << json->depth;
    g_assert((name != NULL) == ((json->object & bit) != 0));
    if (json->filled & bit)
        g_string_append(json->out, json->spaced && !json->line ? ", " : ",");
    if (json->line)
        g_string_append_printf(json->out, "\n%*s", (int)json->indent, "");
    json->line = false;
    json->filled |= bit;
    if (name != NULL) {
        g_string_append_c(json->out, '"');
        append_escaped(json->out, name, strlen(name));
        g_string_append(json->out, json->spaced ? "\": " : "\":");
    }
}

static void open(struct fm_json *json, const char *name, char bracket)
{
    begin_item(json, name);
    g_assert(json->depth < FM_JSON_DEPTH_MAX);
    uint64_t bit = (uint64_t)1 << ++json->depth;
    json->filled &= ~bit;
    json->object = bracket == '{' ? json->object | bit : json->object & ~bit;
    g_string_append_c(json->out, bracket);
}

void fm_json_object(struct fm_json *json, const char *name)
{
    open(json, name, '{');
}

void fm_json_array(struct fm_json *json, const char *name)
{
    open(json, name, '[');
}

void fm_json_end(struct fm_json *json)
{
    g_assert(json->depth > 0);
    if (json->line)
        g_string_append_printf(json->out, "\n%*s", (int)json->indent, "");
    json->line = false;
    g_string_append_c(json->out, json->object >> json->depth & 1 ? '}' : ']');
    json->depth--;
}

void fm_json_line(struct fm_json *json, unsigned indent)
{
    json->line = true;
    json->indent = indent;
}

void fm_json_bytes(struct fm_json *json, const char *name, const void *bytes, size_t size)
{
    begin_item(json, name);
    g_string_append_c(json->out, '"');
    append_escaped(json->out, bytes, size);
    g_string_append_c(json->out, '"');
}

void fm_json_text(struct fm_json *json, const char *name, const char *text)
{
    if (text == NULL)
        fm_json_null(json, name);
    else
        fm_json_bytes(json, name, text, strlen(text));
}

void fm_json_structured(struct fm_json *json, const char *name, const char *bytes, size_t size)
{
    struct fm_json_value value;
    const char *expected;
    size_t offset;
    if (!g_utf8_validate(bytes, (gssize)size, NULL) ||
        !fm_json_check(bytes, size, &value, &offset, &expected) ||
        !(fm_json_is_array(value) || fm_json_is_object(value))) {
        fm_json_bytes(json, name, bytes, size);
        return;
    }
    begin_item(json, name);
    g_string_append_len(json->out, value.at, value.end - value.at);
}

void fm_json_uint(struct fm_json *json, const char *name, uint64_t value)
{
    char digits[20];
    begin_item(json, name);
    char *at = fm_number_digits(value, digits + sizeof digits);
    g_string_append_len(json->out, at, digits + sizeof digits - at);
}

void fm_json_int(struct fm_json *json, const char *name, int64_t value)
{
    begin_item(json, name);
    fm_append_plain_int(json->out, value);
}

void fm_json_double(struct fm_json *json, const char *name, double value)
{
    begin_item(json, name);
    if (!fm_append_plain_double(json->out, value))
        g_string_append(json->out, "null");
}

void fm_json_real(struct fm_json *json, const char *name, double value)
{
    fm_json_double(json, name, value);
    if (fabs(value) < 1e15 && !(trunc(value) < value) && !(trunc(value) > value))
        g_string_append(json->out, ".0");
}

static void append_formatted(struct fm_json *json, const char *name, double value,
                             unsigned precision, char conversion)
{
    char form[8], text[G_ASCII_DTOSTR_BUF_SIZE];
    if (!isfinite(value)) {
        fm_json_null(json, name);
        return;
    }
    g_snprintf(form, sizeof form, "%%.%u%c", precision, conversion);
    begin_item(json, name);
    g_string_append(json->out, g_ascii_formatd(text, sizeof text, form, value));
}

void fm_json_digits(struct fm_json *json, const char *name, double value, unsigned digits)
{
    g_assert(digits >= 1 && digits <= 17);
    append_formatted(json, name, value, digits, 'g');
}

void fm_json_fixed(struct fm_json *json, const char *name, double value, unsigned decimals)
{
    g_assert(decimals <= 9 && !(fabs(value) >= 1e25)); /* must fit into the text buffer */
    append_formatted(json, name, value, decimals, 'f');
}

void fm_json_bool(struct fm_json *json, const char *name, bool value)
{
    begin_item(json, name);
    g_string_append(json->out, value ? "true" : "false");
}

void fm_json_null(struct fm_json *json, const char *name)
{
    begin_item(json, name);
    g_string_append(json->out, "null");
}

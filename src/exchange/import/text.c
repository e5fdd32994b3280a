/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "base/error.h"
#include "exchange/import/internal.h"

bool fm_import_fail(const struct fm_import_input *input, GError **error, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    g_autofree char *message = g_strdup_vprintf(format, arguments);
    va_end(arguments);
    g_set_error(error, FM_ERROR, FM_ERROR_FORMAT, "%s: %s", input->name, message);
    return false;
}

bool fm_import_fail_at(const struct fm_import_input *input, uint64_t offset, int code,
                       GError **error, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    g_autofree char *message = g_strdup_vprintf(format, arguments);
    va_end(arguments);
    g_set_error(error, FM_ERROR, code, "%s: offset %" G_GUINT64_FORMAT ": %s", input->name,
                (guint64)(input->skipped + offset), message);
    return false;
}

void fm_import_text_begin(struct fm_import_text *text, const struct fm_import_input *input)
{
    const char *bytes = input->size > 0 ? (const char *)input->bytes : "";
    *text = (struct fm_import_text){.name = input->name, .at = bytes, .end = bytes + input->size};
}

bool fm_import_text_next(struct fm_import_text *text, const char **ret, size_t *ret_size)
{
    if (text->at == text->end)
        return false;
    const char *newline = memchr(text->at, '\n', (size_t)(text->end - text->at));
    const char *end = newline == NULL ? text->end : newline;
    *ret = text->at;
    *ret_size = (size_t)(end - text->at);
    if (*ret_size > 0 && end[-1] == '\r')
        --*ret_size;
    text->at = newline == NULL ? text->end : newline + 1;
    text->line++;
    return true;
}

void fm_import_text_set_error(const struct fm_import_text *text, int code, GError **error,
                              const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    g_autofree char *message = g_strdup_vprintf(format, arguments);
    va_end(arguments);
    g_set_error(error, FM_ERROR, code, "%s: line %" G_GUINT64_FORMAT ": %s", text->name,
                (guint64)text->line, message);
}

bool fm_import_begins(const struct fm_import_input *input, size_t head, const char *one_of)
{
    size_t at = 0;
    head = MIN(input->size, head);
    while (at < head && g_ascii_isspace((char)input->bytes[at]))
        at++;
    return at < head && input->bytes[at] != '\0' && strchr(one_of, input->bytes[at]) != NULL;
}

bool fm_import_holds(const struct fm_import_input *input, size_t head, const char *text)
{
    return memmem(input->bytes, MIN(input->size, head), text, strlen(text)) != NULL;
}

bool fm_import_json(const struct fm_import_input *input, struct fm_json_value *ret, GError **error)
{
    size_t offset;
    const char *expected;
    if (fm_json_check((const char *)input->bytes, input->size, ret, &offset, &expected))
        return true;
    return fm_import_fail_at(input, offset,
                             offset == input->size ? FM_ERROR_TRUNCATED : FM_ERROR_FORMAT, error,
                             "expected %s", expected);
}

bool fm_import_json_fail(const struct fm_import_input *input, struct fm_json_value at,
                         GError **error, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    g_autofree char *message = g_strdup_vprintf(format, arguments);
    va_end(arguments);
    const char *bytes = (const char *)input->bytes;
    if (at.at < bytes || at.at > bytes + input->size)
        return fm_import_fail(input, error, "%s", message);
    return fm_import_fail_at(input, (uint64_t)(at.at - bytes), FM_ERROR_FORMAT, error, "%s",
                             message);
}

char *fm_import_json_text(struct fm_json_value value)
{
    if (value.at == NULL)
        return g_strdup("0");
    return *value.at == '"' ? fm_json_string(value)
                            : g_strndup(value.at, (gsize)(value.end - value.at));
}

bool fm_import_number(const char *text, size_t size, uint64_t *ret)
{
    uint64_t value = 0;
    if (size == 0)
        return false;
    for (size_t i = 0; i < size; i++) {
        if (text[i] < '0' || text[i] > '9' || __builtin_mul_overflow(value, (uint64_t)10, &value) ||
            __builtin_add_overflow(value, (uint64_t)(text[i] - '0'), &value))
            return false;
    }
    *ret = value;
    return true;
}

char *fm_import_measure_name(const char *text, size_t size)
{
    g_autoptr(GString) name = g_string_new(NULL);
    for (size_t i = 0; i < size && name->len < 32; i++) {
        char c = g_ascii_tolower(text[i]);
        if (g_ascii_islower(c) || (g_ascii_isdigit(c) && name->len > 0))
            g_string_append_c(name, c);
        else if (name->len > 0 && name->str[name->len - 1] != '_')
            g_string_append_c(name, '_');
    }
    while (name->len > 0 && name->str[name->len - 1] == '_')
        g_string_truncate(name, name->len - 1);
    if (name->len == 0)
        g_string_append(name, "cost");
    return g_string_free(g_steal_pointer(&name), FALSE);
}

bool fm_import_sum(uint64_t *sum, uint64_t value)
{
    return !__builtin_add_overflow(*sum, value, sum) && *sum <= INT64_MAX;
}

void fm_import_only_knows(struct fm_build *build, uint32_t known)
{
    for (unsigned m = 0; m < FM_MEASURES_MERCURY; m++) {
        if ((known >> m & 1u) == 0)
            fm_build_unknown(build, (enum fm_measure_id)m);
    }
}

bool fm_import_time_unit(const char *unit, uint64_t *ret_per_second)
{
    static const struct {
        const char *name;
        uint64_t per_second;
    } units[] = {{"nanoseconds", 1000000000},
                 {"ns", 1000000000},
                 {"microseconds", 1000000},
                 {"us", 1000000},
                 {"milliseconds", 1000},
                 {"ms", 1000},
                 {"seconds", 1},
                 {"s", 1}};
    for (unsigned i = 0; i < G_N_ELEMENTS(units); i++) {
        if (strcmp(unit, units[i].name) == 0) {
            *ret_per_second = units[i].per_second;
            return true;
        }
    }
    return false;
}

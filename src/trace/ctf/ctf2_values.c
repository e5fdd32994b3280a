/* SPDX-License-Identifier: Apache-2.0 */
/* Errors with their place, numbers and ranges of the metadata, and ranges as TSDL. */
#include "base/error.h"
#include "trace/ctf/ctf2_internal.h"

/* --- errors --- */

G_GNUC_PRINTF(4, 0)
static bool fail(struct ctf2 *ctf2, struct fm_json_value at, const char *where, const char *format,
                 va_list arguments)
{
    if (ctf2->error != NULL)
        return false;
    g_autofree char *what = g_strdup_vprintf(format, arguments);
    g_set_error(&ctf2->error, FM_ERROR, FM_ERROR_FORMAT, "offset %zu: %s%s",
                at.at == NULL ? 0 : (size_t)(at.at - ctf2->text), where, what);
    return false;
}

bool fm_ctf2_fail(struct ctf2 *ctf2, struct fm_json_value at, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    (void)fail(ctf2, at, "", format, arguments);
    va_end(arguments);
    return false;
}

static void append_name(GString *to, const struct ctf2_field *field)
{
    if (field->parent != NULL)
        append_name(to, field->parent);
    if (field->name[0] != '\0')
        g_string_append_printf(to, "%s%s", to->len == 0 ? "" : ".", field->name);
}

bool fm_ctf2_fail_field(struct ctf2 *ctf2, const struct ctf2_field *field, const char *format, ...)
{
    static const char *const scopes[CTF2_SCOPES] = {
        [CTF2_PACKET_HEADER] = "packet header",       [CTF2_PACKET_CONTEXT] = "packet context",
        [CTF2_EVENT_HEADER] = "event record header",  [CTF2_COMMON_CONTEXT] = "common context",
        [CTF2_SPECIFIC_CONTEXT] = "specific context", [CTF2_PAYLOAD] = "payload",
    };
    g_autoptr(GString) where = g_string_new(NULL);
    append_name(where, field);
    g_string_prepend(where, where->len == 0 ? "" : ", field ");
    g_string_prepend(where, scopes[field->scope]);
    g_string_append(where, ": ");
    va_list arguments;
    va_start(arguments, format);
    (void)fail(ctf2, field->class_, where->str, format, arguments);
    va_end(arguments);
    return false;
}

bool fm_ctf2_number(struct ctf2 *ctf2, struct fm_json_value object, const char *name,
                    uint64_t missing, uint64_t *ret)
{
    struct fm_json_value value = fm_json_member(object, name);
    *ret = missing;
    if (value.at == NULL || fm_json_whole(value, ret))
        return true;
    return fm_ctf2_fail(ctf2, value, "found %.*s, expected a whole number as %s",
                        (int)MIN(value.end - value.at, 40), value.at, name);
}

/* --- ranges --- */

static uint64_t bias_of(const struct ctf2_field *integer)
{
    return integer->is_signed ? CTF2_BIAS : 0;
}

static bool read_bound(struct fm_json_value value, const struct ctf2_field *integer, uint64_t *ret)
{
    bool negative = value.at != NULL && *value.at == '-';
    struct fm_json_value digits = {value.at == NULL ? NULL : value.at + negative, value.end};
    uint64_t most = negative ? CTF2_BIAS : integer->is_signed ? CTF2_BIAS - 1 : UINT64_MAX;
    if (!fm_json_whole(digits, ret) || (negative && !integer->is_signed) || *ret > most)
        return false;
    *ret = (negative ? 0 - *ret : *ret) ^ bias_of(integer);
    return true;
}

bool fm_ctf2_ranges(struct ctf2 *ctf2, const struct ctf2_field *integer, struct fm_json_value value,
                    GArray *ret)
{
    struct fm_json_items items = fm_json_items(value);
    struct fm_json_value item, bound;
    while (fm_json_next(&items, NULL, &item)) {
        struct fm_json_items bounds = fm_json_items(item);
        struct ctf2_range range;
        bool good = fm_json_is_array(item) && fm_json_next(&bounds, NULL, &bound) &&
                    read_bound(bound, integer, &range.low) && fm_json_next(&bounds, NULL, &bound) &&
                    read_bound(bound, integer, &range.high) && range.low <= range.high;
        if (!good)
            return fm_ctf2_fail(ctf2, item, "expected a range [LOW, HIGH] of whole numbers%s",
                                integer->is_signed ? "" : " of at least 0");
        g_array_append_val(ret, range);
    }
    return ret->len > 0 || fm_ctf2_fail(ctf2, value, "expected ranges of whole numbers");
}

void fm_ctf2_append_quoted(GString *to, const char *text)
{
    g_string_append_c(to, '"');
    for (const char *c = text; *c != '\0'; c++) {
        if (g_ascii_iscntrl(*c))
            g_string_append_printf(to, "\\%03o", (unsigned)*c);
        else
            g_string_append_printf(to, "%s%c", *c == '"' || *c == '\\' ? "\\" : "", *c);
    }
    g_string_append_c(to, '"');
}

static void append_bound(GString *to, const struct ctf2_field *integer, uint64_t bound)
{
    if (integer->is_signed)
        g_string_append_printf(to, "%" G_GINT64_FORMAT, (gint64)(bound ^ CTF2_BIAS));
    else
        g_string_append_printf(to, "%" G_GUINT64_FORMAT, bound);
}

void fm_ctf2_append_label(GString *to, const char *label, const struct ctf2_field *integer,
                          const GArray *ranges)
{
    for (guint i = 0; i < ranges->len; i++) {
        const struct ctf2_range *range = &g_array_index(ranges, struct ctf2_range, i);
        fm_ctf2_append_quoted(to, label);
        g_string_append(to, " = ");
        append_bound(to, integer, range->low);
        g_string_append(to, " ... ");
        append_bound(to, integer, range->high);
        g_string_append(to, ", ");
    }
}

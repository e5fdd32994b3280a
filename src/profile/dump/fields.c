/* SPDX-License-Identifier: Apache-2.0 */
#include "profile/dump/fields.h"

#include <inttypes.h>
#include <stdarg.h>

void fm_dump_print(struct fm_dump_out *out, const char *format, ...)
{
    va_list arguments;
    if (out->json != NULL)
        return;
    va_start(arguments, format);
    vfprintf(out->to, format, arguments);
    va_end(arguments);
}

void fm_dump_print_name(struct fm_dump_out *out, const char *name)
{
    if (out->json != NULL)
        return;
    for (const unsigned char *at = (const unsigned char *)name; *at != '\0'; at++) {
        if (*at < 0x20 || *at == 0x7F || *at == '\\')
            fprintf(out->to, "\\x%02x", *at);
        else
            putc(*at, out->to);
    }
}

void fm_dump_uint(struct fm_dump_out *out, const char *text, const char *json, uint64_t value)
{
    if (out->json == NULL && text != NULL)
        fprintf(out->to, "\t%s = %" PRIu64 "\n", text, value);
    else if (out->json != NULL && json != NULL)
        fm_json_uint(out->json, json, value);
}

void fm_dump_id(struct fm_dump_out *out, const char *text, const char *json, const char *kind,
                uint32_t id)
{
    fm_dump_print(out, "\t%s = %s%" PRIu32 "\n", text, kind, id);
    fm_dump_uint(out, NULL, json, id);
}

void fm_dump_array(struct fm_dump_out *out, const char *name, bool on_line)
{
    if (out->json == NULL)
        return;
    if (on_line)
        fm_json_line(out->json, 0);
    fm_json_array(out->json, name);
}

void fm_dump_object(struct fm_dump_out *out, const char *name, bool on_line)
{
    if (out->json == NULL)
        return;
    if (on_line)
        fm_json_line(out->json, 0);
    fm_json_object(out->json, name);
}

void fm_dump_end(struct fm_dump_out *out)
{
    if (out->json != NULL)
        fm_json_end(out->json);
}

void fm_dump_uints(struct fm_dump_out *out, const char *name, const uint64_t *values,
                   uint32_t count)
{
    fm_dump_array(out, name, false);
    for (uint32_t i = 0; out->json != NULL && i < count; i++)
        fm_json_uint(out->json, NULL, values[i]);
    fm_dump_end(out);
}

void fm_dump_flush(struct fm_dump_out *out, size_t bytes_kept)
{
    if (out->text->len <= bytes_kept)
        return;
    fwrite(out->text->str, 1, out->text->len, out->to);
    g_string_truncate(out->text, 0);
}

static uint64_t number_of(const struct fm_dump_field *field, const char *of)
{
    const void *at = of + field->offset;
    switch (field->form) {
    case FM_FIELD_NUMBER:
    case FM_FIELD_KNOWN:
        return *(const uint64_t *)at;
    case FM_FIELD_FLAG:
    case FM_FIELD_YESNO:
        return *(const bool *)at;
    default:
        return *(const uint32_t *)at;
    }
}

static bool is_text(enum fm_dump_form form)
{
    return form == FM_FIELD_NAME || form == FM_FIELD_TEXT || form == FM_FIELD_TEXT_KNOWN;
}

static bool is_missing(const struct fm_dump_field *field, const char *text, uint64_t number)
{
    bool needs = field->form == FM_FIELD_KNOWN || field->form == FM_FIELD_KNOWN32 ||
                 field->form == FM_FIELD_CSD;
    return (field->form == FM_FIELD_TEXT_KNOWN && (text == NULL || text[0] == '\0')) ||
           (needs && number == 0);
}

static void json_field(struct fm_json *json, const struct fm_dump_field *field, const char *text,
                       uint64_t number)
{
    if (is_missing(field, text, number))
        fm_json_null(json, field->json);
    else if (is_text(field->form))
        fm_json_text(json, field->json, text);
    else if (field->form == FM_FIELD_FLAG || field->form == FM_FIELD_YESNO)
        fm_json_bool(json, field->json, number != 0);
    else
        fm_json_uint(json, field->json, number);
}

static void print_field(struct fm_dump_out *out, const struct fm_dump_field *field,
                        const char *text, uint64_t number)
{
    bool unknown = field->form == FM_FIELD_CSD ||
                   (field->form == FM_FIELD_TEXT && (text == NULL || text[0] == '\0'));
    fm_dump_print(out, "\t%s = ", field->text);
    if (is_missing(field, text, number) || (field->form == FM_FIELD_TEXT && unknown)) {
        fm_dump_print(out, unknown ? "not known\n" : "not recorded\n");
        return;
    }
    if (field->form == FM_FIELD_NAME) {
        fm_dump_print_name(out, text);
    } else if (is_text(field->form)) {
        g_autofree char *safe = g_strescape(text, "\"");
        fm_dump_print(out, "%s", safe);
    } else if (field->form == FM_FIELD_YESNO) {
        fm_dump_print(out, "%s", number != 0 ? "yes" : "no");
    } else {
        fm_dump_print(out, "%s%" PRIu64, field->form == FM_FIELD_CSD ? "csd" : "", number);
    }
    fm_dump_print(out, "\n");
}

void fm_dump_fields(struct fm_dump_out *out, const struct fm_dump_field *fields, size_t count,
                    const void *of)
{
    for (size_t i = 0; i < count; i++) {
        const struct fm_dump_field *field = &fields[i];
        const void *at = (const char *)of + field->offset;
        const char *text = is_text(field->form) ? *(const char *const *)at : NULL;
        uint64_t number = is_text(field->form) ? 0 : number_of(field, of);
        if (out->json != NULL && field->json != NULL)
            json_field(out->json, field, text, number);
        else if (out->json == NULL && field->text != NULL)
            print_field(out, field, text, number);
    }
}

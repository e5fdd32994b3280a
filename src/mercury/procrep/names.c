/* SPDX-License-Identifier: Apache-2.0 */
/* A name is encoded in 32 bits: twice an offset into the module's strings; or, when bit 0 is set, a
 * kind (5 bits), a number (10 bits) and an offset (16 bits) from which the text is generated. */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "mercury/procrep/internal.h"

enum name_kind {
    NAME_STATE_VARIABLE,
    NAME_TYPE_CTOR_INFO,
    NAME_TYPE_INFO,
    NAME_BASE_TYPECLASS_INFO,
    NAME_TYPECLASS_INFO,
    NAME_POLY_CONST,
    NAME_KINDS,
};
#define GENERATED_BYTES_MAX 159
#define NUMBER_MAX 1023u

static const char *generate(enum name_kind kind, uint32_t number, const char *base,
                            struct fm_strings **strings)
{
    char text[GENERATED_BYTES_MAX + 1];
    switch (kind) {
    case NAME_STATE_VARIABLE:
        if (number == 0)
            g_snprintf(text, sizeof text, "STATE_VARIABLE_%s", base);
        else
            g_snprintf(text, sizeof text, "STATE_VARIABLE_%s_%u", base, number - 1);
        break;
    case NAME_TYPE_CTOR_INFO:
        g_snprintf(text, sizeof text, "TypeCtorInfo_%u", number);
        break;
    case NAME_TYPE_INFO:
        g_snprintf(text, sizeof text, "TypeInfo_%u", number);
        break;
    case NAME_BASE_TYPECLASS_INFO:
        g_snprintf(text, sizeof text, "BaseTypeClassInfo_for_%s", base);
        break;
    case NAME_TYPECLASS_INFO:
        g_snprintf(text, sizeof text, "TypeClassInfo_for_%s", base);
        break;
    default:
        g_snprintf(text, sizeof text, "PolyConst%u", number);
    }
    if (*strings == NULL)
        *strings = fm_strings_new();
    return fm_strings_add(*strings, text);
}

bool fm_read_name(struct fm_reader *in, const char *what, const struct fm_procrep_module *module,
                  struct fm_strings **strings, const char **ret, GError **error)
{
    const uint8_t *begin = in->at;
    uint32_t code;
    if (!fm_read_u32(in, what, &code, error))
        return false;
    bool generated = (code & 1) != 0;
    uint32_t kind = code >> 1 & 0x1f, number = code >> 6 & NUMBER_MAX;
    uint32_t offset = generated ? code >> 16 : code >> 1;
    if (generated && kind >= NAME_KINDS)
        return fm_reader_fail(in, begin, FM_ERROR_FORMAT, error,
                              "%s is a generated name of kind %u, expected 0 to %d", what, kind,
                              NAME_KINDS - 1);
    /* The table ends with a NUL, so every string in it is terminated. */
    if (offset >= module->strings_size)
        return fm_reader_fail(in, begin, FM_ERROR_FORMAT, error,
                              "%s at offset %u of its module's strings, expected less than %zu",
                              what, offset, module->strings_size);
    const char *base = module->strings + offset;
    *ret = generated ? generate((enum name_kind)kind, number, base, strings) : base;
    return true;
}

/* Handles only names without a base: the others are in the table of strings. */
uint32_t fm_name_generated_code(const char *name)
{
    static const struct {
        const char *prefix;
        enum name_kind kind;
    } kinds[] = {{"PolyConst", NAME_POLY_CONST},
                 {"TypeCtorInfo_", NAME_TYPE_CTOR_INFO},
                 {"TypeInfo_", NAME_TYPE_INFO}};
    for (size_t i = 0; i < G_N_ELEMENTS(kinds); i++) {
        size_t length = strlen(kinds[i].prefix);
        if (strncmp(name, kinds[i].prefix, length) != 0)
            continue;
        const char *digits = name + length;
        size_t count = strspn(digits, "0123456789");
        if (count == 0 || count > 4 || digits[count] != '\0' || (count > 1 && digits[0] == '0'))
            return 0;
        unsigned long number = strtoul(digits, NULL, 10);
        return number > NUMBER_MAX ? 0 : 1u | (uint32_t)kinds[i].kind << 1 | (uint32_t)number << 6;
    }
    return 0;
}

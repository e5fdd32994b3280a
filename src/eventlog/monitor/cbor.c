/* SPDX-License-Identifier: Apache-2.0 */
#include "eventlog/monitor/cbor.h"

#include <string.h>

enum { OPEN_LIST = 0x9F, OPEN_MAP = 0xBF, BREAK = 0xFF, NO = 0xF4, YES = 0xF5 };

void fm_cbor_head(GByteArray *out, enum fm_cbor_major major, uint64_t value)
{
    uint8_t head[9];
    size_t bytes = value < 24            ? 0
                   : value <= 0xFF       ? 1
                   : value <= 0xFFFF     ? 2
                   : value <= 0xFFFFFFFF ? 4
                                         : 8;
    static const uint8_t sizes[] = {0, 24, 25, 0, 26, 0, 0, 0, 27};
    head[0] = (uint8_t)(major << 5 | (bytes == 0 ? value : sizes[bytes]));
    for (size_t i = 0; i < bytes; i++)
        head[1 + i] = (uint8_t)(value >> (8 * (bytes - 1 - i)));
    g_byte_array_append(out, head, (guint)(1 + bytes));
}

void fm_cbor_signed(GByteArray *out, int64_t value)
{
    if (value < 0)
        fm_cbor_head(out, FM_CBOR_NEGATIVE, (uint64_t)(-1 - value));
    else
        fm_cbor_head(out, FM_CBOR_UNSIGNED, (uint64_t)value);
}

void fm_cbor_string(GByteArray *out, enum fm_cbor_major major, const void *bytes, size_t length)
{
    fm_cbor_head(out, major, length);
    g_byte_array_append(out, bytes, (guint)length);
}

static void put_byte(GByteArray *out, uint8_t byte)
{
    g_byte_array_append(out, &byte, 1);
}

void fm_cbor_bool(GByteArray *out, bool value)
{
    put_byte(out, value ? YES : NO);
}

void fm_cbor_begin_list(GByteArray *out)
{
    put_byte(out, OPEN_LIST);
}

void fm_cbor_end_list(GByteArray *out)
{
    put_byte(out, BREAK);
}

static bool wrong(struct fm_cbor *cbor)
{
    cbor->wrong = true;
    return false;
}

bool fm_cbor_take_head(struct fm_cbor *cbor, enum fm_cbor_major major, uint64_t *ret)
{
    *ret = 0;
    if (cbor->wrong || cbor->at == cbor->end || *cbor->at >> 5 != (int)major)
        return wrong(cbor);
    uint8_t low = *cbor->at++ & 31;
    if (low < 24) {
        *ret = low;
        return true;
    }
    if (low > 27)
        return wrong(cbor);
    size_t bytes = (size_t)1 << (low - 24);
    if ((size_t)(cbor->end - cbor->at) < bytes)
        return wrong(cbor);
    for (size_t i = 0; i < bytes; i++)
        *ret = *ret << 8 | *cbor->at++;
    return true;
}

bool fm_cbor_take_signed(struct fm_cbor *cbor, int64_t *ret)
{
    uint64_t value;
    *ret = 0;
    if (cbor->wrong || cbor->at == cbor->end)
        return wrong(cbor);
    bool negative = *cbor->at >> 5 == FM_CBOR_NEGATIVE;
    if (!fm_cbor_take_head(cbor, negative ? FM_CBOR_NEGATIVE : FM_CBOR_UNSIGNED, &value))
        return false;
    if (value > INT64_MAX)
        return wrong(cbor);
    *ret = negative ? -1 - (int64_t)value : (int64_t)value;
    return true;
}

bool fm_cbor_take_string(struct fm_cbor *cbor, enum fm_cbor_major major, const uint8_t **ret,
                         size_t *ret_length)
{
    uint64_t length;
    *ret = cbor->at;
    *ret_length = 0;
    if (!fm_cbor_take_head(cbor, major, &length))
        return false;
    if (length > (uint64_t)(cbor->end - cbor->at))
        return wrong(cbor);
    *ret = cbor->at;
    *ret_length = (size_t)length;
    cbor->at += length;
    return true;
}

bool fm_cbor_take_bool(struct fm_cbor *cbor, bool *ret)
{
    *ret = false;
    if (cbor->wrong || cbor->at == cbor->end || (*cbor->at != NO && *cbor->at != YES))
        return wrong(cbor);
    *ret = *cbor->at++ == YES;
    return true;
}

bool fm_cbor_take_list(struct fm_cbor *cbor, enum fm_cbor_major major, struct fm_cbor_list *ret)
{
    *ret = (struct fm_cbor_list){0};
    if (cbor->wrong || cbor->at == cbor->end)
        return wrong(cbor);
    if (*cbor->at == (major == FM_CBOR_MAP ? OPEN_MAP : OPEN_LIST)) {
        cbor->at++;
        ret->open = true;
        return true;
    }
    return fm_cbor_take_head(cbor, major, &ret->left);
}

bool fm_cbor_more(struct fm_cbor *cbor, struct fm_cbor_list *list)
{
    if (cbor->wrong)
        return false;
    if (!list->open)
        return list->left > 0 && list->left-- > 0;
    if (cbor->at == cbor->end)
        return wrong(cbor);
    if (*cbor->at != BREAK)
        return true;
    cbor->at++;
    return false;
}

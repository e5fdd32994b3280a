/* SPDX-License-Identifier: Apache-2.0 */
/* Reads numbers, texts and labels in the file's encoding. */
#include "mercury/procrep/internal.h"

#include <string.h>

#include "base/error.h"

bool fm_read_u16(struct fm_reader *in, const char *what, uint32_t *ret, GError **error)
{
    if (fm_reader_left(in) < 2)
        return fm_reader_fail(in, in->end, FM_ERROR_TRUNCATED, error,
                              "unexpected end of file or procedure, expected %s", what);
    *ret = (uint32_t)in->at[0] << 8 | in->at[1];
    in->at += 2;
    return true;
}

bool fm_read_u32(struct fm_reader *in, const char *what, uint32_t *ret, GError **error)
{
    uint32_t value;
    if (fm_reader_left(in) < sizeof value)
        return fm_reader_fail(in, in->end, FM_ERROR_TRUNCATED, error,
                              "unexpected end of file or procedure, expected %s", what);
    memcpy(&value, in->at, sizeof value);
    in->at += sizeof value;
    *ret = GUINT32_FROM_BE(value);
    return true;
}

bool fm_read_count(struct fm_reader *in, const char *what, size_t item_bytes, uint32_t *ret,
                   GError **error)
{
    g_return_val_if_fail(item_bytes > 0, false);
    const uint8_t *before = in->at;
    if (!fm_read_u32(in, what, ret, error))
        return false;
    if (*ret > fm_reader_left(in) / item_bytes)
        return fm_reader_fail(in, before, FM_ERROR_TRUNCATED, error,
                              "%s is %u, expected at most the %zu for which %zu bytes are left",
                              what, *ret, fm_reader_left(in) / item_bytes, fm_reader_left(in));
    return true;
}

bool fm_read_text(struct fm_reader *in, const char *what, struct fm_strings *strings,
                  const char **ret, GError **error)
{
    const char *bytes;
    size_t length;
    if (!fm_reader_string(in, what, &bytes, &length, error))
        return false;
    *ret = fm_strings_add_bytes(strings, bytes, length);
    return true;
}

bool fm_read_label(struct fm_reader *in, struct fm_strings *strings, struct fm_proc_label *ret,
                   GError **error)
{
    const uint8_t *begin = in->at;
    uint8_t kind;
    memset(ret, 0, sizeof *ret);
    ret->type_name = "";
    if (!fm_reader_byte(in, "kind of a procedure's label", &kind, error))
        return false;
    if (kind > FM_LABEL_SPECIAL)
        return fm_reader_fail(in, begin, FM_ERROR_FORMAT, error,
                              "kind of a procedure's label is %u, expected 0 to 2", kind);
    ret->kind = (enum fm_label_kind)kind;
    if (kind == FM_LABEL_SPECIAL &&
        !fm_read_text(in, "name of a type", strings, &ret->type_name, error))
        return false;
    return fm_read_text(in, "declaring module", strings, &ret->decl_module, error) &&
           fm_read_text(in, "defining module", strings, &ret->def_module, error) &&
           fm_read_text(in, "name of a procedure", strings, &ret->name, error) &&
           fm_reader_u32(in, "arity", &ret->arity, error) &&
           fm_reader_u32(in, "mode number", &ret->mode, error);
}

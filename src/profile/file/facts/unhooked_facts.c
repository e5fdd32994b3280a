/* SPDX-License-Identifier: Apache-2.0 */
/* Time in code without hooks, in the file: each place stands there once. */
#include <string.h>

#include "base/error.h"
#include "profile/file/encode.h"
#include "profile/file/facts/facts.h"

#define PLACE_BYTES_LEAST 3 /* kind, and two empty strings */
#define COST_BYTES_LEAST 3

/* --- reading --- */

static bool read_count(struct fm_profile_reading *reading, const char *what, uint32_t least,
                       uint32_t *ret, GError **error)
{
    struct fm_reader *in = &reading->in;
    const uint8_t *at = in->at;
    if (!fm_reader_u32(in, what, ret, error))
        return false;
    if (*ret <= fm_reader_left(in) / least)
        return true;
    return fm_reader_fail(in, at, FM_ERROR_TRUNCATED, error,
                          "%s %u, but unexpected end of file after %zu bytes", what, *ret,
                          fm_reader_left(in));
}

static bool read_place(struct fm_profile_reading *reading, struct fm_unhooked *place,
                       GError **error)
{
    struct fm_reader *in = &reading->in;
    const uint8_t *at = in->at;
    uint32_t kind;
    if (!fm_reader_u32(in, "kind of code without hooks", &kind, error))
        return false;
    if (kind >= FM_UNHOOKED_KINDS)
        return fm_reader_fail(in, at, FM_ERROR_FORMAT, error,
                              "kind of code without hooks is %u, expected 0 to %d", kind,
                              FM_UNHOOKED_KINDS - 1);
    place->kind = (enum fm_unhooked_kind)kind;
    return fm_read_string(reading, "file of code without hooks", &place->object, error) &&
           fm_read_string(reading, "function without hooks", &place->function, error);
}

static bool read_number(struct fm_profile_reading *reading, const char *what, uint32_t most,
                        uint32_t *ret, GError **error)
{
    struct fm_reader *in = &reading->in;
    const uint8_t *at = in->at;
    if (!fm_reader_u32(in, what, ret, error))
        return false;
    if (*ret != 0 && *ret <= most)
        return true;
    return fm_reader_fail(in, at, FM_ERROR_FORMAT, error, "%s is %u, expected 1 to %u", what, *ret,
                          most);
}

static bool read_cost(struct fm_profile_reading *reading, const GArray *places, GError **error)
{
    struct fm_reader *in = &reading->in;
    uint32_t csd, number;
    uint64_t quanta;
    if (!read_number(reading, "context that called code without hooks", reading->profile->csd_count,
                     &csd, error) ||
        !read_number(reading, "number of code without hooks", places->len, &number, error))
        return false;
    const uint8_t *at = in->at;
    if (!fm_reader_num(in, "quanta of code without hooks", &quanta, error))
        return false;
    if (quanta == 0)
        return fm_reader_fail(in, at, FM_ERROR_FORMAT, error,
                              "0 quanta of code without hooks, expected at least 1");
    struct fm_unhooked of = g_array_index(places, struct fm_unhooked, number - 1);
    of.csd = csd;
    of.quanta = quanta;
    fm_unhooked_info_add(&reading->profile->run_info.unhooked, &of);
    return true;
}

bool fm_read_unhooked(struct fm_profile_reading *reading, GError **error)
{
    struct fm_reader *in = &reading->in;
    struct fm_unhooked_info *info = &reading->profile->run_info.unhooked;
    const uint8_t *begin = in->at;
    uint32_t count;
    if (info->recorded)
        return fm_reader_fail(in, begin, FM_ERROR_FORMAT, error,
                              "code without hooks twice, expected it once");
    info->recorded = true;
    if (!fm_reader_num(in, "quanta of unknown code", &info->unknown_quanta, error) ||
        !read_count(reading, "number of places without hooks", PLACE_BYTES_LEAST, &count, error))
        return false;
    g_autoptr(GArray) places = g_array_new(FALSE, TRUE, sizeof(struct fm_unhooked));
    for (uint32_t i = 0; i < count; i++) {
        struct fm_unhooked place = {0};
        if (!read_place(reading, &place, error))
            return false;
        g_array_append_val(places, place);
    }
    if (!read_count(reading, "number of costs without hooks", COST_BYTES_LEAST, &count, error))
        return false;
    for (uint32_t i = 0; i < count; i++) {
        if (!read_cost(reading, places, error))
            return false;
    }
    return true;
}

/* --- writing --- */

static guint hash_place(gconstpointer key)
{
    const struct fm_unhooked *place = key;
    return (g_str_hash(place->object) * 31 + g_str_hash(place->function)) * 31 + place->kind;
}

static gboolean equal_places(gconstpointer a, gconstpointer b)
{
    const struct fm_unhooked *p = a, *q = b;
    return p->kind == q->kind && strcmp(p->object, q->object) == 0 &&
           strcmp(p->function, q->function) == 0;
}

void fm_encode_unhooked(struct fm_writer *writer, const struct fm_unhooked_info *info)
{
    g_autoptr(GHashTable) numbers = g_hash_table_new(hash_place, equal_places);
    g_autoptr(GPtrArray) places = g_ptr_array_new();
    if (!info->recorded)
        return;
    for (uint32_t i = 0; i < info->count; i++) {
        if (g_hash_table_contains(numbers, &info->of[i]))
            continue;
        g_ptr_array_add(places, &info->of[i]);
        g_hash_table_insert(numbers, &info->of[i], GUINT_TO_POINTER(places->len));
    }
    fm_writer_byte(writer, FM_FACT_UNHOOKED);
    fm_writer_num(writer, info->unknown_quanta);
    fm_writer_num(writer, places->len);
    for (guint i = 0; i < places->len; i++) {
        const struct fm_unhooked *place = g_ptr_array_index(places, i);
        fm_writer_num(writer, place->kind);
        fm_writer_string(writer, place->object);
        fm_writer_string(writer, place->function);
    }
    fm_writer_num(writer, info->count);
    for (uint32_t i = 0; i < info->count; i++) {
        fm_writer_num(writer, info->of[i].csd);
        fm_writer_num(writer, GPOINTER_TO_UINT(g_hash_table_lookup(numbers, &info->of[i])));
        fm_writer_num(writer, info->of[i].quanta);
    }
}

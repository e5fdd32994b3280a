/* SPDX-License-Identifier: Apache-2.0 */
#include "exchange/import/perfetto/packets.h"

#include <string.h>
#include <zlib.h>

#include "base/error.h"

#define TRACE_PACKET 0x0a /* field 1 of the trace, a message */
enum { PACKET_COMPRESSED = 50, PACKET_ZSTD = 133 };
#define UNPACKED_TIMES 100u /* the file's size, as for whole files */
#define UNPACKED_ALWAYS ((size_t)64 << 20)

void fm_perfetto_packets_init(struct fm_perfetto_packets *p, const struct fm_import_input *input)
{
    *p = (struct fm_perfetto_packets){
        .input = input,
        .unpacked = g_ptr_array_new_with_free_func((GDestroyNotify)g_byte_array_unref)};
}

void fm_perfetto_packets_done(struct fm_perfetto_packets *p)
{
    g_ptr_array_unref(p->unpacked);
}

static size_t room_left(const struct fm_perfetto_packets *p)
{
    size_t most = p->input->file_size > (G_MAXSIZE - UNPACKED_ALWAYS) / UNPACKED_TIMES
                      ? G_MAXSIZE
                      : p->input->file_size * UNPACKED_TIMES + UNPACKED_ALWAYS;
    return MIN(most, (size_t)G_MAXUINT / 2) -
           MIN(p->unpacked_size, MIN(most, (size_t)G_MAXUINT / 2));
}

/* A stream of zlib's; false: it is damaged, or too large. */
static bool inflate_all(const struct fm_perfetto_packets *p, const struct fm_field *field,
                        GByteArray *to)
{
    uint8_t part[1 << 14];
    z_stream stream = {.next_in = (Bytef *)(uintptr_t)field->bytes,
                       .avail_in = (uInt)MIN(field->size, UINT_MAX)};
    int told = Z_OK;
    size_t room = room_left(p);
    if (inflateInit(&stream) != Z_OK)
        return false;
    while (told == Z_OK && to->len <= room) {
        stream.next_out = part;
        stream.avail_out = sizeof part;
        told = inflate(&stream, Z_NO_FLUSH);
        g_byte_array_append(to, part, (guint)(sizeof part - stream.avail_out));
    }
    inflateEnd(&stream);
    return told == Z_STREAM_END && to->len <= room;
}

static bool unpack(struct fm_perfetto_packets *p, const struct fm_field *field, GByteArray **ret,
                   GError **error)
{
    g_autoptr(GByteArray) bytes = NULL;
    if (field->number == PACKET_ZSTD) {
        if (!fm_import_unpack(p->input->name, field->bytes, field->size, &bytes, error))
            return false;
    } else {
        bytes = g_byte_array_new();
        if (!inflate_all(p, field, bytes))
            g_clear_pointer(&bytes, g_byte_array_unref);
    }
    if (bytes == NULL || bytes->len > room_left(p)) {
        g_set_error(error, FM_ERROR, FM_ERROR_FORMAT,
                    "%s: compressed packets of %zu bytes are damaged, or larger unpacked than "
                    "those of a file of %zu bytes are",
                    p->input->name, field->size, p->input->file_size);
        return false;
    }
    p->unpacked_size += bytes->len;
    *ret = g_byte_array_ref(bytes);
    g_ptr_array_add(p->unpacked, g_steal_pointer(&bytes));
    return true;
}

static bool walk(struct fm_perfetto_packets *p, const uint8_t *bytes, size_t size, bool inner,
                 fm_perfetto_take *take, void *user, GError **error);

/* Packets within one stand in no further one. */
static bool take_packet(struct fm_perfetto_packets *p, const struct fm_field *packet, bool inner,
                        fm_perfetto_take *take, void *user, GError **error)
{
    struct fm_field field;
    for (struct fm_fields fields = fm_fields_in(packet); fm_fields_next(&fields, &field);) {
        g_autoptr(GByteArray) unpacked = NULL;
        if (inner || field.wire != FM_WIRE_BYTES ||
            (field.number != PACKET_COMPRESSED && field.number != PACKET_ZSTD))
            continue;
        return unpack(p, &field, &unpacked, error) &&
               walk(p, unpacked->data, unpacked->len, true, take, user, error);
    }
    p->count++;
    return take(user, packet, error);
}

/* Zero bytes between packets are padding. */
static bool walk(struct fm_perfetto_packets *p, const uint8_t *bytes, size_t size, bool inner,
                 fm_perfetto_take *take, void *user, GError **error)
{
    for (size_t at = 0; at < size;) {
        struct fm_fields fields = fm_fields_of(bytes + at, size - at);
        struct fm_field packet;
        if (bytes[at] == 0) {
            at++;
            continue;
        }
        if (bytes[at] != TRACE_PACKET && (bytes[at] & 7) > FM_WIRE_BYTES) {
            g_set_error(error, FM_ERROR, FM_ERROR_FORMAT, "%s: offset %zu%s: expected a packet",
                        p->input->name, at, inner ? " of compressed packets" : "");
            return false;
        }
        if (!fm_fields_next(&fields, &packet)) {
            p->cut = true;
            return true;
        }
        at = (size_t)(fields.at - bytes);
        if (packet.number == 1 && packet.wire == FM_WIRE_BYTES &&
            !take_packet(p, &packet, inner, take, user, error))
            return false;
    }
    return true;
}

bool fm_perfetto_packets_walk(struct fm_perfetto_packets *p, fm_perfetto_take *take, void *user,
                              GError **error)
{
    return walk(p, p->input->bytes, p->input->size, false, take, user, error);
}

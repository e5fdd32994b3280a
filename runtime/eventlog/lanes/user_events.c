/* SPDX-License-Identifier: Apache-2.0 */
/* Events of types that the program declares, logged as such or as messages. */
#include "lanes/lane.h"
#include "core/types.h"

/* Text of a message; cut when it is too long. */
struct text {
    char data[FM_EL_MESSAGE_MAX + 1];
    size_t used;
};

static void put(struct text *t, const char *data, size_t bytes)
{
    size_t room = FM_EL_MESSAGE_MAX - t->used;
    bytes = bytes < room ? bytes : room;
    memcpy(t->data + t->used, data, bytes);
    t->used += bytes;
}

static void put_number(struct text *t, uint64_t v, unsigned base)
{
    char digits[20];
    size_t at = sizeof(digits);
    do {
        digits[--at] = "0123456789abcdef"[v % base];
        v /= base;
    } while (v);
    put(t, digits + at, sizeof(digits) - at);
}

static void put_real(struct text *t, uint64_t bits)
{
    char digits[40];
    double v;
    memcpy(&v, &bits, 8);
    int n = snprintf(digits, sizeof(digits), "%.17g", v);
    for (int i = 0; i < n; i++)
        if (!strchr("0123456789+-einfa", digits[i]))
            digits[i] = '.'; /* the decimal point of the program's locale */
    put(t, digits, n > 0 ? (size_t)n : 0);
}

static void put_value(struct text *t, const char *kind, size_t bytes,
                      const struct fm_eventlog_piece_ *piece)
{
    if (bytes == 4 && memcmp(kind, "strz", 4) == 0) {
        put(t, "\"", 1);
        put(t, piece->data, piece->bytes - 1);
        put(t, "\"", 1);
        return;
    }
    uint64_t v = piece->bytes == 8 ? fm_el_get64(piece->data) : fm_el_get32(piece->data);
    bool is_signed = bytes == 3 && memcmp(kind, "i64", 3) == 0;
    if (bytes == 3 && memcmp(kind, "f64", 3) == 0) {
        put_real(t, v);
    } else if (bytes == 4 && memcmp(kind, "addr", 4) == 0) {
        put(t, "0x", 2);
        put_number(t, v, 16);
    } else {
        put(t, "-", is_signed && (int64_t)v < 0);
        put_number(t, is_signed && (int64_t)v < 0 ? 0 - v : v, 10);
    }
}

/* "NAME field=value field=value", as readers show the event. */
static void message(const struct fm_eventlog_event_type_ *type,
                    const struct fm_eventlog_piece_ *pieces, unsigned n)
{
    struct text t = {.used = 0};
    const char *field = type->fields;
    put(&t, type->name, strlen(type->name));
    for (unsigned i = 0; i < n; i++) {
        size_t name = strcspn(field, "=");
        const char *kind = field + name + (field[name] == '=');
        size_t bytes = strcspn(kind, ",");
        put(&t, " ", 1);
        put(&t, field, name);
        put(&t, "=", 1);
        put_value(&t, kind, bytes, &pieces[i]);
        field = kind + bytes + (kind[bytes] == ',');
    }
    fm_el_append(FM_EVENT_USER_MESSAGE, t.data, t.used, NULL, 0);
}

void fm_eventlog_event_(struct fm_eventlog_event_type_ *type,
                        const struct fm_eventlog_piece_ *pieces, unsigned n)
{
    FM_EL_FORWARD(event_, type, pieces, n);
    uint16_t number = __atomic_load_n(&type->number, __ATOMIC_RELAXED);
    if (number == 0 && fm_el_user_type_is_usable(type)) {
        number = (uint16_t)(FM_EVENTLOG_EVENT_FIRST + type->index);
        __atomic_store_n(&type->number, number, __ATOMIC_RELAXED);
    }
    if (!fm_eventlog_on())
        return;
    if (number != 0)
        fm_el_append_pieces(number, pieces, n);
    else
        message(type, pieces, n);
}

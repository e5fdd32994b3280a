/* SPDX-License-Identifier: Apache-2.0 */
/* Event types that the program and its plugins declare. A type keeps its place for the life of the
 * process. Those before usable are, or will be, in the header of each destination: once the first
 * header is made, types that come are not, and their events are messages. */
#include "copies.h"
#include "internal.h"

#include <assert.h>

enum {
    TYPES_MAX = FM_EVENTLOG_EVENT_END - FM_EVENTLOG_EVENT_FIRST,
    NAME_BYTES_MAX = 256,
    FIELDS_BYTES_MAX = 2048
};

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static struct user_type {
    char *name, *fields; /* never freed: a plugin that declared it may go */
} types[TYPES_MAX];
static uint32_t count; /* under the mutex, as is closed */
static bool closed;
static _Atomic uint32_t usable;

static uint16_t *size_at(uint32_t index)
{
    return &fm_el_sizes[FM_EVENTLOG_EVENT_FIRST + index];
}

static int32_t find(const struct fm_eventlog_event_type_ *t)
{
    for (uint32_t i = 0; i < count; i++)
        if (strcmp(types[i].name, t->name) == 0 && strcmp(types[i].fields, t->fields) == 0 &&
            *size_at(i) == t->size)
            return (int32_t)i;
    return -1;
}

static int32_t add(const struct fm_eventlog_event_type_ *t)
{
    size_t name = strlen(t->name) + 1, fields = strlen(t->fields) + 1;
    if (count == TYPES_MAX || name > NAME_BYTES_MAX || fields > FIELDS_BYTES_MAX)
        return -1;
    char *text = fm_el_pool_alloc(name + fields);
    if (!text)
        return -1;
    memcpy(text, t->name, name);
    memcpy(text + name, t->fields, fields);
    types[count] = (struct user_type){text, text + name};
    *size_at(count) = t->size;
    return (int32_t)count++;
}

void fm_eventlog_declare_(struct fm_eventlog_event_type_ *type)
{
    FM_EL_FORWARD(declare_, type);
    uint32_t before = fm_el_enter();
    pthread_mutex_lock(&mutex);
    int32_t index = find(type);
    type->index = index >= 0 ? index : add(type);
    if (!closed)
        atomic_store(&usable, count);
    pthread_mutex_unlock(&mutex);
    fm_el_leave(before);
}

unsigned fm_el_user_types_close(void)
{
    pthread_mutex_lock(&mutex);
    closed = true;
    pthread_mutex_unlock(&mutex);
    return atomic_load(&usable);
}

void fm_el_user_types_open(void)
{
    if (atomic_load(&fm_el.stream_on) || atomic_load(&fm_el.memory_on) ||
        atomic_load(&fm_el.clients_on)) /* it came before this log's start */
        return;
    pthread_mutex_lock(&mutex);
    closed = false;
    atomic_store(&usable, count);
    pthread_mutex_unlock(&mutex);
}

/* In the child, whose destinations are none yet. What another thread was about to add is not there.
 */
void fm_el_user_types_after_fork(void)
{
    pthread_mutex_init(&mutex, NULL);
    fm_el_user_types_open();
}

void fm_el_user_type(unsigned index, const char **ret_name, const char **ret_fields)
{
    assert(index < atomic_load(&usable));
    *ret_name = types[index].name;
    *ret_fields = types[index].fields;
}

/* ---- events -----------------------------------------------------------------------------------
 */

/* Text of a message, cut where there is no more room. */
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
            digits[i] = '.'; /* the point of the program's locale */
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
    if (number == 0 && type->index >= 0 && (uint32_t)type->index < atomic_load(&usable)) {
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

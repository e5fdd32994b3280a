/* SPDX-License-Identifier: Apache-2.0 */
/* Event types that the program and its plugins declare. A type keeps its place for the life of the
 * process. Types below `usable` are in the header of each destination. Types that are declared
 * after the first header was made are not, so their events are logged as messages. */
#include "core/pool.h"
#include "core/shared.h"
#include "core/types.h"

enum {
    TYPES_MAX = FM_EVENTLOG_EVENT_END - FM_EVENTLOG_EVENT_FIRST,
    NAME_BYTES_MAX = 256,
    FIELDS_BYTES_MAX = 2048
};

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static struct user_type {
    char *name, *fields; /* never freed, since the plugin that declared them may be unloaded */
} types[TYPES_MAX];
static uint32_t count; /* under the mutex, like closed */
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
    FM_EL_ASSERT(!closed || count >= atomic_load(&usable));
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
        atomic_load(&fm_el.clients_on)) /* it was declared before the log's start */
        return;
    pthread_mutex_lock(&mutex);
    closed = false;
    atomic_store(&usable, count);
    pthread_mutex_unlock(&mutex);
}

/* For a child of fork, which has no destinations yet. A type that another thread was adding does
 * not exist in it. */
void fm_el_user_types_after_fork(void)
{
    pthread_mutex_init(&mutex, NULL);
    fm_el_user_types_open();
}

void fm_el_user_type(unsigned index, const char **ret_name, const char **ret_fields)
{
    FM_EL_ASSERT(index < atomic_load(&usable));
    *ret_name = types[index].name;
    *ret_fields = types[index].fields;
}

bool fm_el_user_type_is_usable(const struct fm_eventlog_event_type_ *type)
{
    return type->index >= 0 && (uint32_t)type->index < atomic_load(&usable);
}

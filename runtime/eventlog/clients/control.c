/* SPDX-License-Identifier: Apache-2.0 */
#include "clients/protocol.h"
#include "core/shared.h"
#include "core/pool.h"

#include <errno.h>

static const uint8_t magic[4] = {0xF0, 0x9E, 0x97, 0x8C};
enum { AT_VERSION = 4, AT_LENGTH, AT_NAME, AT_NUMBER };

static bool restart(struct fm_el_control *c, uint8_t byte)
{
    c->state = byte == magic[0];
    return false;
}

bool fm_el_control_feed(struct fm_el_control *c, uint8_t byte, struct fm_el_command *ret)
{
    switch (c->state) {
    case AT_VERSION:
        if (byte > 1)
            return restart(c, byte);
        c->version = byte;
        c->state = AT_LENGTH;
        return false;
    case AT_LENGTH:
        if (byte == 0)
            return restart(c, byte);
        c->name_bytes = byte;
        c->got = 0;
        c->state = AT_NAME;
        return false;
    case AT_NAME:
        FM_EL_ASSERT(c->got < c->name_bytes);
        c->name[c->got++] = (char)byte;
        if (c->got == c->name_bytes)
            c->state = AT_NUMBER;
        return false;
    case AT_NUMBER:
        *ret = (struct fm_el_command){
            .version = c->version, .number = byte, .name_bytes = c->name_bytes};
        memcpy(ret->name, c->name, c->name_bytes);
        c->state = 0;
        return true;
    default:
        if (byte != magic[c->state])
            return restart(c, byte);
        c->state++;
        return false;
    }
}

/* ---- registrations ----------------------------------------------------------------------------
 */

enum { COMMANDS_MAX = 1024 };
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static struct registration {
    char name[256];
    uint8_t name_bytes, number;
    fm_eventlog_command handler;
    void *context;
} * commands; /* COMMANDS_MAX entries; allocated at the first registration */
static unsigned count;

static bool same_name(const struct registration *r, const char *name, uint8_t bytes)
{
    return r->name_bytes == bytes && memcmp(r->name, name, bytes) == 0;
}

static int change(const char *name, uint8_t bytes, uint8_t number, fm_eventlog_command handler,
                  void *context)
{
    if (!commands && !(commands = fm_el_pool_alloc(COMMANDS_MAX * sizeof(*commands))))
        return -ENOMEM;
    for (unsigned i = 0; i < count; i++) {
        if (!same_name(&commands[i], name, bytes) || commands[i].number != number)
            continue;
        if (handler)
            return -EEXIST;
        commands[i] = commands[--count];
        return 0;
    }
    if (!handler)
        return -ENOENT;
    if (count == COMMANDS_MAX)
        return -ENOSPC;
    FM_EL_ASSERT(bytes > 0 && count < COMMANDS_MAX);
    struct registration *r = &commands[count++];
    *r = (struct registration){
        .name_bytes = bytes, .number = number, .handler = handler, .context = context};
    memcpy(r->name, name, bytes);
    return 0;
}

int fm_eventlog_on_command(const char *name_space, uint8_t number, fm_eventlog_command handler,
                           void *context)
{
    FM_EL_FORWARD(on_command, name_space, number, handler, context);
    size_t bytes = strlen(name_space);
    if (bytes == 0 || bytes > 255)
        return -EINVAL;
    if (strcmp(name_space, "fathom") == 0 || strncmp(name_space, "token=", 6) == 0)
        return -EEXIST;
    uint32_t before = fm_el_enter();
    pthread_mutex_lock(&mutex);
    int result = change(name_space, (uint8_t)bytes, number, handler, context);
    pthread_mutex_unlock(&mutex);
    fm_el_leave(before);
    return result;
}

uint8_t fm_el_control_run(const struct fm_el_command *c)
{
    uint8_t status = FM_EVENTLOG_ANSWER_UNKNOWN_SPACE;
    fm_eventlog_command handler = NULL;
    void *context = NULL;
    pthread_mutex_lock(&mutex);
    for (unsigned i = 0; i < count; i++) {
        if (!same_name(&commands[i], c->name, c->name_bytes))
            continue;
        status = FM_EVENTLOG_ANSWER_UNKNOWN_NUMBER;
        if (commands[i].number == c->number) {
            handler = commands[i].handler;
            context = commands[i].context;
            break;
        }
    }
    pthread_mutex_unlock(&mutex);
    if (!handler)
        return status;
    fm_el_leave(0); /* the handler may log, and call anything */
    status = handler(context, c->name, c->number);
    fm_el_enter();
    return status;
}

void fm_el_control_answer(struct fm_el_bytes *b, const struct fm_el_command *c, uint8_t status)
{
    uint8_t version = 1;
    fm_el_put(b, magic, sizeof(magic));
    fm_el_put(b, &version, 1);
    fm_el_put(b, &c->name_bytes, 1);
    fm_el_put(b, c->name, c->name_bytes);
    fm_el_put(b, &c->number, 1);
    fm_el_put(b, &status, 1);
}

void fm_el_control_after_fork(void)
{
    pthread_mutex_init(&mutex, NULL);
}

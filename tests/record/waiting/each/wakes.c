/* SPDX-License-Identifier: Apache-2.0 */
/* What ends the waits. */
#include "each.h"

static char bytes[4096];

static int nonblocking(int fd, int on)
{
    int flags = fcntl(fd, F_GETFL);
    return fcntl(fd, F_SETFL, on ? flags | O_NONBLOCK : flags & ~O_NONBLOCK);
}

void fill(int fd)
{
    nonblocking(fd, 1);
    while (write(fd, bytes, sizeof bytes) > 0)
        ;
    while (write(fd, bytes, 1) > 0)
        ;
    nonblocking(fd, 0);
}

void drain(int fd)
{
    char into[4096];
    nonblocking(fd, 1);
    while (read(fd, into, sizeof into) > 0)
        ;
    nonblocking(fd, 0);
}

void fill_queue(void)
{
    long sent[33] = {1};
    while (msgsnd(full_queue, sent, 256, IPC_NOWAIT) == 0)
        ;
    while (msgsnd(full_queue, sent, 8, IPC_NOWAIT) == 0)
        ;
}

/* Under the same number again. */
static void replace(int *fd, int by)
{
    if (*fd == 0) {
        *fd = by;
        return;
    }
    dup2(by, *fd);
    close(by);
}

void crowd(void)
{
    static int number;
    memset(&crowded, 0, sizeof crowded);
    crowded.sun_family = AF_UNIX;
    snprintf(crowded.sun_path, sizeof crowded.sun_path, "crowded%d", number++);
    int fd = socket(AF_UNIX, SOCK_STREAM, 0), refused = 0;
    bind(fd, (struct sockaddr *)&crowded, sizeof crowded);
    listen(fd, 0);
    replace(&crowded_listener, fd);
    while (!refused) { /* until nobody more may wait */
        fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0);
        refused = connect(fd, (struct sockaddr *)&crowded, sizeof crowded) != 0;
        close(fd);
    }
    replace(&crowded_fd, socket(AF_UNIX, SOCK_STREAM, 0));
}

static void accept_all(int fd)
{
    int got;
    nonblocking(fd, 1);
    while ((got = accept(fd, NULL, NULL)) >= 0)
        close(got);
    nonblocking(fd, 0);
}

static void call(void)
{
    struct sockaddr_un at;
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0);
    memset(&at, 0, sizeof at);
    at.sun_family = AF_UNIX;
    snprintf(at.sun_path, sizeof at.sun_path, "listener");
    connect(fd, (struct sockaddr *)&at, sizeof at);
    close(fd);
}

/* Who waits has the mutex before, and keeps it behind. */
static void signal_condition(struct own *own, int c11)
{
    if (c11 && mtx_trylock(&own->c11_mutex) == thrd_success) {
        cnd_signal(&own->c11_condition);
        mtx_unlock(&own->c11_mutex);
    } else if (!c11 && pthread_mutex_trylock(&own->mutex) == 0) {
        pthread_cond_signal(&own->condition);
        pthread_mutex_unlock(&own->mutex);
    }
}

static void unlock(enum wake wake, struct own *own)
{
    if (wake == UNLOCK)
        pthread_mutex_unlock(&own->held);
    else if (wake == UNLOCK_C11)
        mtx_unlock(&own->c11_held);
    else
        pthread_rwlock_unlock(&own->held_rwlock);
}

static void open_both_ends(const char *name)
{
    int fd = open(name, O_RDWR | O_NONBLOCK);
    brief();
    close(fd);
}

static void wake_by_message(enum wake wake)
{
    char taken[4096];
    long sent[2] = {2, 0};
    if (wake == MESSAGE)
        msgsnd(queue, sent, 8, IPC_NOWAIT);
    else if (wake == MESSAGE_ROOM)
        msgrcv(full_queue, taken, 256, 0, IPC_NOWAIT);
    else if (wake == MQ_TAKEN)
        mq_receive(messages_now, taken, sizeof taken, NULL);
    else if (wake == MQ_SENT)
        mq_send(messages_sent, "a", 1, 0);
    else
        semctl(semaphores, 0, SETVAL, 1);
}

void wake_up(enum wake wake, struct own *own, pthread_t thread, int first)
{
    eventfd_t value;
    switch (wake) {
    case BYTE:
        (void)!write(empty[1], "5 five\n", 7);
        return;
    case ROOM:
        drain(full[0]);
        return;
    case DATAGRAM:
        send(quiet[1], "five5", 5, MSG_DONTWAIT);
        return;
    case SPACE:
        drain(busy[1]);
        return;
    case CALLER:
        call();
        return;
    case CROWD:
        accept_all(crowded_listener);
        return;
    case COUNT:
        eventfd_write(counter, 5);
        return;
    case UNCOUNT:
        if (first)
            eventfd_read(full_counter, &value);
        return;
    case UNLOCK:
    case UNLOCK_C11:
    case UNLOCK_RW:
        if (first)
            unlock(wake, own);
        return;
    case SIGNALLED:
    case SIGNALLED_C11: /* again, as one that comes before the wait is lost */
        signal_condition(own, wake == SIGNALLED_C11);
        return;
    case POST:
        if (first)
            sem_post(&own->semaphore);
        return;
    case POST_ONCE:
        sem_post(&once_ends);
        return;
    case MEET:
        if (first)
            pthread_barrier_wait(&own->of_two);
        return;
    case SENT:
        pthread_kill(thread, SIGRTMIN + 3); /* again: it is ignored where it is not blocked yet */
        return;
    case WRITER:
    case READER:
        open_both_ends(wake == WRITER ? "fifo" : "written");
        return;
    default:
        wake_by_message(wake);
    }
}

void forget_wake(enum wake wake)
{
    char taken[4096];
    switch (wake) {
    case BYTE:
        drain(empty[0]);
        return;
    case ROOM:
        fill(full[1]);
        return;
    case DATAGRAM:
        drain(quiet[0]);
        return;
    case SPACE:
        fill(busy[0]);
        return;
    case CALLER:
        accept_all(listener);
        return;
    case CROWD:
        crowd();
        return;
    case COUNT:
        drain(counter);
        return;
    case UNCOUNT:
        drain(full_counter);
        eventfd_write(full_counter, UINT64_MAX - 1);
        return;
    case MESSAGE:
        while (msgrcv(queue, taken, 256, 0, IPC_NOWAIT) >= 0)
            ;
        return;
    case MESSAGE_ROOM:
        fill_queue();
        return;
    case INCREASE:
        semctl(semaphores, 0, SETVAL, 0);
        return;
    case MQ_TAKEN:
        mq_send(messages_now, "a", 1, 0);
        return;
    case MQ_SENT:
        mq_receive(messages_sent, taken, sizeof taken, NULL);
        return;
    case POST_ONCE:
        while (sem_trywait(&once_ends) == 0)
            ;
        return;
    default:
        return;
    }
}

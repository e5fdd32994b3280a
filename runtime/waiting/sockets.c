/* SPDX-License-Identifier: Apache-2.0 */
/* Sockets, and waiting for any of several descriptors. */
#include "waiting.h"

#include <netdb.h>
#include <poll.h>
#include <resolv.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/socket.h>

extern ssize_t __recv_chk(int fd, void *buffer, size_t bytes, size_t room, int flags);
extern ssize_t __recvfrom_chk(int fd, void *restrict buffer, size_t bytes, size_t room, int flags,
                              __SOCKADDR_ARG address, socklen_t *restrict size);
extern int __poll_chk(struct pollfd *fds, nfds_t count, int time, size_t room);
extern int __ppoll_chk(struct pollfd *fds, nfds_t count, const struct timespec *time,
                       const sigset_t *mask, size_t room);

#define CALLS(X)        \
    X(recv)             \
    X(recvfrom)         \
    X(recvmsg)          \
    X(recvmmsg)         \
    X(__recv_chk)       \
    X(__recvfrom_chk)   \
    X(send)             \
    X(sendto)           \
    X(sendmsg)          \
    X(sendmmsg)         \
    X(accept)           \
    X(accept4)          \
    X(connect)          \
    X(poll)             \
    X(ppoll)            \
    X(__poll_chk)       \
    X(__ppoll_chk)      \
    X(select)           \
    X(pselect)          \
    X(epoll_wait)       \
    X(epoll_pwait)      \
    X(epoll_pwait2)     \
    X(getaddrinfo)      \
    X(getnameinfo)      \
    X(gethostbyname)    \
    X(gethostbyname2)   \
    X(gethostbyaddr)    \
    X(gethostbyname_r)  \
    X(gethostbyname2_r) \
    X(gethostbyaddr_r)  \
    X(gai_suspend)      \
    X(getaddrinfo_a)    \
    X(res_query)        \
    X(res_search)       \
    X(res_querydomain)  \
    X(res_send)         \
    X(res_nquery)       \
    X(res_nsearch)      \
    X(res_nquerydomain) \
    X(res_nsend)
FM_WAIT_NEXT(CALLS)

#define RECEIVE(name, parameters, arguments)                                                 \
    FM_WAIT_CALL_UNLESS((flags & MSG_DONTWAIT) != 0, FM_REC_WAIT_RECEIVE, fd, ssize_t, name, \
                        parameters, arguments)
RECEIVE(recv, (int fd, void *buffer, size_t bytes, int flags), (fd, buffer, bytes, flags))
RECEIVE(__recv_chk, (int fd, void *buffer, size_t bytes, size_t room, int flags),
        (fd, buffer, bytes, room, flags))
RECEIVE(recvfrom,
        (int fd, void *restrict buffer, size_t bytes, int flags, __SOCKADDR_ARG address,
         socklen_t *restrict size),
        (fd, buffer, bytes, flags, address, size))
RECEIVE(__recvfrom_chk,
        (int fd, void *restrict buffer, size_t bytes, size_t room, int flags,
         __SOCKADDR_ARG address, socklen_t *restrict size),
        (fd, buffer, bytes, room, flags, address, size))
RECEIVE(recvmsg, (int fd, struct msghdr *message, int flags), (fd, message, flags))
FM_WAIT_CALL_UNLESS((flags & MSG_DONTWAIT) != 0, FM_REC_WAIT_RECEIVE, fd, int, recvmmsg,
                    (int fd, struct mmsghdr *messages, unsigned count, int flags,
                     struct timespec *time),
                    (fd, messages, count, flags, time))

#define SEND(type, name, parameters, arguments)                                                    \
    FM_WAIT_CALL_UNLESS((flags & MSG_DONTWAIT) != 0, FM_REC_WAIT_SEND, fd, type, name, parameters, \
                        arguments)
SEND(ssize_t, send, (int fd, const void *buffer, size_t bytes, int flags),
     (fd, buffer, bytes, flags))
SEND(ssize_t, sendto,
     (int fd, const void *buffer, size_t bytes, int flags, __CONST_SOCKADDR_ARG address,
      socklen_t size),
     (fd, buffer, bytes, flags, address, size))
SEND(ssize_t, sendmsg, (int fd, const struct msghdr *message, int flags), (fd, message, flags))
SEND(int, sendmmsg, (int fd, struct mmsghdr *messages, unsigned count, int flags),
     (fd, messages, count, flags))

FM_WAIT_CALL(FM_REC_WAIT_ACCEPT, fd, int, accept,
             (int fd, __SOCKADDR_ARG address, socklen_t *restrict size), (fd, address, size))
FM_WAIT_CALL(FM_REC_WAIT_ACCEPT, fd, int, accept4,
             (int fd, __SOCKADDR_ARG address, socklen_t *restrict size, int flags),
             (fd, address, size, flags))
FM_WAIT_CALL(FM_REC_WAIT_CONNECT, fd, int, connect,
             (int fd, __CONST_SOCKADDR_ARG address, socklen_t size), (fd, address, size))

static inline bool is_zero(const struct timespec *time)
{
    return time != NULL && time->tv_sec == 0 && time->tv_nsec == 0;
}

#define READY(no_time, name, parameters, arguments) \
    FM_WAIT_CALL_UNLESS(no_time, FM_REC_WAIT_READY, 0, int, name, parameters, arguments)
READY(time == 0, poll, (struct pollfd * fds, nfds_t count, int time), (fds, count, time))
READY(time == 0, __poll_chk, (struct pollfd * fds, nfds_t count, int time, size_t room),
      (fds, count, time, room))
READY(is_zero(time), ppoll,
      (struct pollfd * fds, nfds_t count, const struct timespec *time, const sigset_t *mask),
      (fds, count, time, mask))
READY(is_zero(time), __ppoll_chk,
      (struct pollfd * fds, nfds_t count, const struct timespec *time, const sigset_t *mask,
       size_t room),
      (fds, count, time, mask, room))
READY(time != NULL && time->tv_sec == 0 && time->tv_usec == 0, select,
      (int count, fd_set *restrict reads, fd_set *restrict writes, fd_set *restrict others,
       struct timeval *restrict time),
      (count, reads, writes, others, time))
READY(is_zero(time), pselect,
      (int count, fd_set *restrict reads, fd_set *restrict writes, fd_set *restrict others,
       const struct timespec *restrict time, const sigset_t *restrict mask),
      (count, reads, writes, others, time, mask))
READY(time == 0, epoll_wait, (int fd, struct epoll_event *events, int room, int time),
      (fd, events, room, time))
READY(time == 0, epoll_pwait,
      (int fd, struct epoll_event *events, int room, int time, const sigset_t *mask),
      (fd, events, room, time, mask))
READY(is_zero(time), epoll_pwait2,
      (int fd, struct epoll_event *events, int room, const struct timespec *time,
       const sigset_t *mask),
      (fd, events, room, time, mask))

FM_WAIT_CALL(FM_REC_WAIT_RESOLVE, 0, int, getaddrinfo,
             (const char *restrict node, const char *restrict service,
              const struct addrinfo *restrict hints, struct addrinfo **restrict found),
             (node, service, hints, found))
FM_WAIT_CALL(FM_REC_WAIT_RESOLVE, 0, int, getnameinfo,
             (const struct sockaddr *restrict address, socklen_t size, char *restrict host,
              socklen_t host_room, char *restrict service, socklen_t service_room, int flags),
             (address, size, host, host_room, service, service_room, flags))
FM_WAIT_CALL(FM_REC_WAIT_RESOLVE, 0, struct hostent *, gethostbyname, (const char *name), (name))
#define RESOLVE(type, name, parameters, arguments) \
    FM_WAIT_CALL(FM_REC_WAIT_RESOLVE, 0, type, name, parameters, arguments)
RESOLVE(struct hostent *, gethostbyname2, (const char *name, int family), (name, family))
RESOLVE(struct hostent *, gethostbyaddr, (const void *address, socklen_t size, int family),
        (address, size, family))
RESOLVE(int, gethostbyname_r,
        (const char *restrict name, struct hostent *restrict to, char *restrict room, size_t bytes,
         struct hostent **restrict found, int *restrict error),
        (name, to, room, bytes, found, error))
RESOLVE(int, gethostbyname2_r,
        (const char *restrict name, int family, struct hostent *restrict to, char *restrict room,
         size_t bytes, struct hostent **restrict found, int *restrict error),
        (name, family, to, room, bytes, found, error))
RESOLVE(int, gethostbyaddr_r,
        (const void *restrict address, socklen_t size, int family, struct hostent *restrict to,
         char *restrict room, size_t bytes, struct hostent **restrict found, int *restrict error),
        (address, size, family, to, room, bytes, found, error))
RESOLVE(int, gai_suspend,
        (const struct gaicb *const requests[], int count, const struct timespec *time),
        (requests, count, time))
FM_WAIT_CALL_UNLESS(mode != GAI_WAIT, FM_REC_WAIT_RESOLVE, 0, int, getaddrinfo_a,
                    (int mode, struct gaicb *requests[restrict], int count,
                     struct sigevent *restrict event),
                    (mode, requests, count, event))
RESOLVE(int, res_query, (const char *name, int class, int type, unsigned char *answer, int room),
        (name, class, type, answer, room))
RESOLVE(int, res_search, (const char *name, int class, int type, unsigned char *answer, int room),
        (name, class, type, answer, room))
RESOLVE(int, res_querydomain,
        (const char *name, const char *domain, int class, int type, unsigned char *answer,
         int room),
        (name, domain, class, type, answer, room))
RESOLVE(int, res_send, (const unsigned char *query, int bytes, unsigned char *answer, int room),
        (query, bytes, answer, room))
RESOLVE(int, res_nquery,
        (res_state state, const char *name, int class, int type, unsigned char *answer, int room),
        (state, name, class, type, answer, room))
RESOLVE(int, res_nsearch,
        (res_state state, const char *name, int class, int type, unsigned char *answer, int room),
        (state, name, class, type, answer, room))
RESOLVE(int, res_nquerydomain,
        (res_state state, const char *name, const char *domain, int class, int type,
         unsigned char *answer, int room),
        (state, name, domain, class, type, answer, room))
RESOLVE(int, res_nsend,
        (res_state state, const unsigned char *query, int bytes, unsigned char *answer, int room),
        (state, query, bytes, answer, room))

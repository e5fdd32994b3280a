/* SPDX-License-Identifier: Apache-2.0 */
/* A process may contain several copies of this library: for example a program and a plugin that
 * both link the archive, with separate symbols. The first copy in the loader's list becomes the
 * leader. The others find it by a note in its object, and forward their calls to it. */
#pragma once
#include <fathom/eventlog.h>

#define FM_EL_CALLS(X)    \
    X(start)              \
    X(stop)               \
    X(status)             \
    X(set_sink_with)      \
    X(set_writer)         \
    X(open_file)          \
    X(is_live)            \
    X(get_sink)           \
    X(chunk_get)          \
    X(chunk_take)         \
    X(chunk_release)      \
    X(chunk_wait)         \
    X(chunk_fd)           \
    X(finish)             \
    X(resize)             \
    X(buffer_size)        \
    X(flush)              \
    X(set_flush_interval) \
    X(stats)              \
    X(intern)             \
    X(label_thread)       \
    X(thread_id)          \
    X(thread_new)         \
    X(thread_run)         \
    X(thread_stop)        \
    X(thread_runnable)    \
    X(thread_label)       \
    X(lock_name)          \
    X(declare_)           \
    X(event_)             \
    X(listen)             \
    X(port)               \
    X(unlisten)           \
    X(on_command)

struct fm_el_copy {
    uint32_t version, bytes;
    bool (*append)(uint16_t type, const void *first, size_t first_bytes, const void *second,
                   size_t second_bytes);
    void (*follow)(int *active, bool from_now_on); /* keeps *active equal to the leader's flag */
#define X(name) __typeof__(fm_eventlog_##name) *name;
    FM_EL_CALLS(X)
#undef X
};
/* the description of this copy */
extern const struct fm_el_copy fm_el_copy __attribute__((visibility("hidden")));
/* NULL: this copy is the leader. */
extern const struct fm_el_copy *fm_el_leader;
#define FM_EL_FORWARD(name, ...)                    \
    do {                                            \
        if (fm_el_leader)                           \
            return fm_el_leader->name(__VA_ARGS__); \
    } while (0)
void fm_el_copies_follow(int *active, bool from_now_on);
void fm_el_copies_update(int active);
void fm_el_copies_after_fork(void);

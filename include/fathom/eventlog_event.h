/* SPDX-License-Identifier: Apache-2.0 */
/* fathom/eventlog_event.h - event types that a program declares. Included by fathom/eventlog.h.
 *
 *     FM_EVENT(request, text(path), integer(status), real(seconds));
 *     ...
 *     fm_event_request("/index", 200, 0.0125);
 *
 * FM_EVENT is used at file scope, in C or C++, also in a header of the program. It defines a
 * function fm_event_NAME that logs one event; without a destination a call costs one test. 1 to
 * 12 fields:
 *
 *     field         parameter            in the log
 *     integer(x)    int64_t x            i64
 *     count(x)      uint64_t x           w64
 *     real(x)       double x             f64
 *     text(x)       const char *x        strz; NULL is the empty text
 *     address(x)    const void *x        addr
 *     bytes(x)      uint64_t x           bytes
 *     ns(x)         uint64_t x           ns
 *     name(x)       uint32_t x           name, of fm_eventlog_intern
 *
 * Types get the numbers 640 to 895 when their object is loaded, the same for equal declarations,
 * and are in the header of each log. A type loaded when a log already has its header (a
 * plugin's), or for which no number is left, is in no header: its events are user messages (19)
 * with the same text, until a log is started again. [signal], except for real numbers in such a
 * message. Events longer than 65,535 bytes are dropped and counted. */
#pragma once
#include <stdint.h>
#include <string.h>

#ifndef FM_EVENTLOG_API
#error "include <fathom/eventlog.h>"
#endif

#define FM_EVENTLOG_EVENT_FIRST 640
#define FM_EVENTLOG_EVENT_END 896

#ifdef __cplusplus
extern "C" {
#endif

/* The type that FM_EVENT declares. fields: as in the header of a log; size: of the payload, 0xFFFF
 * = variable. number: 0 = ask the library; index: among all types, -1 = none. */
struct fm_eventlog_event_type_ {
    const char *name, *fields;
    uint16_t size, number;
    int32_t index;
};
struct fm_eventlog_piece_ {
    const void *data;
    size_t bytes;
};
FM_EVENTLOG_API void fm_eventlog_declare_(struct fm_eventlog_event_type_ *type);
/* pieces: one for each field, in the byte order of the log. */
FM_EVENTLOG_API void fm_eventlog_event_(struct fm_eventlog_event_type_ *type,
                                        const struct fm_eventlog_piece_ *pieces, unsigned count);

FM_EVENTLOG_INLINE_ uint64_t fm_eventlog_real_(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, 8);
    return fm_eventlog_be64_(bits);
}

#ifdef __cplusplus
}
#endif

/* ---- parameters of a field, by its kind */
#define FM_EVENTLOG_PARAMETER_integer(x) int64_t x
#define FM_EVENTLOG_PARAMETER_count(x) uint64_t x
#define FM_EVENTLOG_PARAMETER_real(x) double x
#define FM_EVENTLOG_PARAMETER_text(x) const char *x
#define FM_EVENTLOG_PARAMETER_address(x) const void *x
#define FM_EVENTLOG_PARAMETER_bytes(x) uint64_t x
#define FM_EVENTLOG_PARAMETER_ns(x) uint64_t x
#define FM_EVENTLOG_PARAMETER_name(x) uint32_t x
#define FM_EVENTLOG_FIELD_integer(x) #x "=i64"
#define FM_EVENTLOG_FIELD_count(x) #x "=w64"
#define FM_EVENTLOG_FIELD_real(x) #x "=f64"
#define FM_EVENTLOG_FIELD_text(x) #x "=strz"
#define FM_EVENTLOG_FIELD_address(x) #x "=addr"
#define FM_EVENTLOG_FIELD_bytes(x) #x "=bytes"
#define FM_EVENTLOG_FIELD_ns(x) #x "=ns"
#define FM_EVENTLOG_FIELD_name(x) #x "=name"
#define FM_EVENTLOG_SIZE_integer(x) 8u
#define FM_EVENTLOG_SIZE_count(x) 8u
#define FM_EVENTLOG_SIZE_real(x) 8u
#define FM_EVENTLOG_SIZE_text(x) 0u
#define FM_EVENTLOG_SIZE_address(x) 8u
#define FM_EVENTLOG_SIZE_bytes(x) 8u
#define FM_EVENTLOG_SIZE_ns(x) 8u
#define FM_EVENTLOG_SIZE_name(x) 4u
#define FM_EVENTLOG_VARIES_integer(x) 0
#define FM_EVENTLOG_VARIES_count(x) 0
#define FM_EVENTLOG_VARIES_real(x) 0
#define FM_EVENTLOG_VARIES_text(x) 1
#define FM_EVENTLOG_VARIES_address(x) 0
#define FM_EVENTLOG_VARIES_bytes(x) 0
#define FM_EVENTLOG_VARIES_ns(x) 0
#define FM_EVENTLOG_VARIES_name(x) 0
#define FM_EVENTLOG_VALUE_integer(x) const uint64_t fm_of_##x = fm_eventlog_be64_((uint64_t)(x));
#define FM_EVENTLOG_VALUE_count(x) const uint64_t fm_of_##x = fm_eventlog_be64_((uint64_t)(x));
#define FM_EVENTLOG_VALUE_real(x) const uint64_t fm_of_##x = fm_eventlog_real_(x);
#define FM_EVENTLOG_VALUE_text(x) const char *const fm_of_##x = (x) ? (x) : "";
#define FM_EVENTLOG_VALUE_address(x) const uint64_t fm_of_##x = fm_eventlog_be64_((uintptr_t)(x));
#define FM_EVENTLOG_VALUE_bytes(x) const uint64_t fm_of_##x = fm_eventlog_be64_((uint64_t)(x));
#define FM_EVENTLOG_VALUE_ns(x) const uint64_t fm_of_##x = fm_eventlog_be64_((uint64_t)(x));
#define FM_EVENTLOG_VALUE_name(x) const uint32_t fm_of_##x = fm_eventlog_be32_(x);
#define FM_EVENTLOG_PIECE_integer(x)  \
    {                                 \
        &fm_of_##x, sizeof(fm_of_##x) \
    }
#define FM_EVENTLOG_PIECE_count(x)    \
    {                                 \
        &fm_of_##x, sizeof(fm_of_##x) \
    }
#define FM_EVENTLOG_PIECE_real(x)     \
    {                                 \
        &fm_of_##x, sizeof(fm_of_##x) \
    }
#define FM_EVENTLOG_PIECE_text(x)        \
    {                                    \
        fm_of_##x, strlen(fm_of_##x) + 1 \
    }
#define FM_EVENTLOG_PIECE_address(x)  \
    {                                 \
        &fm_of_##x, sizeof(fm_of_##x) \
    }
#define FM_EVENTLOG_PIECE_bytes(x)    \
    {                                 \
        &fm_of_##x, sizeof(fm_of_##x) \
    }
#define FM_EVENTLOG_PIECE_ns(x)       \
    {                                 \
        &fm_of_##x, sizeof(fm_of_##x) \
    }
#define FM_EVENTLOG_PIECE_name(x)     \
    {                                 \
        &fm_of_##x, sizeof(fm_of_##x) \
    }
#define FM_EVENTLOG_STORE_(x)                      \
    memcpy(fm_to_, &fm_of_##x, sizeof(fm_of_##x)); \
    fm_to_ += sizeof(fm_of_##x);
#define FM_EVENTLOG_PUT_integer(x) FM_EVENTLOG_STORE_(x)
#define FM_EVENTLOG_PUT_count(x) FM_EVENTLOG_STORE_(x)
#define FM_EVENTLOG_PUT_real(x) FM_EVENTLOG_STORE_(x)
#define FM_EVENTLOG_PUT_text(x)
#define FM_EVENTLOG_PUT_address(x) FM_EVENTLOG_STORE_(x)
#define FM_EVENTLOG_PUT_bytes(x) FM_EVENTLOG_STORE_(x)
#define FM_EVENTLOG_PUT_ns(x) FM_EVENTLOG_STORE_(x)
#define FM_EVENTLOG_PUT_name(x) FM_EVENTLOG_STORE_(x)

/* ---- kind##field of each field, with between() between them */
#define FM_EVENTLOG_COUNT_(...) \
    FM_EVENTLOG_THIRTEENTH_(__VA_ARGS__, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0)
#define FM_EVENTLOG_THIRTEENTH_(a, b, c, d, e, f, g, h, i, j, k, l, n, ...) n
#define FM_EVENTLOG_JOIN_(a, b) FM_EVENTLOG_PASTE_(a, b)
#define FM_EVENTLOG_PASTE_(a, b) a##b
#define FM_EVENTLOG_EACH_(kind, between, ...)                             \
    FM_EVENTLOG_JOIN_(FM_EVENTLOG_EACH_, FM_EVENTLOG_COUNT_(__VA_ARGS__)) \
    (kind, between, __VA_ARGS__)
#define FM_EVENTLOG_EACH_1(kind, between, a) kind##a
#define FM_EVENTLOG_EACH_2(kind, between, a, ...) \
    kind##a between() FM_EVENTLOG_EACH_1(kind, between, __VA_ARGS__)
#define FM_EVENTLOG_EACH_3(kind, between, a, ...) \
    kind##a between() FM_EVENTLOG_EACH_2(kind, between, __VA_ARGS__)
#define FM_EVENTLOG_EACH_4(kind, between, a, ...) \
    kind##a between() FM_EVENTLOG_EACH_3(kind, between, __VA_ARGS__)
#define FM_EVENTLOG_EACH_5(kind, between, a, ...) \
    kind##a between() FM_EVENTLOG_EACH_4(kind, between, __VA_ARGS__)
#define FM_EVENTLOG_EACH_6(kind, between, a, ...) \
    kind##a between() FM_EVENTLOG_EACH_5(kind, between, __VA_ARGS__)
#define FM_EVENTLOG_EACH_7(kind, between, a, ...) \
    kind##a between() FM_EVENTLOG_EACH_6(kind, between, __VA_ARGS__)
#define FM_EVENTLOG_EACH_8(kind, between, a, ...) \
    kind##a between() FM_EVENTLOG_EACH_7(kind, between, __VA_ARGS__)
#define FM_EVENTLOG_EACH_9(kind, between, a, ...) \
    kind##a between() FM_EVENTLOG_EACH_8(kind, between, __VA_ARGS__)
#define FM_EVENTLOG_EACH_10(kind, between, a, ...) \
    kind##a between() FM_EVENTLOG_EACH_9(kind, between, __VA_ARGS__)
#define FM_EVENTLOG_EACH_11(kind, between, a, ...) \
    kind##a between() FM_EVENTLOG_EACH_10(kind, between, __VA_ARGS__)
#define FM_EVENTLOG_EACH_12(kind, between, a, ...) \
    kind##a between() FM_EVENTLOG_EACH_11(kind, between, __VA_ARGS__)
#define FM_EVENTLOG_NOTHING_()
#define FM_EVENTLOG_COMMA_() ,
#define FM_EVENTLOG_COMMA_TEXT_() ","
#define FM_EVENTLOG_PLUS_() +

/* A type is registered before main, or when its plugin is loaded. Events of fixed size are put into
 * the buffer here; the library handles others. */
#define FM_EVENT(name, ...)                                                                       \
    static struct fm_eventlog_event_type_ fm_event_type_##name = {                                \
        #name, FM_EVENTLOG_EACH_(FM_EVENTLOG_FIELD_, FM_EVENTLOG_COMMA_TEXT_, __VA_ARGS__),       \
        (FM_EVENTLOG_EACH_(FM_EVENTLOG_VARIES_, FM_EVENTLOG_PLUS_, __VA_ARGS__))                  \
            ? 0xFFFFu                                                                             \
            : FM_EVENTLOG_EACH_(FM_EVENTLOG_SIZE_, FM_EVENTLOG_PLUS_, __VA_ARGS__),               \
        0, -1};                                                                                   \
    __attribute__((constructor, used,                                                             \
                   no_instrument_function)) static void fm_event_declare_##name(void)             \
    {                                                                                             \
        fm_eventlog_declare_(&fm_event_type_##name);                                              \
    }                                                                                             \
    FM_EVENTLOG_INLINE_ void fm_event_##name(                                                     \
        FM_EVENTLOG_EACH_(FM_EVENTLOG_PARAMETER_, FM_EVENTLOG_COMMA_, __VA_ARGS__))               \
    {                                                                                             \
        if (!fm_eventlog_on())                                                                    \
            return;                                                                               \
        const uint16_t fm_number_ =                                                               \
            __atomic_load_n(&fm_event_type_##name.number, __ATOMIC_RELAXED);                      \
        FM_EVENTLOG_EACH_(FM_EVENTLOG_VALUE_, FM_EVENTLOG_NOTHING_, __VA_ARGS__)                  \
        if (fm_number_ != 0 &&                                                                    \
            !(FM_EVENTLOG_EACH_(FM_EVENTLOG_VARIES_, FM_EVENTLOG_PLUS_, __VA_ARGS__))) {          \
            unsigned char fm_payload_[8 + FM_EVENTLOG_EACH_(FM_EVENTLOG_SIZE_, FM_EVENTLOG_PLUS_, \
                                                            __VA_ARGS__)];                        \
            unsigned char *fm_to_ = fm_payload_;                                                  \
            FM_EVENTLOG_EACH_(FM_EVENTLOG_PUT_, FM_EVENTLOG_NOTHING_, __VA_ARGS__)                \
            fm_eventlog_put_(fm_number_, fm_payload_, (size_t)(fm_to_ - fm_payload_));            \
            return;                                                                               \
        }                                                                                         \
        const struct fm_eventlog_piece_ fm_pieces_[] = {                                          \
            FM_EVENTLOG_EACH_(FM_EVENTLOG_PIECE_, FM_EVENTLOG_COMMA_, __VA_ARGS__)};              \
        fm_eventlog_event_(&fm_event_type_##name, fm_pieces_,                                     \
                           (unsigned)(sizeof(fm_pieces_) / sizeof(fm_pieces_[0])));               \
    }                                                                                             \
    struct fm_eventlog_event_type_

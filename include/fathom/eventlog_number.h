/* SPDX-License-Identifier: Apache-2.0 */
/* fathom/eventlog_number.h - FM_COUNTER, FM_VALUE and FM_SPAN_WITH with a number of any type.
 * Included by fathom/eventlog.h. */
#pragma once
#include <stdint.h>

#ifndef FM_EVENTLOG_API
#error "include <fathom/eventlog.h>"
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* Values beyond int64_t are logged as real numbers. */
FM_EVENTLOG_INLINE_ void fm_eventlog_counter_unsigned(uint32_t name, uint64_t value)
{
    if (value <= INT64_MAX)
        fm_eventlog_counter(name, (int64_t)value);
    else
        fm_eventlog_counter_real(name, (double)value);
}
FM_EVENTLOG_INLINE_ void fm_eventlog_value_unsigned(uint32_t name, uint64_t value)
{
    if (value <= INT64_MAX)
        fm_eventlog_value(name, (int64_t)value);
    else
        fm_eventlog_value_real(name, (double)value);
}
FM_EVENTLOG_INLINE_ void fm_eventlog_span_detail_unsigned(const char *text, uint64_t value)
{
    if (value <= INT64_MAX)
        fm_eventlog_span_detail(text, (int64_t)value);
    else
        fm_eventlog_span_detail_real(text, (double)value);
}

#ifdef __cplusplus
}
#define FM_EVENTLOG_NUMBER_(call, of, value) call##_as_(of, value)
#define FM_EVENTLOG_OVERLOAD_(call, type_of)                                                 \
    template <typename Number> FM_EVENTLOG_INLINE_ void call##_as_(type_of of, Number value) \
    {                                                                                        \
        call(of, static_cast<int64_t>(value));                                               \
    }                                                                                        \
    FM_EVENTLOG_INLINE_ void call##_as_(type_of of, double value)                            \
    {                                                                                        \
        call##_real(of, value);                                                              \
    }                                                                                        \
    FM_EVENTLOG_INLINE_ void call##_as_(type_of of, float value)                             \
    {                                                                                        \
        call##_real(of, static_cast<double>(value));                                         \
    }                                                                                        \
    FM_EVENTLOG_INLINE_ void call##_as_(type_of of, unsigned long value)                     \
    {                                                                                        \
        call##_unsigned(of, value);                                                          \
    }                                                                                        \
    FM_EVENTLOG_INLINE_ void call##_as_(type_of of, unsigned long long value)                \
    {                                                                                        \
        call##_unsigned(of, value);                                                          \
    }                                                                                        \
    FM_EVENTLOG_INLINE_ void call##_as_(type_of of, long double value)                       \
    {                                                                                        \
        call##_real(of, static_cast<double>(value));                                         \
    }
FM_EVENTLOG_OVERLOAD_(fm_eventlog_counter, uint32_t)
FM_EVENTLOG_OVERLOAD_(fm_eventlog_value, uint32_t)
FM_EVENTLOG_OVERLOAD_(fm_eventlog_span_detail, const char *)
#undef FM_EVENTLOG_OVERLOAD_
#else
#define FM_EVENTLOG_REAL_OR_0_(value)        \
    (double)(_Generic((value), float         \
                      : (value), double      \
                      : (value), long double \
                      : (value), default : 0))
#define FM_EVENTLOG_INTEGER_OR_0_(value) \
    (int64_t)(_Generic((value), float : 0, double : 0, long double : 0, default : (value)))
#define FM_EVENTLOG_UNSIGNED_OR_0_(value)             \
    (uint64_t)(_Generic((value), unsigned long        \
                        : (value), unsigned long long \
                        : (value), default : 0))
#define FM_EVENTLOG_NUMBER_(call, of, value)                                              \
    _Generic((value), float                                                               \
             : call##_real(of, FM_EVENTLOG_REAL_OR_0_(value)), double                     \
             : call##_real(of, FM_EVENTLOG_REAL_OR_0_(value)), long double                \
             : call##_real(of, FM_EVENTLOG_REAL_OR_0_(value)), unsigned long              \
             : call##_unsigned(of, FM_EVENTLOG_UNSIGNED_OR_0_(value)), unsigned long long \
             : call##_unsigned(of, FM_EVENTLOG_UNSIGNED_OR_0_(value)), default            \
             : call(of, FM_EVENTLOG_INTEGER_OR_0_(value)))
#endif

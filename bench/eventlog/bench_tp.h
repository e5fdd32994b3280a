/* SPDX-License-Identifier: Apache-2.0 */
#undef LTTNG_UST_TRACEPOINT_PROVIDER
#define LTTNG_UST_TRACEPOINT_PROVIDER fathom_bench
#undef LTTNG_UST_TRACEPOINT_INCLUDE
#define LTTNG_UST_TRACEPOINT_INCLUDE "./bench_tp.h"
#if !defined(FATHOM_BENCH_TP_H) || defined(LTTNG_UST_TRACEPOINT_HEADER_MULTI_READ)
#define FATHOM_BENCH_TP_H
#include <lttng/tracepoint.h>
LTTNG_UST_TRACEPOINT_EVENT(fathom_bench, event, LTTNG_UST_TP_ARGS(uint64_t, value),
                           LTTNG_UST_TP_FIELDS(lttng_ust_field_integer(uint64_t, value, value)))
#endif
#include <lttng/tracepoint-event.h>

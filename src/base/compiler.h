/* SPDX-License-Identifier: Apache-2.0 */
/* GNU extensions of C that the project uses. */
#pragma once

#define FM_MUST_USE __attribute__((warn_unused_result))
#define FM_PRINTF(format_index, first_argument) \
    __attribute__((format(printf, format_index, first_argument)))
#define FM_LIKELY(x) __builtin_expect(!!(x), 1)
#define FM_UNLIKELY(x) __builtin_expect(!!(x), 0)
/* For functions in headers that must be inlined in every call. */
#define FM_ALWAYS_INLINE __attribute__((always_inline)) static inline

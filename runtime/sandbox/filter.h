/* SPDX-License-Identifier: Apache-2.0 */
/* Evaluates a seccomp filter as the kernel does ("Seccomp BPF" in the kernel's documentation). */
#pragma once

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdint.h>

/* The filter's return value for a call, SECCOMP_RET_*. A filter that the kernel would refuse
 * answers SECCOMP_RET_KILL_PROCESS. Reads code[0, count) and nothing else. Async-signal-safe. */
uint32_t fm_filter_run(const struct sock_filter *code, unsigned count,
                       const struct seccomp_data *call);

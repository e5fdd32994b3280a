/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as a seccomp filter and a call: the evaluation ends, reads nothing out of bounds, and
 * always gives the same answer. */
#include <stdlib.h>
#include <string.h>

#include "sandbox/filter.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct seccomp_data call = {0};
    if (size < sizeof call)
        return 0;
    memcpy(&call, data, sizeof call);
    size_t count = (size - sizeof call) / sizeof(struct sock_filter);
    count = count < BPF_MAXINSNS ? count : BPF_MAXINSNS;
    struct sock_filter *code = malloc(count * sizeof *code + 1);
    if (code == NULL)
        return 0;
    memcpy(code, data + sizeof call, count * sizeof *code);
    uint32_t answer = fm_filter_run(code, (unsigned)count, &call);
    if (fm_filter_run(code, (unsigned)count, &call) != answer)
        abort();
    free(code);
    return 0;
}

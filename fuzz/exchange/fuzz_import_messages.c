/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as a profile that is a message of protobuf. */
#include "importing.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const formats[] = {NULL, "otlp", "pprof", "perfetto"};
    importing_any(data, size, formats, G_N_ELEMENTS(formats));
    return 0;
}

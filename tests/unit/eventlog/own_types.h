/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdint.h>

struct own_type {
    uint16_t number;
    int size;           /* 0xFFFF = variable */
    const char *fields; /* "name=kind,..."; NULL at the end of the list */
};

extern const struct own_type own_types[];

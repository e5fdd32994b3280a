/* SPDX-License-Identifier: Apache-2.0 */
/* The runtime's list of its own types; its header and the reader's do not go together. */
#include "fathom/eventlog.h"
#include "own_types.h"

const struct own_type own_types[] = {
#define ROW(number, size, name, text, fields) {number, size, fields},
    FM_EVENTLOG_TYPES(ROW)
#undef ROW
        {0, 0, NULL},
};

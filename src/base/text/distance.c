/* SPDX-License-Identifier: Apache-2.0 */
#include "base/text/distance.h"

#include <glib.h>
#include <stdbool.h>
#include <string.h>

unsigned fm_text_distance(const char *a, const char *b)
{
    unsigned row[FM_TEXT_DISTANCE_BYTES_MAX + 1];
    size_t a_length = strlen(a), b_length = strlen(b);
    if (a_length > FM_TEXT_DISTANCE_BYTES_MAX || b_length > FM_TEXT_DISTANCE_BYTES_MAX)
        return UINT_MAX;
    for (size_t j = 0; j <= b_length; j++)
        row[j] = (unsigned)j;
    for (size_t i = 1; i <= a_length; i++) {
        unsigned diagonal = row[0];
        row[0] = (unsigned)i;
        for (size_t j = 1; j <= b_length; j++) {
            bool same = g_ascii_tolower(a[i - 1]) == g_ascii_tolower(b[j - 1]);
            unsigned replaced = diagonal + !same;
            diagonal = row[j];
            row[j] = MIN(MIN(row[j], row[j - 1]) + 1, replaced);
        }
    }
    return row[b_length];
}

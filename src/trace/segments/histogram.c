/* SPDX-License-Identifier: Apache-2.0 */
#include "trace/segments/histogram.h"

#include <glib.h>
#include <math.h>

/* Values below 256 have cells of their own: octave 0 has 0 to 127, octave 1 has 128 to 255. Octave
 * n has 128 << (n - 1) and up, in cells of 1 << (n - 1). */
enum { CELLS = FM_HISTOGRAM_CELLS, CELL_BITS = 7, BARS_AN_OCTAVE = 8 };

static unsigned octave_of(uint64_t value)
{
    return value < CELLS ? 0 : 64 - (unsigned)__builtin_clzll(value) - CELL_BITS;
}

static unsigned shift_of(unsigned octave)
{
    return octave == 0 ? 0 : octave - 1;
}

static uint64_t least_of(unsigned octave, unsigned cell)
{
    uint64_t begin = octave == 0 ? 0 : CELLS;
    return (begin + cell) << shift_of(octave);
}

void fm_histogram_clear(struct fm_histogram *histogram)
{
    for (unsigned i = 0; i < FM_HISTOGRAM_OCTAVES; i++)
        g_clear_pointer(&histogram->octaves[i], g_free);
    histogram->count = 0;
}

void fm_histogram_add(struct fm_histogram *histogram, uint64_t value)
{
    unsigned octave = octave_of(value);
    uint32_t **cells = &histogram->octaves[octave];
    if (*cells == NULL)
        *cells = g_new0(uint32_t, CELLS);
    (*cells)[(value >> shift_of(octave)) & (CELLS - 1)]++;
    histogram->count++;
}

uint64_t fm_histogram_percentile(const struct fm_histogram *histogram, double part)
{
    uint64_t rank = MAX(1, (uint64_t)ceil(part * (double)histogram->count)), seen = 0;
    for (unsigned octave = 0; octave < FM_HISTOGRAM_OCTAVES; octave++) {
        const uint32_t *cells = histogram->octaves[octave];
        for (unsigned cell = 0; cells != NULL && cell < CELLS; cell++) {
            seen += cells[cell];
            if (seen >= rank)
                return least_of(octave, cell) + (UINT64_C(1) << shift_of(octave)) / 2;
        }
    }
    return 0;
}

struct fm_histogram_bar *fm_histogram_bars(const struct fm_histogram *histogram,
                                           unsigned *ret_count)
{
    enum { CELLS_A_BAR = CELLS / BARS_AN_OCTAVE, BARS = BARS_AN_OCTAVE * FM_HISTOGRAM_OCTAVES };
    struct fm_histogram_bar *bars = g_new0(struct fm_histogram_bar, BARS);
    unsigned first = BARS, last = 0;
    for (unsigned bar = 0; bar < BARS; bar++) {
        unsigned octave = bar / BARS_AN_OCTAVE, cell = bar % BARS_AN_OCTAVE * CELLS_A_BAR;
        const uint32_t *cells = histogram->octaves[octave];
        bars[bar].least = least_of(octave, cell);
        bars[bar].end = least_of(octave, cell) + ((uint64_t)CELLS_A_BAR << shift_of(octave));
        for (unsigned i = 0; cells != NULL && i < CELLS_A_BAR; i++)
            bars[bar].count += cells[cell + i];
        if (bars[bar].count > 0) {
            first = MIN(first, bar);
            last = bar;
        }
    }
    *ret_count = first < BARS ? last - first + 1 : 0;
    for (unsigned i = 0; i < *ret_count; i++)
        bars[i] = bars[first + i];
    return bars;
}

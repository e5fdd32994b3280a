/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers as text. The general way is printf's; the common cases take a faster one that gives the
 * same digits, since a page may hold a million numbers. The decimal point is always a point. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "display/display_internal.h"

/* %.9f of the largest double: 309 digits, point, decimals, sign. */
#define NUMBER_TEXT_BYTES 336
#define FAST_MAX 1e12

/* Digits of the integer part with a comma before each group of three. */
static void append_grouped(GString *out, const char *digits, size_t count)
{
    size_t head = count % 3 ? count % 3 : 3;

    if (count <= 3) {
        g_string_append_len(out, digits, (gssize)count);
        return;
    }
    g_string_append_len(out, digits, (gssize)head);
    for (size_t i = head; i < count; i += 3) {
        g_string_append_c(out, ',');
        g_string_append_len(out, digits + i, 3);
    }
}

void fm_append_int(GString *out, int64_t value)
{
    char digits[20];
    char *end = digits + sizeof digits;
    uint64_t magnitude = value < 0 ? -(uint64_t)value : (uint64_t)value;
    char *at = fm_number_digits(magnitude, end);

    if (value < 0)
        g_string_append_c(out, '-');
    append_grouped(out, at, (size_t)(end - at));
}

/* Writes value as %.<decimals>f would, without the sign; false when the nearest of the two
 * neighbours is too close to call in floating point, or the value too large. */
static bool write_fixed_fast(double value, unsigned decimals, char *text, size_t *ret_size)
{
    static const double powers[] = {1, 10, 100};

    if (decimals > 2 || !(value < FAST_MAX / powers[decimals]))
        return false;
    double scaled = value * powers[decimals];
    double whole = floor(scaled);
    double rest = scaled - whole;
    /* scaled < 1e12 is off by less than 1e-4. */
    if (fabs(rest - 0.5) < 1e-3)
        return false;
    uint64_t rounded = (uint64_t)whole + (rest > 0.5 ? 1 : 0);

    char digits[24];
    char *end = digits + sizeof digits;
    char *at = fm_number_digits(rounded, end);
    while ((size_t)(end - at) < decimals + 1)
        *--at = '0';
    size_t before = (size_t)(end - at) - decimals;
    memcpy(text, at, before);
    if (decimals) {
        text[before] = '.';
        memcpy(text + before + 1, at + before, decimals);
    }
    *ret_size = before + (decimals ? decimals + 1 : 0);
    text[*ret_size] = '\0';
    return true;
}

static void append_fixed(GString *out, double value, unsigned decimals, bool commas)
{
    char text[NUMBER_TEXT_BYTES];
    size_t size;

    if (!isfinite(value)) {
        g_string_append(out, isnan(value) ? "nan" : value < 0 ? "-inf" : "inf");
        return;
    }
    decimals = MIN(decimals, 9);
    if (!write_fixed_fast(fabs(value), decimals, text, &size)) {
        char format[8];

        g_snprintf(format, sizeof format, "%%.%uf", decimals);
        g_ascii_formatd(text, sizeof text, format, fabs(value));
        size = strlen(text);
    }
    /* "-0.00" would only puzzle. */
    if (value < 0 && strspn(text, "0.") < size)
        g_string_append_c(out, '-');
    size_t before = decimals ? size - decimals - 1 : size;
    if (commas)
        append_grouped(out, text, before);
    else
        g_string_append_len(out, text, (gssize)before);
    g_string_append_len(out, text + before, (gssize)(size - before));
}

static void append_float(GString *out, double value, unsigned decimals)
{
    append_fixed(out, value, decimals, true);
}

void fm_append_percent(GString *out, double fraction)
{
    append_fixed(out, 100 * fraction, 2, false);
}

static void append_time(GString *out, double seconds)
{
    static const struct {
        double below, unit;
        const char *name;
    } units[] = {{1e-9, 1e-12, "ps"}, {1e-6, 1e-9, "ns"}, {1e-3, 1e-6, "us"}, {1, 1e-3, "ms"}};
    double magnitude = fabs(seconds);

    if (magnitude < 0.05e-12) { /* no unit tells more of nothing */
        g_string_append_c(out, '0');
        return;
    }
    /* The limits are tested before rounding: 0.99996 s is 1000.0ms. */
    for (unsigned i = 0; i < G_N_ELEMENTS(units); i++) {
        if (magnitude < units[i].below) {
            append_fixed(out, seconds / units[i].unit, 1, false);
            g_string_append(out, units[i].name);
            return;
        }
    }
    append_fixed(out, seconds, 1, false);
    g_string_append_c(out, 's');
}

/* Three digits: 2.95, 29.5, 295, 2950. */
static void append_short(GString *out, double value)
{
    double magnitude = fabs(value);
    append_fixed(out, value, magnitude < 9.995 ? 2 : magnitude < 99.95 ? 1 : 0, true);
}

static void append_time_short(GString *out, double seconds)
{
    static const struct {
        double below, unit;
        const char *name;
    } units[] = {{0.9995e-6, 1e-9, " ns"},
                 {0.9995e-3, 1e-6, " \u00b5s"},
                 {0.9995, 1e-3, " ms"},
                 {HUGE_VAL, 1, " s"}};
    unsigned i = 0;
    while (i + 1 < G_N_ELEMENTS(units) && fabs(seconds) >= units[i].below)
        i++;
    append_short(out, seconds / units[i].unit);
    g_string_append(out, units[i].name);
}

static void append_bytes(GString *out, int64_t bytes)
{
    static const char *const names[] = {" KiB", " MiB", " GiB", " TiB", " PiB"};
    double value = (double)bytes / 1024;
    unsigned i = 0;
    if (bytes < 10L * 1024 && bytes > -10L * 1024) {
        fm_append_int(out, bytes);
        return;
    }
    for (; fabs(value) >= 1023.95 && i + 1 < G_N_ELEMENTS(names); i++)
        value /= 1024;
    append_fixed(out, value, 1, true);
    g_string_append(out, names[i]);
}

/* Forms of ranked tables; false when the cell is shown in the usual way. */
static bool append_formed(GString *out, const struct cell *cell)
{
    if (cell->form == FORM_USUAL)
        return false;
    switch ((enum cell_kind)cell->kind) {
    case CELL_INT:
        append_bytes(out, cell->integer);
        return true;
    case CELL_FLOAT:
        if (cell->number > 0.99999 && cell->number < 1.00001)
            g_string_append_c(out, '1');
        else if (cell->number > 0 && cell->number < 0.005)
            g_string_append(out, "<0.01");
        else
            append_short(out, cell->number);
        return true;
    case CELL_PERCENT:
        if (cell->number > 0 && cell->number < 0.0005)
            g_string_append(out, "<0.1");
        else if (cell->number > 0 || cell->number < 0)
            append_fixed(out, 100 * cell->number, 1, false);
        else
            g_string_append_c(out, '0');
        return true;
    case CELL_TIME:
        if (cell->form == TIME_SHORT)
            append_time_short(out, cell->number);
        else if (cell->form == TIME_S)
            append_fixed(out, cell->number, 2, true);
        else
            append_fixed(out, cell->number * (cell->form == TIME_MS ? 1e3 : 1e6), 0, true);
        return true;
    case CELL_EMPTY:
        g_string_append(out, cell->form == EMPTY_FEW ? "few" : "\u2013");
        return true;
    default:
        return false;
    }
}

bool fm_append_cell_number(GString *out, const struct cell *cell)
{
    if (cell->kind != CELL_PATH && append_formed(out, cell))
        return true;
    switch ((enum cell_kind)cell->kind) {
    case CELL_INT:
        fm_append_int(out, cell->integer);
        return true;
    case CELL_FLOAT:
        append_float(out, cell->number, 2);
        return true;
    case CELL_PERCENT:
        fm_append_percent(out, cell->number);
        return true;
    case CELL_TIME:
        append_time(out, cell->number);
        return true;
    case CELL_MEMORY:
        append_float(out, cell->number, cell->decimals);
        return true;
    case CELL_EMPTY:
    case CELL_STRING:
    case CELL_LINK:
    case CELL_PATH:
    case CELL_FOLDED:
        return false;
    }
    return false;
}

char *fm_format_int(int64_t value)
{
    GString *out = g_string_new(NULL);

    fm_append_int(out, value);
    return g_string_free(out, FALSE);
}

char *fm_format_at_most(const char *text, bool at_most)
{
    return at_most ? g_strconcat(FM_AT_MOST " ", text, NULL) : g_strdup(text);
}

char *fm_format_float(double value, unsigned decimals)
{
    GString *out = g_string_new(NULL);

    append_float(out, value, decimals);
    return g_string_free(out, FALSE);
}

char *fm_format_percent(double fraction)
{
    GString *out = g_string_new(NULL);

    fm_append_percent(out, fraction);
    return g_string_free(out, FALSE);
}

char *fm_format_time(double seconds)
{
    GString *out = g_string_new(NULL);

    append_time(out, seconds);
    return g_string_free(out, FALSE);
}

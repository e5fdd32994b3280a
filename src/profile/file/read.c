/* SPDX-License-Identifier: Apache-2.0 */
#include "profile/file/read_internal.h"

#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"

#define ID_LINE_DIGITS_MAX 10
#define RESERVE_BYTES_MIN ((size_t)8 << 20) /* size of the file */
#define SLOT_BYTES_MIN 2
#define AHEAD_BYTES ((size_t)8 << 20) /* bytes of arrays that may not be needed completely */
#define CSDS_LOOKED_AT 1024u
#define COUNTS_A_BYTES 4 /* at most one coverage count for this number of bytes of the file */

/* Size of the smallest node of each kind in the file, with its token. */
static size_t node_bytes_min(const struct fm_profile *profile, enum fm_node_token token)
{
    bool old = profile->flavour == FM_FLAVOUR_MERCURY && profile->version == 8;
    switch (token) {
    case FM_TOKEN_CSS:
        return old ? 5 : 6;
    case FM_TOKEN_PS:
        return profile->coverage == FM_COVERAGE_NONE ? 12 : 13;
    case FM_TOKEN_PD:
        return profile->coverage == FM_COVERAGE_DYNAMIC ? 5 : 4;
    default:
        return 4;
    }
}

/* Parses the decimal version after the fixed part of the id line. */
static bool parse_version(const char *digits, size_t length, unsigned *ret)
{
    unsigned value = 0;
    if (length == 0 || length >= ID_LINE_DIGITS_MAX)
        return false;
    for (size_t i = 0; i < length; i++) {
        if (!g_ascii_isdigit(digits[i]))
            return false;
        value = value * 10 + (unsigned)(digits[i] - '0');
    }
    *ret = value;
    return true;
}

static const char *whose_version(const struct fm_profile *profile)
{
    if (profile->flavour == FM_FLAVOUR_C)
        return profile->version > FM_C_VERSION ? ": a newer fathom wrote it" : "";
    return profile->version > 9 ? ": a newer Mercury wrote it, and a newer fathom may read it" : "";
}

static bool read_id_line(struct fm_profile_reading *reading, GError **error)
{
    struct fm_reader *in = &reading->in;
    struct fm_profile *profile = reading->profile;
    if (in->start == in->end)
        return fm_reader_fail(in, in->start, FM_ERROR_TRUNCATED, error,
                              "not a deep profiling data file: it is empty");
    static const char *const ids[] = {
        [FM_FLAVOUR_MERCURY] = FM_MERCURY_ID, [FM_FLAVOUR_C] = FM_C_ID};
    size_t limit = strlen(FM_MERCURY_ID) + ID_LINE_DIGITS_MAX;
    size_t length = MIN(fm_reader_left(in), limit);
    const uint8_t *newline = memchr(in->at, '\n', length);
    for (int flavour = FM_FLAVOUR_MERCURY; newline && flavour <= FM_FLAVOUR_C; flavour++) {
        size_t prefix = strlen(ids[flavour]);
        size_t line = (size_t)(newline - in->at);
        if (line < prefix || memcmp(in->at, ids[flavour], prefix) != 0)
            continue;
        if (!parse_version((const char *)in->at + prefix, line - prefix, &profile->version))
            break;
        profile->flavour = (enum fm_flavour)flavour;
        bool known = flavour == FM_FLAVOUR_C ? profile->version == FM_C_VERSION
                                             : profile->version == 8 || profile->version == 9;
        if (!known)
            return fm_reader_fail(in, in->at + prefix, FM_ERROR_VERSION, error,
                                  "version number mismatch: version is %u, expected %s%s",
                                  profile->version, flavour == FM_FLAVOUR_C ? "1" : "8 or 9",
                                  whose_version(profile));
        in->at = newline + 1;
        return true;
    }
    return fm_reader_fail(in, in->at, FM_ERROR_FORMAT, error,
                          "not a deep profiling data file: expected the line \"%sN\" or \"%sN\"",
                          FM_MERCURY_ID, FM_C_ID);
}

static bool parse_flags(struct fm_profile_reading *reading, const uint8_t *at, GError **error)
{
    struct fm_profile *profile = reading->profile;
    uint64_t flags = profile->flags;
    unsigned canonical = (unsigned)((flags & FM_FLAGS_CANONICAL) >> FM_FLAGS_CANONICAL_SHIFT);
    unsigned coverage = (unsigned)((flags & FM_FLAGS_COVERAGE) >> FM_FLAGS_COVERAGE_SHIFT);
    uint64_t known = FM_FLAGS_WORD | FM_FLAGS_CANONICAL | FM_FLAGS_COVERAGE;
    if ((flags & ~known) != 0 || canonical > 1 || coverage > FM_COVERAGE_DYNAMIC)
        return fm_reader_fail(
            &reading->in, at, FM_ERROR_FORMAT, error,
            "Error parsing flags in file header, flags are 0x%" G_GINT64_MODIFIER "x", flags);
    profile->word_size = (unsigned)(flags & FM_FLAGS_WORD);
    profile->canonical = canonical == 1;
    profile->coverage = (enum fm_coverage_kind)coverage;
    return true;
}

/* Reads the four counts, which must fit the rest of the file. */
static bool read_counts(struct fm_profile_reading *reading, GError **error)
{
    static const enum fm_node_token order[] = {FM_TOKEN_CSD, FM_TOKEN_CSS, FM_TOKEN_PD,
                                               FM_TOKEN_PS};
    struct fm_profile *profile = reading->profile;
    uint32_t *counts[] = {&profile->csd_count, &profile->css_count, &profile->pd_count,
                          &profile->ps_count};
    size_t needed = 0;
    for (size_t i = 0; i < G_N_ELEMENTS(order); i++) {
        const uint8_t *at = reading->in.at;
        const char *name = fm_node_names[order[i]];
        uint64_t count;
        if (!fm_reader_fixed(&reading->in, "a count of nodes", &count, error))
            return false;
        if (count > fm_reader_left(&reading->in) / node_bytes_min(profile, order[i]))
            return fm_reader_fail(&reading->in, at, FM_ERROR_TRUNCATED, error,
                                  "number of %s nodes is %" G_GUINT64_FORMAT
                                  ", which take at least %zu bytes each, but unexpected end of "
                                  "file after %zu bytes",
                                  name, count, node_bytes_min(profile, order[i]),
                                  fm_reader_left(&reading->in));
        if (count > FM_IDS_MAX)
            return fm_reader_fail(&reading->in, at, FM_ERROR_LIMIT, error,
                                  "number of %s nodes is %" G_GUINT64_FORMAT
                                  ", expected at most %u",
                                  name, count, FM_IDS_MAX);
        *counts[i] = (uint32_t)count;
        needed += (size_t)count * node_bytes_min(profile, order[i]);
    }
    if (needed > fm_reader_left(&reading->in))
        return fm_reader_fail(&reading->in, reading->in.at, FM_ERROR_TRUNCATED, error,
                              "the announced nodes take at least %zu bytes, but unexpected end of "
                              "file after %zu bytes",
                              needed, fm_reader_left(&reading->in));
    if (profile->csd_count + profile->css_count + profile->pd_count + profile->ps_count == 0)
        return fm_reader_fail(&reading->in, reading->in.at, FM_ERROR_TRUNCATED, error,
                              "all counts of nodes are 0: the program that wrote the file did not "
                              "finish");
    return true;
}

static bool read_measure(struct fm_profile_reading *reading, struct fm_measure *measure,
                         GError **error)
{
    struct fm_reader *in = &reading->in;
    const uint8_t *at = in->at;
    uint64_t bits;
    if (!fm_read_string(reading, "name of a measure", &measure->name, error) ||
        !fm_read_string(reading, "unit of a measure", &measure->unit, error) ||
        !fm_reader_fixed(in, "scale of a measure", &bits, error))
        return false;
    memcpy(&measure->scale, &bits, sizeof(bits));
    if (!fm_measure_name_is_valid(measure->name))
        return fm_reader_fail(in, at, FM_ERROR_FORMAT, error,
                              "bad name of a measure, expected 1 to 32 of a-z, 0-9, _");
    if (!isfinite(measure->scale) || measure->scale <= 0)
        return fm_reader_fail(in, at, FM_ERROR_FORMAT, error,
                              "bad scale of measure %s, expected a positive number", measure->name);
    return true;
}

static bool read_measures(struct fm_profile_reading *reading, GError **error)
{
    struct fm_profile *profile = reading->profile;
    struct fm_reader *in = &reading->in;
    const uint8_t *at = in->at;
    uint64_t count;
    if (!fm_reader_num(in, "number of measures", &count, error))
        return false;
    if (count < FM_MEASURES_MERCURY || count > FM_MEASURES_MAX)
        return fm_reader_fail(in, at, FM_ERROR_FORMAT, error,
                              "number of measures is %" G_GUINT64_FORMAT ", expected %d to %d%s",
                              count, FM_MEASURES_MERCURY, FM_MEASURES_MAX,
                              count > FM_MEASURES_MAX ? ": a newer fathom may have written it"
                                                      : "");
    profile->measure_count = (unsigned)count;
    for (unsigned m = 0; m < profile->measure_count; m++) {
        at = in->at;
        if (!read_measure(reading, &profile->measures[m], error))
            return false;
        for (unsigned before = 0; before < m; before++) {
            if (strcmp(profile->measures[before].name, profile->measures[m].name) == 0)
                return fm_reader_fail(in, at, FM_ERROR_FORMAT, error, "measure %s occurs twice",
                                      profile->measures[m].name);
        }
    }
    return true;
}

bool fm_read_header(struct fm_profile_reading *reading, GError **error)
{
    struct fm_profile *profile = reading->profile;
    struct fm_reader *in = &reading->in;
    if (!read_id_line(reading, error) ||
        !fm_read_string(reading, "program name", &profile->program_name, error))
        return false;
    const uint8_t *flags_at = in->at;
    if (!fm_reader_fixed(in, "flags", &profile->flags, error) ||
        !parse_flags(reading, flags_at, error) || !read_counts(reading, error) ||
        !fm_reader_num(in, "ticks per second", &profile->ticks_per_second, error) ||
        !fm_reader_num(in, "instrumentation quanta", &profile->instrumentation_quanta, error) ||
        !fm_reader_num(in, "user quanta", &profile->user_quanta, error) ||
        !fm_reader_num(in, "total of call sequence numbers", &profile->callseqs, error))
        return false;
    const uint8_t *root_at = in->at;
    if (!fm_reader_u32(in, "root proc dynamic", &profile->root_pd, error))
        return false;
    if (profile->root_pd == 0 || profile->root_pd > profile->pd_count)
        return fm_reader_fail(in, root_at, FM_ERROR_FORMAT, error,
                              "root is proc dynamic %u, expected 1 to %u", profile->root_pd,
                              profile->pd_count);
    return profile->flavour != FM_FLAVOUR_C || read_measures(reading, error);
}

/* For a large file: reserves room for as many slots and coverage counts as possible, or usual, so
 * that the arrays need not move while they grow, which takes long. Only the address space is taken;
 * without it they grow step by step. */
static void reserve(struct fm_profile_reading *reading)
{
    size_t left = fm_reader_left(&reading->in);
    reading->slots_asked_for = SIZE_MAX; /* nothing */
    if (left < RESERVE_BYTES_MIN)
        return;
    reading->slots.items = fm_memory_try_resize(NULL, left / SLOT_BYTES_MIN, sizeof(uint32_t));
    reading->slots.capacity = reading->slots.items ? left / SLOT_BYTES_MIN : 0;
    if (reading->slots.items) /* it will not move */
        reading->slots_asked_for = 0;
    if (reading->profile->coverage == FM_COVERAGE_DYNAMIC)
        reading->counts_capacity = left / COUNTS_A_BYTES;
}

static void prefault_tables(struct fm_profile_reading *reading)
{
    const struct fm_profile *profile = reading->profile;
    size_t pds = profile->pd_count + (size_t)2, csds = profile->csd_count + (size_t)1;
    if (reading->prefault == NULL)
        return;
    fm_prefault_add(reading->prefault, profile->pd_ps, (pds - 1) * sizeof(uint32_t));
    fm_prefault_add(reading->prefault, profile->pd_slot_first, pds * sizeof(uint32_t));
    fm_prefault_add(reading->prefault, profile->csd_caller, csds * sizeof(uint32_t));
    fm_prefault_add(reading->prefault, profile->csd_callee, csds * sizeof(uint32_t));
    fm_prefault_add(reading->prefault, profile->csd_css, csds * sizeof(uint32_t));
    fm_prefault_add(reading->prefault, profile->pd_point_first,
                    profile->pd_point_first != NULL ? pds * sizeof(uint64_t) : 0);
}

/* Prefaults the next bytes of an array of which the first `used` are filled. */
static void prefault_ahead(struct fm_profile_reading *reading, uint32_t *array, size_t used,
                           size_t bytes, size_t *asked_for)
{
    if (*asked_for > used + AHEAD_BYTES / 2)
        return;
    size_t begin = MAX(*asked_for, used), end = MIN(used + AHEAD_BYTES, bytes);
    if (begin < end)
        fm_prefault_add(reading->prefault, (char *)array + begin, end - begin);
    *asked_for = MAX(*asked_for, end);
}

/* Whether calls that were read last have some of it: of a rare measure no memory is asked for. */
static bool is_frequent(const struct fm_profile_reading *reading, const struct fm_column *column)
{
    uint32_t last = reading->last_csd;
    for (uint32_t csd = last - MIN(last, CSDS_LOOKED_AT); csd < last; csd++) {
        if (column->u32[csd + 1] != 0)
            return true;
    }
    return false;
}

void fm_read_prefault(struct fm_profile_reading *reading)
{
    struct fm_profile *profile = reading->profile;
    if (reading->prefault == NULL)
        return;
    prefault_ahead(reading, reading->slots.items, reading->slots.count * sizeof(uint32_t),
                   reading->slots.capacity * sizeof(uint32_t), &reading->slots_asked_for);
    for (unsigned m = 0; m < profile->measure_count; m++) {
        struct fm_column *column = &profile->csd_own[m];
        if (column->width == sizeof(uint32_t) && is_frequent(reading, column))
            prefault_ahead(reading, column->u32, reading->last_csd * sizeof(uint32_t),
                           (profile->csd_count + (size_t)1) * sizeof(uint32_t),
                           &reading->own_asked_for[m]);
    }
}

bool fm_read_alloc_tables(struct fm_profile_reading *reading, GError **error)
{
    struct fm_profile *profile = reading->profile;
    const char *name = reading->in.name;
    size_t pds = profile->pd_count, csds = profile->csd_count;
    bool dynamic = profile->coverage == FM_COVERAGE_DYNAMIC;
    if (!(profile->ps =
              fm_array_alloc(name, profile->ps_count + 1u, sizeof(struct fm_ps), error)) ||
        !(profile->css =
              fm_array_alloc(name, profile->css_count + 1u, sizeof(struct fm_css), error)) ||
        !(profile->pd_ps = fm_array_alloc(name, pds + 1, sizeof(uint32_t), error)) ||
        !(profile->pd_slot_first = fm_array_alloc(name, pds + 2, sizeof(uint32_t), error)) ||
        !(profile->csd_caller = fm_array_alloc(name, csds + 1, sizeof(uint32_t), error)) ||
        !(profile->csd_callee = fm_array_alloc(name, csds + 1, sizeof(uint32_t), error)) ||
        !(profile->csd_css = fm_array_alloc(name, csds + 1, sizeof(uint32_t), error)))
        return false;
    if (dynamic &&
        !(profile->pd_point_first = fm_array_alloc(name, pds + 2, sizeof(uint64_t), error)))
        return false;
    reserve(reading);
    prefault_tables(reading);
    for (uint32_t kind = 0; kind < FM_SITE_KINDS; kind++)
        fm_u32s_push(&reading->multi, kind << FM_LIST_KIND_SHIFT);
    reading->points = g_array_new(FALSE, FALSE, sizeof(struct fm_coverage_point));
    reading->in_order = true;
    reading->mask_allowed = FM_MASK_MERCURY;
    for (unsigned m = FM_MEASURES_MERCURY; m < profile->measure_count; m++)
        reading->mask_allowed |= fm_mask_bits[m];
    for (unsigned mask = 0; mask < G_N_ELEMENTS(reading->measures_of_mask); mask++) {
        for (unsigned m = 0; m < FM_MEASURES_MERCURY; m++)
            reading->measures_of_mask[mask] |=
                (uint16_t)((mask & fm_mask_bits[m]) != 0 ? 1u << m : 0);
    }
    return true;
}

bool fm_read_node(struct fm_profile_reading *reading, bool *ret_end, GError **error)
{
    struct fm_reader *in = &reading->in;
    reading->node = in->at;
    if (in->at == in->end || *in->at == FM_TOKEN_END) {
        *ret_end = true;
        return true;
    }
    uint8_t token = *in->at++;
    reading->token = (enum fm_node_token)token;
    switch (token) {
    case FM_TOKEN_CSD:
        return fm_read_csd(reading, error);
    case FM_TOKEN_PD:
        return fm_read_pd(reading, error);
    case FM_TOKEN_CSS:
        return fm_read_css(reading, error);
    case FM_TOKEN_PS:
        return fm_read_ps(reading, error);
    default:
        return fm_reader_fail(in, in->at - 1, FM_ERROR_FORMAT, error,
                              "unexpected token %u, expected 0 to 4", token);
    }
}

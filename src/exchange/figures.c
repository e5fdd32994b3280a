/* SPDX-License-Identifier: Apache-2.0 */
#include "exchange/figures.h"

#include <string.h>

#define NATURES (FM_NATURE_CLOCK | FM_NATURE_HEAP_SAMPLED | FM_NATURE_TIME_EXACT)
#define TEXT_MAX 8192u
#define FIELDS_MAX 5u

/* --- writing --- */

/* Commas and blanks part what is written. */
static void append_word(GString *out, const char *word)
{
    for (unsigned i = 0; word[i] != '\0' && i + 1 < FM_FIGURES_NAME_MAX; i++)
        g_string_append_c(out, g_ascii_isgraph(word[i]) && word[i] != ',' ? word[i] : '_');
    g_string_append_c(out, ',');
}

static void append_quanta(GString *out, const struct fm_exchange_nodes *nodes)
{
    const struct fm_profile *p = nodes->a->profile;
    const struct fm_exchange_column *quanta = NULL, *other = NULL;
    for (unsigned i = 0; i < nodes->column_count; i++) {
        const struct fm_exchange_column *column = &nodes->columns[i];
        if (column->is_calls || column->id != FM_QUANTA)
            continue;
        bool exact = column->multiply % column->divide == 0;
        *(exact && quanta == NULL ? &quanta : &other) = column;
    }
    if (quanta == NULL)
        return;
    g_string_append(out, " quanta=");
    append_word(out, quanta->name);
    append_word(out, p->measures[FM_QUANTA].name);
    append_word(out, p->measures[FM_QUANTA].unit);
    g_string_append_printf(out, "%" G_GUINT64_FORMAT ",%" G_GUINT64_FORMAT,
                           (guint64)(quanta->multiply / quanta->divide),
                           (guint64)p->ticks_per_second);
    if (other != NULL) {
        g_string_append(out, " skip=");
        append_word(out, other->name);
        g_string_truncate(out, out->len - 1);
    }
}

static void append_further(GString *out, const struct fm_exchange_nodes *nodes)
{
    char number[G_ASCII_DTOSTR_BUF_SIZE];
    for (unsigned i = 0; i < nodes->column_count; i++) {
        const struct fm_exchange_column *column = &nodes->columns[i];
        if (column->is_calls || (unsigned)column->id < FM_MEASURES_MERCURY)
            continue;
        const struct fm_measure *measure = &nodes->a->profile->measures[column->id];
        g_string_append(out, " column=");
        append_word(out, column->name);
        append_word(out, measure->name);
        append_word(out, measure->unit);
        g_string_append(out, g_ascii_dtostr(number, sizeof number, measure->scale));
    }
}

char *fm_figures_text(const struct fm_exchange_nodes *nodes)
{
    const struct fm_profile *p = nodes->a->profile;
    GString *out = g_string_new(FM_FIGURES_MARK);
    g_string_append_printf(out,
                           "calls=%d known=%u natures=%u heap_period=%" G_GUINT64_FORMAT
                           " samples=%" G_GUINT64_FORMAT ",%" G_GUINT64_FORMAT,
                           fm_profile_knows(p, FM_EXITS), ~p->run_info.unknown & 0xffu,
                           (unsigned)p->run_info.nature & NATURES, (guint64)p->run_info.heap_period,
                           (guint64)p->run_info.sample_count, (guint64)p->run_info.sample_squares);
    append_quanta(out, nodes);
    append_further(out, nodes);
    return g_string_free(out, FALSE);
}

/* --- reading --- */

static bool number_of(const char *text, uint64_t *ret)
{
    return g_ascii_string_to_unsigned(text, 10, 0, UINT64_MAX, ret, NULL);
}

static bool take_column(char *const *fields, struct fm_figures_column *ret)
{
    char *const texts[] = {ret->column, ret->measure, ret->unit};
    for (unsigned i = 0; i < G_N_ELEMENTS(texts); i++) {
        if (fields[i][0] == '\0' ||
            g_strlcpy(texts[i], fields[i], FM_FIGURES_NAME_MAX) >= FM_FIGURES_NAME_MAX)
            return false;
    }
    return true;
}

static bool take_quanta(struct fm_figures *f, char *const *fields, unsigned count)
{
    f->quanta.scale = 1;
    return count == 5 && take_column(fields, &f->quanta) && number_of(fields[3], &f->in_column) &&
           number_of(fields[4], &f->ticks_per_second) && f->in_column > 0;
}

static bool take_further(struct fm_figures *f, char *const *fields, unsigned count)
{
    if (count != 4 || f->count == FM_MEASURES_MAX || !take_column(fields, &f->columns[f->count]))
        return false;
    double scale = g_ascii_strtod(fields[3], NULL);
    f->columns[f->count++].scale = scale > 0 && scale <= 1e9 ? scale : 1;
    return true;
}

static bool take(struct fm_figures *f, const char *key, char *const *fields, unsigned count)
{
    uint64_t number = 0;
    bool whole = number_of(fields[0], &number);
    if (strcmp(key, "quanta") == 0)
        return take_quanta(f, fields, count);
    if (strcmp(key, "column") == 0)
        return take_further(f, fields, count);
    if (strcmp(key, "skip") == 0)
        return g_strlcpy(f->skip, fields[0], sizeof f->skip) < sizeof f->skip;
    if (strcmp(key, "calls") == 0)
        f->calls = number == 1;
    else if (strcmp(key, "known") == 0)
        f->known = (uint32_t)number & 0xffu;
    else if (strcmp(key, "natures") == 0)
        f->natures = (uint32_t)number & NATURES;
    else if (strcmp(key, "heap_period") == 0)
        f->heap_period = number;
    else if (strcmp(key, "samples") == 0) {
        f->sample_count = number;
        return whole && count == 2 && number_of(fields[1], &f->sample_squares);
    }
    return whole; /* a field of a later version is ignored */
}

bool fm_figures_parse(const char *text, size_t size, struct fm_figures *ret)
{
    *ret = (struct fm_figures){.in_column = 1};
    size_t mark = strlen(FM_FIGURES_MARK);
    if (size < mark || size > TEXT_MAX || memcmp(text, FM_FIGURES_MARK, mark) != 0)
        return false;
    g_autofree char *line = g_strndup(text + mark, size - mark);
    g_auto(GStrv) words = g_strsplit(line, " ", -1);
    bool sound = true;
    for (unsigned i = 0; sound && words[i] != NULL; i++) {
        char *equals = strchr(words[i], '=');
        if (equals == NULL) {
            sound = words[i][0] == '\0';
            continue;
        }
        *equals = '\0';
        g_auto(GStrv) fields = g_strsplit(equals + 1, ",", FIELDS_MAX);
        sound = fields[0] != NULL && take(ret, words[i], fields, g_strv_length(fields));
    }
    if (!sound)
        *ret = (struct fm_figures){.in_column = 1};
    ret->told = sound;
    return sound;
}

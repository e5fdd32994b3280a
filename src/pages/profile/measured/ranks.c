/* SPDX-License-Identifier: Apache-2.0 */
#include "pages/profile/measured/ranks.h"

#include "profile/digest/ranks.h"
#include "display/drawing.h"
#include "pages/profile/measured/path_text.h"

#define SAMPLES_A_RANK 100
#define STEPS_SHOWN 8u
#define VALUES_SHOWN 1000u
#define WHOLE_FROM 100 /* means from here on are shown as whole numbers */
#define STRIP_WIDTH 900u
#define STRIP_HEIGHT 90u

bool fm_has_ranks(const struct fm_page *page)
{
    return page->profile->run_info.rank_info.count > 0;
}

void fm_add_missing_ranks(struct fm_page *page)
{
    uint32_t count, of;
    g_autofree char *which = fm_ranks_missing(page->profile, &count, &of);
    g_autofree char *sentence = fm_ranks_missing_sentence(page->profile);
    if (which == NULL)
        return;
    fm_display_fact_int(page->display, "missing_rank_count", count);
    fm_display_fact_string(page->display, "missing_ranks", which);
    g_autofree char *text = g_strdup_printf("%c%s.", g_ascii_toupper(sentence[0]), sentence + 1);
    fm_add_text(page->body, text);
}

char *fm_ranks_why_none(const struct fm_page *page, enum fm_query_measure asked)
{
    struct fm_measured measured;
    if (asked == FM_QUERY_BY_AUTO)
        return NULL;
    const char *label = fm_measure_label(page->recording, asked);
    fm_measured_init(&measured, page->recording, asked);
    bool of_c = asked != FM_QUERY_BY_CALLSEQS && asked != FM_QUERY_BY_WORDS;
    if (measured.asked != asked && of_c)
        return g_strdup_printf("%s was not recorded.", label);
    if (!fm_profile_knows(page->profile, measured.measure))
        return g_strdup_printf("%s was not recorded for all.", label);
    return fm_rank_measure(page->profile, measured.measure) >= 0
               ? NULL
               : g_strdup_printf("%s: no rank has anything of this measure.", label);
}

void fm_ranks_measured(struct fm_measured *ret, const struct fm_page *page,
                       enum fm_query_measure asked)
{
    const struct fm_profile *profile = page->profile;
    double samples = fm_profile_samples(profile, (double)profile->user_quanta);
    uint64_t count = MAX(profile->run_info.rank_info.count, (uint64_t)1);
    bool few = samples < SAMPLES_A_RANK * (double)count;
    if (asked == FM_QUERY_BY_AUTO && few)
        asked = FM_QUERY_BY_CALLS;
    fm_measured_init(ret, page->recording, asked);
    if (fm_has_ranks(page) && fm_rank_measure(profile, ret->measure) < 0)
        fm_measured_init(ret, page->recording, FM_QUERY_BY_CALLS);
}

void fm_add_ranks_link(struct fm_page *page, const char *focus, const char *label)
{
    struct fm_measured measured;
    if (!fm_has_ranks(page))
        return;
    fm_ranks_measured(&measured, page, FM_QUERY_BY_AUTO);
    struct fm_query link = fm_page_link(page, FM_CMD_RANKS, 0);
    link.command.measure = measured.asked;
    link.command.name = (char *)(uintptr_t)focus;
    fm_add_link(page->body, &link, label);
}

static int64_t amount(double value)
{
    return value < (double)INT64_MAX ? (int64_t)(value + 0.5) : INT64_MAX;
}

/* The mean of few calls over many ranks may be a fraction. */
static bool is_fraction(const struct fm_measured *measured, double value)
{
    return !measured->is_time && !measured->is_bytes && value < WHOLE_FROM &&
           value - (double)amount(value) != 0;
}

static char *mean_text(const struct fm_measured *measured, double mean)
{
    if (!is_fraction(measured, mean))
        return fm_measured_text(measured, amount(mean));
    g_autofree char *number = fm_format_float(mean, 2);
    return g_strdup_printf("%s %s", number, measured->name);
}

static void mean_cell(struct fm_table *table, const struct fm_measured *measured, double mean)
{
    if (measured->is_time)
        fm_cell_time_in(table, mean * measured->tick, measured->unit);
    else if (is_fraction(measured, mean))
        fm_cell_ratio(table, mean);
    else
        fm_measured_cell(table, measured, amount(mean));
}

static char *path_of(const struct fm_page *page, uint32_t clique)
{
    g_autofree char *path = fm_clique_path(page, clique, STEPS_SHOWN);
    return path[0] != '\0' ? g_steal_pointer(&path) : fm_clique_label(page, clique);
}

/* "rank 3", "process 4711"; g_free. */
static char *who(const struct fm_part *part)
{
    if (part->process.rank != 0)
        return g_strdup_printf("rank %" PRIu32, part->process.rank - 1);
    return part->process.pid != 0 ? g_strdup_printf("process %" PRIu32, part->process.pid)
                                  : g_strdup("a process not known");
}

static const struct fm_part *part_at(const struct fm_profile *profile, uint32_t place)
{
    g_autofree uint32_t *places = fm_profile_rank_places(profile);
    return &profile->run_info.parts[places[place]];
}

char *fm_ranks_lead(const struct fm_page *page, const struct fm_measured *measured)
{
    const struct fm_rank_info *info = &page->profile->run_info.rank_info;
    g_autoptr(GArray) losses = fm_rank_losses(page->analysis, measured->measure, 0);
    if (losses->len == 0)
        return NULL;
    const struct fm_rank_loss *first = &g_array_index(losses, struct fm_rank_loss, 0);
    const struct fm_rank_moments *of = fm_rank_moments(
        info, first->row, (unsigned)fm_rank_measure(page->profile, measured->measure));
    g_autofree char *name = who(part_at(page->profile, of->place));
    g_autofree char *path = path_of(page, first->clique);
    g_autofree char *most = fm_measured_text(measured, amount((double)of->greatest));
    g_autofree char *mean = mean_text(measured, fm_rank_mean(of, info->count));
    g_autofree char *ratio = fm_format_float(first->ratio, first->ratio < 10 ? 2 : 0);
    name[0] = g_ascii_toupper(name[0]);
    return g_strdup_printf("%s has %s times the mean of %" G_GUINT64_FORMAT
                           " in %s: %s, the mean is %s.",
                           name, ratio, info->count, path, most, mean);
}

static void add_column(struct fm_table *table, const char *title, const char *name,
                       unsigned priority, enum fm_column_class column_class, const char *help)
{
    fm_table_columns(table, &(struct fm_column_head){title, name, column_class}, 1,
                     FM_COLOUR_NEVER);
    fm_column_priority(table, priority);
    if (help != NULL)
        fm_column_help(table, help);
}

static void add_columns(struct fm_table *table, const struct fm_measured *measured)
{
    fm_measured_column(table, measured, "Lost", "lost", 1);
    fm_column_help(table, "Imbalance: the cost lost while the others wait for the maximum: "
                          "(maximum - mean) \303\227 ranks");
    add_column(table, "\303\227 mean", "greatest_ratio", 1, FM_COLUMN_NUMBER,
               "The maximum over the mean");
    add_column(table, "At", "greatest_rank", 1, FM_COLUMN_NUMBER,
               "The rank, or the process, with the maximum");
    fm_measured_column(table, measured, "Maximum", "greatest", 2);
    fm_measured_column(table, measured, "Mean", "mean", 2);
    fm_measured_column(table, measured, "Minimum", "least", 3);
    fm_measured_column(table, measured, "Deviation", "deviation", 3);
    fm_column_help(table, "Standard deviation over the ranks");
    fm_measured_column(table, measured, "All", "sum", 3);
}

static void rank_cell(struct fm_table *table, const struct fm_part *part)
{
    if (part->process.rank != 0) {
        fm_cell_int(table, part->process.rank - 1);
        return;
    }
    g_autofree char *name = who(part);
    fm_cell_string(table, name, FM_STYLE_PLAIN);
}

static void add_loss(struct fm_page *page, struct fm_table *table,
                     const struct fm_measured *measured, const struct fm_rank_loss *loss,
                     const uint32_t *places)
{
    const struct fm_run_info *run_info = &page->profile->run_info;
    const struct fm_rank_info *info = &run_info->rank_info;
    const struct fm_rank_moments *of = fm_rank_moments(
        info, loss->row, (unsigned)fm_rank_measure(page->profile, measured->measure));
    struct fm_query link = fm_page_link(page, FM_CMD_RANKS, 0);
    g_autofree char *name = g_strdup_printf("clique/%" PRIu32, loss->clique);
    g_autofree char *path = path_of(page, loss->clique);
    link.command.measure = measured->asked;
    link.command.name = name;
    fm_table_row(table, "context", false);
    if (fm_measured_is_soft(measured, amount((double)of->greatest)))
        fm_row_soft(table);
    fm_measured_cell(table, measured, amount(loss->lost));
    fm_cell_ratio(table, loss->ratio);
    rank_cell(table, &run_info->parts[places[of->place]]);
    fm_measured_cell(table, measured, amount((double)of->greatest));
    mean_cell(table, measured, fm_rank_mean(of, info->count));
    fm_measured_cell(table, measured, amount((double)of->least));
    mean_cell(table, measured, fm_rank_deviation(of, info->count));
    fm_measured_cell(table, measured, amount(fm_rank_sum(of)));
    const struct fm_path_part parts[] = {{path, &link, FM_PART_STRONG}};
    fm_cell_path(table, parts, 1, 0);
}

uint32_t fm_add_rank_losses(struct fm_page *page, const struct fm_measured *measured, uint32_t ps,
                            uint32_t rows)
{
    g_autoptr(GArray) losses = fm_rank_losses(page->analysis, measured->measure, ps);
    if (losses->len == 0)
        return 0;
    g_autofree uint32_t *places = fm_profile_rank_places(page->profile);
    struct fm_table *table = fm_add_table(page->body, FM_BOX_NEVER, "ranks");
    fm_table_ranked(table, NULL);
    add_columns(table, measured);
    add_column(table, "Context", "path", 1, FM_COLUMN_PROC, NULL);
    for (guint i = 0; i < MIN(losses->len, rows); i++)
        add_loss(page, table, measured, &g_array_index(losses, struct fm_rank_loss, i), places);
    return losses->len;
}

/* --- one context --- */

/* As many bars as fit; a bar for several ranks shows their maximum. */
static void add_strip(struct fm_page *page, const struct fm_measured *measured,
                      const uint64_t *values, uint32_t count, uint64_t greatest)
{
    uint32_t bars = MIN(count, STRIP_WIDTH);
    g_autofree double *heights = g_new0(double, bars);
    for (uint32_t i = 0; i < count; i++) {
        double *height = &heights[(uint64_t)i * bars / count];
        *height = MAX(*height, (double)values[i] / (double)greatest);
    }
    struct fm_drawing *drawing = fm_add_drawing(page->body, "ranks", "Values by rank", STRIP_WIDTH);
    const struct fm_drawing_row row = {
        .label = measured->name, .height = STRIP_HEIGHT, .levels = 1};
    fm_drawing_row(drawing, &row);
    fm_drawing_bars(drawing, heights, bars);
}

static void add_value(struct fm_table *table, const struct fm_measured *measured,
                      const struct fm_part *part, uint64_t value, double mean)
{
    const char *host = part->process.host;
    fm_table_row(table, "rank", false);
    rank_cell(table, part);
    fm_cell_string(table, host == NULL ? "not recorded" : host, FM_STYLE_PLAIN);
    fm_measured_cell(table, measured, amount((double)value));
    fm_cell_ratio(table, (double)value / mean);
}

void fm_add_rank_values(struct fm_page *page, const struct fm_measured *measured, uint32_t clique)
{
    const struct fm_analysis *a = page->analysis;
    const struct fm_run_info *run_info = &page->profile->run_info;
    const struct fm_rank_info *info = &run_info->rank_info;
    uint32_t pd = fm_analysis_clique_entry(a, clique);
    uint32_t row = fm_rank_info_row(info, pd == 0 ? page->profile->root_pd : pd);
    int m = fm_rank_measure(page->profile, measured->measure);
    uint32_t strip = row == UINT32_MAX ? UINT32_MAX : fm_rank_info_strip(info, row);
    if (m < 0 || strip == UINT32_MAX) {
        fm_add_text(page->body, "Values of each rank are kept for the most expensive contexts "
                                "only; this is none of them.");
        return;
    }
    const struct fm_rank_moments *of = fm_rank_moments(info, row, (unsigned)m);
    const uint64_t *values = fm_rank_strip(info, strip, (unsigned)m);
    if (of->greatest == 0) {
        fm_add_text(page->body, "No rank has anything of this measure here.");
        return;
    }
    g_autofree uint32_t *places = fm_profile_rank_places(page->profile);
    double mean = fm_rank_mean(of, info->count);
    add_strip(page, measured, values, info->part_count, of->greatest);
    struct fm_table *table = fm_add_table(page->body, FM_BOX_NEVER, "values");
    fm_table_ranked(table, NULL);
    add_column(table, "Rank", "rank", 1, FM_COLUMN_NUMBER, NULL);
    add_column(table, "Host", "host", 2, FM_COLUMN_DEFAULT, NULL);
    fm_measured_column(table, measured, "Value", "value", 1);
    add_column(table, "\303\227 mean", "mean_ratio", 1, FM_COLUMN_NUMBER, NULL);
    for (uint32_t i = 0; i < MIN(info->part_count, VALUES_SHOWN); i++)
        add_value(table, measured, &run_info->parts[places[i]], values[i], mean);
    if (info->part_count > VALUES_SHOWN) {
        g_autofree char *text =
            g_strdup_printf("%u of %" PRIu32 " ranks, the first.", VALUES_SHOWN, info->part_count);
        fm_add_text(page->body, text);
    }
}

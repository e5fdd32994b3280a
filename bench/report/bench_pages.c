/* SPDX-License-Identifier: Apache-2.0 */
/* bench_pages FILE [ROUNDS [PART]]: CPU time of pages of an opened recording, page and HTML. For
 * each kind of page (whose address contains PART), pages with random ids are made; prints median,
 * 99th percentile and maximum in milliseconds. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "pages/report.h"

static double now_ms(void)
{
    struct timespec at;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &at);
    return (double)at.tv_sec * 1e3 + (double)at.tv_nsec / 1e6;
}

static uint64_t random_state = 88172645463325252u;

static uint32_t pick(uint32_t count)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return (uint32_t)(random_state % count) + 1;
}

/* In formats, %u is a random id of the kind. */
struct kind {
    const char *format;
    enum { NONE, CLIQUE, PS, PD, CSS, CSD, MODULE, PS_OF_PD } of;
};

static const struct kind kinds[] = {
    {"menu", NONE},
    {"root/no", NONE},
    {"root/90", NONE},
    {"clique/%u", CLIQUE},
    {"proc/%u", PS},
    {"proc/%u", PS_OF_PD},
    {"proc_callers/%u/cs/1/20/nc", PS},
    {"proc_callers/%u/pr/1/20/nc", PS},
    {"proc_callers/%u/mo/1/20/nc", PS},
    {"proc_callers/%u/cl/1/20/nc", PS},
    {"proc_callers/%u/pr/1/20/nc", PS_OF_PD},
    {"contexts/%u", PS},
    {"contexts/%u", PS_OF_PD},
    {"graph/calls/proc/%u", PS},
    {"graph/calls/proc/%u", PS_OF_PD},
    {"graph/calls/clique/%u", CLIQUE},
    {"graph/calls/all", NONE},
    {"flame/calls/down/_/all", NONE},
    {"flame/calls/down/_/clique/%u", CLIQUE},
    {"flame/calls/up/_/proc/%u", PS_OF_PD},
    {"tree/calls/down/3/all", NONE},
    {"recursions/calls", NONE},
    {"memory/allocated", NONE},
    {"memory/freed", NONE},
    {"program_modules", NONE},
    {"module/%s", MODULE},
    {"module_getter_setters/%s", MODULE},
    {"top_procs/1-100/callseqs/both/oa", NONE},
    {"top_procs/p0.1/time/self/pc", NONE},
    {"dump_proc_static/%u", PS},
    {"dump_proc_dynamic/%u", PD},
    {"dump_call_site_static/%u", CSS},
    {"dump_call_site_dynamic/%u", CSD},
    {"dump_raw_clique/%u", CLIQUE},
};

static char *query_text(const struct fm_open_profile *recording, const struct kind *kind)
{
    const struct fm_profile *profile = recording->profile;
    uint32_t number = 0;
    switch (kind->of) {
    case NONE:
        return g_strdup(kind->format);
    case MODULE: {
        const struct fm_analysis *a = recording->analysis;
        g_auto(GStrv) parts = g_strsplit(kind->format, "%s", 2);
        return g_strconcat(parts[0], a->modules[pick(a->module_count) - 1].name, NULL);
    }
    case CLIQUE:
        number = pick(recording->analysis->clique_count);
        break;
    case PS:
        number = pick(profile->ps_count);
        break;
    case PS_OF_PD: /* procedures, weighted by their number of contexts */
        number = profile->pd_ps[pick(profile->pd_count)];
        break;
    case PD:
        number = pick(profile->pd_count);
        break;
    case CSS:
        number = pick(profile->css_count);
        break;
    case CSD:
        number = pick(profile->csd_count);
        break;
    }
    g_auto(GStrv) parts = g_strsplit(kind->format, "%u", 2);
    return g_strdup_printf("%s%" PRIu32 "%s", parts[0], number, parts[1]);
}

/* *ret_write: time for writing the HTML, included in the result. */
static double page_ms(const struct fm_open_profile *recording, const char *text, double *ret_write,
                      size_t *ret_bytes)
{
    struct fm_query query = {0};
    struct fm_display *display = NULL;
    struct fm_preferences preferences;
    const struct fm_html_options options = {.recording_name = recording->name,
                                            .url_prefix = "?",
                                            .url_suffix = "",
                                            .asset_prefix = "/assets/"};
    GError *error = NULL;
    if (!fm_query_parse(text, &query, &error))
        g_error("%s: %s", text, error->message);
    query.compact = true; /* as for browsers */
    double start = now_ms();
    if (!fm_pages_make(recording, &query, &preferences, &display, &error))
        g_error("%s: %s", text, error->message);
    double made = now_ms();
    GString *html = g_string_new(NULL);
    fm_html_write(display, &preferences, &options, html);
    double end = now_ms();
    *ret_write = end - made;
    *ret_bytes = html->len;
    g_string_free(html, TRUE);
    fm_display_free(display);
    fm_query_done(&query);
    return end - start;
}

static int compare(const void *a, const void *b)
{
    double left = *(const double *)a, right = *(const double *)b;
    return (left > right) - (left < right);
}

int main(int argc, char **argv)
{
    if (argc < 2) {
        fprintf(stderr, "usage: %s FILE.data [ROUNDS [PART]]\n", argv[0]);
        return 2;
    }
    unsigned rounds = argc > 2 ? (unsigned)atoi(argv[2]) : 300;
    struct fm_open_profile *recording = NULL;
    GError *error = NULL;
    double start = now_ms();
    if (!fm_open_profile_open(argv[1], NULL, &recording, &error)) {
        fprintf(stderr, "%s\n", error->message);
        return 1;
    }
    printf("opened in %.0f ms: %" PRIu32 " pd, %" PRIu32 " csd, %" PRIu32 " ps\n", now_ms() - start,
           recording->profile->pd_count, recording->profile->csd_count,
           recording->profile->ps_count);
    printf("%-36s %9s %9s %9s %9s %9s\n", "page", "median", "99 %", "max", "of it wr.", "max KiB");
    g_autofree double *times = g_new(double, rounds);
    for (unsigned k = 0; k < G_N_ELEMENTS(kinds); k++) {
        if (argc > 3 && strstr(kinds[k].format, argv[3]) == NULL)
            continue;
        double worst = 0, worst_write = 0;
        size_t worst_bytes = 0;
        g_autofree char *worst_text = NULL;
        for (unsigned i = 0; i < rounds; i++) {
            double write;
            size_t bytes;
            char *text = query_text(recording, &kinds[k]);
            times[i] = page_ms(recording, text, &write, &bytes);
            if (times[i] > worst) {
                worst = times[i];
                worst_write = write;
                worst_bytes = bytes;
                g_free(worst_text);
                worst_text = g_strdup(text);
            }
            g_free(text);
        }
        qsort(times, rounds, sizeof *times, compare);
        printf("%-36s %9.3f %9.3f %9.3f %9.3f %9zu  %s%s\n", kinds[k].format, times[rounds / 2],
               times[rounds * 99 / 100], worst, worst_write, worst_bytes / 1024,
               kinds[k].of == PS_OF_PD ? "(ids by context) " : "", worst_text);
    }
    fm_open_profile_free(recording);
    return 0;
}

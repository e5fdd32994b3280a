/* SPDX-License-Identifier: Apache-2.0 */
/* Copies of a recording that is being written are finished one after the other, by what was joined
 * before and from the beginning: recount NAME.rec COPY RECOUNTS. The profiles, their lines and all
 * sums must be the same, to the byte. Prints how many copies there were, how many of them had other
 * counts than the one before and no other nodes, and what the program had called; 1 with a line on
 * stderr when they differ. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "profile/analysis/job.h"
#include "record/finish/finish.h"
#include "record/known/known.h"
#include "record/running/control.h"

#define COPIES_MAX 2000
#define WAIT_US 20000

struct made {
    struct fm_profile *profile;
    struct fm_finish_notes notes;
    struct fm_analysis *analysis;
};

static int fail(const char *what, const GError *error)
{
    fprintf(stderr, "%s%s%s\n", what, error == NULL ? "" : ": ",
            error == NULL ? "" : error->message);
    return 1;
}

static void made_clear(struct made *made)
{
    if (made->profile == NULL)
        return;
    fm_analysis_free(made->analysis);
    fm_profile_free(made->profile);
    fm_finish_notes_done(&made->notes);
    *made = (struct made){0};
}

static bool same_files(const char *one, const char *other)
{
    g_autofree char *a = NULL, *b = NULL;
    gsize size, same;
    return g_file_get_contents(one, &a, &size, NULL) &&
           g_file_get_contents(other, &b, &same, NULL) && size == same && memcmp(a, b, size) == 0;
}

static bool same_profiles(const struct made *a, const struct made *b, const char *beside)
{
    g_autofree char *one = g_strdup_printf("%s.one", beside);
    g_autofree char *other = g_strdup_printf("%s.other", beside);
    return fm_profile_write(a->profile, one, false, NULL) &&
           fm_profile_write(b->profile, other, false, NULL) && same_files(one, other);
}

static bool same_costs(const struct fm_cost *a, const struct fm_cost *b)
{
    return a->calls == b->calls && a->inlined == b->inlined &&
           memcmp(a->own, b->own, sizeof a->own) == 0 &&
           memcmp(a->desc, b->desc, sizeof a->desc) == 0;
}

static bool same_sums(const struct fm_analysis *a, const struct fm_analysis *b)
{
    const struct fm_profile *profile = b->profile;
    struct fm_cost one, other;
    bool same = a->clique_count == b->clique_count && same_costs(&a->root_total, &b->root_total);
    for (uint32_t ps = 1; same && ps <= profile->ps_count; ps++) {
        fm_analysis_ps_cost(a, ps, &one);
        fm_analysis_ps_cost(b, ps, &other);
        same = same_costs(&one, &other);
    }
    for (uint32_t css = 1; same && css <= profile->css_count; css++) {
        fm_analysis_css_cost(a, css, &one);
        fm_analysis_css_cost(b, css, &other);
        same = same_costs(&one, &other);
    }
    for (uint32_t pd = 1; same && pd <= profile->pd_count; pd++) {
        fm_analysis_pd_cost(a, pd, &one);
        fm_analysis_pd_cost(b, pd, &other);
        same = same_costs(&one, &other);
    }
    return same;
}

static struct fm_analysis *analyse(struct fm_analysis_job *job, uint32_t nodes)
{
    while (fm_analysis_job_step(job, nodes, NULL) == FM_JOB_MORE)
        ;
    struct fm_analysis *analysis = fm_analysis_job_take(job);
    fm_analysis_job_free(job);
    return analysis;
}

/* shape: the latest that was made whole by what is kept. */
static bool compare(struct made *again, const struct made *whole, const struct made *shape,
                    const char *beside)
{
    struct fm_analysis_job *job = again->notes.recount
                                      ? fm_analysis_job_new_recount(shape->analysis, again->profile)
                                      : fm_analysis_job_new(again->profile);
    again->analysis = analyse(job, UINT32_MAX);
    if (again->notes.recount)
        fm_source_map_attach(again->notes.source_map, again->profile);
    bool same = same_profiles(again, whole, beside);
    if (!same)
        fprintf(stderr, "profiles differ (%u csds)\n", whole->profile->csd_count);
    bool sums = same_sums(again->analysis, whole->analysis);
    if (!sums)
        fprintf(stderr, "sums differ\n");
    return same && sums;
}

int main(int argc, char **argv)
{
    if (argc != 4)
        return fail("recount NAME.rec COPY RECOUNTS", NULL);
    unsigned copies = 0, recounts = 0, wanted = (unsigned)atoi(argv[3]);
    struct fm_known *known = fm_known_new();
    const struct fm_finish_opts opts = {.known = known, .no_code = true};
    struct fm_joined *kept = NULL;
    struct made shape = {0};
    uint64_t calls = 0;
    while (recounts < wanted && copies < COPIES_MAX) {
        g_autoptr(GError) error = NULL;
        struct made again = {0}, whole = {0};
        uint64_t ns;
        unlink(argv[2]);
        if (!fm_control_copy(argv[1], argv[2], ++copies, &ns, &error) ||
            !fm_finish_again(argv[2], &opts, &kept, &again.profile, &again.notes, &error) ||
            !fm_finish(argv[2], &opts, &whole.profile, &whole.notes, &error))
            return fail("a copy", error);
        whole.analysis = analyse(fm_analysis_job_new(whole.profile), 1000);
        if (again.notes.recount != whole.notes.recount && whole.notes.calls > calls)
            recounts++;
        if (!compare(&again, &whole, &shape, argv[2]))
            return fail(again.notes.recount ? "a recount is not what is made whole" : "whole",
                        NULL);
        if (whole.notes.calls < calls)
            return fail("calls decreased", NULL);
        calls = whole.notes.calls;
        made_clear(&whole);
        made_clear(again.notes.recount ? &again : &shape);
        if (again.profile != NULL)
            shape = again;
        usleep(WAIT_US);
    }
    printf("%u %u %" PRIu64 "\n", copies, recounts, calls);
    made_clear(&shape);
    fm_joined_free(kept);
    fm_known_free(known);
    return recounts == wanted ? 0 : fail("too few recounts", NULL);
}

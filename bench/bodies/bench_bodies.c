/* SPDX-License-Identifier: Apache-2.0 */
/* bench_bodies FILE.data: CPU time of computations on the bodies of a Mercury program. */
#include <stdio.h>
#include <sys/resource.h>

#include "mercury/feedback/feedback.h"

static double cpu_s(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
           (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
}

static uint32_t decode_all(const struct fm_procrep *procrep)
{
    uint32_t goals = 0;
    for (uint32_t i = 0; i < procrep->proc_count; i++) {
        g_autoptr(FmBody) body = NULL;
        if (fm_procrep_body(procrep, i, &body, NULL))
            goals += body->goal_count;
    }
    return goals;
}

static uint32_t cover_all(const struct fm_analysis *a, const struct fm_bodies *bodies)
{
    uint32_t covered = 0;
    for (uint32_t ps = 1; ps <= a->profile->ps_count; ps++) {
        g_autoptr(FmBody) body = NULL;
        g_autoptr(FmCoverage) coverage = NULL;
        covered += fm_bodies_body(bodies, ps, &body, NULL) &&
                   fm_coverage_of_ps(a, body, ps, &coverage, NULL);
    }
    for (uint32_t pd = 1; pd <= a->profile->pd_count; pd++) {
        g_autoptr(FmBody) body = NULL;
        g_autoptr(FmCoverage) coverage = NULL;
        covered += fm_bodies_body(bodies, a->profile->pd_ps[pd], &body, NULL) &&
                   fm_coverage_of_pd(a, body, pd, &coverage, NULL);
    }
    return covered;
}

static void row(const char *what, double *from)
{
    double now = cpu_s();
    printf("%-44s %7.1f ms\n", what, 1000 * (now - *from));
    *from = cpu_s();
}

int main(int argc, char **argv)
{
    g_autoptr(FmProfile) profile = NULL;
    g_autoptr(FmAnalysis) analysis = NULL;
    g_autoptr(FmProcrep) procrep = NULL;
    g_autoptr(GError) error = NULL;
    double from = cpu_s();
    if (argc != 2 || !fm_profile_read(argv[1], NULL, &profile, &error) ||
        !fm_analysis_new(profile, NULL, &analysis, &error) ||
        !fm_procrep_read_beside(NULL, argv[1], &procrep, &error)) {
        fprintf(stderr, "%s\n", error == NULL ? "usage: bench_bodies FILE.data" : error->message);
        return 1;
    }
    row("profile and index of bodies read", &from);
    uint32_t goals = decode_all(procrep);
    row("every body decoded", &from);
    g_autoptr(FmBodies) bodies = fm_bodies_new(analysis, procrep, NULL);
    uint32_t covered = cover_all(analysis, bodies);
    row("coverage of every procedure and context", &from);
    for (uint32_t clique = 1; clique <= analysis->clique_count; clique++)
        fm_bodies_recursion(bodies, clique);
    row("recursion of every clique", &from);
    g_autoptr(FmFeedback) feedback = fm_feedback_new(profile->program_name);
    struct fm_feedback_params params;
    GPtrArray *messages;
    fm_feedback_params_default(&params);
    fm_feedback_search(feedback, bodies, &params, &messages);
    g_ptr_array_unref(messages);
    row("search for parallel conjunctions", &from);
    printf("%u goals, %u procedures and contexts with coverage\n", goals, covered);
    return 0;
}

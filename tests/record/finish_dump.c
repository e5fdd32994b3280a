/* SPDX-License-Identifier: Apache-2.0 */
/* Prints a profile as lines of fields separated by tabs, for the scripts beside it:
 *   header NAME VALUE
 *   proc   NAME FILE LINE ARITY VARIADIC MODULE LINKAGE
 *   site   PROC LINE KIND CALLEE ("" when not known) GOAL_PATH
 *   edge   CALLER CALLEE CALLS EXITS EXCPS QUANTA ALLOCS BYTES   summed over contexts
 *   at     CALLER LINE CALLEE CALLS                              the same by call site
 *   point  PROC PATH COUNT                                       summed over contexts
 *   pointat CONTEXT PATH COUNT                                   of one context: its shortest path
 *   line   PROC LINE COUNT                                       "-" when it is not known
 *   lineat CONTEXT LINE COUNT
 *   context PATH CALLS                                           each edge once, by its path from
 *                                                                the root (names, shortest) */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "profile/file/profile.h"
#include "profile/file/attached/source_map.h"

static const struct fm_profile *profile;
static struct fm_source_map *map; /* NULL: it has none */

static const char *pd_name(uint32_t pd)
{
    return profile->ps[profile->pd_ps[pd]].unqualified_name;
}

static void print_statics(void)
{
    for (uint32_t i = 1; i <= profile->ps_count; i++) {
        const struct fm_ps *ps = &profile->ps[i];
        printf("proc\t%s\t%s\t%u\t%d\t%d\t%s\t%s\n", ps->unqualified_name, ps->file, ps->line,
               ps->arity == FM_ARITY_UNKNOWN ? -1 : (int)ps->arity, ps->variadic, ps->decl_module,
               ps->raw_name);
    }
    for (uint32_t i = 1; i <= profile->css_count; i++) {
        const struct fm_css *css = &profile->css[i];
        printf("site\t%s\t%u\t%d\t%s\t%s\n", profile->ps[css->ps].unqualified_name, css->line,
               (int)css->kind,
               css->callee_ps == 0 ? "" : profile->ps[css->callee_ps].unqualified_name,
               css->goal_path);
    }
}

static void print_edge(uint32_t csd)
{
    printf("edge\t%s\t%s\t%" PRId64, pd_name(profile->csd_caller[csd]),
           pd_name(profile->csd_callee[csd]), fm_profile_calls(profile, csd));
    static const enum fm_measure_id shown[] = {FM_EXITS, FM_EXCPS, FM_QUANTA, FM_ALLOCS, FM_WORDS};
    for (size_t i = 0; i < sizeof shown / sizeof shown[0]; i++)
        printf("\t%" PRIu64, fm_profile_own(profile, csd, shown[i]));
    const struct fm_css *css = &profile->css[profile->csd_css[csd]];
    printf("\nat\t%s\t%u\t%s\t%" PRId64 "\n", pd_name(profile->csd_caller[csd]), css->line,
           pd_name(profile->csd_callee[csd]), fm_profile_calls(profile, csd));
}

static uint64_t point_of_pd(uint32_t pd, uint32_t point)
{
    return fm_column_get(&profile->pd_points, profile->pd_point_first[pd] + point);
}

static void print_counts(const char *kind, const char *of, uint32_t ps, const uint64_t *counts)
{
    const struct fm_ps *proc = &profile->ps[ps];
    for (uint32_t i = 0; i < proc->point_count; i++)
        printf("point%s\t%s\t%s\t%" PRIu64 "\n", kind, of,
               profile->points[proc->point_first + i].goal_path, counts[i]);
    for (uint32_t i = map->line_first[ps]; i < map->line_first[ps + 1]; i++) {
        uint64_t count = fm_source_map_count(map, &map->lines[i], counts);
        printf("line%s\t%s\t%u\t", kind, of, map->lines[i].line);
        if (count == UINT64_MAX)
            printf("-\n");
        else
            printf("%" PRIu64 "\n", count);
    }
}

/* path: of each pd, or NULL. */
static void print_coverage(char **paths)
{
    for (uint32_t ps = 1; ps <= profile->ps_count; ps++) {
        uint32_t count = profile->ps[ps].point_count;
        g_autofree uint64_t *counts = g_new0(uint64_t, count + 1);
        g_autofree uint64_t *sums = g_new0(uint64_t, count + 1);
        for (uint32_t pd = 1; pd <= profile->pd_count; pd++) {
            if (profile->pd_ps[pd] != ps)
                continue;
            for (uint32_t i = 0; i < count; i++)
                sums[i] += counts[i] = point_of_pd(pd, i);
            if (paths[pd] != NULL && count > 0)
                print_counts("at", paths[pd], ps, counts);
        }
        print_counts("", profile->ps[ps].unqualified_name, ps, sums);
    }
}

/* heap, callee, then every measure beside calls and time by its name. */
static void print_heap(uint32_t csd)
{
    printf("heap\t%s", pd_name(profile->csd_callee[csd]));
    for (unsigned m = FM_ALLOCS; m < profile->measure_count; m++)
        printf("\t%s=%" PRIu64, profile->measures[m].name, fm_profile_own(profile, csd, m));
    printf("\n");
}

/* Breadth first; of a pd's shortest paths the first in the order of strcmp counts. */
static void print_contexts(void)
{
    g_autofree char **paths = g_new0(char *, profile->pd_count + 1);
    g_autofree uint32_t *queue = g_new0(uint32_t, profile->pd_count + 1);
    g_autofree uint32_t *depths = g_new0(uint32_t, profile->pd_count + 1);
    uint32_t head = 0, tail = 0;
    paths[profile->root_pd] = g_strdup("");
    queue[tail++] = profile->root_pd;
    while (head < tail) {
        uint32_t pd = queue[head++];
        uint32_t slots = profile->ps[profile->pd_ps[pd]].css_count;
        for (uint32_t slot = 0; slot < slots; slot++) {
            uint32_t count;
            const uint32_t *csds = fm_profile_slot(profile, pd, slot, &count);
            for (uint32_t i = 0; i < count; i++) {
                uint32_t callee = profile->csd_callee[csds[i]];
                char *path = g_strdup_printf("%s/%s", paths[pd], pd_name(callee));
                printf("context\t%s\t%" PRId64 "\n", path, fm_profile_calls(profile, csds[i]));
                if (paths[callee] == NULL) {
                    queue[tail++] = callee;
                    depths[callee] = depths[pd] + 1;
                    paths[callee] = path;
                } else if (depths[callee] == depths[pd] + 1 && strcmp(path, paths[callee]) < 0) {
                    g_free(paths[callee]);
                    paths[callee] = path;
                } else {
                    g_free(path);
                }
            }
        }
    }
    if (map != NULL)
        print_coverage(paths);
    for (uint32_t i = 0; i <= profile->pd_count; i++)
        g_free(paths[i]);
}

int main(int argc, char **argv)
{
    g_autoptr(GError) error = NULL;
    struct fm_profile *read = NULL;
    if (argc != 2 || !fm_profile_read(argv[1], NULL, &read, &error)) {
        fprintf(stderr, "%s\n", error == NULL ? "usage: finish_dump FILE.data" : error->message);
        return 1;
    }
    profile = read;
    if (!fm_source_map_find(NULL, argv[1], profile, &map, &error) &&
        !g_error_matches(error, FM_ERROR, FM_ERROR_NOT_FOUND)) {
        fprintf(stderr, "%s\n", error->message);
        return 1;
    }
    printf("header\tprogram\t%s\nheader\tcallseqs\t%" PRIu64 "\nheader\tquanta\t%" PRIu64
           "\nheader\tinstrumentation\t%" PRIu64 "\nheader\tticks\t%" PRIu64 "\nheader\tpds\t%u\n",
           profile->program_name, profile->callseqs, profile->user_quanta,
           profile->instrumentation_quanta, profile->ticks_per_second, profile->pd_count);
    const struct fm_process_fact *process = &profile->run_info.process;
    if (process->command != NULL)
        printf("header\tcommand\t%s\nheader\tfolder\t%s\nheader\tpid\t%u\nheader\tparent\t%u\n",
               process->command, process->folder, process->pid, process->parent_pid);
    print_statics();
    for (uint32_t csd = 1; csd <= profile->csd_count; csd++) {
        print_edge(csd);
        print_heap(csd);
    }
    print_contexts();
    fm_source_map_free(map);
    fm_profile_free(read);
    return 0;
}

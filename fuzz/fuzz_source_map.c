/* SPDX-License-Identifier: Apache-2.0 */
/* Lines of C procedures: accepted maps can be queried within their bounds. */
#include <stdint.h>
#include <stdlib.h>

#include "profile/file/build.h"
#include "profile/file/attached/source_map.h"

/* The profile that the seeds belong to: two procedures, the second with three points. */
static struct fm_profile *make_profile(void)
{
    struct fm_build *build = fm_build_new(FM_FLAVOUR_C, "prog");
    fm_build_header(build)->coverage = FM_COVERAGE_DYNAMIC;
    struct fm_ps ps = {.name = "f", .decl_module = "a.c", .def_module = "a.c", .file = "/a.c"};
    uint32_t first = fm_build_ps(build, &ps), second = fm_build_ps(build, &ps);
    struct fm_coverage_point point = {.goal_path = "1:1", .type = FM_POINT_BRANCH_ARM};
    for (int i = 0; i < 3; i++)
        fm_build_point(build, second, &point);
    fm_build_pd(build, first);
    struct fm_profile *profile;
    if (!fm_build_finish(build, &profile, NULL))
        abort();
    return profile;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct fm_profile *profile;
    static const uint64_t counts[3] = {1, 2, 3};
    if (profile == NULL)
        profile = make_profile();
    struct fm_source_map *map = NULL;
    if (!fm_source_map_read_bytes("input", data, size, profile, &map, NULL))
        return 0;
    uint32_t before = 0;
    for (uint32_t ps = 1; ps <= map->ps_count; ps++, before = 0)
        for (uint32_t i = map->line_first[ps]; i < map->line_first[ps + 1]; i++) {
            uint64_t runs = fm_source_map_count(map, &map->lines[i], counts);
            if (map->lines[i].line <= before || (runs != UINT64_MAX && runs > 3))
                abort();
            before = map->lines[i].line;
        }
    fm_source_map_free(map);
    return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes: reading either fails with one error, or gives a profile that can be analysed, written
 * and read again. */
#include "profile/analysis/analysis.h"
#include "profile/file/write.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void ask(const struct fm_analysis *a)
{
    struct fm_invariant *invariants;
    unsigned count;
    fm_analysis_invariants(a, &invariants, &count);
    fm_invariants_free(invariants, count);
    for (int kind = FM_BY_CALLS; kind <= FM_BY_WORDS; kind++) {
        struct fm_top_query query = {.kind = (enum fm_cost_kind)kind,
                                     .with_descendants = true,
                                     .scope = FM_PER_CALL,
                                     .limit = FM_LIMIT_RANK,
                                     .first = 1,
                                     .last = 10};
        g_autofree uint32_t *ps = NULL;
        uint32_t found;
        fm_analysis_top(a, &query, &ps, &found);
        for (uint32_t i = 0; i < found; i++) {
            for (int group = FM_GROUP_CALL_SITE; group <= FM_GROUP_CLIQUE; group++) {
                g_autofree struct fm_callers_row *rows = NULL;
                uint32_t row_count;
                fm_analysis_callers(a, ps[i], (enum fm_callers_group)group, NULL, &rows,
                                    &row_count);
            }
        }
    }
    fm_analysis_action_clique(a, 50, FM_CALLSEQS);
    for (uint32_t i = 0; i < a->module_count; i++) {
        struct fm_accessor *accessors;
        uint32_t accessor_count;
        fm_analysis_accessors(a, &a->modules[i], &accessors, &accessor_count);
        fm_accessors_free(accessors, accessor_count);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    g_autoptr(FmProfile) profile = NULL;
    g_autoptr(GError) error = NULL;
    if (!fm_profile_read_bytes("fuzz", data, size, NULL, &profile, &error)) {
        if (!error || !error->message[0])
            g_error("refused without an error");
        return 0;
    }
    g_autoptr(FmAnalysis) analysis = NULL;
    if (!fm_analysis_new(profile, NULL, &analysis, &error))
        g_error("%s", error->message);
    ask(analysis);

    struct fm_writer *writer = fm_writer_new_memory();
    if (!fm_profile_encode(profile, "fuzz", 9, false, writer, &error))
        g_error("%s", error->message);
    g_autoptr(GBytes) bytes = fm_writer_finish_memory(writer);
    g_autoptr(FmProfile) again = NULL;
    size_t written;
    const uint8_t *contents = g_bytes_get_data(bytes, &written);
    if (!fm_profile_read_bytes("again", contents, written, NULL, &again, &error))
        g_error("%s", error->message);
    if (again->csd_count != profile->csd_count || again->callseqs != profile->callseqs)
        g_error("what was written is not what was read");
    return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Results that were handed over, until they are used. */
#include "open/prepared.h"

#include "open/internal.h"

/* Several names may lead to one file: the content decides. */
bool fm_open_files_take_prepared(const struct fm_open_files *all, struct fm_trace *trace)
{
    GHashTableIter iter;
    gpointer prepared;
    g_hash_table_iter_init(&iter, all->prepared);
    while (g_hash_table_iter_next(&iter, NULL, &prepared)) {
        if (!fm_profile_take_prepared(trace, prepared))
            continue;
        bool recount = fm_prepared_profile_is_recount(prepared);
        g_hash_table_iter_remove(&iter);
        return recount;
    }
    return false;
}

enum fm_offered fm_open_files_offered(const struct fm_open_files *all, const char *path)
{
    const struct fm_prepared_profile *prepared = g_hash_table_lookup(all->prepared, path);
    return prepared == NULL                           ? FM_OFFERED_NOTHING
           : fm_prepared_profile_is_recount(prepared) ? FM_OFFERED_RECOUNT
                                                      : FM_OFFERED_FILE;
}

void fm_open_files_offer(struct fm_open_files *all, struct fm_prepared_profile *prepared)
{
    g_return_if_fail(all != NULL && prepared != NULL);
    g_hash_table_replace(all->prepared, g_strdup(fm_prepared_profile_path(prepared)), prepared);
}

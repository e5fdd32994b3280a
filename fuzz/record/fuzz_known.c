/* SPDX-License-Identifier: Apache-2.0 */
/* Stored statics: accepted ones can be queried, and stored again unchanged. */
#include <stdlib.h>
#include <string.h>

#include "record/known/pack.h"

static size_t read_texts(const struct fm_statics *s)
{
    size_t sum = strlen(s->path) + (s->debug_note == NULL ? 0 : strlen(s->debug_note));
    for (uint32_t i = 0; i < s->proc_count; i++)
        sum += strlen(s->procs[i].name) + strlen(s->procs[i].linkage) + strlen(s->procs[i].unit) +
               strlen(s->procs[i].file);
    for (uint32_t i = 0; i < s->machine_site_count; i++)
        sum +=
            strlen(s->machine_sites[i].file) +
            (s->machine_sites[i].target_name == NULL ? 0 : strlen(s->machine_sites[i].target_name));
    for (uint32_t i = 0; i < s->site_count; i++)
        sum += strlen(s->sites[i].file) + (s->sites[i].callee_name == NULL ? 0 : 1);
    for (uint32_t i = 0; i < s->point_count; i++)
        sum += strlen(s->points[i].file);
    return sum;
}

static void ask(const struct fm_statics *s, uint64_t address)
{
    uint64_t offset;
    uint32_t scope = fm_statics_scope_at(s, address);
    if (fm_statics_shown_around(s, scope) != FM_NONE && scope >= s->scope_count)
        abort();
    uint32_t proc = fm_statics_proc_at(s, address);
    if (proc != FM_NONE && proc >= s->proc_count)
        abort();
    proc = fm_statics_body_at(s, address);
    if (proc != FM_NONE && s->procs[proc].site_first > s->site_count)
        abort();
    const struct fm_machine_site *site = fm_statics_site_at(s, address);
    if (site != NULL && site->site != FM_NONE && s->sites[site->site].proc >= s->proc_count)
        abort();
    const char *symbol = fm_statics_symbol_at(s, address, &offset);
    if (symbol != NULL && strlen(symbol) == SIZE_MAX)
        abort();
    (void)fm_statics_point_at(s, address);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fm_statics *statics = fm_statics_unpack(data, size);
    if (statics == NULL)
        return 0;
    if (read_texts(statics) == SIZE_MAX)
        abort();
    for (uint32_t i = 0; i < statics->segment_count; i++)
        ask(statics, statics->segments[i].low);
    for (uint32_t i = 0; i < statics->machine_site_count; i++)
        ask(statics, statics->machine_sites[i].return_address);
    for (uint32_t i = 0; i < statics->symbol_count; i++)
        ask(statics, statics->symbols[i].address);
    for (uint32_t i = 0; i < statics->entry_count; i++)
        ask(statics, statics->entries[i].address);
    GPtrArray *bare = fm_statics_bare_units(statics);
    g_ptr_array_unref(bare);
    GByteArray *again = fm_statics_pack(statics);
    struct fm_statics *second = again == NULL ? NULL : fm_statics_unpack(again->data, again->len);
    if (again != NULL && (second == NULL || second->site_count != statics->site_count))
        abort();
    fm_statics_free(second);
    if (again != NULL)
        g_byte_array_unref(again);
    fm_statics_free(statics);
    return 0;
}

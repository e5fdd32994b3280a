/* SPDX-License-Identifier: Apache-2.0 */
/* Bodies of procedures: accepted ones can be printed, found by path and written again. */
#include <stdint.h>
#include <stdlib.h>

#include "mercury/procrep/procrep.h"

static void use(const struct fm_procrep *procrep, uint32_t proc)
{
    g_autoptr(FmBody) body = NULL;
    if (!fm_procrep_body(procrep, proc, &body, NULL))
        return;
    uint32_t last = body->goal_count - 1;
    g_autoptr(GString) text = g_string_new(NULL);
    fm_body_append_path(text, body, last);
    if (fm_body_find(body, text->str) != last)
        abort();
    fm_body_print(text, procrep, proc, body, NULL);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fm_procrep *procrep = NULL;
    if (!fm_procrep_read_bytes("input", data, size, &procrep, NULL))
        return 0;
    for (uint32_t i = 0; i < procrep->proc_count; i++) {
        if (fm_procrep_find(procrep, &procrep->procs[i].label) != i &&
            fm_procrep_module(procrep, procrep->procs[i].label.def_module) ==
                &procrep->modules[procrep->procs[i].module])
            abort();
        use(procrep, i);
    }
    struct fm_writer *writer = fm_writer_new_memory();
    bool written = fm_procrep_encode(procrep, 6, writer, NULL);
    GBytes *again = fm_writer_finish_memory(writer);
    struct fm_procrep *read = NULL;
    gsize length;
    const uint8_t *bytes = g_bytes_get_data(again, &length);
    if (written && !fm_procrep_read_bytes("written", bytes, length, &read, NULL))
        abort();
    fm_procrep_free(read);
    g_bytes_unref(again);
    fm_procrep_free(procrep);
    return 0;
}

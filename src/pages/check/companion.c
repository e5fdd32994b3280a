/* SPDX-License-Identifier: Apache-2.0 */
#include "pages/check/companion.h"

#include <string.h>

#include "base/files/mapped.h"
#include "base/files/writer.h"
#include "mercury/feedback/feedback.h"
#include "mercury/procrep/procrep.h"

static void fact_clear(gpointer data)
{
    g_free(((struct fm_companion_fact *)data)->detail);
}

/* Takes the detail. */
static void add_fact(GArray *facts, const char *name, bool holds, char *detail)
{
    struct fm_companion_fact fact = {name, holds, detail};
    g_array_append_val(facts, fact);
}

/* --- bodies --- */

static void check_every_body(const struct fm_procrep *procrep, GArray *facts)
{
    uint64_t goals = 0;
    uint32_t failed = 0, lost = 0;
    g_autofree char *first = NULL;
    for (uint32_t proc = 0; proc < procrep->proc_count; proc++) {
        g_autoptr(FmBody) body = NULL;
        g_autoptr(GError) error = NULL;
        lost += fm_procrep_find(procrep, &procrep->procs[proc].label) != (int64_t)proc;
        if (fm_procrep_body(procrep, proc, &body, &error)) {
            goals += body->goal_count;
        } else if (failed++ == 0) {
            first = g_strdup(error->message);
        }
    }
    add_fact(facts, "every body can be decoded", failed == 0,
             failed == 0 ? g_strdup_printf("%u procedures, %" G_GUINT64_FORMAT " goals",
                                           procrep->proc_count, (guint64)goals)
                         : g_strdup_printf("%u cannot, the first: %s", failed, first));
    add_fact(facts, "every procedure is found by its label", lost == 0,
             g_strdup_printf("%u of %u", procrep->proc_count - lost, procrep->proc_count));
}

/* Version 5 must come out byte for byte as the compiler wrote it; in version 6 the names may be at
 * other positions. */
static void check_written_again(const struct fm_procrep *procrep, const struct fm_mapped_file *file,
                                GArray *facts)
{
    struct fm_writer *writer = fm_writer_new_memory();
    g_autoptr(GError) error = NULL;
    bool ok = fm_procrep_encode(procrep, procrep->version, writer, &error);
    g_autoptr(GBytes) bytes = fm_writer_finish_memory(writer);
    gsize size = 0;
    const void *again = bytes == NULL ? NULL : g_bytes_get_data(bytes, &size);
    if (ok && procrep->version == 5) {
        ok = size == file->size && again != NULL && memcmp(again, file->bytes, size) == 0;
        add_fact(facts, "written again it is the same bytes", ok,
                 g_strdup_printf("%zu and %zu bytes", file->size, size));
        return;
    }
    g_autoptr(FmProcrep) second = NULL;
    ok = ok && fm_procrep_read_bytes("written again", again, size, &second, &error);
    add_fact(facts, "written again it is read as the same",
             ok && second->proc_count == procrep->proc_count,
             ok ? g_strdup_printf("%u and %u procedures", procrep->proc_count, second->proc_count)
                : g_strdup(error == NULL ? "nothing was written" : error->message));
}

static bool check_bodies(const char *path, GArray *facts, GError **error)
{
    g_autoptr(FmMappedFile) file = NULL;
    g_autoptr(FmProcrep) procrep = NULL;
    if (!fm_mapped_file_open(path, &file, error) ||
        !fm_procrep_read_bytes(path, file->bytes, file->size, &procrep, error))
        return false;
    check_every_body(procrep, facts);
    check_written_again(procrep, file, facts);
    return true;
}

/* --- feedback --- */

/* Whether values that the report prints as sums are sums. */
static bool is_sound(const struct fm_candidate *candidate)
{
    const struct fm_parallel_metrics *m = &candidate->metrics;
    return m->calls >= 0 && m->sequential >= 0 && m->parallel >= 0 && m->spark >= 0 &&
           m->barrier >= 0 && m->signals >= 0 && m->waits >= 0 && candidate->conjuncts->len >= 2 &&
           candidate->dependent == (candidate->shared->len > 0);
}

static bool check_feedback(const char *path, GArray *facts, GError **error)
{
    g_autoptr(FmFeedback) feedback = NULL, again = NULL;
    g_autoptr(GString) report = g_string_new(NULL), second = g_string_new(NULL);
    g_autoptr(GString) text = g_string_new(NULL);
    g_autoptr(GError) lost = NULL;
    guint candidates = 0, odd = 0;
    if (!fm_feedback_read(path, NULL, &feedback, error))
        return false;
    for (guint i = 0; i < feedback->procs->len; i++) {
        const struct fm_feedback_proc *proc = feedback->procs->pdata[i];
        for (guint c = 0; c < proc->candidates->len; c++, candidates++)
            odd += !is_sound(proc->candidates->pdata[c]);
    }
    add_fact(facts, "costs are not below 0, conjuncts two or more, dependence has variables",
             odd == 0, g_strdup_printf("%u of %u conjunctions", candidates - odd, candidates));
    fm_feedback_report(feedback, report);
    fm_feedback_write(feedback, text);
    if (fm_feedback_read_text("written again", text->str, text->len, feedback->program, &again,
                              &lost))
        fm_feedback_report(again, second);
    add_fact(facts, "written again it says the same", g_string_equal(report, second),
             lost == NULL ? g_strdup_printf("%zu bytes of report", report->len)
                          : g_strdup(lost->message));
    return true;
}

bool fm_companion_check(const char *path, enum fm_hint_file_kind kind, GArray **ret_facts,
                        GError **error)
{
    *ret_facts = g_array_new(FALSE, FALSE, sizeof(struct fm_companion_fact));
    g_array_set_clear_func(*ret_facts, fact_clear);
    return kind == FM_FILE_BODIES ? check_bodies(path, *ret_facts, error)
                                  : check_feedback(path, *ret_facts, error);
}

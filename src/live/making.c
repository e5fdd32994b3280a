/* SPDX-License-Identifier: Apache-2.0 */
#include "live/making.h"

#include <glib/gstdio.h>
#include <string.h>

#include "record/finish/finish.h"
#include "record/known/known.h"
#include "record/outside/sampler.h"
#include "open/prepared.h"

struct fm_making {
    const char *recording, *profile;
    struct fm_sampler *sampler; /* in place of a recording; NULL */
    const char *since;          /* NULL = from the beginning */
    uint64_t since_ns;
    struct fm_known *known;
    bool known_is_own;
    struct fm_joined *joined;       /* that of the latest that was made whole; NULL */
    struct fm_profile_shape *shape; /* likewise */
};

struct fm_making *fm_making_new(const char *recording, const char *profile)
{
    struct fm_making *making = g_new0(struct fm_making, 1);
    making->recording = recording;
    making->profile = profile;
    making->known = fm_known_new();
    making->known_is_own = true;
    return making;
}

struct fm_making *fm_making_new_since(const struct fm_making *whole, const char *recording,
                                      const char *profile, const char *since, uint64_t since_ns)
{
    struct fm_making *making = g_new0(struct fm_making, 1);
    making->recording = recording;
    making->profile = profile;
    making->since = since;
    making->since_ns = since_ns;
    making->known = whole->known;
    return making;
}

struct fm_making *fm_making_new_sampled(struct fm_sampler *sampler, const char *profile)
{
    struct fm_making *making = g_new0(struct fm_making, 1);
    making->sampler = sampler;
    making->profile = profile;
    return making;
}

void fm_making_free(struct fm_making *making)
{
    fm_sampler_free(making->sampler); /* which may be writing */
    g_unlink(making->profile);
    fm_profile_shape_free(making->shape);
    fm_joined_free(making->joined);
    if (making->known_is_own)
        fm_known_free(making->known);
    g_free(making);
}

static bool write_all(struct fm_making *making, struct fm_profile *profile,
                      struct fm_prepared_profile **ret_prepared, GError **error)
{
    struct fm_prepared_profile *prepared = NULL;
    if (ret_prepared == NULL) {
        bool ok = fm_profile_write(profile, making->profile, false, error);
        fm_profile_free(profile);
        return ok;
    }
    prepared = fm_profile_prepare(making->profile, profile, error);
    if (prepared == NULL)
        return false;
    bool ok = fm_profile_write(fm_prepared_profile_borrow(prepared), making->profile, false, error);
    if (ok && making->joined != NULL)
        making->shape = fm_prepared_profile_shape(prepared);
    if (!ok || !fm_prepared_profile_written(prepared))
        g_clear_pointer(&prepared, fm_prepared_profile_free);
    *ret_prepared = prepared;
    return ok;
}

/* For a running program with a reader: updates only the counts if nothing else is new. */
static bool make_again(struct fm_making *making, const struct fm_finish_opts *opts,
                       bool *ret_running, struct fm_prepared_profile **ret_prepared, GError **error)
{
    struct fm_finish_notes notes;
    struct fm_profile *profile;
    bool ok;
    if (!fm_finish_again(making->recording, opts, &making->joined, &profile, &notes, error))
        return false;
    if (notes.recount && notes.live && making->shape != NULL) {
        *ret_prepared = fm_profile_prepare_recount(making->shape, making->profile, profile,
                                                   g_steal_pointer(&notes.source_map), error);
        ok = *ret_prepared != NULL;
    } else {
        g_clear_pointer(&making->shape, fm_profile_shape_free);
        if (notes.recount)
            fm_source_map_attach(notes.source_map, profile);
        ok = write_all(making, profile, ret_prepared, error);
    }
    *ret_running = notes.live;
    fm_finish_notes_done(&notes);
    return ok;
}

bool fm_making_make(struct fm_making *making, bool *ret_running,
                    struct fm_prepared_profile **ret_prepared, GError **error)
{
    const struct fm_finish_opts opts = {.known = making->known,
                                        .since = making->since,
                                        .since_ns = making->since_ns,
                                        .no_code = true};
    struct fm_finish_notes notes;
    struct fm_profile *profile;
    if (ret_prepared != NULL)
        *ret_prepared = NULL;
    if (making->sampler != NULL)
        return fm_sampler_write(making->sampler, ret_running, error);
    if (ret_prepared != NULL)
        return make_again(making, &opts, ret_running, ret_prepared, error);
    if (!fm_finish(making->recording, &opts, &profile, &notes, error))
        return false;
    bool ok = write_all(making, profile, NULL, error);
    *ret_running = notes.live;
    fm_finish_notes_done(&notes);
    return ok;
}

char *fm_making_finished(const char *recording)
{
    size_t size = strlen(recording) - (g_str_has_suffix(recording, ".rec") ? strlen(".rec") : 0);
    for (unsigned parts = 0; parts < 2; parts++) {
        g_autofree char *path = g_strdup_printf("%.*s.data", (int)size, recording);
        if (g_file_test(path, G_FILE_TEST_IS_REGULAR))
            return g_steal_pointer(&path);
        for (unsigned numbers = 0; numbers < 2; numbers++) {
            while (size > 0 && g_ascii_isdigit(recording[size - 1]))
                size--;
            if (size == 0 || recording[size - 1] != '.')
                return NULL;
            size--;
        }
    }
    return NULL;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "merging.h"

#include <string.h>

#include "base/error.h"
#include "profile/file/write.h"

static GBytes *bytes_of(const struct fm_profile *profile)
{
    struct fm_writer *writer = fm_writer_new_memory();
    g_assert_true(fm_profile_encode(profile, "result", 9, false, writer, NULL));
    return fm_writer_finish_memory(writer);
}

struct fm_profile *merge_with(const struct fm_merge_options *options,
                              struct fm_profile *const *profiles, unsigned count)
{
    struct fm_merge *merge = fm_merge_new(options);
    struct fm_profile *result = NULL;
    g_autoptr(GError) error = NULL;
    for (unsigned i = 0; i < count; i++) {
        if (!fm_merge_add(merge, profiles[i], "input", &error))
            g_error("%s", error->message);
    }
    if (!fm_merge_finish(merge, &result, &error))
        g_error("%s", error->message);
    return result;
}

struct fm_profile *merge_all(struct fm_profile *const *profiles, unsigned count)
{
    const struct fm_merge_options options = {0};
    return merge_with(&options, profiles, count);
}

void assert_same(const struct fm_profile *a, const struct fm_profile *b)
{
    g_autoptr(GBytes) one = bytes_of(a), other = bytes_of(b);
    g_assert_true(g_bytes_equal(one, other));
}

void expect_refused(struct fm_profile *a, struct fm_profile *b, const char *words)
{
    const struct fm_merge_options options = {0};
    struct fm_merge *merge = fm_merge_new(&options);
    g_autoptr(GError) error = NULL;
    g_assert_true(fm_merge_add(merge, a, "a", NULL));
    g_assert_false(fm_merge_add(merge, b, "b", &error));
    g_assert_error(error, FM_ERROR, FM_ERROR_UNAVAILABLE);
    if (!g_str_has_prefix(error->message, "b: ") || strstr(error->message, words) == NULL)
        g_error("%s", error->message);
    struct fm_profile *alone = NULL;
    g_assert_true(fm_merge_finish(merge, &alone, NULL));
    g_autoptr(FmProfile) canonical = merge_all(&a, 1);
    assert_same(alone, canonical); /* nothing of b was added */
    fm_profile_free(alone);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Any two profiles: merged in either order, and each alone before that, they give the same bytes,
 * or are rejected. Input: options in one byte, the length of the first in three, the two files. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "profile/file/write.h"
#include "runs/merge/merge.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Fails by SIGABRT, so that the fuzzer keeps the input. */
static void fail(const char *format, ...) FM_PRINTF(1, 2);
static void fail(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    abort();
}

static GBytes *encode(const struct fm_profile *profile)
{
    struct fm_writer *writer = fm_writer_new_memory();
    g_autoptr(GError) error = NULL;
    if (!fm_profile_encode(profile, "fuzz", 9, false, writer, &error))
        fail("%s", error->message);
    return fm_writer_finish_memory(writer);
}

/* NULL: the profiles cannot be merged. second may be NULL. */
static struct fm_profile *merge(const struct fm_merge_options *options,
                                const struct fm_profile *first, const struct fm_profile *second)
{
    struct fm_merge *merge = fm_merge_new(options);
    g_autoptr(GError) error = NULL;
    struct fm_profile *result = NULL;
    if (!fm_merge_add(merge, first, "first", &error) ||
        (second != NULL && !fm_merge_add(merge, second, "second", &error))) {
        if (error == NULL || error->message[0] == '\0')
            fail("refused without an error");
        fm_merge_free(merge);
        return NULL;
    }
    if (!fm_merge_finish(merge, &result, &error) && error->message[0] == '\0')
        fail("refused without an error"); /* a damaged graph may be detected only now */
    return result;
}

static void compare(const struct fm_profile *one, const struct fm_profile *other)
{
    g_autoptr(GBytes) a = encode(one), b = encode(other);
    if (!g_bytes_equal(a, b))
        fail("not the same bytes");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 4)
        return 0;
    size_t length = (size_t)data[1] << 16 | (size_t)data[2] << 8 | data[3];
    const struct fm_merge_options options = {.across_builds = (data[0] & 1) != 0,
                                             .common = (data[0] & 2) != 0,
                                             .sites_by_key = (data[0] & 4) != 0,
                                             .union_programs = (data[0] & 8) != 0};
    g_autoptr(FmProfile) first = NULL, second = NULL;
    data += 4;
    size -= 4;
    length = MIN(length, size);
    if (!fm_profile_read_bytes("first", data, length, NULL, &first, NULL) ||
        !fm_profile_read_bytes("second", data + length, size - length, NULL, &second, NULL))
        return 0;
    g_autoptr(FmProfile) both = merge(&options, first, second);
    g_autoptr(FmProfile) other_way = merge(&options, second, first);
    if ((both == NULL) != (other_way == NULL))
        fail("it fits in one order only");
    if (both == NULL)
        return 0;
    compare(both, other_way);
    g_autoptr(FmProfile) alone = merge(&options, first, NULL);
    g_autoptr(FmProfile) then = alone == NULL ? NULL : merge(&options, alone, second);
    if (then == NULL)
        fail("it fits, but not its canonical form");
    compare(both, then);
    return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "runs/ranks/merge_ranks.h"

#include <stdio.h>
#include <string.h>

#include "base/console/say.h"
#include "base/error.h"
#include "base/files/beside.h"
#include "base/files/content_hash.h"
#include "base/files/mapped.h"
#include "profile/digest/ranks.h"
#include "runs/ranks/ranks.h"

static const char of_sums[] =
    "a sum of several ranks is added that has no statistics over all of them";

static void tell_left_out(const char *why)
{
    fprintf(stderr, "fathom merge: note: statistics over ranks are left out: %s\n", why);
}

static void tell_missing(const struct fm_profile *sum)
{
    g_autofree char *sentence = fm_ranks_missing_sentence(sum);
    if (sentence != NULL)
        fprintf(stderr, "fathom merge: note: %s\n", sentence);
}

/* Whether the profile is of one process. A sum, or a file left out of the sum, has no hash as a
 * part. */
static bool is_process(const struct fm_mapped_file *file)
{
    struct fm_process_fact process = {0};
    if (!fm_profile_peek_process(file->bytes, file->size, &process))
        return false;
    g_free((char *)(uintptr_t)process.command);
    g_free((char *)(uintptr_t)process.folder);
    return true;
}

/* *ret_sums: it is a sum of several ranks, and their values are not known. */
static bool add_file(struct fm_ranks *ranks, const char *path, bool *ret_sums, GError **error)
{
    g_autoptr(FmProfile) profile = NULL;
    g_autoptr(FmMappedFile) file = NULL;
    g_autoptr(GError) unread = NULL;
    uint8_t hash[FM_PART_HASH_BYTES];
    if (!fm_mapped_file_open(path, &file, NULL))
        return true;
    fm_content_hash_of_bytes(file->bytes, file->size, hash);
    bool is_part = fm_ranks_has(ranks, hash);
    if (!is_part && is_process(file))
        return true;
    bool ok = fm_profile_read_bytes(path, file->bytes, file->size, NULL, &profile, &unread) &&
              fm_mapped_file_check(file, &unread);
    if (!ok && is_part)
        g_propagate_error(error, g_steal_pointer(&unread));
    if (!ok)
        return !is_part;
    if (fm_ranks_holds(ranks, profile, hash))
        return fm_ranks_add(ranks, profile, hash, path, error);
    *ret_sums = *ret_sums || profile->run_info.part_count > 0;
    return true;
}

/* False with an error, or with *ret_why not. */
static bool gather(const struct fm_merge_ranks *r, const struct fm_profile *sum, char **paths,
                   unsigned count, char **ret_why, struct fm_rank_info *ret, GError **error)
{
    struct fm_ranks *ranks;
    struct fm_progress progress;
    bool sums = false;
    bool ok = fm_ranks_new(&r->options, sum, &ranks, error);
    if (!ok)
        return false;
    fm_console_progress_begin(&progress);
    for (unsigned i = 0; ok && !sums && i < count; i++) {
        ok = add_file(ranks, paths[i], &sums, error);
        if (progress.report != NULL)
            progress.report(progress.user, "comparing ranks", i + 1, count);
    }
    fm_console_progress_end(&progress);
    if (ok && !sums)
        return fm_ranks_finish(ranks, ret, ret_why);
    if (ok)
        *ret_why = g_strdup(of_sums);
    fm_ranks_free(ranks);
    return false;
}

/* Takes info. */
static bool attach(struct fm_profile *sum, struct fm_rank_info *info)
{
    uint64_t expected = fm_ranks_count(sum), count = info->count;
    if (count == expected) {
        fm_profile_set_ranks(sum, info);
        return true;
    }
    fm_rank_info_done(info);
    g_autofree char *why = g_strdup_printf("only %" G_GUINT64_FORMAT " of %" G_GUINT64_FORMAT
                                           " profiles could be read a second time",
                                           count, expected);
    tell_left_out(why);
    return false;
}

bool fm_merge_ranks_add(const struct fm_merge_ranks *r, char **paths, unsigned count, bool sums,
                        struct fm_profile *sum)
{
    g_autofree char *why = NULL;
    g_autoptr(GError) error = NULL;
    struct fm_rank_info info;
    if (r->no)
        return true;
    tell_missing(sum);
    bool fits = fm_ranks_fit(sum, r->asked || r->kept, &why);
    if (!fits || sums) {
        if (fits || why != NULL)
            tell_left_out(why != NULL ? why : of_sums);
        return !r->asked;
    }
    if (gather(r, sum, paths, count, &why, &info, &error))
        return attach(sum, &info);
    tell_left_out(error != NULL ? error->message : why);
    return error == NULL && !r->asked;
}

/* --- many processes --- */

int fm_merge_ranks_share(const struct fm_merge_ranks *r, const char *sum_path, char **paths,
                         unsigned count, const char *output)
{
    g_autoptr(FmProfile) sum = NULL;
    g_autofree char *why = NULL;
    GError *error = NULL;
    struct fm_rank_info info;
    struct fm_writer *writer;
    if (!fm_profile_read(sum_path, NULL, &sum, &error))
        return fm_console_fail("merge", error);
    if (!fm_ranks_fit(sum, r->asked, &why))
        return FM_EXIT_DONE; /* the process that writes the sum says why */
    if (sum->run_info.rank_info.count > 0)
        return FM_EXIT_DONE; /* it was one of the files, alone */
    if (!gather(r, sum, paths, count, &why, &info, &error)) {
        if (error != NULL)
            return fm_console_fail("merge", error);
        tell_left_out(why);
        return FM_MERGE_RANKS_UNFIT;
    }
    if (!fm_writer_new(output, &writer, &error)) {
        fm_rank_info_done(&info);
        return fm_console_fail("merge", error);
    }
    fm_rank_info_write(writer, &info);
    fm_rank_info_done(&info);
    return fm_writer_finish(writer, &error) ? FM_EXIT_DONE : fm_console_fail("merge", error);
}

static bool read_shares(const char *path, const struct fm_profile *sum, struct fm_rank_info *ret,
                        GError **error)
{
    g_autoptr(FmMappedFile) file = NULL;
    if (!fm_mapped_file_open(path, &file, error))
        return false;
    struct fm_reader in = {
        .start = file->bytes, .at = file->bytes, .end = file->bytes + file->size, .name = path};
    return fm_rank_info_read(&in, sum->pd_count, sum->measure_count, ret, error);
}

/* The bodies beside the sum, where there are any, beside the output. */
static bool carry_bodies(const char *sum_path, const char *output, GError **error)
{
    struct fm_writer *writer;
    g_autoptr(FmMappedFile) file = NULL;
    g_autofree char *from = fm_path_beside(sum_path, FM_BESIDE_BODIES);
    g_autofree char *to = fm_path_beside(output, FM_BESIDE_BODIES);
    if (!g_file_test(from, G_FILE_TEST_EXISTS) || fm_writer_is_stream(output))
        return true;
    if (!fm_mapped_file_open(from, &file, error) || !fm_writer_new(to, &writer, error))
        return false;
    fm_writer_bytes(writer, file->bytes, file->size);
    return fm_writer_finish(writer, error);
}

int fm_merge_ranks_join(const struct fm_merge_ranks *r, const char *sum_path,
                        const char *shares_path, const char *output)
{
    g_autoptr(FmProfile) sum = NULL;
    g_autofree char *why = NULL;
    GError *error = NULL;
    struct fm_rank_info info = {0};
    bool complete = true;
    if (!fm_profile_read(sum_path, NULL, &sum, &error))
        return fm_console_fail("merge", error);
    tell_missing(sum);
    bool fits = fm_ranks_fit(sum, r->asked, &why), kept = sum->run_info.rank_info.count > 0;
    if (!kept && (!fits || r->no)) {
        if (why != NULL)
            tell_left_out(why);
        complete = !r->asked;
    } else if (!kept && shares_path != NULL && !read_shares(shares_path, sum, &info, &error)) {
        tell_left_out(error->message);
        g_clear_error(&error);
        complete = false;
    } else if (!kept) {
        complete = attach(sum, &info);
    }
    if (!fm_profile_write(sum, output, false, &error) || !carry_bodies(sum_path, output, &error))
        return fm_console_fail("merge", error);
    return complete ? FM_EXIT_DONE : FM_EXIT_FAILED;
}

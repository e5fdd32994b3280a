/* SPDX-License-Identifier: Apache-2.0 */
/* Reads a recording that grows, again and again: nothing may be missing, nothing may decrease.
 * watch_race NAME.rec READINGS [BYTES]: stops when the recording has so many. Tells the calls of
 * all edges after the last reading, threads, contexts; readings, how many of them found more calls
 * than the one before, and how many more edges. */
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "record/running/followed.h"

#define WHOLE_EVERY 16 /* readings, once as finishing reads it */

static void fail(const char *what, const GError *error)
{
    fprintf(stderr, "watch_race: %s%s%s\n", what, error ? ": " : "", error ? error->message : "");
    exit(1);
}

static void check_edges(const struct fm_followed *watch)
{
    for (uint32_t i = 0; i < watch->edge_count; i++) {
        const struct fm_followed_edge *edge = &watch->edges[i];
        if (edge->callee >= watch->context_count ||
            (edge->caller != FM_FOLLOWED_NONE && edge->caller >= watch->context_count))
            fail("an edge without its callee", NULL);
    }
    for (uint32_t i = 0; i < watch->context_count; i++)
        if (watch->contexts[i].maker == FM_FOLLOWED_NONE)
            fail("a context that no edge made", NULL);
}

static struct fm_followed_counts sum(const struct fm_followed *watch)
{
    struct fm_followed_counts all;
    GArray *rows = fm_followed_rows(watch, NULL, &all);
    struct fm_followed_counts functions = {0};
    for (guint i = 0; i < rows->len; i++)
        for (int m = 0; m < FM_FOLLOWED_MEASURES; m++)
            functions.of[m] += g_array_index(rows, struct fm_followed_row, i).self.of[m];
    for (int m = 0; m < FM_FOLLOWED_MEASURES; m++)
        if (functions.of[m] != all.of[m])
            fail("functions do not add up", NULL);
    g_array_unref(rows);
    return all;
}

static void read_whole(const char *path)
{
    g_autoptr(FmRawRecording) recording = NULL;
    GError *error = NULL;
    if (!fm_raw_recording_load(path, &recording, &error))
        fail("as finishing reads it", error);
    for (uint32_t i = 0; i < recording->csd_count; i++)
        if (recording->csds[i].callee >= recording->pd_count)
            fail("an edge without its callee, as finishing reads it", NULL);
}

static off_t bytes_of(const char *path)
{
    struct stat found;
    return stat(path, &found) == 0 ? found.st_blocks * 512 : 0;
}

int main(int argc, char **argv)
{
    if (argc != 3 && argc != 4)
        fail("expected NAME.rec READINGS [BYTES]", NULL);
    g_autoptr(FmFollowed) watch = NULL;
    GError *error = NULL;
    if (!fm_followed_open(argv[1], &watch, &error))
        fail("open", error);
    long readings = atol(argv[2]), bytes_max = argc > 3 ? atol(argv[3]) : LONG_MAX, done = 0,
         rose = 0, grown = 0;
    struct fm_followed_counts before = {0};
    uint32_t edges = 0;
    for (; done < readings && bytes_of(argv[1]) < bytes_max; done++) {
        if (!fm_followed_read(watch, &error))
            fail("read", error);
        struct fm_followed_counts now = sum(watch);
        for (int m = 0; m < FM_FOLLOWED_CHARGED; m++)
            if (now.of[m] < before.of[m])
                fail("a sum decreased", NULL);
        check_edges(watch);
        if (watch->edge_count < edges)
            fail("edges are gone", NULL);
        rose += done > 0 && now.of[FM_FOLLOWED_CALLS] > before.of[FM_FOLLOWED_CALLS];
        grown += done > 0 && watch->edge_count > edges;
        edges = watch->edge_count;
        before = now;
        if (done % WHOLE_EVERY == 0)
            read_whole(argv[1]);
    }
    printf("%" PRIu64 " %u %u %ld %ld %ld\n", before.of[FM_FOLLOWED_CALLS], watch->thread_count,
           watch->context_count, done, rose, grown);
    return 0;
}

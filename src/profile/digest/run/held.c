/* SPDX-License-Identifier: Apache-2.0 */
#include "profile/digest/run/held.h"

#include "base/hash.h"

#define BLOCKS_LEAST 10
#define BLOCKS_MANY 1000
#define BYTES_MANY (64 << 10)

#define NONE_OF_PHASE "No context had more live memory at the end of this phase than at its begin."
#define OF_PHASE "Each context has the growth of its live memory in this phase."

const struct fm_held_words *fm_held_words(const struct fm_profile *profile)
{
    static const struct fm_held_words words[2][2] = {
        {{.held = "never freed",
          .lead = "were never freed",
          .heading = "Never freed",
          .link = "Blocks that it never freed",
          .none = "Everything that was allocated was freed.",
          .all = "all of it freed",
          .further = "Whether the program could still reach them is not known."},
         {.held = "never freed",
          .lead = "of this phase were never freed",
          .heading = "Of this phase never freed",
          .link = "Blocks of this phase that it never freed",
          .none = NONE_OF_PHASE,
          .all = "no context had more live memory at the end than at the begin of the phase",
          .further = OF_PHASE}},
        {{.held = "still live at that moment",
          .lead = "were still live at that moment",
          .heading = "Still live at that moment",
          .link = "Blocks that were still live at that moment",
          .none = "Everything that had been allocated by then was freed.",
          .all = "all of it freed by then",
          .further = "The program went on, and may have freed them since."},
         {.held = "still live at that moment",
          .lead = "of this phase were still live at that moment",
          .heading = "Of this phase still live at that moment",
          .link = "Blocks of this phase that were still live at that moment",
          .none = NONE_OF_PHASE,
          .all = "no context had more live memory at that moment than at the begin of the phase",
          .further = OF_PHASE}},
    };
    const struct fm_extent *extent = &profile->run_info.extent;
    return &words[extent->unfinished][extent->later];
}

/* Live blocks of a function as called by another; of a wrapper of the allocator its caller has
 * them. */
struct pair {
    uint64_t key; /* caller << 32 | ps */
    uint64_t bytes, blocks, allocs;
};

static GHashTable *pairs_of(const struct fm_profile *profile, struct fm_hot *hot,
                            enum fm_measure_id bytes, enum fm_measure_id blocks)
{
    GHashTable *pairs = g_hash_table_new_full(fm_int64_hash, g_int64_equal, NULL, g_free);
    for (uint32_t csd = 1; csd <= profile->csd_count; csd++) {
        uint64_t held = fm_profile_own(profile, csd, blocks);
        if (held == 0)
            continue;
        uint32_t ps = profile->pd_ps[profile->csd_callee[csd]];
        uint32_t caller = profile->pd_ps[profile->csd_caller[csd]];
        if (hot != NULL && fm_hot_is_wrapper(hot, ps))
            ps = caller = fm_hot_owner(hot, profile->csd_callee[csd]);
        uint64_t key = (uint64_t)caller << 32 | ps;
        struct pair *pair = g_hash_table_lookup(pairs, &key);
        if (pair == NULL) {
            pair = g_new0(struct pair, 1);
            pair->key = key;
            g_hash_table_insert(pairs, &pair->key, pair);
        }
        pair->bytes += fm_profile_own(profile, csd, bytes);
        pair->blocks += held;
        pair->allocs += fm_profile_own(profile, csd, FM_ALLOCS);
    }
    return pairs;
}

static bool is_never_freed(const struct pair *pair)
{
    return pair->blocks >= BLOCKS_LEAST &&
           (pair->blocks >= BLOCKS_MANY || pair->bytes >= BYTES_MANY);
}

struct fm_held_digest *fm_held_digest_new(const struct fm_profile *profile, struct fm_hot *hot)
{
    struct fm_held_digest *digest = g_new0(struct fm_held_digest, 1);
    unsigned bytes = fm_profile_measure(profile, FM_LIVE_BYTES);
    unsigned blocks = fm_profile_measure(profile, FM_LIVE_BLOCKS);
    digest->has = g_new0(bool, (gsize)profile->ps_count + 1);
    if (bytes == 0 || blocks == 0)
        return digest;
    g_autoptr(GHashTable) pairs =
        pairs_of(profile, hot, (enum fm_measure_id)bytes, (enum fm_measure_id)blocks);
    g_autofree struct pair *sums = g_new0(struct pair, (gsize)profile->ps_count + 1);
    GHashTableIter iter;
    gpointer value;
    g_hash_table_iter_init(&iter, pairs);
    while (g_hash_table_iter_next(&iter, NULL, &value)) {
        const struct pair *pair = value;
        uint32_t ps = (uint32_t)pair->key;
        if (!is_never_freed(pair)) {
            digest->once_bytes += pair->bytes;
            digest->once_blocks += pair->blocks;
            continue;
        }
        digest->bytes += pair->bytes;
        digest->blocks += pair->blocks;
        digest->has[ps] = true;
        sums[ps].bytes += pair->bytes;
        sums[ps].blocks += pair->blocks;
        sums[ps].allocs += pair->allocs;
    }
    for (uint32_t ps = 1; ps <= profile->ps_count; ps++)
        if (sums[ps].bytes > sums[digest->ps].bytes)
            digest->ps = ps;
    digest->ps_bytes = sums[digest->ps].bytes;
    digest->ps_blocks = sums[digest->ps].blocks;
    digest->ps_allocs = sums[digest->ps].allocs;
    return digest;
}

void fm_held_digest_free(struct fm_held_digest *digest)
{
    if (digest == NULL)
        return;
    g_free(digest->has);
    g_free(digest);
}

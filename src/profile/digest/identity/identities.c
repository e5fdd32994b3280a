/* SPDX-License-Identifier: Apache-2.0 */
#include "profile/digest/identity/identities.h"

#include "base/hash.h"

struct fm_identities {
    gatomicrefcount refs;
    GMutex lock;
    uint64_t *ps, *pd; /* by number; NULL until needed */
};

struct fm_identities *fm_identities_new(void)
{
    struct fm_identities *identities = g_new0(struct fm_identities, 1);
    g_atomic_ref_count_init(&identities->refs);
    g_mutex_init(&identities->lock);
    return identities;
}

struct fm_identities *fm_identities_ref(struct fm_identities *identities)
{
    g_atomic_ref_count_inc(&identities->refs);
    return identities;
}

void fm_identities_free(struct fm_identities *identities)
{
    if (identities == NULL || !g_atomic_ref_count_dec(&identities->refs))
        return;
    g_mutex_clear(&identities->lock);
    g_free(identities->ps);
    g_free(identities->pd);
    g_free(identities);
}

/* --- hashes --- */

/* splitmix64's finalizer: Steele, Lea, Flood, "Fast splittable pseudorandom number generators". */
static uint64_t mix(uint64_t a, uint64_t b)
{
    uint64_t x = a * UINT64_C(0x9e3779b97f4a7c15) + b + 1;
    x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
    return x ^ (x >> 31);
}

static uint64_t mix_text(uint64_t a, const char *text)
{
    for (const char *c = text; *c != '\0'; c++)
        a = mix(a, (unsigned char)*c);
    return mix(a, 256);
}

static uint64_t mix_ps(const struct fm_ps *ps)
{
    uint64_t hash = mix((uint64_t)ps->label_kind, ps->mode);
    hash = mix_text(mix_text(hash, ps->decl_module), ps->file);
    return mix_text(mix_text(hash, ps->raw_name), ps->type_name);
}

/* Changes the hash until it differs from all before, so that the second of equal ones gets the hash
 * "second". */
static uint64_t unlike(GHashTable *seen, uint64_t *places, uint64_t hash)
{
    hash += hash == 0;
    for (uint64_t first = hash, number = 1; g_hash_table_contains(seen, &hash); number++)
        hash = mix(first, number) | 1;
    *places = hash;
    g_hash_table_add(seen, places);
    return hash;
}

/* --- of a whole profile --- */

static void find_procs(struct fm_identities *identities, const struct fm_profile *profile)
{
    g_autoptr(GHashTable) seen = g_hash_table_new(fm_int64_hash, g_int64_equal);
    identities->ps = g_new0(uint64_t, profile->ps_count + 1u);
    for (uint32_t ps = 1; ps <= profile->ps_count; ps++)
        unlike(seen, &identities->ps[ps], mix_ps(&profile->ps[ps]));
}

static uint64_t site_hash(const struct fm_profile *profile, uint32_t pd, uint32_t slot)
{
    const struct fm_ps *ps = &profile->ps[profile->pd_ps[pd]];
    const struct fm_css *css = &profile->css[profile->css_of_ps[ps->css_first + slot]];
    uint64_t hash = mix((uint64_t)css->kind, css->line);
    return mix_text(mix_text(hash, css->file), css->goal_path);
}

/* Visits proc dynamics by distance from the root, so that each is identified by a shortest path. */
static void find_contexts(struct fm_identities *identities, const struct fm_profile *profile)
{
    g_autoptr(GHashTable) seen = g_hash_table_new(fm_int64_hash, g_int64_equal);
    g_autofree uint32_t *queue = g_new(uint32_t, profile->pd_count + 1u);
    uint32_t count = 0;
    uint64_t *of = identities->pd = g_new0(uint64_t, profile->pd_count + 1u);
    unlike(seen, &of[profile->root_pd], 1);
    queue[count++] = profile->root_pd;
    for (uint32_t at = 0; at < count; at++) {
        uint32_t pd = queue[at];
        uint32_t slots = profile->pd_slot_first[pd + 1] - profile->pd_slot_first[pd];
        for (uint32_t slot = 0; slot < slots; slot++) {
            uint32_t csds_count;
            const uint32_t *csds = fm_profile_slot(profile, pd, slot, &csds_count);
            uint64_t site = csds_count == 0 ? 0 : mix(of[pd], site_hash(profile, pd, slot));
            for (uint32_t i = 0; i < csds_count; i++) {
                uint32_t callee = profile->csd_callee[csds[i]];
                if (callee == 0 || of[callee] != 0)
                    continue;
                unlike(seen, &of[callee], mix(site, identities->ps[profile->pd_ps[callee]]));
                queue[count++] = callee;
            }
        }
    }
}

static void compute(struct fm_identities *identities, const struct fm_profile *profile)
{
    g_mutex_lock(&identities->lock);
    if (identities->ps == NULL)
        find_procs(identities, profile);
    if (identities->pd == NULL)
        find_contexts(identities, profile);
    g_mutex_unlock(&identities->lock);
}

/* --- of one --- */

static uint32_t entry_of(const struct fm_analysis *a, uint32_t clique)
{
    uint32_t csd = a->clique_parent[clique];
    return csd == 0 ? a->profile->root_pd : a->profile->csd_callee[csd];
}

uint64_t fm_identity_of_ps(struct fm_identities *identities, const struct fm_analysis *a,
                           uint32_t ps)
{
    g_return_val_if_fail(ps >= 1 && ps <= a->profile->ps_count, 1);
    compute(identities, a->profile);
    return identities->ps[ps];
}

uint64_t fm_identity_of_clique(struct fm_identities *identities, const struct fm_analysis *a,
                               uint32_t clique)
{
    g_return_val_if_fail(clique >= 1 && clique <= a->clique_count, 1);
    compute(identities, a->profile);
    return identities->pd[entry_of(a, clique)];
}

static uint32_t find(const uint64_t *all, uint32_t count, uint64_t identity)
{
    for (uint32_t i = 1; i <= count; i++)
        if (all[i] == identity)
            return i;
    return 0;
}

uint32_t fm_identity_find_ps(struct fm_identities *identities, const struct fm_analysis *a,
                             uint64_t identity)
{
    compute(identities, a->profile);
    return identity == 0 ? 0 : find(identities->ps, a->profile->ps_count, identity);
}

uint32_t fm_identity_find_clique(struct fm_identities *identities, const struct fm_analysis *a,
                                 uint64_t identity)
{
    compute(identities, a->profile);
    uint32_t pd = identity == 0 ? 0 : find(identities->pd, a->profile->pd_count, identity);
    return pd == 0 ? 0 : a->pd_clique[pd];
}

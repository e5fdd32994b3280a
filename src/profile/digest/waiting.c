/* SPDX-License-Identifier: Apache-2.0 */
#include "profile/digest/waiting.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define KINDS_SAID 3

static const struct {
    const char *kind, *words;
} kinds[] = {
    {"mutex", "a mutex"},
    {"rwlock", "a read-write lock"},
    {"condition", "a condition variable"},
    {"semaphore", "a semaphore"},
    {"barrier", "a barrier"},
    {"join", "another thread's end"},
    {"once", "another thread's pthread_once"},
    {"futex", "a futex"},
    {"read", "reading"},
    {"write", "writing"},
    {"receive", "receiving from a socket"},
    {"send", "sending to a socket"},
    {"accept", "a connection to accept"},
    {"connect", "connecting"},
    {"ready", "descriptors to be ready (poll, select, epoll)"},
    {"sleep", "sleeping"},
    {"signal", "a signal"},
    {"child", "a child process"},
    {"disk", "opening, closing, syncing files"},
    {"lock_file", "a lock on a file"},
    {"message", "a message or semaphore between processes"},
    {"random", "random numbers"},
    {"terminal", "a terminal"},
    {"resolve", "a host's name to be looked up"},
    {"load", "a library to be loaded"},
    {"device", "a device's answer (ioctl)"},
};

static const char *words_of(const char *kind)
{
    for (size_t i = 0; i < G_N_ELEMENTS(kinds); i++) {
        if (strcmp(kinds[i].kind, kind) == 0)
            return kinds[i].words;
    }
    return kind;
}

static int compare_sums(const void *a, const void *b)
{
    const struct fm_wait_sum *sa = a, *sb = b;
    if (sa->ns != sb->ns)
        return sa->ns > sb->ns ? -1 : 1;
    return strcmp(sa->kind, sb->kind);
}

static void add_kinds(struct fm_wait_digest *digest, const struct fm_profile *profile)
{
    const struct fm_wait_info *info = &profile->run_info.wait_info;
    double tick_ns = profile->ticks_per_second > 0 ? 1e9 / (double)profile->ticks_per_second : 0;
    g_autoptr(GArray) sums = g_array_new(FALSE, TRUE, sizeof(struct fm_wait_sum));
    for (uint32_t i = 0; i < info->waiting_count; i++) {
        const struct fm_waiting *one = &info->waiting[i];
        struct fm_wait_sum *sum = NULL;
        for (guint j = 0; j < sums->len && sum == NULL; j++) {
            if (strcmp(g_array_index(sums, struct fm_wait_sum, j).kind, one->kind) == 0)
                sum = &g_array_index(sums, struct fm_wait_sum, j);
        }
        if (sum == NULL) {
            struct fm_wait_sum fresh = {.kind = one->kind, .words = words_of(one->kind)};
            g_array_append_val(sums, fresh);
            sum = &g_array_index(sums, struct fm_wait_sum, sums->len - 1);
        }
        sum->calls += one->calls;
        sum->waits += one->waits;
        sum->ns += one->ns;
        sum->longest_ns = MAX(sum->longest_ns, one->longest_ns);
        sum->cpu_ns += (double)one->cpu_quanta * tick_ns;
        sum->open += one->open;
    }
    digest->sum_count = sums->len;
    digest->sums = (struct fm_wait_sum *)(void *)g_array_free(g_steal_pointer(&sums), FALSE);
    if (digest->sum_count > 0)
        qsort(digest->sums, digest->sum_count, sizeof *digest->sums, compare_sums);
}

static int compare_by_lock(const void *a, const void *b)
{
    const struct fm_blame *ba = a, *bb = b;
    if (ba->lock != bb->lock)
        return ba->lock < bb->lock ? -1 : 1;
    int kind = strcmp(ba->kind, bb->kind);
    if (kind != 0)
        return kind;
    if (ba->ns != bb->ns)
        return ba->ns > bb->ns ? -1 : 1;
    if (ba->csd != bb->csd)
        return ba->csd < bb->csd ? -1 : 1;
    return ba->holder < bb->holder ? -1 : ba->holder > bb->holder;
}

static int compare_locks(const void *a, const void *b)
{
    const struct fm_lock_sum *la = a, *lb = b;
    if (la->ns != lb->ns)
        return la->ns > lb->ns ? -1 : 1;
    return la->first < lb->first ? -1 : la->first > lb->first;
}

static void add_locks(struct fm_wait_digest *digest, const struct fm_profile *profile)
{
    const struct fm_wait_info *info = &profile->run_info.wait_info;
    GArray *locks = g_array_new(FALSE, TRUE, sizeof(struct fm_lock_sum));
    digest->blame_count = info->blame_count;
    digest->blames = g_memdup2(info->blames, info->blame_count * sizeof *info->blames);
    if (info->blame_count > 0)
        qsort(digest->blames, digest->blame_count, sizeof *digest->blames, compare_by_lock);
    for (uint32_t i = 0; i < digest->blame_count;) {
        struct fm_lock_sum sum = {
            .lock = digest->blames[i].lock, .kind = digest->blames[i].kind, .first = i};
        for (; i < digest->blame_count && digest->blames[i].lock == sum.lock &&
               strcmp(digest->blames[i].kind, sum.kind) == 0;
             i++) {
            sum.waits += digest->blames[i].waits;
            sum.ns += digest->blames[i].ns;
            sum.longest_ns = MAX(sum.longest_ns, digest->blames[i].longest_ns);
        }
        sum.count = i - sum.first;
        g_array_append_val(locks, sum);
    }
    digest->lock_count = locks->len;
    digest->locks = (struct fm_lock_sum *)(void *)g_array_free(locks, FALSE);
    if (digest->lock_count > 0)
        qsort(digest->locks, digest->lock_count, sizeof *digest->locks, compare_locks);
}

struct fm_wait_digest *fm_wait_digest_new(const struct fm_profile *profile)
{
    g_return_val_if_fail(profile != NULL, NULL);
    struct fm_wait_digest *digest = g_new0(struct fm_wait_digest, 1);
    enum fm_measure_id waits = fm_profile_measure(profile, FM_WAITS);
    enum fm_measure_id ns = fm_profile_measure(profile, FM_WAIT_NS);
    digest->recorded = waits != FM_EXITS && ns != FM_EXITS;
    for (uint32_t csd = 1; digest->recorded && csd <= profile->csd_count; csd++) {
        digest->waits += fm_profile_own(profile, csd, waits);
        digest->ns += fm_profile_own(profile, csd, ns);
    }
    add_kinds(digest, profile);
    add_locks(digest, profile);
    return digest;
}

void fm_wait_digest_free(struct fm_wait_digest *digest)
{
    if (digest == NULL)
        return;
    g_free(digest->sums);
    g_free(digest->locks);
    g_free(digest->blames);
    g_free(digest);
}

char *fm_wait_sentence(const struct fm_wait_digest *digest)
{
    if (!digest->recorded)
        return NULL;
    GString *text = g_string_new(NULL);
    g_string_append_printf(text, "%.2f s waiting", (double)digest->ns / 1e9);
    uint32_t said = 0;
    for (uint32_t i = 0; i < digest->sum_count && said < KINDS_SAID; i++) {
        if (digest->sums[i].ns < 5000000 && said > 0)
            break;
        if (digest->sums[i].ns == 0)
            break;
        g_string_append_printf(text, "%s%s %.2f", said > 0 ? ", " : " (", digest->sums[i].kind,
                               (double)digest->sums[i].ns / 1e9);
        said++;
    }
    if (said > 0)
        g_string_append_c(text, ')');
    return g_string_free(text, FALSE);
}

char *fm_lock_text(const struct fm_profile *profile, uint32_t lock)
{
    const struct fm_wait_info *info = &profile->run_info.wait_info;
    if (lock == 0 || lock > info->lock_count)
        return g_strdup("other locks");
    const struct fm_lock *it = &info->locks[lock - 1];
    if (it->name[0] != '\0')
        return g_strdup(it->name);
    return g_strdup_printf("lock at 0x%" PRIx64, it->address);
}

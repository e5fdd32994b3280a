/* SPDX-License-Identifier: Apache-2.0 */
#include "profile/digest/run/unhooked.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SHARE_SAID 0.1 /* a part of all time; less is not worth a sentence */
#define SAMPLES_SAID 20
#define FILE_SHARE_SAID 0.01 /* one file's part of all time */
#define FILES_SAID 4
#define FILE_SHARE_ADVISED 0.05
#define NEARLY_ALL 0.9

static int compare_files(const void *a, const void *b)
{
    const struct fm_unhooked_file *p = a, *q = b;
    if (p->quanta != q->quanta)
        return p->quanta > q->quanta ? -1 : 1;
    return p->kind != q->kind ? (p->kind < q->kind ? -1 : 1) : strcmp(p->object, q->object);
}

static const char *object_of(const struct fm_unhooked *of)
{
    return of->kind == FM_UNHOOKED_KERNEL ? "" : of->object;
}

static struct fm_unhooked_file *file_of(GArray *files, const struct fm_unhooked *of)
{
    for (guint i = 0; i < files->len; i++) {
        struct fm_unhooked_file *file = &g_array_index(files, struct fm_unhooked_file, i);
        if (file->kind == of->kind && strcmp(file->object, object_of(of)) == 0)
            return file;
    }
    const struct fm_unhooked_file file = {
        .kind = of->kind, .object = object_of(of), .function = ""};
    g_array_append_val(files, file);
    return &g_array_index(files, struct fm_unhooked_file, files->len - 1);
}

static uint32_t caller_of(const struct fm_profile *profile, const struct fm_unhooked *of)
{
    return profile->pd_ps[profile->csd_callee[of->csd]];
}

/* The procedure with most of it; NULL in which: of all files. */
static uint32_t find_caller(const struct fm_profile *profile, const struct fm_unhooked_file *in,
                            uint64_t *ret_quanta)
{
    const struct fm_unhooked_info *info = &profile->run_info.unhooked;
    g_autofree uint64_t *quanta = g_new0(uint64_t, (gsize)profile->ps_count + 1);
    uint32_t most = 0;
    for (uint32_t i = 0; i < info->count; i++) {
        const struct fm_unhooked *of = &info->of[i];
        uint32_t ps = caller_of(profile, of);
        if (in != NULL && (of->kind != in->kind || strcmp(object_of(of), in->object) != 0))
            continue;
        quanta[ps] += of->quanta;
        most = most == 0 || quanta[ps] > quanta[most] ? ps : most;
    }
    *ret_quanta = quanta[most];
    return most;
}

static void find_function(const struct fm_profile *profile, struct fm_unhooked_file *file)
{
    const struct fm_unhooked_info *info = &profile->run_info.unhooked;
    g_autoptr(GHashTable) quanta = g_hash_table_new(g_str_hash, g_str_equal);
    for (uint32_t i = 0; i < info->count; i++) {
        const struct fm_unhooked *of = &info->of[i];
        if (of->kind != file->kind || strcmp(object_of(of), file->object) != 0)
            continue;
        gpointer name = (gpointer)(uintptr_t)of->function;
        uint64_t sum = GPOINTER_TO_SIZE(g_hash_table_lookup(quanta, name)) + of->quanta;
        g_hash_table_insert(quanta, name, GSIZE_TO_POINTER(sum));
        if (of->function[0] != '\0' && sum > file->function_quanta) {
            file->function = of->function;
            file->function_quanta = sum;
        }
    }
}

struct fm_unhooked_digest *fm_unhooked_digest_new(const struct fm_profile *profile)
{
    struct fm_unhooked_digest *digest = g_new0(struct fm_unhooked_digest, 1);
    const struct fm_unhooked_info *info = &profile->run_info.unhooked;
    digest->files = g_array_new(FALSE, FALSE, sizeof(struct fm_unhooked_file));
    digest->recorded = info->recorded;
    digest->unknown = info->unknown_quanta;
    for (uint32_t i = 0; i < info->count; i++) {
        file_of(digest->files, &info->of[i])->quanta += info->of[i].quanta;
        digest->quanta += info->of[i].quanta;
    }
    for (guint i = 0; i < digest->files->len; i++) {
        struct fm_unhooked_file *file = &g_array_index(digest->files, struct fm_unhooked_file, i);
        find_function(profile, file);
        file->caller = find_caller(profile, file, &file->caller_quanta);
    }
    if (digest->files->len > 0)
        qsort(digest->files->data, digest->files->len, sizeof(struct fm_unhooked_file),
              compare_files);
    digest->caller = find_caller(profile, NULL, &digest->caller_quanta);
    if (profile->user_quanta > 0)
        digest->share = MIN((double)digest->quanta / (double)profile->user_quanta, 1);
    digest->tells = digest->share >= SHARE_SAID &&
                    fm_profile_samples(profile, (double)profile->user_quanta) >= SAMPLES_SAID;
    return digest;
}

void fm_unhooked_digest_free(struct fm_unhooked_digest *digest)
{
    if (digest == NULL)
        return;
    g_array_unref(digest->files);
    g_free(digest);
}

char *fm_unhooked_file_name(const struct fm_unhooked_file *file)
{
    switch (file->kind) {
    case FM_UNHOOKED_KERNEL:
        return g_strdup("the kernel");
    case FM_UNHOOKED_SYSTEM:
        return g_strdup_printf("functions of system headers in %s", file->object);
    case FM_UNHOOKED_PART:
        return g_strdup_printf("functions without hooks in %s", file->object);
    case FM_UNHOOKED_OBJECT:
    case FM_UNHOOKED_KINDS:
        break;
    }
    return g_strdup(file->object[0] == '\0' ? "code made at run time" : file->object);
}

/* Twice the standard deviation of a share of the samples, in percent. */
static double spread_of(const struct fm_profile *profile, double share)
{
    double samples = (double)profile->user_quanta / fm_profile_sample_quanta(profile);
    return samples > 0 ? 200 * sqrt(share * (1 - share) / samples) : 0;
}

#define FATHOMS_OWN "fathom's functions" /* in front of malloc and others (emit_unhooked.c) */

/* Nobody builds these to see inside. */
static bool is_of_system(const char *object)
{
    static const char *const names[] = {"libc.so",  "libm.so",    "libstdc++.so", "libgcc_s.so",
                                        "ld-linux", "linux-vdso", "libfathom",    FATHOMS_OWN};
    for (size_t i = 0; i < G_N_ELEMENTS(names); i++)
        if (g_str_has_prefix(object, names[i]))
            return true;
    return object[0] == '\0';
}

static void append_advice(const struct fm_unhooked_digest *digest, double all, GString *out)
{
    const char *library = NULL, *part = NULL;
    bool system = false;
    for (guint i = 0; i < digest->files->len; i++) {
        const struct fm_unhooked_file *file =
            &g_array_index(digest->files, struct fm_unhooked_file, i);
        if ((double)file->quanta < FILE_SHARE_ADVISED * all)
            break;
        system = system || file->kind == FM_UNHOOKED_SYSTEM;
        if (file->kind == FM_UNHOOKED_OBJECT && library == NULL && !is_of_system(file->object))
            library = file->object;
        if (file->kind == FM_UNHOOKED_PART && part == NULL)
            part = file->object;
    }
    if (library != NULL)
        g_string_append_printf(out, " To see inside %s, build it with `fathom cc`.", library);
    if (part != NULL)
        g_string_append_printf(
            out, " To see inside all of %s, compile all its sources with `fathom cc`.", part);
    if (system)
        g_string_append(out, " `fathom c++ --include-system` records functions of system headers, "
                             "too.");
}

char *fm_unhooked_sentence(const struct fm_profile *profile)
{
    g_autoptr(FmUnhookedDigest) digest = fm_unhooked_digest_new(profile);
    double all = (double)profile->user_quanta;
    if (!digest->tells)
        return NULL;
    g_autoptr(GString) files = g_string_new(NULL);
    bool all_foreign = true;
    unsigned said = 0;
    for (guint i = 0; i < digest->files->len; i++) {
        const struct fm_unhooked_file *file =
            &g_array_index(digest->files, struct fm_unhooked_file, i);
        g_autofree char *name = fm_unhooked_file_name(file);
        bool foreign = (file->kind == FM_UNHOOKED_OBJECT || file->kind == FM_UNHOOKED_KERNEL) &&
                       !g_str_has_prefix(file->object, FATHOMS_OWN);
        all_foreign = all_foreign && (foreign || (double)file->quanta < FILE_SHARE_SAID * all);
        if (said < FILES_SAID && (double)file->quanta >= FILE_SHARE_SAID * all)
            g_string_append_printf(files, "%s%s %.0f %%", said++ > 0 ? ", " : "", name,
                                   100 * (double)file->quanta / all);
    }
    GString *out = g_string_new(NULL);
    const char *what = profile->ticks_per_second > 0 ? "the time" : fm_profile_tick_words(profile);
    double spread = spread_of(profile, digest->share);
    g_autofree char *range = spread < 0.5 ? g_strdup("") : g_strdup_printf(" (\u00b1%.0f)", spread);
    g_string_append_printf(out, "%.0f %%%s of %s %s in code %s", 100 * digest->share, range, what,
                           profile->ticks_per_second > 0 ? "is" : "are",
                           all_foreign ? "not compiled with fathom" : "without hooks");
    if (files->len > 0)
        g_string_append_printf(out, ": %s", files->str);
    double called = (double)digest->caller_quanta / (double)digest->quanta;
    if (called >= 0.5)
        g_string_append_printf(out, "; %s called from %s",
                               called >= 1            ? "all"
                               : called >= NEARLY_ALL ? "nearly all"
                                                      : "most of it",
                               fm_profile_short_name(profile, digest->caller));
    g_string_append_c(out, '.');
    append_advice(digest, all, out);
    return g_string_free(out, FALSE);
}

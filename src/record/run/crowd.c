/* SPDX-License-Identifier: Apache-2.0 */
#include "record/run/crowd.h"

#include <stdio.h>
#include <string.h>

#include "base/text/shell.h"
#include "base/console/say.h"
#include "exchange/hint/hint.h"
#include "record/raw/identity.h"
#include "record/raw/recording.h"

static void member_clear(gpointer data)
{
    struct fm_member *member = data;
    g_free(member->program);
}

static void group_free(gpointer data)
{
    struct fm_group *group = data;
    g_free(group->output);
    g_array_unref(group->members);
    fm_profile_free(group->before);
    g_free(group);
}

static struct fm_group *group_new(GPtrArray *groups)
{
    struct fm_group *group = g_new0(struct fm_group, 1);
    group->members = g_array_new(FALSE, TRUE, sizeof(struct fm_member));
    g_array_set_clear_func(group->members, member_clear);
    g_ptr_array_add(groups, group);
    return group;
}

/* Returns the group that a program's processes belong to; makes it when there is none. */
static struct fm_group *group_of(GPtrArray *groups, enum fm_join join, GHashTable *of_program,
                                 const char *program)
{
    struct fm_group *group = g_hash_table_lookup(of_program, program);
    if (group == NULL) {
        group = join == FM_JOIN_ALL && groups->len > 0 ? g_ptr_array_index(groups, 0)
                                                       : group_new(groups);
        group->programs++;
        g_hash_table_insert(of_program, g_strdup(program), group);
    }
    return group;
}

static bool add_path(const char *command, enum fm_join join, const char *path,
                     GHashTable *of_program, GPtrArray *groups)
{
    struct fm_raw_identity identity;
    GError *error = NULL;
    if (fm_raw_recording_is_void(path)) {
        g_autofree char *shown = fm_text_escaped(path);
        fprintf(stderr,
                "fathom %s: note: %s: left out, as no process has recorded anything in it\n",
                command, shown);
        return true;
    }
    if (!fm_raw_identify(path, &identity, &error)) {
        fm_hint_fail_file(command, path, FM_FILE_RECORDING, error);
        return false;
    }
    if (identity.snapshot) {
        g_autofree char *shown = fm_text_escaped(path);
        fprintf(stderr,
                "fathom %s: note: %s: left out, as it is a snapshot, not a process of its own\n",
                command, shown);
        fm_raw_identity_done(&identity);
        return true;
    }
    struct fm_member member = {.path = path,
                               .pid = identity.pid,
                               .start_ns = identity.start_ns,
                               .program = g_steal_pointer(&identity.program)};
    fm_raw_identity_done(&identity);
    g_array_append_val(group_of(groups, join, of_program, member.program)->members, member);
    return true;
}

static gint by_start(gconstpointer left, gconstpointer right)
{
    const struct fm_member *a = left, *b = right;
    return a->start_ns != b->start_ns ? (a->start_ns < b->start_ns ? -1 : 1)
                                      : strcmp(a->path, b->path);
}

static gint by_first_start(gconstpointer left, gconstpointer right)
{
    const struct fm_group *a = *(struct fm_group *const *)left,
                          *b = *(struct fm_group *const *)right;
    return by_start(fm_group_member(a, 0), fm_group_member(b, 0));
}

/* --- names --- */

static char *file_name_of(const char *program)
{
    g_autofree char *base = g_path_get_basename(program);
    for (char *at = base; *at != '\0'; at++) {
        if (!g_ascii_isalnum(*at) && strchr("._+-", *at) == NULL)
            *at = '_';
    }
    return g_strdup(base[0] == '\0' ? "program" : base);
}

/* When programs in several folders have the same name, the second is NAME-2. */
static void name_outputs(GPtrArray *groups, const char *base, guint own)
{
    g_autoptr(GHashTable) taken = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    for (guint i = 0; i < groups->len; i++) {
        struct fm_group *group = g_ptr_array_index(groups, i);
        g_autofree char *name = file_name_of(fm_group_member(group, 0)->program);
        char *output =
            i == own ? g_strdup_printf("%s.data", base) : g_strdup_printf("%s.%s.data", base, name);
        for (unsigned n = 2; g_hash_table_contains(taken, output); n++) {
            g_free(output);
            output = g_strdup_printf("%s.%s-%u.data", base, name, n);
        }
        g_hash_table_add(taken, g_strdup(output));
        group->output = output;
    }
}

/* The group of the program that BASE.data is of already, else the first. */
static guint own_group(const GPtrArray *groups, const struct fm_profile *before)
{
    for (guint i = 0; before != NULL && i < groups->len; i++) {
        const struct fm_group *group = g_ptr_array_index(groups, i);
        if (strcmp(fm_group_member(group, 0)->program, before->program_name) == 0)
            return i;
    }
    return 0;
}

/* --- what was made before --- */

static bool is_process(const struct fm_process_fact *process, const struct fm_member *member)
{
    return process->command != NULL && process->pid == member->pid &&
           process->start_ns == member->start_ns;
}

/* Marks the members that are in the profile; whether it has processes that are no members. */
static bool find_done(struct fm_group *group, const struct fm_profile *profile, bool *ret_any)
{
    const struct fm_run_info *run_info = &profile->run_info;
    bool others = false;
    *ret_any = false;
    for (uint32_t p = 0; p < MAX(run_info->part_count, 1u); p++) {
        const struct fm_process_fact *process =
            run_info->part_count == 0 ? &run_info->process : &run_info->parts[p].process;
        guint i = 0;
        while (i < group->members->len && !is_process(process, fm_group_member(group, i)))
            i++;
        others = others || i == group->members->len;
        if (i == group->members->len)
            continue;
        *ret_any = fm_group_member(group, i)->done = true;
        fm_group_member(group, i)->part = run_info->part_count == 0 ? NULL : &run_info->parts[p];
    }
    return others;
}

/* A run's recordings are removed when all of its profiles are written, that of the first process
 * last. So what holds processes without recordings is of an older run only when the first one's
 * recording is there and no other of the group is in it. */
static void take_before(struct fm_group *group, struct fm_profile *profile, bool first_is_there)
{
    bool any, others = find_done(group, profile, &any);
    if (others && (any || !first_is_there)) {
        group->before = profile;
        return;
    }
    /* the profile is made again from all recordings */
    for (guint i = 0; i < group->members->len; i++) {
        fm_group_member(group, i)->done = false;
        fm_group_member(group, i)->part = NULL;
    }
    fm_profile_free(profile);
}

static struct fm_profile *read_before(const char *path)
{
    struct fm_profile *profile;
    if (!fm_profile_read(path, NULL, &profile, NULL))
        return NULL;
    if (profile->flavour == FM_FLAVOUR_C && profile->run_info.origin == NULL)
        return profile;
    fm_profile_free(profile);
    return NULL;
}

GPtrArray *fm_crowd_groups(const char *command, enum fm_join join, const char *base,
                           const GPtrArray *paths, bool fresh, bool *ret_failed)
{
    g_return_val_if_fail(base != NULL && paths != NULL && join != FM_JOIN_NONE, NULL);
    GPtrArray *groups = g_ptr_array_new_with_free_func(group_free);
    g_autoptr(GHashTable) of_program = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    g_autofree char *first = g_strdup_printf("%s.rec", base);
    bool first_is_there = false;
    for (guint i = 0; i < paths->len; i++) {
        const char *path = g_ptr_array_index(paths, i);
        first_is_there = first_is_there || strcmp(path, first) == 0;
        if (!add_path(command, join, path, of_program, groups))
            *ret_failed = true;
    }
    for (guint i = 0; i < groups->len; i++)
        g_array_sort(((struct fm_group *)g_ptr_array_index(groups, i))->members, by_start);
    g_ptr_array_sort(groups, by_first_start);
    g_autofree char *own = g_strdup_printf("%s.data", base);
    g_autoptr(FmProfile) before = fresh || first_is_there ? NULL : read_before(own);
    name_outputs(groups, base, own_group(groups, before));
    for (guint i = 0; i < groups->len && !fresh; i++) {
        struct fm_group *group = g_ptr_array_index(groups, i);
        struct fm_profile *profile = read_before(group->output);
        if (profile != NULL)
            take_before(group, profile, first_is_there);
    }
    return groups;
}

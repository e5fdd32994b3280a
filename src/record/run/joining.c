/* SPDX-License-Identifier: Apache-2.0 */
#include "record/run/joining.h"

#include <glib/gstdio.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/files/content_hash.h"
#include "base/text/shell.h"
#include "base/console/say.h"
#include "exchange/hint/hint.h"
#include "record/run/summary.h"
#include "profile/digest/processes/roles.h"
#include "runs/merge/merge.h"
#include "record/finish/finish.h"

#define NOTES_TOLD_MAX 20u
#define WHOLE_SUMMARIES 3u

/* A group that is being added up. */
struct joining {
    const struct fm_finishing *how;
    struct fm_group *group;
    struct fm_merge *merge;
    struct fm_finish_notes notes; /* notes on all recordings */
    GHashTable *texts;            /* note -> how many processes */
    unsigned count;
    unsigned without; /* processes that have no call of the function that is asked for */
    bool unfinished;
};

static const char *const join_names[] = {
    [FM_JOIN_NONE] = "none", [FM_JOIN_PROGRAM] = "program", [FM_JOIN_ALL] = "all"};

bool fm_join_parse(const char *text, enum fm_join *ret)
{
    for (size_t i = 0; i < G_N_ELEMENTS(join_names); i++) {
        if (strcmp(text, join_names[i]) == 0) {
            *ret = (enum fm_join)i;
            return true;
        }
    }
    return false;
}

static void print_heading(bool behind, const char *output)
{
    g_autofree char *shown = fm_text_escaped(output);
    fprintf(stderr, "%s%s:\n", behind ? "\n" : "", shown);
}

char *fm_run_join_command(enum fm_join join, const char *base, const char *output)
{
    g_autofree char *from = fm_shell_word(base);
    g_autofree char *to = output == NULL ? NULL : fm_shell_word(output);
    return g_strdup_printf("fathom finish --join=%s%s%s %s.rec %s.*.rec", join_names[join],
                           to == NULL ? "" : " -o ", to == NULL ? "" : to, from, from);
}

static void add_notes(struct joining *j, const struct fm_finish_notes *notes)
{
    for (guint i = 0; i < notes->lines->len; i++) {
        const char *text = g_ptr_array_index(notes->lines, i);
        guint times = GPOINTER_TO_UINT(g_hash_table_lookup(j->texts, text));
        if (times == 0)
            g_ptr_array_add(j->notes.lines, g_strdup(text));
        g_hash_table_replace(j->texts, g_strdup(text), GUINT_TO_POINTER(times + 1));
    }
    j->notes.calls += notes->calls;
    j->notes.samples += notes->samples;
    j->notes.unwound = j->notes.unwound || notes->unwound;
    j->notes.threads += notes->threads;
    j->unfinished = j->unfinished || notes->live || notes->incomplete;
    j->count++;
}

static bool add_before(struct joining *j, GError **error)
{
    const struct fm_profile *before = j->group->before;
    const char *path = j->group->output;
    uint8_t hash[FM_PART_HASH_BYTES];
    g_autoptr(FmSourceMap) lines = NULL;
    g_autoptr(FmMachineCode) code = NULL;
    if (!fm_content_hash(path, hash, error) || !fm_merge_add(j->merge, before, path, error))
        return false;
    fm_merge_add_part(j->merge, before, hash);
    if (fm_source_map_find(NULL, path, before, &lines, NULL))
        fm_merge_add_lines(j->merge, lines);
    if (fm_machine_code_find(NULL, path, before, &code, NULL))
        fm_merge_add_code(j->merge, code);
    const struct fm_run_info *run_info = &before->run_info;
    j->notes.calls += (uint64_t)fm_profile_calls_of_all(before);
    j->notes.samples += run_info->sample_count;
    j->notes.samples_unknown = run_info->sample_count == 0 && before->user_quanta > 0;
    /* A sum has a line for all threads of one name. */
    j->notes.threads += run_info->part_count == 0 ? run_info->wait_info.thread_count : 0;
    j->notes.threads_unknown = run_info->part_count > 0 || run_info->wait_info.thread_count == 0;
    j->count++;
    return true;
}

/* A profile that cannot be added is not an error of the run: it is then written by itself. */
static bool add_member(struct joining *j, struct fm_member *member)
{
    struct fm_finish_notes notes;
    g_autoptr(FmProfile) profile = NULL;
    g_autoptr(GError) unlike = NULL;
    GError *error = NULL;
    uint8_t hash[FM_PART_HASH_BYTES];
    if (!fm_run_finish_profile(j->how, member->path, &profile, &notes, &error)) {
        if (j->how->when != NULL && g_error_matches(error, FM_ERROR, FM_ERROR_NOT_FOUND)) {
            g_clear_error(&error);
            j->without++;
            member->finished = true;
            return true;
        }
        fm_hint_fail_file(j->how->command, member->path, FM_FILE_RECORDING, error);
        return false;
    }
    bool ok = fm_run_part_hash(profile, member->path, hash, &error);
    if (ok && fm_merge_add(j->merge, profile, member->path, &unlike)) {
        fm_merge_add_part(j->merge, profile, hash);
        if (notes.source_map != NULL)
            fm_merge_add_lines(j->merge, notes.source_map);
        if (notes.machine_code != NULL)
            fm_merge_add_code(j->merge, notes.machine_code);
        add_notes(j, &notes);
        member->finished = true;
    }
    fm_finish_notes_done(&notes);
    if (!ok)
        fm_hint_fail_file(j->how->command, member->path, FM_FILE_RECORDING, error);
    if (!ok || unlike == NULL)
        return ok;
    fm_console_print_error("fathom %s: note: %s: it gets a profile of its own", j->how->command,
                           unlike->message);
    struct fm_finishing one = *j->how;
    struct fm_finished done = {0};
    one.keep = one.several = one.brief = true;
    member->finished = fm_run_finish(&one, member->path, NULL, &done);
    member->stays = done.unfinished;
    return member->finished;
}

/* A process that still ran is in the profile with what it had done until then. */
static bool is_whole(const struct joining *j, struct fm_member *member)
{
    struct fm_finish_notes notes;
    g_autoptr(FmProfile) profile = NULL;
    GError *error = NULL;
    uint8_t hash[FM_PART_HASH_BYTES];
    const struct fm_part *part = member->part;
    bool ok = fm_run_finish_profile(j->how, member->path, &profile, &notes, &error);
    if (ok) {
        ok = fm_run_part_hash(profile, member->path, hash, &error);
        member->stays = notes.live || notes.incomplete;
        fm_finish_notes_done(&notes);
    }
    if (!ok)
        fm_hint_fail_file(j->how->command, member->path, FM_FILE_RECORDING, error);
    else if (!(part->has_cost && part->calls == (uint64_t)fm_profile_calls_of_all(profile)) &&
             memcmp(part->hash, hash, sizeof hash) != 0) {
        fm_console_print_error(
            "fathom %s: %s: its process has continued since it was added to %s, "
            "which cannot be remade without the recordings of all processes: the "
            "recording is kept (--join=none makes a profile of it)",
            j->how->command, member->path, j->group->output);
        ok = false;
    }
    member->done = ok;
    return ok;
}

/* A note without its figures: digits that begin a word. Caller frees. */
static char *without_figures(const char *text)
{
    GString *out = g_string_new(NULL);
    for (const char *at = text; *at != '\0';) {
        bool begins = at > text && (at[-1] == ' ' || at[-1] == '(');
        size_t digits = begins ? strspn(at, "0123456789.") : 0;
        g_string_append_c(out, digits > 0 ? '#' : *at);
        at += MAX(digits, 1);
    }
    return g_string_free(out, FALSE);
}

/* Notes of several processes that differ only in figures. */
struct alike {
    const char *text; /* the first of them */
    guint processes;
    bool differ;
};

static void tell_notes(const struct joining *j, unsigned processes)
{
    g_autoptr(GPtrArray) told = g_ptr_array_new_with_free_func(g_free);
    g_autoptr(GHashTable) known = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    for (guint i = 0; i < j->notes.lines->len; i++) {
        const char *text = g_ptr_array_index(j->notes.lines, i);
        g_autofree char *form = without_figures(text);
        struct alike *alike = g_hash_table_lookup(known, form);
        if (alike == NULL) {
            alike = g_new0(struct alike, 1);
            alike->text = text;
            g_ptr_array_add(told, alike);
            g_hash_table_insert(known, g_steal_pointer(&form), alike);
        } else {
            alike->differ = true;
        }
        alike->processes += GPOINTER_TO_UINT(g_hash_table_lookup(j->texts, text));
    }
    for (guint i = 0; i < told->len && i < NOTES_TOLD_MAX; i++) {
        const struct alike *alike = g_ptr_array_index(told, i);
        fm_console_print_error("fathom %s: note: %s (%u of %u processes%s)", j->how->command,
                               alike->text, alike->processes, processes,
                               alike->differ ? "; figures of one of them" : "");
    }
    if (told->len > NOTES_TOLD_MAX)
        fprintf(stderr, "fathom %s: note: and %u more, which the pages list\n", j->how->command,
                told->len - NOTES_TOLD_MAX);
}

static void tell(const struct joining *j, const struct fm_profile *profile)
{
    const char *output = j->group->output;
    g_autofree char *shown = fm_text_escaped(output);
    g_autofree char *roles = fm_run_roles_sentence(profile);
    tell_notes(j, j->count);
    if (j->how->quiet)
        return;
    if (roles != NULL)
        fm_console_print_error("%s: joined: %s", shown, roles);
    if (j->how->brief)
        fm_run_print_totals(profile, &j->notes);
    else
        fm_run_print_summary(profile, &j->notes, output);
}

static bool write_sum(struct joining *j, GError **error)
{
    g_autoptr(FmProfile) profile = NULL;
    struct fm_merge *merge = g_steal_pointer(&j->merge);
    for (const char *const *note = fm_merge_notes(merge); *note != NULL; note++)
        fprintf(stderr, "fathom %s: note: %s\n", j->how->command, *note);
    if (!fm_merge_finish(merge, &profile, error) ||
        !fm_run_write_profile(j->how, profile, j->group->output, error))
        return false;
    tell(j, profile);
    return true;
}

/* A process need not call the function that is asked for, but some must. */
static bool some_called(const struct joining *j, GError **error)
{
    if (j->without > 0 && j->count > 0 && !j->how->quiet)
        fm_console_print_error(
            "fathom %s: note: %u of %u processes had no call of the function \"%s\"",
            j->how->command, j->without, j->without + j->count, j->how->when);
    if (j->without == 0 || j->count > 0)
        return true;
    g_set_error(error, FM_ERROR, FM_ERROR_NOT_FOUND,
                "%s: no call of the function \"%s\" was recorded in any of %u processes",
                j->group->output, j->how->when, j->without);
    return false;
}

static void members_stay(struct fm_group *group)
{
    for (guint i = 0; i < group->members->len; i++)
        fm_group_member(group, i)->stays = true;
}

static bool join_group(const struct fm_finishing *how, struct fm_group *group,
                       struct fm_finished *done)
{
    const struct fm_merge_options options = {.union_programs = group->programs > 1};
    struct joining j = {.how = how, .group = group, .merge = fm_merge_new(&options)};
    struct fm_progress progress;
    GError *error = NULL;
    j.notes.lines = g_ptr_array_new_with_free_func(g_free);
    j.texts = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    fm_console_progress_begin(&progress);
    bool ok = group->before == NULL || add_before(&j, &error), all = true;
    for (guint i = 0; i < group->members->len && ok; i++) {
        struct fm_member *member = fm_group_member(group, i);
        struct fm_finishing one = *how;
        one.ended_ns = i == 0 ? how->ended_ns : 0; /* the others may have ended before */
        one.lost = i == 0 ? how->lost : 0;
        j.how = &one;
        if (member->done ? !is_whole(&j, member) : !add_member(&j, member))
            all = false;
        j.how = how;
        if (progress.report != NULL)
            progress.report(progress.user, "joining", i + 1, group->members->len);
    }
    fm_console_progress_end(&progress);
    ok = ok && some_called(&j, &error) && (j.count == 0 || write_sum(&j, &error));
    if (error != NULL)
        fm_console_fail(how->command, error);
    for (guint i = 0; i < group->members->len && ok; i++)
        if (fm_group_member(group, i)->finished)
            fm_run_finished(how, fm_group_member(group, i)->path, group->output);
    if (!ok || j.unfinished)
        members_stay(group);
    done->calls = j.notes.calls + (j.notes.unwound ? j.notes.samples + 1 : 0);
    done->samples = j.notes.samples;
    fm_merge_free(j.merge);
    fm_finish_notes_done(&j.notes);
    g_hash_table_unref(j.texts);
    return ok && all;
}

/* A process alone is not made a sum. */
static bool finish_one(const struct fm_finishing *how, struct fm_group *group,
                       struct fm_finished *done)
{
    struct fm_member *member = fm_group_member(group, 0);
    struct fm_finishing one = *how;
    one.keep = true; /* until all are written */
    member->finished = fm_run_finish(&one, member->path, group->output, done);
    member->stays = done->unfinished;
    return member->finished;
}

static void remove_recordings(const GPtrArray *groups, const char *base)
{
    g_autofree char *first = g_strdup_printf("%s.rec", base);
    bool first_too = false;
    for (guint g = 0; g < groups->len; g++) {
        const struct fm_group *group = g_ptr_array_index(groups, g);
        for (guint i = 0; i < group->members->len; i++) {
            const struct fm_member *member = fm_group_member(group, i);
            if (!(member->finished || member->done) || member->stays)
                continue;
            if (strcmp(member->path, first) == 0)
                first_too = true;
            else
                g_unlink(member->path);
        }
    }
    if (first_too)
        g_unlink(first);
}

/* The first process may only start the one whose time is looked for, as wrappers in scripts do. */
static void tell_of_most(const struct fm_group *group, uint64_t samples, uint64_t all)
{
    g_autofree char *word = fm_shell_word(group->output);
    fprintf(stderr, "\n%.0f %% of the run's CPU time is in another profile:  fathom view %s\n",
            100.0 * (double)samples / (double)all, word);
}

bool fm_run_join(const struct fm_finishing *how, enum fm_join join, const char *base,
                 const GPtrArray *paths, bool fresh, uint64_t *ret_calls)
{
    bool failed = false, written = true;
    g_autoptr(GPtrArray) groups = fm_crowd_groups(how->command, join, base, paths, fresh, &failed);
    uint64_t samples = 0, most_samples = 0;
    guint most = 0;
    for (guint i = 0; i < groups->len; i++) {
        struct fm_group *group = g_ptr_array_index(groups, i);
        struct fm_finishing own = *how;
        own.several = groups->len > 1;
        own.brief = groups->len > WHOLE_SUMMARIES && i > 0;
        own.ended_ns = i == 0 ? how->ended_ns : 0;
        own.lost = i == 0 ? how->lost : 0;
        if (own.several && !own.brief && !how->quiet)
            print_heading(i > 0, group->output);
        bool alone = group->members->len == 1 && group->before == NULL;
        struct fm_finished done = {0};
        if (alone ? !finish_one(&own, group, &done) : !join_group(&own, group, &done))
            written = false;
        *ret_calls += done.calls;
        samples += done.samples;
        most = done.samples > most_samples ? i : most;
        most_samples = MAX(done.samples, most_samples);
    }
    if (most > 0 && most_samples > samples / 2 && !how->quiet)
        tell_of_most(groups->pdata[most], most_samples, samples);
    if (!how->keep)
        remove_recordings(groups, base);
    return written && !failed;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "pages/profile/overview/subject.h"

#include <inttypes.h>
#include <string.h>

#include "base/error.h"
#include "profile/digest/names.h"
#include "profile/digest/paths.h"
#include "pages/profile/overview/identity.h"
#include "query/commands.h"

/* The name to look up; NULL: none. *ret_clique: it names a context. *ret_number: it is a number. */
static const char *name_of(const struct fm_command *command, bool *ret_clique, bool *ret_number)
{
    const char *name = command->name;
    const struct fm_command_form *form = &fm_command_forms[command->id];
    *ret_clique = form->about == FM_ABOUT_CLIQUE;
    *ret_number = false;
    if (form->shape == FM_SHAPE_TEXT || name == NULL)
        return NULL;
    if (!fm_command_has_focus(command->id))
        return name;
    if (strcmp(name, "all") == 0)
        return NULL;
    *ret_clique = g_str_has_prefix(name, "clique/");
    if (*ret_clique)
        name += strlen("clique/");
    else if (g_str_has_prefix(name, "proc/"))
        name += strlen("proc/");
    *ret_number = name[0] && name[strspn(name, "0123456789")] == '\0';
    return name;
}

enum fm_known fm_subject_needs(const struct fm_command *command)
{
    bool clique, number;
    if (!name_of(command, &clique, &number))
        return FM_KNOWN_NOTHING;
    return clique || fm_command_has_focus(command->id) || command->name[0] == '@'
               ? FM_KNOWN_COSTS
               : FM_KNOWN_PROFILE;
}

/* A name for a message: short, without control characters. */
static char *shown(const char *name)
{
    char *text = g_utf8_make_valid(name, (gssize)MIN(strlen(name), 100));
    for (char *c = text; *c; c++)
        if (g_ascii_iscntrl(*c))
            *c = '?';
    return text;
}

#define NEAREST 3u /* names in a message */

static void set_not_found(const struct fm_open_profile *recording, const char *wanted, bool clique,
                          GError **error)
{
    g_autofree char *name = shown(wanted);
    g_autoptr(GString) message = g_string_new(NULL);
    bool path = clique && strchr(wanted, '/');
    bool c = recording->profile->flavour == FM_FLAVOUR_C;
    g_string_append_printf(message, "%s: there is no %s '%s'", recording->name,
                           path ? "context with the path"
                           : c  ? "function named"
                                : "procedure named",
                           name);
    struct fm_digest_found *near = NULL;
    uint32_t count = 0, total = 0;
    if (!path && recording->known >= FM_KNOWN_COSTS)
        fm_digest_find(recording->analysis, wanted, FM_CALLSEQS, NEAREST, &near, &count, &total);
    uint32_t ps[NEAREST], kept = 0;
    for (uint32_t i = 0; i < count; i++)
        if (near[i].ps != 0)
            ps[kept++] = near[i].ps;
    g_auto(GStrv) names = fm_profile_names_apart(recording->profile, ps, kept);
    for (uint32_t i = 0; i < kept; i++)
        g_string_append_printf(message, "%s%s",
                               i == 0         ? "; is it "
                               : i + 1 < kept ? ", "
                                              : " or ",
                               names[i]);
    g_string_append(message, kept > 0 ? "?" : "");
    g_free(near);
    g_set_error_literal(error, FM_ERROR, FM_ERROR_NOT_FOUND, message->str);
}

static void set_one(struct fm_subject *ret, uint32_t number)
{
    ret->numbers = g_new(uint32_t, 1);
    ret->numbers[0] = number;
    ret->count = ret->total = 1;
}

/* Accepts a number if it exists. */
static bool find_number(const struct fm_open_profile *recording, const char *text,
                        struct fm_subject *ret, GError **error)
{
    uint32_t max = ret->cliques ? recording->analysis->clique_count : recording->profile->ps_count;
    guint64 number = g_ascii_strtoull(text, NULL, 10);
    if (number < 1 || number > max) {
        g_set_error(error, FM_ERROR, FM_ERROR_NOT_FOUND,
                    "%s: invalid %s index %s, expected 1 to %" PRIu32, recording->name,
                    ret->cliques ? "clique" : "proc_static", text, max);
        return false;
    }
    set_one(ret, (uint32_t)number);
    return true;
}

#define CSD_PREFIX "csd:"

/* The context that a call site dynamic leads to, as event logs name it. */
static bool find_csd(const struct fm_open_profile *recording, const char *text,
                     struct fm_subject *ret, GError **error)
{
    const struct fm_profile *profile = recording->profile;
    guint64 number = g_ascii_strtoull(text, NULL, 10);
    if (text[0] == '\0' || text[strspn(text, "0123456789")] != '\0' || number < 1 ||
        number > profile->csd_count) {
        g_autofree char *name = shown(text);
        g_set_error(error, FM_ERROR, FM_ERROR_NOT_FOUND,
                    "%s: invalid call site dynamic %s, expected 1 to %" PRIu32, recording->name,
                    name, profile->csd_count);
        return false;
    }
    set_one(ret, recording->analysis->pd_clique[profile->csd_callee[number]]);
    return true;
}

/* Trees and pictures join contexts with the same path. */
static void drop_same_paths(const struct fm_analysis *a, struct fm_subject *subject)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < subject->count; i++) {
        uint32_t j = 0;
        while (j < kept && !fm_digest_is_same_path(a, subject->numbers[j], subject->numbers[i]))
            j++;
        if (j == kept)
            subject->numbers[kept++] = subject->numbers[i];
    }
    if (subject->total == subject->count)
        subject->total = kept;
    subject->count = kept;
}

bool fm_subject_find(const struct fm_open_profile *recording, const struct fm_command *command,
                     struct fm_subject *ret, GError **error)
{
    g_return_val_if_fail(command != NULL && ret != NULL, false);
    bool clique, number;
    const char *name = name_of(command, &clique, &number);
    g_return_val_if_fail(name != NULL, false);
    *ret = (struct fm_subject){.cliques = clique};
    if (number)
        return find_number(recording, name, ret, error);
    if (clique && g_str_has_prefix(name, CSD_PREFIX))
        return find_csd(recording, name + strlen(CSD_PREFIX), ret, error);
    uint32_t known;
    if (recording->known >= FM_KNOWN_COSTS && fm_identity_read(recording, name, clique, &known)) {
        if (known == 0)
            g_set_error(error, FM_ERROR, FM_ERROR_NOT_FOUND,
                        "%s: the %s of this address is not in this profile", recording->name,
                        clique ? "context" : "function");
        else
            set_one(ret, known);
        return known != 0;
    }
    if (clique) {
        fm_digest_named_paths(recording->analysis, name, FM_SUBJECTS_MAX, &ret->numbers,
                              &ret->count, &ret->total);
    } else {
        fm_digest_named_procs(recording->profile, name, &ret->numbers, &ret->count);
        ret->total = ret->count;
        ret->count = MIN(ret->count, FM_SUBJECTS_MAX);
    }
    if (clique && fm_command_has_focus(command->id))
        drop_same_paths(recording->analysis, ret);
    if (ret->count > 0)
        return true;
    fm_subject_done(ret);
    set_not_found(recording, name, clique, error);
    return false;
}

void fm_subject_set(struct fm_command *command, const struct fm_subject *subject, char *focus,
                    size_t focus_size)
{
    if (!fm_command_has_focus(command->id)) {
        command->number = subject->numbers[0];
        command->name = NULL;
        return;
    }
    g_snprintf(focus, focus_size, "%s/%" PRIu32, subject->cliques ? "clique" : "proc",
               subject->numbers[0]);
    command->name = focus;
}

void fm_subject_done(struct fm_subject *subject)
{
    g_free(subject->numbers);
    *subject = (struct fm_subject){0};
}

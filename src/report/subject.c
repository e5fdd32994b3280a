/* SPDX-License-Identifier: Apache-2.0 */
#include "report/subject.h"

#include <string.h>

#include "base/error.h"
#include "views/names.h"
#include "views/paths.h"

bool fm_subject_is_clique(enum fm_command_id id)
{
    return id == FM_CMD_CLIQUE || id == FM_CMD_CLIQUE_RC || id == FM_CMD_DUMP_RAW_CLIQUE;
}

static bool is_by_name(const struct fm_command *command)
{
    switch (command->id) {
    case FM_CMD_FIND:
    case FM_CMD_HELP:
    case FM_CMD_TREE:
    case FM_CMD_FLAME:
        return false; /* the text is no procedure's name, or a focus */
    default:
        return command->name != NULL;
    }
}

enum fm_known fm_subject_needs(const struct fm_command *command)
{
    if (!is_by_name(command))
        return FM_KNOWN_NOTHING;
    return fm_subject_is_clique(command->id) ? FM_KNOWN_COSTS : FM_KNOWN_PROFILE;
}

/* What stands in a message: short, and without control characters. */
static char *shown(const char *name)
{
    char *text = g_utf8_make_valid(name, (gssize)MIN(strlen(name), 100));
    for (char *c = text; *c; c++)
        if (g_ascii_iscntrl(*c))
            *c = '?';
    return text;
}

static void set_not_found(const struct fm_recording *recording, const struct fm_command *command,
                          GError **error)
{
    g_autofree char *name = shown(command->name);
    g_autoptr(GString) message = g_string_new(NULL);
    bool path = fm_subject_is_clique(command->id) && strchr(command->name, '/');
    bool c = recording->profile->flavour == FM_FLAVOUR_C;
    g_string_append_printf(message, "%s: there is no %s '%s'", recording->name,
                           path ? "context with the path"
                           : c  ? "function named"
                                : "procedure named",
                           name);
    struct fm_view_found *near = NULL;
    uint32_t count = 0, total = 0;
    if (!path && recording->known >= FM_KNOWN_COSTS)
        fm_view_find(recording->analysis, command->name, FM_CALLSEQS, 3, &near, &count, &total);
    for (uint32_t i = 0; i < count; i++) {
        if (near[i].ps)
            g_string_append_printf(message, "%s%s",
                                   i == 0          ? "; is it "
                                   : i + 1 < count ? ", "
                                                   : " or ",
                                   recording->profile->ps[near[i].ps].unqualified_name);
    }
    g_string_append(message, count > 0 ? "?" : "");
    g_free(near);
    g_set_error_literal(error, FM_ERROR, FM_ERROR_NOT_FOUND, message->str);
}

bool fm_subject_find(const struct fm_recording *recording, const struct fm_command *command,
                     struct fm_subject *ret, GError **error)
{
    *ret = (struct fm_subject){0};
    if (fm_subject_is_clique(command->id)) {
        fm_view_named_paths(recording->analysis, command->name, FM_SUBJECTS_MAX, &ret->numbers,
                            &ret->count, &ret->total);
    } else {
        fm_view_named_procs(recording->profile, command->name, &ret->numbers, &ret->count);
        ret->total = ret->count;
        ret->count = MIN(ret->count, FM_SUBJECTS_MAX);
    }
    if (ret->count > 0)
        return true;
    fm_subject_clear(ret);
    set_not_found(recording, command, error);
    return false;
}

void fm_subject_clear(struct fm_subject *subject)
{
    g_free(subject->numbers);
    *subject = (struct fm_subject){0};
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "pages/profile/overview/identity.h"

#include <inttypes.h>
#include <string.h>

#include "profile/digest/identity/identities.h"
#include "query/commands.h"

#define DIGITS 16u

/* "clique/N" or "proc/N": the number, 0 = it is none. */
static uint32_t number_of_focus(const char *focus, bool *ret_clique)
{
    *ret_clique = g_str_has_prefix(focus, "clique/");
    if (!*ret_clique && !g_str_has_prefix(focus, "proc/"))
        return 0;
    const char *digits = strchr(focus, '/') + 1;
    guint64 number;
    return g_ascii_string_to_unsigned(digits, 10, 1, UINT32_MAX, &number, NULL) ? (uint32_t)number
                                                                                : 0;
}

static uint64_t identity_of(const struct fm_open_profile *recording, uint32_t number, bool clique)
{
    const struct fm_analysis *a = recording->analysis;
    if (number == 0 || number > (clique ? a->clique_count : a->profile->ps_count))
        return 0;
    return clique ? fm_identity_of_clique(recording->identities, a, number)
                  : fm_identity_of_ps(recording->identities, a, number);
}

bool fm_identity_name(const struct fm_open_profile *recording, struct fm_command *command,
                      char buffer[FM_IDENTITY_BYTES])
{
    g_return_val_if_fail(recording->known >= FM_KNOWN_COSTS, false);
    const struct fm_command_form *form = &fm_command_forms[command->id];
    bool clique = form->about == FM_ABOUT_CLIQUE, focus = fm_command_has_focus(command->id);
    uint32_t number = 0;
    if (focus && command->name != NULL)
        number = number_of_focus(command->name, &clique);
    else if (!focus && command->name == NULL && form->named &&
             (command->bunch <= 1 || command->id == FM_CMD_PROC_CALLERS))
        number = command->number;
    uint64_t identity = number == 0 ? 0 : identity_of(recording, number, clique);
    if (identity == 0)
        return false;
    g_snprintf(buffer, FM_IDENTITY_BYTES, "%s@%016" PRIx64,
               !focus   ? ""
               : clique ? "clique/"
                        : "proc/",
               identity);
    command->name = buffer;
    return true;
}

bool fm_identity_read(const struct fm_open_profile *recording, const char *name, bool clique,
                      uint32_t *ret_number)
{
    uint64_t identity;
    if (name[0] != '@' || strlen(name) != DIGITS + 1 ||
        !g_ascii_string_to_unsigned(name + 1, 16, 1, UINT64_MAX, &identity, NULL))
        return false;
    *ret_number =
        clique ? fm_identity_find_clique(recording->identities, recording->analysis, identity)
               : fm_identity_find_ps(recording->identities, recording->analysis, identity);
    return true;
}
